import type { Cell, CellType, HeldColumn, HeldRow, HeldTable } from '../../library/held-tables.ts'
import type { NumberRange } from '../../library/holdings.ts'
import { packHash, unpackHash } from '../common/hash.ts'

/* How the rows of a library are named and packed here. */

/** Tables that are called otherwise here. */
const TABLE_NAMES: Readonly<Record<string, string>> = { canonical_names: 'places' }

/** What an array of such values is to the server. */
const ARRAY_TYPES: Readonly<Record<CellType, string>> = {
  text: 'text[]',
  whole: 'bigint[]',
  real: 'double precision[]',
  boolean: 'boolean[]',
  hash: 'bytea[]',
  bytes: 'bytea[]',
}

export function tableName({ name }: HeldTable): string {
  return TABLE_NAMES[name] ?? name
}

/** Rows as `s`, out of an array for each column, from the parameter `$first` on. */
export function unnested(columns: readonly HeldColumn[], first = 1): string {
  const arrays = columns.map(({ type }, i) => `$${first + i}::${ARRAY_TYPES[type]}`)
  return `unnest(${arrays.join(', ')}) AS s (${columns.map(({ name }) => name).join(', ')})`
}

/** The order in which rows are read: that of bytes, whatever the database was made with. */
export function orderOf({ columns, key }: HeldTable): string {
  return key
    .map((name) => (columns.find((column) => column.name === name)?.type === 'text' ? `${name} COLLATE "C"` : name))
    .join(', ')
}

/** The sources that nobody sees. */
const HIDDEN = 'SELECT id FROM sources WHERE is_removed'

/** Rows that are of sources which nobody sees are left out, unless they are asked for by their numbers. */
export function whereOf({ key, owner }: HeldTable, range: NumberRange | undefined, hasHidden: boolean): string {
  if (range !== undefined) return `WHERE ${key[0]} > ${range.after} AND ${key[0]} <= ${range.upTo}`
  if (owner === undefined || !hasHidden) return ''
  const hidden = owner.of === 'sources' ? HIDDEN : `SELECT id FROM ledger WHERE source IN (${HIDDEN})`
  return `WHERE ${owner.column} NOT IN (${hidden})`
}

/** Turns rows as the server gives them into what they are everywhere. */
export function createRowReader({ columns }: HeldTable): (found: Readonly<Record<string, unknown>>) => HeldRow {
  return (found) =>
    columns.map(({ name, type }) => {
      const value = found[name] as Cell
      return type === 'hash' && value instanceof Uint8Array ? unpackHash(value) : value
    })
}

/** An array for each column. */
export function toArrays(
  columns: readonly (HeldColumn & { readonly place: number })[],
  rows: readonly HeldRow[],
): unknown[][] {
  return columns.map(({ type, place }) =>
    rows.map((row) => {
      const cell = row[place] ?? null
      return type === 'hash' && typeof cell === 'string' ? packHash(cell) : cell
    }),
  )
}
