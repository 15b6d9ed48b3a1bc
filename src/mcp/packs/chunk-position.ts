import { z } from 'zod'
import type { PackHit } from '../../core/pack/search-pack.ts'
import { writeCitation } from '../../library/search/display-text.ts'
import type { OpenPacks } from './open-packs.ts'

/** The shape of a chunk position in structured content. */
interface ChunkPositionShape {
  readonly ref: z.ZodString
  readonly source: z.ZodString
  readonly path: z.ZodString
  readonly startLine: z.ZodNumber
  readonly endLine: z.ZodNumber
  readonly headingPath: z.ZodArray<z.ZodString>
}

/** The schema of {@link ChunkPositionShape}. */
export const CHUNK_POSITION: ChunkPositionShape = {
  ref: z.string(),
  source: z.string(),
  path: z.string(),
  startLine: z.number(),
  endLine: z.number(),
  headingPath: z.array(z.string()),
}

/** The position of a chunk in the search of all packs. */
export type FoundPosition = Pick<PackHit, 'chunkRef' | 'path' | 'startLine' | 'endLine' | 'headingPath'>

/** A position in structured content. */
interface PositionRecord {
  ref: string
  source: string
  path: string
  startLine: number
  endLine: number
  headingPath: string[]
}

/** Converts a position for structured content. */
export function positionRecord({ locate }: OpenPacks, position: FoundPosition): PositionRecord {
  const { chunkRef: ref, startLine, endLine, headingPath } = position
  return { ref, ...locate(position.path), startLine, endLine, headingPath: [...headingPath] }
}

/** `"Guide" > "Retries" — docs/retry.md (chunk c000a, lines 3-9)`; with several packs, the ref begins with the name of the pack. */
export function writePosition({ locate }: OpenPacks, position: FoundPosition): string {
  const { chunkRef: chunk, startLine, endLine, headingPath } = position
  const { path, source } = locate(position.path)
  return writeCitation({ title: headingPath[0] ?? path, url: path, headingPath, startLine, endLine, source, chunk })
}
