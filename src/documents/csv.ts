import { countOf, writeNumber } from '../core/text/count.ts'
import { clipText } from '../core/text/lines.ts'
import { baseName, extensionOf } from '../core/text/path.ts'
import { type Converter, DOCUMENT_LIMITS, DocumentError } from './document.ts'
import { escapeMarkdown } from './markdown-text.ts'
import { createDocument, readText } from './markup.ts'

/** Length limit of a cell; longer values are truncated. */
const MAX_CELL = 2000

/** Converts values separated by commas, semicolons, bars or tabs to a table. */
export const convertCsv: Converter = (bytes, path) => {
  const text = readText(bytes)
  const { rows, count, columns } = parseCsv(text, extensionOf(path) === 'tsv' ? '\t' : findSeparator(text))
  const [header = []] = rows
  if (rows.length === 0 || columns === 0) throw new DocumentError('empty', 'it has no values')
  const width = Math.min(columns, DOCUMENT_LIMITS.columns)
  const lines = [writeRow(header, width), writeRow(Array<string>(width).fill('---'), width)]
  const shownRows = rows.slice(1, 1 + Math.floor(DOCUMENT_LIMITS.cells / width))
  for (const row of shownRows) lines.push(writeRow(row, width))
  const notes = noteLimits(count - 1, shownRows.length, columns)
  const table = clipLines([...notes, ...lines])
  // The title is the file name, because the first line belongs to the table.
  return createDocument(`${table}\n`, 'markdown', { title: baseName(path) || null })
}

/** Describes the limits that the table has reached. */
function noteLimits(count: number, shownCount: number, columns: number): string[] {
  const notes: string[] = []
  if (count > shownCount) notes.push(`The first ${writeNumber(shownCount)} of ${countOf(count, 'row')} are here.`)
  if (columns > DOCUMENT_LIMITS.columns)
    notes.push(`The first ${DOCUMENT_LIMITS.columns} of ${countOf(columns, 'column')} are here.`)
  return notes.length === 0 ? [] : [notes.join(' '), '']
}

/** As many whole lines as fit into the character limit of a document. */
function clipLines(lines: readonly string[]): string {
  let remaining: number = DOCUMENT_LIMITS.characters
  let end = 0
  while (end < lines.length && remaining > 0) remaining -= (lines[end++]?.length ?? 0) + 1
  return lines.slice(0, remaining < 0 ? end - 1 : end).join('\n')
}

function writeRow(row: readonly string[], width: number): string {
  const cells = Array.from({ length: width }, (_, i) => writeCell(row[i] ?? ''))
  return `| ${cells.join(' | ')} |`
}

/** Escapes a value, because it is text and not Markdown. */
function writeCell(value: string): string {
  if (value === '') return ''
  return escapeMarkdown(clipText(value.trim(), MAX_CELL).replace(/\s+/g, ' '))
}

const SEPARATORS = [',', ';', '\t', '|']
const SAMPLE_CHARS = 10_000

/** Detects the separator: the one that splits the first two rows into equally many values, or else the first row into most values. */
function findSeparator(text: string): string {
  const sample = text.slice(0, SAMPLE_CHARS)
  let best = ','
  let bestScore = 0
  for (const separator of SEPARATORS) {
    const [first = [], second = []] = parseCsv(sample, separator).rows
    // Rows with the same number of values are a stronger sign than many values in one row.
    const score = first.length < 2 ? 0 : first.length + (first.length === second.length ? SAMPLE_CHARS : 0)
    if (score > bestScore) [best, bestScore] = [separator, score]
  }
  return best
}

export interface CsvRows {
  /** The header and the rows that are written. */
  readonly rows: readonly (readonly string[])[]
  /** Number of all rows, including the header. */
  readonly count: number
  /** Largest number of values in a row. */
  readonly columns: number
}

/** Parses RFC 4180 rows; a quotation mark inside an unquoted value is literal. */
export function parseCsv(text: string, separator: string): CsvRows {
  const rows: string[][] = []
  let count = 0
  let columns = 0
  let cells = 0
  for (let at = 0; at < text.length; ) {
    const { row, width, end } = readRow(text, at, separator)
    at = end
    if (width === 1 && row[0]?.trim() === '') continue
    count++
    columns = Math.max(columns, width)
    if (rows.length > DOCUMENT_LIMITS.rows || cells > DOCUMENT_LIMITS.cells) continue
    rows.push(row)
    cells += row.length
  }
  return { rows, count, columns }
}

interface Row {
  readonly row: string[]
  /** Number of values in the row; `row` has only those that are written. */
  readonly width: number
  readonly end: number
}

function readRow(text: string, start: number, separator: string): Row {
  const row: string[] = []
  let width = 0
  for (let at = start; ; ) {
    const { value, end } = text[at] === '"' ? readQuoted(text, at, separator) : readPlain(text, at, separator)
    width++
    if (width <= DOCUMENT_LIMITS.columns) row.push(value)
    if (text[end] === separator) at = end + 1
    else return { row, width, end: end + (text.startsWith('\r\n', end) ? 2 : 1) }
  }
}

interface Value {
  readonly value: string
  /** Position of the separator or of the line end. */
  readonly end: number
}

function readPlain(text: string, start: number, separator: string): Value {
  let end = start
  while (end < text.length && text[end] !== separator && text[end] !== '\n' && text[end] !== '\r') end++
  return { value: text.slice(start, end), end }
}

function readQuoted(text: string, start: number, separator: string): Value {
  const parts: string[] = []
  for (let at = start + 1; ; ) {
    const mark = text.indexOf('"', at)
    if (mark < 0) return { value: [...parts, text.slice(at)].join('"'), end: text.length }
    parts.push(text.slice(at, mark))
    if (text[mark + 1] === '"') at = mark + 2
    else {
      const rest = readPlain(text, mark + 1, separator)
      return { value: parts.join('"') + rest.value, end: rest.end }
    }
  }
}
