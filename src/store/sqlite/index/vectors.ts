import { setImmediate as pause } from 'node:timers/promises'
import { InMemoryVectors } from '../../../core/search/in-memory-vectors.ts'
import { compareQuantized, quantizeVector, restoreVector } from '../../../core/search/quantized-vector.ts'
import { SignIndex } from '../../../core/search/sign-index.ts'
import { selectTop } from '../../../core/search/top.ts'
import { checkVectors, refuseOtherSpace } from '../../../library/embed/check-vectors.ts'
import { embeddedText } from '../../../library/embed/embedded-text.ts'
import type { ChunkFilter } from '../../../library/ports/store.ts'
import type { ChunkRef, NearChunk, UnembeddedChunk, VectorIndex, VectorSpace } from '../../../library/ports/vectors.ts'
import { parseStored } from '../../common/damage.ts'
import { createCopiedVectors } from '../copy/copied-vectors.ts'
import type { Database } from '../database/database.ts'
import { packHash, type StoredHash } from '../database/hash.ts'
import { createStateKey } from '../ledger/state-key.ts'
import type { Sources } from '../sources.ts'
import { createRefusedChunks, type StoredChunkName, toChunkName } from './refused-chunks.ts'

/** The parts of the store that the vector index needs. */
export interface VectorNeeds {
  readonly sources: Sources
  /** Runs work as one transaction. */
  write<T>(work: () => T): Promise<T>
  /** Creates a predicate on chunk numbers for all conditions of a filter except the sources. */
  createTest(filter: ChunkFilter): (chunk: number) => boolean
}

interface MissingColumns extends StoredChunkName {
  readonly title: string
  readonly headingPath: string
  readonly content: string
  readonly language: string | null
}

interface StoredVector {
  readonly number: number
  readonly source: number
  readonly vector: Uint8Array
}

/** The signs of all vectors that were read so far. */
interface Signs {
  readonly fingerprint: string
  readonly index: SignIndex
  /** The first vectors in full; other vectors are read from the file. */
  readonly firstVectors: InMemoryVectors
  /** Number of the last vector that was read. */
  last: number
  /** The state of the library at the last complete read. */
  key: string
}

/** Batch size for reading vectors, before the event loop gets a turn. */
const VECTORS_AT_ONCE = 5000
/** How many vectors are compared exactly: those whose signs are most similar to the signs of the query. */
const SIGN_CANDIDATES = 2000

/** Maximum number of vectors in memory, about 16 MB with the built-in model; others are read for each comparison. */
const MAX_IN_MEMORY = 40_000

/** Maximum duration of the embedding lease without renewal. */
const MAX_LEASE_MS = 3_600_000

/** Creates the vector store; a vector is deleted with its chunk. */
export function createVectors(db: Database, needs: VectorNeeds): VectorIndex {
  const { sources, write } = needs
  const sql = prepareVectors(db)
  const refusals = createRefusedChunks(db)
  const copied = createCopiedVectors(db)
  const stateKey = createStateKey(db)

  /** The numbers of the given sources, or of all visible ones. */
  const listNumbers = (ids: readonly string[] | undefined): number[] =>
    (ids ?? sources.list().map(({ id }) => id)).flatMap((id) => sources.numberOf(id) ?? [])
  /** The same as JSON for SQL. */
  const numbersOf = (ids: readonly string[] | undefined): string => JSON.stringify(listNumbers(ids))
  /** The position after a chunk, for SQL; a number sorts before every hash. */
  const positionAfter = (after: ChunkRef | undefined): [number, StoredHash | number] =>
    after === undefined ? [0, 0] : [sources.numberOf(after.sourceId) ?? 0, packHash(after.chunkId)]
  const adoptSpace = (space: VectorSpace): void => {
    const found = sql.selectSpace.get()
    refuseOtherSpace(found, space)
    if (found === undefined) sql.insertSpace.run(space.model, space.fingerprint, space.dimensions)
  }

  return {
    readSpace: async () => sql.selectSpace.get(),
    replaceSpace: ({ model, fingerprint, dimensions }) =>
      write(() => {
        if (sql.selectSpace.get()?.fingerprint === fingerprint) return
        sql.deleteAll.run()
        refusals.deleteAll()
        copied.deleteAll()
        sql.insertSpace.run(model, fingerprint, dimensions)
      }),
    listMissing: async (limit, sourceIds, after) =>
      sql.selectMissing.all(...positionAfter(after), numbersOf(sourceIds), limit).map(toUnembedded),
    list: async (limit, after, sourceIds) =>
      sql.selectVectors
        .all(...positionAfter(after), numbersOf(sourceIds), limit)
        .map((row) => ({ ...toChunkName(row), vector: restoreVector(row.vector) })),
    refuse: (space, chunks) =>
      write(() => {
        adoptSpace(space)
        for (const { sourceId, chunkId, problem } of chunks) {
          const source = sources.numberOf(sourceId)
          if (source !== undefined) refusals.insert(source, chunkId, problem)
        }
      }),
    listRefused: async (limit, sourceIds) => refusals.list(numbersOf(sourceIds), limit),
    forgetRefused: (sourceIds) => write(() => refusals.deleteOf(numbersOf(sourceIds))),
    lease: (holder, now, ms) => write(() => sql.takeLease.run({ holder, now, until: now + ms }).changes === 1),
    write: async (space, vectors) => {
      checkVectors(space, vectors)
      const rows = vectors.map((written) => ({ ...written, bytes: quantizeVector(written.vector) }))
      await write(() => {
        adoptSpace(space)
        for (const { sourceId, chunkId, bytes } of rows) {
          const source = sources.numberOf(sourceId)
          // A chunk that was removed meanwhile needs no vector.
          if (source === undefined) continue
          sql.insert.run(bytes, source, packHash(chunkId))
          refusals.delete(source, chunkId)
          copied.delete(source, chunkId)
        }
      })
    },
    ...createCounts(sql, copied, stateKey, numbersOf),
    ...createVectorSearch(needs, sql, stateKey, listNumbers),
    readLibraryId: async () => copied.libraryId(),
    markCopied: (place, { fingerprint }, chunks) =>
      write(() => {
        if (sql.selectSpace.get()?.fingerprint !== fingerprint) return
        copied.setLocation(place)
        for (const { sourceId, chunkId } of chunks) {
          const source = sources.numberOf(sourceId)
          if (source !== undefined) copied.insert(source, chunkId)
        }
      }),
  }
}

/** Creates the counts, which are cached until any process writes, because every search reads them. */
function createCounts(
  sql: Statements,
  copied: ReturnType<typeof createCopiedVectors>,
  stateKey: () => string,
  numbersOf: (ids: readonly string[] | undefined) => string,
): Pick<VectorIndex, 'count' | 'countUncopied'> {
  let cachedCounts = { key: '', embedded: 0, chunks: 0, refused: 0 }
  let cachedUncopied = { key: '', count: 0 }
  return {
    count: async (sourceIds) => {
      const numbers = numbersOf(sourceIds)
      const key = `${stateKey()} ${numbers}`
      if (cachedCounts.key !== key) {
        const [embedded = 0, chunks = 0, refused = 0] = [sql.countVectors, sql.countChunks, sql.countRefused].map(
          (statement) => statement.get(numbers),
        )
        cachedCounts = { key, embedded, chunks, refused }
      }
      const { embedded, chunks, refused } = cachedCounts
      return { embedded, chunks, refused }
    },
    countUncopied: async (place) => {
      const numbers = numbersOf(undefined)
      const key = `${stateKey()} ${numbers} ${place}`
      if (cachedUncopied.key !== key) {
        cachedUncopied = { key, count: (sql.countVectors.get(numbers) ?? 0) - copied.count(place, numbers) }
      }
      return cachedUncopied.count
    },
  }
}

/** Creates the comparison of a query with the vectors. */
function createVectorSearch(
  { sources, createTest }: VectorNeeds,
  sql: Statements,
  stateKey: () => string,
  listNumbers: (ids: readonly string[] | undefined) => readonly number[],
): Pick<VectorIndex, 'compare' | 'nearest'> {
  const findVector = ({ sourceId, chunkId }: ChunkRef): Uint8Array | undefined => {
    const source = sources.numberOf(sourceId)
    return source === undefined ? undefined : sql.selectOne.get(source, packHash(chunkId))
  }
  let signs: Signs | undefined
  /** Reads the signs of new vectors. Reads all signs again when the vector space changed, or when many known vectors were removed. */
  const readSigns = async (): Promise<Signs | undefined> => {
    const space = sql.selectSpace.get()
    if (space === undefined) return undefined
    const key = stateKey()
    if (signs?.key === key) return signs
    const isUsable =
      signs?.fingerprint === space.fingerprint && signs.index.size <= 2 * ((sql.countAll.get() ?? 0) + 100)
    const known = signs !== undefined && isUsable ? signs : createSigns(space)
    signs = known
    for (;;) {
      const batch = sql.selectNew.all(known.last, VECTORS_AT_ONCE)
      for (const { number, source, vector } of batch) {
        known.index.add(number, source, vector)
        if (known.firstVectors.size < MAX_IN_MEMORY) known.firstVectors.add(vector)
      }
      known.last = batch.at(-1)?.number ?? known.last
      if (batch.length < VECTORS_AT_ONCE) {
        known.key = key
        return known
      }
      await pause()
    }
  }
  return {
    compare: async (query, chunks) =>
      chunks.map((chunk) => {
        const bytes = chunk.number === undefined ? findVector(chunk) : sql.selectOfChunk.get(chunk.number)
        return bytes === undefined ? null : compareQuantized(query, bytes)
      }),
    nearest: async (query, limit, filter = {}) => {
      const known = await readSigns()
      if (known === undefined) return []
      const { index, firstVectors } = known
      const sourceNumbers = new Set(listNumbers(filter.sourceIds))
      const isWanted = (source: number) => sourceNumbers.has(source)
      const positions = index.nearestPositions(quantizeVector(query), SIGN_CANDIDATES, isWanted)
      const similarities = Float64Array.from(positions, (position) => {
        if (position < firstVectors.size) return firstVectors.compare(query, position)
        const bytes = sql.selectVector.get(index.keyAt(position))
        return bytes === undefined ? Number.NEGATIVE_INFINITY : compareQuantized(query, bytes)
      })
      const passes = createTest(filter)
      const nearest: NearChunk[] = []
      selectTop(Uint32Array.from(positions.keys()), similarities, limit, (i) => {
        // A chunk may have been removed since its vector was read.
        const found = sql.selectName.get(index.keyAt(positions[i] ?? 0))
        if (found === undefined || !passes(found.chunk)) return false
        nearest.push({ ...toChunkName(found), number: found.chunk, similarity: similarities[i] ?? 0 })
        return true
      })
      return nearest
    },
  }
}

type Statements = ReturnType<typeof prepareVectors>

/** The statements of the vector tables. */
function prepareVectors(db: Database) {
  const countIn = (table: string) =>
    db
      .prepare<[string], number>(`SELECT count(*) FROM ${table} WHERE source IN (SELECT value FROM json_each(?))`)
      .pluck()
  return {
    selectSpace: db.prepare<[], VectorSpace>('SELECT model, fingerprint, dimensions FROM vector_space'),
    insertSpace: db.prepare<[string, string, number]>(
      'INSERT OR REPLACE INTO vector_space (id, model, fingerprint, dimensions) VALUES (1, ?, ?, ?)',
    ),
    deleteAll: db.prepare('DELETE FROM vectors'),
    selectMissing: db.prepare<[number, StoredHash | number, string, number], MissingColumns>(
      `SELECT s.uuid AS sourceId, c.chunk_id AS chunkId, p.title, c.heading_path AS headingPath, c.content, k.language
       FROM (SELECT id FROM chunks m INDEXED BY chunks_by_chunk_id
             WHERE (m.source, m.chunk_id) > (?, ?) AND m.source IN (SELECT value FROM json_each(?))
               AND NOT EXISTS (SELECT 1 FROM vectors v WHERE v.chunk = m.id)
               AND NOT EXISTS (SELECT 1 FROM refused_chunks r WHERE r.chunk = m.id)
             ORDER BY m.source, m.chunk_id LIMIT ?) AS missing
       CROSS JOIN chunks c ON c.id = missing.id JOIN pages p ON p.id = c.page JOIN sources s ON s.id = c.source
       LEFT JOIN likenesses k ON k.page = c.page
       ORDER BY c.source, c.chunk_id`,
    ),
    selectVectors: db.prepare<[number, StoredHash | number, string, number], StoredChunkName & { vector: Uint8Array }>(
      `SELECT s.uuid AS sourceId, c.chunk_id AS chunkId, v.vector
       FROM chunks c INDEXED BY chunks_by_chunk_id CROSS JOIN vectors v ON v.chunk = c.id JOIN sources s ON s.id = c.source
       WHERE (c.source, c.chunk_id) > (?, ?) AND c.source IN (SELECT value FROM json_each(?))
       ORDER BY c.source, c.chunk_id LIMIT ?`,
    ),
    // A lease that ends later than the maximum duration allows was taken before the clock was set back.
    takeLease: db.prepare<{ holder: string; now: number; until: number }>(
      `INSERT INTO embedding_lease (id, holder, until) VALUES (1, @holder, @until)
       ON CONFLICT DO UPDATE SET holder = @holder, until = @until
       WHERE holder = @holder OR until NOT BETWEEN @now + 1 AND max(@until, @now + ${MAX_LEASE_MS})`,
    ),
    insert: db.prepare<[Uint8Array, number, StoredHash]>(
      'INSERT OR REPLACE INTO vectors (chunk, source, vector) SELECT id, source, ? FROM chunks WHERE source = ? AND chunk_id = ?',
    ),
    selectOne: db
      .prepare<[number, StoredHash], Uint8Array>(
        'SELECT v.vector FROM chunks c JOIN vectors v ON v.chunk = c.id WHERE c.source = ? AND c.chunk_id = ? LIMIT 1',
      )
      .pluck(),
    selectNew: db.prepare<[number, number], StoredVector>(
      'SELECT number, source, vector FROM vectors WHERE number > ? ORDER BY number LIMIT ?',
    ),
    selectVector: db.prepare<[number], Uint8Array>('SELECT vector FROM vectors WHERE number = ?').pluck(),
    selectOfChunk: db.prepare<[number], Uint8Array>('SELECT vector FROM vectors WHERE chunk = ?').pluck(),
    countAll: db.prepare<[], number>('SELECT count(*) FROM vectors').pluck(),
    selectName: db.prepare<[number], StoredChunkName & { chunk: number }>(
      `SELECT v.chunk, s.uuid AS sourceId, c.chunk_id AS chunkId
       FROM vectors v JOIN chunks c ON c.id = v.chunk JOIN sources s ON s.id = c.source WHERE v.number = ?`,
    ),
    countVectors: countIn('vectors'),
    countChunks: countIn('chunks'),
    countRefused: countIn('refused_chunks'),
  }
}

function toUnembedded({ title, headingPath, content, language, ...name }: MissingColumns): UnembeddedChunk {
  // The JSON was written by content.ts.
  const headings = parseStored<string[]>(headingPath)
  return { ...toChunkName(name), text: embeddedText(title, headings, content), language }
}

function createSigns({ fingerprint, dimensions }: VectorSpace): Signs {
  return {
    fingerprint,
    index: new SignIndex(dimensions),
    firstVectors: new InMemoryVectors(dimensions),
    last: 0,
    key: '',
  }
}
