import type { Command } from './frames.ts'

/** Starts crawls as processes of their own. */
export interface CrawlRunner {
  /**
   * Starts one. Never throws: a process that cannot be started ends at once, with the reason in `ended`. Lines are told as they come,
   * without their ends, and never after `ended`.
   */
  start(args: readonly string[], tell: (stream: 'stdout' | 'stderr', line: string) => void): CrawlProcess
  /** Whether a process that an earlier server started is still there: the same one, and not another with its number. */
  isAlive(mark: ProcessMark): boolean
  /** Ends such a process; does nothing where it is gone. */
  kill(mark: ProcessMark, signal: 'SIGTERM' | 'SIGKILL'): void
}

/** Tells a process from all others that ever had its number. */
export interface ProcessMark {
  readonly pid: number
  /** When it began, as far as the system tells. */
  readonly began: string | null
}

/** A crawl that runs as a process. */
export interface CrawlProcess {
  /** Null when it could not be started. */
  readonly mark: ProcessMark | null
  /** Writes a line to its standard input; false when that is closed. */
  send(command: Command): boolean
  kill(signal: 'SIGTERM' | 'SIGKILL'): void
  readonly ended: Promise<ProcessEnd>
}

/** How a process ended. */
export interface ProcessEnd {
  readonly code: number | null
  readonly signal: string | null
  /** Why it could not be started; null when it was. */
  readonly problem: string | null
}
