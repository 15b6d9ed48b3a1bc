import { closeSync, openSync, writeSync } from 'node:fs'
import Sqlite from 'better-sqlite3'

/** Overwrites the first page of a table of a library file with zeros, as a failing disk does. The library must be closed. */
export function zeroTable(path: string, table: string): void {
  const db = new Sqlite(path)
  const pageBytes = Number(db.pragma('page_size', { simple: true }))
  const root = db.prepare<[string], number>('SELECT rootpage FROM sqlite_schema WHERE name = ?').pluck().get(table)
  db.pragma('wal_checkpoint(TRUNCATE)')
  db.close()
  if (root === undefined) throw new Error(`${path} has no table ${table}`)
  const file = openSync(path, 'r+')
  try {
    writeSync(file, Buffer.alloc(pageBytes), 0, pageBytes, (root - 1) * pageBytes)
  } finally {
    closeSync(file)
  }
}
