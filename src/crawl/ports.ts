import type { ChunkProfile } from '../core/chunk/profiles.ts'
import type { Extraction, Snapshot } from '../core/model.ts'
import type { PageRecord, Reason } from './ledger.ts'

/** What is asked of a fetcher. */
export interface FetchRequest {
  readonly url: string
  /** @default text/markdown, text/html;q=0.9, *\/*;q=0.8 */
  readonly accept?: string
  readonly etag?: string | null
  readonly lastModified?: string | null
  /** Further fields, sent to the origin of `url` only. */
  readonly headers?: Readonly<Record<string, string>>
  /** Most decoded bytes of an answer. @default the limit of the fetcher */
  readonly maxBytes?: number
  /** Takes the beginning of a body that is larger, instead of refusing it. @default false */
  readonly isClipped?: boolean
  /** Time for the whole answer, in milliseconds. @default the limit of the fetcher */
  readonly timeoutMs?: number
  /** Whether the answer has to begin in a third of the time. @default false */
  readonly isBrief?: boolean
  /** Asked once, when a decoded body grows beyond a megabyte: no more of it is taken in before this resolves. @default there is room */
  readonly admitLarge?: () => Promise<void>
  /**
   * Asked at the moment at which it would be sent, once there is a connection. Where it says no, nothing is sent and the outcome is a
   * timeout. Whoever has others fetch does not ask. @default it may be sent at any time
   */
  readonly isInTime?: () => boolean
  readonly signal?: AbortSignal
}

/** What came of a fetch. Redirects are not followed: whoever asked decides about each. */
export type FetchOutcome = (
  | {
      readonly type: 'fetched'
      readonly snapshot: Snapshot
      readonly etag: string | null
      readonly lastModified: string | null
    }
  | { readonly type: 'unchanged'; readonly etag: string | null; readonly lastModified: string | null }
  | { readonly type: 'moved'; readonly status: number; readonly target: string; readonly isPermanent: boolean }
  /** 404 and 410. */
  | { readonly type: 'gone'; readonly status: number }
  /** Understood and denied; asking again does not help. */
  | { readonly type: 'refused'; readonly status: number; readonly reason: Reason; readonly detail: string }
  | {
      readonly type: 'failed'
      readonly status: number | null
      readonly reason: Reason
      /** In words, without anything private. */
      readonly detail: string
      /** Whether asking again later may help. */
      readonly isTransient: boolean
      /** What the server asked for, in milliseconds. */
      readonly retryAfterMs: number | null
    }
) & {
  /** How long the server took to begin its answer, in milliseconds; time in which this process was busy does not count. */
  readonly latencyMs?: number
}

/** Fetches one address. Everything the world does is an outcome; only an aborted signal rejects. */
export interface Fetcher {
  fetch(request: FetchRequest): Promise<FetchOutcome>
}

/** How the pages of a source are read: as they come, in a browser where they need one, always in one, or by a Crawl4AI service. */
export const RENDERINGS = ['http', 'auto', 'chromium', 'crawl4ai'] as const

/** One of {@link RENDERINGS}. */
export type Rendering = (typeof RENDERINGS)[number]

/** How a page is to be rendered. */
export interface RenderRequest {
  /** Further fields, sent to the origin of the page only. */
  readonly headers?: Readonly<Record<string, string>>
  /** Most bytes of what it becomes. @default the limit of the renderer */
  readonly maxBytes?: number
  readonly signal?: AbortSignal
}

/** What a page became. */
export type RenderOutcome =
  /** The document as its scripts left it, under the address that it has then. */
  | { readonly type: 'rendered'; readonly snapshot: Snapshot }
  | {
      readonly type: 'failed'
      readonly reason: Reason
      /** In words, without anything private. */
      readonly detail: string
      /** Whether trying again later may help. */
      readonly isTransient: boolean
    }

/**
 * Runs the scripts of a page that was fetched. The browser is given the document as it came and asks for nothing but what belongs to
 * it. Everything the world does is an outcome; only an aborted signal rejects.
 */
export interface Renderer {
  /** Starts what it renders with. Rejects with `BROWSER_MISSING` where that cannot be. */
  prepare(): Promise<void>
  render(snapshot: Snapshot, request?: RenderRequest): Promise<RenderOutcome>
}

/** Time, passed in. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number
  /** Resolves after so many milliseconds, or rejects when the signal is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

/** What a snapshot became: its extraction, and what is stored of it where it is a page. */
export interface PageReading {
  readonly extraction: Extraction
  readonly record: PageRecord | null
  /** Name of the format where it is a document of another than the web's, such as `PDF`. */
  readonly format?: string
}

/** How a snapshot is read. */
export interface ReadOptions {
  /** How it is cut. @default library */
  readonly chunks?: ChunkProfile
  /** Whether its body is needed afterwards; otherwise it may be handed to another thread, and is empty then. @default false */
  readonly keepsBody?: boolean
}

/** Reads a snapshot: extracts, chunks. May do so in another thread. `key` is the path its chunks are known by. */
export type PageReader = (snapshot: Snapshot, key: string, options?: ReadOptions) => Promise<PageReading>

/** What a document of another format than the web's became. */
export type DocumentReading =
  | ({ readonly type: 'page' } & PageReading)
  /** The pages that it holds, each by the name it is known by in the document. */
  | {
      readonly type: 'parts'
      readonly parts: readonly (PageReading & { readonly name: string })[]
      /** What was left out of it, in words. */
      readonly detail?: string | undefined
    }
  | { readonly type: 'refused'; readonly reason: DocumentRefusal; readonly detail: string }

/** Why there is no page in a document. */
export type DocumentRefusal = 'encrypted' | 'damaged' | 'too-large' | 'empty' | 'not-text'

/** Reads a document in another thread: PDF, office files, notebooks and the like. Pages of several are known by `key#name`. */
export type DocumentReader = (snapshot: Snapshot, key: string, options?: ReadOptions) => Promise<DocumentReading>

/** What kind of page an address holds, as far as it is known: pages of different kinds age at different speed. */
export type PageKind = 'article' | 'hub' | 'unknown'

/** Tells the kind of a page that is stored. */
export type KindOf = (page: { readonly sourceId: string; readonly key: string }) => Promise<PageKind>
