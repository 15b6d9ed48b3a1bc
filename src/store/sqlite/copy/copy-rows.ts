import type { Page } from '../../../core/model.ts'
import { writeLayout } from '../../../core/retrieval/page-layout.ts'
import { type Cell, type CopyRow, type CopyTable, columnPositions } from '../../../library/copy/table-columns.ts'
import type { IdRange } from '../../../library/ports/library-copy.ts'
import { parseStored } from '../../common/damage.ts'
import type { Database } from '../database/database.ts'
import { packHash, type StoredHash, unpackHash } from '../database/hash.ts'
import { createLayouts } from '../database/layouts.ts'

/* Names and encodings of library rows in SQLite. */

/** A value that SQLite can store. */
export type SqliteValue = string | number | Uint8Array | null

/** Columns that have another name in SQLite. */
const COLUMN_NAMES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  url_aliases: { is_there: '"exists"' },
  analysis_runs: { is_verbose: 'verbose', number: 'rowid' },
  crawl_jobs: { number: 'rowid' },
  place_sources: { number: 'rowid' },
  pages: { layout: '(SELECT y.layout FROM layouts y WHERE y.id = pages.id)' },
}

export function columnName({ name }: CopyTable, column: string): string {
  return COLUMN_NAMES[name]?.[column] ?? column
}

/** The hidden sources. */
const HIDDEN = 'SELECT id FROM sources WHERE is_removed = 1'

/** SQL conditions that leave out rows of hidden sources, unless a number range selects rows explicitly. */
export function writeConditions(table: CopyTable, range: IdRange | undefined, hasHidden: boolean): string[] {
  const [first = ''] = table.key
  if (range !== undefined)
    return [`${columnName(table, first)} > ${range.after}`, `${columnName(table, first)} <= ${range.upTo}`]
  const { owner } = table
  if (owner === undefined || !hasHidden) return []
  const hidden = owner.of === 'sources' ? HIDDEN : `SELECT id FROM ledger WHERE source IN (${HIDDEN})`
  return [`${columnName(table, owner.column)} NOT IN (${hidden})`]
}

/** Converts rows of the database into their portable form. */
export function createRowReader(db: Database, table: CopyTable): (values: readonly unknown[]) => CopyRow {
  const readers = table.columns.map(({ type }) => CELL_READERS[type])
  const complete = table.name === 'pages' ? createPageReader(db, table) : (row: CopyRow) => row
  return (values) => complete(values.map((value, i) => (value === null ? null : (readers[i] ?? keepValue)(value))))
}

const keepValue = (value: unknown): Cell => value as Cell

const CELL_READERS: Readonly<Partial<Record<string, (value: unknown) => Cell>>> = {
  boolean: (value) => value === 1,
  hash: (value) => unpackHash(value as StoredHash),
}

/** Computes the layout of pages that were stored before layouts existed. */
function createPageReader(db: Database, table: CopyTable): (row: CopyRow) => CopyRow {
  const layouts = createLayouts(db)
  const [layout = 0, meta = 0, markdown = 0, first = 0, count = 0] = columnPositions(table, [
    'layout',
    'meta',
    'markdown',
    'first_chunk',
    'chunk_count',
  ])
  return (row) => {
    if (row[layout] !== null) return row
    // The JSON was written by content.ts.
    const { sections } = parseStored<Page>(String(row[meta]))
    const spans = layouts.listSpans(Number(row[first]), Number(row[count]))
    return row.with(layout, writeLayout({ markdown: String(row[markdown]), sections }, spans))
  }
}

/** Converts a value for storage. */
export function packCell(cell: Cell, type: string): SqliteValue {
  if (typeof cell === 'boolean') return cell ? 1 : 0
  return type === 'hash' && typeof cell === 'string' ? packHash(cell) : cell
}
