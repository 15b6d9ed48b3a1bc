import { listColumns, valuesOf } from '../../common/columns.ts'

/*
 * Many rows as parameters of one statement: one array per column. `columns` lists the columns with their types, such as
 * `key text, first_seen_at bigint`.
 */

/** SQL for the rows of {@link toArrays} as `alias`, with their position `place`; the arrays start at the parameter `first`. */
export function writeUnnest(columns: string, alias: string, first = 1): string {
  const arrays = listColumns(columns).map((column, i) => `$${first + i}::${column.replace(/^\S+ /, '')}[]`)
  return `unnest(${arrays.join(', ')}) WITH ORDINALITY AS ${alias} (${namesOf(columns)}, place)`
}

/** One array per column of the rows. */
export function toArrays(columns: string, rows: readonly object[]): unknown[][] {
  const values = rows.map((row) => valuesOf(namesOf(columns), row))
  return listColumns(columns).map((_, i) => values.map((row) => row[i]))
}

/** The names of the columns, without their types. */
export function namesOf(columns: string): string {
  return listColumns(columns)
    .map((column) => column.replace(/ .*/, ''))
    .join(', ')
}
