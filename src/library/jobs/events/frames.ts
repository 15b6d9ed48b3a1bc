import { z } from 'zod'
import { DURATION_BUCKETS_MS, type DurationHistogram } from '../../../core/duration-histogram.ts'

/** Actions of a crawl on its queue. */
export const QUEUE_ACTIONS = ['enqueued', 'dequeued', 'retry', 'drop'] as const

/** One of {@link QUEUE_ACTIONS}. */
export type QueueAction = (typeof QUEUE_ACTIONS)[number]

/** A change in the queue of a crawl. */
export interface QueueFrame {
  readonly action: QueueAction
  readonly url: string
  readonly depth: number | null
  readonly host: string | null
  /** Why the address was dropped or is retried, as named in the HTTP API. */
  readonly reason: string | null
  readonly queueSize: number
  /** Address that is crawled instead of an address dropped because of its query. */
  readonly alias: string | null
}

/** A problem or milestone that a crawl found on a site. */
export interface NoteFrame {
  readonly kind: string
  readonly scope: string | null
  readonly target: string | null
  readonly message: string | null
  readonly details: Readonly<Record<string, unknown>> | null
}

/** A page served from the library without a request. */
export interface CacheFrame {
  readonly url: string
  readonly source: string
  readonly ageSeconds: number | null
}

/** A page that could not be fetched or stored. */
export interface ErrorFrame {
  readonly url: string
  readonly kind: 'http' | 'network' | 'timeout' | 'save'
  readonly code: number | null
  readonly message: string | null
}

/** Pacing of one host. */
export interface HostFrame {
  readonly rpm: number
  readonly limitRpm: number | null
  /** End of the back-off, in ISO 8601; null without one. */
  readonly backoffUntil: string | null
  readonly intervalMs: number
}

/** Pacing of one host under other field names, which the API contract also requires. */
export interface HostLimitFrame {
  readonly rateLimited: boolean
  readonly limit: number | null
  readonly intervalMs: number
  readonly backoffMs: number
}

/** Progress of a crawl. */
export interface ProgressFrame {
  /** Completed visits. */
  readonly visited: number
  /** Responses with a body. */
  readonly downloaded: number
  /** Addresses found and admitted. */
  readonly found: number
  /** Pages that are new or changed. */
  readonly saved: number
  /** Pages found unchanged. */
  readonly unchanged: number
  readonly skipped: number
  readonly errors: number
  readonly bytes: number
  /** Share of the reporting process in these counts. @default all of it */
  readonly own?: { readonly visited: number; readonly bytes: number } | undefined
  readonly queueSize: number
  /** The page limit of the run. @default none */
  readonly maxPages?: number | undefined
  /** Known addresses left unread because of a cap, once the crawl has ended. @default 0 */
  readonly unread?: number | undefined
  readonly currentDownloadsCount: number
  /** At most five of the downloads in progress. */
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
  /** Time to first byte of the hosts. */
  readonly latencies?: DurationHistogram | undefined
  /** Id of the running crawl, and its source. */
  readonly crawlId: string | null
  readonly sourceId: string | null
}

/** Progress of a crawl that has not started. */
export const NO_PROGRESS: ProgressFrame = {
  visited: 0,
  downloaded: 0,
  found: 0,
  saved: 0,
  unchanged: 0,
  skipped: 0,
  errors: 0,
  bytes: 0,
  queueSize: 0,
  currentDownloadsCount: 0,
  currentDownloads: [],
  paused: false,
  robotsLoaded: false,
  sitemapCount: 0,
  sitemapEnqueued: 0,
  domain: null,
  domainRpm: null,
  domainLimit: null,
  domainBackoffMs: 0,
  domainRateLimited: false,
  domainIntervalMs: 0,
  perHost: {},
  perHostLimits: {},
  crawlId: null,
  sourceId: null,
}

/** A structured line that a crawl prints. */
export type Frame =
  | { readonly type: 'PROGRESS'; readonly data: ProgressFrame }
  | { readonly type: 'QUEUE'; readonly data: QueueFrame }
  | { readonly type: 'CACHE'; readonly data: CacheFrame }
  | { readonly type: 'ERROR'; readonly data: ErrorFrame }
  | { readonly type: 'PROBLEM'; readonly data: NoteFrame }
  | { readonly type: 'MILESTONE'; readonly data: NoteFrame }

/** Commands on the standard input of a crawl, one per line. `CONCURRENCY 4` sets the maximum number of concurrent requests. */
export type Command = 'PAUSE' | 'RESUME' | `CONCURRENCY ${number}`

/** The word before the JSON of a frame. */
export type FrameType = Frame['type']

/** Writes a frame as one line, without the line break. */
export function writeFrame({ type, data }: Frame): string {
  return `${type} ${JSON.stringify(data)}`
}

/** Parses a line that a crawl printed; undefined if it is plain text for people. */
export function parseFrame(line: string): Frame | undefined {
  const space = line.indexOf(' ')
  const type = line.slice(0, Math.max(space, 0))
  if (!isFrameType(type)) return undefined
  let value: unknown
  try {
    value = JSON.parse(line.slice(space + 1))
  } catch {
    return undefined
  }
  const { success, data } = SHAPES[type].safeParse(value)
  // `SHAPES[type]` validates exactly the data of `type`, which the compiler cannot infer.
  return success ? ({ type, data } as Frame) : undefined
}

/** Writes the human-readable line that ends the output of a crawl. */
export function writeFinalStats({ visited, downloaded, saved, errors }: ProgressFrame): string {
  return `Final stats: ${visited} pages visited, ${downloaded} downloaded, ${saved} saved, ${errors} errors`
}

function isFrameType(word: string): word is FrameType {
  return Object.hasOwn(SHAPES, word)
}

const nullableText = z.string().nullable()
const nullableNumber = z.number().nullable()

const note: z.ZodType<NoteFrame> = z.object({
  kind: z.string(),
  scope: nullableText,
  target: nullableText,
  message: nullableText,
  details: z.record(z.string(), z.unknown()).nullable(),
})

const hostFrame: z.ZodType<HostFrame> = z.object({
  rpm: z.number(),
  limitRpm: nullableNumber,
  backoffUntil: nullableText,
  intervalMs: z.number(),
})

const hostLimitFrame: z.ZodType<HostLimitFrame> = z.object({
  rateLimited: z.boolean(),
  limit: nullableNumber,
  intervalMs: z.number(),
  backoffMs: z.number(),
})

const progressFrame: z.ZodType<ProgressFrame> = z.object({
  visited: z.number(),
  downloaded: z.number(),
  found: z.number(),
  saved: z.number(),
  unchanged: z.number(),
  skipped: z.number(),
  errors: z.number(),
  bytes: z.number(),
  own: z.object({ visited: z.number(), bytes: z.number() }).optional(),
  queueSize: z.number(),
  maxPages: z.number().optional(),
  unread: z.number().optional(),
  currentDownloadsCount: z.number(),
  currentDownloads: z.array(z.object({ url: z.string(), ageMs: z.number() })),
  paused: z.boolean(),
  robotsLoaded: z.boolean(),
  sitemapCount: z.number(),
  sitemapEnqueued: z.number(),
  domain: nullableText,
  domainRpm: nullableNumber,
  domainLimit: nullableNumber,
  domainBackoffMs: z.number(),
  domainRateLimited: z.boolean(),
  domainIntervalMs: z.number(),
  perHost: z.record(z.string(), hostFrame),
  perHostLimits: z.record(z.string(), hostLimitFrame),
  latencies: z
    .object({ counts: z.array(z.number()).max(DURATION_BUCKETS_MS.length + 1), sumMs: z.number() })
    .optional(),
  crawlId: nullableText,
  sourceId: nullableText,
})

/** Schema of the data of each frame. Unknown fields are dropped. */
const SHAPES: { readonly [T in FrameType]: z.ZodType<Extract<Frame, { type: T }>['data']> } = {
  PROGRESS: progressFrame,
  QUEUE: z.object({
    action: z.enum(QUEUE_ACTIONS),
    url: z.string(),
    depth: nullableNumber,
    host: nullableText,
    reason: nullableText,
    queueSize: z.number(),
    alias: nullableText,
  }),
  CACHE: z.object({ url: z.string(), source: z.string(), ageSeconds: nullableNumber }),
  ERROR: z.object({
    url: z.string(),
    kind: z.enum(['http', 'network', 'timeout', 'save']),
    code: nullableNumber,
    message: nullableText,
  }),
  PROBLEM: note,
  MILESTONE: note,
}
