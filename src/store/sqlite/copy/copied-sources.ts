import { PharosError } from '../../../core/errors.ts'
import { type CopyRow, columnPositions, SOURCES_TABLE } from '../../../library/copy/table-columns.ts'
import type { CopyPlan } from '../../../library/ports/library-copy.ts'
import { labelOf } from '../../../library/source.ts'
import { hideSourceName } from '../../common/copy-plan.ts'
import type { Database } from '../database/database.ts'
import { packCell } from './copy-rows.ts'

/** Writes sources of another library inside the caller's transaction. */
export interface CopiedSourceWriter {
  /** Writes new sources as hidden. */
  insertHidden(rows: readonly CopyRow[]): void
  /** Drops sources of an unfinished copy that are not in `rowsToKeep`; the cleanup of removed sources then deletes their data. */
  drop(plan: CopyPlan, rowsToKeep: readonly CopyRow[]): void
  /** Writes all columns of copied sources and makes them visible. */
  show(rows: readonly CopyRow[]): void
}

/** Creates the statements for copied sources. */
export function createCopiedSourceWriter(db: Database): CopiedSourceWriter {
  const names = SOURCES_TABLE.columns.map(({ name }) => name)
  const insert = db.prepare(
    `INSERT INTO sources (${names.join(', ')}, is_removed) VALUES (${names.map(() => '?').join(', ')}, 1) ON CONFLICT (id) DO NOTHING`,
  )
  const update = db.prepare(
    `UPDATE sources SET ${names.map((name) => `${name} = ?`).join(', ')}, is_removed = 0 WHERE id = ?`,
  )
  const selectConflicting = db.prepare<[string, string | null, string, number]>(
    'SELECT 1 FROM sources WHERE (name = ? AND version IS ? OR uuid = ?) AND id <> ?',
  )
  const selectHidden = db
    .prepare<[number, number], number>(
      `SELECT id FROM sources WHERE id > ? AND id <= ? AND is_removed = 1 AND name = 'arriving ' || id`,
    )
    .pluck()
  const dropOne = db.prepare<[number]>(
    `UPDATE sources SET name = 'removed ' || id, uuid = 'removed ' || id WHERE id = ?`,
  )
  const dropCrawls = db.prepare<[number]>(`UPDATE crawl_ids SET uuid = 'removed ' || id WHERE source = ?`)
  const [idPosition = 0, uuidPosition = 0, namePosition = 0, versionPosition = 0] = columnPositions(SOURCES_TABLE, [
    'id',
    'uuid',
    'name',
    'version',
  ])
  const valuesOf = (row: CopyRow) => row.map((cell) => packCell(cell, 'text'))
  return {
    insertHidden: (rows) => {
      for (const row of rows) insert.run(...valuesOf(hideSourceName(row)))
    },
    drop: ({ offsets, kept }, rowsToKeep) => {
      const after = offsets['sources'] ?? 0
      const idsToKeep = new Set(rowsToKeep.map((row) => row[idPosition]))
      for (const id of selectHidden.all(after, after + (kept['sources'] ?? 0))) {
        if (idsToKeep.has(id)) continue
        dropOne.run(id)
        dropCrawls.run(id)
      }
    },
    show: (rows) => {
      for (const row of rows) {
        const [id, uuid, name] = [Number(row[idPosition]), String(row[uuidPosition]), String(row[namePosition])]
        const version = row[versionPosition] === null ? null : String(row[versionPosition])
        if (selectConflicting.get(name, version, uuid, id) !== undefined) {
          throw new PharosError('SOURCE_EXISTS', { source: labelOf({ name, version }) })
        }
        if (update.run(...valuesOf(row), id).changes === 0) throw new TypeError(`expected source ${id} to exist`)
      }
    },
  }
}
