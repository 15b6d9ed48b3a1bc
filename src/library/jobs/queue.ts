import type { RunStatement } from '../ports/workers.ts'

/** Kinds of shared work: crawls, analysis runs, and embedding of chunks without vectors. */
export const QUEUES = ['crawl', 'analysis', 'embedding'] as const

/** One of {@link QUEUES}. */
export type QueueName = (typeof QUEUES)[number]

/** Work sent to a queue. */
export interface SentWork {
  readonly id: string
  readonly key: string
  readonly isFirst?: boolean
  readonly after?: string | undefined
}

/** Work taken from a queue. */
export interface QueuedWork {
  /** Id that the work was sent with. */
  readonly id: string
  /** How often the work was taken before. */
  readonly attempt: number
  /** Aborted when the work is no longer assigned to this worker, because another may have it already. */
  readonly signal: AbortSignal
}

/**
 * Distributes work among all workers of a library. Each item is assigned to one worker at a time; without heartbeats from that worker it is
 * assigned to another.
 */
export interface WorkQueue {
  /**
   * Adds work. Items with the same key run one at a time, in the order in which they were sent. An item with `isFirst` runs before items
   * with other keys. An item with `after` gets the key of the item with that id, if that item is known. With `run`, the insert is part of
   * the caller's transaction.
   */
  send(queue: QueueName, work: SentWork, run?: RunStatement): Promise<void>
  /** Adds work that the queue does not know or has finished; queued and running work is left unchanged. */
  sendAgain(queue: QueueName, work: SentWork, run: RunStatement): Promise<void>
  /**
   * Takes up to `slots` items of a queue at a time until taking is stopped. An item is done if `work` resolves with true; on false or an
   * error, another worker gets it.
   */
  take(queue: QueueName, slots: number, work: (taken: QueuedWork) => Promise<boolean>): Promise<void>
  /** Takes no more items; running ones continue. */
  stopTaking(): Promise<void>
  /** Whether an item is queued or running; false if it has ended, failed, or was never sent. */
  isOpen(queue: QueueName, id: string): Promise<boolean>
  /** Removes an item in any state. */
  remove(queue: QueueName, id: string): Promise<void>
  close(): Promise<void>
}
