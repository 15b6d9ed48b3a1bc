import { compareQuantized, quantizeVector } from '../../../core/search/quantized-vector.ts'
import { SignIndex } from '../../../core/search/sign-index.ts'
import type { Database } from '../database/database.ts'

/** A vector that was compared with a query. */
export interface ComparedVector {
  readonly chunk: number
  readonly similarity: number
}

/** A vector as it is stored. */
export interface StoredVector {
  readonly chunk: number
  readonly vector: Uint8Array
}

interface NumberedVector {
  readonly number: number
  readonly source: number
  readonly vector: Uint8Array
}

/** The vector space of the library, and how many vectors it contains. */
interface SignedSpace {
  readonly fingerprint: string
  readonly dimensions: number
  /** The number of the newest vector. */
  readonly last: number
  readonly vectors: number
}

/** The signs of all vectors that were read so far. */
interface Signs {
  readonly fingerprint: string
  readonly index: SignIndex
  /** Number of the last vector that was read. */
  last: number
}

/** Finds the nearest vectors in memory. */
export interface SignSearch {
  /** The vectors of these sources that are nearest to a query, nearest first. */
  find(query: Float32Array, space: SignedSpace, sources: readonly number[]): Promise<ComparedVector[]>
}

/** Batch size for reading vectors. */
const VECTORS_AT_ONCE = 5000
/** Number of candidates by sign that are compared exactly. */
export const SIGN_CANDIDATES = 2000

/** Keeps the signs of all vectors in memory; the first query reads them. */
export function createSignSearch(db: Database): SignSearch {
  let signs: Signs | undefined
  let reading: Promise<unknown> = Promise.resolve()
  /** Reads the signs of new vectors, or all of them again when many of the known vectors were removed. */
  const readSigns = async ({ fingerprint, dimensions, last, vectors }: SignedSpace): Promise<SignIndex> => {
    const isUsable = signs?.fingerprint === fingerprint && signs.index.size <= 2 * (vectors + 100)
    const current: Signs =
      signs !== undefined && isUsable ? signs : { fingerprint, index: new SignIndex(dimensions), last: 0 }
    signs = current
    while (current.last < last) {
      const batch = await db.all<NumberedVector>(
        'SELECT number, source, vector FROM vectors WHERE number > $1 ORDER BY number LIMIT $2',
        [current.last, VECTORS_AT_ONCE],
      )
      for (const { number, source, vector } of batch) current.index.add(number, source, vector)
      current.last = batch.at(-1)?.number ?? current.last
      if (batch.length < VECTORS_AT_ONCE) break
    }
    return current.index
  }
  return {
    async find(query, space, sources) {
      // Reads are serialized, so that no vector is added twice.
      const thisRead = reading.then(() => readSigns(space))
      reading = thisRead.catch(() => undefined)
      const index = await thisRead
      const wantedSources = new Set(sources)
      const near = index.nearest(quantizeVector(query), SIGN_CANDIDATES, (source) => wantedSources.has(source))
      // A vector may have been removed since its signs were read.
      const found = await db.all<StoredVector>(
        'SELECT chunk, vector FROM vectors WHERE number = ANY ($1::bigint[]) ORDER BY number',
        [near],
      )
      return compareAll(query, found)
    },
  }
}

/** Compares vectors with a query, nearest first. */
export function compareAll(query: Float32Array, vectors: readonly StoredVector[]): ComparedVector[] {
  return vectors
    .map(({ chunk, vector }) => ({ chunk, similarity: compareQuantized(query, vector) }))
    .sort((a, b) => b.similarity - a.similarity)
}
