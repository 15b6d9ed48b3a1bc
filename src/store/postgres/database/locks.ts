import type { Sql } from './database.ts'

/** Work that only one process on any machine may do at a time. Each source has its own lock. */
export const LOCKS = [
  'migration',
  'source',
  'names',
  'index',
  'log',
  'vectors',
  'admission',
  'passing on',
  'runs',
  'gazetteer',
] as const

export type Lock = (typeof LOCKS)[number]

/**
 * SQL for the key of an advisory lock of this library, which differs from those of other libraries in the same database. The key is
 * derived from the name and, optionally, from an SQL expression.
 */
export function lockNumber(name: Lock, expression = ''): string {
  const suffix = expression === '' ? '' : ` || ' ' || ${expression}::text`
  return `hashtextextended(current_setting('search_path') || ' ${name}'${suffix}, 0)`
}

/** Waits for a lock, and keeps it until the transaction ends. */
export async function lock(sql: Sql, name: Lock): Promise<void> {
  await sql.run(`SELECT pg_advisory_xact_lock(${lockNumber(name)})`)
}
