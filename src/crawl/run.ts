import type { Scope } from '../core/url/scope.ts'
import type { CrawlControl } from './control.ts'
import type { CrawlKind, CrawlSummary } from './events.ts'
import type { Ledger } from './ledger.ts'
import type { Memory } from './memory-limiter.ts'
import type { CrawlPlanner } from './planning/planner.ts'
import type { MilestoneStore } from './planning/progress-milestones.ts'
import type { Clock, Fetcher, PageKind, PageKindReader, PageReader, Renderer, Rendering, SiteHeaders } from './ports.ts'
import type { ProcessCounts, SharedCrawl } from './sharing.ts'

/** Number of requests that a page cap allows for each of its pages. */
export const REQUESTS_PER_PAGE = 10
/** Number of requests that a page cap allows in addition, for addresses without a page. */
export const EXTRA_PAGE_REQUESTS = 100

/** Settings of one crawl. */
export interface CrawlRun {
  readonly crawlId: string
  readonly sourceId: string
  readonly kind: CrawlKind
  /** Whether the crawl continues an interrupted run. */
  readonly isResumed: boolean
  readonly startUrl: string
  /** The start with its actual scheme and host, after redirects. */
  readonly siteUrl: string
  /** Addresses to begin with, in addition to the start. */
  readonly seeds: readonly string[]
  readonly scope: Scope
  /** Whether the scope, apart from its page limit, differs from that of the source: then missing addresses prove nothing. */
  readonly isScopeChanged: boolean
  readonly llmsTxtUrl: string | null
  readonly llmsFull: 'auto' | 'off' | 'only'
  readonly usesLlmsTxt: boolean
  readonly usesSitemaps: boolean
  readonly followsLinks: boolean
  /** Reads every page again, ignoring validators and hashes. */
  readonly full: boolean
  readonly acceptLoss: boolean
  /** In a refresh: also fetches new addresses. */
  readonly discover: boolean
  /** Pages checked within this time are not requested again. */
  readonly maxAgeMs: number
  /** Overrides of `maxAgeMs` by kind of page. */
  readonly maxAgeMsOf: Readonly<Partial<Record<PageKind, number>>>
  /** Headers sent to the origin of the start only. */
  readonly headers: Readonly<Record<string, string>>
  /** Headers that the owner configured, each for one origin. @default none */
  readonly siteHeaders?: SiteHeaders
  /** How pages are read. */
  readonly render: Rendering
  readonly limits: CrawlLimits
}

/** Limits of a crawl. */
export interface CrawlLimits {
  /** Maximum concurrent visits. */
  readonly concurrency: number
  /** Maximum number of hosts held at once, in a library shared by several machines. */
  readonly hosts: number
  /** Minimum interval between two requests to a remote host, in milliseconds. */
  readonly intervalMs: number
  /** Minimum interval between two requests to a host on this machine. */
  readonly loopbackIntervalMs: number
  /** Initial interval for a remote host, until its responses prove quick. */
  readonly startIntervalMs: number
  /** Minimum and maximum jitter added to an interval, so that requests form no fixed rhythm. */
  readonly jitterMs: readonly [min: number, max: number]
  /** Back-offs for a host that keeps failing, or that asks to slow down without a time: the first, the second, and so on. */
  readonly holdsMs: readonly number[]
  /** Maximum number of requests for an address before it counts as failed. */
  readonly attempts: number
  /** Maximum number of consecutive redirects. */
  readonly redirects: number
  readonly sitemapEntries: number
  /** Maximum number of ledger rows of a source: further addresses are only counted. */
  readonly ledgerRows: number
  /** Memory of the process in bytes above which no concurrent visit begins. */
  readonly memoryBytes: number
  /** Duration of the lease of a visit. */
  readonly leaseMs: number
  /** A running crawl signals liveness more often than this; otherwise it counts as interrupted, and its hosts are free. */
  readonly aliveMs: number
  /** Maximum wait for a library that cannot be written before the crawl stops. */
  readonly pauseMs: number
  /** Maximum wait for a full disk before the crawl stops. */
  readonly fullMs: number
  /** A crawl without any activity for this long, and without anything to wait for, has failed. */
  readonly stallMs: number
  /** Number of pages that a crawl may remove without consent; more only if they are at most `lossShare` of the source. */
  readonly lossPages: number
  readonly lossShare: number
  /** Number of new pages after which a crawl without a page limit says so: a site may make pages without end. */
  readonly noticePages: number
}

/** Default limits. */
export const DEFAULT_CRAWL_LIMITS: CrawlLimits = {
  concurrency: 16,
  hosts: Infinity,
  intervalMs: 200,
  loopbackIntervalMs: 0,
  startIntervalMs: 1000,
  jitterMs: [25, 50],
  holdsMs: [30_000, 300_000, 900_000],
  attempts: 3,
  redirects: 10,
  sitemapEntries: 200_000,
  ledgerRows: 1_000_000,
  memoryBytes: 512 * 2 ** 20,
  leaseMs: 120_000,
  aliveMs: 30_000,
  pauseMs: 3_600_000,
  fullMs: 3_600_000,
  stallMs: 600_000,
  lossPages: 20,
  lossShare: 0.1,
  noticePages: 10_000,
}

/** External dependencies of a crawl. */
export interface CrawlPorts {
  readonly ledger: Ledger
  readonly fetcher: Fetcher
  /** Fetches pages, and only pages, in place of `fetcher`. */
  readonly pageFetcher?: Fetcher | undefined
  /** Without it, a page that needs a browser is reported as such. */
  readonly renderer?: Renderer | undefined
  readonly readPage: PageReader
  /** Without it, memory is not checked. */
  readonly memory?: Memory
  /** Without it, addresses are visited by weight, depth and age. */
  readonly planner?: CrawlPlanner | undefined
  /** Without it, milestones are emitted once per run. */
  readonly milestones?: MilestoneStore | undefined
  /** Without it, a crawl can only be stopped. */
  readonly control?: CrawlControl | undefined
  readonly clock: Clock
  readonly kindOf: PageKindReader
  /** Random number from 0 up to 1, for jitter. */
  readonly random: () => number
  /** A new UUID. */
  readonly newId: () => string
  /** Lets other processes join; without it, none can. */
  readonly share?: ((shared: SharedCrawl) => Promise<void>) | undefined
  /** Reads the counts of the processes that joined. */
  readonly readJoinedCounts?: (() => Promise<ProcessCounts>) | undefined
  /** Called when the start has moved permanently. */
  readonly moveSite: (siteUrl: string) => Promise<void>
  /** Signals that the crawl is alive; false if another process has taken it over. */
  readonly touch: () => Promise<boolean>
  /** Writes the end of the crawl and its summary. No writes for this crawl succeed afterwards. */
  readonly end: (summary: CrawlSummary) => Promise<void>
}
