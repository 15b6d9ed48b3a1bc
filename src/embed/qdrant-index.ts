import { messageOf } from '../core/errors.ts'
import { quantizeVector, restoreVector } from '../core/search/quantized-vector.ts'
import type { Clock } from '../crawl/ports.ts'
import { CircuitBreaker, CircuitOpenError } from '../library/circuit-breaker.ts'
import type { ChunkFilter, Store, StoredChunk } from '../library/ports/store.ts'
import { isInSync, readCopiedChunks, type VectorCopyState, writeCopyState } from '../library/ports/vector-copy.ts'
import type { ChunkRef, VectorIndex, VectorSpace } from '../library/ports/vectors.ts'
import { withTimeout } from '../library/with-timeout.ts'
import type { QdrantCopy } from './qdrant-copy.ts'

/** Parts of an index with a copy. */
export interface QdrantIndexParts {
  /** The vectors of the store, which are authoritative. */
  readonly vectors: VectorIndex
  readonly copy: QdrantCopy
  readonly store: Pick<Store, 'listSources' | 'readChunk' | 'readPage'>
  readonly clock: Clock
  /** Timeout of a search in the copy, in milliseconds. @default 700 */
  readonly searchMs?: number
  /** Timeout of a write to the copy, in milliseconds. @default 5000 */
  readonly writeMs?: number
}

/**
 * How many of the nearest chunks are checked against the conditions that Qdrant cannot check (paths, headings, symbol prefixes). The stores
 * have the same limit.
 */
const MAX_CHECKED = 2000
/** Extra hits to request, because some chunks may be deleted and the store computes slightly different similarities. */
const EXTRA_HITS = 64
/** How long the number of points in the copy is cached, in milliseconds. */
const STATE_CACHE_MS = 10_000
/** Cool-down after a failure, in which the store answers instead. */
const COOLDOWN_MS = 30_000
/** Timeouts of the copy: a search must finish within a second, and a write must not delay a caller whose vectors are already stored. */
const SEARCH_TIMEOUT_MS = 700
const WRITE_TIMEOUT_MS = 5000

/**
 * The vectors of a store with a copy in Qdrant. Writes go to the store, then to the copy. The store records what is copied, and
 * `syncVectors` copies the rest. Searches use the copy, or the store while the copy fails or is out of date; {@link VectorCopy.problem} has
 * the reason. The store recomputes the similarity of each hit of the copy, so that a search gives the same similarities with and without
 * the copy, and no deleted chunks.
 */
export function createQdrantIndex(parts: QdrantIndexParts): VectorIndex {
  const { vectors, copy, store, clock, searchMs, writeMs } = parts
  const createBreaker = (): CircuitBreaker =>
    new CircuitBreaker({ threshold: 1, resetMs: COOLDOWN_MS, now: () => clock.now() })
  const readBreaker = createBreaker()
  const writeBreaker = createBreaker()
  let lastCount: { readonly at: number; readonly vectors: number; readonly points: number } | undefined

  /**
   * The state of the copy. Its points are counted again if the number of vectors has changed or the last count is older than
   * {@link STATE_CACHE_MS}.
   */
  const readState = async (space: VectorSpace, signal: AbortSignal): Promise<VectorCopyState> => {
    const { embedded } = await vectors.count()
    const now = clock.now()
    const isCurrent = lastCount?.vectors === embedded && now - lastCount.at < STATE_CACHE_MS
    if (lastCount === undefined || !isCurrent) {
      lastCount = { at: now, vectors: embedded, points: await copy.count(space, signal) }
    }
    return { vectors: embedded, points: lastCount.points, uncopied: await vectors.countUncopied(copy.location) }
  }

  /** Records a failure, unless the circuit breaker rejected the call: then the failure that opened it is already recorded. */
  const noteFailure = (error: unknown): void => {
    lastCount = undefined
    if (error instanceof CircuitOpenError && copy.problem !== null) return
    copy.setProblem(messageOf(error))
  }

  return {
    ...vectors,
    write: async (space, written, signal) => {
      await vectors.write(space, written)
      // Rounds the vectors as the store does, so that a later sync finds no difference between store and copy.
      const rounded = written.map((entry) => ({ ...entry, vector: restoreVector(quantizeVector(entry.vector)) }))
      const chunks = await readCopiedChunks(store, rounded)
      const entries = chunks.map((chunk) => copy.describe(space, chunk))
      const write = () =>
        withTimeout(writeMs ?? WRITE_TIMEOUT_MS, signal, (limited) => copy.writeWithoutRetries(space, entries, limited))
      const isNotAborted = () => signal?.aborted !== true
      try {
        await writeBreaker.run(write, isNotAborted)
        await vectors.markCopied(copy.location, space, written)
        lastCount = undefined
      } catch (error) {
        // The store has the vectors, and records that the copy lacks them.
        if (isNotAborted()) noteFailure(error)
      }
    },
    nearest: async (query, limit, filter = {}, signal) => {
      const find = () =>
        withTimeout(searchMs ?? SEARCH_TIMEOUT_MS, signal, (limited) =>
          searchCopy(parts, readState, { query, limit, filter }, limited),
        )
      try {
        const found = await readBreaker.run(find, () => signal?.aborted !== true)
        if (typeof found !== 'string') return found
        copy.setProblem(`it has ${found}; \`pharos embed sync\` updates the copy`)
      } catch (error) {
        signal?.throwIfAborted()
        // The store answers the same query, only slower when there are very many vectors.
        noteFailure(error)
      }
      return vectors.nearest(query, limit, filter)
    },
  }
}

/** Returns the nearest chunks according to the copy. If the copy is out of date, returns a text that completes the problem `it has …`. */
async function searchCopy(
  { vectors, copy, store }: QdrantIndexParts,
  readState: (space: VectorSpace, signal: AbortSignal) => Promise<VectorCopyState>,
  { query, limit, filter }: { readonly query: Float32Array; readonly limit: number; readonly filter: ChunkFilter },
  signal: AbortSignal,
): Promise<(ChunkRef & { readonly similarity: number })[] | string> {
  const space = await vectors.readSpace()
  if (space === undefined) return []
  const known = (await store.listSources()).map(({ id }) => id)
  const sourceIds = filter.sourceIds?.filter((id) => known.includes(id)) ?? known
  if (sourceIds.length === 0) return []
  const state = await readState(space, signal)
  if (!isInSync(state)) return writeCopyState(state)
  const copyQuery = { vector: query, filter, sourceIds, limit: limit + EXTRA_HITS, limitToCheck: MAX_CHECKED }
  const { chunks, postFilter, isTruncated } = await copy.search(space, copyQuery, signal)
  const { passing, deletedCount } =
    postFilter === undefined
      ? { passing: chunks, deletedCount: 0 }
      : await selectPassing(store, chunks, postFilter, limit + EXTRA_HITS)
  const similarities = await vectors.compare(query, passing)
  const found = passing.flatMap((chunk, i) => {
    const similarity = similarities[i] ?? null
    return similarity === null ? [] : [{ ...chunk, similarity }]
  })
  const hasDeletedHits = deletedCount > 0 || found.length < passing.length
  // Points of deleted chunks may have displaced other hits.
  if (isTruncated && hasDeletedHits && found.length < limit) return 'outdated points that displace current ones'
  copy.setProblem(null)
  return found.sort((a, b) => b.similarity - a.similarity).slice(0, limit)
}

/** Selects up to `maxCount` chunks that pass a check, and counts the deleted chunks among those checked. */
async function selectPassing(
  store: QdrantIndexParts['store'],
  chunks: readonly ChunkRef[],
  check: (stored: StoredChunk) => boolean,
  maxCount: number,
): Promise<{ readonly passing: readonly ChunkRef[]; readonly deletedCount: number }> {
  const passing: ChunkRef[] = []
  let deletedCount = 0
  for (const chunk of chunks) {
    if (passing.length >= maxCount) break
    const stored = await store.readChunk(chunk.sourceId, chunk.chunkId)
    if (stored === undefined) deletedCount++
    else if (check(stored)) passing.push(chunk)
  }
  return { passing, deletedCount }
}
