import { createHash } from 'node:crypto'
import { uuidFromHash } from '../core/uuid.ts'

/** What a reader hands on: the text of a page and flat facts about it. */
export interface ReaderDocument {
  /** The same for the same address, for ever. */
  readonly id: string
  readonly text: string
  readonly metadata: PageMetadata
}

/** Facts about a page, flat and never null, as vector stores want them. Names are those of the pipelines that read them. */
export interface PageMetadata {
  readonly source: string
  readonly source_url: string
  readonly title: string
  readonly description: string
  /** 0 when it is not known. */
  readonly status_code: number
  /** When it was read, ISO 8601. */
  readonly crawl_timestamp: string
  readonly internal_links_count: number
  readonly external_links_count: number
  readonly source_type: 'web_crawl'
}

/** Why there is no document for an address. */
export interface ReadFailure {
  readonly url: string
  readonly error: Error
}

/** Where the vectors of pages are kept. A reader holds one for whoever embeds what it read; it removes nothing itself. */
export interface VectorSink {
  /** Writes points; those of the same ids are replaced, others stay. */
  upsert(points: readonly VectorPoint[], signal?: AbortSignal): Promise<unknown>
  /** Writes the points of a page, then removes those it had before. */
  replaceUrl(url: string, points: readonly VectorPoint[], signal?: AbortSignal): Promise<unknown>
  /** Removes all points of a page; resolves to their number where it is known. */
  deleteByUrl(url: string): Promise<unknown>
}

/** A vector and what is known of it. */
export interface VectorPoint {
  readonly id: string
  readonly vector: Float32Array
  readonly payload: Readonly<Record<string, string | number | boolean | readonly string[]>>
}

/** UUID of the first sixteen bytes of the SHA-256 of an address. */
export function documentId(url: string): string {
  return uuidFromHash(createHash('sha256').update(url).digest('hex'))
}
