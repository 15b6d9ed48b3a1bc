import type { Sql } from './database.ts'

/** What is done by one at a time, on whatever machine. Each source has a lock of its own. */
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

/** The number of a lock in this library: other libraries in the same database have others. Made of its name, and of what it is about, `$1`. */
export function lockNumber(name: Lock, about = ''): string {
  return `hashtextextended(current_setting('search_path') || ' ${name}'${about === '' ? '' : ` || ' ' || ${about}::text`}, 0)`
}

/** Waits until nobody else has a lock, and keeps it until the transaction ends. */
export async function lock(sql: Sql, name: Lock): Promise<void> {
  await sql.run(`SELECT pg_advisory_xact_lock(${lockNumber(name)})`)
}
