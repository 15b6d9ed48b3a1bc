import type { CrawlSummary } from '../../crawl/events.ts'
import type { Crawl } from '../../library/store.ts'

/** A crawl as it is kept. */
export interface CrawlRecord extends Omit<Crawl, 'options' | 'summary'> {
  readonly options: string
  readonly summary: string | null
}

/** The crawl that was kept. */
export function toCrawl(found: CrawlRecord): Crawl {
  // Both were written by a store.
  const options = JSON.parse(found.options) as Crawl['options']
  const summary = found.summary === null ? null : (JSON.parse(found.summary) as CrawlSummary)
  return { ...found, options, summary }
}
