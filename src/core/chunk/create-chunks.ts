import type { Chunk, FileMeta, Sha256 } from '../model.ts'
import { estimateTokens } from '../text/estimate.ts'
import { chunkId } from './id.ts'
import { imageAssetPath } from './image.ts'
import type { Piece } from './piece.ts'
import { createSlug } from './slug.ts'

/** Turns pieces into chunks with ids. The occurrence number distinguishes chunks of one file that have the same text. */
export function createChunks(file: Pick<FileMeta, 'path' | 'kind'>, pieces: readonly Piece[], sha256: Sha256): Chunk[] {
  const occurrences = new Map<string, number>()
  return pieces.map((piece, chunkIndex) => {
    const contentHash = sha256(piece.content)
    const occurrence = occurrences.get(contentHash) ?? 0
    occurrences.set(contentHash, occurrence + 1)
    const id = chunkId(file.path, contentHash, occurrence, sha256)
    const location = {
      path: file.path,
      kind: file.kind,
      startLine: piece.startLine,
      endLine: piece.endLine,
      headingPath: piece.headingPath ?? [],
      symbol: piece.symbol ?? null,
      address: piece.address ?? null,
    }
    return {
      id,
      shortId: id.slice(0, 12),
      slug: createSlug(location),
      ...location,
      chunkIndex,
      content: piece.content,
      contentHash,
      tokenEstimate: estimateTokens(piece.content),
      ...(piece.members !== undefined && { members: piece.members }),
      assetPath: file.kind === 'image' ? imageAssetPath(file.path) : null,
    }
  })
}
