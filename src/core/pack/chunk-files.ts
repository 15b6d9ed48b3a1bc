import type { Chunk } from '../model.ts'
import { chunkLabel } from './label.ts'
import type { Pack } from './pack.ts'
import type { Tables } from './tables.ts'

/** How `chunks/<ref>.md` is written. */
export interface ChunkFileOptions {
  /** Longest run of equal lines that is kept; a longer one is written once with its count. @default 3 */
  readonly repeats?: number
}

/** A chunk file of a full pack: YAML front matter with the provenance, then the text. */
export function writeFullChunk(pack: Pack, position: number, options: ChunkFileOptions = {}): string {
  const chunk = chunkAt(pack, position)
  const body = compactBody(chunk, options)
  const ref = pack.refs[position] ?? ''
  const quote = (text: string | null) => JSON.stringify(text)
  return [
    '---',
    // The rank in the whole pack, even for one part of a split pack; the ref is that number in base 36.
    `chunk_index: ${Number.parseInt(ref.slice(1), 36)}`,
    `ref: ${quote(ref)}`,
    `id: ${quote(chunk.id)}`,
    `slug: ${quote(chunk.slug)}`,
    `path: ${quote(chunk.path)}`,
    `kind: ${quote(chunk.kind)}`,
    `lines: [${chunk.startLine}, ${chunk.endLine}]`,
    `token_estimate: ${chunk.tokenEstimate}`,
    `content_sha256: ${quote(chunk.contentHash)}`,
    `compacted: ${body !== chunk.content}`,
    `heading_path: [${chunk.headingPath.map(quote).join(', ')}]`,
    `symbol: ${quote(chunk.symbol)}`,
    `address: ${quote(chunk.address)}`,
    `asset_path: ${quote(chunk.assetPath)}`,
    '---',
    '',
    body,
    '',
  ].join('\n')
}

/** A chunk file of a compact pack: one header line, then the text. */
export function writeCompactChunk(
  pack: Pack,
  position: number,
  tables: Tables,
  options: ChunkFileOptions = {},
): string {
  const chunk = chunkAt(pack, position)
  const header = [
    '@llmx',
    pack.refs[position] ?? '',
    tables.pathIndex(chunk.path),
    tables.kindIndex(chunk.kind),
    chunk.startLine,
    chunk.endLine,
    chunkLabel(chunk),
  ]
  return `${header.join('\t')}\n\n${compactBody(chunk, options)}\n`
}

/** Shortens long runs of equal lines, in text files only: logs repeat themselves, prose and code do not. */
function compactBody(chunk: Chunk, { repeats = 3 }: ChunkFileOptions): string {
  if (chunk.kind !== 'text') return chunk.content
  const lines = chunk.content.split('\n')
  const kept: string[] = []
  for (let i = 0; i < lines.length; ) {
    let end = i + 1
    while (end < lines.length && lines[end] === lines[i]) end++
    if (end - i > repeats) kept.push(lines[i] ?? '', `... (previous line repeated ${end - i - 1} more times)`)
    else kept.push(...lines.slice(i, end))
    i = end
  }
  return kept.join('\n')
}

function chunkAt(pack: Pack, position: number): Chunk {
  const chunk = pack.chunks[position]
  if (chunk === undefined) throw new RangeError(`Expected a position below ${pack.chunks.length}, got ${position}`)
  return chunk
}
