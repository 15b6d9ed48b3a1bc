import type { EarlierPages } from '../../library/ports/library-store.ts'
import { MAX_EARLIER_CHARS, packText, unpackText } from '../common/earlier-pages.ts'
import type { Sql } from './database/database.ts'

/** Number of texts read at once. */
const PAGES_AT_ONCE = 20

/**
 * Keeps the texts of pages that are about to be replaced by another text, or removed (null), within the limit of their source. The first
 * text of a crawl stays. All rows belong to one source.
 */
export async function keepEarlierPages(sql: Sql, rows: readonly number[], newText: string | null): Promise<void> {
  const total = await sql.get<{ used: number }>(
    `SELECT coalesce(sum(size), 0)::float8 AS used FROM earlier_pages
     WHERE source = (SELECT source FROM ledger WHERE id = $1)`,
    [rows[0]],
  )
  let used = total?.used ?? 0
  for (let from = 0; from < rows.length; from += PAGES_AT_ONCE) {
    const found = await sql.all<{ id: number; source: number; url: string; markdown: string | null }>(
      `SELECT l.id, l.source, l.url, CASE WHEN length(p.markdown) <= $3 THEN p.markdown END AS markdown
       FROM pages p JOIN ledger l ON l.id = p.id
       WHERE p.id = ANY ($1::bigint[]) AND p.markdown IS DISTINCT FROM $2 ORDER BY l.id`,
      [rows.slice(from, from + PAGES_AT_ONCE), newText, MAX_EARLIER_CHARS],
    )
    for (const { id, source, url, markdown } of found) {
      const { bytes, size } = packText(markdown, used)
      used += size
      await sql.run(
        `INSERT INTO earlier_pages (id, source, size, url, markdown) VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (id) DO NOTHING`,
        [id, source, size, url, bytes],
      )
    }
  }
}

/** Lists the pages that the last crawl of a source changed or removed. */
export async function readEarlierPages(sql: Sql, sourceId: string): Promise<EarlierPages> {
  const pages = await sql.all<{ key: string; url: string }>(
    `SELECT l.key, e.url FROM earlier_pages e JOIN ledger l ON l.id = e.id
     WHERE e.source = (SELECT id FROM sources WHERE uuid = $1) ORDER BY l.key COLLATE "C"`,
    [sourceId],
  )
  const last = await sql.get<{ keeps: boolean }>(
    `SELECT keeps_earlier AS keeps FROM crawls WHERE source = (SELECT id FROM sources WHERE uuid = $1)
     ORDER BY started_at DESC, id DESC LIMIT 1`,
    [sourceId],
  )
  return { pages, isComplete: last?.keeps === true, readText: (key) => readEarlierText(sql, sourceId, key) }
}

/** Reads the text that a page had before the last crawl of its source; null if it was not kept. */
export async function readEarlierText(sql: Sql, sourceId: string, key: string): Promise<string | null> {
  const row = await sql.get<{ markdown: Uint8Array }>(
    `SELECT e.markdown FROM earlier_pages e JOIN ledger l ON l.id = e.id
     WHERE l.source = (SELECT id FROM sources WHERE uuid = $1) AND l.key = $2`,
    [sourceId, key],
  )
  return unpackText(row?.markdown)
}
