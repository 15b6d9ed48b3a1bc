import type { CrawlSummary } from '../../../crawl/events.ts'
import type { Crawl } from '../../../library/ports/store.ts'
import { selectColumns, valuesOf } from '../columns.ts'
import { parseStored } from '../damage.ts'

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

/** The columns of a crawl besides its number and source. */
export const CRAWL_COLUMNS = 'kind, state, options, runner, started_at, heartbeat_at, ended_at, summary'

/** SQL that selects crawls j. */
export const SELECT_CRAWLS: string = `SELECT i.uuid AS id, s.uuid AS "sourceId", ${selectColumns(CRAWL_COLUMNS, 'j')}
  FROM crawls j JOIN crawl_ids i ON i.id = j.id JOIN sources s ON s.id = j.source`

/** The interrupted crawl as it is resumed; throws when there is no such crawl, or when it has ended. */
export function reopenCrawl(found: CrawlRecord | undefined, id: string, now: number, runner: string | null): Crawl {
  if (found === undefined || (found.state !== 'running' && found.state !== 'cancelled')) {
    throw new TypeError(`crawl ${id} cannot be resumed: it is ${found?.state ?? 'unknown'}`)
  }
  return toCrawl({ ...found, state: 'running', runner, heartbeatAt: now, endedAt: null, summary: null })
}

/** SQL condition for focused runs that have ended. It depends on how `options` is serialized. */
export const IS_FOCUSED = `options LIKE '%"isFocused":true%' AND state <> 'running'`

/** The values of {@link CRAWL_COLUMNS}. */
export function crawlValues(crawl: Crawl): unknown[] {
  const summary = crawl.summary === null ? null : JSON.stringify(crawl.summary)
  return valuesOf(CRAWL_COLUMNS, { ...crawl, options: JSON.stringify(crawl.options), summary })
}
