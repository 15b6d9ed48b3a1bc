import type { ListedPage, ListRecord } from '../../../crawl/ledger.ts'
import { selectColumns, setExcluded } from '../../common/columns.ts'
import { CAME_FROM_LIST, LIST_COLUMNS, type ListColumns, listValues, toList } from '../../common/ledger/list-record.ts'
import type { Sql } from '../database/database.ts'

/** A list that contains pages, as it was last read. */
export async function readList(sql: Sql, source: number, url: string): Promise<ListRecord | undefined> {
  const found = await sql.get<ListColumns>(
    `SELECT ${selectColumns(LIST_COLUMNS)} FROM lists WHERE source = $1 AND digest_of(url) = digest_of($2) AND url = $2`,
    [source, url],
  )
  return found && toList(found)
}

/** Replaces a stored list. */
export async function writeList(sql: Sql, source: number, record: ListRecord): Promise<void> {
  await sql.run(
    `INSERT INTO lists (source, ${LIST_COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
     ON CONFLICT (source, digest_of(url)) DO UPDATE SET ${setExcluded(LIST_COLUMNS)}`,
    [source, ...listValues(record)],
  )
}

const IS_PAGE_OF_LIST = `source = $1 AND ${CAME_FROM_LIST} AND (found_on = $2 OR key = $3)`

/** The pages that came from an llms-full.txt, in the order of keys. */
export function listPagesOf(sql: Sql, source: number, url: string, key: string): Promise<ListedPage[]> {
  return sql.all<ListedPage>(`SELECT key, url FROM ledger WHERE ${IS_PAGE_OF_LIST} ORDER BY key`, [source, url, key])
}

/** The crawl that confirms all pages of a list, and the address and key of the list. */
export interface Confirmation {
  readonly crawl: number
  readonly url: string
  readonly key: string
  readonly now: number
}

/** Confirms all pages of a list, and returns their number. */
export function confirmPagesOf(sql: Sql, source: number, { crawl, url, key, now }: Confirmation): Promise<number> {
  return sql.run(
    `UPDATE ledger SET state = CASE WHEN state = 'indexed' AND crawl = $4 THEN 'indexed' ELSE 'unchanged' END,
       reason = NULL, pattern = NULL, target = NULL, detail = NULL, attempts = 0, due_at = NULL, is_final = false,
       awaits_confirmation = false, proven_crawl = NULL, depth = 0, checked_at = $5, crawl = $4, lease = NULL,
       leased_until = NULL
     WHERE ${IS_PAGE_OF_LIST}`,
    [source, url, key, crawl, now],
  )
}
