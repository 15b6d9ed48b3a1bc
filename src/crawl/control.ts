/** What may be asked of a crawl while it runs. */
export interface CrawlControl {
  /** Whether it is to begin nothing new for now. What it has begun comes to its end. */
  readonly isPaused: boolean
  /** Visits at once, if fewer than its limit. */
  readonly maxVisits: number
  /** Resolves when one of them has changed, or rejects when the signal is aborted. */
  changed(signal: AbortSignal): Promise<void>
}
