import type { Chunk, FileMeta } from '../model.ts'
import type { TermEntry } from '../search/postings.ts'
import type { SearchIndexStats } from '../search/search-index.ts'
import { runSteps } from '../search/steps.ts'
import { BlockWriter } from '../text/block-writer.ts'
import type { Pack } from './pack.ts'
import { FIELDS, PackIndex } from './pack-index.ts'
import { sumTokens } from './tables.ts'

/** Version of `index.json`. */
export const INDEX_VERSION = 1

/**
 * Writes `index.json` in blocks of bytes. Keys come in a fixed order, the postings last, so that a reader that needs only the chunks can
 * stop early: a pack of 50 MB has hundreds of megabytes of postings.
 */
export function* writeIndexJson(pack: Pack, packIndex: PackIndex = new PackIndex(pack)): Generator<Uint8Array> {
  const writer = new BlockWriter()
  yield* writeChunks(writer, pack)
  const index = runSteps(packIndex.prepare('terms'))
  const prefixes = encodePostingPrefixes(index.sortedKeys())
  const stats = JSON.stringify(createStats(pack, index.stats()))
  writer.write(`,"stats":${stats},"warnings":${JSON.stringify(pack.warnings)},"inverted_index":`)
  yield* writeTerms(writer, index.terms('body'), prefixes)
  const otherFields = Object.keys(FIELDS).filter((field) => field !== 'body')
  for (const [i, field] of otherFields.entries()) {
    writer.write(`${i === 0 ? ',"fields":{' : ','}${JSON.stringify(field)}:`)
    yield* writeTerms(writer, index.terms(field), prefixes)
  }
  writer.write('}}\n')
  yield writer.take()
}

/** Writes the beginning of `index.json`, which is enough to open a stored pack again: the rest is computed from it. */
export function* writeBareIndexJson(pack: Pack): Generator<Uint8Array> {
  const writer = new BlockWriter()
  yield* writeChunks(writer, pack)
  writer.write(`,"warnings":${JSON.stringify(pack.warnings)}}\n`)
  yield writer.take()
}

function* writeChunks(writer: BlockWriter, pack: Pack): Generator<Uint8Array> {
  const part = pack.part === undefined ? '' : `"part":${JSON.stringify(pack.part)},`
  writer.write(`{"version":${INDEX_VERSION},"index_id":${JSON.stringify(pack.indexId)},${part}"files":[`)
  for (const [i, file] of pack.files.entries()) {
    writer.write((i === 0 ? '' : ',') + JSON.stringify(fileRecord(file)))
    if (writer.isFull) yield writer.take()
  }
  writer.write('],"chunks":[')
  for (const [i, chunk] of pack.chunks.entries()) {
    writer.write((i === 0 ? '' : ',') + JSON.stringify(chunkRecord(chunk)))
    if (writer.isFull) yield writer.take()
  }
  writer.write('],"chunk_refs":{')
  for (const [i, chunk] of pack.chunks.entries()) {
    writer.write(`${i === 0 ? '' : ','}"${chunk.id}":"${pack.refs[i]}"`)
    if (writer.isFull) yield writer.take()
  }
  writer.write('}')
}

/** A file as `index.json` and `manifest.json` have it. */
export function fileRecord(file: FileMeta): Record<string, unknown> {
  return { path: file.path, kind: file.kind, bytes: file.bytes, sha256: file.sha256, line_count: file.lineCount }
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
    ...(chunk.members !== undefined && { members: chunk.members }),
    address: chunk.address,
    asset_path: chunk.assetPath,
  }
}

/** The bytes `{"chunk_id":"<id>","tf":` of every chunk, one after another. They are encoded once and written for every term. */
interface PostingPrefixes {
  readonly table: Uint8Array
  readonly width: number
}

function encodePostingPrefixes(ids: readonly string[]): PostingPrefixes {
  const table = new TextEncoder().encode(ids.map((id) => `{"chunk_id":"${id}","tf":`).join(''))
  return { table, width: ids.length === 0 ? 0 : table.length / ids.length }
}

const DOC_LEN = new TextEncoder().encode(',"doc_len":')
const CLOSING = new TextEncoder().encode('},')

/** Postings written between two checks for a full writer: a term may be in every chunk. */
const POSTINGS_PER_CHECK = 256

function* writeTerms(
  writer: BlockWriter,
  terms: Iterable<TermEntry>,
  prefixes: PostingPrefixes,
): Generator<Uint8Array> {
  const { table, width } = prefixes
  let postingsLeft = 0
  const write = (document: number, tf: number, docLen: number) => {
    writer.writeBytes(table, document * width, width)
    writer.writeNumber(tf)
    writer.writeBytes(DOC_LEN, 0, DOC_LEN.length)
    writer.writeNumber(docLen)
    postingsLeft--
    writer.writeBytes(CLOSING, 0, postingsLeft === 0 ? 1 : 2)
  }
  let opener = '{'
  for (const { term, df, visitPostings } of terms) {
    writer.write(`${opener}${JSON.stringify(term)}:{"df":${df},"postings":[`)
    opener = ','
    postingsLeft = df
    for (let from = 0; from < df; from += POSTINGS_PER_CHECK) {
      visitPostings(write, from, Math.min(from + POSTINGS_PER_CHECK, df))
      if (writer.isFull) yield writer.take()
    }
    writer.write(']}')
    if (writer.isFull) yield writer.take()
  }
  writer.write(opener === '{' ? '{}' : '}')
}

function createStats(pack: Pack, { terms, fields }: SearchIndexStats): Record<string, number> {
  const tokens = sumTokens(pack.chunks)
  return {
    total_files: pack.files.length,
    total_chunks: pack.chunks.length,
    total_bytes: pack.files.reduce((sum, file) => sum + file.bytes, 0),
    total_tokens: tokens,
    total_terms: terms,
    avg_doc_len: average(fields['body']?.tokens ?? 0, pack.chunks.length),
    avg_chunk_tokens: average(tokens, pack.chunks.length),
  }
}

function average(sum: number, count: number): number {
  return count === 0 ? 0 : Math.round((sum / count) * 1000) / 1000
}
