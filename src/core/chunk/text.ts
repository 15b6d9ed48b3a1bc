import { isBlank, sliceText } from '../text/lines.ts'
import { sliceSentences } from '../text/sentences.ts'
import { overlapPieces, reserveOverlap } from './overlap.ts'
import type { ChunkSizes, Piece } from './piece.ts'

/** Cuts a line into slices of at most `size` code units; joined they are the line. */
export type LineSlicer = (line: string, size: number) => string[]

/** Cuts a text by {@link cutLines}, with overlap between pieces if the sizes ask for it. */
export function cutText(lines: readonly string[], sizes: ChunkSizes): Piece[] {
  const { overlapChars = 0 } = sizes
  if (overlapChars === 0) return cutLines(lines, sizes)
  return overlapPieces(lines, cutLines(lines, reserveOverlap(sizes), 1, sliceSentences), { sizes })
}

/**
 * Cuts lines at blank lines once the target is reached, and before the cap at any line. A single line longer than the cap becomes slices
 * that share its line number.
 */
export function cutLines(
  lines: readonly string[],
  sizes: ChunkSizes,
  firstLine = 1,
  slice: LineSlicer = sliceText,
): Piece[] {
  const pieces: Piece[] = []
  let start = 0
  let size = 0

  /** Closes the buffer `[start, end)`. Blank lines at its beginning extend the piece before them. */
  const flush = (end: number) => {
    while (start < end && isBlank(lines[start] ?? '')) start++
    const last = pieces.at(-1)
    if (last !== undefined) pieces[pieces.length - 1] = { ...last, endLine: firstLine + start - 1 }
    if (start < end) {
      const content = lines.slice(start, end).join('\n').trim()
      pieces.push({ startLine: firstLine + start, endLine: firstLine + end - 1, content })
    }
    start = end
    size = 0
  }

  lines.forEach((line, i) => {
    const blank = isBlank(line)
    if (!blank && size > 0 && size + line.length > sizes.maxChars) flush(i)
    if (!blank && line.length > sizes.maxChars) {
      flush(i)
      let column = 0
      for (const part of slice(line, sizes.maxChars)) {
        const content = part.trim()
        const startColumn = column + part.length - part.trimStart().length
        if (content !== '') pieces.push({ startLine: firstLine + i, endLine: firstLine + i, content, startColumn })
        column += part.length
      }
      start = i + 1
      return
    }
    if (!blank || size > 0) size += line.length + 1
    if (size >= sizes.maxChars || (blank && size >= sizes.targetChars)) flush(i + 1)
  })
  flush(lines.length)
  return pieces
}
