import { sizeOf } from '../../library/held-rows.ts'
import { BYTES_AT_ONCE, type HeldRow, type HeldTable, placesOf } from '../../library/held-tables.ts'
import type { HeldView, Holdings, NumberRange } from '../../library/holdings.ts'
import { type ArrivalParts, createArrivals } from './arrivals.ts'
import { createCopied } from './copied.ts'
import { type Database, openDatabase } from './database.ts'
import { columnName, conditionsOf, createRowReader, packCell, tableName } from './held-rows.ts'

/** Creates the port that reads and receives a whole library file. */
export function createHoldings(parts: ArrivalParts & { readonly path: string }): Holdings {
  const copied = createCopied(parts.db)
  return {
    readLibraryId: async () => copied.libraryId(),
    keepsNul: true,
    // Uses a connection of its own, so that other writers can continue and their changes stay invisible.
    view: async (work, { isMoving = false } = {}) => {
      const db = openDatabase(parts.path)
      try {
        if (!isMoving) db.exec('BEGIN')
        return await work(createView(db))
      } finally {
        db.close()
      }
    },
    arrivals: createArrivals(parts),
  }
}

function createView(db: Database): HeldView {
  const hasHidden = db.prepare('SELECT 1 FROM sources WHERE is_removed = 1 LIMIT 1').get() !== undefined
  const from = (table: HeldTable, conditions: readonly string[]) =>
    `FROM ${tableName(table)}${conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`}`
  const columnsOf = (table: HeldTable) => table.columns.map(({ name }) => columnName(table, name)).join(', ')
  return {
    read: (table, range) => read(db, table, { range, hasHidden }),
    count: async (table) =>
      db
        .prepare<[], number>(`SELECT count(*) ${from(table, conditionsOf(table, undefined, hasHidden))}`)
        .pluck()
        .get() ?? 0,
    has: async (table, range) =>
      db.prepare(`SELECT 1 ${from(table, conditionsOf(table, range, false))} LIMIT 1`).get() !== undefined,
    readLast: async (table) => {
      if (table.number === undefined) return undefined
      const order = columnName(table, table.number)
      const last = `SELECT ${columnsOf(table)} ${from(table, conditionsOf(table, undefined, hasHidden))} ORDER BY ${order} DESC LIMIT 1`
      const found = db.prepare<[], unknown[]>(last).raw().get()
      return found && createRowReader(db, table)(found)
    },
  }
}

async function* read(
  db: Database,
  table: HeldTable,
  { range, hasHidden }: { readonly range: NumberRange | undefined; readonly hasHidden: boolean },
): AsyncGenerator<readonly HeldRow[]> {
  const keys = table.key.map((name) => columnName(table, name))
  const places = placesOf(table, table.key)
  const conditions = conditionsOf(table, range, hasHidden)
  const after = `(${keys.join(', ')}) > (${keys.map(() => '?').join(', ')})`
  const select = (further: readonly string[]) => {
    const where = [...conditions, ...further].join(' AND ')
    const columns = table.columns.map(({ name }) => columnName(table, name)).join(', ')
    return db
      .prepare<unknown[], unknown[]>(
        `SELECT ${columns} FROM ${tableName(table)}${where === '' ? '' : ` WHERE ${where}`} ORDER BY ${keys.join(', ')} LIMIT ${table.atOnce}`,
      )
      .raw()
  }
  const toRow = createRowReader(db, table)
  const take = (found: Iterable<unknown[]>): HeldRow[] => {
    const rows: HeldRow[] = []
    let bytes = 0
    for (const values of found) {
      const row = toRow(values)
      rows.push(row)
      bytes += sizeOf(row)
      if (bytes >= BYTES_AT_ONCE) break
    }
    return rows
  }
  const selectNext = select([after])
  for (let rows = take(select([]).iterate()); rows.length > 0; ) {
    yield rows
    const last = rows.at(-1) ?? []
    rows = take(selectNext.iterate(...places.map((place) => packCell(last[place] ?? null, 'text'))))
  }
}
