import { compareUtf8 } from '../core/text/order.ts'
import { type Cell, type HeldRow, type HeldTable, placesOf } from './held-tables.ts'

/** Gives rows the numbers that they have in another library; `sign` is -1 for the way back. 0 stands for nothing everywhere. */
export function shiftRows(
  { columns }: HeldTable,
  rows: readonly HeldRow[],
  offsets: Readonly<Record<string, number>>,
  sign: 1 | -1 = 1,
): readonly HeldRow[] {
  const shifts = columns.flatMap(({ of }, place) => {
    const offset = of === undefined ? 0 : (offsets[of] ?? 0)
    return offset === 0 ? [] : [{ place, offset: offset * sign }]
  })
  if (shifts.length === 0) return rows
  return rows.map((row) => {
    const shifted = [...row]
    for (const { place, offset } of shifts) {
      const number = row[place]
      if (typeof number === 'number' && number > 0) shifted[place] = number + offset
    }
    return shifted
  })
}

/** What is said in a copy of a job that had not ended. */
const NOT_ENDED = 'it had not ended when its library was copied'

/**
 * Nobody is at anything in a copy: whoever visits an address or runs a job knows nothing of it, and goes on with it. Addresses are due,
 * crawls that run can go on when somebody asks for them, and jobs are over, or whoever works on the copy would begin with them at once.
 */
export function atRest(table: HeldTable, rows: readonly HeldRow[]): readonly HeldRow[] {
  const settle = SETTLED[table.name]
  if (settle === undefined) return rows
  const places = new Map(table.columns.map(({ name }, place) => [name, place]))
  return rows.map((row) => {
    const changes = settle((name) => row[places.get(name) ?? -1] ?? null)
    return changes === undefined ? row : row.map((cell, place) => changes[table.columns[place]?.name ?? ''] ?? cell)
  })
}

type Settle = (cell: (name: string) => Cell) => Readonly<Record<string, Cell>> | undefined

/** What becomes of rows that somebody is at, by their table: always the same of the same row, because they are compared later. */
const SETTLED: Readonly<Record<string, Settle>> = {
  ledger: (cell) => (cell('state') === 'leased' ? { state: 'pending' } : undefined),
  crawl_jobs: (cell) => {
    const status = cell('status')
    if (status !== 'queued' && status !== 'running') return undefined
    const endedAt = cell('last_event_at') ?? cell('started_at') ?? cell('created_at')
    return { status: status === 'queued' ? 'cancelled' : 'stopped', ended_at: endedAt, problem: NOT_ENDED }
  },
  analysis_runs: (cell) =>
    cell('status') === 'running' ? { status: 'cancelled', ended_at: cell('heartbeat_at') } : undefined,
}

/** Rows as a store keeps them that has no texts with a NUL. */
export function withoutNul(rows: readonly HeldRow[]): readonly HeldRow[] {
  const isBad = (cell: Cell): cell is string => typeof cell === 'string' && cell.includes('\0')
  return rows.map((row) =>
    row.some(isBad) ? row.map((cell) => (isBad(cell) ? cell.replaceAll('\0', '\u{fffd}') : cell)) : row,
  )
}

/** About how many bytes a row is long. */
export function sizeOf(row: HeldRow): number {
  return row.reduce<number>((sum, cell) => {
    const isLong = typeof cell === 'string' || cell instanceof Uint8Array
    return sum + (isLong ? cell.length : 8)
  }, 0)
}

/** Compares rows of a table in the order in which they are read. */
export function createKeyOrder(table: HeldTable): (a: HeldRow, b: HeldRow) => number {
  const places = placesOf(table, table.key)
  return (a, b) => {
    for (const place of places) {
      const order = compareCells(a[place], b[place])
      if (order !== 0) return order
    }
    return 0
  }
}

function compareCells(a: Cell | undefined, b: Cell | undefined): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b
  return compareUtf8(String(a), String(b))
}

/** Whether two rows of a table say the same. */
export function isSameRow(a: HeldRow, b: HeldRow): boolean {
  return a.every((cell, place) => isSameCell(cell, b[place]))
}

function isSameCell(a: Cell, b: Cell | undefined): boolean {
  if (a === b) return true
  if (!(a instanceof Uint8Array && b instanceof Uint8Array)) return false
  return a.length === b.length && a.every((byte, i) => byte === b[i])
}
