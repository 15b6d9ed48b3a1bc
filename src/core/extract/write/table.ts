import type { Element } from '../../html/tree.ts'
import type { BlockBuilder, RepeatBudget } from './builder.ts'
import { flatten } from './flatten.ts'
import { plainText } from './plain-text.ts'
import { strongLine } from './strong-line.ts'
import { readTable, type SourceCell, type SourceRow } from './table-rows.ts'

interface Cell {
  readonly text: string
  readonly columns: number
  readonly rows: number
}

/** Writes a table of data. A spanning cell is repeated in every row and column that it spans. */
export function writeTable(builder: BlockBuilder, table: Element): void {
  builder.flush()
  const { titles, rows } = readTable(table)
  for (const title of titles) {
    builder.writeMarked(title, '**')
    builder.flush()
  }
  const headerCount = countHeaders(rows)
  if (!builder.isSingleLine && builder.hasCode(table) && canSplitIntoBlocks(builder, rows, headerCount)) {
    writeParts(builder, rows, headerCount)
    return
  }
  const cells = rows.map((row) => row.cells.map((cell) => readCell(builder, cell)))
  const grid = cells.some((row) => row.some(isSpanning))
    ? fillSpans(cells, headerCount, builder.repeats)
    : cells.map((row) => row.map(({ text }) => text))
  const width = grid.reduce((max, row) => Math.max(max, row.length), 0)
  const body = grid.slice(headerCount).filter((row) => row.some((text) => text !== ''))
  const header = mergeHeaders(grid.slice(0, headerCount), width)
  if (body.length > 0 || header.some((text) => text !== '')) builder.push({ type: 'table', header, rows: body })
}

function readCell(builder: BlockBuilder, { element, columns, rows }: SourceCell): Cell {
  return { text: flatten(builder.collect(element.children, true)), columns, rows }
}

const MAX_PARTS = 4

/**
 * Whether a table can be written as blocks: code on several lines does not fit into a cell, but the cells of a few named columns can
 * follow each other.
 */
function canSplitIntoBlocks(builder: BlockBuilder, rows: readonly SourceRow[], headerCount: number): boolean {
  const [names, ...body] = rows
  if (names === undefined || headerCount !== 1 || names.cells.length < 2) return false
  if (rows.some(({ cells }) => cells.length > MAX_PARTS || cells.some(isSpanning))) return false
  const withCode = body.filter(({ cells }) => cells.some(({ element }) => builder.hasCode(element)))
  return 2 * withCode.length >= body.length
}

/** Writes every cell below the name of its column. */
function writeParts(builder: BlockBuilder, rows: readonly SourceRow[], headerCount: number): void {
  const names = rows[0]?.cells.map(({ element }) => plainText(element)) ?? []
  for (const { cells } of rows.slice(headerCount)) {
    for (const [column, { element }] of cells.entries()) {
      const blocks = builder.collect(element.children)
      const name = names[column] ?? ''
      if (blocks.length > 0 && name !== '') builder.push(strongLine(name))
      for (const block of blocks) builder.push(block)
    }
  }
}

function isSpanning({ columns, rows }: { readonly columns: number; readonly rows: number }): boolean {
  return columns > 1 || rows > 1
}

/** Repeats spanning cells. Only columns in which a cell begins are kept: a span alone does not make a column. */
function fillSpans(rows: readonly (readonly Cell[])[], headerCount: number, budget: RepeatBudget): string[][] {
  const grid: string[][] = []
  const startColumns = new Set<number>()
  let above: ({ readonly text: string; readonly rows: number } | undefined)[] = []
  for (const cells of rows) {
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
      startColumns.add(column)
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
  const columns = [...startColumns].sort((a, b) => a - b)
  return grid.map((line, i) => {
    const kept = columns.filter((column) => column < line.length).map((column) => line[column] ?? '')
    // One cell over the whole width divides the rows and belongs to no column.
    const [only, ...others] = headerCount > 1 && i < headerCount ? [] : (rows[i] ?? [])
    const isDivider = only !== undefined && others.length === 0 && only.columns > (columns.at(-1) ?? 0)
    return isDivider ? kept.slice(0, 1) : kept
  })
}

function takeRepeat(text: string, budget: RepeatBudget): string {
  budget.cells--
  budget.chars -= text.length
  return budget.chars < 0 ? '' : text
}

/** How many rows at the top name the columns. */
function countHeaders(rows: readonly SourceRow[]): number {
  const end = rows.findIndex(({ isHeader }) => !isHeader)
  return end === -1 ? Math.min(rows.length, 1) : Math.min(end, MAX_HEADERS)
}

const MAX_HEADERS = 3

/** Markdown has one header row: names of several rows are joined, without repetitions. */
function mergeHeaders(headers: readonly (readonly string[])[], width: number): string[] {
  return Array.from({ length: width }, (_, column) => {
    const names = headers.map((row) => row[column] ?? '').filter((name) => name !== '')
    return [...new Set(names)].join(' ')
  })
}
