import { createHash } from 'node:crypto'
import { uuidFromHash } from '../core/uuid.ts'

/** A document of a reader: the text of a page and flat metadata. */
export interface ReaderDocument {
  /** Always the same for the same URL. */
  readonly id: string
  readonly text: string
  readonly metadata: PageMetadata
}

/** Metadata of a page, flat and without null values, as vector stores need it. The field names are those that ingest pipelines expect. */
export interface PageMetadata {
  readonly source: string
  readonly source_url: string
  readonly title: string
  readonly description: string
  /** 0 when unknown. */
  readonly status_code: number
  /** When it was read, in ISO 8601. */
  readonly crawl_timestamp: string
  readonly internal_links_count: number
  readonly external_links_count: number
  readonly source_type: 'web_crawl'
}

/** Why a URL has no document. */
export interface ReadFailure {
  readonly url: string
  readonly error: Error
}

/** Stores the vectors of pages. A reader only passes the sink on to `ingestUrls`, and removes nothing itself. */
export interface VectorSink {
  /** Writes points; a point with the same id is replaced, others stay. */
  upsert(points: readonly VectorPoint[], signal?: AbortSignal): Promise<unknown>
  /** Writes the points of a page, then removes its earlier ones. */
  replaceUrl(url: string, points: readonly VectorPoint[], signal?: AbortSignal): Promise<unknown>
  /** Removes all points of a page; resolves to their number if known. */
  deleteByUrl(url: string): Promise<unknown>
}

/** A vector with its id and payload. */
export interface VectorPoint {
  readonly id: string
  readonly vector: Float32Array
  readonly payload: Readonly<Record<string, string | number | boolean | readonly string[]>>
}

/** UUID from the first sixteen bytes of a URL's SHA-256. */
export function documentId(url: string): string {
  return uuidFromHash(createHash('sha256').update(url).digest('hex'))
}
