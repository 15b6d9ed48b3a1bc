/** What is told to those who listen. */
export const FEED_EVENTS = ['log', 'progress', 'cache', 'queue', 'problem', 'milestone', 'done', 'jobs'] as const

/** One of {@link FEED_EVENTS}. */
export type FeedEventName = (typeof FEED_EVENTS)[number]

/** One thing that was told. */
export interface FeedEvent {
  /** Grows by one with each. */
  readonly number: number
  readonly name: FeedEventName
  /** The job it is about; null for those that are about none. */
  readonly jobId: string | null
  /** As it is written to all: JSON of the payload, with the job id in it. */
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
  tell(name: FeedEventName, jobId: string | null, payload: Readonly<Record<string, unknown>>): void
  /** The events after a number that pass, oldest first, and how many others that would pass are not kept any more. */
  read(
    after: number,
    filter: FeedFilter,
    most: number,
  ): { readonly events: readonly FeedEvent[]; readonly upTo: number; readonly missed: number }
  /** Calls back when there is something new; returns what ends that. */
  listen(wake: () => void): () => void
}
