import type { ChunkRef, RefusedChunk } from '../../../library/ports/vectors.ts'
import { packHash, unpackHash } from '../../common/hash.ts'
import type { Sql } from '../database/database.ts'

/** A chunk by its stored source and id. */
export interface StoredChunkName {
  readonly sourceId: string
  readonly chunkId: Uint8Array
}

/** The numbers of visible sources: those with the ids `$1`, or all when `$1` is null. */
export const REQUESTED_SOURCES =
  'SELECT id FROM sources WHERE NOT is_removed AND ($1::text[] IS NULL OR uuid = ANY ($1))'

/** SQL for chunks by source ids `$1` and chunk ids `$2`, in the given order, without those that no longer exist. */
export const NAMED_CHUNKS = `SELECT c.id, c.source, n.place
  FROM unnest($1::text[], $2::bytea[]) WITH ORDINALITY AS n (source, chunk_id, place)
  JOIN sources s ON s.uuid = n.source AND NOT s.is_removed
  JOIN chunks c ON c.source = s.id AND c.chunk_id = n.chunk_id`

/** The values of {@link NAMED_CHUNKS}. */
export function toChunkParameters(chunks: readonly ChunkRef[]): [sources: string[], chunkIds: Buffer[]] {
  return [chunks.map(({ sourceId }) => sourceId), chunks.map(({ chunkId }) => packHash(chunkId))]
}

/** Stores chunks that the model could not embed. A chunk that has a vector by now is left out. */
export async function insertRefusedChunks(sql: Sql, chunks: readonly RefusedChunk[]): Promise<void> {
  await sql.run(
    `WITH held AS (${NAMED_CHUNKS} FOR KEY SHARE OF c)
     INSERT INTO refused_chunks (chunk, source, problem)
     SELECT DISTINCT ON (h.id) h.id, h.source, ($3::text[])[h.place] FROM held h
     WHERE NOT EXISTS (SELECT 1 FROM vectors v WHERE v.chunk = h.id) ORDER BY h.id, h.place DESC
     ON CONFLICT (chunk) DO UPDATE SET problem = excluded.problem`,
    [...toChunkParameters(chunks), chunks.map(({ problem }) => problem)],
  )
}

export async function listRefusedChunks(
  sql: Sql,
  limit: number,
  sourceIds: readonly string[] | undefined,
): Promise<RefusedChunk[]> {
  const found = await sql.all<StoredChunkName & { problem: string }>(
    `SELECT s.uuid AS "sourceId", c.chunk_id AS "chunkId", r.problem
     FROM refused_chunks r JOIN chunks c ON c.id = r.chunk JOIN sources s ON s.id = r.source
     WHERE r.source IN (${REQUESTED_SOURCES}) ORDER BY r.chunk LIMIT $2`,
    [sourceIds ?? null, limit],
  )
  return found.map((row) => ({ ...toChunkName(row), problem: row.problem }))
}

export async function deleteRefusedChunks(sql: Sql, sourceIds: readonly string[] | undefined): Promise<void> {
  await sql.run(`DELETE FROM refused_chunks WHERE source IN (${REQUESTED_SOURCES})`, [sourceIds ?? null])
}

/** Converts a stored chunk name. */
export function toChunkName({ sourceId, chunkId }: StoredChunkName): ChunkRef {
  return { sourceId, chunkId: unpackHash(chunkId) }
}
