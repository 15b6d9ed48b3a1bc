import type { ChunkProfile } from '../core/chunk/profiles.ts'
import type { Extraction, Snapshot } from '../core/model.ts'
import type { Reason } from './ledger-reasons.ts'
import type { PageRecord } from './settlement.ts'

/** A request for a fetcher. */
export interface FetchRequest {
  readonly url: string
  /** @default text/markdown, text/html;q=0.9, *\/*;q=0.8 */
  readonly accept?: string
  readonly etag?: string | null
  readonly lastModified?: string | null
  /** Additional headers, sent to the origin of `url` only. */
  readonly headers?: Readonly<Record<string, string>>
  /** Maximum decoded size of a response. @default the limit of the fetcher */
  readonly maxBytes?: number
  /** Truncates a larger body instead of refusing it. @default false */
  readonly isClipped?: boolean
  /** Timeout for the whole response, in milliseconds. @default the limit of the fetcher */
  readonly timeoutMs?: number
  /** Whether the response must begin within a third of the timeout. @default false */
  readonly isBrief?: boolean
  /** Called once when a decoded body exceeds a megabyte. Reading continues when the promise resolves. @default continues at once */
  readonly admitLarge?: () => Promise<void>
  /**
   * Called when the connection is open, just before the request is sent. If it returns false, nothing is sent and the outcome is a timeout.
   * Fetchers that use a remote service do not call it. @default always sends
   */
  readonly isInTime?: () => boolean
  readonly signal?: AbortSignal
}

/** Outcome of a fetch. The fetcher does not follow redirects: the caller decides about each. */
export type FetchOutcome = (
  | {
      readonly type: 'fetched'
      readonly snapshot: Snapshot
      readonly etag: string | null
      readonly lastModified: string | null
    }
  | { readonly type: 'unchanged'; readonly etag: string | null; readonly lastModified: string | null }
  | { readonly type: 'moved'; readonly status: number; readonly target: string; readonly isPermanent: boolean }
  /** Status 404 or 410. */
  | { readonly type: 'gone'; readonly status: number }
  /** The server refuses access; a retry does not help. */
  | { readonly type: 'refused'; readonly status: number; readonly reason: Reason; readonly detail: string }
  | {
      readonly type: 'failed'
      readonly status: number | null
      readonly reason: Reason
      /** Description without private data. */
      readonly detail: string
      /** Whether a retry may help. */
      readonly isTransient: boolean
      /** Delay that the server asked for, in milliseconds. */
      readonly retryAfterMs: number | null
    }
) & {
  /** Time until the response began, in milliseconds, without the time in which this process was busy. */
  readonly latencyMs?: number
}

/** Headers that the owner configured for origins, to be sent nowhere else. They may be secrets. */
export interface SiteHeaders {
  /** The origins that have headers. */
  readonly origins: readonly string[]
  /** The headers for the origin of an address. Throws `CONFIG_INVALID` if one of them has no value. */
  require(url: string): Readonly<Record<string, string>>
  /** The headers for the origin of an address; none if one of them has no value. */
  find(url: string): Readonly<Record<string, string>>
  /** Why `require` would throw, as text; undefined if it would not. */
  findProblem(url: string): string | undefined
}

/** Fetches one address. Every failure is an outcome; only an aborted signal rejects. */
export interface Fetcher {
  fetch(request: FetchRequest): Promise<FetchOutcome>
}

/**
 * How pages of a source are read: `http` without a browser, `auto` with one if a page needs it, `chromium` always with one, `crawl4ai` by a
 * service.
 */
export const RENDERINGS = ['http', 'auto', 'chromium', 'crawl4ai'] as const

/** One of {@link RENDERINGS}. */
export type Rendering = (typeof RENDERINGS)[number]

/** Options of a rendering. */
export interface RenderRequest {
  /** Additional headers, sent to the origin of the page only. */
  readonly headers?: Readonly<Record<string, string>>
  /** Maximum size of the result. @default the limit of the renderer */
  readonly maxBytes?: number
  readonly signal?: AbortSignal
}

/** Outcome of a rendering. */
export type RenderOutcome =
  /** The document after its scripts ran, with its final address. */
  | { readonly type: 'rendered'; readonly snapshot: Snapshot }
  | {
      readonly type: 'failed'
      readonly reason: Reason
      /** Description without private data. */
      readonly detail: string
      /** Whether a retry may help. */
      readonly isTransient: boolean
    }

/**
 * Runs the scripts of a fetched page. The browser gets the fetched document and requests only its resources. Every failure is an outcome;
 * only an aborted signal rejects.
 */
export interface Renderer {
  /** Starts the browser. Rejects with `BROWSER_MISSING` if that is impossible. */
  prepare(): Promise<void>
  render(snapshot: Snapshot, request?: RenderRequest): Promise<RenderOutcome>
}

/** Injected time source. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number
  /** Resolves after `ms` milliseconds; rejects when the signal is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

/** Result of reading a snapshot: its extraction, and the record to store if it is a page. */
export interface PageReading {
  readonly extraction: Extraction
  readonly record: PageRecord | null
  /** Name of the document format, such as `PDF`; left out for web pages and text. */
  readonly format?: string
}

/** Options for reading a snapshot. */
export interface ReadOptions {
  /** Chunk sizes. @default library */
  readonly chunks?: ChunkProfile
  /** Whether the body is needed afterwards; otherwise it may be transferred to another thread, which leaves it empty. @default false */
  readonly keepsBody?: boolean
}

/** Reads a snapshot: extracts the page and cuts it into chunks, possibly in another thread. `key` is the path of its chunks. */
export type PageReader = (snapshot: Snapshot, key: string, options?: ReadOptions) => Promise<PageReading>

/** Result of reading a document such as a PDF. */
export type DocumentReading =
  | ({ readonly type: 'page' } & PageReading)
  /** The pages of the document, each with its name within the document. */
  | {
      readonly type: 'parts'
      readonly parts: readonly (PageReading & { readonly name: string })[]
      /** Describes parts that were left out. */
      readonly detail?: string | undefined
    }
  | { readonly type: 'refused'; readonly reason: DocumentRefusal; readonly detail: string }

/** Why a document has no page. */
export type DocumentRefusal = 'encrypted' | 'damaged' | 'too-large' | 'empty' | 'not-text'

/** Reads a document in another thread: PDF, office files, notebooks and others. The parts of a document have the key `key#name`. */
export type DocumentReader = (snapshot: Snapshot, key: string, options?: ReadOptions) => Promise<DocumentReading>

/** Kind of page at an address, if known: the freshness window can differ by kind. */
export type PageKind = 'article' | 'hub' | 'unknown'

/** Returns the kind of a stored page. */
export type PageKindReader = (page: { readonly sourceId: string; readonly key: string }) => Promise<PageKind>
