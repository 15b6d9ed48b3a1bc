import type { Kind } from '../../../core/model.ts'
import type { FilteredPage } from '../../../core/retrieval/chunk-filter.ts'
import {
  type ChunkRange,
  type DeadChunkRange,
  joinRuns,
  type NewChunk,
  type SegmentRecord,
  type UnfinishedSegment,
} from '../../../core/retrieval/index/index-storage.ts'
import type { EncodedSegment } from '../../../core/search/segments/segment.ts'
import { unpackHash } from '../../common/hash.ts'
import type { Sql } from '../database/database.ts'
import type { FilterInputChunk, IndexDraft } from './index-storage.ts'

/** The stored index without its parts. */
export interface StoredIndex {
  readonly format: string
  /** Changes whenever segments or dead chunks change. */
  readonly generation: number
  readonly segments: readonly SegmentRecord[]
  readonly dead: readonly DeadChunkRange[]
}

/** A consistent view of the index for a search. */
export interface IndexView extends StoredIndex {
  /** Removed chunks that are still in the index. */
  readonly gone: readonly ChunkRange[]
  /** Whether some chunks are not indexed yet. */
  readonly isStale: boolean
  /** The numbers of the sources to search; null for all. */
  readonly sources: readonly number[] | null
}

type SegmentRow = readonly [id: number, count: number, first: number, last: number]
type DeadRow = readonly [segment: number, first: number, last: number]
type RunRow = readonly [first: number, last: number]

interface IndexColumns {
  readonly format: string
  readonly generation: number
  readonly segments: readonly SegmentRow[] | null
  readonly dead: readonly DeadRow[] | null
}

const SEGMENTS = `SELECT coalesce(json_agg(json_build_array(id, count, first, last) ORDER BY id), '[]') FROM index_segments WHERE count > 0`
const DEAD = `SELECT coalesce(json_agg(json_build_array(segment, first, last) ORDER BY segment, first), '[]') FROM index_dead`

/** Reads the index in one statement. Segments are included only when the generation differs from the known one. */
export async function readIndex(
  sql: Sql,
  known: StoredIndex | undefined,
  sourceIds: readonly string[] | undefined,
): Promise<IndexView> {
  const found = await sql.get<
    IndexColumns & { gone: readonly RunRow[]; isStale: boolean; sources: readonly number[] | null }
  >(
    `SELECT format, generation,
       CASE WHEN generation <> $1 THEN (${SEGMENTS}) END AS segments,
       CASE WHEN generation <> $1 THEN (${DEAD}) END AS dead,
       (SELECT coalesce(json_agg(json_build_array(first, last) ORDER BY first), '[]') FROM index_gone) AS gone,
       EXISTS (SELECT 1 FROM index_stale) AS "isStale",
       CASE WHEN $2::text[] IS NOT NULL
         THEN (SELECT coalesce(json_agg(id), '[]') FROM sources WHERE uuid = ANY ($2) AND NOT is_removed)
         WHEN EXISTS (SELECT 1 FROM sources WHERE is_removed)
         THEN (SELECT coalesce(json_agg(id), '[]') FROM sources WHERE NOT is_removed) END AS sources
     FROM index_state`,
    [known?.generation ?? NO_GENERATION, sourceIds ?? null],
  )
  if (found === undefined) throw new Error('the table index_state is empty')
  const { gone, isStale, sources } = found
  return { ...toStored(found, known), gone: joinRuns(gone.map(toRun)), isStale, sources }
}

const NO_GENERATION = -1

function toStored({ format, generation, segments, dead }: IndexColumns, known: StoredIndex | undefined): StoredIndex {
  return {
    format,
    generation,
    segments: segments?.map(([id, count, first, last]) => ({ id, count, first, last })) ?? known?.segments ?? [],
    dead: dead?.map(([segment, first, last]) => ({ segment, first, last })) ?? known?.dead ?? [],
  }
}

function toRun([first, last]: RunRow): ChunkRange {
  return { first, last }
}

/** The index with its outstanding work. */
export interface IndexBacklog extends StoredIndex {
  /** The ids of the rows that record removed chunks. */
  readonly goneRows: readonly number[]
  readonly gone: readonly ChunkRange[]
  readonly stale: readonly ChunkRange[]
  /** Whether more rows about removed chunks exist than were read. */
  readonly hasMoreGone: boolean
  /** Whether more rows about stale chunks exist than were read. */
  readonly hasMoreStale: boolean
  readonly newest: number
  readonly unfinished: UnfinishedSegment | undefined
}

/** Maximum number of removed or stale rows per read. */
const ROWS_AT_ONCE = 4096

/** Reads the index and its outstanding work; must run in a transaction with one snapshot. */
export async function readIndexBacklog(sql: Sql): Promise<IndexBacklog> {
  const found = await sql.get<
    IndexColumns & { gone: readonly (readonly [...RunRow, id: number])[]; stale: readonly RunRow[]; newest: number }
  >(
    `SELECT format, generation, (${SEGMENTS}) AS segments, (${DEAD}) AS dead,
       (SELECT coalesce(json_agg(json_build_array(first, last, id)), '[]')
        FROM (SELECT * FROM index_gone ORDER BY id LIMIT $1) g) AS gone,
       (SELECT coalesce(json_agg(json_build_array(first, last) ORDER BY first), '[]')
        FROM (SELECT * FROM index_stale ORDER BY first LIMIT $1) s) AS stale,
       (SELECT coalesce(max(id), 0) FROM chunks) AS newest
     FROM index_state`,
    [ROWS_AT_ONCE],
  )
  if (found === undefined) throw new Error('the table index_state is empty')
  // An unfinished segment has no documents yet, but the state of its merge.
  const unfinished = await sql.get<UnfinishedSegment>(
    'SELECT id, documents AS state FROM index_segments WHERE count = 0',
  )
  const { gone, stale, newest } = found
  const hasMoreStale = stale.length === ROWS_AT_ONCE
  const runs = joinRuns(stale.map(toRun))
  return {
    ...toStored(found, undefined),
    goneRows: gone.map(([, , id]) => id),
    gone: joinRuns(gone.map(([first, last]) => ({ first, last }))),
    // Runs after the last read row may be incomplete.
    stale: hasMoreStale ? cutRuns(runs, stale.at(-1)?.[0] ?? 0) : runs,
    hasMoreGone: gone.length === ROWS_AT_ONCE,
    hasMoreStale,
    newest,
    unfinished,
  }
}

function cutRuns(runs: readonly ChunkRange[], last: number): ChunkRange[] {
  return runs.flatMap((run) => (run.first > last ? [] : [{ first: run.first, last: Math.min(run.last, last) }]))
}

/** The number of chunks, and of those that are not indexed yet. */
export async function countIndexed(sql: Sql): Promise<{ format: string; chunks: number; stale: number }> {
  const counts = await sql.get<{ format: string; chunks: number; stale: number }>(
    `SELECT format, (SELECT count(*) FROM chunks) AS chunks,
       (SELECT count(DISTINCT c.id) FROM index_stale s JOIN chunks c ON c.id BETWEEN s.first AND s.last) AS stale
     FROM index_state`,
  )
  return counts ?? { format: '', chunks: 0, stale: 0 }
}

interface NewChunkColumns extends Omit<NewChunk, 'id' | 'contentHash' | 'headingPath'> {
  readonly chunkId: Uint8Array
  readonly contentHash: Uint8Array
  readonly headingPath: string
}

/** The first chunks of some runs, by number. */
export async function readNewChunks(sql: Sql, runs: readonly ChunkRange[], limit: number): Promise<NewChunk[]> {
  const found = await sql.all<NewChunkColumns>(
    `WITH numbers AS MATERIALIZED (
       SELECT c.id FROM unnest($1::bigint[], $2::bigint[]) AS r (first, last)
       CROSS JOIN LATERAL (SELECT id FROM chunks WHERE id BETWEEN r.first AND r.last ORDER BY id LIMIT $3) c
       ORDER BY c.id LIMIT $3)
     SELECT c.id AS number, c.chunk_id AS "chunkId", c.content_hash AS "contentHash", c.source, c.page, c.path, p.title, c.kind,
       c.heading_path AS "headingPath", c.symbol, c.content
     FROM numbers n JOIN chunks c ON c.id = n.id JOIN pages p ON p.id = c.page ORDER BY c.id`,
    [runs.map(({ first }) => first), runs.map(({ last }) => last), limit],
  )
  return found.map(({ chunkId, contentHash, headingPath, ...chunk }) => ({
    ...chunk,
    id: unpackHash(chunkId),
    contentHash: unpackHash(contentHash),
    headingPath: parseHeadings(headingPath),
  }))
}

/** The page fields that filters test, by page number. */
export async function readFilteredPages(sql: Sql, pages: readonly number[]): Promise<Map<number, FilteredPage>> {
  if (pages.length === 0) return new Map()
  const found = await sql.all<FilteredPage & { id: number }>(
    'SELECT l.id, l.url, l.key, p.language FROM ledger l JOIN pages p ON p.id = l.id WHERE l.id = ANY ($1::bigint[])',
    [pages],
  )
  return new Map(found.map(({ id, ...page }) => [id, page]))
}

/** The chunk fields that filters test, by chunk number. */
export async function readFilteredChunks(
  sql: Sql,
  numbers: readonly number[],
  withContent: boolean,
): Promise<Map<number, FilterInputChunk>> {
  if (numbers.length === 0) return new Map()
  const found = await sql.all<{
    id: number
    page: number
    kind: Kind
    headingPath: string
    symbol: string | null
    content: string
  }>(
    `SELECT id, page, kind, heading_path AS "headingPath", symbol, CASE WHEN $2 THEN content ELSE '' END AS content
     FROM chunks WHERE id = ANY ($1::bigint[])`,
    [numbers, withContent],
  )
  return new Map(
    found.map(({ id, headingPath, ...chunk }) => [id, { ...chunk, headingPath: parseHeadings(headingPath) }]),
  )
}

/** Parses heading paths, which content.ts writes. */
function parseHeadings(headingPath: string): string[] {
  return JSON.parse(headingPath) as string[]
}

/** Writes the changes to the locked index. */
export async function writeDraft(sql: Sql, draft: IndexDraft, goneRows: readonly number[]): Promise<void> {
  if (draft.isCleared) {
    await sql.run('DELETE FROM index_segments')
    await sql.run(
      `WITH known AS (DELETE FROM index_stale)
       INSERT INTO index_stale (first, last) SELECT 1, $1::bigint WHERE $1::bigint > 0`,
      [draft.newest],
    )
  }
  // First, because it fails if another process has changed the index since this snapshot, and is then repeated. New rows would violate keys.
  await sql.run(
    `WITH taken AS (DELETE FROM index_stale WHERE last <= $3::bigint),
     begun AS (UPDATE index_stale SET first = $3::bigint + 1 WHERE first <= $3::bigint AND last > $3::bigint),
     gone AS (DELETE FROM index_gone WHERE id = ANY ($4::bigint[]))
     UPDATE index_state SET format = $1, generation = $2`,
    [draft.format, draft.generation, draft.reached ?? null, goneRows],
  )
  await writeMerge(sql, draft)
  const removed = [...draft.removed].filter((id) => id > 0)
  if (removed.length > 0) await sql.run('DELETE FROM index_segments WHERE id = ANY ($1::bigint[])', [removed])
  await writeDead(sql, [...draft.newDead.values()])
  for (const [id, segment] of draft.added) if (!draft.removed.has(id)) await insertSegment(sql, segment)
}

async function writeDead(sql: Sql, runs: readonly DeadChunkRange[]): Promise<void> {
  if (runs.length === 0) return
  await sql.run(
    `INSERT INTO index_dead AS d (segment, first, last) SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[])
     ON CONFLICT (segment, first) DO UPDATE SET last = greatest(d.last, excluded.last)`,
    [runs.map(({ segment }) => segment), runs.map(({ first }) => first), runs.map(({ last }) => last)],
  )
}

/** Writes how a merge of several steps goes on. */
async function writeMerge(sql: Sql, { begun, extension, finished }: IndexDraft): Promise<void> {
  if (begun) {
    await sql.run(`INSERT INTO index_segments (count, first, last, documents, directory) VALUES (0, 0, 0, $1, '')`, [
      Buffer.from(begun),
    ])
  }
  if (extension) {
    await sql.run(
      `WITH extended AS (UPDATE index_segments SET directory = directory || $5, documents = $6 WHERE id = $1)
       INSERT INTO index_blocks (segment, block, data)
       SELECT $1, (SELECT count(*) FROM index_blocks WHERE segment = $1) + b.place - 1, substring($2::bytea FROM b.start FOR b.length)
       FROM unnest($3::integer[], $4::integer[]) WITH ORDINALITY AS b (start, length, place)`,
      [extension.id, ...joinBlocks(extension.blocks), Buffer.from(extension.directory), Buffer.from(extension.state)],
    )
  }
  if (finished) {
    const { id, count, first, last, documents } = finished
    await sql.run('UPDATE index_segments SET count = $2, first = $3, last = $4, documents = $5 WHERE id = $1', [
      ...[id, count, first, last],
      Buffer.from(documents),
    ])
  }
}

/** Blocks as one value with the start and the length of each, because an array would be sent as text of twice the size. */
function joinBlocks(blocks: readonly Uint8Array[]): [data: Buffer, starts: number[], lengths: number[]] {
  const starts: number[] = []
  let start = 1
  for (const { byteLength } of blocks) {
    starts.push(start)
    start += byteLength
  }
  return [Buffer.concat(blocks), starts, blocks.map(({ byteLength }) => byteLength)]
}

/** Inserts a segment. The server cuts its blocks. */
async function insertSegment(
  sql: Sql,
  { count, first, last, documents, directory, blocks }: EncodedSegment,
): Promise<void> {
  await sql.run(
    `WITH added AS (INSERT INTO index_segments (count, first, last, documents, directory) VALUES ($1, $2, $3, $4, $5) RETURNING id)
     INSERT INTO index_blocks (segment, block, data)
     SELECT added.id, b.place - 1, substring($6::bytea FROM b.start FOR b.length)
     FROM added, unnest($7::integer[], $8::integer[]) WITH ORDINALITY AS b (start, length, place)`,
    [count, first, last, Buffer.from(documents), Buffer.from(directory), ...joinBlocks(blocks)],
  )
}
