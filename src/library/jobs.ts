import type { CrawlSummary } from '../crawl/events.ts'
import type { CrawlInput } from './operations/crawl-source.ts'
import type { Source } from './source.ts'

/** Runs crawls in the background and knows how far they are. */
export interface Jobs {
  /**
   * Begins a crawl and returns its id as soon as it is recorded; refused like the crawl itself, such as while another one runs,
   * and with `JOBS_FULL` where as many run as may.
   */
  start(source: Source, input: CrawlInput): Promise<string>
  /** Asks a crawl to stop, and waits for it a moment; false when it does not run here. */
  cancel(crawlId: string): Promise<boolean>
  /** A crawl that runs here, or ended here within the last hour. */
  find(crawlId: string): Job | undefined
  /** Newest first. */
  list(): readonly Job[]
  /** Stops everything; what was interrupted can go on later. */
  close(): Promise<void>
}

/** A crawl as it is known while it runs. */
export interface Job {
  readonly crawlId: string
  readonly sourceId: string
  readonly startedAt: number
  readonly endedAt: number | null
  readonly progress: JobProgress
  readonly summary: CrawlSummary | null
  /** Why it broke off; null when it did not. */
  readonly error: string | null
}

/** How far a crawl is, or was at its end: the same numbers mean the same in both. */
export interface JobProgress {
  /** Pages that are new or were read again. */
  readonly pagesCrawled: number
  /** Pages that were found unchanged; none of them is among those crawled. */
  readonly pagesSkipped: number
  /** Both, and what is left to be done. Grows as addresses are found. */
  readonly pagesTotal: number
  readonly errors: number
  /** The first of them, with the reason. */
  readonly errorUrls: readonly { readonly url: string; readonly reason: string }[]
  readonly filtered: number
  readonly filteredUrls: readonly { readonly url: string; readonly reason: string; readonly pattern: string | null }[]
}
