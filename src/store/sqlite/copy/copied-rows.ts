import type { ChunkIndex } from '../../../core/retrieval/index/chunk-index.ts'
import { type CopyRow, type CopyTable, columnPositions } from '../../../library/copy/table-columns.ts'
import type { RowChanges } from '../../../library/ports/library-copy.ts'
import { groupRuns, tableName } from '../../common/copy-plan.ts'
import type { Database } from '../database/database.ts'
import { columnName, packCell, type SqliteValue } from './copy-rows.ts'

/** The chunk index, which must know about added and removed chunks. */
export type IndexUpdater = Pick<ChunkIndex, 'reindex' | 'remove'>

/** Writes rows of another library inside the caller's transaction. */
export interface CopiedRowWriter {
  write(table: CopyTable, changes: RowChanges): void
  /** Writes only rows that do not exist yet. */
  writeMissing(table: CopyTable, rows: readonly CopyRow[]): void
}

/** Writes the rows of one table. */
interface TableWriter {
  has(row: CopyRow): boolean
  insert(row: CopyRow): void
  update(row: CopyRow): void
  delete(row: CopyRow): void
}

/** Creates table writers on demand. */
export function createCopiedRowWriter(db: Database, index: IndexUpdater): CopiedRowWriter {
  const writers = new Map<string, TableWriter>()
  const writerOf = (table: CopyTable): TableWriter => {
    // The same table may be written with or without row numbers.
    const writerKey = `${table.name} ${table.columns.length}`
    const writer = writers.get(writerKey) ?? createTableWriter(db, table)
    writers.set(writerKey, writer)
    return writer
  }
  return {
    write: (table, changes) => {
      const writer = writerOf(table)
      for (const row of changes.removed) writer.delete(row)
      for (const row of changes.added) writer.insert(row)
      for (const row of changes.changed) writer.update(row)
      notifyIndex(index, table, changes)
    },
    writeMissing: (table, rows) => {
      const writer = writerOf(table)
      for (const row of rows) if (!writer.has(row)) writer.insert(row)
    },
  }
}

/** Tells the index which chunks were added, changed or removed, with all chunks of changed pages, whose title may be new. */
function notifyIndex(index: IndexUpdater, table: CopyTable, { added, changed, removed }: RowChanges): void {
  if (table.name === 'pages') {
    const [first = 0, count = 0] = columnPositions(table, ['first_chunk', 'chunk_count'])
    for (const row of changed) if (row[count] !== 0) index.reindex(Number(row[first]), Number(row[count]))
  }
  if (table.name !== 'chunks') return
  const runs = (rows: readonly CopyRow[]) => groupRuns(rows.map(([id]) => Number(id)))
  for (const { first, last } of runs(removed)) index.remove(first, last - first + 1)
  for (const { first, last } of [...runs(added), ...runs(changed)]) index.reindex(first, last - first + 1)
}

function createTableWriter(db: Database, table: CopyTable): TableWriter {
  return table.name === 'pages' ? createPageWriter(db, table) : createPlainWriter(db, table)
}

function createPlainWriter(db: Database, table: CopyTable): TableWriter {
  const { columns, key } = table
  const nameOf = ({ name }: { readonly name: string }) => columnName(table, name)
  const others = columns.filter(({ name }) => !key.includes(name))
  const keyMatch = key.map((name) => `${columnName(table, name)} = ?`).join(' AND ')
  const tableSql = tableName(table)
  const select = db.prepare(`SELECT 1 FROM ${tableSql} WHERE ${keyMatch}`)
  const insert = db.prepare(
    `INSERT INTO ${tableSql} (${columns.map(nameOf).join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
  )
  const sets = others.map((column) => `${nameOf(column)} = ?`).join(', ')
  // A table whose columns are all part of the key has nothing to update.
  const update = sets === '' ? undefined : db.prepare(`UPDATE ${tableSql} SET ${sets} WHERE ${keyMatch}`)
  const remove = db.prepare(`DELETE FROM ${tableSql} WHERE ${keyMatch}`)
  const createPicker = (names: readonly string[]) => {
    const picked = columnPositions(table, names).map((position) => ({
      position,
      type: columns[position]?.type ?? 'text',
    }))
    return (row: CopyRow): SqliteValue[] => picked.map(({ position, type }) => packCell(row[position] ?? null, type))
  }
  const valuesOf = createPicker(columns.map(({ name }) => name))
  const otherValuesOf = createPicker(others.map(({ name }) => name))
  const keyOf = createPicker(key)
  return {
    has: (row) => select.get(...keyOf(row)) !== undefined,
    insert: (row) => void insert.run(...valuesOf(row)),
    update: (row) => void update?.run(...otherValuesOf(row), ...keyOf(row)),
    delete: (row) => void remove.run(...keyOf(row)),
  }
}

/** Writes pages. Layouts have their own table here, and are deleted with their page. */
function createPageWriter(db: Database, table: CopyTable): TableWriter {
  const [id = 0, layout = 0] = columnPositions(table, ['id', 'layout'])
  const {
    has,
    insert,
    update,
    delete: remove,
  } = createPlainWriter(db, {
    ...table,
    columns: table.columns.filter((_, position) => position !== layout),
  })
  const writeLayout = db.prepare('INSERT OR REPLACE INTO layouts (id, layout) VALUES (?, ?)')
  const withoutLayout = (row: CopyRow) => row.filter((_, position) => position !== layout)
  const writeWithLayout = (write: (row: CopyRow) => void) => (row: CopyRow) => {
    write(withoutLayout(row))
    writeLayout.run(row[id], row[layout])
  }
  return {
    has: (row) => has(withoutLayout(row)),
    insert: writeWithLayout(insert),
    update: writeWithLayout(update),
    delete: (row) => remove(withoutLayout(row)),
  }
}
