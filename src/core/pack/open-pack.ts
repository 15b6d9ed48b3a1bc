import { chunkId } from '../chunk/id.ts'
import { imageAssetPath } from '../chunk/image.ts'
import { PharosError } from '../errors.ts'
import { sha256 } from '../hash.ts'
import { type Chunk, type FileMeta, KINDS, type Kind, WARNING_CODES, type Warning, type WarningCode } from '../model.ts'
import { INDEX_VERSION } from './index-json.ts'
import { COMPACT_VERSION, TSV_MAGIC } from './manifests.ts'
import type { Pack } from './pack.ts'
import { parsePackVectors, VECTORS_FILE } from './pack-vectors.ts'

/** Access to the files of a pack, whether folder or archive. */
export interface PackReader {
  /** The name of the pack in messages. */
  readonly name: string
  has(file: string): boolean
  /** The content in pieces. Called only for existing files. */
  read(file: string): Iterable<Uint8Array>
}

/**
 * Opens a pack: a full one through its `index.json`, a compact one through its manifest and chunk files. A compact pack keeps no symbols
 * and only the label of a chunk's headings; its ids are computed from the text in the pack. A pack is untrusted, so everything that could
 * later become a path or reach a terminal is checked here.
 */
export function openPack(reader: PackReader): Pack {
  const pack = reader.has('index.json')
    ? openFull(reader)
    : reader.has('manifest.llm.tsv')
      ? openCompact(reader)
      : undefined
  if (pack !== undefined) return addVectors(checkPack(pack, reader.name), reader)
  throw new PharosError('PACK_INVALID', {
    path: reader.name,
    problem: 'it has neither index.json nor manifest.llm.tsv',
  })
}

function addVectors(pack: Pack, reader: PackReader): Pack {
  if (!reader.has(VECTORS_FILE)) return pack
  return { ...pack, vectors: parsePackVectors(reader.read(VECTORS_FILE), pack.chunks.length, reader.name) }
}

/** Start of the postings. Inside a string the quotes would be escaped, so this never matches the content of a string. */
const POSTINGS = ',"inverted_index":'

/** Limit for the text of a pack, which is held in memory; packs made with sensible limits are smaller. */
export const MAX_PACK_CHARS: number = 2 ** 28

/** Reads the text of a file, or only the text before a marker, with a `}` that completes the JSON. The rest is never decompressed. */
function readText(reader: PackReader, file: string, marker?: string): string {
  const decoder = new TextDecoder()
  const parts: string[] = []
  let size = 0
  let tail = ''
  for (const piece of reader.read(file)) {
    const text = tail + decoder.decode(piece, { stream: true })
    const at = marker === undefined ? -1 : text.indexOf(marker)
    if (at >= 0) return `${parts.join('')}${text.slice(0, at)}}`
    // The marker may span two pieces, so the end of each piece is searched again with the next.
    const kept = Math.max(0, text.length - (marker?.length ?? 0))
    parts.push(text.slice(0, kept))
    tail = text.slice(kept)
    size += kept
    if (size > MAX_PACK_CHARS) {
      throw new PharosError('PACK_INVALID', {
        path: reader.name,
        problem: `${file} has more than ${MAX_PACK_CHARS} characters`,
      })
    }
  }
  return parts.join('') + tail + decoder.decode()
}

/** Refuses names that lead out of the pack or the folder it is written to, and invalid counts. */
function checkPack(pack: Pack, name: string): Pack {
  const check = (holds: boolean, problem: string) => {
    if (!holds) throw new PharosError('PACK_INVALID', { path: name, problem })
  }
  // The id becomes a part of file names.
  check(/^[0-9a-f]{64}$/.test(pack.indexId), `${JSON.stringify(pack.indexId)} is not a valid index id`)
  for (const ref of pack.refs) check(/^c[0-9a-z]{4,12}$/.test(ref), `${JSON.stringify(ref)} is not a valid ref`)
  check(new Set(pack.refs).size === pack.chunks.length, 'two chunks have the same ref')
  check(new Set(pack.chunks.map(({ id }) => id)).size === pack.chunks.length, 'two chunks have the same id')
  const assets = new Set<string>()
  for (const { id, path, assetPath, startLine, endLine, tokenEstimate } of pack.chunks) {
    check(/^[0-9a-f]{64}$/.test(id), `${JSON.stringify(id)} is not a valid chunk id`)
    check(isCount(startLine, 1) && isCount(endLine, 1), `lines ${startLine} to ${endLine} are not a valid range`)
    check(isCount(tokenEstimate, 0), `${tokenEstimate} is not a valid number of tokens`)
    check(isInside(path), `the path ${JSON.stringify(path)} leads outside`)
    if (assetPath === null) continue
    const isAsset = assetPath === imageAssetPath(assetPath.replace(/^images\//, ''))
    check(isAsset, `the image ${JSON.stringify(assetPath)} leads outside`)
    check(!assets.has(assetPath), `the image ${JSON.stringify(assetPath)} belongs to two chunks`)
    assets.add(assetPath)
  }
  for (const { path, bytes, lineCount } of pack.files) {
    check(isInside(path), `the path ${JSON.stringify(path)} leads outside`)
    const isSize = isCount(bytes, 0) && isCount(lineCount, 1)
    check(isSize, `${bytes} bytes and ${lineCount} lines are not a valid file size`)
  }
  for (const { path } of pack.warnings) {
    // The path of a warning about a folder ends in a slash; it is empty for the whole source.
    const isValid = path === '' || isInside(path.replace(/\/$/, ''))
    check(isValid, `the path ${JSON.stringify(path)} leads outside`)
  }
  return pack
}

function isCount(value: number, min: number): boolean {
  return Number.isSafeInteger(value) && value >= min
}

/** Whether a path is the URL of a page or stays inside the folder. No file is ever written to such a path. */
function isInside(path: string): boolean {
  if (/^https?:\/\/[^/\s]/.test(path)) return true
  return path !== '' && !path.startsWith('/') && path.split('/').every((part) => part !== '..' && part !== '')
}

function openFull(reader: PackReader): Pack {
  return parseIndexJson(readText(reader, 'index.json', POSTINGS), reader.name)
}

/** Reads the text of an `index.json`; the postings may be missing. */
function parseIndexJson(text: string, name: string): Pack {
  const invalid = (problem: string, cause?: unknown) => {
    return new PharosError('PACK_INVALID', { path: name, problem }, { cause })
  }
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch (cause) {
    throw invalid('index.json is not JSON', cause)
  }
  const root = new Fields(json, invalid)
  const version = root.number('version')
  if (version > INDEX_VERSION) throw new PharosError('PACK_VERSION', { found: version, supported: INDEX_VERSION })
  const refs = root.object('chunk_refs')
  const chunks = root.list('chunks').map((entry): Chunk => {
    return {
      id: entry.text('id'),
      shortId: entry.text('short_id'),
      slug: entry.text('slug'),
      path: entry.text('path'),
      kind: entry.kind('kind'),
      chunkIndex: entry.number('chunk_index'),
      startLine: entry.number('start_line'),
      endLine: entry.number('end_line'),
      content: entry.text('content'),
      contentHash: entry.text('content_hash'),
      tokenEstimate: entry.number('token_estimate'),
      headingPath: entry.texts('heading_path'),
      symbol: entry.textOrNull('symbol'),
      ...(entry.has('members') && {
        members: entry.list('members').map((one) => ({ name: one.text('name'), line: one.number('line') })),
      }),
      address: entry.textOrNull('address'),
      assetPath: entry.textOrNull('asset_path'),
    }
  })
  const part = root.has('part') ? root.object('part') : undefined
  return {
    indexId: root.text('index_id'),
    ...(part === undefined ? {} : { part: { number: part.number('number'), of: part.number('of') } }),
    files: root.list('files').map((entry): FileMeta => {
      return {
        path: entry.text('path'),
        kind: entry.kind('kind'),
        bytes: entry.number('bytes'),
        sha256: entry.text('sha256'),
        lineCount: entry.number('line_count'),
      }
    }),
    chunks,
    refs: chunks.map((chunk) => refs.text(chunk.id)),
    warnings: root.list('warnings').map((entry): Warning => {
      return { path: entry.text('path'), code: entry.warningCode('code'), message: entry.text('message') }
    }),
  }
}

/** Reads fields of parsed JSON, and refuses values of another type. */
class Fields {
  readonly #value: Readonly<Record<string, unknown>>
  readonly #invalid: (problem: string) => PharosError

  constructor(value: unknown, invalid: (problem: string) => PharosError) {
    if (typeof value !== 'object' || value === null) throw invalid('index.json has an entry that is not an object')
    // The methods below check the type of every value that they read.
    this.#value = value as Readonly<Record<string, unknown>>
    this.#invalid = invalid
  }

  text(key: string): string {
    const value = this.#value[key]
    return typeof value === 'string' ? value : this.#refuse(key)
  }

  textOrNull(key: string): string | null {
    return this.#value[key] == null ? null : this.text(key)
  }

  texts(key: string): string[] {
    const value = this.#value[key]
    return Array.isArray(value) && value.every((one) => typeof one === 'string') ? value : this.#refuse(key)
  }

  number(key: string): number {
    const value = this.#value[key]
    return typeof value === 'number' && Number.isFinite(value) ? value : this.#refuse(key)
  }

  kind(key: string): Kind {
    return KINDS.find((kind) => kind === this.#value[key]) ?? this.#refuse(key)
  }

  warningCode(key: string): WarningCode {
    return WARNING_CODES.find((code) => code === this.#value[key]) ?? this.#refuse(key)
  }

  has(key: string): boolean {
    return this.#value[key] !== undefined
  }

  object(key: string): Fields {
    return new Fields(this.#value[key], this.#invalid)
  }

  list(key: string): Fields[] {
    const value = this.#value[key]
    return Array.isArray(value) ? value.map((one) => new Fields(one, this.#invalid)) : this.#refuse(key)
  }

  #refuse(key: string): never {
    throw this.#invalid(`index.json has no valid ${JSON.stringify(key)}`)
  }
}

function openCompact(reader: PackReader): Pack {
  const invalid = (problem: string) => new PharosError('PACK_INVALID', { path: reader.name, problem })
  const rows = readText(reader, 'manifest.llm.tsv')
    .split('\n')
    .map((row) => row.split('\t'))
  const [magic, version, indexId = ''] = rows[0] ?? []
  if (magic !== TSV_MAGIC) throw invalid(`manifest.llm.tsv does not start with ${TSV_MAGIC}`)
  if (Number(version) > COMPACT_VERSION) {
    throw new PharosError('PACK_VERSION', { found: Number(version), supported: COMPACT_VERSION })
  }
  const table = (letter: string) => rows.filter((row) => row[0] === letter)
  const nameIn = (cell = '') => {
    try {
      return cell.startsWith('"') ? String(JSON.parse(cell)) : cell
    } catch {
      throw invalid(`manifest.llm.tsv has an invalid name: ${cell}`)
    }
  }
  const dirs = table('D').map((row) => nameIn(row[2]))
  const paths = table('P').map((row) => (dirs[Number(row[2])] ?? '') + nameIn(row[3]))
  const kinds = table('K').map((row) => KINDS.find((kind) => kind === row[2]) ?? 'unknown')
  const refs = table('C').map((row) => row[1] ?? '')
  if (new Set(refs).size < refs.length) throw invalid('two chunks have the same ref')
  const occurrences = new Map<string, number>()
  const chunks = table('C').map((row): Chunk => {
    const [, ref = '', pathIndex, kindIndex, start, end, tokens, label = ''] = row
    const file = `chunks/${ref}.md`
    if (!reader.has(file)) throw invalid(`${file} is missing`)
    const text = readText(reader, file)
    const content = text.slice(text.indexOf('\n\n') + 2).replace(/\n$/, '')
    const path = paths[Number(pathIndex)] ?? ''
    const contentHash = sha256(content)
    const occurrence = occurrences.get(`${path}\n${contentHash}`) ?? 0
    occurrences.set(`${path}\n${contentHash}`, occurrence + 1)
    const id = chunkId(path, contentHash, occurrence, sha256)
    return {
      id,
      shortId: id.slice(0, 12),
      slug: label,
      path,
      kind: kinds[Number(kindIndex)] ?? 'unknown',
      chunkIndex: 0,
      startLine: Number(start),
      endLine: Number(end),
      content,
      contentHash,
      tokenEstimate: Number(tokens),
      headingPath: [label],
      symbol: null,
      address: null,
      assetPath: null,
    }
  })
  const files = table('F').map((row): FileMeta => {
    const kind = kinds[Number(row[2])] ?? 'unknown'
    return { path: paths[Number(row[1])] ?? '', kind, bytes: 0, sha256: '', lineCount: Number(row[5]) }
  })
  return { indexId, files, chunks, refs, warnings: [] }
}
