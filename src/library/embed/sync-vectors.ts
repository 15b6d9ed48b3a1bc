import type { Store } from '../ports/store.ts'
import { type CopyEntry, type CopyEntryRef, readCopiedChunks, type VectorCopy } from '../ports/vector-copy.ts'
import type { ChunkRef, VectorIndex, VectorSpace } from '../ports/vectors.ts'

/** Store, vectors and copy to synchronize. */
export interface SyncParts {
  readonly store: Pick<Store, 'readChunk' | 'readPage'>
  readonly vectors: VectorIndex
  readonly copy: VectorCopy
}

/** Options of a synchronization. */
export interface SyncOptions {
  /**
   * Writes everything again, even if it looks unchanged. A copy with other dimensions is dropped first; one with foreign data is refused.
   * @default false
   */
  readonly rebuild?: boolean
}

/** Progress of a synchronization. */
export interface SyncProgress {
  /** Number of vectors checked, and the total. */
  readonly looked: number
  readonly vectors: number
  /** Vectors written to the copy, because they were missing or different there. */
  readonly copied: number
  /** Vectors removed from the copy. */
  readonly removed: number
}

/** Number of vectors read at once. */
const BATCH = 500

/**
 * Synchronizes the copy of all vectors with the store: writes missing and changed ones, then removes stale ones. Removal comes last, so
 * that concurrent searches find everything. Rejects with `SERVICE_UNUSABLE` if the copy cannot be reached; finished work stays and the next
 * run continues.
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
  const unseenEntries = new Map<string, CopyEntryRef>()
  for await (const entry of copy.list(space, signal)) unseenEntries.set(entry.id, entry)
  yield { ...progress }
  let after: ChunkRef | undefined
  for (;;) {
    signal?.throwIfAborted()
    const batch = await vectors.list(BATCH, after)
    after = batch.at(-1)
    if (after === undefined) break
    const chunks = await readCopiedChunks(store, batch)
    const entries = chunks.map((chunk) => copy.describe(space, chunk))
    const isChanged = ({ id, mark }: CopyEntry): boolean => rebuild || unseenEntries.get(id)?.mark !== mark
    const entriesToWrite = entries.filter(isChanged)
    if (entriesToWrite.length > 0) await copy.write(space, entriesToWrite, signal)
    const refs = chunks.map(({ stored }) => ({ sourceId: stored.sourceId, chunkId: stored.chunk.id }))
    if (entriesToWrite.length > 0 || uncopied > 0) await vectors.markCopied(copy.location, space, refs)
    for (const { id } of entries) unseenEntries.delete(id)
    progress.looked += batch.length
    progress.copied += entriesToWrite.length
    yield { ...progress }
  }
  const stale = await findStale(vectors, space, [...unseenEntries.values()])
  if (stale.length > 0) await copy.remove(space, stale, signal)
  // A problem noted meanwhile may concern vectors already checked, so it stays.
  if (copy.problem === problem) copy.setProblem(null)
  yield { ...progress, removed: stale.length }
}

/** Returns the unseen entries that have no vector in the store; the others may have been written after their position was checked. */
async function findStale(
  vectors: VectorIndex,
  { dimensions }: VectorSpace,
  unseen: readonly CopyEntryRef[],
): Promise<string[]> {
  const similarities = await vectors.compare(new Float32Array(dimensions), unseen)
  return unseen.flatMap(({ id }, i) => (similarities[i] === null ? [id] : []))
}
