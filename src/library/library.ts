import type { PageClass, Sha256 } from '../core/model.ts'
import type { Reason } from '../crawl/ledger-reasons.ts'
import type { Fetcher, Renderer, SiteHeaders } from '../crawl/ports.ts'
import type { CrawlLimits, CrawlPorts } from '../crawl/run.ts'
import type { Addresses } from './ports/addresses.ts'
import type { CrawlPlans } from './ports/crawl-plans.ts'
import type { Findings } from './ports/findings.ts'
import type { JobLog } from './ports/job-log.ts'
import type { EarlierPages } from './ports/library-store.ts'
import type { PendingImports } from './ports/pending-imports.ts'
import type { Reranker } from './ports/reranker.ts'
import type { Store } from './ports/store.ts'
import type { TreeReader } from './ports/tree.ts'
import type { VectorCopy } from './ports/vector-copy.ts'
import type { Embedder, VectorIndex } from './ports/vectors.ts'
import type { Workers } from './ports/workers.ts'

/** Sources, ledger, pages, chunks and index, with the services that fill them. */
export interface Library
  extends Pick<CrawlPorts, 'fetcher' | 'readPage' | 'memory' | 'clock' | 'kindOf' | 'random' | 'newId'> {
  readonly store: Store
  /** Explains why an address must not be requested, without connecting. If absent, only the first request shows that it is refused. */
  readonly checkAddress?: (url: string) => Promise<AddressRefusal | undefined>
  /** Headers for sites behind a login; if absent, there are none. */
  readonly siteHeaders?: SiteHeaders
  /** Recent load of this process, from 0 to 1. If absent, background work beside a crawl never pauses. */
  readonly load?: () => number
  readonly sha256: Sha256
  readonly limits: CrawlLimits
  readonly runner: Runner
  /** If absent, file trees cannot be read. */
  readonly trees?: TreeReader
  /** Imports in progress; if absent, an interrupted import must be sent again. */
  readonly imports?: PendingImports
  /** Storage of chunk vectors; if absent, search uses words only. */
  readonly vectors?: VectorIndex
  /** External copy of the vectors, if a service is configured. */
  readonly vectorCopy?: VectorCopy
  /** History of jobs; if absent, a server keeps none. */
  readonly jobLog?: JobLog
  /** Workers that share the jobs; only in stores that several processes can use. */
  readonly workers?: Workers
  /** The addresses of all sources together. */
  readonly addresses?: Addresses
  /** If absent, crawls are not planned, and do not remember their milestones. */
  readonly plans?: CrawlPlans
  /** If absent, nothing is known about pages besides their content. */
  readonly findings?: Findings
  /** Reads the class of a page; undefined before it is classified. */
  readonly readClass?: (sourceId: string, key: string) => Promise<PageClass | undefined>
  /** Reads the texts that pages had before the last crawl of their source; if absent, they are not kept. */
  readonly readEarlierPages?: (sourceId: string) => Promise<EarlierPages>
  /** Reads the earlier text of one page; null if the last crawl did not change it, or the text was not kept. */
  readonly readEarlierText?: (sourceId: string, key: string) => Promise<string | null>
  /** Reads the list of ordinary English words; other words of a question may be names. If absent, no word counts as a name. */
  readonly readOrdinaryWords?: () => Promise<ReadonlySet<string>>
  /** Opens the built-in or configured embedder once, on first use; undefined if there is none. */
  readonly openEmbedder?: () => Promise<Embedder | undefined>
  /** Whether the owner configured an embedding service; search then reports missing vectors. */
  readonly hasEmbeddingService?: boolean
  /** Whether new pages are embedded automatically. @default no */
  readonly embedsNew?: boolean
  /** Opens the configured reranker once; undefined if there is none. */
  readonly openReranker?: () => Promise<Reranker | undefined>
  /** Opens the browser for rendering once. Rejects with `BROWSER_MISSING` if there is none. */
  readonly openRenderer?: () => Promise<Renderer>
  /** Opens the configured Crawl4AI service once. Rejects with `SERVICE_UNUSABLE` if it does not respond. */
  readonly openCrawl4AI?: () => Promise<Fetcher>
}

/** What tells the state of a source: its records, and whether a process still crawls it. */
export type SourceState = Pick<Library, 'store' | 'clock' | 'limits' | 'runner'>

/** What finds a source by its name, version or address. */
export type SourceLookup = SourceState & Pick<Library, 'trees'>

/** Why an address must not be requested. */
export interface AddressRefusal {
  readonly reason: Reason
  /** Explanation without private data. */
  readonly detail: string
  /** Whether a later request may be allowed. */
  readonly isTransient: boolean
  /** The `allowPrivate` value that permits it; null if that would not help. */
  readonly rule: string | null
}

/** Identity of the process that runs crawls. */
export interface Runner {
  readonly id: string
  /** Whether the process with this id has certainly ended; false if unknown. */
  isGone(id: string): boolean
}

/** Returns the machine name of a runner. */
export function machineOf({ id }: Pick<Runner, 'id'>): string {
  return id.replace(/\/.*$/s, '')
}
