import type { StoreStats } from '../../library/ports/store.ts'
import type { Database } from './database/database.ts'

/** Creates the query for the size of the library. */
export function createStats(db: Database): () => StoreStats {
  const visible = 'source IN (SELECT id FROM sources WHERE is_removed = 0)'
  const select = db.prepare<[], StoreStats>(
    `SELECT
       (SELECT count(*) FROM sources WHERE is_removed = 0) AS sources,
       (SELECT count(*) FROM ledger WHERE page_hash IS NOT NULL AND ${visible}) AS pages,
       (SELECT count(*) FROM chunks WHERE ${visible}) AS chunks,
       (SELECT page_count * page_size FROM pragma_page_count, pragma_page_size) AS bytes,
       (SELECT max(changed_at) FROM ledger WHERE page_hash IS NOT NULL AND ${visible}) AS changedAt`,
  )
  return () => select.get() ?? { sources: 0, pages: 0, chunks: 0, bytes: 0, changedAt: null }
}
