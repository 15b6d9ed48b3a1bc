/** Columns that a table of places may have. */
const COLUMNS = [
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

/** Reads the first line of a table: its columns and what stands between them, or what is wrong with it. */
export function readColumns(
  line: string,
): { readonly columns: readonly string[]; readonly separator: string } | string {
  const separator = ['\t', ';'].find((one) => line.includes(one)) ?? ','
  const columns = (splitRow(line, separator) ?? []).map((column) => column.trim().toLowerCase())
  if (!columns.includes('name'))
    return `its first line names no column "name", got ${JSON.stringify(line.slice(0, 80))}`
  const strange = columns.filter((column) => !COLUMNS.includes(column))
  if (strange.length > 0) return `there is no column ${JSON.stringify(strange[0])}; there are ${COLUMNS.join(', ')}`
  return { columns, separator }
}

/** A row as far as it was read. */
export interface OpenRow {
  readonly text: string
  /** Of its beginning. */
  readonly line: number
  /** Whether it goes on in the next line. */
  readonly isOpen: boolean
}

/** Adds a line to a row, or begins one with it. */
export function joinCsvRows(open: OpenRow | undefined, line: string, number: number): OpenRow {
  const text = open === undefined ? line : `${open.text}\n${line}`
  const quotes = text.split('"').length - 1
  return { text, line: open?.line ?? number, isOpen: quotes % 2 === 1 }
}

/** The fields of a row, as RFC 4180 writes them; undefined where it is none. */
export function splitRow(row: string, separator: string): string[] | undefined {
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
