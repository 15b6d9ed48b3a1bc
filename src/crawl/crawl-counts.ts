import type { CrawlSummary } from './events.ts'
import { type CrawlRun, EXTRA_PAGE_REQUESTS, REQUESTS_PER_PAGE } from './run.ts'
import type { RunCounts } from './run-counts.ts'
import type { ProcessCounts } from './sharing.ts'

/** What a crawl has counted so far, what its page cap left out, and why its result may be incomplete. */
export class CrawlCounts implements RunCounts {
  readonly run: CrawlRun
  readonly startedAt: number
  visited = 0
  indexed = 0
  unchanged = 0
  skipped = 0
  failed = 0
  provenGone = 0
  newInRefresh = 0
  /** Addresses for which the ledger had no room. */
  overflow = 0
  bytes = 0
  requests = 0
  /** Requests of visits. */
  pageRequests = 0
  /** Pages that count towards the cap. */
  pagesTaken = 0
  /** The page cap, once it has left something out. */
  cappedAt: number | null = null
  /** Set when the cap was reached because its page requests were used up. */
  spent: CrawlSummary['spent']
  /** Pages of earlier runs that stay unchanged because the cap was reached before their turn. */
  keptByCap = 0
  /** Why a missing address proves nothing in this run, as text; null while everything could be checked. */
  incomplete: string | null = null
  /** What is wrong with the lists of the site, in words. */
  readonly listFaults: string[] = []
  /** Requests that `takeRequests` has already reported. */
  #reportedRequests = 0

  constructor(run: CrawlRun, startedAt: number) {
    this.run = run
    this.startedAt = startedAt
  }

  /** Whether the page cap, or the requests that it allows, are used up. */
  get isCapped(): boolean {
    return this.pagesTaken >= this.maxPages || this.pageRequests >= this.maxPageRequests
  }

  /** The page cap; infinite without one. */
  get maxPages(): number {
    return this.run.scope.maxPages ?? Infinity
  }

  /** Number of requests that the page cap allows. */
  get maxPageRequests(): number {
    return this.maxPages * REQUESTS_PER_PAGE + EXTRA_PAGE_REQUESTS
  }

  /** Returns the number of requests since the last call. */
  takeRequests(): number {
    const unreported = this.requests - this.#reportedRequests
    this.#reportedRequests = this.requests
    return unreported
  }

  /** Counts of this process; `parked` are the hosts that get no more requests, with the reason. */
  ofProcess(parked: ReadonlyMap<string, string>): ProcessCounts {
    const { visited, indexed, unchanged, skipped, failed, provenGone, newInRefresh, overflow, bytes, requests } = this
    const counts = { visited, indexed, unchanged, skipped, failed, provenGone, newInRefresh, overflow, bytes, requests }
    return { ...counts, parked: [...parked].map(([host, detail]) => ({ host, detail })) }
  }
}
