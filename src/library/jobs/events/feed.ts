/** Names of feed events. */
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

/** An event of the feed. */
export interface FeedEvent {
  /** Sequence number; grows by one per event. */
  readonly number: number
  readonly name: FeedEventName
  /** Job of the event; null if it concerns no job. */
  readonly jobId: string | null
  /** JSON of the payload as sent to all listeners, with the time as `ts` and, except for a list of jobs, the job id as `jobId`. */
  readonly json: string
}

/** Which events a listener receives. */
export interface FeedFilter {
  readonly logs: boolean
  readonly jobId: string | null
}

/**
 * Bounded buffer of the latest events of all jobs, in order. A listener keeps the number of the last event it has read and asks for later
 * ones, so a slow listener neither delays others nor uses more memory.
 */
export interface Feed {
  /** Number of the last event. */
  readonly last: number
  /** Changes with every server start, so that event numbers of an earlier server are recognized. */
  readonly epoch: string
  /**
   * Adds an event. Log lines of crawl processes are rate-limited; `jobs` is sent at most five times a second, always including the latest.
   */
  tell(name: FeedEventName, jobId: string | null, payload: Readonly<Record<string, unknown>>): void
  /**
   * Reads matching events after a number, oldest first. `upTo` is the number to continue after, which includes events that did not match;
   * `missed` counts events no longer in the buffer, matching or not. Equal reads share one result object.
   */
  read(
    after: number,
    filter: FeedFilter,
    limit: number,
  ): { readonly events: readonly FeedEvent[]; readonly upTo: number; readonly missed: number }
  /**
   * Calls `wake` when there are new events, once for several events; returns a function that unsubscribes. A listener that throws is
   * removed.
   */
  listen(wake: () => void): () => void
}
