import type { CrawlSummary } from '../../crawl/events.ts'
import type { Crawl } from '../../library/ports/store.ts'
import { parseStored } from './damage.ts'

/** A crawl as it is stored. */
export interface CrawlRecord extends Omit<Crawl, 'options' | 'summary'> {
  readonly options: string
  readonly summary: string | null
}

/** Converts a stored crawl. */
export function toCrawl(found: CrawlRecord): Crawl {
  // Both JSON texts were written by a store.
  const options = parseStored<Crawl['options']>(found.options)
  const summary = found.summary === null ? null : parseStored<CrawlSummary>(found.summary)
  return { ...found, options, summary }
}

/** SQL condition for focused runs that have ended. It depends on how `options` is serialized. */
export const IS_FOCUSED = `options LIKE '%"isFocused":true%' AND state <> 'running'`

/** The columns of a crawl besides its number and source. */
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
