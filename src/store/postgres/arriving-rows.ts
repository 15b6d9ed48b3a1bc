import type { Page } from '../../core/model.ts'
import { type HeldColumn, type HeldRow, type HeldTable, placesOf } from '../../library/held-tables.ts'
import type { RowChanges } from '../../library/holdings.ts'
import { type ChunkRun, runsOf } from '../common/arrival-plan.ts'
import type { Sql } from './database.ts'
import { tableName, toArrays, unnested } from './held-rows.ts'

/** Writes rows of another library inside the caller's transaction, with one statement each for removed, added and changed rows. */
export async function writeRows(sql: Sql, table: HeldTable, changes: RowChanges): Promise<void> {
  const { shape, complete } = shapeOf(table)
  const added = changes.added.map(complete)
  const changed = changes.changed.map(complete)
  if (changes.removed.length > 0) await removeRows(sql, shape, changes.removed)
  if (added.length > 0) await insertRows(sql, shape, added)
  if (changed.length > 0) await updateRows(sql, shape, changed)
  await noteChunks(sql, table, changes)
}

/** The table with its additional columns here: parts of the page metadata that are queried separately. */
function shapeOf(table: HeldTable): { readonly shape: HeldTable; complete(row: HeldRow): HeldRow } {
  if (table.name !== 'pages') return { shape: table, complete: (row) => row }
  const [meta = 0] = placesOf(table, ['meta'])
  const further: readonly HeldColumn[] = [
    { name: 'language', type: 'text' },
    { name: 'sections', type: 'text' },
  ]
  return {
    shape: { ...table, columns: [...table.columns, ...further] },
    complete: (row) => {
      // The JSON was written by a store.
      const { language, sections } = JSON.parse(String(row[meta])) as Page
      return [...row, language, JSON.stringify(sections)]
    },
  }
}

function placed(table: HeldTable, names?: readonly string[]): (HeldColumn & { readonly place: number })[] {
  return table.columns
    .map((column, place) => ({ ...column, place }))
    .filter(({ name }) => names === undefined || names.includes(name))
}

async function insertRows(sql: Sql, table: HeldTable, rows: readonly HeldRow[]): Promise<void> {
  const columns = placed(table)
  const names = columns.map(({ name }) => name).join(', ')
  await sql.run(
    `INSERT INTO ${tableName(table)} (${names}) OVERRIDING SYSTEM VALUE SELECT ${names} FROM ${unnested(columns)}`,
    toArrays(columns, rows),
  )
}

async function updateRows(sql: Sql, table: HeldTable, rows: readonly HeldRow[]): Promise<void> {
  const columns = placed(table)
  // Identity columns cannot be updated.
  const others = columns.filter(({ name }) => !table.key.includes(name) && name !== table.number)
  if (others.length === 0) return
  const sets = others.map(({ name }) => `${name} = s.${name}`).join(', ')
  await sql.run(
    `UPDATE ${tableName(table)} t SET ${sets} FROM ${unnested(columns)} WHERE ${isKey(table)}`,
    toArrays(columns, rows),
  )
}

async function removeRows(sql: Sql, table: HeldTable, rows: readonly HeldRow[]): Promise<void> {
  const columns = placed(table, table.key)
  await sql.run(
    `DELETE FROM ${tableName(table)} t USING ${unnested(columns)} WHERE ${isKey(table)}`,
    toArrays(columns, rows),
  )
}

function isKey({ key }: HeldTable): string {
  return key.map((name) => `t.${name} = s.${name}`).join(' AND ')
}

/** Records for the index which chunks were added or removed, and which pages have a new title. */
async function noteChunks(sql: Sql, table: HeldTable, { added, changed, removed }: RowChanges): Promise<void> {
  if (table.name === 'pages') {
    const [first = 0, count = 0] = placesOf(table, ['first_chunk', 'chunk_count'])
    const runs = changed
      .map((row) => ({ first: Number(row[first]), last: Number(row[first]) + Number(row[count]) - 1 }))
      .filter((run) => run.last >= run.first)
    await noteRuns(sql, 'index_gone', runs)
    await noteRuns(sql, 'index_stale', runs)
  }
  if (table.name !== 'chunks') return
  const runs = (rows: readonly HeldRow[]) => runsOf(rows.map(([id]) => Number(id)))
  await noteRuns(sql, 'index_gone', [...runs(removed), ...runs(changed)])
  await noteRuns(sql, 'index_stale', [...runs(added), ...runs(changed)])
}

async function noteRuns(sql: Sql, into: 'index_gone' | 'index_stale', runs: readonly ChunkRun[]): Promise<void> {
  if (runs.length === 0) return
  await sql.run(`INSERT INTO ${into} (first, last) SELECT * FROM unnest($1::bigint[], $2::bigint[])`, [
    runs.map(({ first }) => first),
    runs.map(({ last }) => last),
  ])
}
