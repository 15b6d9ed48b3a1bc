import { type ConversionResult, DOCUMENT_LIMITS, DocumentError } from '../document.ts'
import {
  checkTextLength,
  type OfficeBlock,
  type OfficeRow,
  writeBlocks,
  writeRun,
  writeTable,
} from './office-blocks.ts'
import { createOfficeDocument } from './office-document.ts'
import { OfficePackage } from './office-package.ts'
import { readKinds } from './xlsx-formats.ts'
import { type BookContext, type CellRange, readSheet, readStrings, type Sheet } from './xlsx-sheet.ts'

/** Converts a workbook to a page: one table per sheet, with the values of its formulas. Hidden sheets are named and left out. */
export function convertXlsx(bytes: Uint8Array): ConversionResult {
  const file = new OfficePackage(bytes)
  const { main } = file
  const book = file.root('workbook')
  const sheets = [...(book.find('sheets')?.elements('sheet') ?? [])]
  if (sheets.length > DOCUMENT_LIMITS.pages) {
    throw new DocumentError('too-large', `it has ${sheets.length} sheets, more than ${DOCUMENT_LIMITS.pages}`)
  }
  const strings = file.relatedName(main, 'sharedStrings')
  const date1904 = book.find('workbookPr')?.attribute('date1904')
  const context: BookContext = {
    strings: readStrings(strings === undefined ? undefined : file.bytes(strings)),
    kinds: readKinds(file.related(main, 'styles')),
    is1904: date1904 === '1' || date1904 === 'true',
  }
  const parts = file.relations(main)
  const blocks: OfficeBlock[] = []
  const hidden: string[] = []
  for (const sheet of sheets) {
    const name = sheet.attribute('name') ?? ''
    const part = parts.get(sheet.prefixed('id') ?? '')
    // A sheet may also be a chart, which has no cells.
    if (part === undefined || part.isExternal || part.type !== 'worksheet') continue
    if ((sheet.attribute('state') ?? 'visible') !== 'visible') hidden.push(name)
    else
      for (const block of writeSheet(name, readSheet(file.bytes(part.target) ?? new Uint8Array(), context)))
        blocks.push(block)
  }
  if (blocks.length > 0 && hidden.length > 0) {
    blocks.push({ type: 'paragraph', html: writeRun(`Hidden sheets, left out: ${hidden.join(', ')}.`, {}) })
  }
  const { metadata } = file
  const title: OfficeBlock[] =
    metadata.title === null ? [] : [{ type: 'heading', level: 1, html: writeRun(metadata.title, {}) }]
  return createOfficeDocument(metadata, blocks.length === 0 ? '' : writeBlocks([...title, ...blocks]))
}

function writeSheet(name: string, sheet: Sheet): OfficeBlock[] {
  if (sheet.rows.size === 0) return []
  let characters = 0
  for (const row of sheet.rows.values()) for (const text of row.values()) characters += text.length
  checkTextLength(characters)
  const columnCount = new Set([...sheet.rows.values()].flatMap((row) => [...row.keys()])).size
  const allRowNumbers = [...sheet.rows.keys()].sort((a, b) => a - b)
  const rowNumbers = allRowNumbers.slice(0, Math.floor(DOCUMENT_LIMITS.cells / Math.max(1, columnCount)))
  const omittedRows = sheet.omittedRows + allRowNumbers.length - rowNumbers.length
  const titleCount = countTitles(sheet, rowNumbers)
  const blocks: OfficeBlock[] = [{ type: 'heading', level: 2, html: writeRun(name, {}), id: name }]
  for (const number of rowNumbers.slice(0, titleCount)) {
    for (const text of sheet.rows.get(number)?.values() ?? [])
      blocks.push({ type: 'paragraph', html: writeRun(text, {}) })
  }
  blocks.push({ type: 'markup', html: writeTable(arrangeRows(sheet, rowNumbers.slice(titleCount))) })
  const leftOut = [
    ...(omittedRows > 0 ? [`${omittedRows} further rows`] : []),
    ...(sheet.omittedColumns > 0 ? [`${sheet.omittedColumns} further columns`] : []),
  ]
  if (leftOut.length > 0) blocks.push({ type: 'paragraph', html: `${leftOut.join(' and ')} are left out.` })
  return blocks
}

const MAX_TITLES = 3

/** Number of rows at the top with a single text each: they are titles rather than column headings. */
function countTitles({ rows }: Sheet, rowNumbers: readonly number[]): number {
  const first = rowNumbers.findIndex((number) => (rows.get(number)?.size ?? 0) > 1)
  return first > MAX_TITLES ? 0 : Math.max(0, first)
}

/** The given rows from the first to the last non-empty column. The first row is the header. */
function arrangeRows({ rows, merged }: Sheet, rowNumbers: readonly number[]): OfficeRow[] {
  const columns = [...new Set([...rows.values()].flatMap((row) => [...row.keys()]))].sort((a, b) => a - b)
  const first = columns[0] ?? 0
  const last = columns.at(-1) ?? 0
  const starts = new Map(merged.map((range) => [`${range.top} ${range.left}`, range]))
  const covered = coverCells(merged, rowNumbers, last)
  return rowNumbers.map((number, i) => {
    const row = rows.get(number)
    const cells = []
    for (let column = first; column <= last; column++) {
      const key = `${number} ${column}`
      if (covered.has(key)) continue
      const range = starts.get(key)
      cells.push({
        html: writeRun(row?.get(column) ?? '', {}),
        columns: range === undefined ? 1 : Math.min(range.right, last) - column + 1,
        // The row span does not count empty rows, because they are not written.
        rows: range === undefined ? 1 : countWithin(rowNumbers, range),
      })
    }
    return { cells, isHeader: i === 0 }
  })
}

/** Cells that a merged cell covers, within the written area. */
function coverCells(merged: readonly CellRange[], rowNumbers: readonly number[], last: number): Set<string> {
  const covered = new Set<string>()
  for (const { top, left, bottom, right } of merged) {
    for (let i = firstFrom(rowNumbers, top); (rowNumbers[i] ?? Number.POSITIVE_INFINITY) <= bottom; i++) {
      for (let column = left; column <= Math.min(right, last); column++) {
        if (covered.size >= MAX_COVERED) return covered
        if (rowNumbers[i] !== top || column !== left) covered.add(`${rowNumbers[i]} ${column}`)
      }
    }
  }
  return covered
}

const MAX_COVERED = 500_000

function countWithin(rowNumbers: readonly number[], { top, bottom }: CellRange): number {
  return Math.max(1, firstFrom(rowNumbers, bottom + 1) - firstFrom(rowNumbers, top))
}

/** Index of the first row number that is at least `min`. The row numbers are sorted. */
function firstFrom(rowNumbers: readonly number[], min: number): number {
  let low = 0
  let high = rowNumbers.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((rowNumbers[middle] ?? 0) < min) low = middle + 1
    else high = middle
  }
  return low
}
