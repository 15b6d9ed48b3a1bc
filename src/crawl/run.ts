import type { Scope } from '../core/url/scope.ts'
import type { CrawlControl } from './control.ts'
import type { CrawlKind, CrawlSummary } from './events.ts'
import type { Ledger } from './ledger.ts'
import type { Memory } from './memory-gate.ts'
import type { CrawlPlanner } from './planner.ts'
import type { Clock, Fetcher, KindOf, PageKind, PageReader, Renderer, Rendering } from './ports.ts'
import type { MilestoneMemory } from './progress-milestones.ts'
import type { Help, SharedCrawl } from './sharing.ts'

/** Requests for pages that a cap on pages allows: so many for each page, and some for addresses that lead to none. */
export const REQUESTS_PER_PAGE = 10
export const FURTHER_REQUESTS = 100

/** What one crawl is to do. */
export interface CrawlRun {
  readonly crawlId: string
  readonly sourceId: string
  readonly kind: CrawlKind
  /** Whether an interrupted run goes on. */
  readonly isResumed: boolean
  readonly startUrl: string
  /** The start with the scheme and host it turned out to have. */
  readonly siteUrl: string
  /** Addresses to begin with besides the start. */
  readonly seeds: readonly string[]
  readonly scope: Scope
  /** Whether the scope, but for its page limit, is another than the source has: nothing may then be concluded from what was not found. */
  readonly isScopeChanged: boolean
  readonly llmsTxtUrl: string | null
  readonly llmsFull: 'auto' | 'off' | 'only'
  readonly usesLlmsTxt: boolean
  readonly usesSitemaps: boolean
  readonly followsLinks: boolean
  /** Reads every page again, whatever its validators and hash say. */
  readonly full: boolean
  readonly acceptLoss: boolean
  /** In a refresh: also fetches addresses that are new. */
  readonly discover: boolean
  /** Pages checked within so many milliseconds are taken as they are. */
  readonly maxAgeMs: number
  /** The same for kinds of pages of which something else holds. */
  readonly maxAgeMsOf: Readonly<Partial<Record<PageKind, number>>>
  /** Fields sent to the origin of the start only. */
  readonly headers: Readonly<Record<string, string>>
  /** How pages are read. */
  readonly render: Rendering
  readonly limits: CrawlLimits
}

/** Bounds of a crawl. */
export interface CrawlLimits {
  /** Visits at once. */
  readonly concurrency: number
  /** Hosts at once, in a library that several machines use. */
  readonly hosts: number
  /** Shortest pause between two requests to a host that is not on this machine, in milliseconds. */
  readonly intervalMs: number
  /** Shortest pause between two requests to a host on this machine. */
  readonly loopbackIntervalMs: number
  /** Pause a host elsewhere is met with, before it has shown that it answers quickly. */
  readonly startIntervalMs: number
  /** Least and most milliseconds that a pause is longer than it has to be, so that requests keep no beat. */
  readonly jitterMs: readonly [least: number, most: number]
  /** How long a host that keeps failing, or asks to slow down without saying for how long, is left alone: at first, after that, and so on. */
  readonly holdsMs: readonly number[]
  /** Fetches of one address before it counts as failed. */
  readonly attempts: number
  /** Redirects in a row. */
  readonly redirects: number
  readonly sitemapEntries: number
  /** Most rows of the ledger of one source: what is found beyond them is counted, and nothing else. */
  readonly ledgerRows: number
  /** Memory of the process in bytes above which no visit begins beside others. */
  readonly memoryBytes: number
  /** How long a visit may take before others may have it. */
  readonly leaseMs: number
  /** A running crawl gives a sign of life more often than this: one without was interrupted, and its hosts are free. */
  readonly aliveMs: number
  /** How long to wait for a library that cannot be written before the crawl is broken off. */
  readonly pauseMs: number
  /** The same where the disk is full. */
  readonly fullMs: number
  /** A crawl in which nothing at all happened for so long, although nothing was waited for, has failed. */
  readonly stallMs: number
  /** Pages a crawl may remove without being asked, if they are also no more than `lossShare` of the source. */
  readonly lossPages: number
  readonly lossShare: number
}

/** What holds unless somebody says otherwise. */
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
}

/** The outside world of a crawl. */
export interface CrawlPorts {
  readonly ledger: Ledger
  readonly fetcher: Fetcher
  /** What pages are fetched by instead, and nothing else is. */
  readonly pageFetcher?: Fetcher | undefined
  /** Without it, a page that needs a browser is told as such. */
  readonly renderer?: Renderer | undefined
  readonly readPage: PageReader
  /** Without it, memory is not looked at. */
  readonly memory?: Memory
  /** Without it, addresses are visited in the order of depth and age. */
  readonly planner?: CrawlPlanner | undefined
  /** Without it, milestones are told once a run. */
  readonly milestones?: MilestoneMemory | undefined
  /** Without it, nothing can be asked of a crawl but to stop. */
  readonly control?: CrawlControl | undefined
  readonly clock: Clock
  readonly kindOf: KindOf
  /** Number from 0 up to 1, for jitter. */
  readonly random: () => number
  /** A new UUID. */
  readonly newId: () => string
  /** Lets further processes take part; without it, none may. */
  readonly share?: ((shared: SharedCrawl) => Promise<void>) | undefined
  /** What those have done. */
  readonly readHelp?: (() => Promise<Help>) | undefined
  /** Called when the start turned out to live elsewhere. */
  readonly moveSite: (siteUrl: string) => Promise<void>
  /** Says that the crawl is alive; false when somebody else has taken it over. */
  readonly touch: () => Promise<boolean>
  /** Writes that the crawl is over and what it came to. Nothing is written on its behalf from then on. */
  readonly end: (summary: CrawlSummary) => Promise<void>
}
