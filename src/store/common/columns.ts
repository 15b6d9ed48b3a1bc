/*
 * Columns of tables, listed once for both stores as a text such as `key, checked_at`. A record holds each column in the field of the same
 * name in camel case: `checkedAt`.
 */

/** The names in a list of columns. */
export function listColumns(columns: string): string[] {
  return columns.split(/,\s*/)
}

/** SQL that selects columns under the names of their fields. `table` is the alias of their table. */
export function selectColumns(columns: string, table?: string): string {
  const prefix = table === undefined ? '' : `${table}.`
  return listColumns(columns)
    .map((column) => (fieldOf(column) === column ? `${prefix}${column}` : `${prefix}${column} AS "${fieldOf(column)}"`))
    .join(', ')
}

/** The values of a record, in the order of the columns. */
export function valuesOf(columns: string, record: object): unknown[] {
  const fields = new Map<string, unknown>(Object.entries(record))
  return listColumns(columns).map((column) => fields.get(fieldOf(column)))
}

function fieldOf(column: string): string {
  return column.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}
