import type { PharosError } from '../../core/errors.ts'
import type { Chunk, Page } from '../../core/model.ts'
import type { ChunkConditions } from '../../core/retrieval/chunk-filter.ts'
import type { ContentTypeCounts } from '../../core/retrieval/content-type.ts'
import type { ChunkMatch } from '../../core/retrieval/index/chunk-index.ts'
import type { LayoutSpan } from '../../core/retrieval/page-layout.ts'
import type { PageSignature } from '../../core/retrieval/page-signature.ts'
import type { CrawlKind, CrawlSummary } from '../../crawl/events.ts'
import type { Ledger } from '../../crawl/ledger.ts'
import type { PlannerOptions } from '../../crawl/planner-options.ts'
import type { CrawlRun } from '../../crawl/run.ts'
import type { Alias } from '../../crawl/settlement.ts'
import type { ProcessCounts, SharedCrawl } from '../../crawl/sharing.ts'
import type { CrawlType, Source, SourceUpdate } from '../source.ts'
import type { NumberedChunkRef } from './vectors.ts'

/** Stored record of one run over a source. */
export interface Crawl {
  /** UUID; the `jobId` of the HTTP contract. */
  readonly id: string
  readonly sourceId: string
  readonly kind: CrawlKind
  /** Running, or the end of the crawl. A running crawl with an old heartbeat was interrupted. */
  readonly state: 'running' | CrawlSummary['end']
  /** Options of the run: scope overrides, `full`, `acceptLoss` and others. */
  readonly options: CrawlRunOptions
  /** Id of the current or last runner. */
  readonly runner: string | null
  readonly startedAt: number
  readonly heartbeatAt: number
  readonly endedAt: number | null
  readonly summary: CrawlSummary | null
}

/** Options of one run, stored so that an interrupted run resumes with them. */
export interface CrawlRunOptions
  extends Pick<CrawlRun, 'full' | 'acceptLoss' | 'discover' | 'maxAgeMs' | 'maxAgeMsOf'> {
  /** Scope overrides for this run only. */
  readonly scope: Partial<Source['scope']>
  /** Crawl type for this run only. @default that of the source */
  readonly crawlType?: CrawlType
  /** Planner options, if the type has a planner. @default the general ones */
  readonly planner?: PlannerOptions
  /** Starts even if too little is known about the site. @default false */
  readonly force?: boolean
  /** Checks only changes in a watched folder. Such runs are frequent, so only the last twenty of a source are kept. @default false */
  readonly isFocused?: boolean
}

/** Number of focused runs kept per source. */
export const MAX_FOCUSED_RUNS = 20

/** A running crawl that other processes may join. */
export interface SharableCrawl {
  readonly crawlId: string
  readonly sourceId: string
  /** Number of idle hosts with addresses to visit; counted up to a limit. */
  readonly freeHosts: number
  /** Number of addresses on these hosts that are due. */
  readonly ready: number
}

/** A crawl that this process has joined. */
export interface JoinedCrawl {
  readonly crawl: Crawl
  readonly shared: SharedCrawl
  /** Sends a heartbeat; returns the current shared facts, or undefined if the crawl is over. */
  touch(now: number): Promise<SharedCrawl | undefined>
  /** Leaves the crawl and releases its hosts. */
  leave(now: number): Promise<void>
}

/** A stored page. */
export interface StoredPage {
  readonly sourceId: string
  readonly key: string
  readonly page: Page
  readonly checkedAt: number
  readonly changedAt: number
}

/** A stored chunk with its source and page. */
export interface StoredChunk {
  readonly sourceId: string
  readonly url: string
  readonly title: string
  readonly chunk: Chunk
}

/** Conditions for chunks. All given filters must match in every kind of search. */
export interface ChunkFilter extends ChunkConditions {
  readonly sourceIds?: readonly string[]
}

/** A search in the index. */
export interface StoreQuery {
  readonly query: string
  readonly limit: number
  readonly filter?: ChunkFilter
  /** Further chunks to return after the best ones, regardless of score and filter. */
  readonly also?: readonly NumberedChunkRef[]
  /** Explains the score of each hit. @default false */
  readonly explain?: boolean
}

/** A matching chunk as the index knows it. Equal texts have equal scores in every store. {@link Store.readMatches} takes its number. */
export type StoreMatch = ChunkMatch

/** Text and chunk positions of a page, for showing parts of it. */
export interface PageText
  extends Pick<Page, 'url' | 'title' | 'language' | 'markdown' | 'sections'>,
    Omit<StoredPage, 'page'> {
  /** In the order of the page. */
  readonly chunks: readonly ChunkSpan[]
}

/** A page by its source and key. */
export interface PageRef {
  readonly sourceId: string
  readonly key: string
  /** Page number from a match of this store, if known; makes the lookup faster. */
  readonly page?: number | undefined
}

/** A page with its signature. */
export interface PageWithSignature extends PageRef, PageSignature {
  readonly url: string
  readonly title: string
}

/** Part of a page around one of its chunks. */
export interface PageExcerpt {
  readonly checkedAt: number
  readonly changedAt: number
  /** Lines from the start of its first chunk to the end of its last. */
  readonly markdown: string
  /** Number of lines of the page before it. */
  readonly linesBefore: number
  /** Index of its first chunk in the page. */
  readonly first: number
  /** Its chunks with their lines in the page. */
  readonly spans: readonly LayoutSpan[]
  /** Indexes of chunks, both inclusive, for which the excerpt holds enough context for a passage. */
  readonly usableChunks: { readonly first: number; readonly last: number }
}

/** Position of a chunk in its page. */
export type ChunkSpan = Pick<Chunk, 'id' | 'startLine' | 'endLine' | 'headingPath' | 'symbol'>

/** Progress of the chunk index. Chunks not yet indexed cannot be found by words. */
export interface IndexProgress {
  readonly chunks: number
  /** Number of searchable chunks; 0 if only a newer program can read the index. */
  readonly indexed: number
  /** Why chunks that are missing cannot be indexed now. */
  readonly problem?: PharosError | undefined
}

/** Size of a library. */
export interface StoreStats {
  readonly sources: number
  readonly pages: number
  readonly chunks: number
  readonly bytes: number
  /** When content last changed. */
  readonly changedAt: number | null
}

/** Sources and their crawls. */
export interface SourceStore {
  /** Adds a source; throws `SOURCE_EXISTS` if name and version are taken. */
  addSource(source: Source): Promise<void>
  listSources(): Promise<Source[]>
  /**
   * Changes a source; does nothing if `crawlId` is given and another process has taken that crawl over. A function gets the stored source
   * inside the transaction, and may run again if the transaction does.
   */
  updateSource(id: string, change: SourceUpdate, crawlId?: string): Promise<void>
  /** Removes a source with all its data; with `onlyEmpty` only if it has no page, decided in the same transaction. */
  removeSource(
    id: string,
    options?: { readonly onlyEmpty?: boolean },
  ): Promise<{ readonly pages: number; readonly chunks: number }>

  /**
   * Begins a crawl. Throws `CRAWL_RUNNING` if another crawl of the source has a heartbeat younger than `staleMs`, unless its runner is
   * `gone`. A stale crawl is closed as cancelled, unless `resume` names it; then it continues with the runner of `crawl`. A new crawl
   * starts without the losses that an interrupted one has proven.
   */
  beginCrawl(crawl: Crawl, staleMs: number, resume?: string, gone?: string): Promise<Crawl>
  /** Sends a heartbeat; returns false if another runner has taken the crawl over. */
  touchCrawl(id: string, now: number, runner?: string): Promise<boolean>
  /** Ends a crawl; without a summary it counts as interrupted. A crawl taken over by another runner continues. */
  endCrawl(id: string, summary: CrawlSummary | null, now: number, runner?: string): Promise<void>
  /** Lists crawls, newest first. */
  listCrawls(sourceId: string, limit: number): Promise<Crawl[]>
  /** Lists crawls of all sources recorded as running, with or without a heartbeat. */
  listRunning(): Promise<Crawl[]>
  /*
   * In a library that several machines use, other processes may join a crawl and make visits for it. The process that began the crawl
   * continues, and ends it when no process has visits left.
   */
  /** Allows other processes to join a crawl. */
  shareCrawl?(id: string, shared: SharedCrawl, runner?: string): Promise<void>
  /** Lists crawls that can be joined and have work on idle hosts, most work first. */
  listSharable?(now: number): Promise<SharableCrawl[]>
  /** Joins a crawl; undefined if that is not possible, or no longer. */
  joinCrawl?(id: string): Promise<JoinedCrawl | undefined>
  /** Reads the total work of other processes for a crawl since it last began. */
  readHelperCounts?(id: string): Promise<ProcessCounts>
}

/** Pages, chunks and the search in them. */
export interface ContentStore {
  readPage(sourceId: string, key: string): Promise<StoredPage | undefined>
  readPageText(sourceId: string, key: string): Promise<PageText | undefined>
  /** Reads the part of a page around the chunk at `chunkIndex`, without reading the rest. */
  readExcerpt(sourceId: string, key: string, chunkIndex: number): Promise<PageExcerpt | undefined>
  /** Reads the signatures of pages, in order; undefined for pages stored before signatures existed. */
  readPageSignatures(pages: readonly PageRef[]): Promise<(PageSignature | undefined)[]>
  /**
   * Computes the signatures of pages that lack one, such as those stored by an older program, in batches so that other processes can read
   * and write meanwhile. `describe` adds the signature to a page. Returns the number of pages; ends early on abort, or if the library
   * cannot be written for a while.
   */
  fillPageSignatures(describe: (page: Page) => Page, signal?: AbortSignal): Promise<number>
  /** Iterates over pages that have a signature, in key order. */
  listPageSignatures(sourceId: string): AsyncIterable<PageWithSignature>
  /** Finds the keys of pages whose text contains `text`, ASCII case-insensitively, in key order. */
  findPages(sourceId: string, text: string): Promise<string[]>
  /** Iterates over pages in key order. */
  listPages(sourceId: string): AsyncIterable<StoredPage>
  readChunk(sourceId: string, chunkId: string): Promise<StoredChunk | undefined>
  countContent(sourceId: string): Promise<{ readonly pages: number; readonly chunks: number }>
  /** Counts indexed chunks by source id and content type. */
  countContentTypes(): Promise<ReadonlyMap<string, ContentTypeCounts>>
  /**
   * Finds the best matching chunks by words, best first; equal scores in the order of ids. Chunks missing in the index are added first, if
   * that is quick and no other process is writing; {@link readIndexState} counts those still missing.
   */
  search(query: StoreQuery): Promise<StoreMatch[]>
  /**
   * Reads the chunks of matches, in order; undefined for chunks removed meanwhile. Content may be read lazily, so it must be read before
   * the store is closed.
   */
  readMatches(matches: readonly StoreMatch[]): Promise<(StoredChunk | undefined)[]>
  readIndexState(): Promise<IndexProgress>
  /**
   * Indexes all missing chunks, in batches so that other processes can read and write meanwhile. Ends early on abort, or if the library
   * cannot be written for a while.
   */
  indexMissingChunks(signal?: AbortSignal): Promise<void>
}

/** Storage of a library. The same contract tests run on every implementation. */
export interface Store extends Ledger, SourceStore, ContentStore {
  /** Display location. */
  readonly location: string
  /** Lists aliases with this address on either side. */
  listAliases(sourceId: string, url: string): Promise<Alias[]>
  stats(): Promise<StoreStats>
  close(): Promise<void>
}
