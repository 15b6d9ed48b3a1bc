import type { Chunk } from '../model.ts'
import { compareUtf8 } from '../text/order.ts'
import { folderOf } from '../text/path.ts'
import { fileRecord } from './index-json.ts'
import { chunkLabel, fileLabel } from './label.ts'
import type { Pack } from './pack.ts'
import { createTables, groupByFile, sumTokens, type Tables } from './tables.ts'

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

/** A manifest with a row for each chunk. */
type RowManifest = 'full' | 'min'

/** The columns after the ref, in order: the name, which manifest has it, and its value. */
const COLUMNS: readonly (readonly [string, RowManifest | 'both', (chunk: Chunk, tables: Tables) => unknown])[] = [
  ['id', 'full', ({ id }) => id],
  ['slug', 'full', ({ slug }) => slug],
  ['path_i', 'both', ({ path }, tables) => tables.pathIndex(path)],
  ['kind_i', 'both', ({ kind }, tables) => tables.kindIndex(kind)],
  ['start_line', 'both', ({ startLine }) => startLine],
  ['end_line', 'both', ({ endLine }) => endLine],
  ['token_estimate', 'both', ({ tokenEstimate }) => tokenEstimate],
  ['content_sha256', 'full', ({ contentHash }) => contentHash],
  ['heading_path', 'full', ({ headingPath }) => headingPath],
  ['heading_last', 'min', ({ headingPath }) => headingPath.at(-1) ?? null],
  ['symbol', 'both', ({ symbol }) => symbol],
  ['address', 'both', ({ address }) => address],
  ['asset_path', 'full', ({ assetPath }) => assetPath],
]

/** Writes `manifest.json` row by row: all provenance and hashes, with an array instead of an object for each chunk. */
export function writeManifestJson(pack: Pack): Generator<string> {
  return writeRows({ format_version: 2, index_id: pack.indexId, files: pack.files.map(fileRecord) }, pack, 'full')
}

/** Writes `manifest.min.json`: like `manifest.json`, without files, ids and hashes, and with the last heading only. */
export function writeManifestMinJson(pack: Pack): Generator<string> {
  return writeRows({ format_version: COMPACT_VERSION, index_id: pack.indexId }, pack, 'min')
}

/** The object `begin` with additional keys: the tables, the names of the columns, and `chunks`, which holds a row for each chunk. */
function* writeRows(begin: object, pack: Pack, manifest: RowManifest): Generator<string> {
  const tables = createTables(pack)
  const columns = COLUMNS.filter(([, which]) => which === 'both' || which === manifest)
  const names = ['ref', ...columns.map(([name]) => name)]
  const head = { ...begin, paths: tables.paths, kinds: tables.kinds, chunk_columns: names }
  yield `${JSON.stringify(head).slice(0, -1)},"chunks":[`
  for (const [i, chunk] of pack.chunks.entries()) {
    const row = [pack.refs[i] ?? '', ...columns.map(([, , read]) => read(chunk, tables))]
    yield (i === 0 ? '' : ',') + JSON.stringify(row)
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
