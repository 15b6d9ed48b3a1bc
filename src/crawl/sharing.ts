import type { CrawlSummary } from './events.ts'

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
