import { setImmediate as pause } from 'node:timers/promises'
import { compareQuantized, quantizeVector } from '../../core/search/quantized-vector.ts'
import { SignIndex } from '../../core/search/sign-index.ts'
import { checkVectors, refuseOtherSpace } from '../../library/check-vectors.ts'
import { embeddedText } from '../../library/embedded-text.ts'
import type { ChunkFilter } from '../../library/store.ts'
import type { ChunkName, UnembeddedChunk, VectorIndex, VectorSpace } from '../../library/vectors.ts'
import type { Database } from './database.ts'
import { packHash, type StoredHash, unpackHash } from './hash.ts'
import type { Sources } from './sources.ts'

/** What the vectors need of the store that they belong to. */
export interface VectorNeeds {
  readonly sources: Sources
  /** Runs work as one transaction. */
  write<T>(work: () => T): Promise<T>
  /** Makes a test of chunks, by their number, for everything that a filter asks besides the sources. */
  createTest(filter: ChunkFilter): (chunk: number) => boolean
}

interface Missing {
  readonly sourceId: string
  readonly chunkId: StoredHash
  readonly title: string
  readonly headingPath: string
  readonly content: string
}

interface StoredVector {
  readonly number: number
  readonly source: number
  readonly vector: Uint8Array
}

/** The signs of all vectors, as far as they were read. */
interface Signs {
  readonly fingerprint: string
  readonly index: SignIndex
  /** Number of the last vector that was read. */
  last: number
}

/** So many vectors are read before others may go on. */
const VECTORS_AT_ONCE = 5000
/** So many that are near by their signs are compared as they are. */
const NEAR_BY_SIGNS = 2000

/** Nobody keeps the right to embed for longer without asking again. */
const LONGEST_LEASE_MS = 3_600_000

/** Prepares the vectors of chunks, which go with them. */
export function createVectors(db: Database, needs: VectorNeeds): VectorIndex {
  const { sources, write, createTest } = needs
  const selectSpace = db.prepare<[], VectorSpace>('SELECT model, fingerprint, dimensions FROM vector_space')
  const insertSpace = db.prepare<[string, string, number]>(
    'INSERT OR REPLACE INTO vector_space (id, model, fingerprint, dimensions) VALUES (1, ?, ?, ?)',
  )
  const deleteAll = db.prepare('DELETE FROM vectors')
  const selectMissing = db.prepare<[number, StoredHash | number, string, number], Missing>(
    `SELECT s.uuid AS sourceId, c.chunk_id AS chunkId, p.title, c.heading_path AS headingPath, c.content
     FROM (SELECT id FROM chunks m INDEXED BY chunks_by_chunk_id
           WHERE (m.source, m.chunk_id) > (?, ?) AND m.source IN (SELECT value FROM json_each(?)) AND NOT EXISTS (
             SELECT 1 FROM vectors v WHERE v.chunk = m.id)
           ORDER BY m.source, m.chunk_id LIMIT ?) AS missing
     CROSS JOIN chunks c ON c.id = missing.id JOIN pages p ON p.id = c.page JOIN sources s ON s.id = c.source
     ORDER BY c.source, c.chunk_id`,
  )
  // One that ends later than any could is of a clock that was set back since.
  const takeLease = db.prepare<{ holder: string; now: number; until: number }>(
    `INSERT INTO embedding_lease (id, holder, until) VALUES (1, @holder, @until)
     ON CONFLICT DO UPDATE SET holder = @holder, until = @until
     WHERE holder = @holder OR until NOT BETWEEN @now + 1 AND max(@until, @now + ${LONGEST_LEASE_MS})`,
  )
  const insert = db.prepare<[Uint8Array, number, StoredHash]>(
    'INSERT OR REPLACE INTO vectors (chunk, source, vector) SELECT id, source, ? FROM chunks WHERE source = ? AND chunk_id = ?',
  )
  const selectOne = db
    .prepare<[number, StoredHash], Uint8Array>(
      'SELECT v.vector FROM chunks c JOIN vectors v ON v.chunk = c.id WHERE c.source = ? AND c.chunk_id = ? LIMIT 1',
    )
    .pluck()
  const selectNew = db.prepare<[number, number], StoredVector>(
    'SELECT number, source, vector FROM vectors WHERE number > ? ORDER BY number LIMIT ?',
  )
  const selectNumbered = db.prepare<[number], { chunk: number; vector: Uint8Array }>(
    'SELECT chunk, vector FROM vectors WHERE number = ?',
  )
  const countAll = db.prepare<[], number>('SELECT count(*) FROM vectors').pluck()
  const selectName = db.prepare<[number], { sourceId: string; chunkId: StoredHash }>(
    'SELECT s.uuid AS sourceId, c.chunk_id AS chunkId FROM chunks c JOIN sources s ON s.id = c.source WHERE c.id = ?',
  )
  const countIn = (table: string) =>
    db
      .prepare<[string], number>(`SELECT count(*) FROM ${table} WHERE source IN (SELECT value FROM json_each(?))`)
      .pluck()
  const countVectors = countIn('vectors')
  const countChunks = countIn('chunks')
  const selectChanges = db.prepare<[], number>('SELECT total_changes()').pluck()

  /** The numbers of the given sources, or of all that are to be seen, for SQL. */
  const numbersOf = (ids: readonly string[] | undefined): string => {
    const all = ids ?? sources.list().map(({ id }) => id)
    return JSON.stringify(all.flatMap((id) => sources.numberOf(id) ?? []))
  }
  const takeUpSpace = (space: VectorSpace): void => {
    const found = selectSpace.get()
    refuseOtherSpace(found, space)
    if (found === undefined) insertSpace.run(space.model, space.fingerprint, space.dimensions)
  }
  let signs: Signs | undefined
  /** The signs of all vectors: those that are new are read, and all of them anew when many of those that were read are gone. */
  const readSigns = async (): Promise<SignIndex | undefined> => {
    const space = selectSpace.get()
    if (space === undefined) return undefined
    const isUsable = signs?.fingerprint === space.fingerprint && signs.index.size <= 2 * ((countAll.get() ?? 0) + 100)
    const known = signs !== undefined && isUsable ? signs : createSigns(space)
    signs = known
    for (;;) {
      const some = selectNew.all(known.last, VECTORS_AT_ONCE)
      for (const { number, source, vector } of some) known.index.add(number, source, vector)
      known.last = some.at(-1)?.number ?? known.last
      if (some.length < VECTORS_AT_ONCE) return known.index
      await pause()
    }
  }
  /** Counted anew only when something was written, by whomever: a search asks it each time. */
  let counted = { key: '', embedded: 0, chunks: 0 }

  return {
    readSpace: async () => selectSpace.get(),
    replaceSpace: ({ model, fingerprint, dimensions }) =>
      write(() => {
        deleteAll.run()
        insertSpace.run(model, fingerprint, dimensions)
      }),
    listMissing: async (limit, sourceIds, after) => {
      const source = after === undefined ? 0 : (sources.numberOf(after.sourceId) ?? 0)
      // Before every hash there is a number.
      const hash = after === undefined ? 0 : packHash(after.chunkId)
      return selectMissing.all(source, hash, numbersOf(sourceIds), limit).map(toUnembedded)
    },
    lease: (holder, now, ms) => write(() => takeLease.run({ holder, now, until: now + ms }).changes === 1),
    write: async (space, vectors) => {
      checkVectors(space, vectors)
      const rows = vectors.map((one) => ({ ...one, bytes: quantizeVector(one.vector) }))
      await write(() => {
        takeUpSpace(space)
        for (const { sourceId, chunkId, bytes } of rows) {
          const source = sources.numberOf(sourceId)
          // Whatever is gone meanwhile needs none.
          if (source !== undefined) insert.run(bytes, source, packHash(chunkId))
        }
      })
    },
    compare: async (query, chunks) =>
      chunks.map(({ sourceId, chunkId }) => {
        const source = sources.numberOf(sourceId)
        const bytes = source === undefined ? undefined : selectOne.get(source, packHash(chunkId))
        return bytes === undefined ? null : compareQuantized(query, bytes)
      }),
    nearest: async (query, limit, filter = {}) => {
      const index = await readSigns()
      const asked = new Set<unknown>(JSON.parse(numbersOf(filter.sourceIds)))
      const near = index?.nearest(quantizeVector(query), NEAR_BY_SIGNS, (source) => asked.has(source)) ?? []
      const compared = near.flatMap((number) => {
        // One that was read may be gone.
        const found = selectNumbered.get(number)
        return found === undefined ? [] : [{ ...found, similarity: compareQuantized(query, found.vector) }]
      })
      const passes = createTest(filter)
      const nearest: (ChunkName & { similarity: number })[] = []
      for (const { chunk, similarity } of compared.sort((a, b) => b.similarity - a.similarity)) {
        if (nearest.length >= limit) break
        const name = passes(chunk) ? selectName.get(chunk) : undefined
        if (name !== undefined) nearest.push({ sourceId: name.sourceId, chunkId: unpackHash(name.chunkId), similarity })
      }
      return nearest
    },
    count: async (sourceIds) => {
      const numbers = numbersOf(sourceIds)
      const key = `${db.pragma('data_version', { simple: true })} ${selectChanges.get()} ${numbers}`
      if (counted.key !== key) {
        counted = { key, embedded: countVectors.get(numbers) ?? 0, chunks: countChunks.get(numbers) ?? 0 }
      }
      return { embedded: counted.embedded, chunks: counted.chunks }
    },
  }
}

function toUnembedded({ sourceId, chunkId, title, headingPath, content }: Missing): UnembeddedChunk {
  // Written by content.ts.
  const headings = JSON.parse(headingPath) as string[]
  return { sourceId, chunkId: unpackHash(chunkId), text: embeddedText(title, headings, content) }
}

function createSigns({ fingerprint, dimensions }: VectorSpace): Signs {
  return { fingerprint, index: new SignIndex(dimensions), last: 0 }
}
