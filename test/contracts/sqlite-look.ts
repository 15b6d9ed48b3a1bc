import { openDatabase } from '../../src/store/sqlite/database.ts'
import type { Look } from './understanding.contract.ts'

/** Looks into a library in a file. */
export function lookAt(path: string): Look {
  const db = openDatabase(path)
  return {
    all: async (text) => db.prepare(text).all(),
    run: async (text) => db.prepare(text).run(),
    close: () => db.close(),
  }
}
