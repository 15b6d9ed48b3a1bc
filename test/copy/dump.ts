import Sqlite from 'better-sqlite3'
import { compareUtf8 } from '../../src/core/text/order.ts'
import { openDatabase } from '../../src/store/postgres/database/database.ts'

/* The whole content of a library, read by separate SQL, so that the comparison does not use the code that copies. */

/** Tables that are local to one library, or derived from the rest. */
const IGNORED_TABLES =
  /^(?:sqlite_|index_|library_identity|arrivals|copied_vectors|embedding_lease|schema_version|workers|crawl_helpers|passed_on)/

/** The rows of each table, in order. */
export type Dump = Readonly<Record<string, readonly unknown[]>>

export function dumpFile(path: string): Dump {
  const db = new Sqlite(path, { readonly: true })
  try {
    const tables = db
      .prepare<[], { name: string; sql: string }>(
        `SELECT name, sql FROM sqlite_schema WHERE type = 'table' ORDER BY name`,
      )
      .all()
      .filter(({ name }) => !IGNORED_TABLES.test(name))
    return Object.fromEntries(
      tables.map(({ name, sql }) => {
        const isRowid = !/WITHOUT ROWID/.test(sql)
        // Tables without row ids are read in the order of their keys.
        const rows = db.prepare<[], Record<string, unknown>>(
          isRowid ? `SELECT rowid AS row, * FROM ${name} ORDER BY rowid` : `SELECT * FROM ${name}`,
        )
        return [name, rows.all().filter(isCounted).map(writeRow)]
      }),
    )
  } finally {
    db.close()
  }
}

export async function dumpDatabase(address: string): Promise<Dump> {
  const db = await openDatabase(address)
  try {
    const tables = await db.all<{ name: string }>(
      'SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema() ORDER BY 1',
    )
    const dump: Record<string, readonly unknown[]> = {}
    for (const { name } of tables) {
      if (IGNORED_TABLES.test(name)) continue
      const rows = await db.all<Record<string, unknown>>(`SELECT * FROM ${name}`)
      dump[name] = rows.filter(isCounted).map(writeRow).sort(compareUtf8)
    }
    return dump
  } finally {
    await db.close()
  }
}

/** A counter row of zero equals a missing row. */
function isCounted(row: Readonly<Record<string, unknown>>): boolean {
  return !('rows' in row) || Number(row['rows']) > 0
}

/** Columns of leases, which say which process holds a host or a row, and whether a crawl ran in this library. */
const LOCAL: ReadonlySet<string> = new Set([
  ...['holder', 'token', 'leased_until', 'taken_at', 'wanted_at', 'lease', 'keeps_earlier'],
])

function writeRow(row: Readonly<Record<string, unknown>>): string {
  const kept = Object.fromEntries(Object.entries(row).filter(([name]) => !LOCAL.has(name)))
  return JSON.stringify(kept, (_, value: unknown) => {
    const isBytes = typeof value === 'object' && value !== null && 'type' in value && value.type === 'Buffer'
    return isBytes ? Buffer.from((value as { data?: number[] }).data ?? []).toString('hex') : value
  })
}
