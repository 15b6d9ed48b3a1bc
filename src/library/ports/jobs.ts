import type { CrawlSummary } from '../../crawl/events.ts'
import type { CrawlInput } from '../crawl/crawl-source.ts'
import type { Source } from '../source.ts'

/** Runs crawls in the background and reports their progress. */
export interface Jobs {
  /**
   * Starts a crawl and returns its id once it is recorded. Throws what the crawl itself would throw, for example while another crawl of the
   * source is running, and `JOBS_FULL` if the maximum number is running.
   */
  start(source: Source, input: CrawlInput): Promise<string>
  /** Asks a crawl to stop and waits briefly for its end; returns false if no such crawl is running or queued. */
  cancel(crawlId: string): Promise<boolean>
  /** Finds a crawl that is running or queued, or ended within the last hour. */
  find(crawlId: string): Job | undefined
  /** Newest first. */
  list(): readonly Job[]
  /** Stops all crawls that run in this process; they can be resumed later. */
  close(): Promise<void>
}

/** A crawl in the background. */
export interface Job {
  readonly crawlId: string
  readonly sourceId: string
  /** Its source, which is no longer in the library if it was a new one without any page; undefined if the crawl was started elsewhere. */
  readonly source: Source | undefined
  readonly startedAt: number
  readonly endedAt: number | null
  readonly progress: JobProgress
  readonly summary: CrawlSummary | null
  /** Why the crawl failed; null if it did not. */
  readonly error: string | null
}

/** Progress of a crawl. Its fields mean the same during the crawl and after it. */
export interface JobProgress {
  /** Pages that are new or were read again. */
  readonly pagesCrawled: number
  /** Unchanged pages, not included in `pagesCrawled`. */
  readonly pagesSkipped: number
  /** Sum of `pagesCrawled`, `pagesSkipped`, `errors` and the remaining pages. Grows as addresses are found. */
  readonly pagesTotal: number
  readonly errors: number
  /** The first errors, with their reasons. */
  readonly errorUrls: readonly { readonly url: string; readonly reason: string }[]
  readonly filtered: number
  readonly filteredUrls: readonly { readonly url: string; readonly reason: string; readonly pattern: string | null }[]
}
