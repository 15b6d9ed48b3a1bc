import type { FilteredChunk, FilteredPage } from '../../../core/retrieval/chunk-filter.ts'
import type {
  ChunkRange,
  DeadChunkRange,
  IndexStorage,
  NewChunk,
  SegmentRecord,
  UnfinishedSegment,
} from '../../../core/retrieval/index/index-storage.ts'
import type { EncodedSegment } from '../../../core/search/segments/segment.ts'
import type { IndexParts } from './index-parts.ts'

/*
 * The chunk index is synchronous, so it works on data that was loaded before and notes what is missing. Its writes are collected in a
 * draft, and written at the end in one go (index-tables.ts).
 */

/** The stored state of an index, and the changes since. */
export interface IndexDraft {
  format: string
  generation: number
  /** Segments in the order of their creation; new ones have negative ids. */
  segments: readonly SegmentRecord[]
  /** The stored dead runs, ordered by segment and number. */
  dead: readonly DeadChunkRange[]
  /** Chunks to index: disjoint runs in ascending order. */
  stale: readonly ChunkRange[]
  /** The chunks of the stale runs, as far as they were read; undefined before the first read. */
  readonly chunks: readonly NewChunk[] | undefined
  /** The number of the newest chunk. */
  readonly newest: number
  /** The data that filters need. */
  readonly filterData: FilterData | undefined
  /** The segment that a merge has not finished. */
  unfinished: UnfinishedSegment | undefined
  /** The state of a merge that begins. */
  begun: Uint8Array | undefined
  /** The blocks that were added to the unfinished segment. */
  extension: (Pick<EncodedSegment, 'blocks' | 'directory'> & UnfinishedSegment) | undefined
  /** The documents of the unfinished segment, once it is finished. */
  finished: (Omit<EncodedSegment, 'blocks' | 'directory'> & { readonly id: number }) | undefined
  /** Whether all segments were removed. This field and those below are the changes. */
  isCleared: boolean
  readonly added: Map<number, EncodedSegment>
  readonly removed: Set<number>
  readonly newDead: Map<string, DeadChunkRange>
  /** All stale chunks up to this number are indexed. */
  reached: number | undefined
}

/** The pages and chunks that filters have read. */
export interface FilterData {
  readPage(page: number): FilteredPage | undefined
  readChunk(number: number): FilterInputChunk | undefined
}

/** A chunk as filters see it. */
export type FilterInputChunk = FilteredChunk & { readonly page: number }

/** Thrown when `count` more chunks must be read first. */
export class MissingChunksError extends Error {
  override readonly name = 'MissingChunksError'
  readonly count: number

  constructor(count: number) {
    super(`${count} chunks were not read yet`)
    this.count = count
  }
}

/** The stored state of an index. */
export type DraftInput = Pick<IndexDraft, 'format' | 'generation' | 'segments' | 'dead'> &
  Partial<Pick<IndexDraft, 'stale' | 'chunks' | 'newest' | 'filterData' | 'unfinished'>>

/** An empty index. */
export const NO_INDEX: DraftInput = { format: '', generation: 0, segments: [], dead: [] }

/** Starts a draft from a stored index. */
export function createDraft({
  stale = [],
  chunks = undefined,
  newest = 0,
  filterData = undefined,
  unfinished = undefined,
  ...found
}: DraftInput): IndexDraft {
  const noMerge = { begun: undefined, extension: undefined, finished: undefined }
  const noChanges = { isCleared: false, reached: undefined, added: new Map(), removed: new Set<number>() }
  return { ...found, stale, chunks, newest, filterData, unfinished, ...noMerge, ...noChanges, newDead: new Map() }
}

/** Every chunk counts as seen by its number, because writers record new chunks as stale. */
const ALL_CHUNKS = Number.MAX_SAFE_INTEGER

/** Creates index storage over the loaded parts and the current draft. */
export function createIndexStorage(parts: IndexParts, draft: () => IndexDraft): IndexStorage {
  return {
    readState: () => ({ format: draft().format, last: ALL_CHUNKS, generation: draft().generation }),
    writeState: ({ format, generation }) => {
      Object.assign(draft(), { format, generation })
    },
    listSegments: () => [...draft().segments],
    openSegment: (id) => {
      const added = draft().added.get(id)
      return added ? { ...added, readBlock: (block) => blockOf(added, block) } : parts.open(id)
    },
    // A search may read an older state of the index meanwhile, so the caller frees parts.
    keepOnly: () => undefined,
    addSegment: (segment) => {
      const current = draft()
      const { count, first, last } = segment
      const id = -1 - current.added.size
      current.added.set(id, segment)
      current.segments = [...current.segments, { id, count, first, last }]
    },
    removeSegment: (id) => {
      const current = draft()
      current.removed.add(id)
      current.segments = current.segments.filter((segment) => segment.id !== id)
      current.dead = current.dead.filter(({ segment }) => segment !== id)
      for (const [key, { segment }] of current.newDead) if (segment === id) current.newDead.delete(key)
    },
    readUnfinished: () => draft().unfinished,
    beginSegment: (state) => {
      draft().begun = state
    },
    extendSegment: (id, part, state) => {
      draft().extension = { ...part, id, state }
    },
    finishSegment: (id, documents) => {
      const current = draft()
      const { count, first, last } = documents
      current.finished = { ...documents, id }
      current.segments = [...current.segments, { id, count, first, last }]
    },
    listDead: () => sortRuns([...draft().dead, ...draft().newDead.values()]),
    addDead: (run) => {
      const { newDead } = draft()
      const key = `${run.segment} ${run.first}`
      const { last = 0 } = newDead.get(key) ?? {}
      newDead.set(key, { ...run, last: Math.max(last, run.last) })
    },
    listStale: () => [...draft().stale],
    // Runs are indexed in ascending order. When a part of a run is put back, everything before it is done.
    removeStale: ({ last }) => {
      if (draft().stale.length > 0) draft().reached = last
    },
    addStale: ({ first }) => {
      draft().reached = first - 1
    },
    clear: () => {
      const current = draft()
      const stale = current.newest > 0 ? [{ first: 1, last: current.newest }] : []
      Object.assign(current, { segments: [], dead: [], stale, unfinished: undefined, isCleared: true })
      current.newDead.clear()
    },
    // Chunk counts are queried separately, so this storage reports 0.
    newestChunk: () => 0,
    countChunks: () => ({ upTo: 0, all: 0 }),
    completePages: () => undefined,
    readChunks: ({ first, last }, limit) => {
      const { chunks } = draft()
      if (first > last) return []
      if (chunks === undefined) throw new MissingChunksError(limit)
      const from = findInsertPosition(chunks, first)
      return chunks.slice(from, Math.min(findInsertPosition(chunks, last + 1), from + limit))
    },
    readPage: (page) => draft().filterData?.readPage(page),
    readChunk: (number) => draft().filterData?.readChunk(number),
  }
}

function blockOf({ blocks }: EncodedSegment, block: number): Uint8Array {
  const found = blocks[block]
  if (found === undefined) throw new RangeError(`the segment has no block ${block}`)
  return found
}

/** Sorts runs by segment and number. */
export function sortRuns(runs: readonly DeadChunkRange[]): DeadChunkRange[] {
  return runs.toSorted((a, b) => a.segment - b.segment || a.first - b.first)
}

/** The position of the first chunk with this number or a higher one. */
function findInsertPosition(chunks: readonly NewChunk[], number: number): number {
  let low = 0
  let high = chunks.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((chunks[middle]?.number ?? 0) < number) low = middle + 1
    else high = middle
  }
  return low
}
