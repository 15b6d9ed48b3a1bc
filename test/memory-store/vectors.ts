import { randomBytes } from 'node:crypto'
import { compareQuantized, quantizeVector, restoreVector } from '../../src/core/search/quantized-vector.ts'
import { checkVectors, refuseOtherSpace } from '../../src/library/embed/check-vectors.ts'
import { embeddedText } from '../../src/library/embed/embedded-text.ts'
import type { ChunkFilter, StoredChunk } from '../../src/library/ports/store.ts'
import type { ChunkRef, VectorIndex, VectorSpace } from '../../src/library/ports/vectors.ts'

/** The parts of the store that the vector index needs. */
export interface VectorNeeds {
  /** The current chunks. Objects stay identical until their page is written. */
  listChunks(): readonly StoredChunk[]
  /** The languages of the pages of all chunks, as far as they are known. */
  languages(): ReadonlyMap<StoredChunk, string | null>
  /** Creates a predicate for all conditions of a filter except the sources. */
  createTest(filter: ChunkFilter): (chunk: StoredChunk) => boolean
}

/** An in-memory vector index; a vector disappears with its chunk. */
export function createMemoryVectors({ listChunks, languages, createTest }: VectorNeeds): VectorIndex {
  let vectors = new WeakMap<StoredChunk, Uint8Array>()
  let refused = new WeakMap<StoredChunk, string>()
  let copied = new WeakSet<StoredChunk>()
  let copyPlace: string | undefined
  const libraryId = randomBytes(16).toString('hex')
  let space: VectorSpace | undefined
  let leaseHolder: string | undefined
  let leaseUntil = 0
  const listOf = (sourceIds: readonly string[] | undefined): StoredChunk[] =>
    listChunks().filter(({ sourceId }) => sourceIds?.includes(sourceId) ?? true)
  /** Chunks after a given one, sorted by source and chunk id. */
  const listFrom = (sourceIds: readonly string[] | undefined, after: ChunkRef | undefined): StoredChunk[] =>
    listOf(sourceIds)
      .filter((stored) => after === undefined || keyOf(refOf(stored)) > keyOf(after))
      .sort((a, b) => (keyOf(refOf(a)) < keyOf(refOf(b)) ? -1 : 1))
  const adoptSpace = (newSpace: VectorSpace): void => {
    refuseOtherSpace(space, newSpace)
    space ??= newSpace
  }
  /** Creates a lookup of chunks by source and chunk id. */
  const createFinder = (): ((ref: ChunkRef) => StoredChunk | undefined) => {
    const byKey = new Map(listChunks().map((stored) => [keyOf(refOf(stored)), stored]))
    return (ref) => byKey.get(keyOf(ref))
  }

  return {
    readSpace: async () => space,
    replaceSpace: async (next) => {
      if (space?.fingerprint === next.fingerprint) return
      vectors = new WeakMap()
      refused = new WeakMap()
      copied = new WeakSet()
      space = next
    },
    listMissing: async (limit, sourceIds, after) => {
      const languageByChunk = languages()
      return listFrom(sourceIds, after)
        .filter((stored) => !vectors.has(stored) && !refused.has(stored))
        .slice(0, limit)
        .map((stored) => ({
          ...refOf(stored),
          text: embeddedText(stored.title, stored.chunk.headingPath, stored.chunk.content),
          language: languageByChunk.get(stored) ?? null,
        }))
    },
    lease: async (runner, now, ms) => {
      if (leaseHolder !== runner && leaseUntil > now) return false
      leaseHolder = runner
      leaseUntil = now + ms
      return true
    },
    write: async (newSpace, written) => {
      checkVectors(newSpace, written)
      adoptSpace(newSpace)
      const findChunk = createFinder()
      for (const { vector, ...ref } of written) {
        const stored = findChunk(ref)
        // A chunk that was removed meanwhile needs no vector.
        if (stored === undefined) continue
        vectors.set(stored, quantizeVector(vector))
        refused.delete(stored)
        copied.delete(stored)
      }
    },
    list: async (limit, after, sourceIds) =>
      listFrom(sourceIds, after)
        .flatMap((stored) => {
          const bytes = vectors.get(stored)
          return bytes === undefined ? [] : [{ ...refOf(stored), vector: restoreVector(bytes) }]
        })
        .slice(0, limit),
    refuse: async (newSpace, chunks) => {
      adoptSpace(newSpace)
      const findChunk = createFinder()
      for (const { problem, ...ref } of chunks) {
        const stored = findChunk(ref)
        // A chunk that has a vector by now needs no refusal.
        if (stored !== undefined && !vectors.has(stored)) refused.set(stored, problem)
      }
    },
    listRefused: async (limit, sourceIds) =>
      listOf(sourceIds)
        .flatMap((stored) => {
          const problem = refused.get(stored)
          return problem === undefined ? [] : [{ ...refOf(stored), problem }]
        })
        .slice(0, limit),
    forgetRefused: async (sourceIds) => {
      for (const stored of listOf(sourceIds)) refused.delete(stored)
    },
    compare: async (query, chunks) => {
      const findChunk = createFinder()
      return chunks.map((ref) => {
        const stored = findChunk(ref)
        const bytes = stored && vectors.get(stored)
        return bytes === undefined ? null : compareQuantized(query, bytes)
      })
    },
    nearest: async (query, limit, filter = {}) =>
      listOf(filter.sourceIds)
        .filter(createTest(filter))
        .flatMap((stored) => {
          const bytes = vectors.get(stored)
          return bytes === undefined ? [] : [{ ...refOf(stored), similarity: compareQuantized(query, bytes) }]
        })
        .sort((a, b) => b.similarity - a.similarity)
        .slice(0, limit),
    count: async (sourceIds) => {
      const chunks = listOf(sourceIds)
      const countOf = (byChunk: WeakMap<StoredChunk, unknown>) => chunks.filter((stored) => byChunk.has(stored)).length
      return { embedded: countOf(vectors), chunks: chunks.length, refused: countOf(refused) }
    },
    readLibraryId: async () => libraryId,
    markCopied: async (place, { fingerprint }, chunks) => {
      if (space?.fingerprint !== fingerprint) return
      if (copyPlace !== place) copied = new WeakSet()
      copyPlace = place
      const findChunk = createFinder()
      for (const ref of chunks) {
        const stored = findChunk(ref)
        if (stored !== undefined && vectors.has(stored)) copied.add(stored)
      }
    },
    countUncopied: async (place) =>
      listChunks().filter((stored) => vectors.has(stored) && !(copyPlace === place && copied.has(stored))).length,
  }
}

function refOf({ sourceId, chunk }: StoredChunk): ChunkRef {
  return { sourceId, chunkId: chunk.id }
}

function keyOf({ sourceId, chunkId }: ChunkRef): string {
  return `${sourceId}/${chunkId}`
}
