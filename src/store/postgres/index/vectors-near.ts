import type { Database, Sql } from '../database/database.ts'
import { REQUESTED_SOURCES } from './refused-chunks.ts'
import { NEAR_INDEX, type NearIndex, searchNearIndex } from './vectors-by-index.ts'
import { type ComparedVector, createSignSearch } from './vectors-by-signs.ts'

/** The state of the library that a search needs. */
interface LibraryState {
  /** The id of the newest vector (column `number`), and how many vectors there are. */
  readonly last: number
  readonly vectors: number
  readonly fingerprint: string | null
  readonly dimensions: number | null
  /** The row ids of the sources to search. */
  readonly sources: readonly number[]
  /** The pgvector index, if there is one. */
  readonly index: NearIndex | null
}

/** Finds about `count` vectors nearest to a query, nearest first; only in the given sources, if any. */
export type FindNear = (
  query: Float32Array,
  count: number,
  sourceIds: readonly string[] | undefined,
) => Promise<ComparedVector[]>

/**
 * Finds the vectors nearest to a query: through the pgvector index if there is one, otherwise in memory by comparing the sign bits of the
 * components (binary quantization).
 */
export function createNearSearch(db: Database): FindNear {
  const signSearch = createSignSearch(db)
  return async (query, count, sourceIds) => {
    const { fingerprint, dimensions, sources, index, ...known } = await readLibrary(db, sourceIds)
    // A query of another length comes from another model, whose vectors are still being created.
    if (fingerprint === null || dimensions !== query.length) return []
    if (index === null) return signSearch.find(query, { fingerprint, dimensions, ...known }, sources)
    return searchNearIndex(
      db,
      { ...index, dimensions },
      { query, count, sources, hasSourceFilter: sourceIds !== undefined },
    )
  }
}

async function readLibrary(sql: Sql, sourceIds: readonly string[] | undefined): Promise<LibraryState> {
  const found = await sql.get<LibraryState>(
    `SELECT coalesce((SELECT max(number) FROM vectors), 0) AS last,
       (SELECT coalesce(sum(rows), 0)::bigint FROM chunk_counts WHERE of_table = 'vectors') AS vectors,
       v.fingerprint, v.dimensions, ${NEAR_INDEX} AS index,
       (SELECT coalesce(json_agg(id), '[]') FROM (${REQUESTED_SOURCES}) AS s) AS sources
     FROM (SELECT 1) AS one LEFT JOIN vector_space v ON true`,
    [sourceIds ?? null],
  )
  return found ?? { last: 0, vectors: 0, fingerprint: null, dimensions: null, sources: [], index: null }
}
