/** Columns that a table of places may have. */
export const COLUMNS: readonly string[] = [
  'ref',
  'name',
  'names',
  'lang',
  'kind',
  'country',
  'adm1',
  'adm2',
  'lat',
  'lng',
  'population',
  'timezone',
  'status',
]

/** Reads the first line of a table: its columns and separator, or the problem with it. */
export function readColumns(
  line: string,
): { readonly columns: readonly string[]; readonly separator: string } | string {
  const separator = ['\t', ';'].find((mark) => line.includes(mark)) ?? ','
  const columns = (splitRow(line, separator) ?? []).map((column) => column.trim().toLowerCase())
  if (!columns.includes('name')) return `the first line has no column "name", got ${JSON.stringify(line.slice(0, 80))}`
  const unknownColumns = columns.filter((column) => !COLUMNS.includes(column))
  if (unknownColumns.length > 0)
    return `unknown column ${JSON.stringify(unknownColumns[0])}; known columns are ${COLUMNS.join(', ')}`
  return { columns, separator }
}

/** A line of a file. */
export interface NumberedLine {
  readonly text: string
  readonly number: number
}

/** A row of a table, or the problem with it. */
export type CsvRow =
  | { readonly line: number; readonly fields: readonly string[] }
  | { readonly line: number; readonly problem: string }

/** Limit of lines per row, because an unclosed quotation mark would include the rest of the file. */
const MAX_ROW_LINES = 50
/** Limit of characters per row. */
const MAX_ROW_LENGTH = 1_000_000

/**
 * Reads rows, whose quoted fields may have line breaks. When a row is invalid, only its first line is skipped, and the following lines are
 * read as rows.
 */
export async function* readRows(
  lines: AsyncIterator<NumberedLine, unknown>,
  { columns, separator }: { readonly columns: readonly string[]; readonly separator: string },
): AsyncGenerator<CsvRow> {
  const pushedBack: NumberedLine[] = []
  let row: NumberedLine[] = []
  let length = 0
  let isOpen = false
  const nextLine = async (): Promise<NumberedLine | undefined> => {
    const waiting = pushedBack.pop()
    if (waiting !== undefined) return waiting
    const next = await lines.next()
    return next.done === true ? undefined : next.value
  }
  const takeRow = (): readonly NumberedLine[] => {
    const taken = row
    row = []
    length = 0
    isOpen = false
    return taken
  }
  const fail = (problem: string): CsvRow => {
    const [first, ...others] = takeRow()
    pushedBack.push(...others.reverse())
    const more = others.length === 0 ? '' : `; the ${others.length} lines after it were read as separate rows`
    return { line: first?.number ?? 0, problem: problem + more }
  }
  for (;;) {
    const line = await nextLine()
    if (line === undefined && row.length === 0) return
    if (line !== undefined) {
      if (line.text.trim() === '' && !isOpen) continue
      row.push(line)
      length += line.text.length
      // Only the new line is checked, because checking the whole row for each line would take quadratic time. A quotation mark inside an
      // unquoted field opens nothing.
      const hasOddQuotes = line.text.split('"').length % 2 === 0
      isOpen = row.length === 1 ? hasOddQuotes && splitRow(line.text, separator) === undefined : isOpen !== hasOddQuotes
    }
    if (isOpen && line !== undefined && row.length < MAX_ROW_LINES && length <= MAX_ROW_LENGTH) continue
    const fields = isOpen ? undefined : splitRow(row.map(({ text }) => text).join('\n'), separator)
    if (fields === undefined) yield fail('a quotation mark is not closed')
    else if (fields.length > columns.length)
      yield fail(`${fields.length} fields, more than the ${columns.length} columns`)
    else yield { line: takeRow()[0]?.number ?? 0, fields }
  }
}

/** The fields of a row in RFC 4180 format; undefined for an invalid row. */
function splitRow(row: string, separator: string): string[] | undefined {
  const fields: string[] = []
  for (let at = 0; at <= row.length; ) {
    if (row[at] !== '"') {
      const end = row.indexOf(separator, at)
      fields.push(row.slice(at, end < 0 ? row.length : end).trim())
      at = end < 0 ? row.length + 1 : end + 1
      continue
    }
    const quoted = /"((?:[^"]|"")*)"/y
    quoted.lastIndex = at
    const found = quoted.exec(row)
    if (found === null) return undefined
    fields.push((found[1] ?? '').replaceAll('""', '"'))
    at = quoted.lastIndex
    if (at < row.length && row[at] !== separator) return undefined
    at++
  }
  return fields
}
