import type { ChangeList, ChangesInput } from '../library/changes/compare-versions.ts'
import type { BackgroundRuns } from '../library/jobs/background-runs.ts'
import type { Dispatcher } from '../library/jobs/dispatcher.ts'
import type { DispatcherLog } from '../library/jobs/job-runs.ts'
import type { Library } from '../library/library.ts'
import type { JobLog } from '../library/ports/job-log.ts'
import type { DuplicateList, DuplicatesInput } from '../library/search/list-duplicates.ts'
import type { SearchAnswer, SearchInput } from '../library/search.ts'

/** The dependencies of the server. */
export interface HttpPorts {
  /** Version of this program. */
  readonly version: string
  /**
   * The library. While it cannot be opened, each call tries again and rejects; the server stays up and its routes report the problem.
   * When the file is missing, read-only routes respond as if the library were empty.
   */
  readonly library: () => Promise<Library>
  /** Waits for the damage check of the library file, but only briefly; rejects when the file is known to be damaged. */
  readonly waitForCheck: () => Promise<void>
  /** Searches the library, possibly in another thread, so that the server stays responsive. */
  readonly search: (input: SearchInput, signal: AbortSignal) => Promise<SearchAnswer>
  /** Lists near-duplicate pages without blocking other requests. */
  readonly listDuplicates: (input: DuplicatesInput, signal: AbortSignal) => Promise<DuplicateList>
  /** Compares two versions of a source without blocking other requests. */
  readonly compareVersions: (input: ChangesInput, signal: AbortSignal) => Promise<ChangeList>
  /** The job history, stored with the library. */
  readonly jobLog: () => Promise<JobLog>
  readonly dispatcher: Dispatcher
  /** Starts analysis runs in a process of their own; absent if the program has none. */
  readonly analysis?: BackgroundRuns
  /** The MCP handler; its requests have passed the same checks as all others. */
  readonly mcp: (request: Request, peer?: Peer) => Promise<Response>
  /** A file of the dashboard by its path, such as `/assets/app-1a2b3c.js`; undefined when there is none. */
  readonly readAsset: (path: string) => Promise<Asset | undefined>
  /** A file of the local page by its path under `/local`; undefined when there is none. */
  readonly readLocal: (path: string) => Promise<Asset | undefined>
  readonly system: SystemProbe
  readonly packs: PackDownloads
  readonly log: Log
  readonly settings: HttpSettings
}

/** Settings that the owner of the server chose. */
export interface HttpSettings {
  /** Host names that requests may use, without the port; loopback names are always allowed. */
  readonly hosts: readonly string[]
  /** Origins of other sites that CORS allows. @default none */
  readonly allowedOrigins: readonly string[]
  /** The token that every request must carry; null when the server listens on loopback only. */
  readonly token: string | null
  /** The default start URL of `POST /api/crawl`; null makes a missing URL an error. */
  readonly defaultStartUrl: string | null
  /** The library that jobs use: its path, or its address without secrets. */
  readonly libraryPath: string
  /** Whether to log how long each phase of a crawl's start takes. */
  readonly traceStart: boolean
}

/** A static file from the build. */
export interface Asset {
  readonly body: Uint8Array<ArrayBuffer>
  /** The gzipped file; absent when compression does not make it smaller. */
  readonly gzipped?: Uint8Array<ArrayBuffer>
  readonly type: string
  /** Whether its name contains a content hash, so that clients may cache it forever. */
  readonly isImmutable: boolean
  /** The ETag. @default a checksum of the bytes */
  readonly etag?: string
}

/** Reads the health of machine and process. */
export interface SystemProbe {
  read(): Promise<SystemHealth>
}

/** Health figures of machine and process; unknown ones are null. */
export interface SystemHealth {
  readonly dbSizeBytes: number | null
  readonly freeDiskBytes: number | null
  readonly memory: { readonly rss: number; readonly heapUsed: number; readonly heapTotal: number }
  readonly cpu: { readonly percent: number; readonly percentOfOneCore: number }
  /** The journal mode of an SQLite library, or the PostgreSQL version. */
  readonly journalMode: string | null
  readonly walAutocheckpoint: number | null
}

/** Packs that were exported on request and can be downloaded. */
export interface PackDownloads {
  /** Starts an export. */
  begin(source: string, isCompact: boolean): Promise<PackEntry>
  list(): readonly PackEntry[]
  find(id: string): PackEntry | undefined
  /** The file of a finished pack; undefined until it is ready. */
  read(
    id: string,
  ): Promise<{ readonly body: ReadableStream<Uint8Array>; readonly bytes: number; readonly name: string } | undefined>
}

/** A pack that was exported on request. */
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

/** The server log. Messages must never contain a token. */
export type Log = DispatcherLog

/** The client, as far as the connection identifies it. */
export interface Peer {
  /** The IP address of the client. */
  readonly address?: string
  /** Closes the connection at once, for clients that have stopped reading an event stream. */
  readonly drop?: () => void
  /** Whether the connection has closed. A pipelined request that waits behind another response gets no other signal. */
  readonly isGone?: () => boolean
}

/** Answers web requests. */
export interface HttpApp {
  fetch(request: Request, peer?: Peer): Promise<Response>
  /** Ends all event streams. */
  close(): void
}
