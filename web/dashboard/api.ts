import type { STATE_LABELS } from '../../src/core/address-labels.ts'
import type { Explanation } from '../../src/core/search/explain.ts'
import type { CrawlSample } from '../../src/http/crawl-history.ts'
import type { WorkerItem } from '../../src/http/records/worker-records.ts'

/* Responses of the HTTP API, limited to the fields that these pages use. Timestamps are ISO 8601. */

/** A job in `GET /api/crawls`. */
export interface CrawlItem {
  readonly id: string
  readonly url: string
  readonly startedAt: string | null
  readonly paused: boolean
  readonly visited: number
  readonly downloaded: number
  readonly errors: number
  readonly queueSize: number
  readonly status: 'queued' | 'running' | 'done' | 'failed' | 'stopped' | 'cancelled'
  readonly stage: 'queued' | 'preparing' | 'running' | 'ended'
  /** Whether another program runs this crawl, so that it cannot be paused or stopped from here. */
  readonly elsewhere?: boolean
  /** Only of a crawl of another program; others report their progress. */
  readonly saved?: number
  readonly unchanged?: number
  /** Null until the crawl has reported its source. */
  readonly sourceId: string | null
}

/** `GET /api/crawls`, and the `jobs` event. */
export interface CrawlList {
  readonly count: number
  readonly items: readonly CrawlItem[]
}

/** `GET /api/crawl-history`. */
export interface CrawlHistory {
  readonly items: readonly { readonly id: string; readonly samples: readonly CrawlSample[] }[]
}

/** `GET /api/workers`. */
export interface WorkerList {
  /** Whether workers can join: the library is in PostgreSQL. */
  readonly isShared: boolean
  readonly slots: number
  readonly leases: number
  readonly items: readonly WorkerItem[]
}

/** The request rate of one host. */
export interface HostPace {
  readonly rpm: number
  readonly backoffUntil: string | null
  readonly intervalMs: number
}

/** The `progress` event. Most fields are missing until the crawl sends its first report. */
export interface ProgressEvent {
  readonly jobId: string
  readonly stage?: CrawlItem['stage']
  readonly visited: number
  readonly saved: number
  readonly unchanged?: number
  readonly errors: number
  readonly bytes: number
  readonly queueSize: number
  /** The page limit; missing without one. */
  readonly maxPages?: number
  readonly currentDownloadsCount?: number
  readonly currentDownloads?: readonly { readonly url: string; readonly ageMs: number }[]
  readonly paused: boolean
  readonly perHost?: Readonly<Record<string, HostPace>>
  readonly perHostLimits?: Readonly<Record<string, { readonly rateLimited: boolean }>>
  readonly sourceId?: string | null
}

/** The `log` event. */
export interface LogEvent {
  readonly stream: 'server' | 'stdout' | 'stderr'
  readonly line: string
  readonly jobId?: string | null
}

/** The `problem` and `milestone` events, and the items of `GET /api/problems` and `GET /api/milestones`. */
export interface NoteEvent {
  readonly jobId: string
  readonly kind: string
  readonly target?: string | null
  readonly message?: string | null
  readonly details?: Readonly<Record<string, unknown>> | null
  readonly severity?: string
  readonly ts?: string | null
}

/** `GET /api/problems`, and `GET /api/milestones`. */
export interface NoteList {
  readonly items: readonly NoteEvent[]
}

/** `GET /api/milestones/met`. */
export interface MilestonesMet {
  readonly met: readonly string[]
}

/** `GET /api/hubs/coverage`. */
export interface HubCoverage {
  readonly hubs: number
  readonly countriesCovered: number
  readonly countries: number
  readonly missingCount: number
  readonly patterns: readonly unknown[]
}

/** `GET /api/crawl-types`. */
export interface CrawlTypeList {
  readonly items: readonly CrawlTypeItem[]
}

/** A named crawl type. */
export interface CrawlTypeItem {
  readonly name: string
  readonly description: string
  readonly declaration: { readonly useSitemap?: boolean; readonly sitemapOnly?: boolean }
}

/** `GET /api/queues`. */
export interface QueueList {
  readonly total: number
  readonly items: readonly QueueItem[]
}

/** A job in the history. */
export interface QueueItem {
  readonly id: string
  readonly url: string
  readonly startedAt: string | null
  readonly endedAt: string | null
  readonly status: CrawlItem['status']
  /** Pages that are new or changed. */
  readonly saved: number
  readonly unchanged: number
  readonly errors: number
  /** Known addresses that were not read because of the page limit. */
  readonly unread: number
  readonly sourceId: string | null
  /** A readable message about why the crawl failed; null after a success. */
  readonly problem: string | null
}

/** `GET /api/crawls/:id`. */
export interface CrawlDetail {
  /** A readable message about why the crawl failed; null after a success. */
  readonly problem: string | null
}

/** `GET /api/sources`. */
export interface SourceList {
  readonly items: readonly SourceItem[]
}

/** `GET /api/duplicates`. */
export interface DuplicateList {
  readonly groups: readonly DuplicateGroup[]
  readonly groupCount: number
  readonly pageCount: number
  readonly compared: number
  readonly unknown: number
}

/** A group of near-duplicates, of which a search shows one page. */
export interface DuplicateGroup {
  readonly count: number
  readonly pages: readonly (SimilarItem & { readonly title: string; readonly sourceId: string })[]
}

/** A source and its state. */
export interface SourceItem {
  readonly id: string
  readonly name: string
  readonly version: string | null
  /** The name, followed by the version if there is one. */
  readonly label: string
  readonly url: string
  readonly kind: 'site' | 'folder' | 'archive' | 'repository' | 'package' | 'import'
  readonly settings: {
    readonly render: 'http' | 'auto' | 'chromium' | 'crawl4ai'
    readonly tree?: { readonly ref: string | null; readonly path: string | null }
    /** The version of the package that the last crawl read. */
    readonly readVersion?: string
  }
  /** The commit of the repository that was read; only set when a single source is requested. */
  readonly commit?: string | null
  readonly status: 'PENDING' | 'CRAWLING' | 'INDEXED' | 'UPDATING' | 'ERROR'
  readonly pages: number
  readonly chunks: number
  /** The share of chunks that have an embedding, from 0 to 1; null if semantic search is not available. */
  readonly meaning: number | null
  readonly balance: Balance
  /** Counts by `state/reason`. */
  readonly reasons: Readonly<Record<string, number>>
  readonly lastCrawledAt: string | null
  /** When the source is crawled again by itself; null for never. */
  readonly refresh: {
    readonly every: string
    readonly everyMs: number
    readonly nextAt: string
    /** Attempts since the last success, with one that runs now. */
    readonly attempts: number
    readonly problem: string | null
  } | null
  readonly isRunning: boolean
  /** Whether the last crawl was interrupted. */
  readonly isInterrupted: boolean
  /** The pages known to be missing; null if the source is complete. */
  readonly partial: {
    /** The page limit that the last crawl reached, if it is known. */
    readonly cap: number | null
    readonly unread: number
    readonly pending: number
    readonly failed: number
    /** The requests that complete it. */
    readonly complete: readonly { readonly path: string }[]
  } | null
  /** A scope that probably fits better, if the current one leaves only a few pages; otherwise null. */
  readonly widerScope: {
    /** `the scope left only the start page: it refused 4 addresses of the site; to include them, …` */
    readonly advice: string
  } | null
  /** Hosts that are not requested for now. */
  readonly waiting: readonly { readonly host: string; readonly until: string }[]
  /** Addresses of documentation that a package with only one short page names. */
  readonly documentation: readonly string[]
  /** The last crawl; null before the first one. */
  readonly crawl: {
    readonly state: 'running' | 'completed' | 'gate' | 'failed' | 'cancelled'
    readonly summary: { readonly problem: string | null; readonly listFaults?: readonly string[] } | null
  } | null
}

/** The number of addresses of a source in each state. */
export interface Balance {
  readonly discovered: number
  readonly indexed: number
  readonly unchanged: number
  readonly skipped: number
  readonly failed: number
  readonly gone: number
  readonly pending: number
}

/** `GET /api/urls`. */
export interface UrlPage {
  readonly items: readonly UrlItem[]
  readonly cursor: string | null
  /** The server stops counting at a limit. */
  readonly total: number
}

/** An address in a list. */
export interface UrlItem {
  readonly url: string
  readonly state: keyof typeof STATE_LABELS
  readonly reason: string | null
  readonly status: number | null
  /** When the address was last requested, or discovered if it was never requested. */
  readonly ts: string
  readonly title: string | null
  readonly wordCount: number | null
}

/** The full ledger row of an address. */
export interface LedgerRow {
  readonly url: string
  readonly state: keyof typeof STATE_LABELS
  readonly reason: string | null
  readonly status: number | null
  readonly depth: number
  readonly checkedAt: string | null
  readonly pattern: string | null
  readonly detail: string | null
  readonly foundOn: string | null
  readonly discovery: string
  readonly attempts: number
  readonly firstSeenAt: string
  readonly changedAt: string | null
  readonly dueAt: string | null
  readonly hasPage: boolean
}

/** `GET /api/explain`. */
export interface UrlExplanation {
  readonly url: string
  readonly row: LedgerRow | null
  readonly target: LedgerRow | null
  readonly aliases: readonly { readonly url: string; readonly aliasUrl: string }[]
  readonly refusal: { readonly reason: string; readonly pattern: string | null } | null
  readonly overflow: number
  /** Why the last crawl may not have seen every address; null if it saw all. */
  readonly incomplete: string | null
  readonly heldUntil: string | null
  /** The recorded values as readable text. */
  readonly words: {
    readonly state: string | null
    readonly reason: string | null
    readonly discovery: string | null
    readonly refusal: string | null
  }
}

/** `GET /api/search`. */
export interface SearchPage {
  readonly query: string
  readonly relevance: 'strong' | 'weak' | 'none'
  /** Words of the question that no passage has. */
  readonly uncovered: readonly string[]
  /** Sources that were not searched and have some of these words. */
  readonly elsewhere: readonly string[]
  readonly engines: readonly string[]
  readonly notices: readonly string[]
  readonly searchedCount: number
  readonly passages: readonly PassageItem[]
  readonly more: readonly MentionItem[]
  readonly tokens: number
  readonly cursor: string | null
  readonly widen: readonly {
    readonly filter: string
    readonly value: string
    readonly pages: number
    readonly instead: readonly string[]
  }[]
}

/** Another page that matched. */
export interface MentionItem {
  readonly source: string
  readonly sourceId: string
  readonly title: string
  readonly url: string
  /** The web page of the package version, for a page without a web address. */
  readonly packagePage?: string
  readonly headingPath: readonly string[]
  readonly line: string
  readonly chunk: string
  readonly version: string | null
  /** The near-duplicates that this page represents. */
  readonly similar?: readonly SimilarItem[]
}

/** A page that is hidden because a near-duplicate of it is shown. */
export interface SimilarItem {
  readonly url: string
  readonly source: string
  readonly version: string | null
  readonly language: string | null
  /** Whether its language differs from that of the page that is shown. */
  readonly isTranslation?: boolean
}

/** A passage of a page that matches the query. */
export interface PassageItem extends Omit<MentionItem, 'line'> {
  readonly kind: string
  readonly startLine: number
  readonly endLine: number
  readonly text: string
  /** The text, rendered by the server. */
  readonly html: string
  readonly citation: string
  readonly tokens: number
  readonly isCut: boolean
  readonly terms: readonly string[]
  readonly score: number
  readonly checkedAt: string
  readonly changedAt: string
  readonly explain?: PassageExplanation
}

/** How the score of a passage is computed. */
export interface PassageExplanation {
  readonly words: Explanation | null
  readonly wordScore: number
  readonly linkShare: number
  readonly pageBonus: number
  readonly similarity: number | null
  readonly fusion: string
  readonly reranker: { readonly score: number; readonly place: number; readonly placeBefore: number } | null
}
