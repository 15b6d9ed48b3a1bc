import type { ListedPage, ListRecord } from '../../../crawl/ledger.ts'
import type { Sql } from '../database/database.ts'

interface ListColumns extends Omit<ListRecord, 'named'> {
  readonly named: string
}

/** A list that contains pages, as it was last read. */
export async function readList(sql: Sql, source: number, url: string): Promise<ListRecord | undefined> {
  const found = await sql.get<ListColumns>(
    `SELECT url, etag, last_modified AS "lastModified", content_hash AS "contentHash", context_hash AS "contextHash", pages, named
     FROM lists WHERE source = $1 AND digest_of(url) = digest_of($2) AND url = $2`,
    [source, url],
  )
  // The JSON was written by this file.
  return found === undefined ? undefined : { ...found, named: JSON.parse(found.named) as string[] }
}

/** Replaces a stored list. */
export async function writeList(sql: Sql, source: number, record: ListRecord): Promise<void> {
  const { url, etag, lastModified, contentHash, contextHash, pages, named } = record
  await sql.run(
    `INSERT INTO lists (source, url, etag, last_modified, content_hash, context_hash, pages, named)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
     ON CONFLICT (source, digest_of(url)) DO UPDATE SET etag = excluded.etag, last_modified = excluded.last_modified,
       content_hash = excluded.content_hash, context_hash = excluded.context_hash, pages = excluded.pages,
       named = excluded.named`,
    [source, url, etag, lastModified, contentHash, contextHash, pages, JSON.stringify(named)],
  )
}

// SQL condition for pages that came from a list; a page that was fetched since has an HTTP status.
const IS_PAGE_OF_LIST = `source = $1 AND discovery = 'llms-full' AND status IS NULL AND page_hash IS NOT NULL AND (found_on = $2 OR key = $3)`

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
