import type { Element } from '../../html/tree.ts'
import type { BlockBuilder, RepeatBudget } from './builder.ts'
import { flatten } from './flatten.ts'

/** What HTML allows a cell to span. */
const MAX_SPAN = 1000

interface Cell {
  readonly text: string
  readonly columns: number
  readonly rows: number
}

interface Row {
  readonly cells: readonly Cell[]
  readonly isHeader: boolean
}

/** Writes a table of data. Cells that span others are repeated in their places. */
export function writeTable(builder: BlockBuilder, table: Element): void {
  builder.flush()
  const rows: Row[] = []
  gatherRows(builder, table, false, rows)
  const grid = rows.some(({ cells }) => cells.some(isSpanning))
    ? fillSpans(rows, builder.repeats)
    : rows.map(({ cells }) => cells.map(({ text }) => text))
  const headers = countHeaders(rows)
  const width = grid.reduce((most, row) => Math.max(most, row.length), 0)
  const body = grid.slice(headers).filter((row) => row.some((text) => text !== ''))
  const header = mergeHeaders(grid.slice(0, headers), width)
  if (body.length > 0 || header.some((text) => text !== '')) builder.push({ type: 'table', header, rows: body })
}

function gatherRows(builder: BlockBuilder, parent: Element, isHead: boolean, rows: Row[]): void {
  for (const child of parent.elements()) {
    if (child.name === 'tr') rows.push(readRow(builder, child, isHead))
    else if (child.name === 'caption') {
      builder.marked(child, '**')
      builder.flush()
    } else if (child.name === 'td' || child.name === 'th') {
      rows.push({ cells: [readCell(builder, child)], isHeader: isHead })
    } else if (child.name !== 'colgroup' && child.name !== 'col') {
      gatherRows(builder, child, child.name === 'thead', rows)
    }
  }
}

function readRow(builder: BlockBuilder, row: Element, isHead: boolean): Row {
  const cells: Cell[] = []
  let isAllHeads = true
  for (const child of row.elements()) {
    if (child.name !== 'th') isAllHeads = false
    cells.push(readCell(builder, child))
  }
  return { cells, isHeader: isHead || (isAllHeads && !isTitle(cells)) }
}

/** One cell over the whole width names the table rather than a column. */
function isTitle(cells: readonly Cell[]): boolean {
  const [first] = cells
  return first === undefined || (cells.length === 1 && first.columns > 1)
}

function readCell(builder: BlockBuilder, cell: Element): Cell {
  const text = flatten(builder.collect(cell.children, true))
  return { text, columns: spanOf(cell, 'colspan'), rows: spanOf(cell, 'rowspan') }
}

function spanOf(cell: Element, name: string): number {
  const value = cell.attribute(name)
  if (value === undefined) return 1
  const span = Number.parseInt(value, 10)
  // Zero rows means all that are left.
  if (span === 0 && name === 'rowspan') return MAX_SPAN
  return span >= 1 ? Math.min(span, MAX_SPAN) : 1
}

function isSpanning({ columns, rows }: Cell): boolean {
  return columns > 1 || rows > 1
}

/** Only columns in which a cell begins are kept: a span alone makes no column. */
function fillSpans(rows: readonly Row[], budget: RepeatBudget): string[][] {
  const grid: string[][] = []
  const starts = new Set<number>()
  let above: ({ readonly text: string; readonly rows: number } | undefined)[] = []
  for (const { cells } of rows) {
    const line: string[] = []
    const below: typeof above = []
    let column = 0
    const fillFromAbove = () => {
      for (let cell = above[column]; cell !== undefined; cell = above[++column]) {
        line[column] = takeRepeat(cell.text, budget)
        if (cell.rows > 1) below[column] = { text: cell.text, rows: cell.rows - 1 }
      }
    }
    for (const { text, columns, rows: height } of cells) {
      fillFromAbove()
      starts.add(column)
      for (let i = 0; i < columns; i++, column++) {
        if (i > 0 && budget.cells <= 0) break
        line[column] = i === 0 ? text : takeRepeat(text, budget)
        if (height > 1) below[column] = { text, rows: height - 1 }
      }
    }
    for (; column < above.length; column++) fillFromAbove()
    grid.push(line)
    above = budget.cells > 0 ? below : []
  }
  const columns = [...starts].sort((a, b) => a - b)
  return grid.map((line) => columns.filter((column) => column < line.length).map((column) => line[column] ?? ''))
}

function takeRepeat(text: string, budget: RepeatBudget): string {
  budget.cells--
  budget.chars -= text.length
  return budget.chars < 0 ? '' : text
}

/** How many rows at the top name the columns. */
function countHeaders(rows: readonly Row[]): number {
  const end = rows.findIndex(({ isHeader }) => !isHeader)
  return end === -1 ? Math.min(rows.length, 1) : Math.min(end, MAX_HEADERS)
}

const MAX_HEADERS = 3

/** Markdown has one row of names: those of several rows are put together, a repeated one once. */
function mergeHeaders(headers: readonly (readonly string[])[], width: number): string[] {
  return Array.from({ length: width }, (_, column) => {
    const names = headers.map((row) => row[column] ?? '').filter((name) => name !== '')
    return [...new Set(names)].join(' ')
  })
}
