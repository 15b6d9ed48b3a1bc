import { PharosError } from '../../core/errors.ts'
import { labelOf, type Source, type SourceUpdate } from '../../library/source.ts'
import {
  changeSource,
  NEW_SOURCE_COLUMNS,
  SOURCE_COLUMNS,
  type SourceRecord,
  sourceValues,
  toSource,
  writeDeletions,
} from '../common/source-record.ts'
import type { Sql } from './database/database.ts'
import { lockSource } from './database/lock-source.ts'
import { lock } from './database/locks.ts'
import { removeEmptyHubs } from './empty-hubs.ts'

/** Batch size of deletions, which limits how long other writers of the source wait. */
const ROWS_AT_ONCE = 500

/** Adds a source inside the caller's transaction. */
export async function addSource(sql: Sql, source: Source): Promise<void> {
  await refuseTakenName(sql, source.name, source.version, '')
  await sql.run(
    `INSERT INTO sources (${NEW_SOURCE_COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    sourceValues(source),
  )
}

/** Lists the visible sources, in the order in which they were added. */
export async function listSources(sql: Sql): Promise<Source[]> {
  const found = await sql.all<SourceRecord>(
    `SELECT ${SOURCE_COLUMNS} FROM sources WHERE NOT is_removed ORDER BY created_at, id`,
  )
  return found.map(toSource)
}

/** Changes a source inside the caller's transaction; an unknown id has no effect. */
export async function updateSource(sql: Sql, id: string, change: SourceUpdate): Promise<void> {
  const found = await sql.get<SourceRecord>(
    `SELECT ${SOURCE_COLUMNS} FROM sources WHERE uuid = $1 AND NOT is_removed FOR UPDATE`,
    [id],
  )
  if (found === undefined) return
  const { name, version, siteUrl, settings, refresh } = changeSource(found, change)
  // Most changes keep the name, and need not wait for the lock of names.
  if (name !== found.name || version !== found.version) await refuseTakenName(sql, name, version, id)
  await sql.run(
    'UPDATE sources SET name = $1, version = $2, site_url = $3, settings = $4, refresh = $5 WHERE uuid = $6',
    [name, version, siteUrl, settings, refresh, id],
  )
}

async function refuseTakenName(sql: Sql, name: string, version: string | null, id: string): Promise<void> {
  // The lock prevents two sources from getting the same name at once.
  await lock(sql, 'names')
  const same = await sql.get(
    'SELECT 1 FROM sources WHERE name = $1 AND version IS NOT DISTINCT FROM $2 AND uuid <> $3',
    [name, version, id],
  )
  if (same !== undefined) throw new PharosError('SOURCE_EXISTS', { source: labelOf({ name, version }) })
}

/** The number of a source; undefined when there is none. */
export async function numberOf(sql: Sql, id: string): Promise<number | undefined> {
  const found = await sql.get<{ id: number }>('SELECT id FROM sources WHERE uuid = $1 AND NOT is_removed', [id])
  return found?.id
}

/** The number of a source; throws when the source does not exist. */
export async function requireNumber(sql: Sql, id: string, library: string): Promise<number> {
  const source = await numberOf(sql, id)
  if (source === undefined) throw new PharosError('SOURCE_UNKNOWN', { source: id, library })
  return source
}

/** The number of a crawl, which is assigned on first use. */
export async function crawlNumber(sql: Sql, source: number, crawlId: string): Promise<number> {
  const found = await sql.get<{ id: number }>('SELECT id FROM crawl_ids WHERE uuid = $1', [crawlId])
  if (found !== undefined) return found.id
  const inserted = await sql.get<{ id: number }>(
    `INSERT INTO crawl_ids (uuid, source) VALUES ($1, $2) ON CONFLICT (uuid) DO UPDATE SET uuid = excluded.uuid RETURNING id`,
    [crawlId, source],
  )
  if (inserted === undefined) throw new TypeError(`expected a number for crawl ${crawlId}, got none`)
  return inserted.id
}

/** Hides a source with all its data; its name and id are free at once. {@link clearHidden} deletes the data. */
export async function hideSource(
  sql: Sql,
  id: string,
  onlyEmpty: boolean,
): Promise<{ readonly pages: number; readonly chunks: number }> {
  const source = await numberOf(sql, id)
  if (source === undefined) return { pages: 0, chunks: 0 }
  await lockSource(sql, source)
  const removed = await sql.get<{ pages: number; chunks: number }>(
    `SELECT (SELECT count(*) FROM ledger WHERE source = $1 AND page_hash IS NOT NULL) AS pages,
       (SELECT count(*) FROM chunks WHERE source = $1) AS chunks`,
    [source],
  )
  if (onlyEmpty && (removed?.pages ?? 0) > 0) return { pages: 0, chunks: 0 }
  await sql.run(
    `UPDATE sources SET is_removed = true, name = 'removed ' || id, version = NULL, uuid = 'removed ' || id WHERE id = $1`,
    [source],
  )
  await sql.run('DELETE FROM reached_milestones WHERE crawl_id IN (SELECT uuid FROM crawl_ids WHERE source = $1)', [
    source,
  ])
  await sql.run(`UPDATE crawl_ids SET uuid = 'removed ' || id WHERE source = $1`, [source])
  return removed ?? { pages: 0, chunks: 0 }
}

/** Deletes a batch of data of hidden sources inside the caller's transaction; false when nothing is left. */
export async function clearHidden(sql: Sql): Promise<boolean> {
  // Sources of an unfinished copy are hidden too, but must stay.
  const hidden = await sql.get<{ id: number }>(
    `SELECT id FROM sources WHERE is_removed AND name <> 'arriving ' || id ORDER BY id LIMIT 1`,
  )
  if (hidden === undefined) return false
  const { id: source } = hidden
  await lockSource(sql, source)
  const cleared = await clearRows(sql, source)
  if (cleared > 0) return true
  const aliases = await sql.run(
    'DELETE FROM url_aliases WHERE ctid = ANY (ARRAY (SELECT ctid FROM url_aliases WHERE source = $1 LIMIT $2))',
    [source, ROWS_AT_ONCE],
  )
  if (aliases > 0) return true
  for (const removal of DELETE_REMAINING) await sql.run(removal, [source])
  return true
}

/** Deletes a batch of rows with their pages. Children are deleted before their parents because of foreign keys. */
async function clearRows(sql: Sql, source: number): Promise<number> {
  const found = await sql.all<{ id: number; url: string | null; first: number; count: number }>(
    `SELECT l.id, CASE WHEN p.id IS NOT NULL THEN l.url END AS url, coalesce(p.first_chunk, 0) AS first,
       coalesce(p.chunk_count, 0) AS count
     FROM ledger l LEFT JOIN pages p ON p.id = l.id WHERE l.source = $1 LIMIT $2`,
    [source, ROWS_AT_ONCE],
  )
  if (found.length === 0) return 0
  const rows = found.map(({ id }) => id)
  const runs = found.filter(({ count }) => count > 0)
  await sql.run(
    `WITH runs AS (SELECT first, first + count - 1 AS last FROM unnest($1::bigint[], $2::bigint[]) AS r (first, count)),
       noted AS (INSERT INTO index_gone (first, last) SELECT first, last FROM runs)
     DELETE FROM chunks c USING runs r WHERE c.id BETWEEN r.first AND r.last`,
    [runs.map(({ first }) => first), runs.map(({ count }) => count)],
  )
  for (const table of ['pages', 'links', 'ledger']) {
    await sql.run(`DELETE FROM ${table} WHERE id = ANY ($1)`, [rows])
  }
  await removeEmptyHubs(
    sql,
    found.flatMap(({ url }) => url ?? []),
  )
  return rows.length
}

const DELETE_REMAINING: readonly string[] = [
  ...writeDeletions('$1', 'NOT s.is_removed'),
  'DELETE FROM chunk_counts WHERE source = $1',
  'DELETE FROM crawl_helpers WHERE crawl IN (SELECT id FROM crawls WHERE source = $1)',
  'DELETE FROM crawls WHERE source = $1',
  'DELETE FROM crawl_ids WHERE source = $1',
  'DELETE FROM sources WHERE id = $1',
]
