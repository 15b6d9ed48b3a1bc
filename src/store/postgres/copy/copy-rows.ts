import type { Cell, CellType, CopyColumn, CopyRow, CopyTable } from '../../../library/copy/table-columns.ts'
import type { IdRange } from '../../../library/ports/library-copy.ts'
import { packHash, unpackHash } from '../../common/hash.ts'

/* Names and encodings of library rows in PostgreSQL. */

/** The PostgreSQL array type of each cell type. */
const ARRAY_TYPES: Readonly<Record<CellType, string>> = {
  text: 'text[]',
  whole: 'bigint[]',
  real: 'double precision[]',
  boolean: 'boolean[]',
  hash: 'bytea[]',
  bytes: 'bytea[]',
}

/** SQL for rows `s` from one array parameter per column, starting at `$first`. */
export function writeUnnest(columns: readonly CopyColumn[], first = 1): string {
  const arrays = columns.map(({ type }, i) => `$${first + i}::${ARRAY_TYPES[type]}`)
  return `unnest(${arrays.join(', ')}) AS s (${columns.map(({ name }) => name).join(', ')})`
}

/** The read order: byte order, whatever the collation of the database. */
export function writeOrderBy({ columns, key }: CopyTable): string {
  return key
    .map((name) => (columns.find((column) => column.name === name)?.type === 'text' ? `${name} COLLATE "C"` : name))
    .join(', ')
}

/** The hidden sources. */
const HIDDEN = 'SELECT id FROM sources WHERE is_removed'

/** The WHERE clause that leaves out rows of hidden sources, unless a number range selects rows explicitly. */
export function writeWhere({ key, owner }: CopyTable, range: IdRange | undefined, hasHidden: boolean): string {
  if (range !== undefined) return `WHERE ${key[0]} > ${range.after} AND ${key[0]} <= ${range.upTo}`
  if (owner === undefined || !hasHidden) return ''
  const hidden = owner.of === 'sources' ? HIDDEN : `SELECT id FROM ledger WHERE source IN (${HIDDEN})`
  return `WHERE ${owner.column} NOT IN (${hidden})`
}

/** Converts rows of the database into their portable form. */
export function createRowReader({ columns }: CopyTable): (found: Readonly<Record<string, unknown>>) => CopyRow {
  return (found) =>
    columns.map(({ name, type }) => {
      const value = found[name] as Cell
      return type === 'hash' && value instanceof Uint8Array ? unpackHash(value) : value
    })
}

/** Converts rows into one array per column. */
export function toArrays(
  columns: readonly (CopyColumn & { readonly position: number })[],
  rows: readonly CopyRow[],
): unknown[][] {
  return columns.map(({ type, position }) =>
    rows.map((row) => {
      const cell = row[position] ?? null
      return type === 'hash' && typeof cell === 'string' ? packHash(cell) : cell
    }),
  )
}
