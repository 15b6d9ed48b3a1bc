import type { Analyzer } from './analyzer.ts'

/** How a snippet is cut. */
export interface SnippetOptions {
  /** The tokenizer of the index that the terms come from. */
  readonly visitTokens: Analyzer['visitTokens']
  readonly findParts?: Analyzer['findParts']
  /** Approximate length of the snippet in UTF-16 units, without ellipses. @default 200 */
  readonly chars?: number
}

/** The position of a term in the text. */
export interface Match {
  readonly term: string
  readonly start: number
  readonly end: number
}

/** How far a cut may move from its ideal position to fall between words. */
const MAX_CUT_SHIFT = 30
/** Normalization can shift offsets. The text is tokenized in pieces of about this length, so that the shifts do not accumulate. */
const TOKENIZED_CHARS = 512

/**
 * The part of a text that shows the terms best: the window with the most distinct terms; among equals the one with the most matches, then
 * the first one. White space is collapsed, cuts are between words if possible, and `…` marks omitted text. A text without a match shows its
 * beginning.
 */
export function writeSnippet(text: string, terms: Iterable<string>, options: SnippetOptions): string {
  const { chars = 200, visitTokens, findParts } = options
  const line = text.replace(/\s+/g, ' ').trim()
  if (line.length <= chars) return line
  const [first, last] = findBestSpan(findMatches(line, new Set(terms), visitTokens, findParts), chars)
  const lead = Math.floor(Math.max(0, chars - (last - first)) / 3)
  const start = moveStart(line, Math.max(0, Math.min(first - lead, line.length - chars)), first)
  const end = moveEnd(line, Math.min(start + chars, line.length), last)
  return `${start > 0 ? '…' : ''}${line.slice(start, end).trim()}${end < line.length ? '…' : ''}`
}

/** The positions of the terms in a line, in order; an identifier and its parts overlap. */
export function findMatches(
  line: string,
  terms: ReadonlySet<string>,
  visitTokens: Analyzer['visitTokens'],
  findParts?: Analyzer['findParts'],
): Match[] {
  const matches: Match[] = []
  if (terms.size === 0) return matches
  const visit = (text: string, start: number): void =>
    visitTokens(text, (source, from, to, at) => {
      const term = source.slice(from, to)
      const end = Math.min(start + at + to - from, start + text.length)
      if (terms.has(term)) matches.push({ term, start: start + at, end })
    })
  for (let start = 0; start < line.length; ) {
    const space = line.indexOf(' ', start + TOKENIZED_CHARS)
    const end = Math.min(space < 0 ? line.length : space, start + 2 * TOKENIZED_CHARS)
    const piece = line.slice(start, end)
    for (const [from, to] of findParts?.(piece, terms) ?? [[0, piece.length]]) {
      visit(piece.slice(from, to), start + from)
    }
    start = end
  }
  return matches
}

/** Where the best run of matches that fits into `chars` begins and ends. */
function findBestSpan(matches: readonly Match[], chars: number): [start: number, end: number] {
  const counts = new Map<string, number>()
  let best: [number, number] = [0, 0]
  let bestDistinct = 0
  let bestCount = 0
  let left = 0
  matches.forEach(({ term, start, end }, right) => {
    counts.set(term, (counts.get(term) ?? 0) + 1)
    let leftmost = matches[left]
    while (leftmost && left < right && end - leftmost.start > chars) {
      const count = counts.get(leftmost.term) ?? 0
      if (count > 1) counts.set(leftmost.term, count - 1)
      else counts.delete(leftmost.term)
      leftmost = matches[++left]
    }
    const count = right - left + 1
    if (counts.size < bestDistinct || (counts.size === bestDistinct && count <= bestCount)) return
    bestDistinct = counts.size
    bestCount = count
    best = [leftmost?.start ?? start, end]
  })
  return best
}

/** Moves the start of a window forward to the next word, but not past `limit`. */
function moveStart(line: string, start: number, limit: number): number {
  if (start === 0 || line.charAt(start - 1) === ' ') return start
  const space = line.indexOf(' ', start)
  if (space >= 0 && space - start < MAX_CUT_SHIFT && space < limit) return space + 1
  return isInsideSurrogatePair(line, start) ? start + 1 : start
}

/** Moves the end of a window back to the end of a word, but not before `limit`. */
function moveEnd(line: string, end: number, limit: number): number {
  if (end === line.length || line.charAt(end) === ' ') return end
  const space = line.lastIndexOf(' ', end)
  if (end - space < MAX_CUT_SHIFT && space >= limit) return space
  return isInsideSurrogatePair(line, end) ? end - 1 : end
}

function isInsideSurrogatePair(line: string, i: number): boolean {
  return /^[\udc00-\udfff]$/.test(line.charAt(i)) && /^[\ud800-\udbff]$/.test(line.charAt(i - 1))
}
