import type { FilteredPage } from '../../src/core/retrieval/chunk-filter.ts'
import type {
  ChunkRange,
  DeadChunkRange,
  IndexState,
  IndexStorage,
  NewChunk,
  UnfinishedSegment,
} from '../../src/core/retrieval/index/index-storage.ts'
import type { EncodedSegment } from '../../src/core/search/segments/segment.ts'

/** The chunks of a store that an index covers. */
export interface IndexedChunks {
  /** Chunks by number; numbers ascend and are never reused. */
  readonly chunks: ReadonlyMap<number, NewChunk>
  readonly pages: ReadonlyMap<number, FilteredPage>
  newest(): number
}

/** Creates index storage in memory. */
export function createIndexStorage({ chunks, pages, newest }: IndexedChunks): IndexStorage {
  const segments = new Map<number, EncodedSegment>()
  let dead: DeadChunkRange[] = []
  let stale: ChunkRange[] = []
  let state: IndexState = { format: '', last: 0, generation: 0 }
  let unfinished: (UnfinishedSegment & Pick<EncodedSegment, 'blocks' | 'directory'>) | undefined
  let segmentCount = 0

  return {
    readState: () => state,
    writeState: (next) => {
      state = next
    },
    listSegments: () => [...segments].map(([id, { count, first, last }]) => ({ id, count, first, last })),
    openSegment: (id) => {
      const segment = segments.get(id)
      if (!segment) throw new RangeError(`the index has no segment ${id}`)
      const { documents, directory, blocks } = segment
      return { documents, directory, readBlock: (block) => blocks[block] ?? new Uint8Array(0) }
    },
    keepOnly: () => undefined,
    addSegment: (segment) => {
      segments.set(++segmentCount, segment)
    },
    removeSegment: (id) => {
      segments.delete(id)
      if (unfinished?.id === id) unfinished = undefined
      dead = dead.filter(({ segment }) => segment !== id)
    },
    readUnfinished: () => unfinished,
    beginSegment: (mergeState) => {
      unfinished = { id: ++segmentCount, state: mergeState, blocks: [], directory: new Uint8Array(0) }
    },
    extendSegment: (id, { blocks, directory }, mergeState) => {
      const written = unfinished ?? { blocks: [], directory: [] }
      const joined = Uint8Array.of(...written.directory, ...directory)
      unfinished = { id, state: mergeState, blocks: [...written.blocks, ...blocks], directory: joined }
    },
    finishSegment: (id, documents) => {
      if (unfinished) segments.set(id, { ...unfinished, ...documents })
      unfinished = undefined
    },
    listDead: () => dead.toSorted((a, b) => a.segment - b.segment || a.first - b.first),
    addDead: (run) => {
      dead.push(run)
    },
    listStale: () => [...stale],
    addStale: (run) => {
      stale.push(run)
    },
    removeStale: ({ first, last }) => {
      stale = stale.filter((run) => run.first < first || run.first > last)
    },
    clear: () => {
      segments.clear()
      unfinished = undefined
      dead = []
      stale = []
    },
    newestChunk: newest,
    countChunks: (last) => ({ upTo: [...chunks.keys()].filter((number) => number <= last).length, all: chunks.size }),
    // Pages are stored together with their chunks, so nothing is left to complete.
    completePages: () => {},
    readChunks: ({ first, last }, limit) => {
      const found: NewChunk[] = []
      for (let number = first; number <= Math.min(last, newest()) && found.length < limit; number++) {
        const chunk = chunks.get(number)
        if (chunk) found.push(chunk)
      }
      return found
    },
    readPage: (page) => pages.get(page),
    readChunk: (number) => chunks.get(number),
  }
}
