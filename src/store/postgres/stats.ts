import type { StoreStats } from '../../library/ports/store.ts'
import type { Sql } from './database/database.ts'

const VISIBLE = 'source IN (SELECT id FROM sources WHERE NOT is_removed)'

/** The size of the library. */
export async function readStats(sql: Sql): Promise<StoreStats> {
  const found = await sql.get<StoreStats>(
    `SELECT
       (SELECT count(*) FROM sources WHERE NOT is_removed) AS sources,
       (SELECT coalesce(sum(pages), 0)::bigint FROM host_counts WHERE ${VISIBLE}) AS pages,
       (SELECT coalesce(sum(rows), 0)::bigint FROM chunk_counts WHERE of_table = 'chunks' AND ${VISIBLE}) AS chunks,
       (SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint FROM pg_class c
        WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r') AS bytes,
       (SELECT max(changed_at) FROM ledger WHERE page_hash IS NOT NULL AND ${VISIBLE}) AS "changedAt"`,
  )
  return found ?? { sources: 0, pages: 0, chunks: 0, bytes: 0, changedAt: null }
}
