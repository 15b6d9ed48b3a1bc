import { join } from 'node:path'
import { PharosError } from '../core/errors.ts'
import { packName } from '../core/pack/entries.ts'
import { createPack } from '../core/pack/pack.ts'
import { sumTokens } from '../core/pack/tables.ts'
import { writePack } from '../ingest/pack-output.ts'
import { nodeSha256 } from '../ingest/sha256.ts'
import { chunkSource } from '../library/import/chunk-source.ts'
import type { Library } from '../library/library.ts'
import { labelOf } from '../library/source.ts'
import type { PackInput, WrittenPack } from '../mcp/ports.ts'

/** Exports a source as a pack into a folder. The file name contains the source and a hash of its content. */
export async function exportSource(
  library: Pick<Library, 'clock' | 'sha256' | 'store' | 'trees'>,
  input: PackInput,
  folder: string,
): Promise<WrittenPack> {
  const { source, isCompact, signal } = input
  const files = await chunkSource(library, source)
  const pack = createPack(files, { sha256: nodeSha256 })
  const label = labelOf(source)
  if (pack.chunks.length === 0) {
    throw new PharosError('SOURCE_EMPTY', { path: label, problem: 'the library holds no pages of it' })
  }
  const stem = label.replace(/[^\w.@-]+/g, '-')
  const path = join(folder, `${packName(stem, pack)}${isCompact ? '.compact' : ''}.zip`)
  const bytes = await writePack(pack, { out: path, root: folder, compact: isCompact, signal })
  return { path, bytes, files: pack.files.length, chunks: pack.chunks.length, tokens: sumTokens(pack.chunks) }
}
