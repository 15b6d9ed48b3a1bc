import { type PackOptions, packEntries, zipPack } from '../core/pack/entries.ts'
import type { Pack } from '../core/pack/pack.ts'

/** Number of chunks that are written in both forms for an estimate. A pack with fewer is measured as a whole. */
const MAX_SAMPLE_CHUNKS = 400

/**
 * Estimates the size of the full form of a pack from the size of its compact form. Writing the full form would take several times as long,
 * so a sample of the chunks is written in both forms. Images and vectors are the same in both.
 */
export async function estimateFullBytes(pack: Pack, compactBytes: number, isZip: boolean): Promise<number> {
  const sample = samplePack(pack)
  const [full, compact] = [await measure(sample, false, isZip), await measure(sample, true, isZip)]
  const imagePaths = new Set(pack.chunks.filter(({ assetPath }) => assetPath !== null).map(({ path }) => path))
  const images = pack.files.filter(({ path }) => imagePaths.has(path)).reduce((sum, { bytes }) => sum + bytes, 0)
  const shared = images + (pack.vectors?.write().length ?? 0)
  return Math.round(shared + (Math.max(0, compactBytes - shared) * full) / compact)
}

/** Every nth chunk of a pack, with the files of these chunks. */
function samplePack({ vectors: _, ...pack }: Pack): Pack {
  const step = Math.ceil(pack.chunks.length / MAX_SAMPLE_CHUNKS)
  const isSampled = (_: unknown, i: number) => i % step === 0
  const chunks = pack.chunks.filter(isSampled)
  const paths = new Set(chunks.map(({ path }) => path))
  const files = pack.files.filter(({ path }) => paths.has(path))
  return { ...pack, chunks, refs: pack.refs.filter(isSampled), files }
}

/** The size of a pack without its images. */
async function measure(pack: Pack, compact: boolean, isZip: boolean): Promise<number> {
  const options: PackOptions = { compact, readImage: () => new Uint8Array() }
  let bytes = 0
  if (isZip) for await (const piece of zipPack(pack, options)) bytes += piece.length
  else {
    for await (const { content } of packEntries(pack, options)) {
      for (const piece of content instanceof Uint8Array ? [content] : content) bytes += piece.length
    }
  }
  return bytes
}
