import type { CrawlState } from '../library/operations/describe-crawl.ts'

/** The states by which a list of crawls can be narrowed: those there are, and those of job queues. */
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

/** Whether a text is one of them. */
export function isStateFilter(text: string): text is StateFilter {
  return STATE_FILTERS.some((filter) => filter === text)
}

/** Whether a crawl is in a state. One that stopped at the loss gate has failed too; none is ever queued. */
export function isState(state: CrawlState, filter: StateFilter | undefined): boolean {
  if (filter === undefined) return true
  return state === filter || (filter === 'failed' && state === 'gate')
}
