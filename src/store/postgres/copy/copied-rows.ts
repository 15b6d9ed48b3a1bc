import type { Page } from '../../../core/model.ts'
import { type CopyColumn, type CopyRow, type CopyTable, columnPositions } from '../../../library/copy/table-columns.ts'
import type { RowChanges } from '../../../library/ports/library-copy.ts'
import { type ChunkRun, groupRuns, tableName } from '../../common/copy-plan.ts'
import type { Sql } from '../database/database.ts'
import { toArrays, writeUnnest } from './copy-rows.ts'

/** Writes rows of another library inside the caller's transaction, with one statement each for removed, added and changed rows. */
export async function writeRows(sql: Sql, table: CopyTable, changes: RowChanges): Promise<void> {
  const { shape, complete } = shapeOf(table)
  const added = changes.added.map(complete)
  const changed = changes.changed.map(complete)
  if (changes.removed.length > 0) await removeRows(sql, shape, changes.removed)
  if (added.length > 0) await insertRows(sql, shape, added)
  if (changed.length > 0) await updateRows(sql, shape, changed)
  await notifyIndex(sql, table, changes)
}

/** The table with the columns that only PostgreSQL has: parts of the page metadata that are queried separately. */
function shapeOf(table: CopyTable): { readonly shape: CopyTable; complete(row: CopyRow): CopyRow } {
  if (table.name !== 'pages') return { shape: table, complete: (row) => row }
  const [meta = 0] = columnPositions(table, ['meta'])
  const extraColumns: readonly CopyColumn[] = [
    { name: 'language', type: 'text' },
    { name: 'sections', type: 'text' },
  ]
  return {
    shape: { ...table, columns: [...table.columns, ...extraColumns] },
    complete: (row) => {
      // The JSON was written by a store.
      const { language, sections } = JSON.parse(String(row[meta])) as Page
      return [...row, language, JSON.stringify(sections)]
    },
  }
}

function listColumns(table: CopyTable, names?: readonly string[]): (CopyColumn & { readonly position: number })[] {
  return table.columns
    .map((column, position) => ({ ...column, position }))
    .filter(({ name }) => names === undefined || names.includes(name))
}

async function insertRows(sql: Sql, table: CopyTable, rows: readonly CopyRow[]): Promise<void> {
  const columns = listColumns(table)
  const names = columns.map(({ name }) => name).join(', ')
  await sql.run(
    `INSERT INTO ${tableName(table)} (${names}) OVERRIDING SYSTEM VALUE SELECT ${names} FROM ${writeUnnest(columns)}`,
    toArrays(columns, rows),
  )
}

async function updateRows(sql: Sql, table: CopyTable, rows: readonly CopyRow[]): Promise<void> {
  const columns = listColumns(table)
  // Identity columns cannot be updated.
  const others = columns.filter(({ name }) => !table.key.includes(name) && name !== table.idColumn)
  if (others.length === 0) return
  const sets = others.map(({ name }) => `${name} = s.${name}`).join(', ')
  await sql.run(
    `UPDATE ${tableName(table)} t SET ${sets} FROM ${writeUnnest(columns)} WHERE ${writeKeyMatch(table)}`,
    toArrays(columns, rows),
  )
}

async function removeRows(sql: Sql, table: CopyTable, rows: readonly CopyRow[]): Promise<void> {
  const columns = listColumns(table, table.key)
  await sql.run(
    `DELETE FROM ${tableName(table)} t USING ${writeUnnest(columns)} WHERE ${writeKeyMatch(table)}`,
    toArrays(columns, rows),
  )
}

function writeKeyMatch({ key }: CopyTable): string {
  return key.map((name) => `t.${name} = s.${name}`).join(' AND ')
}

/** Records for the index which chunks were added, changed or removed, with all chunks of changed pages, whose title may be new. */
async function notifyIndex(sql: Sql, table: CopyTable, { added, changed, removed }: RowChanges): Promise<void> {
  if (table.name === 'pages') {
    const [first = 0, count = 0] = columnPositions(table, ['first_chunk', 'chunk_count'])
    const runs = changed
      .map((row) => ({ first: Number(row[first]), last: Number(row[first]) + Number(row[count]) - 1 }))
      .filter((run) => run.last >= run.first)
    await noteRuns(sql, 'index_gone', runs)
    await noteRuns(sql, 'index_stale', runs)
  }
  if (table.name !== 'chunks') return
  const runs = (rows: readonly CopyRow[]) => groupRuns(rows.map(([id]) => Number(id)))
  await noteRuns(sql, 'index_gone', [...runs(removed), ...runs(changed)])
  await noteRuns(sql, 'index_stale', [...runs(added), ...runs(changed)])
}

async function noteRuns(sql: Sql, table: 'index_gone' | 'index_stale', runs: readonly ChunkRun[]): Promise<void> {
  if (runs.length === 0) return
  await sql.run(`INSERT INTO ${table} (first, last) SELECT * FROM unnest($1::bigint[], $2::bigint[])`, [
    runs.map(({ first }) => first),
    runs.map(({ last }) => last),
  ])
}
