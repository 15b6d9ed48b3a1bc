import type { FilteredChunk, FilteredPage } from '../../core/retrieval/chunk-filter.ts'
import type { DeadRun, IndexShelf, NewChunk, Run, SegmentRecord } from '../../core/retrieval/chunk-index.ts'
import type { EncodedSegment } from '../../core/search/segment.ts'
import type { IndexParts } from './index-parts.ts'

/*
 * The index over chunks knows nothing of waiting: it asks for what it needs and writes what it made. So it is given what was loaded
 * before, and notes what it lacks; what it writes is kept here until it is done, and is then written in one go (index-tables.ts).
 */

/** An index as it was found, and what was done to it since. */
export interface IndexDraft {
  format: string
  generation: number
  /** In the order in which they were added; those that are new have ids below 0. */
  segments: readonly SegmentRecord[]
  /** Those that were found, in the order of segments and numbers. */
  dead: readonly DeadRun[]
  /** Chunks that are to be taken in: no two runs overlap, and they are in the order of their numbers. */
  stale: readonly Run[]
  /** The chunks of these runs, as far as they were read; undefined before anybody has asked for them. */
  readonly chunks: readonly NewChunk[] | undefined
  /** The number of the newest chunk. */
  readonly newest: number
  /** What filters ask about. */
  readonly looked: Looked | undefined
  /** What was done. */
  isCleared: boolean
  readonly added: Map<number, EncodedSegment>
  readonly removed: Set<number>
  readonly newDead: Map<string, DeadRun>
  /** Everything that was stale up to this number has been taken in. */
  reached: number | undefined
}

/** What filters have looked at. */
export interface Looked {
  readPage(page: number): FilteredPage | undefined
  readChunk(number: number): LookedChunk | undefined
}

/** A chunk as filters see it. */
export type LookedChunk = FilteredChunk & { readonly page: number }

/** Thrown where chunks are asked for that were not read yet: how many. */
export class ChunksLacking extends Error {
  override readonly name = 'ChunksLacking'
  readonly count: number

  constructor(count: number) {
    super(`${count} chunks were not read yet`)
    this.count = count
  }
}

/** An index as it was found. */
export type FoundIndex = Pick<IndexDraft, 'format' | 'generation' | 'segments' | 'dead'> &
  Partial<Pick<IndexDraft, 'stale' | 'chunks' | 'newest' | 'looked'>>

/** An index with nothing in it. */
export const NO_INDEX: FoundIndex = { format: '', generation: 0, segments: [], dead: [] }

/** Begins with an index as it was found. */
export function createDraft({
  stale = [],
  chunks = undefined,
  newest = 0,
  looked = undefined,
  ...found
}: FoundIndex): IndexDraft {
  const nothing = { isCleared: false, reached: undefined, added: new Map(), removed: new Set<number>() }
  return { ...found, stale, chunks, newest, looked, ...nothing, newDead: new Map() }
}

/** There are no chunks that are new by their number alone: whoever writes some says so. */
const ALL_CHUNKS = Number.MAX_SAFE_INTEGER

/** Gives an index what was loaded of it, and the draft that it works on at the time. */
export function createIndexShelf(parts: IndexParts, draft: () => IndexDraft): IndexShelf {
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
      for (const [name, { segment }] of current.newDead) if (segment === id) current.newDead.delete(name)
    },
    listDead: () => sortRuns([...draft().dead, ...draft().newDead.values()]),
    addDead: (run) => {
      const { newDead } = draft()
      const name = `${run.segment} ${run.first}`
      const { last = 0 } = newDead.get(name) ?? {}
      newDead.set(name, { ...run, last: Math.max(last, run.last) })
    },
    listStale: () => [...draft().stale],
    // Of runs that are taken in from the first on, what is left of one is put back: everything before it is done.
    removeStale: ({ last }) => {
      if (draft().stale.length > 0) draft().reached = last
    },
    addStale: ({ first }) => {
      draft().reached = first - 1
    },
    clear: () => {
      const current = draft()
      const stale = current.newest > 0 ? [{ first: 1, last: current.newest }] : []
      Object.assign(current, { segments: [], dead: [], stale, isCleared: true })
      current.newDead.clear()
    },
    // Chunks are counted by whoever is asked how many there are.
    newestChunk: () => 0,
    countChunks: () => ({ upTo: 0, all: 0 }),
    completePages: () => undefined,
    readChunks: ({ first, last }, limit) => {
      const { chunks } = draft()
      if (first > last) return []
      if (chunks === undefined) throw new ChunksLacking(limit)
      const from = findPlace(chunks, first)
      return chunks.slice(from, Math.min(findPlace(chunks, last + 1), from + limit))
    },
    readPage: (page) => draft().looked?.readPage(page),
    readChunk: (number) => draft().looked?.readChunk(number),
  }
}

function blockOf({ blocks }: EncodedSegment, block: number): Uint8Array {
  const found = blocks[block]
  if (found === undefined) throw new RangeError(`the segment has no block ${block}`)
  return found
}

/** Runs in the order of segments and numbers. */
export function sortRuns(runs: readonly DeadRun[]): DeadRun[] {
  return runs.toSorted((a, b) => a.segment - b.segment || a.first - b.first)
}

/** Runs in the order of their numbers; those that overlap or follow each other become one. */
export function joinRuns(runs: readonly Run[]): Run[] {
  const joined: Run[] = []
  for (const run of runs.toSorted((a, b) => a.first - b.first)) {
    const before = joined.at(-1)
    if (before === undefined || run.first > before.last + 1) joined.push(run)
    else joined[joined.length - 1] = { first: before.first, last: Math.max(before.last, run.last) }
  }
  return joined
}

/** Where the first chunk stands that has this number or a larger one. */
function findPlace(chunks: readonly NewChunk[], number: number): number {
  let low = 0
  let high = chunks.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((chunks[middle]?.number ?? 0) < number) low = middle + 1
    else high = middle
  }
  return low
}
