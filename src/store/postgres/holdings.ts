import { sizeOf } from '../../library/held-rows.ts'
import { BYTES_AT_ONCE, type HeldRow, type HeldTable } from '../../library/held-tables.ts'
import type { HeldView, Holdings, NumberRange } from '../../library/holdings.ts'
import { createArrivals } from './arrivals.ts'
import { readLibraryId } from './copied.ts'
import type { Database, Sql } from './database.ts'
import { createRowReader, orderOf, tableName, whereOf } from './held-rows.ts'

/** Creates the port that reads and receives a whole library; `clear` deletes the data of hidden sources. */
export function createHoldings(db: Database, clear: () => Promise<void>): Holdings {
  return {
    readLibraryId: () => readLibraryId(db),
    keepsNul: false,
    view: (work) =>
      db.snapshot(async (sql) => {
        // Writing to the other library between two batches may take long, so the idle timeout is off.
        await sql.run('SET LOCAL idle_in_transaction_session_timeout TO 0')
        return work(await createView(sql))
      }),
    arrivals: createArrivals(db, clear),
  }
}

async function createView(sql: Sql): Promise<HeldView> {
  const hasHidden = (await sql.get('SELECT 1 FROM sources WHERE is_removed LIMIT 1')) !== undefined
  return {
    read: (table, range) => read(sql, table, whereOf(table, range, hasHidden)),
    count: async (table) => {
      const where = whereOf(table, undefined, hasHidden)
      return (await sql.get<{ count: number }>(`SELECT count(*) FROM ${tableName(table)} ${where}`))?.count ?? 0
    },
    has: async (table, range?: NumberRange) =>
      (await sql.get(`SELECT 1 FROM ${tableName(table)} ${whereOf(table, range, false)} LIMIT 1`)) !== undefined,
    readLast: async (table) => {
      if (table.number === undefined) return undefined
      const found = await sql.get<Record<string, unknown>>(
        `SELECT ${namesOf(table)} FROM ${tableName(table)} ${whereOf(table, undefined, hasHidden)}
         ORDER BY ${table.number} DESC LIMIT 1`,
      )
      return found && createRowReader(table)(found)
    },
  }
}

function namesOf({ columns }: HeldTable): string {
  return columns.map(({ name }) => name).join(', ')
}

/** Limits how fast batches grow again after a long row, because the next row may be long too. */
const GROWTH = 8

/** Reads through a cursor, so that rows are sorted once and fetched on demand. The batch size follows the length of the latest rows. */
async function* read(sql: Sql, table: HeldTable, where: string): AsyncGenerator<readonly HeldRow[]> {
  const cursor = `held_${table.name}_${table.columns.length}`
  const toRow = createRowReader(table)
  await sql.run(
    `DECLARE ${cursor} NO SCROLL CURSOR FOR SELECT ${namesOf(table)} FROM ${tableName(table)} ${where} ORDER BY ${orderOf(table)}`,
  )
  for (let wanted = 1, most = 1; ; wanted = Math.max(1, Math.min(table.atOnce, wanted * GROWTH, most))) {
    const rows = (await sql.all<Record<string, unknown>>(`FETCH ${wanted} FROM ${cursor}`)).map(toRow)
    most = Math.floor(BYTES_AT_ONCE / Math.max(...rows.map(sizeOf)))
    if (rows.length > 0) yield rows
    if (rows.length < wanted) break
  }
  await sql.run(`CLOSE ${cursor}`)
}
