import type { SiteLists } from './discovery/site-lists.ts'
import type { CrawlSummary } from './events.ts'
import type { CrawlPorts } from './run.ts'
import type { Site } from './site.ts'

/** Maximum age of the cached counts of other processes. */
const COUNTS_MAX_AGE_MS = 1000

/** State that a joining process needs besides the stored crawl: what the first requests have shown. */
export interface SharedCrawl {
  /** The start with its actual scheme and host, after redirects. */
  readonly siteUrl: string
  /** Whether the current pages of llms-full.txt are known. */
  readonly isFullKnown: boolean
}

/** Counts of one or more processes of a crawl. */
export interface ProcessCounts
  extends Pick<
    CrawlSummary,
    | 'visited'
    | 'indexed'
    | 'unchanged'
    | 'skipped'
    | 'failed'
    | 'newInRefresh'
    | 'overflow'
    | 'bytes'
    | 'requests'
    | 'parked'
  > {
  /** Pages that are proven gone: failures only where the crawl does not remove them. */
  readonly provenGone: number
}

/** Counts of a crawl that no process has joined. */
export const NO_COUNTS: ProcessCounts = {
  visited: 0,
  indexed: 0,
  unchanged: 0,
  skipped: 0,
  failed: 0,
  provenGone: 0,
  newInRefresh: 0,
  overflow: 0,
  bytes: 0,
  requests: 0,
  parked: [],
}

/** Adds counts of several processes. A host parked by more than one is listed once. */
export function addCounts(one: ProcessCounts, other: ProcessCounts): ProcessCounts {
  return {
    visited: one.visited + other.visited,
    indexed: one.indexed + other.indexed,
    unchanged: one.unchanged + other.unchanged,
    skipped: one.skipped + other.skipped,
    failed: one.failed + other.failed,
    provenGone: one.provenGone + other.provenGone,
    newInRefresh: one.newInRefresh + other.newInRefresh,
    overflow: one.overflow + other.overflow,
    bytes: one.bytes + other.bytes,
    requests: one.requests + other.requests,
    parked: [...new Map([...other.parked, ...one.parked].map((park) => [park.host, park])).values()],
  }
}

/** Lets other processes join a crawl, and reads what they have counted. */
export class Sharing {
  readonly #ports: Pick<CrawlPorts, 'share' | 'readJoinedCounts' | 'clock'>
  readonly #site: Site
  readonly #lists: SiteLists
  /** The state last shared with other processes, as JSON. */
  #sharedJson: string | undefined
  /** Cached counts of other processes, and when they were read. */
  #joined: { readonly counts: ProcessCounts; readonly at: number } = {
    counts: NO_COUNTS,
    at: Number.NEGATIVE_INFINITY,
  }

  constructor(ports: Pick<CrawlPorts, 'share' | 'readJoinedCounts' | 'clock'>, site: Site, lists: SiteLists) {
    this.#ports = ports
    this.#site = site
    this.#lists = lists
  }

  /** Lets other processes join once the location of the site is known, and shares later changes. */
  async share(): Promise<void> {
    const shared: SharedCrawl = { siteUrl: this.#site.url, isFullKnown: this.#lists.isLlmsFullKnown }
    const text = JSON.stringify(shared)
    if (!this.#site.isLocated || this.#sharedJson === text) return
    this.#sharedJson = text
    // A failed write is harmless: the next visit shares the state again.
    await this.#ports.share?.(shared).catch(() => {
      this.#sharedJson = undefined
    })
  }

  /** Counts of other processes, at most `COUNTS_MAX_AGE_MS` old. */
  async readJoinedCounts(isNow = false): Promise<ProcessCounts> {
    const { clock, readJoinedCounts } = this.#ports
    const now = clock.now()
    if (readJoinedCounts !== undefined && (isNow || now - this.#joined.at >= COUNTS_MAX_AGE_MS)) {
      this.#joined = { counts: await readJoinedCounts(), at: now }
    }
    return this.#joined.counts
  }
}
