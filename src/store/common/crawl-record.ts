import type { CrawlSummary } from '../../crawl/events.ts'
import type { Crawl } from '../../library/store.ts'
import { parseStored } from './damage.ts'

/** A crawl as it is kept. */
export interface CrawlRecord extends Omit<Crawl, 'options' | 'summary'> {
  readonly options: string
  readonly summary: string | null
}

/** The crawl that was kept. */
export function toCrawl(found: CrawlRecord): Crawl {
  // Both were written by a store.
  const options = parseStored<Crawl['options']>(found.options)
  const summary = found.summary === null ? null : parseStored<CrawlSummary>(found.summary)
  return { ...found, options, summary }
}

/** Tells runs over a part of a source from others, by how their options are written. */
export const IS_FOCUSED = `options LIKE '%"isFocused":true%' AND state <> 'running'`

/** What is written of a crawl besides its number and its source. */
export const CRAWL_COLUMNS = 'kind, state, options, runner, started_at, heartbeat_at, ended_at, summary'

/** The values of {@link CRAWL_COLUMNS}. */
export function crawlValues({
  kind,
  state,
  options,
  runner,
  startedAt,
  heartbeatAt,
  endedAt,
  summary,
}: Crawl): (string | number | null)[] {
  const summaryText = summary === null ? null : JSON.stringify(summary)
  return [kind, state, JSON.stringify(options), runner, startedAt, heartbeatAt, endedAt, summaryText]
}
