import { escapeHtml } from '../../core/html/escape.ts'
import { DOCUMENT_LIMITS } from '../document.ts'
import { type Cell, writeTable } from '../markup.ts'

/* Tables of tbl: options, column formats, and rows of cells separated by tabs. */

/** Converts the lines of a cell to HTML. */
type WriteCell = (lines: readonly string[]) => string

/** Writes the lines between `.TS` and `.TE` as a table. */
export function writeTbl(lines: readonly string[], writeCell: WriteCell): string {
  let at = 0
  let separator = '\t'
  if (lines[0]?.trimEnd().endsWith(';') === true) {
    separator = /\btab\s*\(\s*(\S)\s*\)/.exec(lines[0])?.[1] ?? '\t'
    at = 1
  }
  const formats: Format[][] = []
  let formatsBeforeRule = -1
  for (; at < lines.length; at++) {
    const line = lines[at] ?? ''
    // A rule among the formats is drawn between the rows.
    if (/^\s*[_=-][\s_=-]*$/.test(line)) formatsBeforeRule = formats.length
    else for (const format of line.split(',')) formats.push(parseFormat(format))
    if (line.trimEnd().endsWith('.')) break
  }
  const { rows, rowsBeforeRule } = readRows(lines.slice(at + 1), separator)
  const written = rows
    .slice(0, DOCUMENT_LIMITS.rows + 1)
    .map((row, i) => writeRow(row, formats[Math.min(i, formats.length - 1)] ?? [], writeCell))
  const isFirstBold = formats.length > 1 && (formats[0] ?? []).some(({ isBold }) => isBold)
  const isHeader = rowsBeforeRule === 1 || formatsBeforeRule === 1 || isFirstBold
  return writeTable(written, isHeader && written.length > 1 ? 1 : 0)
}

interface Format {
  /** Whether the previous cell spans this one. */
  readonly isSpan: boolean
  readonly isBold: boolean
}

function parseFormat(line: string): Format[] {
  const columns = line
    .replace(/\([^()]*\)|\.\s*$/g, '')
    .replace(/\bf\[?(?:B|I|R|CW|C)\]?/gi, (font) => (/b/i.test(font) ? 'b' : ''))
    .match(/[lrcnasLRCNAS^][^lrcnasLRCNAS^]*/g)
  return (columns ?? []).map((column) => ({ isSpan: /^s/i.test(column), isBold: /b/i.test(column) }))
}

interface Rows {
  readonly rows: readonly (readonly (readonly string[])[])[]
  /** Number of rows before the first rule; -1 when there is none. */
  readonly rowsBeforeRule: number
}

function readRows(lines: readonly string[], separator: string): Rows {
  const rows: string[][][] = []
  let rowsBeforeRule = -1
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? ''
    if (/^[_=]+$/.test(line.trim())) {
      if (rowsBeforeRule < 0 && rows.length > 0) rowsBeforeRule = rows.length
      continue
    }
    // The format may change in the middle of a table.
    if (line.startsWith('.T&')) while (at + 1 < lines.length && lines[at]?.trimEnd().endsWith('.') !== true) at++
    if (/^[.']/.test(line)) continue
    const { row, end } = readRow(lines, at, separator)
    at = end
    rows.push(row)
  }
  return { rows, rowsBeforeRule }
}

/** Reads a row; a cell may contain several lines between `T{` and `T}`. */
function readRow(
  lines: readonly string[],
  start: number,
  separator: string,
): { readonly row: string[][]; readonly end: number } {
  const row: string[][] = []
  let at = start
  for (let cells = (lines[start] ?? '').split(separator); ; ) {
    const last = cells.at(-1)?.trim()
    for (const cell of last === 'T{' ? cells.slice(0, -1) : cells) row.push([cell])
    if (last !== 'T{') return { row, end: at }
    const text: string[] = []
    for (at++; at < lines.length && lines[at]?.startsWith('T}') !== true; at++) text.push(lines[at] ?? '')
    row.push(text)
    const rest = (lines[at] ?? '').slice(2)
    if (!rest.startsWith(separator)) return { row, end: at }
    cells = rest.slice(separator.length).split(separator)
  }
}

function writeRow(row: readonly (readonly string[])[], formats: readonly Format[], writeCell: WriteCell): Cell[] {
  const cells: { html: string; columns: number }[] = []
  let column = 0
  for (const lines of row.slice(0, DOCUMENT_LIMITS.columns)) {
    const isSpanned = lines.length === 1 && lines[0]?.trim() === '\\^'
    cells.push({ html: isSpanned ? escapeHtml('″') : writeCell(lines), columns: 1 })
    for (column++; formats[column]?.isSpan === true; column++) {
      const last = cells.at(-1)
      if (last !== undefined) last.columns++
    }
  }
  return cells
}
