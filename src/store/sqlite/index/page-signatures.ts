import type { Page } from '../../../core/model.ts'
import { createPageSignature, type PageSignature } from '../../../core/retrieval/page-signature.ts'
import type { PageWithSignature } from '../../../library/ports/store.ts'
import { listByKey } from '../../common/batches.ts'
import { toPage } from '../../common/stored-content.ts'
import type { Database } from '../database/database.ts'

/** Signatures of pages, stored under the id of their ledger row. Everything that writes runs inside the caller's transaction. */
export interface PageSignatures {
  write(row: number, page: Page): void
  read(source: number, key: string): PageSignature | undefined
  /** Rows after `after` whose pages have no signature; the next call continues after `last`. Undefined at the end. */
  findMissing(after: number): { readonly rows: readonly number[]; readonly last: number } | undefined
  /** Computes the missing signatures of these rows, and returns their number. */
  fill(rows: readonly number[], describe: (page: Page) => Page): number
  /** Lists the pages of a source with their signatures, in the order of keys. */
  list(source: number): AsyncIterable<PageWithSignature>
}

/** Batch size for reading pages. */
const PAGES_AT_ONCE = 500

/** Number of ledger rows in which one search looks for pages without a signature. */
const ROWS_AT_ONCE = 10_000
/** Number of signatures computed in one transaction, which limits how long other writers wait. */
const FILLED_AT_ONCE = 20

/** Creates the statements for signatures. */
export function createPageSignatures(db: Database): PageSignatures {
  const insert = db.prepare<[number, string | null, string | null, string | null]>(
    'INSERT OR REPLACE INTO likenesses (page, fingerprint, language, family) VALUES (?, ?, ?, ?)',
  )
  const select = db.prepare<[number, string], PageSignature>(
    `SELECT k.fingerprint, k.language, k.family FROM ledger l JOIN likenesses k ON k.page = l.id
     WHERE l.source = ? AND l.key = ?`,
  )
  const selectBatch = db.prepare<[number, string, number], PageWithSignature>(
    `SELECT s.uuid AS sourceId, l.key, l.url, p.title, k.fingerprint, k.language, k.family
     FROM ledger l JOIN likenesses k ON k.page = l.id JOIN pages p ON p.id = l.id JOIN sources s ON s.id = l.source
     WHERE l.source = ? AND l.key > ? AND l.page_hash IS NOT NULL ORDER BY l.key LIMIT ?`,
  )
  const selectLast = db.prepare<[], number | null>('SELECT max(id) FROM ledger').pluck()
  const selectMissing = db
    .prepare<[number, number, number], number>(
      `SELECT l.id FROM ledger l WHERE l.id > ? AND l.id <= ? AND l.page_hash IS NOT NULL
         AND NOT EXISTS (SELECT 1 FROM likenesses k WHERE k.page = l.id) ORDER BY l.id LIMIT ?`,
    )
    .pluck()
  const selectPage = db.prepare<[number], { readonly meta: string; readonly markdown: string }>(
    `SELECT p.meta, p.markdown FROM pages p
     WHERE p.id = ? AND NOT EXISTS (SELECT 1 FROM likenesses k WHERE k.page = p.id)`,
  )
  const write = (row: number, page: Page): void => {
    const { fingerprint, language, family } = createPageSignature(page)
    insert.run(row, fingerprint, language, family)
  }
  return {
    write,
    findMissing: (after) => {
      if (after >= (selectLast.get() ?? 0)) return undefined
      const rows = selectMissing.all(after, after + ROWS_AT_ONCE, FILLED_AT_ONCE)
      return { rows, last: rows.length < FILLED_AT_ONCE ? after + ROWS_AT_ONCE : (rows.at(-1) ?? after) }
    },
    fill: (rows, describe) => {
      let filled = 0
      for (const row of rows) {
        const found = selectPage.get(row)
        if (found === undefined) continue
        write(row, describe(toPage(found)))
        filled++
      }
      return filled
    },
    read: (source, key) => select.get(source, key),
    list: (source) => listByKey((after) => selectBatch.all(source, after, PAGES_AT_ONCE)),
  }
}
