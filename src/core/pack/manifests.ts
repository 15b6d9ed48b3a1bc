import type { Chunk } from '../model.ts'
import { compareUtf8 } from '../text/order.ts'
import { folderOf } from '../text/path.ts'
import { fileRecord } from './index-json.ts'
import { chunkLabel, fileLabel } from './label.ts'
import type { Pack } from './pack.ts'
import { createTables, groupByFile, sumTokens } from './tables.ts'

/** First field of `manifest.llm.tsv`. A folder whose file of that name starts with this text is a pack. */
export const TSV_MAGIC = 'llmx_manifest_llm_tsv'

/** Version of `manifest.llm.tsv` and `manifest.min.json`. */
export const COMPACT_VERSION = 4

/** Writes `manifest.llm.tsv` row by row: the tables and one short row for each file and chunk, for reading by a model. */
export function* writeManifestTsv(pack: Pack): Generator<string> {
  for (const row of tsvRows(pack)) yield `${row.join('\t')}\n`
}

function* tsvRows(pack: Pack): Generator<readonly (string | number)[]> {
  const tables = createTables(pack)
  const dirs = ['', ...new Set(tables.paths.map(folderOf))].filter((dir, i) => i === 0 || dir !== '').sort(compareUtf8)
  const dirNumbers = new Map(dirs.map((dir, i) => [dir, i]))
  yield [TSV_MAGIC, COMPACT_VERSION, pack.indexId]
  for (const [i, dir] of dirs.entries()) yield ['D', i, writeTsvName(dir)]
  for (const [i, path] of tables.paths.entries()) {
    const dir = folderOf(path)
    yield ['P', i, dirNumbers.get(dir) ?? 0, writeTsvName(path.slice(dir.length))]
  }
  for (const [i, kind] of tables.kinds.entries()) yield ['K', i, kind]
  for (const { file, chunks } of groupByFile(pack)) {
    const end = chunks.reduce((max, chunk) => Math.max(max, chunk.endLine), 0)
    const kind = tables.kindIndex(file.kind)
    yield ['F', tables.pathIndex(file.path), kind, chunks.length, sumTokens(chunks), end, fileLabel(chunks)]
  }
  for (const [i, chunk] of pack.chunks.entries()) {
    yield [
      'C',
      pack.refs[i] ?? '',
      tables.pathIndex(chunk.path),
      tables.kindIndex(chunk.kind),
      chunk.startLine,
      chunk.endLine,
      chunk.tokenEstimate,
      chunkLabel(chunk),
    ]
  }
}

const FULL_COLUMNS = [
  'ref',
  'id',
  'slug',
  'path_i',
  'kind_i',
  'start_line',
  'end_line',
  'token_estimate',
  'content_sha256',
  'heading_path',
  'symbol',
  'address',
  'asset_path',
]

/** Writes `manifest.json` row by row: all provenance and hashes, with an array instead of an object for each chunk. */
export function* writeManifestJson(pack: Pack): Generator<string> {
  const tables = createTables(pack)
  const head = {
    format_version: 2,
    index_id: pack.indexId,
    files: pack.files.map(fileRecord),
    paths: tables.paths,
    kinds: tables.kinds,
    chunk_columns: FULL_COLUMNS,
  }
  yield* writeRows(head, pack, (chunk, ref) => [
    ref,
    chunk.id,
    chunk.slug,
    tables.pathIndex(chunk.path),
    tables.kindIndex(chunk.kind),
    chunk.startLine,
    chunk.endLine,
    chunk.tokenEstimate,
    chunk.contentHash,
    chunk.headingPath,
    chunk.symbol,
    chunk.address,
    chunk.assetPath,
  ])
}

const MIN_COLUMNS = [
  'ref',
  'path_i',
  'kind_i',
  'start_line',
  'end_line',
  'token_estimate',
  'heading_last',
  'symbol',
  'address',
]

/** Writes `manifest.min.json`: like `manifest.json`, without files, ids and hashes, and with the last heading only. */
export function* writeManifestMinJson(pack: Pack): Generator<string> {
  const tables = createTables(pack)
  const head = {
    format_version: COMPACT_VERSION,
    index_id: pack.indexId,
    paths: tables.paths,
    kinds: tables.kinds,
    chunk_columns: MIN_COLUMNS,
  }
  yield* writeRows(head, pack, (chunk, ref) => [
    ref,
    tables.pathIndex(chunk.path),
    tables.kindIndex(chunk.kind),
    chunk.startLine,
    chunk.endLine,
    chunk.tokenEstimate,
    chunk.headingPath.at(-1) ?? null,
    chunk.symbol,
    chunk.address,
  ])
}

/** The object `head` with an additional key, `chunks`, that holds a row for each chunk. */
function* writeRows(
  head: Readonly<Record<string, unknown>>,
  pack: Pack,
  toRow: (chunk: Chunk, ref: string) => readonly unknown[],
): Generator<string> {
  yield `${JSON.stringify(head).slice(0, -1)},"chunks":[`
  for (const [i, chunk] of pack.chunks.entries()) {
    yield (i === 0 ? '' : ',') + JSON.stringify(toRow(chunk, pack.refs[i] ?? ''))
  }
  yield ']}\n'
}

const UNSAFE_CHARACTER = /[\p{Cc}\p{Zl}\p{Zp}]/gu

/** A file name may contain a tab or a line end; a row may not. Such a name is written as a JSON string. */
function writeTsvName(name: string): string {
  if (name.search(UNSAFE_CHARACTER) < 0 && !name.startsWith('"')) return name
  const escapeUnit = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
  return JSON.stringify(name).replace(UNSAFE_CHARACTER, escapeUnit)
}
