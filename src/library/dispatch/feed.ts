/** What is told to those who listen. */
export const FEED_EVENTS = [
  'log',
  'progress',
  'cache',
  'queue',
  'problem',
  'milestone',
  'done',
  'jobs',
  'analysis',
] as const

/** One of {@link FEED_EVENTS}. */
export type FeedEventName = (typeof FEED_EVENTS)[number]

/** One thing that was told. */
export interface FeedEvent {
  /** Grows by one with each. */
  readonly number: number
  readonly name: FeedEventName
  /** The job it is about; null for those that are about none. */
  readonly jobId: string | null
  /** As it is written to all: JSON of the payload, with the moment as `ts` and, unless it is a list of jobs, the job id as `jobId`. */
  readonly json: string
}

/** Which events somebody wants. */
export interface FeedFilter {
  readonly logs: boolean
  readonly jobId: string | null
}

/**
 * The last events of all jobs, in their order, as many as fit. Whoever listens keeps the number of the last one it has seen and asks
 * for those after it: nobody who is slow can hold up others, or cost more than these.
 */
export interface Feed {
  /** The number of the last event. */
  readonly last: number
  /** Changes with every start of the server, so that a number of an earlier one is not mistaken. */
  readonly epoch: string
  /** Lines of crawl processes are told in moderation, `jobs` five times a second at most, with the last one always among them. */
  tell(name: FeedEventName, jobId: string | null, payload: Readonly<Record<string, unknown>>): void
  /**
   * The events after a number that pass, oldest first; the number to go on after, which counts those that did not pass; and how many
   * after the number are not kept any more, whatever they were. The answer is shared: many who ask the same get the same.
   */
  read(
    after: number,
    filter: FeedFilter,
    most: number,
  ): { readonly events: readonly FeedEvent[]; readonly upTo: number; readonly missed: number }
  /** Calls back when there is something new, once for many events; returns what ends that. One that throws is not called again. */
  listen(wake: () => void): () => void
}
