import type { EncodedSegment, Segment } from '../../search/segments/segment.ts'
import type { IndexedChunk } from '../chunk-fields.ts'
import type { FilteredChunk, FilteredPage } from '../chunk-filter.ts'

/** A chunk to be indexed. */
export interface NewChunk extends IndexedChunk {
  readonly number: number
  readonly id: string
  readonly contentHash: string
  readonly source: number
  readonly page: number
}

/** The storage of an index, and its access to the library. */
export interface IndexStorage {
  readState(): IndexState
  writeState(state: IndexState): void
  /** In the order in which they were added. */
  listSegments(): SegmentRecord[]
  /** The blocks of a segment that is read once, to merge it, need not be cached. */
  openSegment(
    id: number,
    isReadOnce?: boolean,
  ): Pick<EncodedSegment, 'documents' | 'directory'> & Pick<Segment, 'readBlock'>
  /** Only these segments are read from now on: what is cached of others may be freed. */
  keepOnly(segments: ReadonlySet<number>): void
  /** Adds a segment under an id that was never used before. */
  addSegment(segment: EncodedSegment): void
  /** Removes a segment with its runs of dead chunks, or an unfinished segment. */
  removeSegment(id: number): void
  /** The unfinished segment: the output of a merge that takes several transactions. Searches do not see it. */
  readUnfinished(): UnfinishedSegment | undefined
  /** Begins a segment; there must be no other unfinished one. */
  beginSegment(state: Uint8Array): void
  /** Adds blocks to the unfinished segment, with the state of the merge after them. */
  extendSegment(id: number, part: Pick<EncodedSegment, 'blocks' | 'directory'>, state: Uint8Array): void
  /** Turns the unfinished segment into one that is searched. */
  finishSegment(id: number, documents: Omit<EncodedSegment, 'blocks' | 'directory'>): void
  /** In the order of segments and numbers. */
  listDead(): DeadChunkRange[]
  addDead(run: DeadChunkRange): void
  /** Runs of chunks to be indexed again. */
  listStale(): ChunkRange[]
  addStale(run: ChunkRange): void
  removeStale(run: ChunkRange): void
  /** Removes everything. */
  clear(): void
  /** The number of the newest chunk, 0 without any. */
  newestChunk(): number
  /** Number of chunks with numbers up to this one, and number of all chunks. */
  countChunks(last: number): { readonly upTo: number; readonly all: number }
  /** Receives the pages whose chunks are being indexed, to add metadata that older libraries lack. */
  completePages(pages: Iterable<number>): void
  /** Chunks in the order of their numbers. */
  readChunks(run: ChunkRange, limit: number): NewChunk[]
  readPage(page: number): FilteredPage | undefined
  readChunk(number: number): (FilteredChunk & { readonly page: number }) | undefined
}

/** A segment that is being written in several transactions. */
export interface UnfinishedSegment {
  readonly id: number
  /** The state of the merge, as it was last given. */
  readonly state: Uint8Array
}

/** The progress of an index. */
export interface IndexState {
  /** The version of the rules that built the index. An index of an older format is rebuilt; one of a newer format is left unchanged. */
  readonly format: string
  /** The last indexed chunk. */
  readonly last: number
  /** Changes with every change of segments and dead chunks. */
  readonly generation: number
}

/** Chunks with consecutive numbers, both ends included. */
export interface ChunkRange {
  readonly first: number
  readonly last: number
}

/** Chunks of a segment that no longer exist. */
export interface DeadChunkRange extends ChunkRange {
  readonly segment: number
}

/** Facts about a segment that are known without reading it. */
export interface SegmentRecord extends ChunkRange {
  readonly id: number
  readonly count: number
}

/** Sorts runs by number, and joins overlapping and adjacent ones. */
export function joinRuns(runs: readonly ChunkRange[]): ChunkRange[] {
  const joined: ChunkRange[] = []
  for (const run of runs.toSorted((a, b) => a.first - b.first)) {
    const before = joined.at(-1)
    if (before === undefined || run.first > before.last + 1) joined.push(run)
    else joined[joined.length - 1] = { first: before.first, last: Math.max(before.last, run.last) }
  }
  return joined
}
