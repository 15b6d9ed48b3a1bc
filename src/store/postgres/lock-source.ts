import type { Sql } from './database.ts'
import { lockNumber } from './locks.ts'

const LOCK = `SELECT pg_advisory_xact_lock(${lockNumber('source', '$1')})`

/**
 * Waits until nobody else writes to the ledger of a source, and keeps others from it until the transaction ends. Sources do not wait for each
 * other. A process that stands still meanwhile loses its connection, and with it the lock.
 */
export async function lockSource(sql: Sql, source: number): Promise<void> {
  await sql.run(LOCK, [source])
}
