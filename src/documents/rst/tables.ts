import { isBlank } from '../../core/text/lines.ts'
import { DOCUMENT_LIMITS } from '../document.ts'
import type { Blocks, Table, TableCell } from './blocks.ts'

/* Grid tables and simple tables. */

/** Parses the lines of a cell. */
type ReadCell = (lines: readonly string[]) => Blocks

/** `+-----+-----+` */
export function isGridBorder(line: string): boolean {
  return /^\+(?:-+\+)+$/.test(line)
}

/** `=====  =====`: at least two columns. */
export function isSimpleBorder(line: string): boolean {
  return /^=+(?: +=+)+$/.test(line)
}

/** Limit of search steps per character, which is enough for any hand-drawn table. */
const MAX_STEPS_PER_CHAR = 50

/** The area of a cell in a drawn table. */
interface CellArea {
  readonly top: number
  readonly left: number
  readonly bottom: number
  readonly right: number
}

/** A table with borders around every cell; undefined when its borders do not meet. */
export function parseGrid(lines: readonly string[], readCell: ReadCell): Table | undefined {
  const rule = lines.findIndex((line) => /^\+(?:=+\+)+$/.test(line))
  const drawn = lines.map((line, i) => (i === rule ? line.replaceAll('=', '-') : line))
  const boxes = findBoxes(drawn)
  if (boxes === undefined || boxes.length === 0) return undefined
  const tops = [...new Set(boxes.map(({ top }) => top))].sort((a, b) => a - b)
  const edges = new Set(boxes.flatMap(({ left, right }) => [left, right]))
  const columns = [...edges].sort((a, b) => a - b)
  const columnAt = new Map(columns.map((column, i) => [column, i]))
  const rowAt = new Map([...tops, lines.length - 1].map((row, i) => [row, i]))
  const rows: TableCell[][] = tops.map(() => [])
  for (const { top, left, bottom, right } of boxes.sort((a, b) => a.top - b.top || a.left - b.left)) {
    const text = drawn.slice(top + 1, bottom).map((line) => line.slice(left + 1, right).trimEnd())
    const row = rowAt.get(top) ?? 0
    rows[row]?.push({
      blocks: readCell(text),
      columns: (columnAt.get(right) ?? 0) - (columnAt.get(left) ?? 0),
      rows: (rowAt.get(bottom) ?? row + 1) - row,
    })
  }
  return { rows, headerRows: rule < 0 ? 0 : tops.filter((top) => top < rule).length }
}

/** The cells of a drawing, found from their upper left corners; undefined when they do not fill it. */
function findBoxes(lines: readonly string[]): CellArea[] | undefined {
  const bottom = lines.length - 1
  const right = (lines[0]?.length ?? 0) - 1
  const boxes: CellArea[] = []
  const corners: [number, number][] = [[0, 0]]
  const seen = new Set<string>()
  let steps = MAX_STEPS_PER_CHAR * (right + 1) * (bottom + 1)
  let area = 0
  for (let corner = corners.pop(); corner !== undefined; corner = corners.pop()) {
    const [top, left] = corner
    const key = `${top} ${left}`
    if (seen.has(key) || top >= bottom || left >= right) continue
    seen.add(key)
    const found = findBox(lines, top, left, steps)
    steps -= found.steps
    if (steps < 0) return undefined
    // A corner on the border of a spanning cell does not start a cell, so finding no box here is not an error.
    if (found.box === undefined) continue
    area += (found.box.right - left) * (found.box.bottom - top)
    boxes.push(found.box)
    corners.push([top, found.box.right], [found.box.bottom, left])
  }
  return area === right * bottom ? boxes : undefined
}

function findBox(
  lines: readonly string[],
  top: number,
  left: number,
  maxSteps: number,
): { box: CellArea | undefined; steps: number } {
  const first = lines[top] ?? ''
  let steps = 0
  for (let right = left + 1; right < first.length; right++) {
    steps++
    const sign = first[right]
    if (sign !== '+' && sign !== '-') break
    if (sign !== '+') continue
    for (let bottom = top + 1; bottom < lines.length; bottom++) {
      steps++
      const line = lines[bottom] ?? ''
      if (line[right] !== '+' && line[right] !== '|') break
      if (line[right] !== '+' || line[left] !== '+') continue
      steps += right - left
      if (/^\+[-+]*$/.test(line.slice(left, right)) && isSide(lines, left, top, bottom))
        return { box: { top, left, bottom, right }, steps }
    }
    if (steps > maxSteps) break
  }
  return { box: undefined, steps }
}

function isSide(lines: readonly string[], column: number, top: number, bottom: number): boolean {
  for (let row = top + 1; row < bottom; row++)
    if (lines[row]?.[column] !== '|' && lines[row]?.[column] !== '+') return false
  return true
}

/** The character range of a cell (`end` exclusive), and the number of table columns that it spans. */
interface Span {
  readonly start: number
  readonly end: number
  readonly columns: number
}

/** A table whose columns are marked by rules; undefined when no rule ends it. */
export function parseSimple(
  lines: readonly string[],
  start: number,
  readCell: ReadCell,
): { readonly table: Table; readonly end: number } | undefined {
  const border = lines[start] ?? ''
  const end = endOfSimple(lines, start)
  if (end === undefined) return undefined
  const columns = spansOf(border)
  const body = lines.slice(start + 1, end)
  const header = body.findIndex(isSimpleBorder)
  const rows: TableCell[][] = []
  let headerRows = 0
  let pending: string[] = []
  const finish = (spans: readonly Span[]) => {
    if (pending.some((line) => !isBlank(line)) && rows.length <= DOCUMENT_LIMITS.rows) {
      rows.push(
        spans.map(({ start: from, end: to, columns: count }) => ({
          blocks: readCell(pending.map((line) => line.slice(from, to).trimEnd())),
          columns: count,
          rows: 1,
        })),
      )
    }
    pending = []
  }
  for (const [i, line] of body.entries()) {
    if (i === header) {
      finish(columns)
      headerRows = rows.length
    } else if (isSpanRule(line)) finish(mergeSpans(columns, spansOf(line)))
    else {
      // A row starts where the first column has text; other lines continue the row.
      const isNew = !isBlank(line.slice(0, columns[0]?.end))
      if (isNew) finish(columns)
      pending.push(line)
    }
  }
  finish(columns)
  return { table: { rows, headerRows }, end: end + 1 }
}

/** Index of the rule that ends a table: the first rule before a blank line, at the latest the second rule below the top border. */
function endOfSimple(lines: readonly string[], start: number): number | undefined {
  let ruleCount = 0
  for (let i = start + 1; i < lines.length; i++) {
    if (!isSimpleBorder(lines[i] ?? '')) continue
    ruleCount++
    if (ruleCount === 2 || isBlank(lines[i + 1] ?? '')) return i
  }
  return undefined
}

function isSpanRule(line: string): boolean {
  return /^-+(?: +-+)*$/.test(line) && line.length > 3
}

/** The spans of a rule; the last column is open-ended. */
function spansOf(rule: string): Span[] {
  const runs = Array.from(rule.matchAll(/[=-]+/g), (run) => run.index)
  return runs.map((start, i) => ({ start, end: runs[i + 1] ?? Number.POSITIVE_INFINITY, columns: 1 }))
}

function mergeSpans(columns: readonly Span[], spans: readonly Span[]): Span[] {
  return spans.map(({ start, end }) => ({
    start,
    end,
    columns: Math.max(1, columns.filter((column) => column.start >= start && column.start < end).length),
  }))
}
