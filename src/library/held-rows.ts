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

/** Addresses that somebody visits just now are due in a copy: whoever does so knows nothing of it. */
export function withoutLeases(table: HeldTable, rows: readonly HeldRow[]): readonly HeldRow[] {
  if (table.name !== 'ledger') return rows
  const [state = 0] = placesOf(table, ['state'])
  return rows.map((row) => (row[state] === 'leased' ? row.with(state, 'pending') : row))
}

/** Rows as a store keeps them that has no texts with a NUL. */
export function withoutNul(rows: readonly HeldRow[]): readonly HeldRow[] {
  const isBad = (cell: Cell): cell is string => typeof cell === 'string' && cell.includes('\0')
  return rows.map((row) =>
    row.some(isBad) ? row.map((cell) => (isBad(cell) ? cell.replaceAll('\0', '\u{fffd}') : cell)) : row,
  )
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
