/** What may be asked of a crawl while it runs. */
export interface CrawlControl {
  /** Whether it is to begin nothing new for now. What it has begun comes to its end. */
  readonly isPaused: boolean
  /** Visits at once, if fewer than its limit. */
  readonly maxVisits: number
  /** Resolves when one of them has changed, or rejects when the signal is aborted. */
  changed(signal: AbortSignal): Promise<void>
}

/** Resolves while nobody has paused, or as soon as that is over. */
export async function untilResumed(control: CrawlControl | undefined, signal: AbortSignal): Promise<void> {
  while (control?.isPaused === true) await control.changed(signal)
}
