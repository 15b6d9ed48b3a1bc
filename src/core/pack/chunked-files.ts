import { imageAssetPath } from '../chunk/image.ts'
import type { Chunk, ChunkedFile, Warning } from '../model.ts'
import type { Pack } from './pack.ts'

/** Splits a pack into the contributions of its files; joining them gives the same pack. */
export function chunkedFilesOf(pack: Pack): ChunkedFile[] {
  const parts = new Map(pack.files.map(({ path }) => [path, { chunks: [] as Chunk[], warnings: [] as Warning[] }]))
  for (const chunk of pack.chunks) {
    // The asset path of an image in a pack depends on the other images, so each chunk gets the path that it would have alone.
    const assetPath = chunk.assetPath === null ? null : imageAssetPath(chunk.path)
    parts.get(chunk.path)?.chunks.push({ ...chunk, assetPath })
  }
  for (const warning of pack.warnings) parts.get(warning.path)?.warnings.push(warning)
  return pack.files.map((file) => {
    const { chunks = [], warnings = [] } = parts.get(file.path) ?? {}
    return { file, chunks: chunks.sort((a, b) => a.chunkIndex - b.chunkIndex), warnings }
  })
}
