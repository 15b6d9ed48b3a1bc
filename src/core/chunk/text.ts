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
 * that share its line number. The first `headLines` lines, a heading, stay with the beginning of the text after them, unless they fill more
 * than half of a piece.
 */
export function cutLines(
  lines: readonly string[],
  sizes: ChunkSizes,
  firstLine = 1,
  slice: LineSlicer = sliceText,
  headLines = 0,
): Piece[] {
  const pieces: Piece[] = []
  const textStart = lines.findIndex((line, i) => i >= headLines && !isBlank(line))
  const headChars = lines.slice(0, textStart).join('\n').length + 1
  /** The line before which nothing is cut. */
  const firstCut = headLines > 0 && headChars <= sizes.maxChars / 2 ? textStart : -1
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
    const room = i === firstCut ? sizes.maxChars - size : sizes.maxChars
    if (i > firstCut && !blank && size > 0 && size + line.length > sizes.maxChars) flush(i)
    if (!blank && line.length > room) {
      if (i !== firstCut) flush(i)
      while (isBlank(lines[start] ?? '')) start++
      const [first = ''] = slice(line, room)
      let column = 0
      for (const part of [first, ...slice(line.slice(first.length), sizes.maxChars)]) {
        const content = [...lines.slice(start, i), part].join('\n').trim()
        const startColumn = start < i ? 0 : column + part.length - part.trimStart().length
        if (content !== '') pieces.push({ startLine: firstLine + start, endLine: firstLine + i, content, startColumn })
        column += part.length
        start = i
      }
      start = i + 1
      size = 0
      return
    }
    if (!blank || size > 0) size += line.length + 1
    if (i >= firstCut && (size >= sizes.maxChars || (blank && size >= sizes.targetChars))) flush(i + 1)
  })
  flush(lines.length)
  return pieces
}
