import type { Sql } from './database.ts'
import { lockNumber } from './locks.ts'

const LOCK = `SELECT pg_advisory_xact_lock(${lockNumber('source', '$1')})`

/**
 * Locks the ledger of a source until the transaction ends. Different sources do not block each other. A process that stalls loses its
 * connection, and with it the lock.
 */
export async function lockSource(sql: Sql, source: number): Promise<void> {
  await sql.run(LOCK, [source])
}
