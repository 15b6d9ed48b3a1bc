import { closeFences, closesFence, continueQuote, readFence } from '../markdown/fences.ts'
import { clipText, isBlank } from '../text/lines.ts'
import type { PassageBlock } from './passage-blocks.ts'

/** A part of a block that is valid Markdown on its own. */
export interface CutBlock {
  readonly text: string
  /** Its lines, from 0; the end is exclusive. */
  readonly start: number
  readonly end: number
}

/** Where a cut begins: at the chunk that was found. */
export interface CutStart {
  readonly line: number
  readonly content: string
}

/**
 * Cuts a block that is too large to show: a fence keeps its opening and closing lines, a table its header and whole rows, other text ends
 * after a line or a word. Undefined when no part fits.
 */
export function cutBlock(
  lines: readonly string[],
  block: PassageBlock,
  cutStart: CutStart,
  limit: number,
): CutBlock | undefined {
  switch (block.type) {
    case 'fence':
      return cutFence(lines, block, cutStart, limit)
    case 'table':
      return cutTable(lines, block, cutStart, limit)
    default:
      return cutText(lines, block, cutStart, limit)
  }
}

function cutFence(
  lines: readonly string[],
  block: PassageBlock,
  { line }: CutStart,
  limit: number,
): CutBlock | undefined {
  const opening = lines[block.start] ?? ''
  const fence = readFence(opening)
  if (fence === undefined) return undefined
  const closing = continueQuote(fence.indent) + fence.marker
  const isClosed = block.end > block.start + 1 && closesFence(lines[block.end - 1] ?? '', fence)
  const body = { start: Math.max(block.start + 1, line), end: isClosed ? block.end - 1 : block.end }
  const maxChars = limit - opening.length - closing.length - 2
  const part = takeLines(lines, body.start, body.end, maxChars)
  if (part === undefined) return undefined
  const start = body.start === block.start + 1 ? block.start : body.start
  return { text: `${opening}\n${part.text}\n${closing}`, start, end: part.end }
}

function cutTable(
  lines: readonly string[],
  block: PassageBlock,
  { line }: CutStart,
  limit: number,
): CutBlock | undefined {
  const head = lines.slice(block.start, block.start + 2).join('\n')
  const first = block.start + 2
  const from = Math.max(first, line)
  let end = from
  let text = head
  for (; end < block.end && text.length + (lines[end]?.length ?? 0) + 1 <= limit; end++) text += `\n${lines[end] ?? ''}`
  return end === from ? undefined : { text, start: from === first ? block.start : from, end }
}

function cutText(
  lines: readonly string[],
  block: PassageBlock,
  { line, content }: CutStart,
  limit: number,
): CutBlock | undefined {
  const from = Math.min(Math.max(block.start, line), block.end - 1)
  const first = lines[from] ?? ''
  // A line longer than a chunk was split: this finds the start of the matching chunk in it.
  const [begin = ''] = content.split('\n', 1)
  const at = first.length > limit ? startOfWord(first, Math.max(0, first.indexOf(begin.slice(0, 80)))) : 0
  const rest = [first.slice(at), ...lines.slice(from + 1, block.end)]
  const part = takeLines(rest, 0, rest.length, limit - (QUOTE.test(first) ? CLOSING_FENCE_CHARS : 0))
  return part && { text: QUOTE.test(first) ? closeFences(part.text) : part.text, start: from, end: from + part.end }
}

/** A chunk of a long line may begin inside a word; a passage begins with the next word. */
function startOfWord(line: string, at: number): number {
  if (at === 0 || line.charAt(at - 1) === ' ') return at
  const space = line.indexOf(' ', at)
  return space < 0 ? at : space + 1
}

/** The whole lines that fit; of a line that is too long itself, the words that fit. */
function takeLines(
  lines: readonly string[],
  start: number,
  end: number,
  limit: number,
): { readonly text: string; readonly end: number } | undefined {
  if (limit < 1) return undefined
  const first = lines[start] ?? ''
  if (first.length > limit) {
    const clipped = clipText(first, limit)
    const space = clipped.lastIndexOf(' ')
    const text = space > limit / 2 ? clipped.slice(0, space) : clipped
    return isBlank(text) ? undefined : { text, end: start + 1 }
  }
  let text = first
  let last = start + 1
  for (; last < end && text.length + (lines[last]?.length ?? 0) + 1 <= limit; last++) text += `\n${lines[last] ?? ''}`
  return { text, end: last }
}

const QUOTE = /^[ \t]*>/

/** Characters reserved for a line that closes a fence in a quote. */
const CLOSING_FENCE_CHARS = 16
