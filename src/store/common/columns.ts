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

/** SQL that sets columns to the values of a row that could not be inserted. */
export function setExcluded(columns: string): string {
  return listColumns(columns)
    .map((column) => `${column} = excluded.${column}`)
    .join(', ')
}

const fieldsOf = new Map<string, readonly string[]>()

/** The values of a record, in the order of the columns. */
export function valuesOf(columns: string, record: object): unknown[] {
  const fields = fieldsOf.get(columns) ?? listColumns(columns).map(fieldOf)
  fieldsOf.set(columns, fields)
  return fields.map((field) => {
    const value = (record as Readonly<Record<string, unknown>>)[field]
    if (value === undefined) throw new TypeError(`expected a value for the field ${field}, got none`)
    return value
  })
}

function fieldOf(column: string): string {
  return column.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}
