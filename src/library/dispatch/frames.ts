/** What a crawl has done with an address of its queue. */
export const QUEUE_ACTIONS = ['enqueued', 'dequeued', 'retry', 'drop'] as const

/** One of {@link QUEUE_ACTIONS}. */
export type QueueAction = (typeof QUEUE_ACTIONS)[number]

/** One change of the queue of a crawl. */
export interface QueueFrame {
  readonly action: QueueAction
  readonly url: string
  readonly depth: number | null
  readonly host: string | null
  /** Why it was dropped or is tried again, in the words of the contract. */
  readonly reason: string | null
  readonly queueSize: number
  /** The address that stands for one that was dropped for its query. */
  readonly alias: string | null
}

/** Something that a crawl found out about a site: a problem, or a milestone. */
export interface NoteFrame {
  readonly kind: string
  readonly scope: string | null
  readonly target: string | null
  readonly message: string | null
  readonly details: Readonly<Record<string, unknown>> | null
}

/** A page that was taken as it is stored, without being asked for. */
export interface CacheFrame {
  readonly url: string
  readonly source: string
  readonly ageSeconds: number | null
}

/** A page that could not be had. */
export interface ErrorFrame {
  readonly url: string
  readonly kind: 'http' | 'network' | 'timeout' | 'save'
  readonly code: number | null
  readonly message: string | null
}

/** How one host is treated. */
export interface HostFrame {
  readonly rpm: number
  readonly limitRpm: number | null
  /** ISO 8601, while it is left alone. */
  readonly backoffUntil: string | null
  readonly intervalMs: number
}

/** The same in the other words of the contract. */
export interface HostLimitFrame {
  readonly rateLimited: boolean
  readonly limit: number | null
  readonly intervalMs: number
  readonly backoffMs: number
}

/** Where a crawl stands. */
export interface ProgressFrame {
  /** Visits that came to an end. */
  readonly visited: number
  /** Answers with a body. */
  readonly downloaded: number
  /** Addresses that were found and admitted. */
  readonly found: number
  /** Pages that are new or were stored again. */
  readonly saved: number
  /** Pages that were found unchanged. */
  readonly unchanged: number
  readonly skipped: number
  readonly errors: number
  readonly bytes: number
  readonly queueSize: number
  readonly currentDownloadsCount: number
  /** At most five. */
  readonly currentDownloads: readonly { readonly url: string; readonly ageMs: number }[]
  readonly paused: boolean
  readonly robotsLoaded: boolean
  readonly sitemapCount: number
  readonly sitemapEnqueued: number
  readonly domain: string | null
  readonly domainRpm: number | null
  readonly domainLimit: number | null
  readonly domainBackoffMs: number
  readonly domainRateLimited: boolean
  readonly domainIntervalMs: number
  readonly perHost: Readonly<Record<string, HostFrame>>
  readonly perHostLimits: Readonly<Record<string, HostLimitFrame>>
  /** The crawl of the library that is running, and its source. */
  readonly crawlId: string | null
  readonly sourceId: string | null
}

/** One structured line that a crawl prints. */
export type Frame =
  | { readonly type: 'PROGRESS'; readonly data: ProgressFrame }
  | { readonly type: 'QUEUE'; readonly data: QueueFrame }
  | { readonly type: 'CACHE'; readonly data: CacheFrame }
  | { readonly type: 'ERROR'; readonly data: ErrorFrame }
  | { readonly type: 'PROBLEM'; readonly data: NoteFrame }
  | { readonly type: 'MILESTONE'; readonly data: NoteFrame }

/** What a crawl is told on its standard input, each on a line of its own. `CONCURRENCY 4`: so many requests at once from now on. */
export type Command = 'PAUSE' | 'RESUME' | `CONCURRENCY ${number}`
