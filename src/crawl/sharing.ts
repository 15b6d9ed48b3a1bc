import type { CrawlSummary } from './events.ts'

/** What processes that take part in a crawl have to know, besides what is kept of it: what its beginning has shown. */
export interface SharedCrawl {
  /** The start with the scheme and host it turned out to have. */
  readonly siteUrl: string
  /** Whether it is known which pages llms-full.txt holds now. */
  readonly isFullKnown: boolean
}

/** What was done for a crawl by processes that only took part in it. */
export interface Help
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

/** Nothing at all. */
export const NO_HELP: Help = {
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

/** Adds up what several have done. A host that more than one of them left alone is told once. */
export function addHelp(one: Help, other: Help): Help {
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
