import type { ListRecord } from '../../../crawl/ledger.ts'
import { valuesOf } from '../columns.ts'
import { parseStored } from '../damage.ts'

/** A list that contains pages, as it is stored. */
export interface ListColumns extends Omit<ListRecord, 'named'> {
  /** As JSON. */
  readonly named: string
}

/** The columns of a list besides its source. */
export const LIST_COLUMNS = 'url, etag, last_modified, content_hash, context_hash, pages, named'

/** SQL condition for pages that came from a list. A page that was fetched since has an HTTP status. */
export const CAME_FROM_LIST = `discovery = 'llms-full' AND status IS NULL AND page_hash IS NOT NULL`

/** Converts a stored list. */
export function toList(found: ListColumns): ListRecord {
  return { ...found, named: parseStored<string[]>(found.named) }
}

/** The values of {@link LIST_COLUMNS}. */
export function listValues(record: ListRecord): unknown[] {
  return valuesOf(LIST_COLUMNS, { ...record, named: JSON.stringify(record.named) })
}
