/** Lets the caller pause a running crawl and limit its concurrency. */
export interface CrawlControl {
  /** Whether the crawl must start nothing new. Requests in progress are completed. */
  readonly isPaused: boolean
  /** Maximum concurrent visits, if below the limit of the crawl. */
  readonly maxVisits: number
  /** Resolves when `isPaused` or `maxVisits` has changed; rejects when the signal is aborted. */
  waitForChange(signal: AbortSignal): Promise<void>
}

/** Resolves at once unless the crawl is paused, otherwise when it resumes. */
export async function waitUntilResumed(control: CrawlControl | undefined, signal: AbortSignal): Promise<void> {
  while (control?.isPaused === true) await control.waitForChange(signal)
}
