import type { Explanation } from '../../search/explain.ts'
import type { MissingWord } from '../../search/ranked-query.ts'
import {
  type EncodedSegment,
  openSegment,
  type Segment,
  SegmentBuilder,
  type SegmentView,
} from '../../search/segments/segment.ts'
import { SegmentSearch } from '../../search/segments/segment-search.ts'
import { createCachingAnalyzer, textAnalyzer } from '../../text/analyzer.ts'
import { CHUNK_FIELDS, CHUNK_WEIGHTS, chunkFields } from '../chunk-fields.ts'
import { type ChunkTests, cachePageTest, createEntryFilter } from '../chunk-filter.ts'
import { type ContentType, type ContentTypeCounts, readTraits, writeTraits } from '../content-type.ts'
import { symbolsOf } from '../definitions.ts'
import { DeadDocuments, groupRuns } from './dead-documents.ts'
import { IndexMerges } from './index-merges.ts'
import type { IndexState, IndexStorage, NewChunk, SegmentRecord } from './index-storage.ts'
import { FAN_IN, LARGE_SEGMENT_CHUNKS } from './merge-choice.ts'

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
  /** Whether segments should be merged when there is time. */
  hasMerges(): boolean
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
  /** Maximum number of blocks to merge, of 4 kB each. */
  readonly blocks: number
  /** Whether chunks are added and nothing else, as long as some are missing. */
  readonly isSearchWaiting?: boolean
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
  /** Whether the storage could read all blocks so far. If not, nothing is found, because the caller repeats the search with them. */
  readonly isLoaded?: (() => boolean) | undefined
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

const FIELD_NAMES = Object.keys(CHUNK_FIELDS) as (keyof typeof CHUNK_FIELDS)[]

/** Must change whenever the same chunks are to be indexed differently: libraries then rebuild their index from their chunks. */
const INDEX_VERSION = 4
const FORMAT = [INDEX_VERSION, textAnalyzer.id, ...FIELD_NAMES].join(' ')

/** Number of new chunks that justifies a transaction on the index. */
const MIN_BATCH_CHUNKS = 1024

/** Maximum number of blocks to merge in a transaction that also added chunks, or while a search waits. */
const MAX_QUICK_MERGE_BLOCKS = 64
/** Limits of a transaction that blocks only other writers. */
const LARGE_STEP: IndexStep = { chunks: 2048, blocks: 512 }
/** Limits for a process that answers questions too: a merge must not keep it from responding for 50 ms. Adding chunks takes longer. */
export const SMALL_STEP: IndexStep = { chunks: 1024, blocks: MAX_QUICK_MERGE_BLOCKS }
/** Limits while a search waits. */
export const BRIEF_STEP: IndexStep = { chunks: 256, blocks: MAX_QUICK_MERGE_BLOCKS, isSearchWaiting: true }
/** More small segments than this slow searches down. */
const MAX_SMALL_SEGMENTS = 3 * FAN_IN

/** Creates an index that keeps its data in `storage`. */
export function createChunkIndex(storage: IndexStorage): ChunkIndex {
  return new StoredChunkIndex(storage)
}

class StoredChunkIndex implements ChunkIndex {
  readonly #storage: IndexStorage
  readonly #cache = new Map<number, Segment>()
  readonly #dead = new DeadDocuments()
  /** The number of the newest chunk when segments to merge were last looked for. */
  #lastMergeCheck = 0
  readonly #merges: IndexMerges
  #cachedCount: { readonly generation: number; readonly smallSegments: number } | undefined
  #cachedSearch: { readonly generation: number; readonly search: SegmentSearch } | undefined

  constructor(storage: IndexStorage) {
    this.#storage = storage
    this.#merges = new IndexMerges(storage, (records) => this.#createViews(records, true))
  }

  notifyNewChunks(last: number): void {
    const state = this.#storage.readState()
    if (isNewer(state.format)) return
    if (last - state.last >= MIN_BATCH_CHUNKS) {
      this.advance()
    } else if (state.format === FORMAT && last - this.#lastMergeCheck >= MIN_BATCH_CHUNKS) {
      this.#lastMergeCheck = last
      this.#mergeSome(LARGE_STEP.blocks, false)
    }
  }

  isBehind(): boolean {
    return !isNewer(this.#storage.readState().format) && (this.#lacksChunks() || this.#hasManySegments())
  }

  hasMerges(): boolean {
    return this.#storage.readState().format === FORMAT && this.#merges.isDue()
  }

  // An arrow function, because a store passes it on without its object.
  readonly countIndexed = (): { readonly chunks: number; readonly indexed: number } => {
    const { format, last } = this.#storage.readState()
    const isReadable = format === FORMAT
    if (isReadable && !this.#lacksChunks()) {
      const { count } = this.#openSearch()
      return { chunks: count, indexed: count }
    }
    const { upTo, all } = this.#storage.countChunks(last)
    const stale = this.#storage.listStale().reduce((sum, run) => sum + run.last - run.first + 1, 0)
    return { chunks: all, indexed: isReadable ? upTo - stale : 0 }
  }

  reindex(first: number, count: number): void {
    const { last } = this.#storage.readState()
    if (first > last) return
    this.remove(first, count)
    this.#storage.addStale({ first, last: Math.min(first + count - 1, last) })
  }

  search({ query, limit, sources, tests, also = [], explain, isLoaded }: ChunkQuery): ChunkMatch[] {
    const accept = createEntryFilter(this.#storage, tests)
    const options = { sources, also, explain, isLoaded, ...(accept && { accept }) }
    const hits = this.#openSearch().search(query, limit, options)
    return hits.map(({ document, score, pageScore, terms, missing, missingOnPage, explain: explanation }) => {
      const { number, page, text, order } = document
      const { linkShare, hasSymbols } = readTraits(document.traits)
      const own = { number, page, text, order, linkShare, hasSymbols }
      const match = { ...own, score, pageScore, terms, missing, missingOnPage }
      return explanation === undefined ? match : { ...match, explain: explanation }
    })
  }

  countContentTypes(): Map<number, ContentTypeCounts> {
    // Loads the segments into the cache.
    this.#openSearch()
    const counts = new Map<number, Record<ContentType, number>>()
    const views = this.#createViews(this.#storage.readState().format === FORMAT ? this.#storage.listSegments() : [])
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
  }

  createTest({ traits, page, chunk }: ChunkTests): (number: number) => boolean {
    if (!traits && !page && !chunk) return () => true
    const isPageAccepted = cachePageTest(this.#storage, page)
    return (number) => {
      const found = this.#storage.readChunk(number)
      if (!found) return false
      const hasTraits = traits?.(writeTraits(found, symbolsOf(found).length > 0)) ?? true
      return hasTraits && isPageAccepted(found.page) && (chunk?.(found) ?? true)
    }
  }

  advance({ chunks, blocks, isSearchWaiting = false }: IndexStep = LARGE_STEP): boolean {
    const { format } = this.#storage.readState()
    if (isNewer(format)) return false
    if (format !== FORMAT) {
      this.#storage.clear()
      this.#updateState({ format: FORMAT, last: 0 })
    }
    const lacksChunks = this.#lacksChunks()
    if (isSearchWaiting && lacksChunks) return this.#addChunks(chunks)
    const isCrowded = this.#hasManySegments()
    const maxBlocks = lacksChunks && !isCrowded ? Math.min(blocks, MAX_QUICK_MERGE_BLOCKS) : blocks
    // Before chunks are added: a merge of several steps stores the ids of its segments, and a new one may get another id when it is stored.
    const hasMerged = this.#mergeSome(maxBlocks, false)
    if (isCrowded && hasMerged) return true
    return this.#addChunks(chunks) || hasMerged || this.#mergeSome(blocks, true)
  }

  remove(first: number, count: number): void {
    const run = { first, last: first + count - 1 }
    this.#storage.removeStale(run)
    const affected = this.#storage
      .listSegments()
      .filter((segment) => segment.first <= run.last && segment.last >= run.first)
    for (const { id } of affected) this.#storage.addDead({ ...run, segment: id })
    if (affected.length > 0) this.#updateState()
  }

  #loadSegment(id: number, isReadOnce: boolean): Segment {
    const stored = this.#storage.openSegment(id, isReadOnce)
    return openSegment(stored, CHUNK_WEIGHTS, stored.readBlock)
  }

  #createViews(records: readonly SegmentRecord[], isReadOnce = false): SegmentView[] {
    const runs = groupRuns(this.#storage.listDead())
    return records.map(({ id }) => {
      const segment = this.#cache.get(id) ?? this.#loadSegment(id, isReadOnce)
      return { segment, dead: this.#dead.mark(segment, runs.get(id)) }
    })
  }

  #openSearch(): SegmentSearch {
    const { format, generation } = this.#storage.readState()
    if (this.#cachedSearch?.generation === generation) return this.#cachedSearch.search
    const records = format === FORMAT ? this.#storage.listSegments() : []
    const views = this.#createViews(records)
    // The cache is filled only here, where nothing is being written: the id of an uncommitted segment may be reused.
    this.#cache.clear()
    records.forEach(({ id }, i) => {
      const segment = views[i]?.segment
      if (segment) this.#cache.set(id, segment)
    })
    this.#storage.keepOnly(new Set(this.#cache.keys()))
    const search = new SegmentSearch(views, { fields: CHUNK_FIELDS, analyzer })
    this.#cachedSearch = { generation, search }
    return search
  }

  #updateState(state: Partial<IndexState> = {}): void {
    const before = this.#storage.readState()
    this.#storage.writeState({ ...before, ...state, generation: before.generation + 1 })
  }

  /** The next chunks to index: changed ones first, then new ones. */
  #takeNext(maxChunks: number): NewChunk[] {
    const chunks: NewChunk[] = []
    for (const run of this.#storage.listStale()) {
      const remaining = maxChunks - chunks.length
      if (remaining <= 0) return chunks
      const found = this.#storage.readChunks(run, remaining)
      chunks.push(...found)
      this.#storage.removeStale(run)
      const reached = found.length < remaining ? run.last : (found.at(-1)?.number ?? run.last)
      if (reached < run.last) this.#storage.addStale({ first: reached + 1, last: run.last })
    }
    const { last } = this.#storage.readState()
    const fresh = this.#storage.readChunks(
      { first: last + 1, last: Number.MAX_SAFE_INTEGER },
      maxChunks - chunks.length,
    )
    const newest = fresh.at(-1)
    if (newest) this.#updateState({ last: newest.number })
    return [...chunks, ...fresh]
  }

  #addChunks(maxChunks: number): boolean {
    const chunks = this.#takeNext(maxChunks)
    if (chunks.length === 0) return false
    this.#storage.addSegment(buildSegment(chunks))
    this.#storage.completePages(new Set(chunks.map(({ page }) => page)))
    this.#updateState()
    return true
  }

  #mergeSome(maxBlocks: number, isAtRest: boolean): boolean {
    const outcome = this.#merges.run(maxBlocks, isAtRest)
    if (outcome === 'changed') this.#updateState()
    return outcome !== 'none'
  }

  /** Whether there are so many segments that searches slow down. */
  #hasManySegments(): boolean {
    const { generation } = this.#storage.readState()
    if (this.#cachedCount?.generation !== generation) {
      const small = this.#storage.listSegments().filter(({ count }) => count < LARGE_SEGMENT_CHUNKS)
      this.#cachedCount = { generation, smallSegments: small.length }
    }
    return this.#cachedCount.smallSegments >= MAX_SMALL_SEGMENTS
  }

  /** Whether a search would miss chunks that can be indexed. */
  #lacksChunks(): boolean {
    const { format, last } = this.#storage.readState()
    return this.#storage.newestChunk() > last || (last > 0 && format !== FORMAT) || this.#storage.listStale().length > 0
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
  const builder = new SegmentBuilder(analyzer, CHUNK_WEIGHTS)
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

const analyzer = createCachingAnalyzer()
