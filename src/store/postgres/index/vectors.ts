import { compareQuantized, quantizeVector, restoreVector } from '../../../core/search/quantized-vector.ts'
import { checkVectors, refuseOtherSpace } from '../../../library/embed/check-vectors.ts'
import { embeddedText } from '../../../library/embed/embedded-text.ts'
import type { ChunkFilter } from '../../../library/ports/store.ts'
import type { ChunkRef, NearChunk, UnembeddedChunk, VectorIndex, VectorSpace } from '../../../library/ports/vectors.ts'
import { packHash } from '../../common/hash.ts'
import { countUncopiedVectors, insertCopiedVectors, readLibraryId } from '../copy/copied-vectors.ts'
import type { Database, Sql } from '../database/database.ts'
import { lock } from '../database/locks.ts'
import { testChunks } from '../ledger/filter-reader.ts'
import {
  deleteRefusedChunks,
  insertRefusedChunks,
  listRefusedChunks,
  NAMED_CHUNKS,
  REQUESTED_SOURCES,
  type StoredChunkName,
  toChunkName,
  toChunkParameters,
} from './refused-chunks.ts'
import { createNearIndex, dropOtherNearIndexes, ensureNearIndex } from './vectors-by-index.ts'
import { type ComparedVector, SIGN_CANDIDATES } from './vectors-by-signs.ts'
import { createNearSearch } from './vectors-near.ts'

interface MissingColumns extends StoredChunkName {
  readonly title: string
  readonly headingPath: string
  readonly content: string
  readonly language: string | null
}

/** Batch size for filtering the nearest vectors, when the filter has other conditions than sources. */
const FILTER_BATCH_SIZE = 100

/** Maximum duration of the embedding lease without renewal. */
const MAX_LEASE_MS = 3_600_000

/** Creates the vector store; a vector is deleted with its chunk. */
export function createVectors(db: Database): VectorIndex {
  const findNear = createNearSearch(db)
  return {
    readSpace: () => readSpace(db),
    replaceSpace: ({ model, fingerprint, dimensions }) =>
      write(db, async (sql) => {
        if ((await readSpace(sql))?.fingerprint === fingerprint) return
        for (const table of ['vectors', 'refused_chunks', 'copied_vectors', 'vector_space']) {
          await sql.run(`DELETE FROM ${table}`)
        }
        await insertSpace(sql, { model, fingerprint, dimensions })
        await dropOtherNearIndexes(sql)
      }),
    listMissing: (limit, sourceIds, after) => listMissing(db, limit, sourceIds, after),
    list: async (limit, after, sourceIds) => {
      const found = await db.all<StoredChunkName & { vector: Uint8Array }>(
        `SELECT s.uuid AS "sourceId", c.chunk_id AS "chunkId", v.vector
         FROM chunks c CROSS JOIN LATERAL (SELECT vector FROM vectors WHERE chunk = c.id OFFSET 0) v
         JOIN sources s ON s.id = c.source
         WHERE ${AFTER} AND c.source = ANY (ARRAY(${REQUESTED_SOURCES})) ORDER BY c.source, c.chunk_id LIMIT $4`,
        [sourceIds ?? null, ...toPosition(after), limit],
      )
      return found.map((row) => ({ ...toChunkName(row), vector: restoreVector(row.vector) }))
    },
    refuse: (space, chunks) =>
      write(db, async (sql) => {
        await ensureSpace(sql, space)
        await insertRefusedChunks(sql, chunks)
      }),
    listRefused: (limit, sourceIds) => listRefusedChunks(db, limit, sourceIds),
    forgetRefused: (sourceIds) => write(db, (sql) => deleteRefusedChunks(sql, sourceIds)),
    lease: (holder, now, ms) => takeLease(db, holder, now, ms),
    write: async (space, vectors) => {
      checkVectors(space, vectors)
      const bytes = vectors.map(({ vector }) => Buffer.from(quantizeVector(vector)))
      await write(db, async (sql) => {
        await ensureSpace(sql, space)
        await insertVectors(sql, vectors, bytes)
      })
    },
    compare: (query, chunks) => compare(db, query, chunks),
    nearest: async (query, limit, filter = {}) =>
      pickNearest(
        db,
        await findNear(query, hasOnlySourceFilter(filter) ? limit : SIGN_CANDIDATES, filter.sourceIds),
        limit,
        filter,
      ),
    buildNearestIndex: () => ensureNearIndex(db),
    count: (sourceIds) => count(db, sourceIds),
    readLibraryId: () => readLibraryId(db),
    markCopied: (place, { fingerprint }, chunks) =>
      write(db, async (sql) => {
        if ((await readSpace(sql))?.fingerprint === fingerprint) await insertCopiedVectors(sql, place, chunks)
      }),
    countUncopied: (place) => countUncopiedVectors(db, place),
  }
}

/**
 * Serializes vector writes. So vector numbers become visible in order, no reader of new vectors misses one, and there is only one space.
 */
function write<T>(db: Database, work: (sql: Sql) => Promise<T>): Promise<T> {
  return db.transaction(async (sql) => {
    await lock(sql, 'vectors')
    return work(sql)
  })
}

function readSpace(sql: Sql): Promise<VectorSpace | undefined> {
  return sql.get<VectorSpace>('SELECT model, fingerprint, dimensions FROM vector_space')
}

async function insertSpace(sql: Sql, { model, fingerprint, dimensions }: VectorSpace): Promise<void> {
  await sql.run('INSERT INTO vector_space (id, model, fingerprint, dimensions) VALUES (1, $1, $2, $3)', [
    model,
    fingerprint,
    dimensions,
  ])
  await createNearIndex(sql)
}

async function ensureSpace(sql: Sql, space: VectorSpace): Promise<void> {
  const found = await readSpace(sql)
  refuseOtherSpace(found, space)
  if (found === undefined) await insertSpace(sql, space)
}

/**
 * SQL condition for chunks after the position of source `$2` and chunk `$3`. Queries in this order fetch related data through subqueries
 * that cannot become joins, because the server would otherwise read all vectors to find a few.
 */
const AFTER = `(c.source, c.chunk_id) > (coalesce((SELECT id FROM sources WHERE uuid = $2 AND NOT is_removed), 0), $3::bytea)`

/** The position after a chunk; an empty hash sorts before all others. */
function toPosition(after: ChunkRef | undefined): [source: string, chunkId: Buffer] {
  return after === undefined ? ['', Buffer.alloc(0)] : [after.sourceId, packHash(after.chunkId)]
}

async function listMissing(
  sql: Sql,
  limit: number,
  sourceIds: readonly string[] | undefined,
  after: ChunkRef | undefined,
): Promise<UnembeddedChunk[]> {
  const found = await sql.all<MissingColumns>(
    `SELECT s.uuid AS "sourceId", c.chunk_id AS "chunkId", p.title, c.heading_path AS "headingPath", c.content,
       k.language
     FROM (SELECT c.id FROM chunks c WHERE ${AFTER} AND c.source = ANY (ARRAY(${REQUESTED_SOURCES}))
             AND coalesce((SELECT false FROM vectors v WHERE v.chunk = c.id), true)
             AND coalesce((SELECT false FROM refused_chunks r WHERE r.chunk = c.id), true)
           ORDER BY c.source, c.chunk_id LIMIT $4) AS missing
     JOIN chunks c ON c.id = missing.id JOIN pages p ON p.id = c.page JOIN sources s ON s.id = c.source
     LEFT JOIN likenesses k ON k.page = c.page
     ORDER BY c.source, c.chunk_id`,
    [sourceIds ?? null, ...toPosition(after), limit],
  )
  return found.map(({ title, headingPath, content, language, ...name }) => ({
    ...toChunkName(name),
    // The JSON was written by content.ts.
    text: embeddedText(title, JSON.parse(headingPath) as string[], content),
    language,
  }))
}

async function takeLease(sql: Sql, holder: string, now: number, ms: number): Promise<boolean> {
  // A lease beyond the maximum duration comes from a clock that was set back since.
  const changedRows = await sql.run(
    `INSERT INTO embedding_lease AS l (id, holder, until) VALUES (1, $1, $2::float8 + $3::float8)
     ON CONFLICT (id) DO UPDATE SET holder = excluded.holder, until = excluded.until
     WHERE l.holder = $1 OR l.until NOT BETWEEN $2::float8 + 1 AND greatest($2::float8 + $3::float8, $2::float8 + $4::float8)`,
    [holder, now, ms, MAX_LEASE_MS],
  )
  return changedRows === 1
}

/** Inserts vectors, except for chunks that were removed meanwhile. A replaced vector gets a new number. */
async function insertVectors(sql: Sql, chunks: readonly ChunkRef[], vectors: readonly Buffer[]): Promise<void> {
  await sql.run(
    `WITH held AS MATERIALIZED (${NAMED_CHUNKS} FOR KEY SHARE OF c),
     tried AS (DELETE FROM refused_chunks WHERE chunk IN (SELECT id FROM held)),
     copied AS (DELETE FROM copied_vectors WHERE chunk IN (SELECT id FROM held))
     INSERT INTO vectors (chunk, source, vector)
     SELECT id, source, ($3::bytea[])[place]
     FROM (SELECT DISTINCT ON (id) id, source, place FROM held ORDER BY id, place DESC) AS last_given ORDER BY place, id
     ON CONFLICT (chunk) DO UPDATE SET vector = excluded.vector, number = DEFAULT`,
    [...toChunkParameters(chunks), vectors],
  )
}

async function compare(sql: Sql, query: Float32Array, chunks: readonly ChunkRef[]): Promise<(number | null)[]> {
  const found = await sql.all<{ place: number; vector: Uint8Array }>(
    `SELECT DISTINCT ON (n.place) n.place, v.vector FROM (${NAMED_CHUNKS}) AS n JOIN vectors v ON v.chunk = n.id
     ORDER BY n.place, n.id`,
    toChunkParameters(chunks),
  )
  const vectors = new Map(found.map(({ place, vector }) => [place, vector]))
  return chunks.map((_, i) => {
    const vector = vectors.get(i + 1)
    return vector === undefined ? null : compareQuantized(query, vector)
  })
}

function hasOnlySourceFilter({ sourceIds: _, ...others }: ChunkFilter): boolean {
  return Object.values(others).every((condition) => condition === undefined)
}

/** The nearest chunks that match a filter, by source and chunk id. */
async function pickNearest(
  sql: Sql,
  compared: readonly ComparedVector[],
  limit: number,
  filter: ChunkFilter,
): Promise<NearChunk[]> {
  const nearest: NearChunk[] = []
  const batchSize = Math.max(limit, FILTER_BATCH_SIZE)
  for (let done = 0; done < compared.length && nearest.length < limit; done += batchSize) {
    const batch = compared.slice(done, done + batchSize)
    const passes = await testChunks(
      sql,
      filter,
      batch.map(({ chunk }) => chunk),
    )
    const matching = batch.filter((_, i) => passes[i]).slice(0, limit - nearest.length)
    const names = await readNames(
      sql,
      matching.map(({ chunk }) => chunk),
    )
    for (const { chunk, similarity } of matching) {
      const name = names.get(chunk)
      if (name !== undefined) nearest.push({ ...name, number: chunk, similarity })
    }
  }
  return nearest
}

async function readNames(sql: Sql, chunks: readonly number[]): Promise<Map<number, ChunkRef>> {
  const found = await sql.all<StoredChunkName & { id: number }>(
    `SELECT c.id, s.uuid AS "sourceId", c.chunk_id AS "chunkId" FROM chunks c JOIN sources s ON s.id = c.source
     WHERE c.id = ANY ($1::bigint[])`,
    [chunks],
  )
  return new Map(found.map(({ id, ...name }) => [id, toChunkName(name)]))
}

/** Counts the chunks of sources, and how many have a vector or were refused by the model. */
async function count(sql: Sql, sourceIds: readonly string[] | undefined): ReturnType<VectorIndex['count']> {
  const found = await sql.all<{ table: string; rows: number }>(
    `SELECT of_table AS table, sum(rows)::bigint AS rows FROM chunk_counts WHERE source IN (${REQUESTED_SOURCES}) GROUP BY 1`,
    [sourceIds ?? null],
  )
  const rows = Object.fromEntries(found.map((counted) => [counted.table, counted.rows]))
  return { embedded: rows['vectors'] ?? 0, chunks: rows['chunks'] ?? 0, refused: rows['refused_chunks'] ?? 0 }
}
