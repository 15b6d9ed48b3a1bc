import { sizeOf } from '../../../library/copy/copy-rows.ts'
import { type CopyRow, type CopyTable, columnPositions, MAX_BATCH_BYTES } from '../../../library/copy/table-columns.ts'
import type { IdRange, LibraryCopy, LibraryView } from '../../../library/ports/library-copy.ts'
import { tableName } from '../../common/copy-plan.ts'
import { type Database, openDatabase } from '../database/database.ts'
import { createCopiedVectors } from './copied-vectors.ts'
import { columnName, createRowReader, packCell, writeConditions } from './copy-rows.ts'
import { type CopySessionParts, createCopySessions } from './copy-sessions.ts'

/** Creates the port that reads and receives a whole library file. */
export function createLibraryCopy(parts: CopySessionParts & { readonly path: string }): LibraryCopy {
  const copied = createCopiedVectors(parts.db)
  return {
    readLibraryId: async () => copied.libraryId(),
    canStoreNul: true,
    // Uses a separate connection, so that other writers can continue. Unless `isMoving`, a transaction hides their changes.
    view: async (work, { isMoving = false } = {}) => {
      const db = openDatabase(parts.path)
      try {
        if (!isMoving) db.exec('BEGIN')
        return await work(createView(db))
      } finally {
        db.close()
      }
    },
    sessions: createCopySessions(parts),
  }
}

function createView(db: Database): LibraryView {
  const hasHidden = db.prepare('SELECT 1 FROM sources WHERE is_removed = 1 LIMIT 1').get() !== undefined
  const from = (table: CopyTable, conditions: readonly string[]) =>
    `FROM ${tableName(table)}${conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`}`
  const columnsOf = (table: CopyTable) => table.columns.map(({ name }) => columnName(table, name)).join(', ')
  return {
    read: (table, range) => read(db, table, { range, hasHidden }),
    count: async (table) =>
      db
        .prepare<[], number>(`SELECT count(*) ${from(table, writeConditions(table, undefined, hasHidden))}`)
        .pluck()
        .get() ?? 0,
    has: async (table, range) =>
      db.prepare(`SELECT 1 ${from(table, writeConditions(table, range, false))} LIMIT 1`).get() !== undefined,
    readLast: async (table) => {
      if (table.idColumn === undefined) return undefined
      const order = columnName(table, table.idColumn)
      const sql = `SELECT ${columnsOf(table)} ${from(table, writeConditions(table, undefined, hasHidden))} ORDER BY ${order} DESC LIMIT 1`
      const found = db.prepare<[], unknown[]>(sql).raw().get()
      return found && createRowReader(db, table)(found)
    },
  }
}

async function* read(
  db: Database,
  table: CopyTable,
  { range, hasHidden }: { readonly range: IdRange | undefined; readonly hasHidden: boolean },
): AsyncGenerator<readonly CopyRow[]> {
  const keys = table.key.map((name) => columnName(table, name))
  const keyPositions = columnPositions(table, table.key)
  const conditions = writeConditions(table, range, hasHidden)
  const after = `(${keys.join(', ')}) > (${keys.map(() => '?').join(', ')})`
  const select = (moreConditions: readonly string[]) => {
    const where = [...conditions, ...moreConditions].join(' AND ')
    const columns = table.columns.map(({ name }) => columnName(table, name)).join(', ')
    return db
      .prepare<unknown[], unknown[]>(
        `SELECT ${columns} FROM ${tableName(table)}${where === '' ? '' : ` WHERE ${where}`} ORDER BY ${keys.join(', ')} LIMIT ${table.batchSize}`,
      )
      .raw()
  }
  const toRow = createRowReader(db, table)
  const takeBatch = (found: Iterable<unknown[]>): CopyRow[] => {
    const rows: CopyRow[] = []
    let bytes = 0
    for (const values of found) {
      const row = toRow(values)
      rows.push(row)
      bytes += sizeOf(row)
      if (bytes >= MAX_BATCH_BYTES) break
    }
    return rows
  }
  const selectNext = select([after])
  for (let rows = takeBatch(select([]).iterate()); rows.length > 0; ) {
    yield rows
    const last = rows.at(-1) ?? []
    rows = takeBatch(selectNext.iterate(...keyPositions.map((position) => packCell(last[position] ?? null, 'text'))))
  }
}
