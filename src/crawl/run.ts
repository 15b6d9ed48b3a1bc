import type { Scope } from '../core/url/scope.ts'
import type { CrawlKind } from './events.ts'
import type { Ledger } from './ledger.ts'
import type { Clock, Fetcher, KindOf, PageKind, PageReader } from './ports.ts'

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
  /** Whether the scope is another than the source has: nothing may then be concluded from what was not found. */
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
  readonly limits: CrawlLimits
}

/** Bounds of a crawl. */
export interface CrawlLimits {
  /** Visits at once. */
  readonly concurrency: number
  /** Pause between two requests to a host that is not on this machine, in milliseconds. */
  readonly intervalMs: number
  /** Fetches of one address before it counts as failed. */
  readonly attempts: number
  /** Redirects in a row. */
  readonly redirects: number
  readonly sitemapEntries: number
  /** How long a visit may take before others may have it. */
  readonly leaseMs: number
  /** Pages a crawl may remove without being asked, if they are also no more than `lossShare` of the source. */
  readonly lossPages: number
  readonly lossShare: number
}

/** What holds unless somebody says otherwise. */
export const DEFAULT_CRAWL_LIMITS: CrawlLimits = {
  concurrency: 16,
  intervalMs: 200,
  attempts: 3,
  redirects: 10,
  sitemapEntries: 200_000,
  leaseMs: 120_000,
  lossPages: 20,
  lossShare: 0.1,
}

/** The outside world of a crawl. */
export interface CrawlPorts {
  readonly ledger: Ledger
  readonly fetcher: Fetcher
  readonly readPage: PageReader
  readonly clock: Clock
  readonly kindOf: KindOf
  /** Number from 0 up to 1, for jitter. */
  readonly random: () => number
  /** Called when the start turned out to live elsewhere. */
  readonly moveSite: (siteUrl: string) => Promise<void>
  /** Says that the crawl is alive; false when somebody else has taken it over. */
  readonly touch: () => Promise<boolean>
}
