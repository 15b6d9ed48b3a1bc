import type { Store } from '../store.ts'
import { type CopyEntry, type CopyPlace, readCopied, type VectorCopy } from '../vector-copy.ts'
import type { ChunkName, VectorIndex, VectorSpace } from '../vectors.ts'

/** What is brought in step. */
export interface SyncParts {
  readonly store: Pick<Store, 'readChunk' | 'readPage'>
  readonly vectors: VectorIndex
  readonly copy: VectorCopy
}

/** How to bring it in step. */
export interface SyncOptions {
  /**
   * Writes everything anew, also what looks unchanged. A copy of other dimensions is dropped first; one that holds anything of others
   * is refused. @default false
   */
  readonly rebuild?: boolean
}

/** How far it is. */
export interface SyncProgress {
  /** Vectors that were looked at, of so many. */
  readonly looked: number
  readonly vectors: number
  /** Those that the copy lacked, or had otherwise. */
  readonly copied: number
  /** What the copy had too much. */
  readonly removed: number
}

/** Vectors that are read at once. */
const BATCH = 500

/**
 * Brings the copy of all vectors in step with the store: writes what is missing or has changed, then removes what does not belong
 * there. Nothing is removed before everything is written, so whoever searches meanwhile finds all of it. Rejects with
 * `SERVICE_UNUSABLE` where the copy cannot be reached; what was done stays, and the next run goes on.
 */
export async function* syncVectors(
  { store, vectors, copy }: SyncParts,
  { rebuild = false }: SyncOptions = {},
  signal?: AbortSignal,
): AsyncGenerator<SyncProgress, void> {
  const { problem } = copy
  const space = await vectors.readSpace()
  const { embedded } = await vectors.count()
  const uncopied = await vectors.countUncopied(copy.location)
  const progress = { looked: 0, vectors: embedded, copied: 0, removed: 0 }
  if (space === undefined) {
    yield { ...progress }
    return
  }
  await copy.prepare(space, rebuild, signal)
  const there = new Map<string, CopyPlace>()
  for await (const place of copy.list(space, signal)) there.set(place.id, place)
  yield { ...progress }
  let after: ChunkName | undefined
  for (;;) {
    signal?.throwIfAborted()
    const some = await vectors.list(BATCH, after)
    after = some.at(-1)
    if (after === undefined) break
    const chunks = await readCopied(store, some)
    const entries = chunks.map((chunk) => copy.describe(space, chunk))
    const isNew = ({ id, mark }: CopyEntry): boolean => rebuild || there.get(id)?.mark !== mark
    const missing = entries.filter(isNew)
    if (missing.length > 0) await copy.write(space, missing, signal)
    const names = chunks.map(({ stored }) => ({ sourceId: stored.sourceId, chunkId: stored.chunk.id }))
    if (missing.length > 0 || uncopied > 0) await vectors.markCopied(copy.location, space, names)
    for (const { id } of entries) there.delete(id)
    progress.looked += some.length
    progress.copied += missing.length
    yield { ...progress }
  }
  const stale = await findStale(vectors, space, [...there.values()])
  if (stale.length > 0) await copy.remove(space, stale, signal)
  // One that came meanwhile may be about what had been passed already.
  if (copy.problem === problem) copy.note(null)
  yield { ...progress, removed: stale.length }
}

/** Those of which the store has no vector: what was not seen may have been written since it was passed. */
async function findStale(
  vectors: VectorIndex,
  { dimensions }: VectorSpace,
  unseen: readonly CopyPlace[],
): Promise<string[]> {
  const similarities = await vectors.compare(new Float32Array(dimensions), unseen)
  return unseen.flatMap(({ id }, i) => (similarities[i] === null ? [id] : []))
}
