import type { Command } from './events/frames.ts'

/** Starts crawls in separate processes. */
export interface CrawlRunner {
  /**
   * Starts a process and never throws: if it cannot be started, it ends at once with the reason in `ended`. Lines are passed without line
   * breaks, never after `ended`.
   */
  start(args: readonly string[], onLine: (stream: 'stdout' | 'stderr', line: string) => void): CrawlProcess
  /** Whether a process of an earlier server is still alive, and not another process with the same pid. */
  isAlive(identity: ProcessIdentity): boolean
  /** Kills a process of an earlier server; does nothing if it has already ended. */
  kill(identity: ProcessIdentity, signal: 'SIGTERM' | 'SIGKILL'): void
}

/** Identifies a process uniquely, even after its pid is reused. */
export interface ProcessIdentity {
  readonly pid: number
  /** Start time, if the system provides it. */
  readonly began: string | null
}

/** A crawl in a separate process. */
export interface CrawlProcess {
  /** Null if the process could not be started. */
  readonly identity: ProcessIdentity | null
  /** Writes a line to the standard input; returns false if the input is closed. */
  send(command: Command): boolean
  kill(signal: 'SIGTERM' | 'SIGKILL'): void
  readonly ended: Promise<ProcessEnd>
}

/** How a process ended. */
export interface ProcessEnd {
  readonly code: number | null
  readonly signal: string | null
  /** Why the process could not be started; null if it was. */
  readonly problem: string | null
}
