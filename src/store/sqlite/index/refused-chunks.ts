import type { ChunkRef, RefusedChunk } from '../../../library/ports/vectors.ts'
import type { Database } from '../database/database.ts'
import { packHash, type StoredHash, unpackHash } from '../database/hash.ts'

/** A chunk by its stored source and id. */
export interface StoredChunkName {
  readonly sourceId: string
  readonly chunkId: StoredHash
}

/** The chunks that the model could not embed, by source number. */
export interface RefusedChunks {
  insert(source: number, chunkId: string, problem: string): void
  /** The refused chunks of the sources whose numbers are given as a JSON array. */
  list(sources: string, limit: number): RefusedChunk[]
  delete(source: number, chunkId: string): void
  deleteOf(sources: string): void
  deleteAll(): void
}

/** Creates the statements for refused chunks. */
export function createRefusedChunks(db: Database): RefusedChunks {
  // A chunk that has a vector by now is left out.
  const insert = db.prepare<[string, number, StoredHash]>(
    `INSERT OR REPLACE INTO refused_chunks (chunk, source, problem) SELECT id, source, ? FROM chunks c
     WHERE source = ? AND chunk_id = ? AND NOT EXISTS (SELECT 1 FROM vectors v WHERE v.chunk = c.id)`,
  )
  const select = db.prepare<[string, number], StoredChunkName & { problem: string }>(
    `SELECT s.uuid AS sourceId, c.chunk_id AS chunkId, r.problem
     FROM refused_chunks r JOIN chunks c ON c.id = r.chunk JOIN sources s ON s.id = r.source
     WHERE r.source IN (SELECT value FROM json_each(?)) ORDER BY r.chunk LIMIT ?`,
  )
  const deleteOne = db.prepare<[number, StoredHash]>(
    'DELETE FROM refused_chunks WHERE chunk IN (SELECT id FROM chunks WHERE source = ? AND chunk_id = ?)',
  )
  const deleteOf = db.prepare<[string]>('DELETE FROM refused_chunks WHERE source IN (SELECT value FROM json_each(?))')
  const deleteAll = db.prepare('DELETE FROM refused_chunks')
  return {
    insert: (source, chunkId, problem) => void insert.run(problem, source, packHash(chunkId)),
    list: (sources, limit) => select.all(sources, limit).map((row) => ({ ...toChunkName(row), problem: row.problem })),
    delete: (source, chunkId) => void deleteOne.run(source, packHash(chunkId)),
    deleteOf: (sources) => void deleteOf.run(sources),
    deleteAll: () => void deleteAll.run(),
  }
}

/** Converts a stored chunk name. */
export function toChunkName({ sourceId, chunkId }: StoredChunkName): ChunkRef {
  return { sourceId, chunkId: unpackHash(chunkId) }
}
