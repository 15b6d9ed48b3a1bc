import { isBlank, sliceText } from '../text/lines.ts'
import type { ChunkSizes, Piece } from './piece.ts'

/**
 * Cuts lines at blank lines once the target is reached, and before the cap wherever that is.
 * A single line longer than the cap becomes slices that share its line number.
 */
export function cutText(lines: readonly string[], sizes: ChunkSizes, firstLine = 1): Piece[] {
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
      for (const slice of sliceText(line, sizes.maxChars)) {
        const content = slice.trim()
        if (content !== '') pieces.push({ startLine: firstLine + i, endLine: firstLine + i, content })
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
