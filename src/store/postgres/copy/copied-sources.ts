import { PharosError } from '../../../core/errors.ts'
import { type CopyRow, columnPositions, SOURCES_TABLE } from '../../../library/copy/table-columns.ts'
import type { CopyPlan } from '../../../library/ports/library-copy.ts'
import { labelOf } from '../../../library/source.ts'
import { hideSourceName } from '../../common/copy-plan.ts'
import type { Sql } from '../database/database.ts'
import { toArrays, writeUnnest } from './copy-rows.ts'

const COLUMNS = SOURCES_TABLE.columns.map((column, position) => ({ ...column, position }))
const NAMES = COLUMNS.map(({ name }) => name).join(', ')

/** Writes new sources as hidden. */
export async function insertHiddenSources(sql: Sql, rows: readonly CopyRow[]): Promise<void> {
  await sql.run(
    `INSERT INTO sources (${NAMES}, is_removed) OVERRIDING SYSTEM VALUE SELECT ${NAMES}, true FROM ${writeUnnest(COLUMNS)}
     ON CONFLICT (id) DO NOTHING`,
    toArrays(COLUMNS, rows.map(hideSourceName)),
  )
}

/** Drops sources of an unfinished copy that are not in `rowsToKeep`; the cleanup of removed sources then deletes their data. */
export async function dropCopiedSources(
  sql: Sql,
  { offsets, kept }: CopyPlan,
  rowsToKeep: readonly CopyRow[],
): Promise<void> {
  const [id = 0] = columnPositions(SOURCES_TABLE, ['id'])
  const after = offsets['sources'] ?? 0
  await sql.run(
    `WITH dropped AS (
       UPDATE sources SET name = 'removed ' || id, uuid = 'removed ' || id
       WHERE id > $1 AND id <= $2 AND is_removed AND name = 'arriving ' || id AND id <> ALL ($3::bigint[]) RETURNING id)
     UPDATE crawl_ids SET uuid = 'removed ' || id WHERE source IN (SELECT id FROM dropped)`,
    [after, after + (kept['sources'] ?? 0), rowsToKeep.map((row) => row[id])],
  )
}

/** Writes all columns of copied sources and makes them visible. */
export async function showCopiedSources(sql: Sql, rows: readonly CopyRow[]): Promise<void> {
  const arrays = toArrays(COLUMNS, rows)
  const conflicting = await sql.get<{ name: string; version: string | null }>(
    `SELECT s.name, s.version FROM ${writeUnnest(COLUMNS)} JOIN sources t
       ON (t.name = s.name AND t.version IS NOT DISTINCT FROM s.version OR t.uuid = s.uuid) AND t.id <> s.id LIMIT 1`,
    arrays,
  )
  if (conflicting !== undefined) throw new PharosError('SOURCE_EXISTS', { source: labelOf(conflicting) })
  const sets = COLUMNS.filter(({ name }) => name !== 'id').map(({ name }) => `${name} = s.${name}`)
  const shownCount = await sql.run(
    `UPDATE sources t SET ${sets.join(', ')}, is_removed = false FROM ${writeUnnest(COLUMNS)} WHERE t.id = s.id`,
    arrays,
  )
  if (shownCount !== rows.length) throw new TypeError(`expected ${rows.length} sources to exist, got ${shownCount}`)
}
