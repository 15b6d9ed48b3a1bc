import type { Chunk, Page, Section } from '../core/model.ts'
import type { ChunkConditions } from '../core/retrieval/chunk-filter.ts'
import type { ContentTypeCounts } from '../core/retrieval/content-type.ts'
import type { Likeness } from '../core/retrieval/likeness.ts'
import type { LayoutSpan } from '../core/retrieval/page-layout.ts'
import type { Explanation } from '../core/search/explain.ts'
import type { MissingWord } from '../core/search/ranking.ts'
import type { CrawlKind, CrawlSummary } from '../crawl/events.ts'
import type { Alias, Ledger } from '../crawl/ledger.ts'
import type { PageKind } from '../crawl/ports.ts'
import type { Help, SharedCrawl } from '../crawl/sharing.ts'
import type { PlannerOptions } from '../plan/planner-options.ts'
import type { CrawlType, Source, SourceChange } from './source.ts'
import type { NumberedName } from './vectors.ts'

/** One run over a source, as it is kept. */
export interface Crawl {
  /** UUID; the `jobId` of the HTTP contract. */
  readonly id: string
  readonly sourceId: string
  readonly kind: CrawlKind
  /** Running, or how it ended. A running one whose heartbeat is old was interrupted. */
  readonly state: 'running' | CrawlSummary['end']
  /** What was asked for, as JSON can hold it: overrides of the scope, `full`, `acceptLoss`. */
  readonly options: CrawlRunOptions
  /** Id of the runner that has it, or had it last. */
  readonly runner: string | null
  readonly startedAt: number
  readonly heartbeatAt: number
  readonly endedAt: number | null
  readonly summary: CrawlSummary | null
}

/** What was asked of one run; kept, so that an interrupted one goes on as it began. */
export interface CrawlRunOptions {
  /** Reads every page again, whatever its validators and hash say. */
  readonly full: boolean
  /** Removes proven pages however many they are. */
  readonly acceptLoss: boolean
  /** In a refresh: also fetches addresses that are new. */
  readonly discover: boolean
  /** Pages checked within so many milliseconds are taken as they are. */
  readonly maxAgeMs: number
  /** The same for kinds of pages of which something else holds. */
  readonly maxAgeMsOf: Readonly<Partial<Record<PageKind, number>>>
  /** Overrides of the scope, for this run only. */
  readonly scope: Partial<Source['scope']>
  /** Where addresses are looked for, for this run only. @default what the source has */
  readonly crawlType?: CrawlType
  /** What its planner may do, where it has one. @default what holds for all */
  readonly planner?: PlannerOptions
  /** Begins although not everything is known of the site that ought to be. @default false */
  readonly force?: boolean
  /** Looks only at what changed in a folder that is watched. Such runs are many: of a source, the last twenty are kept. @default false */
  readonly isFocused?: boolean
}

/** So many runs over a part of a source are kept. */
export const FOCUSED_KEPT = 20

/** A running crawl that further processes may take part in. */
export interface SharableCrawl {
  readonly crawlId: string
  readonly sourceId: string
  /** Hosts with addresses to visit that no process has; of very many, some. */
  readonly freeHosts: number
  /** Addresses of these hosts that may be visited at any time. */
  readonly ready: number
}

/** A crawl that this process takes part in. */
export interface JoinedCrawl {
  readonly crawl: Crawl
  readonly shared: SharedCrawl
  /** Says that this process is alive. What is known by now; undefined when the crawl is over. */
  touch(now: number): Promise<SharedCrawl | undefined>
  /** Leaves it, and gives back the hosts it was for. */
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

/** A stored chunk and where it belongs. */
export interface StoredChunk {
  readonly sourceId: string
  readonly url: string
  readonly title: string
  readonly chunk: Chunk
}

/** What a chunk must be to be found. Every filter that is given has to hold, whichever way the chunk is looked for. */
export interface ChunkFilter extends ChunkConditions {
  readonly sourceIds?: readonly string[]
}

/** What to look for. */
export interface StoreQuery {
  readonly query: string
  readonly limit: number
  readonly filter?: ChunkFilter
  /** Chunks that follow the best, whatever they score, where they are not among them. The filter is not asked about them. */
  readonly also?: readonly NumberedName[]
  /** Adds to each hit where its score comes from. @default false */
  readonly explain?: boolean
}

/** A chunk that matched, as the index knows it. Equal texts get equal scores in every store. */
export interface StoreMatch {
  /** By which {@link Store.readMatches} finds the chunk; never given to another one. */
  readonly number: number
  /** The same for all chunks of a page. */
  readonly page: number
  readonly score: number
  /** The terms of the chunk that matched, in the order of the query: what a reader should be shown. */
  readonly terms: readonly string[]
  /** Which share of it is text of links, from 0 to 1. */
  readonly linkShare: number
  /** Whether it defines anything. */
  readonly hasSymbols: boolean
  /** The same for chunks with the same text, and hardly ever for others; 0 where that is not known. */
  readonly text: number
  /** The beginning of its id as a number; 0 where the id is no hash. */
  readonly order: number
  /** The words of the query that it lacks. */
  readonly missing: readonly MissingWord[]
  readonly explain?: Explanation
}

/** The text of a page and how it was cut: what is needed to show parts of it. */
export interface PageText {
  readonly sourceId: string
  readonly key: string
  readonly url: string
  readonly title: string
  readonly language: string | null
  readonly markdown: string
  readonly sections: readonly Section[]
  /** In the order of the page. */
  readonly chunks: readonly ChunkSpan[]
  readonly checkedAt: number
  readonly changedAt: number
}

/** A page by its source and key. */
export interface PagePlace {
  readonly sourceId: string
  readonly key: string
  /** As a match of this store names it, where one does: by this it is found sooner. */
  readonly page?: number | undefined
}

/** A page with what tells how it is related to others. */
export interface RelatedPage extends PagePlace, Likeness {
  readonly url: string
  readonly title: string
}

/** A part of a page around one of its chunks. */
export interface PageExcerpt {
  readonly checkedAt: number
  readonly changedAt: number
  /** The lines from the first one of its first chunk to the last one of its last. */
  readonly markdown: string
  /** Lines of the page before it. */
  readonly linesBefore: number
  /** Place in the page of its first chunk. */
  readonly first: number
  /** Its chunks, with their lines in the page. */
  readonly spans: readonly LayoutSpan[]
  /** Places of the chunks that can be shown from it, both ends included: as far around as a passage reaches. */
  readonly enough: { readonly first: number; readonly last: number }
}

/** Where a chunk stands in its page. */
export interface ChunkSpan {
  readonly id: string
  /** First line, from 1. */
  readonly startLine: number
  /** Last line, inclusive. */
  readonly endLine: number
  readonly headingPath: readonly string[]
  /** Name of the definition it holds, where its language has such. */
  readonly symbol: string | null
}

/** How far the index over chunks has come. What it has not taken in yet is not found by its words. */
export interface IndexProgress {
  readonly chunks: number
  /** How many of them can be found. None while the index is one that only a newer program can read. */
  readonly indexed: number
}

/** How large a library is. */
export interface StoreStats {
  readonly sources: number
  readonly pages: number
  readonly chunks: number
  readonly bytes: number
  /** When content last changed. */
  readonly changedAt: number | null
}

/** Where a library keeps everything. One contract suite runs on every implementation. */
export interface Store extends Ledger {
  /** Shown to people. */
  readonly location: string

  /** Refuses a name and version that are there with `SOURCE_EXISTS`. */
  addSource(source: Source): Promise<void>
  listSources(): Promise<Source[]>
  /** On behalf of a crawl that is another process's by now, nothing is changed. */
  updateSource(id: string, change: SourceChange, crawlId?: string): Promise<void>
  /** Removes a source with everything it has. */
  removeSource(id: string): Promise<{ readonly pages: number; readonly chunks: number }>

  /**
   * Begins a crawl. Refuses with `CRAWL_RUNNING` while another one of the source has a heartbeat younger than
   * `staleMs`, unless its runner is `gone`. A stale one is closed as cancelled, unless it is the one given by `resume`, which
   * then goes on with the runner of `crawl`. A new one finds out for itself what an interrupted one was about to prove.
   */
  beginCrawl(crawl: Crawl, staleMs: number, resume?: string, gone?: string): Promise<Crawl>
  /** Says that a crawl is alive; false when it was taken over, by another runner than the given one. */
  touchCrawl(id: string, now: number, runner?: string): Promise<boolean>
  /** Ends a crawl; without a summary it was broken off. One that another runner has taken over goes on. */
  endCrawl(id: string, summary: CrawlSummary | null, now: number, runner?: string): Promise<void>
  /** Newest first. */
  listCrawls(sourceId: string, limit: number): Promise<Crawl[]>
  /** Those of all sources that run as far as anybody has said, with a sign of life or without. */
  listRunning(): Promise<Crawl[]>
  /*
   * Where several machines use a library, further processes may take part in a crawl: they make visits for it and do nothing else. Whoever
   * began it goes on, and ends it when nothing is left to be visited by anybody.
   */
  /** Says that others may take part in a crawl from now on. */
  shareCrawl?(id: string, shared: SharedCrawl, runner?: string): Promise<void>
  /** Crawls that others may take part in, with something to be done on hosts that nobody has; those with most of it first. */
  listSharable?(now: number): Promise<SharableCrawl[]>
  /** Takes part in a crawl; undefined where that may not be, or not any more. */
  joinCrawl?(id: string): Promise<JoinedCrawl | undefined>
  /** All that others have done for a crawl since it was last begun. */
  readHelp?(id: string): Promise<Help>

  /** Aliases that name this address on either side. */
  listAliases(sourceId: string, url: string): Promise<Alias[]>

  readPage(sourceId: string, key: string): Promise<StoredPage | undefined>
  readPageText(sourceId: string, key: string): Promise<PageText | undefined>
  /** The part of a page around the chunk at a place, without reading the rest. */
  readExcerpt(sourceId: string, key: string, place: number): Promise<PageExcerpt | undefined>
  /** How pages are related to others, in their order; undefined where nobody has looked, as before there was such a thing. */
  readLikenesses(places: readonly PagePlace[]): Promise<(Likeness | undefined)[]>
  /**
   * Looks how pages are related of which nobody has looked, as those are that an older program stored: some at a time, so that others can
   * read and write meanwhile. `describe` says it of a page. Gives how many there were; ends early when it is aborted, and where nothing
   * can be written for a while.
   */
  fillLikenesses(describe: (page: Page) => Page, signal?: AbortSignal): Promise<number>
  /** The pages of a source of which that is known, in the order of keys. */
  listRelated(sourceId: string): AsyncIterable<RelatedPage>
  /** Keys of the pages whose text holds this, whatever the case of its letters from A to Z; in their order. */
  findPages(sourceId: string, text: string): Promise<string[]>
  /** In the order of keys. */
  listPages(sourceId: string): AsyncIterable<StoredPage>
  readChunk(sourceId: string, chunkId: string): Promise<StoredChunk | undefined>
  countContent(sourceId: string): Promise<{ readonly pages: number; readonly chunks: number }>
  /** How many chunks of each source are of which type, as far as the index has taken them in; by the id of the source. */
  countContentTypes(): Promise<ReadonlyMap<string, ContentTypeCounts>>
  /**
   * The chunks that match best by their words, best first; equal scores in the order of their ids. What the index has not taken in
   * is taken in before, as far as that is done in a moment and nobody else is writing; {@link readIndexState} tells what is missing.
   */
  search(query: StoreQuery): Promise<StoreMatch[]>
  /**
   * The chunks of matches, in their order; undefined for one that was removed meanwhile. Their content may be read when it is asked
   * for, which has to be before the store is closed.
   */
  readMatches(matches: readonly StoreMatch[]): Promise<(StoredChunk | undefined)[]>
  readIndexState(): Promise<IndexProgress>
  /**
   * Takes into the index all that it lacks, some at a time, so that others can read and write meanwhile. Ends early when it is
   * aborted, and where nothing can be written for a while.
   */
  tendIndex(signal?: AbortSignal): Promise<void>
  stats(): Promise<StoreStats>
  close(): Promise<void>
}
