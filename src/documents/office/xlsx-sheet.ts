import { DOCUMENT_LIMITS } from '../document.ts'
import { findAttribute, readXml } from '../xml-tree.ts'
import { type NumberKind, writeNumber } from './xlsx-formats.ts'

/** Workbook data that cells refer to. */
export interface BookContext {
  readonly strings: readonly string[]
  readonly kinds: readonly NumberKind[]
  readonly is1904: boolean
}

/** The non-empty cells of a sheet, up to the limits of tables. */
export interface Sheet {
  /** By row and column, from 0. */
  readonly rows: ReadonlyMap<number, ReadonlyMap<number, string>>
  readonly merged: readonly CellRange[]
  /** Number of rows and columns beyond the limits. */
  readonly omittedRows: number
  readonly omittedColumns: number
}

/** First and last row and column of merged cells, from 0. */
export interface CellRange {
  readonly top: number
  readonly left: number
  readonly bottom: number
  readonly right: number
}

const MAX_MERGED = 100_000

/** Reads a sheet row by row, because an XML tree of the sheet would take many times the memory. */
export function readSheet(bytes: Uint8Array, context: BookContext): Sheet {
  const rows = new Map<number, Map<number, string>>()
  const merged: CellRange[] = []
  let row = -1
  let column = -1
  let omittedRows = 0
  let columnCount = 0
  let cell: { readonly type: string; readonly style: number; text: string } | undefined
  let isValue = false
  let isPhonetic = false
  const addCell = (text: string) => {
    if (text === '') return
    columnCount = Math.max(columnCount, column + 1)
    if (column >= DOCUMENT_LIMITS.columns) return
    const line = rows.get(row) ?? new Map<number, string>()
    // Only non-empty rows count, because the last row of a sheet may be number 1,048,576.
    if (line.size === 0 && rows.size >= DOCUMENT_LIMITS.rows) return
    rows.set(row, line.set(column, text))
  }
  readXml(bytes, {
    open(name, attributes) {
      switch (name) {
        case 'row':
          row = parseRowIndex(findAttribute(attributes, 'r'), row)
          column = -1
          if (rows.size >= DOCUMENT_LIMITS.rows) omittedRows++
          return
        case 'c': {
          const position = parseCell(findAttribute(attributes, 'r') ?? '')
          column = position?.column ?? column + 1
          const type = findAttribute(attributes, 't') ?? 'n'
          cell = { type, style: Number(findAttribute(attributes, 's') ?? '0'), text: '' }
          return
        }
        case 'v':
        case 't':
          isValue = true
          return
        case 'rPh':
          isPhonetic = true
          return
        case 'mergeCell': {
          const range = parseRange(findAttribute(attributes, 'ref') ?? '')
          if (range !== undefined && merged.length < MAX_MERGED) merged.push(range)
        }
      }
    },
    close(name) {
      if (name === 'v' || name === 't') isValue = false
      if (name === 'rPh') isPhonetic = false
      if (name !== 'c' || cell === undefined) return
      addCell(readValue(cell.type, cell.text, cell.style, context))
      cell = undefined
    },
    text(text) {
      if (isValue && !isPhonetic && cell !== undefined) cell.text += text
    },
  })
  return { rows, merged, omittedRows, omittedColumns: Math.max(0, columnCount - DOCUMENT_LIMITS.columns) }
}

function readValue(type: string, text: string, style: number, { strings, kinds, is1904 }: BookContext): string {
  switch (type) {
    case 's':
      return strings[Number(text)] ?? ''
    case 'b':
      return text === '1' ? 'TRUE' : text === '' ? '' : 'FALSE'
    case 'n':
      return text.trim() === '' ? '' : writeNumber(Number(text), kinds[style] ?? { type: 'number' }, is1904)
    // Inline text, the result of a formula, an error, or an ISO 8601 date.
    default:
      return text
  }
}

function parseRowIndex(reference: string | undefined, previousIndex: number): number {
  const number = Number(reference)
  return Number.isInteger(number) && number > 0 ? number - 1 : previousIndex + 1
}

/** `AB12` → row 11, column 27. */
function parseCell(reference: string): { readonly row: number; readonly column: number } | undefined {
  const [, letters = '', digits = ''] = /^\$?([A-Z]{1,3})\$?(\d{1,7})$/.exec(reference) ?? []
  if (letters === '') return undefined
  let column = 0
  for (const letter of letters) column = column * 26 + letter.charCodeAt(0) - 64
  return { row: Number(digits) - 1, column: column - 1 }
}

function parseRange(reference: string): CellRange | undefined {
  const [from = '', to = ''] = reference.split(':')
  const start = parseCell(from)
  const end = parseCell(to)
  if (start === undefined || end === undefined) return undefined
  return { top: start.row, left: start.column, bottom: end.row, right: end.column }
}

/** The shared strings of cells, without phonetic annotations. */
export function readStrings(bytes: Uint8Array | undefined): string[] {
  const strings: string[] = []
  if (bytes === undefined) return strings
  let text = ''
  let isText = false
  let isPhonetic = false
  readXml(bytes, {
    open(name) {
      if (name === 'si') text = ''
      if (name === 't') isText = true
      if (name === 'rPh') isPhonetic = true
    },
    close(name) {
      if (name === 'si') strings.push(text)
      if (name === 't') isText = false
      if (name === 'rPh') isPhonetic = false
    },
    text(piece) {
      if (isText && !isPhonetic) text += piece
    },
  })
  return strings
}
