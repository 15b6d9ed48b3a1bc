import { DOCUMENT_LIMITS } from '../document.ts'
import { type OfficeRow, writeTable } from '../office/office-blocks.ts'
import { runsOf, writeRuns } from './line.ts'
import type { RowFacts } from './metrics.ts'
import type { Cell, Column, Row } from './rows.ts'

/** A table, and the number of rows that it covers. */
export interface FoundTable {
  readonly count: number
  readonly html: string
}

const MARKER = /^(?:[•◦▪‣·*–—-]|\(?(?:\d{1,3}|[a-z]|[ivx]{1,4})[.)])$/i

/**
 * Whether a row may belong to a table: it has at least two cells and is not just a list marker followed by its text. Rows in a fixed-width
 * font do not count.
 */
export function isTabular({ row, isFixed }: RowFacts): boolean {
  if (isFixed || row.cells.length < 2) return false
  const [first] = row.cells
  const marker =
    first?.fragments
      .map(({ text }) => text)
      .join('')
      .trim() ?? ''
  return row.cells.length > 2 || !MARKER.test(marker)
}

/** The table that starts at a row, if any: rows whose cells are aligned. */
export function findTable(rows: readonly RowFacts[], start: number, lineSpacing: number): FoundTable | undefined {
  const tableRows = takeRows(rows, start)
  const multiCellRows = tableRows.filter(({ cells }) => cells.length > 1)
  const columns = findColumns(multiCellRows)
  if (columns.length < 2 || multiCellRows.length < (columns.length === 2 ? 3 : 2)) return undefined
  const fitting = multiCellRows.filter((row) => row.cells.every((cell) => columnIndexOf(cell, columns) !== -1))
  if (fitting.length < 0.8 * multiCellRows.length) return undefined
  const grid: { readonly row: Row; readonly cells: string[] }[] = []
  for (const row of tableRows) {
    const cells = columns.map(() => '')
    for (const cell of row.cells.flatMap((whole) => splitCell(whole, columns, row.size))) {
      const index = Math.max(0, columnIndexOf(cell, columns))
      cells[index] = [cells[index], writeRuns(runsOf(cell, row.baseline, row.size))]
        .filter((text) => text !== '')
        .join(' ')
    }
    const last = grid.at(-1)
    const isContinued =
      last !== undefined && cells[0] === '' && row.baseline - last.row.baseline < 1.25 * lineSpacing * row.size
    if (isContinued) {
      for (const [i, text] of cells.entries()) last.cells[i] = [last.cells[i], text].filter(Boolean).join(' ')
    } else grid.push({ row, cells })
  }
  const table = grid.map(
    ({ cells }, i): OfficeRow => ({
      cells: cells.map((html) => ({ html, columns: 1, rows: 1 })),
      isHeader: i === 0 && areColumnHeadings(cells),
    }),
  )
  return { count: tableRows.length, html: writeTable(table) }
}

/** Splits a cell that spans several columns. Headings of narrow columns can be so close together that they were read as one cell. */
function splitCell(cell: Cell, columns: readonly Column[], size: number): Cell[] {
  if (columns.filter(({ left, right }) => left < cell.right && right > cell.left).length < 2) return [cell]
  const parts: Cell[] = []
  for (const fragment of cell.fragments) {
    const last = parts.at(-1)
    const { left, right } = fragment
    if (last === undefined || left - last.right > 0.6 * size) parts.push({ fragments: [fragment], left, right })
    else parts[parts.length - 1] = { fragments: [...last.fragments, fragment], left: last.left, right }
  }
  return parts
}

/** Whether cells can be column headings: at least two have text, and every text contains a letter. */
function areColumnHeadings(cells: readonly string[]): boolean {
  return cells.every((cell) => cell === '' || /\p{L}/u.test(cell)) && cells.filter((cell) => cell !== '').length > 1
}

/** The consecutive rows that may form one table. A single cell below others may continue one of them. */
function takeRows(rows: readonly RowFacts[], start: number): Row[] {
  const tableRows: Row[] = []
  for (let i = start; i < rows.length && tableRows.length < DOCUMENT_LIMITS.rows; i++) {
    const facts = rows[i]
    const last = tableRows.at(-1)
    if (facts === undefined) break
    const step = last === undefined ? 0 : facts.row.baseline - last.baseline
    if (last !== undefined && (facts.row.page !== last.page || step < 0 || step > 3 * facts.row.size)) break
    if (isTabular(facts)) tableRows.push(facts.row)
    else {
      const next = rows[i + 1]
      const isInside =
        next !== undefined && isTabular(next) && facts.row.left > (last?.cells[0]?.right ?? Number.POSITIVE_INFINITY)
      if (!isInside) break
      tableRows.push(facts.row)
    }
  }
  return tableRows
}

/** Extents of the columns, from the rows with the most cells. */
function findColumns(rows: readonly Row[]): Column[] {
  const maxCells = rows.reduce((count, { cells }) => Math.max(count, cells.length), 0)
  const cells = rows.filter((row) => row.cells.length === maxCells).flatMap((row) => [...row.cells])
  const columns: { left: number; right: number }[] = []
  for (const { left, right } of cells.sort((a, b) => a.left - b.left)) {
    const last = columns.at(-1)
    if (last !== undefined && left <= last.right) last.right = Math.max(last.right, right)
    else columns.push({ left, right })
  }
  return columns.length === maxCells ? columns.slice(0, DOCUMENT_LIMITS.columns) : []
}

/** Index of the column that contains most of a cell; -1 for none. */
function columnIndexOf(cell: Cell, columns: readonly Column[]): number {
  let best = -1
  let maxShared = 0
  for (const [i, { left, right }] of columns.entries()) {
    const shared = Math.min(cell.right, right) - Math.max(cell.left, left)
    if (shared > maxShared) {
      maxShared = shared
      best = i
    }
  }
  return best
}
