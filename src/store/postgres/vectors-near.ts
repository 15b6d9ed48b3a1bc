import type { Database, Sql } from './database.ts'
import { ASKED_SOURCES } from './refusals.ts'
import { askNearIndex, NEAR_INDEX, type NearIndex } from './vectors-by-index.ts'
import { type Compared, createSigns } from './vectors-by-signs.ts'

/** What a search has to know of the library. */
interface LibraryState {
  /** The number of the newest vector, and how many there are. */
  readonly last: number
  readonly vectors: number
  readonly fingerprint: string | null
  readonly dimensions: number | null
  /** The numbers of the sources that may be found. */
  readonly sources: readonly number[]
  /** What pgvector keeps for it, where it does. */
  readonly index: NearIndex | null
}

/** About so many vectors nearest to a query, nearest first; of these sources where they are given. */
export type FindNear = (
  query: Float32Array,
  count: number,
  sourceIds: readonly string[] | undefined,
) => Promise<Compared[]>

/** Finds the vectors nearest to a query: by the index of the server where there is one, and otherwise by their signs, in memory. */
export function createNear(db: Database): FindNear {
  const signs = createSigns(db)
  return async (query, count, sourceIds) => {
    const { fingerprint, dimensions, sources, index, ...known } = await readLibrary(db, sourceIds)
    // Those of another length are of another model, which is on its way.
    if (fingerprint === null || dimensions !== query.length) return []
    if (index === null) return signs.find(query, { fingerprint, dimensions, ...known }, sources)
    return askNearIndex(db, { ...index, dimensions }, { query, count, sources, isPart: sourceIds !== undefined })
  }
}

async function readLibrary(sql: Sql, sourceIds: readonly string[] | undefined): Promise<LibraryState> {
  const found = await sql.get<LibraryState>(
    `SELECT coalesce((SELECT max(number) FROM vectors), 0) AS last,
       (SELECT coalesce(sum(rows), 0)::bigint FROM chunk_counts WHERE of_table = 'vectors') AS vectors,
       v.fingerprint, v.dimensions, ${NEAR_INDEX} AS index,
       (SELECT coalesce(json_agg(id), '[]') FROM (${ASKED_SOURCES}) AS s) AS sources
     FROM (SELECT 1) AS one LEFT JOIN vector_space v ON true`,
    [sourceIds ?? null],
  )
  return found ?? { last: 0, vectors: 0, fingerprint: null, dimensions: null, sources: [], index: null }
}
