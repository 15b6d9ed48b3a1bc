import { compareQuantized, quantizeVector } from '../../core/search/quantized-vector.ts'
import { SignIndex } from '../../core/search/sign-index.ts'
import type { Database } from './database.ts'

/** A vector that was compared with a query. */
export interface Compared {
  readonly chunk: number
  readonly similarity: number
}

/** A vector as it is kept. */
export interface KeptVector {
  readonly chunk: number
  readonly vector: Uint8Array
}

interface NumberedVector {
  readonly number: number
  readonly source: number
  readonly vector: Uint8Array
}

/** Which vectors there are. */
interface SignedSpace {
  readonly fingerprint: string
  readonly dimensions: number
  /** The number of the newest. */
  readonly last: number
  readonly vectors: number
}

/** The signs of all vectors, as far as they were read. */
interface Signs {
  readonly fingerprint: string
  readonly index: SignIndex
  /** Number of the last vector that was read. */
  last: number
}

/** Finds the nearest vectors without the help of the server. */
export interface NearBySigns {
  /** Those nearest to a query of the sources with these numbers, nearest first. */
  find(query: Float32Array, space: SignedSpace, sources: readonly number[]): Promise<Compared[]>
}

/** So many vectors are read at once. */
const VECTORS_AT_ONCE = 5000
/** So many that are near by their signs are compared as they are. */
export const MOST_NEAR = 2000

/** Keeps the signs of all vectors in memory, which are read with the first question. */
export function createSigns(db: Database): NearBySigns {
  let signs: Signs | undefined
  let reading: Promise<unknown> = Promise.resolve()
  /** The signs of all vectors: those that are new are read, and all of them anew when many of those that were read are gone. */
  const readSigns = async ({ fingerprint, dimensions, last, vectors }: SignedSpace): Promise<SignIndex> => {
    const isUsable = signs?.fingerprint === fingerprint && signs.index.size <= 2 * (vectors + 100)
    const current: Signs =
      signs !== undefined && isUsable ? signs : { fingerprint, index: new SignIndex(dimensions), last: 0 }
    signs = current
    while (current.last < last) {
      const some = await db.all<NumberedVector>(
        'SELECT number, source, vector FROM vectors WHERE number > $1 ORDER BY number LIMIT $2',
        [current.last, VECTORS_AT_ONCE],
      )
      for (const { number, source, vector } of some) current.index.add(number, source, vector)
      current.last = some.at(-1)?.number ?? current.last
      if (some.length < VECTORS_AT_ONCE) break
    }
    return current.index
  }
  return {
    async find(query, space, sources) {
      // One after the other, so that none is added twice.
      const mine = reading.then(() => readSigns(space))
      reading = mine.catch(() => undefined)
      const index = await mine
      const asked = new Set(sources)
      const near = index.nearest(quantizeVector(query), MOST_NEAR, (source) => asked.has(source))
      // One that was read may be gone.
      const found = await db.all<KeptVector>(
        'SELECT chunk, vector FROM vectors WHERE number = ANY ($1::bigint[]) ORDER BY number',
        [near],
      )
      return compareAll(query, found)
    },
  }
}

/** Vectors as they are to a query, nearest first. */
export function compareAll(query: Float32Array, vectors: readonly KeptVector[]): Compared[] {
  return vectors
    .map(({ chunk, vector }) => ({ chunk, similarity: compareQuantized(query, vector) }))
    .sort((a, b) => b.similarity - a.similarity)
}
