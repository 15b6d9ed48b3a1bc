import type { Sql } from './database.ts'

/** Tells these locks from others that the same database knows. */
const SOURCES = 7_426_002

/**
 * Waits until nobody else writes to the ledger of a source, and keeps others from it until the transaction ends. Sources do not wait for each
 * other. A process that stands still meanwhile loses its connection, and with it the lock.
 */
export async function lockSource(sql: Sql, source: number): Promise<void> {
  // Sources are numbered from 1; there are far fewer than such a number can tell apart.
  await sql.run('SELECT pg_advisory_xact_lock($1, $2::integer)', [SOURCES, source])
}
