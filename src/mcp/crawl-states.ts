import type { CrawlState } from '../library/sources/describe-crawl.ts'

/** The states by which a list of crawls can be filtered: those of crawls, and those that job queues use. */
export const STATE_FILTERS = [
  'running',
  'completed',
  'failed',
  'gate',
  'cancelled',
  'interrupted',
  'queued',
  'cancelling',
] as const

/** One of {@link STATE_FILTERS}. */
export type StateFilter = (typeof STATE_FILTERS)[number]

/** Whether a text is one of {@link STATE_FILTERS}. */
export function isStateFilter(text: string): text is StateFilter {
  return STATE_FILTERS.some((filter) => filter === text)
}

/** Whether a state passes a filter. `failed` includes crawls that the loss gate stopped; `queued` and `cancelling` match no crawl. */
export function isState(state: CrawlState, filter: StateFilter | undefined): boolean {
  if (filter === undefined) return true
  return state === filter || (filter === 'failed' && state === 'gate')
}
