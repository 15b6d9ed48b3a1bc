import type { PlaceMatcher } from '../analysis/matcher.ts'
import type { Sha256 } from '../core/model.ts'
import type { Reason } from '../crawl/ledger.ts'
import type { Memory } from '../crawl/memory-gate.ts'
import type { Clock, Fetcher, KindOf, PageReader, Renderer } from '../crawl/ports.ts'
import type { CrawlLimits } from '../crawl/run.ts'
import type { PlanMemory } from '../plan/plan-memory.ts'
import type { Addresses } from './addresses.ts'
import type { Analyses } from './analyses.ts'
import type { Gazetteer } from './gazetteer.ts'
import type { JobLog } from './job-log.ts'
import type { KeptImports } from './kept-imports.ts'
import type { PlaceHubs } from './place-hubs.ts'
import type { Reranker } from './reranker.ts'
import type { Store } from './store.ts'
import type { TreeReader } from './tree.ts'
import type { VectorCopy } from './vector-copy.ts'
import type { Embedder, VectorIndex } from './vectors.ts'
import type { Workers } from './workers.ts'

/** Sources, ledger, pages, chunks and index, kept together, with what is needed to fill them. */
export interface Library {
  readonly store: Store
  readonly fetcher: Fetcher
  /** Says why an address may not be connected to, without connecting. Without it, the first request tells. */
  readonly checkAddress?: (url: string) => Promise<AddressRefusal | undefined>
  readonly readPage: PageReader
  /** Without it, memory is not looked at. */
  readonly memory?: Memory
  /** Which share of the last moments this process was at work, from 0 to 1. Without it, work beside a crawl never rests. */
  readonly load?: () => number
  readonly clock: Clock
  readonly kindOf: KindOf
  readonly sha256: Sha256
  /** Number from 0 up to 1. */
  readonly random: () => number
  /** A new UUID. */
  readonly newId: () => string
  readonly limits: CrawlLimits
  readonly runner: Runner
  /** Without it, folders of this machine cannot be read. */
  readonly trees?: TreeReader
  /** What is being imported; without it an import that is broken off has to be sent again. */
  readonly imports?: KeptImports
  /** Where the vectors of chunks are kept; without it search goes by words alone. */
  readonly vectors?: VectorIndex
  /** A copy of them in a service, where one is configured. */
  readonly vectorCopy?: VectorCopy
  /** The history of jobs; without it a server keeps none. */
  readonly jobLog?: JobLog
  /** Those who share its work; only where many processes can. */
  readonly workers?: Workers
  /** The addresses of all sources together. */
  readonly addresses?: Addresses
  /** Places of the world; without them nothing is found about any. */
  readonly gazetteer?: Gazetteer
  /** What is found out about stored pages. */
  readonly analyses?: Analyses
  readonly placeHubs?: PlaceHubs
  /** What plans of crawls remember. */
  readonly planMemory?: PlanMemory
  /** Finds places by the names of the gazetteer as it is now; opened when it is first needed. */
  readonly openPlaces?: () => Promise<PlaceMatcher>
  /** Ordinary English words; other words of a question may be names. Without the list no word counts as a name. */
  readonly readOrdinaryWords?: () => Promise<ReadonlySet<string>>
  /** Opens the embedder that is built in or configured, once, when it is first needed; undefined when there is none. */
  readonly openEmbedder?: () => Promise<Embedder | undefined>
  /** Whether its owner configured a service that makes vectors: while there are none, search says so. */
  readonly wantsVectors?: boolean
  /** Whether what is read is embedded by itself; false where the owner does not want that. @default no */
  readonly embedsNew?: boolean
  /** Opens the reranker that is configured, once; undefined when there is none. */
  readonly openReranker?: () => Promise<Reranker | undefined>
  /** Opens the browser that pages are rendered with, once. Rejects with `BROWSER_MISSING` where there is none. */
  readonly openRenderer?: () => Promise<Renderer>
  /** Opens the Crawl4AI service that is configured, once. Rejects with `SERVICE_UNUSABLE` where it does not answer. */
  readonly openCrawl4AI?: () => Promise<Fetcher>
}

/** Why an address must not be requested. */
export interface AddressRefusal {
  readonly reason: Reason
  /** In words, without anything private. */
  readonly detail: string
  /** Whether it may be requested later. */
  readonly isTransient: boolean
  /** The value of allowPrivate that opens it; null where that is not the reason. */
  readonly rule: string | null
}

/** Who runs crawls: this process, told apart from all others. */
export interface Runner {
  readonly id: string
  /** Whether the runner of this id is known to be gone; false where nothing can be known of it. */
  isGone(id: string): boolean
}

/** The machine that a runner is on, as people call it. */
export function machineOf({ id }: Pick<Runner, 'id'>): string {
  return id.replace(/\/.*$/s, '')
}
