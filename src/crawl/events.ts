import type { DurationCounts } from '../core/durations.ts'
import type { Discovery, LedgerCounts, LedgerState, Reason } from './ledger.ts'
import type { WiderScope } from './wider-scope.ts'

/** Why a crawl runs. */
export const CRAWL_KINDS = ['add', 'recrawl', 'refresh', 'retry'] as const

/** One of {@link CRAWL_KINDS}. */
export type CrawlKind = (typeof CRAWL_KINDS)[number]

/** How a crawl can end. `gate`: it would have removed more than is allowed, and removed nothing. */
export const CRAWL_ENDS = ['completed', 'cancelled', 'gate', 'failed'] as const

/** One of {@link CRAWL_ENDS}. */
export type CrawlEnd = (typeof CRAWL_ENDS)[number]

/** What a crawl may have to wait for: room on the disk, a library that others keep locked, the right to write, memory, whoever paused it. */
export type PauseCause = 'disk-full' | 'locked' | 'unreachable' | 'read-only' | 'memory' | 'requested'

/** One thing that happened in a crawl. Progress lines, live events and stored history are made from this stream. */
export type CrawlEvent =
  | { readonly type: 'started'; readonly crawlId: string; readonly kind: CrawlKind; readonly isResumed: boolean }
  /** Something was looked for where links are listed: what it was, where, and what came of it. */
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
  /** A visit begins; once more for each time that it is tried again. */
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
      /** Of a page that was taken as it is stored, without an answer that holds it: how old that is. */
      readonly storedMs?: number
    }
  /** A robots.txt asks for longer pauses than it gets. */
  | { readonly type: 'paced'; readonly host: string; readonly intervalMs: number; readonly askedMs: number }
  /** A host is left alone for a while: it asked for that, or kept failing. */
  | {
      readonly type: 'held'
      readonly host: string
      readonly untilMs: number
      /** Null where that was before this crawl. */
      readonly reason: Reason | null
      /** How often in a row it had to be. */
      readonly strikes: number
    }
  /** A host is left alone for the rest of the crawl. */
  | { readonly type: 'parked'; readonly host: string; readonly reason: Reason; readonly detail: string }
  /** Nothing goes on until something outside changes. */
  | { readonly type: 'paused'; readonly cause: PauseCause; readonly detail: string }
  | { readonly type: 'resumed'; readonly cause: PauseCause; readonly pausedMs: number }
  /** The plan, or the user, expected something that was not found, or that cannot be used. */
  | ({ readonly type: 'problem' } & PlanNote)
  /** The plan, or the crawl, has come to know something about the site. Each kind once a crawl. */
  | ({ readonly type: 'milestone' } & PlanNote)
  /** What the plan thinks, for those who want to follow it; the higher the level, the smaller the matter. */
  | { readonly type: 'plan'; readonly level: number; readonly message: string }
  | ({ readonly type: 'progress' } & CrawlProgress)
  | { readonly type: 'ended'; readonly summary: CrawlSummary }

/** Something that was learnt about a site. */
export interface PlanNote {
  readonly kind: string
  /** Address, host or pattern that it is about. */
  readonly target: string
  readonly message: string
  readonly details: Readonly<Record<string, unknown>>
}

/** Where a crawl stands. */
export interface CrawlProgress {
  /** Visits that came to an end in this run. */
  readonly visited: number
  readonly indexed: number
  readonly unchanged: number
  readonly skipped: number
  readonly failed: number
  readonly bytes: number
  /** What this process has done of it. @default all of it */
  readonly own?: { readonly visited: number; readonly bytes: number }
  /** Rows that are still to be fetched. */
  readonly queued: number
  /** Addresses being fetched, and for how long. */
  readonly current: readonly { readonly url: string; readonly ageMs: number }[]
  /** Whether it was asked to begin nothing new for now. */
  readonly isPaused: boolean
  /** Whether the robots.txt of its site has been read, or is known not to be there. */
  readonly hasRobots: boolean
  readonly hosts: readonly HostProgress[]
  /** How long hosts took to begin their answers; left out where nothing is fetched. */
  readonly latencies?: DurationCounts
  readonly elapsedMs: number
}

/** How one host is treated. */
export interface HostProgress {
  readonly host: string
  readonly requests: number
  /** Requests in the last minute. */
  readonly rpm: number
  /** Requests a minute that its pause allows; null without one. */
  readonly limitRpm: number | null
  readonly intervalMs: number
  /** When it is asked again, while it is left alone. */
  readonly backoffUntil: number | null
  /** How long that is from now; 0 while it is not. */
  readonly backoffMs: number
  /** How long it takes to answer lately; null while that is not known. */
  readonly latencyMs: number | null
}

/** What a crawl came to. */
export interface CrawlSummary {
  readonly crawlId: string
  readonly kind: CrawlKind
  readonly end: CrawlEnd
  /** The ledger of the source after it. */
  readonly ledger: LedgerCounts
  /** What this run did. */
  readonly visited: number
  readonly indexed: number
  readonly unchanged: number
  readonly skipped: number
  readonly failed: number
  readonly removed: number
  /** Pages that stay although this run could not find them, because more would have gone than is allowed. */
  readonly withheld: number
  /** The cap that bit, if one did. */
  readonly cappedAt: number | null
  /** Known addresses that the cap kept from being read, those of pages from earlier runs among them. @default 0 */
  readonly unread?: number
  /** Requests for pages that used up what the cap allows, and the pages that they brought; left out where the pages reached the cap. */
  readonly spent?: { readonly requests: number; readonly pages: number }
  /** The scope that the source probably needs, where its own leaves only a few pages. @default its own fits */
  readonly wider?: WiderScope
  /** Hosts that were left alone for the rest of the run, and why; their addresses failed without being asked. */
  readonly parked: readonly { readonly host: string; readonly detail: string }[]
  /** Why nothing was concluded from what was not found, in words. */
  readonly incomplete: string | null
  /** Addresses that were found and not recorded, because the source has as many as it may have. */
  readonly overflow: number
  /** Addresses that a refresh saw for the first time and left alone. */
  readonly newInRefresh: number
  readonly bytes: number
  readonly requests: number
  readonly elapsedMs: number
  /** Why it failed or was stopped, in words. */
  readonly problem: string | null
  /** The reason that kept it from reading anything, if one did. */
  readonly vainReason: Reason | null
  /** Of a folder: which one it was when it was last read in full, by something that another in its place does not share. */
  readonly place?: string
  /** Of a folder: those of the removed pages whose content is at another path now. @default 0 */
  readonly moved?: number
}
