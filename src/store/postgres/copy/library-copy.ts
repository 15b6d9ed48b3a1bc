import { sizeOf } from '../../../library/copy/copy-rows.ts'
import { type CopyRow, type CopyTable, MAX_BATCH_BYTES } from '../../../library/copy/table-columns.ts'
import type { IdRange, LibraryCopy, LibraryView } from '../../../library/ports/library-copy.ts'
import { tableName } from '../../common/copy-plan.ts'
import type { Database, Sql } from '../database/database.ts'
import { readLibraryId } from './copied-vectors.ts'
import { createRowReader, writeOrderBy, writeWhere } from './copy-rows.ts'
import { createCopySessions } from './copy-sessions.ts'

/** Creates the port that reads and receives a whole library; `clear` deletes the data of hidden sources. */
export function createLibraryCopy(db: Database, clear: () => Promise<void>): LibraryCopy {
  return {
    readLibraryId: () => readLibraryId(db),
    canStoreNul: false,
    view: (work) =>
      db.snapshot(async (sql) => {
        // Writing to the other library between two batches may take long, so the idle timeout is off.
        await sql.run('SET LOCAL idle_in_transaction_session_timeout TO 0')
        return work(await createView(sql))
      }),
    sessions: createCopySessions(db, clear),
  }
}

async function createView(sql: Sql): Promise<LibraryView> {
  const hasHidden = (await sql.get('SELECT 1 FROM sources WHERE is_removed LIMIT 1')) !== undefined
  return {
    read: (table, range) => read(sql, table, writeWhere(table, range, hasHidden)),
    count: async (table) => {
      const where = writeWhere(table, undefined, hasHidden)
      return (await sql.get<{ count: number }>(`SELECT count(*) FROM ${tableName(table)} ${where}`))?.count ?? 0
    },
    has: async (table, range?: IdRange) =>
      (await sql.get(`SELECT 1 FROM ${tableName(table)} ${writeWhere(table, range, false)} LIMIT 1`)) !== undefined,
    readLast: async (table) => {
      if (table.idColumn === undefined) return undefined
      const found = await sql.get<Record<string, unknown>>(
        `SELECT ${namesOf(table)} FROM ${tableName(table)} ${writeWhere(table, undefined, hasHidden)}
         ORDER BY ${table.idColumn} DESC LIMIT 1`,
      )
      return found && createRowReader(table)(found)
    },
  }
}

function namesOf({ columns }: CopyTable): string {
  return columns.map(({ name }) => name).join(', ')
}

/** Limits how fast batches grow again after a long row, because the next row may be long too. */
const GROWTH = 8

/** Reads through a cursor, so that rows are sorted once and fetched on demand. The batch size follows the length of the latest rows. */
async function* read(sql: Sql, table: CopyTable, where: string): AsyncGenerator<readonly CopyRow[]> {
  const cursor = `held_${table.name}_${table.columns.length}`
  const toRow = createRowReader(table)
  await sql.run(
    `DECLARE ${cursor} NO SCROLL CURSOR FOR SELECT ${namesOf(table)} FROM ${tableName(table)} ${where} ORDER BY ${writeOrderBy(table)}`,
  )
  for (let size = 1, maxRows = 1; ; size = Math.max(1, Math.min(table.batchSize, size * GROWTH, maxRows))) {
    const rows = (await sql.all<Record<string, unknown>>(`FETCH ${size} FROM ${cursor}`)).map(toRow)
    maxRows = Math.floor(MAX_BATCH_BYTES / Math.max(...rows.map(sizeOf)))
    if (rows.length > 0) yield rows
    if (rows.length < size) break
  }
  await sql.run(`CLOSE ${cursor}`)
}
