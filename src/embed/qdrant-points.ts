import { createHash } from 'node:crypto'
import type { Chunk } from '../core/model.ts'
import { contentTypeOf } from '../core/retrieval/content-type.ts'
import { symbolsOf } from '../core/retrieval/definitions.ts'
import { baseName } from '../core/text/path.ts'
import { uuidFromHash } from '../core/uuid.ts'
import type { CopiedChunk, CopyEntry } from '../library/ports/vector-copy.ts'
import type { VectorSpace } from '../library/ports/vectors.ts'
import { languagesOf } from './qdrant-filter.ts'

/** Payload of a point: flat, without null values. */
export type QdrantPayload = Readonly<Record<string, string | number | boolean | readonly string[]>>

/** A vector with its id and payload. */
export interface QdrantPoint {
  readonly id: string
  readonly vector: Float32Array
  readonly payload: QdrantPayload
}

/** Payload indexes, so that filters need not scan every point. */
export const PAYLOAD_INDEXES: Readonly<Record<string, 'keyword' | 'integer' | 'bool'>> = {
  file_path_relative: 'keyword',
  source_url: 'keyword',
  filename: 'keyword',
  modification_date: 'keyword',
  tags: 'keyword',
  chunk_index: 'integer',
  library_id: 'keyword',
  source_id: 'keyword',
  page_key: 'keyword',
  kind: 'keyword',
  content_type: 'keyword',
  languages: 'keyword',
  has_symbols: 'bool',
  vector_space: 'keyword',
}

/** The id of a point, derived from a name. */
export function pointIdOf(name: string): string {
  return uuidFromHash(createHash('sha256').update(name).digest('hex'))
}

/** The five payload fields about the chunk itself, which every point has. */
export function writeChunkPayload(
  chunk: Pick<Chunk, 'chunkIndex' | 'content' | 'headingPath' | 'contentHash'>,
): QdrantPayload {
  const { chunkIndex, content, headingPath, contentHash } = chunk
  return {
    chunk_index: chunkIndex,
    chunk_text: content,
    section_path: headingPath.join(' > '),
    heading_level: headingPath.length,
    content_hash: contentHash,
  }
}

/** The point of a chunk of a library. */
export function createChunkPoint({ fingerprint }: VectorSpace, library: string, copied: CopiedChunk): CopyEntry {
  const { stored, vector } = copied
  const { sourceId, chunk } = stored
  const payload: QdrantPayload = {
    ...writePagePayload(copied),
    ...writeChunkPayload(chunk),
    source_id: sourceId,
    chunk_id: chunk.id,
    page_key: chunk.path,
    kind: chunk.kind,
    content_type: contentTypeOf(chunk),
    languages: languagesOf(copied.page.language),
    has_symbols: symbolsOf(chunk).length > 0,
    vector_space: fingerprint,
    library_id: library,
  }
  const bytes = new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength)
  const mark = createHash('sha256').update(JSON.stringify(payload)).update(bytes).digest('hex')
  return { id: pointIdOf(`${library}/${sourceId}/${chunk.id}`), mark, vector, payload: { ...payload, copy_mark: mark } }
}

/** Only responses with this status become pages of a library. */
const PAGE_STATUS = 200

/** The nine payload fields of a page, and four more if it is a file. */
function writePagePayload({ stored, page }: CopiedChunk): QdrantPayload {
  const { url, title, chunk } = stored
  const changed = new Date(page.changedAt).toISOString()
  const isFile = url.startsWith('file:')
  const common = {
    source: url,
    source_url: url,
    title,
    description: page.description ?? '',
    status_code: isFile ? 0 : PAGE_STATUS,
    crawl_timestamp: changed,
    internal_links_count: page.internalLinks,
    external_links_count: page.externalLinks,
    source_type: isFile ? 'file' : 'web_crawl',
  }
  if (!isFile) return common
  return {
    ...common,
    file_path_relative: chunk.path,
    filename: baseName(chunk.path),
    modification_date: page.modifiedAt ?? changed,
    tags: [],
  }
}
