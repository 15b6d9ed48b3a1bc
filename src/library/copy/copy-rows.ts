import { compareUtf8 } from '../../core/text/order.ts'
import { type Cell, type CopyRow, type CopyTable, columnPositions } from './table-columns.ts'

/** Shifts the ids in rows to the numbers of another library; `sign` -1 reverses the shift. 0 means no reference and stays 0. */
export function shiftRows(
  { columns }: CopyTable,
  rows: readonly CopyRow[],
  offsets: Readonly<Record<string, number>>,
  sign: 1 | -1 = 1,
): readonly CopyRow[] {
  const shifts = columns.flatMap(({ references }, position) => {
    const offset = references === undefined ? 0 : (offsets[references] ?? 0)
    return offset === 0 ? [] : [{ position, offset: offset * sign }]
  })
  if (shifts.length === 0) return rows
  return rows.map((row) => {
    const shifted = [...row]
    for (const { position, offset } of shifts) {
      const number = row[position]
      if (typeof number === 'number' && number > 0) shifted[position] = number + offset
    }
    return shifted
  })
}

/** Problem text of copied jobs that had not ended. */
const NOT_ENDED = 'it had not ended when its library was copied'

/**
 * Resets rows that are in progress, because the processes working on them belong to the origin. Leased addresses become pending. Queued
 * jobs are cancelled and running jobs are stopped; otherwise workers of the copy would start them at once. Running analyses are cancelled.
 */
export function resetRunningRows(table: CopyTable, rows: readonly CopyRow[]): readonly CopyRow[] {
  const resetRow = ROW_RESETS[table.name]
  if (resetRow === undefined) return rows
  const positions = new Map(table.columns.map(({ name }, position) => [name, position]))
  return rows.map((row) => {
    const changes = resetRow((name) => row[positions.get(name) ?? -1] ?? null)
    return changes === undefined ? row : row.map((cell, i) => changes[table.columns[i]?.name ?? ''] ?? cell)
  })
}

type RowReset = (cell: (name: string) => Cell) => Readonly<Record<string, Cell>> | undefined

/** How rows in progress are reset, by table. The result must be deterministic, because rows are compared again later. */
const ROW_RESETS: Readonly<Record<string, RowReset>> = {
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

/** Replaces NUL in texts, for stores that cannot keep it. */
export function replaceNul(rows: readonly CopyRow[]): readonly CopyRow[] {
  const hasNul = (cell: Cell): cell is string => typeof cell === 'string' && cell.includes('\0')
  return rows.map((row) =>
    row.some(hasNul) ? row.map((cell) => (hasNul(cell) ? cell.replaceAll('\0', '\u{fffd}') : cell)) : row,
  )
}

/** Estimates the size of a row in bytes. */
export function sizeOf(row: CopyRow): number {
  return row.reduce<number>((sum, cell) => {
    const isLong = typeof cell === 'string' || cell instanceof Uint8Array
    return sum + (isLong ? cell.length : 8)
  }, 0)
}

/** Returns a comparison function for rows in key order. */
export function createKeyOrder(table: CopyTable): (a: CopyRow, b: CopyRow) => number {
  const positions = columnPositions(table, table.key)
  return (a, b) => {
    for (const position of positions) {
      const order = compareCells(a[position], b[position])
      if (order !== 0) return order
    }
    return 0
  }
}

function compareCells(a: Cell | undefined, b: Cell | undefined): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b
  return compareUtf8(String(a), String(b))
}

/** Whether two rows of a table are equal. */
export function isSameRow(a: CopyRow, b: CopyRow): boolean {
  return a.every((cell, position) => isSameCell(cell, b[position]))
}

function isSameCell(a: Cell, b: Cell | undefined): boolean {
  if (a === b) return true
  if (!(a instanceof Uint8Array && b instanceof Uint8Array)) return false
  return a.length === b.length && a.every((byte, i) => byte === b[i])
}
