import type { AnalysisRunner } from '../library/dispatch/analysis-runner.ts'
import type { Dispatcher } from '../library/dispatch/dispatcher.ts'
import type { JobLog } from '../library/job-log.ts'
import type { Library } from '../library/library.ts'
import type { DuplicateList, DuplicatesInput } from '../library/operations/list-duplicates.ts'
import type { SearchAnswer, SearchInput } from '../library/search.ts'

/** What the server is made with. */
export interface HttpPorts {
  /** Version of this program. */
  readonly version: string
  /**
   * The library; tried again with each call until it can be opened. While it cannot, the server stays up and its routes say so. Where the
   * file is missing, routes that only read answer that nothing is stored.
   */
  readonly library: () => Promise<Library>
  /** Resolves once the file of the library was checked for damage, as far as that is quick; rejects with the damage. */
  readonly checked: () => Promise<void>
  /** Searches it; perhaps in another thread, so that others are answered meanwhile. */
  readonly search: (input: SearchInput, signal: AbortSignal) => Promise<SearchAnswer>
  /** Lists pages that say nearly the same, without keeping others waiting. */
  readonly listDuplicates: (input: DuplicatesInput, signal: AbortSignal) => Promise<DuplicateList>
  /** The history of jobs, kept in the same place. */
  readonly jobLog: () => Promise<JobLog>
  readonly dispatcher: Dispatcher
  /** Analyses what is stored, in a process of its own. */
  readonly analysis: AnalysisRunner
  /** Answers MCP; gets requests that were checked like all others. */
  readonly mcp: (request: Request, peer?: Peer) => Promise<Response>
  /** A file of the dashboard by its path, such as `/assets/app-1a2b3c.js`; undefined when there is none. */
  readonly readAsset: (path: string) => Promise<Asset | undefined>
  /** A file of the page that works on one machine, by its path in there; undefined when there is none. */
  readonly readLocal: (path: string) => Promise<Asset | undefined>
  readonly system: SystemProbe
  readonly packs: PackShelf
  readonly log: Log
  readonly settings: HttpSettings
}

/** What the owner has decided. */
export interface HttpSettings {
  /** Names under which this server may be asked for, without the port; loopback names are always among them. */
  readonly hosts: readonly string[]
  /** Origins of other sites whose pages may read answers. @default none */
  readonly allowedOrigins: readonly string[]
  /** What every request has to carry; null where only this machine can ask. */
  readonly token: string | null
  /** Where `POST /api/crawl` starts when nothing is said; null makes that an error. */
  readonly defaultStartUrl: string | null
  /** The library that jobs work on, as it may be shown. */
  readonly libraryPath: string
  /** Writes how long each part of the start of a crawl takes. */
  readonly traceStart: boolean
}

/** A file of a page that was built with the program. */
export interface Asset {
  readonly body: Uint8Array<ArrayBuffer>
  /** The same, compressed by gzip; left out where that is no smaller. */
  readonly gzipped?: Uint8Array<ArrayBuffer>
  readonly type: string
  /** Whether its name changes with its content, so that it may be kept for ever. */
  readonly isImmutable: boolean
  /** What tells it from other versions of itself. @default a sum of its bytes */
  readonly etag?: string
}

/** What is known of the machine and the process. */
export interface SystemProbe {
  read(): Promise<SystemHealth>
}

/** How the machine and the process are. What cannot be known is null. */
export interface SystemHealth {
  readonly dbSizeBytes: number | null
  readonly freeDiskBytes: number | null
  readonly memory: { readonly rss: number; readonly heapUsed: number; readonly heapTotal: number }
  readonly cpu: { readonly percent: number; readonly percentOfOneCore: number }
  /** How the library is written: the journal mode of its file, or the version of its PostgreSQL. */
  readonly journalMode: string | null
  readonly walAutocheckpoint: number | null
}

/** Packs that were written on request, and can be fetched. */
export interface PackShelf {
  /** Begins to write one; its id. */
  begin(source: string, isCompact: boolean): Promise<PackEntry>
  list(): readonly PackEntry[]
  find(id: string): PackEntry | undefined
  /** The file of one that is ready; undefined while it is not. */
  read(
    id: string,
  ): Promise<{ readonly body: ReadableStream<Uint8Array>; readonly bytes: number; readonly name: string } | undefined>
}

/** A pack on the shelf. */
export interface PackEntry {
  readonly id: string
  readonly source: string
  readonly state: 'writing' | 'ready' | 'failed'
  readonly bytes: number | null
  readonly files: number | null
  readonly chunks: number | null
  readonly problem: string | null
  readonly createdAt: number
}

/** Where the server says what it does. Never given a token. */
export interface Log {
  info(message: string, fields?: Readonly<Record<string, unknown>>): void
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void
}

/** Whoever asked, as far as the connection tells. */
export interface Peer {
  /** Where the request came from. */
  readonly address?: string
  /** Ends the connection at once: for whoever reads an event stream no more, and cannot be told so. */
  readonly drop?: () => void
  /** Whether the connection has ended. One whose answer waits behind another on the same connection is not told otherwise. */
  readonly isGone?: () => boolean
}

/** Answers web requests. */
export interface HttpApp {
  fetch(request: Request, peer?: Peer): Promise<Response>
  /** Ends all event streams. */
  close(): void
}
