import type { Chunk } from '../model.ts'
import type { TermEntry } from '../search/search-index.ts'
import type { Pack } from './pack.ts'
import { FIELDS, indexChunks } from './pack-index.ts'

/** Version of `index.json`. */
export const INDEX_VERSION = 1

/**
 * Writes `index.json` in pieces. Keys come in a fixed order, the postings last, so that a reader who only wants the
 * chunks can stop early; a pack of 50 MB has hundreds of megabytes of postings.
 */
export function* writeIndexJson(pack: Pack): Generator<string> {
  yield `{"version":${INDEX_VERSION},"index_id":${JSON.stringify(pack.indexId)},"files":`
  const files = pack.files.map((file) => {
    return { path: file.path, kind: file.kind, bytes: file.bytes, sha256: file.sha256, line_count: file.lineCount }
  })
  yield* writeList(files, '[', ']', (file) => JSON.stringify(file))
  yield ',"chunks":'
  yield* writeList(pack.chunks, '[', ']', (chunk) => JSON.stringify(chunkRecord(chunk)))
  yield ',"chunk_refs":'
  yield* writeList(pack.chunks, '{', '}', (chunk, i) => `${JSON.stringify(chunk.id)}:${JSON.stringify(pack.refs[i])}`)

  const index = indexChunks(pack, (chunk) => chunk.id)
  const { terms, fields } = index.stats()
  const stats = {
    total_files: pack.files.length,
    total_chunks: pack.chunks.length,
    total_bytes: pack.files.reduce((sum, file) => sum + file.bytes, 0),
    total_tokens: pack.chunks.reduce((sum, chunk) => sum + chunk.tokenEstimate, 0),
    total_terms: terms,
    avg_doc_len: average(fields['body']?.tokens ?? 0, pack.chunks.length),
    avg_chunk_tokens: average(
      pack.chunks.reduce((sum, chunk) => sum + chunk.tokenEstimate, 0),
      pack.chunks.length,
    ),
  }
  yield `,"stats":${JSON.stringify(stats)},"warnings":${JSON.stringify(pack.warnings)},"inverted_index":`
  yield* writeTerms(index.terms('body'))
  yield ',"fields":'
  const others = Object.keys(FIELDS).filter((field) => field !== 'body')
  for (const [i, field] of others.entries()) {
    yield `${i === 0 ? '{' : ','}${JSON.stringify(field)}:`
    yield* writeTerms(index.terms(field))
  }
  yield '}}\n'
}

/** A chunk as `index.json` has it. */
export function chunkRecord(chunk: Chunk): Record<string, unknown> {
  return {
    id: chunk.id,
    short_id: chunk.shortId,
    slug: chunk.slug,
    path: chunk.path,
    kind: chunk.kind,
    chunk_index: chunk.chunkIndex,
    start_line: chunk.startLine,
    end_line: chunk.endLine,
    content: chunk.content,
    content_hash: chunk.contentHash,
    token_estimate: chunk.tokenEstimate,
    heading_path: chunk.headingPath,
    symbol: chunk.symbol,
    address: chunk.address,
    asset_path: chunk.assetPath,
  }
}

function* writeTerms(terms: Iterable<TermEntry>): Generator<string> {
  let separator = '{'
  for (const { term, df, postings } of terms) {
    const rows: string[] = []
    for (const { key, tf, docLen } of postings) rows.push(`{"chunk_id":"${key}","tf":${tf},"doc_len":${docLen}}`)
    yield `${separator}${JSON.stringify(term)}:{"df":${df},"postings":[${rows.join(',')}]}`
    separator = ','
  }
  yield separator === '{' ? '{}' : '}'
}

function* writeList<T>(
  items: readonly T[],
  opener: string,
  closer: string,
  write: (item: T, position: number) => string,
): Generator<string> {
  yield opener
  for (const [i, item] of items.entries()) yield (i === 0 ? '' : ',') + write(item, i)
  yield closer
}

function average(sum: number, count: number): number {
  return count === 0 ? 0 : Math.round((sum / count) * 1000) / 1000
}
