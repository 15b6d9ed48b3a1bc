import { messageOf } from '../core/errors.ts'
import { quantizeVector, restoreVector } from '../core/search/quantized-vector.ts'
import type { Clock } from '../crawl/ports.ts'
import { CircuitBreaker, CircuitOpenError } from '../library/circuit-breaker.ts'
import type { ChunkFilter, Store, StoredChunk } from '../library/store.ts'
import { type CopyState, isInStep, readCopied, writeCopyState } from '../library/vector-copy.ts'
import type { ChunkName, VectorIndex, VectorSpace } from '../library/vectors.ts'
import { waitAtMost } from '../library/wait-at-most.ts'
import type { QdrantCopy } from './qdrant-copy.ts'

/** Parts of an index with a copy. */
export interface QdrantIndexParts {
  /** The vectors of the store, which are authoritative. */
  readonly vectors: VectorIndex
  readonly copy: QdrantCopy
  readonly store: Pick<Store, 'listSources' | 'readChunk' | 'readPage'>
  readonly clock: Clock
  /** How long a search waits for the copy, in milliseconds. @default 700 */
  readonly searchMs?: number
  /** How long a write does. @default 5000 */
  readonly writeMs?: number
}

/** Only this many nearest chunks are checked against conditions that only the store knows, as in every store. */
const MOST_CHECKED = 2000
/** More than requested: some may be gone, and the store compares a little differently. */
const SPARE = 64
/** How long the copy is taken to be as it was found. */
const CHECK_MS = 10_000
/** How long it is left alone after a failure: the store answers meanwhile. */
const REST_MS = 30_000
/** Longest waits for it: of a search, which leaves a second to all of this, and of somebody whose vectors the store has already. */
const SEARCH_MS = 700
const WRITE_MS = 5000

/**
 * Vectors of a store with a copy in Qdrant. What is written goes to the store, then to the copy; what cannot be copied is left to
 * `syncVectors`: the store remembers what is. The nearest are looked for in the copy, and in the store while that fails or is out of
 * step; {@link VectorCopy.problem} tells why. Whatever the copy finds is compared once more by the store, so that similarities are the
 * same and nothing comes that is gone.
 */
export function createQdrantIndex({ vectors, copy, store, clock, searchMs, writeMs }: QdrantIndexParts): VectorIndex {
  const createBreaker = (): CircuitBreaker =>
    new CircuitBreaker({ threshold: 1, resetMs: REST_MS, now: () => clock.now() })
  const reading = createBreaker()
  const writing = createBreaker()
  let counted: { readonly at: number; readonly vectors: number; readonly points: number } | undefined

  /** How the copy compares. Its points are counted when the vectors are others than before, and now and then. */
  const readState = async (space: VectorSpace, signal: AbortSignal): Promise<CopyState> => {
    const { embedded } = await vectors.count()
    const now = clock.now()
    const isKnown = counted?.vectors === embedded && now - counted.at < CHECK_MS
    if (counted === undefined || !isKnown) {
      counted = { at: now, vectors: embedded, points: await copy.count(space, signal) }
    }
    return { vectors: embedded, points: counted.points, uncopied: await vectors.countUncopied(copy.location) }
  }
  /** The nearest by the copy; in words why not, where it is out of step. */
  const findThere = async (
    query: Float32Array,
    limit: number,
    filter: ChunkFilter,
    signal: AbortSignal,
  ): Promise<(ChunkName & { readonly similarity: number })[] | string> => {
    const space = await vectors.readSpace()
    if (space === undefined) return []
    const known = (await store.listSources()).map(({ id }) => id)
    const sourceIds = filter.sourceIds?.filter((id) => known.includes(id)) ?? known
    if (sourceIds.length === 0) return []
    const state = await readState(space, signal)
    if (!isInStep(state)) return writeCopyState(state)
    const asked = { vector: query, filter, sourceIds, limit: limit + SPARE, limitToCheck: MOST_CHECKED }
    const { names, check, isCut } = await copy.search(space, asked, signal)
    const { passing, gone } =
      check === undefined ? { passing: names, gone: 0 } : await choose(names, check, limit + SPARE)
    const similarities = await vectors.compare(query, passing)
    const found = passing.flatMap((name, i) => {
      const similarity = similarities[i] ?? null
      return similarity === null ? [] : [{ ...name, similarity }]
    })
    const isCrowded = gone > 0 || found.length < passing.length
    // Points of what went just now may have taken the room of others.
    if (isCut && isCrowded && found.length < limit) return 'points of what is gone in the room of others'
    copy.note(null)
    return found.sort((a, b) => b.similarity - a.similarity).slice(0, limit)
  }
  /** Selects the chunks that pass a check, and counts those that are gone. */
  const choose = async (
    names: readonly ChunkName[],
    check: (stored: StoredChunk) => boolean,
    most: number,
  ): Promise<{ readonly passing: readonly ChunkName[]; readonly gone: number }> => {
    const passing: ChunkName[] = []
    let gone = 0
    for (const name of names) {
      if (passing.length >= most) break
      const stored = await store.readChunk(name.sourceId, name.chunkId)
      if (stored === undefined) gone++
      else if (check(stored)) passing.push(name)
    }
    return { passing, gone }
  }

  /** Notes what is wrong. One that is left alone after a failure has that noted already. */
  const noteFailure = (error: unknown): void => {
    counted = undefined
    if (error instanceof CircuitOpenError && copy.problem !== null) return
    copy.note(messageOf(error))
  }

  return {
    ...vectors,
    write: async (space, written, signal) => {
      await vectors.write(space, written)
      // As the store gives them back, so that a later look finds them unchanged.
      const kept = written.map((one) => ({ ...one, vector: restoreVector(quantizeVector(one.vector)) }))
      const chunks = await readCopied(store, kept)
      const entries = chunks.map((chunk) => copy.describe(space, chunk))
      const write = () => waitAtMost(writeMs ?? WRITE_MS, signal, (both) => copy.writeOnce(space, entries, both))
      const counts = () => signal?.aborted !== true
      try {
        await writing.run(write, counts)
        await vectors.markCopied(copy.location, space, written)
        counted = undefined
      } catch (error) {
        // The store has them, which is what counts, and knows that the copy does not.
        if (counts()) noteFailure(error)
      }
    },
    nearest: async (query, limit, filter = {}, signal) => {
      const find = () => waitAtMost(searchMs ?? SEARCH_MS, signal, (both) => findThere(query, limit, filter, both))
      try {
        const found = await reading.run(find, () => signal?.aborted !== true)
        if (typeof found !== 'string') return found
        copy.note(`it has ${found}; \`pharos embed sync\` mends that`)
      } catch (error) {
        signal?.throwIfAborted()
        // The store finds them too, only not as fast where there are very many.
        noteFailure(error)
      }
      return vectors.nearest(query, limit, filter)
    },
  }
}
