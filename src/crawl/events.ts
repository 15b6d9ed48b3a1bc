import type { DurationHistogram } from '../core/duration-histogram.ts'
import type { WiderScope } from './addresses/wider-scope.ts'
import type { LedgerCounts } from './ledger.ts'
import type { Discovery, LedgerState, Reason } from './ledger-reasons.ts'

/** Why a crawl runs. */
export const CRAWL_KINDS = ['add', 'recrawl', 'refresh', 'retry'] as const

/** One of {@link CRAWL_KINDS}. */
export type CrawlKind = (typeof CRAWL_KINDS)[number]

/** How a crawl can end. `gate`: the crawl would have removed more pages than allowed, so it removed none. */
export const CRAWL_ENDS = ['completed', 'cancelled', 'gate', 'failed'] as const

/** One of {@link CRAWL_ENDS}. */
export type CrawlEnd = (typeof CRAWL_ENDS)[number]

/**
 * What a crawl may wait for: disk space, a library that another process locks, an unreachable library, write permission, memory, or a pause
 * by the user.
 */
export type PauseCause = 'disk-full' | 'locked' | 'unreachable' | 'read-only' | 'memory' | 'requested'

/** One event of a crawl. Progress lines, live events and stored history are made from this stream. */
export type CrawlEvent =
  | { readonly type: 'started'; readonly crawlId: string; readonly kind: CrawlKind; readonly isResumed: boolean }
  /** The crawl requested a list of addresses: its kind, address and result. */
  | {
      readonly type: 'discovery'
      readonly discovery: Discovery
      readonly url: string
      readonly found: number
      readonly detail: string
    }
  | { readonly type: 'enqueued'; readonly url: string; readonly depth: number; readonly discovery: Discovery }
  | {
      readonly type: 'dropped'
      readonly url: string
      readonly depth: number
      readonly reason: Reason
      readonly pattern: string | null
      readonly target: string | null
    }
  /** A visit begins; emitted again for each retry. */
  | { readonly type: 'begun'; readonly url: string; readonly depth: number }
  | {
      readonly type: 'retry'
      readonly url: string
      readonly reason: Reason
      readonly attempt: number
      readonly delayMs: number
    }
  | {
      readonly type: 'settled'
      readonly url: string
      readonly state: LedgerState
      readonly reason: Reason | null
      readonly status: number | null
      readonly detail: string | null
      readonly bytes: number
      readonly chunks: number
      /** Time since the stored page was last checked; present only if the page was kept because the response did not contain it. */
      readonly storedMs?: number
    }
  /** A robots.txt asks for a longer crawl delay than the crawl keeps. */
  | { readonly type: 'paced'; readonly host: string; readonly intervalMs: number; readonly askedMs: number }
  /** A host is in back-off, because it asked for a wait or kept failing. */
  | {
      readonly type: 'held'
      readonly host: string
      readonly untilMs: number
      /** Null if the back-off began before this crawl. */
      readonly reason: Reason | null
      /** Number of consecutive back-offs. */
      readonly strikes: number
    }
  /** A host gets no more requests in this crawl. */
  | { readonly type: 'parked'; readonly host: string; readonly reason: Reason; readonly detail: string }
  /** The crawl is blocked until an external condition changes. */
  | { readonly type: 'paused'; readonly cause: PauseCause; readonly detail: string }
  | { readonly type: 'resumed'; readonly cause: PauseCause; readonly pausedMs: number }
  /** Something that the planner or the user expected was not found or cannot be used. */
  | ({ readonly type: 'problem' } & PlanNote)
  /** The planner or the crawl has learned something about the site. Each kind is emitted once per crawl. */
  | ({ readonly type: 'milestone' } & PlanNote)
  /** A message of the planner for observers; a higher level is less important. */
  | { readonly type: 'plan'; readonly level: number; readonly message: string }
  | ({ readonly type: 'progress' } & CrawlProgress)
  | { readonly type: 'ended'; readonly summary: CrawlSummary }

/** A fact that was learned about a site. */
export interface PlanNote {
  readonly kind: string
  /** Address, host or pattern that the note is about. */
  readonly target: string
  readonly message: string
  readonly details: Readonly<Record<string, unknown>>
}

/** Progress of a crawl. */
export interface CrawlProgress {
  /** Visits completed in this run. */
  readonly visited: number
  readonly indexed: number
  readonly unchanged: number
  readonly skipped: number
  readonly failed: number
  readonly bytes: number
  /** The share of this process. @default everything */
  readonly own?: { readonly visited: number; readonly bytes: number }
  /** Rows still to be fetched. */
  readonly queued: number
  /** The page limit of the run. @default none */
  readonly maxPages?: number | undefined
  /** Addresses being fetched, and for how long. */
  readonly current: readonly { readonly url: string; readonly ageMs: number }[]
  /** Whether the crawl is paused by the user. */
  readonly isPaused: boolean
  /** Whether robots.txt of the site was read, or is known to be missing. */
  readonly hasRobots: boolean
  readonly hosts: readonly HostProgress[]
  /** Time to first byte of the hosts; left out if nothing is fetched. */
  readonly latencies?: DurationHistogram
  readonly elapsedMs: number
}

/** Request rate of one host. */
export interface HostProgress {
  readonly host: string
  readonly requests: number
  /** Requests in the last minute. */
  readonly rpm: number
  /** Requests per minute that the interval allows; null without an interval. */
  readonly limitRpm: number | null
  readonly intervalMs: number
  /** When the back-off ends; null without one. */
  readonly backoffUntil: number | null
  /** Remaining back-off; 0 without one. */
  readonly backoffMs: number
  /** Recent latency; null while unknown. */
  readonly latencyMs: number | null
}

/** Result of a crawl. */
export interface CrawlSummary
  extends Pick<CrawlProgress, 'visited' | 'indexed' | 'unchanged' | 'skipped' | 'failed' | 'bytes' | 'elapsedMs'> {
  readonly crawlId: string
  readonly kind: CrawlKind
  readonly end: CrawlEnd
  /** The ledger of the source after the crawl. */
  readonly ledger: LedgerCounts
  readonly removed: number
  /** Pages kept although this run did not find them, because removing them would exceed the allowed loss. */
  readonly withheld: number
  /** The page cap, if it was reached. */
  readonly cappedAt: number | null
  /** Known addresses that were not read because of the cap, including pages from earlier runs. @default 0 */
  readonly unread?: number
  /** Requests and pages when the cap ended the crawl by its number of requests; left out if the number of pages reached the cap. */
  readonly spent?: { readonly requests: number; readonly pages: number }
  /** A suggested scope, if the own scope leaves only a few pages. @default no suggestion */
  readonly wider?: WiderScope
  /** Hosts that got no more requests in this run, with the reason; their remaining addresses failed without a request. */
  readonly parked: readonly { readonly host: string; readonly detail: string }[]
  /** Why a missing address proves nothing in this run, as text. */
  readonly incomplete: string | null
  /** What is wrong with the lists of the site, in words. @default nothing */
  readonly listFaults?: readonly string[]
  /** Addresses found but not recorded, because the source has reached its maximum number of rows. */
  readonly overflow: number
  /** New addresses that a refresh found and did not fetch. */
  readonly newInRefresh: number
  readonly requests: number
  /** Why the crawl failed or was stopped, as text. */
  readonly problem: string | null
  /** Why the crawl was useless: it could not start, every page failed, or no page is stored. Null otherwise; `problem` has the details. */
  readonly uselessReason: Reason | null
  /** For a folder: an identity of the folder that was last read completely, which differs for another folder at the same path. */
  readonly place?: string
  /** For a folder: removed pages whose content is now at another path. @default 0 */
  readonly moved?: number
}
