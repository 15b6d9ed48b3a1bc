import { openDatabase } from '../../src/store/sqlite/database/database.ts'
import type { SqlAccess } from './page-analyses.contract.ts'

/** Opens SQL access to a library file. */
export function openSqlAccess(path: string): SqlAccess {
  const db = openDatabase(path)
  return {
    all: async (text) => db.prepare(text).all(),
    run: async (text) => db.prepare(text).run(),
    close: () => db.close(),
  }
}
