import type { CopyPlan } from '../../../library/ports/library-copy.ts'
import { NUMBERED_TABLES } from '../../common/copy-plan.ts'
import type { Database } from './database.ts'

/** Reads and reserves row numbers inside the caller's transaction. */
export interface RowNumbers {
  /** The highest number in each table, or the highest ever assigned if the table never reuses numbers. */
  readHighest(): Readonly<Record<string, number>>
  /** Reserves the numbers that a copy session needs, in tables that never reuse numbers. */
  reserve(plan: CopyPlan): void
}

/** Creates the statements for row numbers. */
export function createRowNumbers(db: Database): RowNumbers {
  const selectSequence = db.prepare<[string], number>('SELECT seq FROM sqlite_sequence WHERE name = ?').pluck()
  const insertSequence = db.prepare<[string, number]>('INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)')
  const updateSequence = db.prepare<[number, string]>('UPDATE sqlite_sequence SET seq = ? WHERE name = ?')
  const selectAutoincrement = db.prepare<[string]>(
    `SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ? AND sql LIKE '%AUTOINCREMENT%'`,
  )
  const highestOf = (table: string) =>
    db.prepare<[], number>(`SELECT ifnull(max(rowid), 0) FROM ${table}`).pluck().get() ?? 0
  const highestEver = (table: string) => Math.max(highestOf(table), selectSequence.get(table) ?? 0)
  return {
    readHighest: () => Object.fromEntries(NUMBERED_TABLES.map(({ name }) => [name, highestEver(name)])),
    reserve: ({ offsets, kept }) => {
      for (const { name } of NUMBERED_TABLES) {
        const last = (offsets[name] ?? 0) + (kept[name] ?? 0)
        if (selectAutoincrement.get(name) === undefined || highestEver(name) >= last) continue
        if (updateSequence.run(last, name).changes === 0) insertSequence.run(name, last)
      }
    },
  }
}
