import type { Chunk } from '../../../src/core/model.ts'

/** Writes the text of a chunk, followed by its location: `docs/a.md:3-10 (chunk c0007, id 0a1b2c3d4e5f)`. */
export function writeCitation(
  chunk: Pick<Chunk, 'content' | 'path' | 'startLine' | 'endLine' | 'shortId'>,
  ref: string,
): string {
  const { content, path, startLine, endLine, shortId } = chunk
  return `${content.trimEnd()}\n\n${path}:${startLine}-${endLine} (chunk ${ref}, id ${shortId})\n`
}
