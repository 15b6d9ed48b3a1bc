import type { EarlierPages } from '../../library/ports/library-store.ts'
import { MAX_EARLIER_CHARS, packText, unpackText } from '../common/earlier-pages.ts'
import type { Database } from './database/database.ts'

/** Keeps the text of a page that is about to be replaced by another text, or removed (null). */
export type KeepEarlierPage = (row: number, newText: string | null) => void

/** Creates the function that keeps the text of a page, within the limit of its source. The first text of a crawl stays. */
export function createEarlierPageKeeper(db: Database): KeepEarlierPage {
  const select = db.prepare<[number, number, string | null], { source: number; url: string; markdown: string | null }>(
    `SELECT l.source, l.url, CASE WHEN length(p.markdown) <= ? THEN p.markdown END AS markdown
     FROM pages p JOIN ledger l ON l.id = p.id WHERE p.id = ? AND p.markdown IS NOT ?`,
  )
  const selectSize = db.prepare<[number], number>('SELECT total(size) FROM earlier_pages WHERE source = ?').pluck()
  const insert = db.prepare<[number, number, number, string, Uint8Array]>(
    'INSERT OR IGNORE INTO earlier_pages (id, source, size, url, markdown) VALUES (?, ?, ?, ?, ?)',
  )
  return (row, newText) => {
    const found = select.get(MAX_EARLIER_CHARS, row, newText)
    if (found === undefined) return
    const { bytes, size } = packText(found.markdown, selectSize.get(found.source) ?? 0)
    insert.run(row, found.source, size, found.url, bytes)
  }
}

/** Creates the function that lists the pages that the last crawl of a source changed or removed. */
export function createEarlierPageReader(db: Database): (sourceId: string) => EarlierPages {
  const list = db.prepare<[string], { key: string; url: string }>(
    `SELECT l.key, e.url FROM earlier_pages e JOIN ledger l ON l.id = e.id
     WHERE e.source = (SELECT id FROM sources WHERE uuid = ?) ORDER BY l.key`,
  )
  const readText = createEarlierTextReader(db)
  const selectKeeps = db
    .prepare<[string], number>(
      `SELECT keeps_earlier FROM crawls WHERE source = (SELECT id FROM sources WHERE uuid = ?)
       ORDER BY started_at DESC, id DESC LIMIT 1`,
    )
    .pluck()
  return (sourceId) => ({
    pages: list.all(sourceId),
    isComplete: selectKeeps.get(sourceId) === 1,
    readText: async (key) => readText(sourceId, key),
  })
}

/** Creates the function that reads the text that a page had before the last crawl; null if it was not kept. */
export function createEarlierTextReader(db: Database): (sourceId: string, key: string) => string | null {
  const select = db
    .prepare<[string, string], Uint8Array>(
      `SELECT e.markdown FROM earlier_pages e JOIN ledger l ON l.id = e.id
       WHERE l.source = (SELECT id FROM sources WHERE uuid = ?) AND l.key = ?`,
    )
    .pluck()
  return (sourceId, key) => unpackText(select.get(sourceId, key))
}
