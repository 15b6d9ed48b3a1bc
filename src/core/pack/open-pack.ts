import { PharosError } from '../errors.ts'
import { type Chunk, type FileMeta, KINDS, type Kind, WARNING_CODES, type Warning, type WarningCode } from '../model.ts'
import { estimateTokens } from '../text/estimate.ts'
import { INDEX_VERSION } from './index-json.ts'
import { COMPACT_VERSION, TSV_MAGIC } from './manifests.ts'
import type { Pack } from './pack.ts'

/** Access to the files of a pack, whether folder or archive. */
export interface PackReader {
  /** What the pack is called in messages. */
  readonly name: string
  has(file: string): boolean
  /** The content in pieces. Asked only for files that are there. */
  read(file: string): Iterable<Uint8Array>
}

/**
 * Opens a pack that was written earlier: a full one through its `index.json`, a compact one through its manifest and
 * chunk files (which keep neither ids nor more than a chunk's label of its headings).
 */
export function openPack(reader: PackReader): Pack {
  if (reader.has('index.json')) return parseIndexJson(readHead(reader, 'index.json', POSTINGS), reader.name)
  if (reader.has('manifest.llm.tsv')) return openCompact(reader)
  throw new PharosError('PACK_INVALID', {
    path: reader.name,
    problem: 'it has neither index.json nor manifest.llm.tsv',
  })
}

/** Where the postings begin. Inside a string the quotes would be escaped, so this is no string's content. */
const POSTINGS = ',"inverted_index":'

/** Reads text up to a marker; what follows is never unpacked. */
function readHead(reader: PackReader, file: string, marker: string): string {
  const decoder = new TextDecoder()
  const parts: string[] = []
  let tail = ''
  for (const piece of reader.read(file)) {
    const text = tail + decoder.decode(piece, { stream: true })
    const at = text.indexOf(marker)
    if (at >= 0) return `${parts.join('')}${text.slice(0, at)}}`
    // The marker may lie across two pieces, so the end of one is looked at again with the next.
    const kept = Math.max(0, text.length - marker.length)
    parts.push(text.slice(0, kept))
    tail = text.slice(kept)
  }
  return parts.join('') + tail + decoder.decode()
}

function readText(reader: PackReader, file: string): string {
  const decoder = new TextDecoder()
  const parts = Array.from(reader.read(file), (piece) => decoder.decode(piece, { stream: true }))
  return parts.join('') + decoder.decode()
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
      address: entry.textOrNull('address'),
      assetPath: entry.textOrNull('asset_path'),
    }
  })
  return {
    indexId: root.text('index_id'),
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

/** Reads fields of parsed JSON, refusing what has another type. */
class Fields {
  readonly #value: Readonly<Record<string, unknown>>
  readonly #invalid: (problem: string) => PharosError

  constructor(value: unknown, invalid: (problem: string) => PharosError) {
    if (typeof value !== 'object' || value === null) throw invalid('index.json has an entry that is no object')
    // An object's keys are read one by one below, each with its own check.
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

  object(key: string): Fields {
    return new Fields(this.#value[key], this.#invalid)
  }

  list(key: string): Fields[] {
    const value = this.#value[key]
    return Array.isArray(value) ? value.map((one) => new Fields(one, this.#invalid)) : this.#refuse(key)
  }

  #refuse(key: string): never {
    throw this.#invalid(`index.json has no proper ${JSON.stringify(key)}`)
  }
}

function openCompact(reader: PackReader): Pack {
  const invalid = (problem: string) => new PharosError('PACK_INVALID', { path: reader.name, problem })
  const rows = readText(reader, 'manifest.llm.tsv')
    .split('\n')
    .map((row) => row.split('\t'))
  const [magic, version, indexId = ''] = rows[0] ?? []
  if (magic !== TSV_MAGIC) throw invalid('manifest.llm.tsv does not start as it should')
  if (Number(version) > COMPACT_VERSION) {
    throw new PharosError('PACK_VERSION', { found: Number(version), supported: COMPACT_VERSION })
  }
  const table = (letter: string) => rows.filter((row) => row[0] === letter)
  const dirs = table('D').map((row) => row[2] ?? '')
  const paths = table('P').map((row) => (dirs[Number(row[2])] ?? '') + (row[3] ?? ''))
  const kinds = table('K').map((row) => KINDS.find((kind) => kind === row[2]) ?? 'unknown')
  const refs: string[] = []
  const chunks = table('C').map((row): Chunk => {
    const [, ref = '', pathIndex, kindIndex, start, end, tokens, label = ''] = row
    const file = `chunks/${ref}.md`
    if (!reader.has(file)) throw invalid(`${file} is missing`)
    const text = readText(reader, file)
    const content = text.slice(text.indexOf('\n\n') + 2).replace(/\n$/, '')
    refs.push(ref)
    return {
      id: '',
      shortId: '',
      slug: label,
      path: paths[Number(pathIndex)] ?? '',
      kind: kinds[Number(kindIndex)] ?? 'unknown',
      chunkIndex: 0,
      startLine: Number(start),
      endLine: Number(end),
      content,
      contentHash: '',
      tokenEstimate: Number(tokens) || estimateTokens(content),
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
