import { imageAssetPath } from '../chunk/image.ts'
import { sha256 as portableSha256 } from '../hash.ts'
import type { Chunk, ChunkedFile, FileMeta, Sha256, Warning } from '../model.ts'
import { compareUtf8 } from '../text/order.ts'
import type { PackVectors } from './pack-vectors.ts'

/** A set of chunked files, with all data that the files of a pack are written from. */
export interface Pack {
  /** SHA-256 over paths and file hashes: the same files give the same id anywhere. */
  readonly indexId: string
  /** Sorted by path. */
  readonly files: readonly FileMeta[]
  /** Sorted by path, first line, last line and id: the order of their refs. */
  readonly chunks: readonly Chunk[]
  /** Ref of each chunk, in the order of `chunks`. */
  readonly refs: readonly string[]
  /** Sorted by path, then in the order in which they occurred. */
  readonly warnings: readonly Warning[]
  /** The vectors of the chunks, if the pack has any. */
  readonly vectors?: PackVectors
  /** Set when this is one part of a pack that was split. */
  readonly part?: { readonly number: number; readonly of: number }
}

/** Whether a pack was read from its compact form, which keeps no digests, sizes, definitions and warnings. */
export function isCompactPack({ files }: Pick<Pack, 'files'>): boolean {
  return files.length > 0 && files.every(({ sha256 }) => sha256 === '')
}

/** Joins chunked files, given in any order, into a pack. */
export function createPack(chunked: readonly ChunkedFile[], options: { readonly sha256?: Sha256 } = {}): Pack {
  const sha256 = options.sha256 ?? portableSha256
  const sorted = [...chunked].sort((a, b) => compareUtf8(a.file.path, b.file.path))
  const packed = sorted.filter(({ chunks, warnings }) => chunks.length > 0 || !warnings.some(isSkip))
  const files = packed.map(({ file }) => file)
  const chunks = separateAssets(packed.flatMap((entry) => [...entry.chunks].sort(compareChunks)))
  return {
    indexId: sha256(files.map((file) => `${file.path}\n${file.sha256}\n`).join('')),
    files,
    chunks,
    refs: createRefs(chunks.length),
    warnings: sorted.flatMap((entry) => entry.warnings),
  }
}

/** `c` and the rank in base 36, from 1, with four digits, or with more if the last ref needs them. */
function createRefs(count: number): string[] {
  const digits = Math.max(4, count.toString(36).length)
  return Array.from({ length: count }, (_, i) => `c${(i + 1).toString(36).padStart(digits, '0')}`)
}

/** Order of chunks inside a file; paths are sorted before. */
function compareChunks(a: Chunk, b: Chunk): number {
  return a.startLine - b.startLine || a.endLine - b.endLine || compareUtf8(a.id, b.id)
}

/** Whether a file with this warning may have been left out as a whole. */
function isSkip(warning: Warning): boolean {
  return warning.code !== 'max_chunks_per_file' && warning.code !== 'secret' && warning.code !== 'changed'
}

/**
 * Two cleaned image paths may be equal, or one may be a folder of the other. The later image then goes into a folder named by its id, so
 * that no image overwrites another.
 */
function separateAssets(chunks: readonly Chunk[]): Chunk[] {
  const files = new Set<string>()
  const folders = new Set<string>()
  return chunks.map((chunk) => {
    if (chunk.assetPath === null) return chunk
    const isTaken =
      files.has(chunk.assetPath) ||
      folders.has(chunk.assetPath) ||
      parentsOf(chunk.assetPath).some((parent) => files.has(parent))
    const assetPath = isTaken ? imageAssetPath(`${chunk.shortId}/${chunk.path}`) : chunk.assetPath
    files.add(assetPath)
    for (const folder of parentsOf(assetPath)) folders.add(folder)
    return isTaken ? { ...chunk, assetPath } : chunk
  })
}

function parentsOf(path: string): string[] {
  const parts = path.split('/')
  return parts.slice(1).map((_, i) => parts.slice(0, i + 1).join('/'))
}
