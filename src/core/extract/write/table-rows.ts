import type { Element } from '../../html/tree.ts'

/** The largest span that HTML allows for a cell. */
const MAX_SPAN = 1000

export interface SourceCell {
  readonly element: Element
  readonly columns: number
  readonly rows: number
}

export interface SourceRow {
  readonly cells: readonly SourceCell[]
  /** Whether the row names the columns. */
  readonly isHeader: boolean
}

export interface SourceTable {
  /** Captions and title rows above the rows. */
  readonly titles: readonly Element[]
  readonly rows: readonly SourceRow[]
}

export function readTable(table: Element): SourceTable {
  const titles: Element[] = []
  const rows: SourceRow[] = []
  collectRows(table, false, titles, rows)
  const [first, second] = rows
  const title = first === undefined ? undefined : titleIn(first)
  const body = rows.slice(1)
  // A header row above another header row groups its columns, and a row above many columns is an ordinary row; neither is a title.
  const isGroupHeader = first?.isHeader === true && second?.isHeader === true
  return title === undefined || isGroupHeader || body.some(isWide)
    ? { titles, rows }
    : { titles: [...titles, title], rows: body }
}

function isWide({ cells }: SourceRow): boolean {
  return cells.length > 2
}

/** One header cell over the whole width names the table rather than a column. */
function titleIn({ cells, isHeader }: SourceRow): Element | undefined {
  const [first] = cells
  if (first === undefined || cells.length > 1 || first.columns === 1) return undefined
  return isHeader || first.element.name === 'th' ? first.element : undefined
}

function collectRows(parent: Element, isHead: boolean, titles: Element[], rows: SourceRow[]): void {
  const footers: Element[] = []
  for (const child of parent.elements()) {
    if (child.name === 'tr') rows.push(readRow(child, isHead))
    else if (child.name === 'caption') titles.push(child)
    else if (child.name === 'td' || child.name === 'th') rows.push({ cells: [readCell(child)], isHeader: isHead })
    else if (child.name === 'tfoot') footers.push(child)
    else if (child.name !== 'colgroup' && child.name !== 'col') collectRows(child, child.name === 'thead', titles, rows)
  }
  // The footer may precede the rows that it sums up.
  for (const footer of footers) collectRows(footer, false, titles, rows)
}

function readRow(row: Element, isHead: boolean): SourceRow {
  const cells = [...row.elements()].map(readCell)
  const hasNames = cells.every(({ element }) => element.name === 'th') && (cells.length > 1 || cells[0]?.columns === 1)
  return { cells, isHeader: isHead || hasNames }
}

function readCell(element: Element): SourceCell {
  return { element, columns: spanOf(element, 'colspan'), rows: spanOf(element, 'rowspan') }
}

function spanOf(cell: Element, name: string): number {
  const value = cell.attribute(name)
  if (value === undefined) return 1
  const span = Number.parseInt(value, 10)
  // A rowspan of zero means all remaining rows.
  if (span === 0 && name === 'rowspan') return MAX_SPAN
  return span >= 1 ? Math.min(span, MAX_SPAN) : 1
}
