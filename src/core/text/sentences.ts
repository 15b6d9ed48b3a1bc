import { clipText } from './lines.ts'

/** The end of a sentence, with the closing marks and spaces after it; in scripts without spaces the mark alone ends it. */
const SENTENCE_END = /[.!?…]["'”’»)\]*_]*\s+|[。！？｡]["'”’」』）]*\s*/g
const SPACE = /\s+/g

/**
 * Cuts a line into slices of at most `size` code units: after a sentence, else after a word, else anywhere except inside a surrogate pair.
 * Joined, the slices are the line.
 */
export function sliceSentences(line: string, size: number): string[] {
  const slices: string[] = []
  for (let at = 0; at < line.length; ) {
    const longest = clipText(line.slice(at, at + size + 1), size)
    const end = at + longest.length < line.length ? findEnd(longest) : longest.length
    slices.push(longest.slice(0, end))
    at += end
  }
  return slices
}

/** Start of the last whole sentences of a text that fit into `size` code units; undefined if none fits. */
export function findLastSentences(text: string, size: number): number | undefined {
  return findTail(text, size, SENTENCE_END)
}

/** Start of the last words of a text that fit into `size` code units; undefined if none fits. */
export function findLastWords(text: string, size: number): number | undefined {
  return findTail(text, size, SPACE)
}

function findTail(text: string, size: number, end: RegExp): number | undefined {
  if (text.length <= size) return 0
  return listEnds(text, end).find((at) => at >= text.length - size && at < text.length)
}

/** A good end of a slice: not in its first half, so that no slice is tiny. */
function findEnd(text: string): number {
  const isLate = (end: number) => end > text.length / 2
  return listEnds(text, SENTENCE_END).findLast(isLate) ?? listEnds(text, SPACE).findLast(isLate) ?? text.length
}

function listEnds(text: string, end: RegExp): number[] {
  return Array.from(text.matchAll(end), (found) => found.index + found[0].length)
}
