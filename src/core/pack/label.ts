import type { Chunk } from '../model.ts'
import { clipText } from '../text/lines.ts'

/** A one-line label for a chunk: its symbol, its last two headings, its address, or its slug. */
export function chunkLabel(chunk: Chunk): string {
  const label =
    nonEmpty(chunk.symbol) ??
    nonEmpty(chunk.headingPath.slice(-2).join(' > ')) ??
    nonEmpty(chunk.address) ??
    nonEmpty(clipText(chunk.slug, 60)) ??
    'chunk'
  return oneLine(label, 72)
}

/** A one-line label for a file: that of its first chunk. */
export function fileLabel(chunks: readonly Chunk[]): string {
  const [first] = chunks
  return first === undefined ? '' : chunkLabel(first)
}

/** One line of at most `length` characters: control characters become spaces, white space is collapsed. */
export function oneLine(text: string, length: number): string {
  const flat = clipText(text, 4 * length)
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim()
  return clipText(flat, length).trim()
}

function nonEmpty(text: string | null): string | undefined {
  return text === null || oneLine(text, 72) === '' ? undefined : text
}
