import type { ChunkRef } from '../../../library/ports/vectors.ts'
import type { Sql } from '../database/database.ts'
import { NAMED_CHUNKS, toChunkParameters } from '../index/refused-chunks.ts'

/** The unique id of the library. */
export async function readLibraryId(sql: Sql): Promise<string> {
  const found = await sql.get<{ library: string }>('SELECT library FROM library_identity')
  if (found === undefined) throw new Error('the table library_identity is empty')
  return found.library
}

/** Records that the external copy at `place` has the vectors of these chunks. Records about another place are deleted. */
export async function insertCopiedVectors(sql: Sql, place: string, chunks: readonly ChunkRef[]): Promise<void> {
  const changes = await sql.run('UPDATE library_identity SET copy_place = $1 WHERE copy_place IS DISTINCT FROM $1', [
    place,
  ])
  if (changes > 0) await sql.run('DELETE FROM copied_vectors')
  // A chunk whose vector was removed meanwhile has nothing to copy.
  await sql.run(
    `WITH held AS (${NAMED_CHUNKS} FOR KEY SHARE OF c)
     INSERT INTO copied_vectors (chunk, source)
     SELECT DISTINCT h.id, h.source FROM held h JOIN vectors v ON v.chunk = h.id ON CONFLICT DO NOTHING`,
    toChunkParameters(chunks),
  )
}

/** The number of vectors of visible sources that the copy at a place is not known to have. */
export async function countUncopiedVectors(sql: Sql, place: string): Promise<number> {
  const found = await sql.get<{ count: number }>(
    `SELECT coalesce(sum(CASE of_table WHEN 'vectors' THEN rows ELSE -rows END), 0)::bigint AS count FROM chunk_counts
     WHERE source IN (SELECT id FROM sources WHERE NOT is_removed) AND (of_table = 'vectors'
       OR of_table = 'copied_vectors' AND EXISTS (SELECT 1 FROM library_identity WHERE copy_place = $1))`,
    [place],
  )
  return found?.count ?? 0
}
