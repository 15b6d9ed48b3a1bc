import { type IndexEntry, readEntryTable } from '../search/entry-table.ts'
import type { Explanation } from '../search/explain.ts'
import type { MissingWord } from '../search/ranking.ts'
import {
  type EncodedSegment,
  mergeSegments,
  type Segment,
  SegmentBuilder,
  type SegmentView,
} from '../search/segment.ts'
import { SegmentSearch } from '../search/segment-search.ts'
import { BlockDirectory } from '../search/term-blocks.ts'
import { textAnalyzer } from '../text/analyzer.ts'
import { CHUNK_FIELDS, chunkFields, type IndexedChunk } from './chunk-fields.ts'
import type { ChunkTests, FilteredChunk, FilteredPage } from './chunk-filter.ts'
import { type ContentType, type ContentTypeCounts, readTraits, writeTraits } from './content-type.ts'
import { symbolsOf } from './definitions.ts'

/**
 * The full-text index over the chunks of a library, by their numbers. It adds new chunks by the hundred, because one page at a time would
 * take several times as long. A search first adds the chunks that are still missing, as far as time allows. The index consists of immutable
 * segments. A removed chunk is marked as dead and dropped when its segment is next merged; scores depend on the living chunks alone. All
 * writes run inside the transaction of the caller.
 */
export interface ChunkIndex {
  /** Tells the index that chunks exist up to this number; the index adds some when many are new. */
  notifyNewChunks(last: number): void
  /** Whether work is due before a search: missing chunks, or very many segments. */
  isBehind(): boolean
  /** Adds some new chunks, or merges a few segments; false when no work within these limits is left. */
  advance(step?: IndexStep): boolean
  /** How many chunks there are, and how many of them a search finds. */
  countIndexed(): { readonly chunks: number; readonly indexed: number }
  /** Marks the chunks of a page to be indexed again, as far as they were indexed before. */
  reindex(first: number, count: number): void
  /** Removes the chunks of a page, which have consecutive numbers. */
  remove(first: number, count: number): void
  /** The best chunks, best first. */
  search(query: ChunkQuery): ChunkMatch[]
  /** Number of indexed chunks of each type, by the number of their source. */
  countContentTypes(): Map<number, ContentTypeCounts>
  /** Creates a test of chunks by number, for chunks that were found in other ways. */
  createTest(tests: ChunkTests): (number: number) => boolean
}

/** Limits for the work of one call. */
export interface IndexStep {
  /** Maximum number of chunks to add. */
  readonly chunks: number
  /** Maximum number of chunks to merge when none were added. */
  readonly merged: number
}

/** A search in the index. */
export interface ChunkQuery {
  readonly query: string
  readonly limit: number
  /** Numbers of the sources to search; all if undefined. */
  readonly sources: ReadonlySet<number> | undefined
  readonly tests: ChunkTests
  /** Numbers of chunks to append after the best hits, with any score and without tests. */
  readonly also?: readonly number[]
  readonly explain: boolean
}

/** A chunk that matched. */
export interface ChunkMatch {
  readonly number: number
  /** The number of its page. */
  readonly page: number
  readonly score: number
  /** The score of its whole page by the same words, from 0 to 1; on a short page that of the chunk. */
  readonly pageScore: number
  readonly terms: readonly string[]
  /** The share of link text, from 0 to 1. */
  readonly linkShare: number
  /** Whether the chunk defines a symbol. */
  readonly hasSymbols: boolean
  /** The text of the chunk as a number; see {@link textNumber}. */
  readonly text: number
  /** The beginning of its id as a number, which orders equal scores. 0 if the id is not a hash. */
  readonly order: number
  /** The words of the query that the chunk lacks. */
  readonly missing: readonly MissingWord[]
  /** The words of the query that its whole page lacks. */
  readonly missingOnPage: readonly MissingWord[]
  readonly explain?: Explanation
}

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
  openSegment(id: number): Pick<EncodedSegment, 'documents' | 'directory'> & Pick<Segment, 'readBlock'>
  /** Adds a segment under an id that was never used before. */
  addSegment(segment: EncodedSegment): void
  /** Removes a segment with its runs of dead chunks. */
  removeSegment(id: number): void
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

const FIELD_NAMES = Object.keys(CHUNK_FIELDS) as (keyof typeof CHUNK_FIELDS)[]
const { length: FIELD_COUNT } = FIELD_NAMES

/** Must change whenever the same chunks are to be indexed differently: libraries then rebuild their index from their chunks. */
const INDEX_VERSION = 3
const FORMAT = [INDEX_VERSION, textAnalyzer.id, ...FIELD_NAMES].join(' ')

/** Number of new chunks that justifies a transaction on the index. */
const MIN_BATCH_CHUNKS = 1024

/** Number of segments of similar size that triggers a merge. */
const FAN_IN = 8
/** Largest number of chunks in a segment: other writers wait for a merge, and twice the size takes twice as long. */
const MAX_SEGMENT_CHUNKS = 8192
/** Segments are merged when many are smaller than one of these sizes. Larger ones are merged only if most of their chunks are dead. */
const MERGE_TIERS = [2 * FAN_IN, 128, 1024, MAX_SEGMENT_CHUNKS / 2] as const
/** Maximum number of chunks to merge in a transaction that also added chunks. */
const MAX_QUICK_MERGE_CHUNKS = 1024
/** Limits of a transaction that blocks only other writers. */
const LARGE_STEP: IndexStep = { chunks: 2048, merged: MAX_SEGMENT_CHUNKS }
/** Limits for a process that must respond again within a fraction of a second, the time of the largest merge. */
export const SMALL_STEP: IndexStep = { chunks: 1024, merged: MAX_SEGMENT_CHUNKS }
/** Limits while a search waits. */
export const BRIEF_STEP: IndexStep = { chunks: 256, merged: MAX_QUICK_MERGE_CHUNKS }
/** More small segments than this slow searches down. */
const MAX_SMALL_SEGMENTS = 3 * FAN_IN

/** Creates an index that keeps its data in `storage`. */
export function createChunkIndex(storage: IndexStorage): ChunkIndex {
  const cache = new Map<number, Segment>()
  /** The number of the newest chunk when segments to merge were last looked for. */
  let lastMergeCheck = 0
  let cachedCount: { readonly generation: number; readonly smallSegments: number } | undefined
  let cachedSearch: { readonly generation: number; readonly search: SegmentSearch } | undefined

  const loadSegment = (id: number): Segment => {
    const { documents, directory, readBlock } = storage.openSegment(id)
    return {
      table: readEntryTable(documents, FIELD_COUNT),
      directory: new BlockDirectory(directory),
      readBlock,
    }
  }
  const createViews = (records: readonly SegmentRecord[]): SegmentView[] => {
    const runs = groupRuns(storage.listDead())
    return records.map(({ id }) => {
      const segment = cache.get(id) ?? loadSegment(id)
      return { segment, dead: markDead(segment, runs.get(id)) }
    })
  }
  const openSearch = (): SegmentSearch => {
    const { format, generation } = storage.readState()
    if (cachedSearch?.generation === generation) return cachedSearch.search
    const records = format === FORMAT ? storage.listSegments() : []
    const views = createViews(records)
    // The cache is filled only here, where nothing is being written: the id of an uncommitted segment may be reused.
    cache.clear()
    records.forEach(({ id }, i) => {
      const segment = views[i]?.segment
      if (segment) cache.set(id, segment)
    })
    const search = new SegmentSearch(views, { fields: CHUNK_FIELDS, analyzer })
    cachedSearch = { generation, search }
    return search
  }
  const updateState = (state: Partial<IndexState> = {}): void => {
    const before = storage.readState()
    storage.writeState({ ...before, ...state, generation: before.generation + 1 })
  }

  /** The next chunks to index: changed ones first, then new ones. */
  const takeNext = (maxChunks: number): NewChunk[] => {
    const chunks: NewChunk[] = []
    for (const run of storage.listStale()) {
      const remaining = maxChunks - chunks.length
      if (remaining <= 0) return chunks
      const found = storage.readChunks(run, remaining)
      chunks.push(...found)
      storage.removeStale(run)
      const reached = found.length < remaining ? run.last : (found.at(-1)?.number ?? run.last)
      if (reached < run.last) storage.addStale({ first: reached + 1, last: run.last })
    }
    const { last } = storage.readState()
    const fresh = storage.readChunks({ first: last + 1, last: Number.MAX_SAFE_INTEGER }, maxChunks - chunks.length)
    const newest = fresh.at(-1)
    if (newest) updateState({ last: newest.number })
    return [...chunks, ...fresh]
  }
  const addChunks = (maxChunks: number): boolean => {
    const chunks = takeNext(maxChunks)
    if (chunks.length === 0) return false
    storage.addSegment(buildSegment(chunks))
    storage.completePages(new Set(chunks.map(({ page }) => page)))
    updateState()
    return true
  }
  /** Merges some segments if there are many, with at most this many chunks; false if there is nothing to do. */
  const mergeSome = (maxChunks: number): boolean => {
    const inputs = chooseMergeInputs(storage.listSegments(), storage.listDead(), maxChunks)
    if (inputs.length === 0) return false
    const merged = mergeSegments(createViews(inputs), FIELD_COUNT, analyzer)
    for (const { id } of inputs) storage.removeSegment(id)
    if (merged) storage.addSegment(merged)
    updateState()
    return true
  }
  /** Whether there are so many segments that searches slow down. */
  const hasManySegments = (): boolean => {
    const { generation } = storage.readState()
    if (cachedCount?.generation !== generation) {
      const small = storage.listSegments().filter(({ count }) => count < MAX_SEGMENT_CHUNKS / 2)
      cachedCount = { generation, smallSegments: small.length }
    }
    return cachedCount.smallSegments >= MAX_SMALL_SEGMENTS
  }
  /** Whether a search would miss chunks that can be indexed. */
  const lacksChunks = (): boolean => {
    const { format, last } = storage.readState()
    return storage.newestChunk() > last || (last > 0 && format !== FORMAT) || storage.listStale().length > 0
  }
  const advance = ({ chunks, merged }: IndexStep = LARGE_STEP): boolean => {
    const { format } = storage.readState()
    if (isNewer(format)) return false
    if (format !== FORMAT) {
      storage.clear()
      updateState({ format: FORMAT, last: 0 })
    }
    if (merged > MAX_QUICK_MERGE_CHUNKS && hasManySegments() && mergeSome(merged)) return true
    const hasAdded = addChunks(chunks)
    return mergeSome(hasAdded ? MAX_QUICK_MERGE_CHUNKS : merged) || hasAdded
  }
  const remove = (first: number, count: number): void => {
    const run = { first, last: first + count - 1 }
    storage.removeStale(run)
    const affected = storage.listSegments().filter((segment) => segment.first <= run.last && segment.last >= run.first)
    for (const { id } of affected) storage.addDead({ ...run, segment: id })
    if (affected.length > 0) updateState()
  }

  return {
    notifyNewChunks: (last) => {
      const state = storage.readState()
      if (isNewer(state.format)) return
      if (last - state.last >= MIN_BATCH_CHUNKS) {
        advance()
      } else if (state.format === FORMAT && last - lastMergeCheck >= MIN_BATCH_CHUNKS) {
        lastMergeCheck = last
        mergeSome(MAX_SEGMENT_CHUNKS)
      }
    },
    isBehind: () => !isNewer(storage.readState().format) && (lacksChunks() || hasManySegments()),
    countIndexed: () => {
      const { format, last } = storage.readState()
      const isReadable = format === FORMAT
      if (isReadable && !lacksChunks()) {
        const { count } = openSearch()
        return { chunks: count, indexed: count }
      }
      const { upTo, all } = storage.countChunks(last)
      const stale = storage.listStale().reduce((sum, run) => sum + run.last - run.first + 1, 0)
      return { chunks: all, indexed: isReadable ? upTo - stale : 0 }
    },
    advance,
    reindex: (first, count) => {
      const { last } = storage.readState()
      if (first > last) return
      remove(first, count)
      storage.addStale({ first, last: Math.min(first + count - 1, last) })
    },
    remove,
    search: ({ query, limit, sources, tests, also = [], explain }) => {
      const accept = createEntryFilter(storage, tests)
      const hits = openSearch().search(query, limit, { sources, also, explain, ...(accept && { accept }) })
      return hits.map(({ document, score, pageScore, terms, missing, missingOnPage, explain: explanation }) => {
        const { number, page, text, order } = document
        const { linkShare, hasSymbols } = readTraits(document.traits)
        const own = { number, page, text, order, linkShare, hasSymbols }
        const match = { ...own, score, pageScore, terms, missing, missingOnPage }
        return explanation === undefined ? match : { ...match, explain: explanation }
      })
    },
    countContentTypes: () => {
      // Loads the segments into the cache.
      openSearch()
      const counts = new Map<number, Record<ContentType, number>>()
      const views = createViews(storage.readState().format === FORMAT ? storage.listSegments() : [])
      for (const { segment, dead } of views) {
        const { sources, traits } = segment.table
        sources.forEach((source, index) => {
          if (dead?.[index] === 1) return
          const found = counts.get(source) ?? { prose: 0, code: 0 }
          found[readTraits(traits[index] ?? 0).contentType]++
          counts.set(source, found)
        })
      }
      return counts
    },
    createTest: ({ traits, page, chunk }) => {
      if (!traits && !page && !chunk) return () => true
      const isPageAccepted = cachePageTest(storage, page)
      return (number) => {
        const found = storage.readChunk(number)
        if (!found) return false
        const hasTraits = traits?.(writeTraits(found, symbolsOf(found).length > 0)) ?? true
        return hasTraits && isPageAccepted(found.page) && (chunk?.(found) ?? true)
      }
    },
  }
}

/**
 * Whether a format is that of a newer program, by its version numbers for the index and the text rules. An older program must not rebuild
 * such an index: two programs that share a library would rebuild it in turn forever.
 */
function isNewer(format: string): boolean {
  const [foundNumbers, ownNumbers] = [format, FORMAT].map((text) => text.match(/\d+/g)?.map(Number) ?? [])
  const differing = ownNumbers?.findIndex((number, i) => number !== foundNumbers?.[i]) ?? -1
  return (foundNumbers?.[differing] ?? 0) > (ownNumbers?.[differing] ?? 0)
}

function buildSegment(chunks: readonly NewChunk[]): EncodedSegment {
  const builder = new SegmentBuilder(analyzer, FIELD_COUNT)
  for (const chunk of chunks) {
    const { number, source, page } = chunk
    const fields = chunkFields(chunk)
    const [order, text] = [readHashPrefix(chunk.id), textNumber(chunk.contentHash)]
    builder.add(
      { number, source, page, order, text, traits: writeTraits(chunk, fields.definitions.length > 0) },
      FIELD_NAMES.map((name) => fields[name]),
    )
  }
  return builder.build()
}

/** A number for a text, from its hash: equal for equal texts, and hardly ever for others; 0 if the hash is invalid. */
export function textNumber(contentHash: string): number {
  return readHashPrefix(contentHash)
}

/** The first 48 bits of a hash, 0 if it is invalid. */
function readHashPrefix(hash: string): number {
  return HASH.test(hash) ? Number.parseInt(hash.slice(0, 12), 16) : 0
}

const HASH = /^[0-9a-f]{64}$/

/** The segments that are best merged now, with at most this many chunks; none if a merge is not worthwhile. */
function chooseMergeInputs(
  records: readonly SegmentRecord[],
  dead: readonly DeadChunkRange[],
  maxChunks: number,
): SegmentRecord[] {
  const deadById = new Map<number, number>()
  for (const { segment, first, last } of dead) deadById.set(segment, (deadById.get(segment) ?? 0) + last - first + 1)
  const segments = records.map((record) => ({
    record,
    living: Math.max(0, record.count - (deadById.get(record.id) ?? 0)),
  }))
  const mostlyDead = segments.filter(({ record, living }) => living * 2 < record.count)
  const chosen = limitSize(mostlyDead, maxChunks)
  if (chosen.length > 0) return chosen
  for (const size of MERGE_TIERS) {
    const small = segments.filter(({ living }) => living < size)
    if (small.length < FAN_IN) continue
    const inputs = limitSize(small, maxChunks)
    return inputs.length > 1 ? inputs : []
  }
  return []
}

/** The oldest segments that together have at most this many chunks; a segment that is too large is skipped. */
function limitSize(
  segments: readonly { readonly record: SegmentRecord; readonly living: number }[],
  maxChunks: number,
): SegmentRecord[] {
  const chosen: SegmentRecord[] = []
  let sum = 0
  for (const { record, living } of segments) {
    if (sum + living > maxChunks) continue
    sum += living
    chosen.push(record)
  }
  return chosen
}

/** The runs of each segment, in order; overlapping ones are joined. */
function groupRuns(runs: readonly DeadChunkRange[]): Map<number, ChunkRange[]> {
  const groups = new Map<number, ChunkRange[]>()
  for (const { segment, first, last } of runs) {
    const group = groups.get(segment) ?? []
    groups.set(segment, group)
    const before = group.at(-1)
    if (before && before.last >= first) group[group.length - 1] = { ...before, last: Math.max(before.last, last) }
    else group.push({ first, last })
  }
  return groups
}

/** Marks the documents of a segment that are in one of the runs. */
function markDead({ table }: Segment, runs: readonly ChunkRange[] | undefined): Uint8Array | undefined {
  if (!runs) return undefined
  const dead = new Uint8Array(table.count)
  table.numbers.forEach((number, index) => {
    let low = 0
    let high = runs.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((runs[middle]?.first ?? 0) <= number) low = middle + 1
      else high = middle
    }
    if (number <= (runs[low - 1]?.last ?? -1)) dead[index] = 1
  })
  return dead
}

/** A test of pages by number that checks each page once. */
function cachePageTest(storage: IndexStorage, test: ChunkTests['page']): (page: number) => boolean {
  if (!test) return () => true
  const pages = new Map<number, boolean>()
  return (number) => {
    const known = pages.get(number)
    if (known !== undefined) return known
    const page = storage.readPage(number)
    const isAccepted = page !== undefined && test(page)
    pages.set(number, isAccepted)
    return isAccepted
  }
}

/** Creates a test for whether a document may be found; undefined if all may. */
function createEntryFilter(
  storage: IndexStorage,
  { traits, page, chunk }: ChunkTests,
): ((document: IndexEntry) => boolean) | undefined {
  if (!traits && !page && !chunk) return undefined
  const isPageAccepted = cachePageTest(storage, page)
  const isChunkAccepted = (number: number): boolean => {
    if (!chunk) return true
    const found = storage.readChunk(number)
    return found !== undefined && chunk(found)
  }
  return (document) =>
    (traits?.(document.traits) ?? true) && isPageAccepted(document.page) && isChunkAccepted(document.number)
}

/** The text rules, with a cache of recent stems: words repeat, and a lookup is faster than stemming. */
const analyzer = createCachingAnalyzer()
const MAX_STEMS = 50_000

function createCachingAnalyzer(): typeof textAnalyzer {
  const stems = new Map<string, string>()
  return {
    ...textAnalyzer,
    stem: (token) => {
      const known = stems.get(token)
      if (known !== undefined) return known
      const stem = textAnalyzer.stem(token)
      if (stems.size >= MAX_STEMS) stems.clear()
      stems.set(token, stem)
      return stem
    },
  }
}
