import { compareQuantized, quantizeVector } from '../../core/search/quantized-vector.ts'
import { checkVectors, refuseOtherSpace } from '../../library/check-vectors.ts'
import { embeddedText } from '../../library/embedded-text.ts'
import type { ChunkFilter, StoredChunk } from '../../library/store.ts'
import type { ChunkName, VectorIndex, VectorSpace } from '../../library/vectors.ts'

/** What the vectors need of the store that they belong to. */
export interface VectorNeeds {
  /** The chunks that are there now: the same objects as long as nothing is written to their page. */
  listChunks(): readonly StoredChunk[]
  /** Makes a test of listed chunks for everything that a filter asks besides the sources. */
  createTest(filter: ChunkFilter): (chunk: StoredChunk) => boolean
}

/** Vectors that are gone with their process, and each with its chunk. */
export function createMemoryVectors({ listChunks, createTest }: VectorNeeds): VectorIndex {
  let vectors = new WeakMap<StoredChunk, Uint8Array>()
  let space: VectorSpace | undefined
  let holder: string | undefined
  let until = 0
  const listOf = (sourceIds: readonly string[] | undefined): StoredChunk[] =>
    listChunks().filter(({ sourceId }) => sourceIds?.includes(sourceId) ?? true)
  /** Finds chunks by their names. */
  const createFinder = (): ((name: ChunkName) => StoredChunk | undefined) => {
    const byName = new Map(listChunks().map((stored) => [keyOf(nameOf(stored)), stored]))
    return (name) => byName.get(keyOf(name))
  }

  return {
    readSpace: async () => space,
    replaceSpace: async (next) => {
      vectors = new WeakMap()
      space = next
    },
    listMissing: async (limit, sourceIds, after) =>
      listOf(sourceIds)
        .filter((stored) => !vectors.has(stored) && (after === undefined || keyOf(nameOf(stored)) > keyOf(after)))
        .sort((a, b) => (keyOf(nameOf(a)) < keyOf(nameOf(b)) ? -1 : 1))
        .slice(0, limit)
        .map((stored) => ({
          ...nameOf(stored),
          text: embeddedText(stored.title, stored.chunk.headingPath, stored.chunk.content),
        })),
    lease: async (asking, now, ms) => {
      if (holder !== asking && until > now) return false
      holder = asking
      until = now + ms
      return true
    },
    write: async (given, written) => {
      checkVectors(given, written)
      refuseOtherSpace(space, given)
      space ??= given
      const findChunk = createFinder()
      for (const { vector, ...name } of written) {
        const stored = findChunk(name)
        // Whatever is gone meanwhile needs none.
        if (stored !== undefined) vectors.set(stored, quantizeVector(vector))
      }
    },
    compare: async (query, chunks) => {
      const findChunk = createFinder()
      return chunks.map((name) => {
        const stored = findChunk(name)
        const bytes = stored && vectors.get(stored)
        return bytes === undefined ? null : compareQuantized(query, bytes)
      })
    },
    nearest: async (query, limit, filter = {}) =>
      listOf(filter.sourceIds)
        .filter(createTest(filter))
        .flatMap((stored) => {
          const bytes = vectors.get(stored)
          return bytes === undefined ? [] : [{ ...nameOf(stored), similarity: compareQuantized(query, bytes) }]
        })
        .sort((a, b) => b.similarity - a.similarity)
        .slice(0, limit),
    count: async (sourceIds) => {
      const chunks = listOf(sourceIds)
      return { embedded: chunks.filter((stored) => vectors.has(stored)).length, chunks: chunks.length }
    },
  }
}

function nameOf({ sourceId, chunk }: StoredChunk): ChunkName {
  return { sourceId, chunkId: chunk.id }
}

function keyOf({ sourceId, chunkId }: ChunkName): string {
  return `${sourceId}/${chunkId}`
}
