import type { RunStatement } from '../workers.ts'

/** What work is shared: crawls of all kinds, runs of analysis, and giving vectors to chunks that have none. */
export const QUEUES = ['crawl', 'analysis', 'embedding'] as const

/** One of {@link QUEUES}. */
export type QueueName = (typeof QUEUES)[number]

/** Something that is given to a queue. */
export interface SentWork {
  readonly id: string
  readonly key: string
  readonly isFirst?: boolean
  readonly after?: string | undefined
}

/** Something that was taken from a queue. */
export interface QueuedWork {
  /** What it was sent with. */
  readonly id: string
  /** How often it was taken before. */
  readonly attempt: number
  /** Aborted when it is no longer this worker's: another may have it already. */
  readonly signal: AbortSignal
}

/**
 * Decides who does what, among all workers of a library. Each piece of work is given to one at a time; that of a worker that gives no
 * sign of life is given to another.
 */
export interface JobQueue {
  /**
   * Adds work. Of those with the same key one is done at a time, in the order in which they were sent. `isFirst` goes before what is of
   * other keys. What is sent `after` other work has the key of that, where it is known. With `run` it is part of the transaction of the
   * caller.
   */
  send(queue: QueueName, work: SentWork, run?: RunStatement): Promise<void>
  /** Adds work of which the queue knows nothing, or that it is over. What waits or is being done is left as it is. */
  sendAgain(queue: QueueName, work: SentWork, run: RunStatement): Promise<void>
  /**
   * Takes work of a queue, so many at once, until taking is stopped. What `work` resolves with true is done; with false, or where it
   * fails, it is for another.
   */
  take(queue: QueueName, slots: number, work: (taken: QueuedWork) => Promise<boolean>): Promise<void>
  /** Takes nothing more. What was taken goes on. */
  stopTaking(): Promise<void>
  /** Whether work waits or is being done; false for what is over, was given up, or was never sent. */
  isOpen(queue: QueueName, id: string): Promise<boolean>
  /** Removes work, whatever became of it. */
  remove(queue: QueueName, id: string): Promise<void>
  close(): Promise<void>
}
