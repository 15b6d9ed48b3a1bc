import type { EarlierPages } from '../../library/ports/library-store.ts'
import { isNearlyFull, MAX_EARLIER_BYTES, MAX_EARLIER_CHARS, packText, unpackText } from '../common/earlier-pages.ts'
import type { Database } from './database/database.ts'

/** Keeps the text of a page that is about to be replaced by another text, or removed (null). */
export type KeepEarlierPage = (row: number, newText: string | null) => void

/** Creates the function that keeps the text of a page, within the limit of its source. The first text of a crawl stays. */
export function createEarlierPageKeeper(db: Database): KeepEarlierPage {
  const select = db.prepare<[number, string | null, number], { source: number; url: string; markdown: string }>(
    `SELECT l.source, l.url, p.markdown FROM pages p JOIN ledger l ON l.id = p.id
     WHERE p.id = ? AND p.markdown IS NOT ? AND length(p.markdown) <= ?`,
  )
  const selectSize = db.prepare<[number], number>('SELECT total(size) FROM earlier_pages WHERE source = ?').pluck()
  const insert = db.prepare<[number, number, number, string, Uint8Array]>(
    'INSERT OR IGNORE INTO earlier_pages (id, source, size, url, markdown) VALUES (?, ?, ?, ?, ?)',
  )
  return (row, newText) => {
    const found = select.get(row, newText, MAX_EARLIER_CHARS)
    if (found === undefined) return
    const used = selectSize.get(found.source) ?? 0
    if (used >= MAX_EARLIER_BYTES) return
    const { bytes, size } = packText(found.markdown)
    if (used + size <= MAX_EARLIER_BYTES) insert.run(row, found.source, size, found.url, bytes)
  }
}

/** Creates the function that reads the texts that pages had before the last crawl. */
export function createEarlierPageReader(db: Database): (sourceId: string) => EarlierPages {
  const select = db.prepare<[string], { key: string; url: string; size: number; markdown: Uint8Array }>(
    `SELECT l.key, e.url, e.size, e.markdown FROM earlier_pages e JOIN ledger l ON l.id = e.id
     WHERE e.source = (SELECT id FROM sources WHERE uuid = ?) ORDER BY l.key`,
  )
  return (sourceId) => {
    const rows = select.all(sourceId)
    const size = rows.reduce((sum, row) => sum + row.size, 0)
    const pages = rows.map(({ key, url, markdown }) => ({ key, url, markdown: unpackText(markdown) }))
    return { pages, mayBeIncomplete: isNearlyFull(size) }
  }
}

/** Creates the function that reads the text that a page had before the last crawl. */
export function createEarlierTextReader(db: Database): (sourceId: string, key: string) => string | undefined {
  const select = db
    .prepare<[string, string], Uint8Array>(
      `SELECT e.markdown FROM earlier_pages e JOIN ledger l ON l.id = e.id
       WHERE l.source = (SELECT id FROM sources WHERE uuid = ?) AND l.key = ?`,
    )
    .pluck()
  return (sourceId, key) => {
    const bytes = select.get(sourceId, key)
    return bytes && unpackText(bytes)
  }
}
