import { CHARS_PER_TOKEN, estimateTokens } from '../text/estimate.ts'
import { findDefinitions } from './definitions.ts'
import type { PassageBlock } from './passage-blocks.ts'
import { cutBlock } from './passage-cut.ts'
import type { GrownPassage, LineRange, PassageBudget, PassageHit, PassageSpan } from './passages.ts'

/** The part of a page under one heading, without the parts under headings below it. */
export interface Region {
  /** Indexes of its first and last chunk. */
  readonly first: number
  readonly last: number
  /** Number of lines of the page before the region. */
  readonly offset: number
  readonly lines: readonly string[]
  readonly blocks: readonly PassageBlock[]
  /** Length of the lines before each line, with their ends. */
  readonly lengths: Uint32Array
}

/** Tests whether lines of a page have not been shown yet. */
export type IsFree = (range: LineRange) => boolean

/** Consecutive blocks or chunks by index, the last one included. */
export interface IndexRun {
  readonly first: number
  readonly last: number
}

/** A whole definition or section of this size can be understood without its surroundings. */
const STANDALONE_CHARS = 600

export function standaloneChars(limit: number): number {
  return Math.min(STANDALONE_CHARS, limit / 2)
}

/** Outcome for a hit within its region. */
type GrownRun =
  | { readonly run: IndexRun; readonly describedSignature: string | null }
  | { readonly cut: GrownPassage }
  | 'shown'
  | 'too-large'

export function growRun(
  region: Region,
  span: PassageSpan,
  hit: PassageHit,
  limits: PassageBudget,
  isFree: IsFree,
): GrownRun {
  const { blocks } = region
  const isBlockFree = (index: number) =>
    index >= 0 && index < blocks.length && isFree(rangeOf(region, { first: index, last: index }))
  const chunkRun = blocksOf(region, span)
  const candidates = listIndexes(chunkRun).filter(isBlockFree)
  const countWords = createWordCount(region, span, hit.terms)
  const focus = findFocus(region, candidates, countWords)
  if (focus === undefined) return 'shown'
  const allowed = { first: focus, last: focus }
  const isInReach = (first: number, last: number) => sizeOf(region, { first, last }) <= limits.max * CHARS_PER_TOKEN
  while (isBlockFree(allowed.first - 1) && isInReach(allowed.first - 1, focus)) allowed.first--
  while (isBlockFree(allowed.last + 1) && isInReach(focus, allowed.last + 1)) allowed.last++

  const charsLeft = limits.remaining * CHARS_PER_TOKEN
  const focusRun = { first: focus, last: focus }
  if (sizeOf(region, focusRun) > limits.budget * CHARS_PER_TOKEN) {
    const cut = cutPassage(region, focus, span, hit, Math.min(limits.target * CHARS_PER_TOKEN, charsLeft))
    return cut === undefined ? 'too-large' : { cut }
  }
  const wanted = addNeededBlocks(region, focusRun, allowed, limits.max * CHARS_PER_TOKEN)
  // The rest of the budget is not filled with text that cannot be understood alone.
  if (sizeOf(region, wanted) > charsLeft && limits.remaining < limits.budget) return 'too-large'
  const maxChars = Math.min(limits.max * CHARS_PER_TOKEN, charsLeft)
  const needed = addNeededBlocks(region, focusRun, allowed, maxChars)
  const whole = joinRuns(needed, clipRun(narrowToFocus(region, chunkRun, focus, countWords), allowed))
  const target = Math.min(limits.target * CHARS_PER_TOKEN, charsLeft)
  const chunk = sizeOf(region, whole) <= maxChars ? whole : addNeighbors(region, needed, whole, target)
  const run = dropTrailingLeadIns(region, addNeighbors(region, chunk, allowed, target), focus)
  return { run, describedSignature: findDescribedSignature(region, run, focus) }
}

/**
 * Narrows a chunk that begins with the end of one item or definition and continues with another to the part with the focus. A chunk
 * with several definitions starts at the matching one, unless those before it have about the same number of query words.
 */
function narrowToFocus(
  { blocks }: Region,
  chunkRun: IndexRun,
  focus: number,
  countWords: (index: number) => number,
): IndexRun {
  const isOwn = (index: number) =>
    rootOf(blocks, index) >= chunkRun.first || rootOf(blocks, index) === rootOf(blocks, focus)
  const first = listIndexes({ first: chunkRun.first, last: focus }).find(isOwn) ?? focus
  const signature = findSignature(blocks, focus) ?? -1
  const isBestMatch = listIndexes({ first, last: signature - 1 }).every(
    (index) => countWords(index) * 2 < countWords(focus),
  )
  if (signature > first && isBestMatch) return { first: signature, last: chunkRun.last }
  if (blocks[first]?.isLeadIn === true) return { first, last: chunkRun.last }
  const next = listIndexes({ first, last: focus }).find((index) => blocks[index]?.isSignature === true)
  return { first: next ?? first, last: chunkRun.last }
}

/** Adds the blocks that a run needs to be readable: the blocks it leads to, the item it continues, the signature it describes. */
function addNeededBlocks(region: Region, run: IndexRun, allowed: IndexRun, maxChars: number): IndexRun {
  const { blocks } = region
  let { first, last } = run
  const fits = (from: number, to: number) =>
    from >= allowed.first && to <= allowed.last && sizeOf(region, { first: from, last: to }) <= maxChars
  while (blocks[last]?.isLeadIn === true && fits(first, last + 1)) last++
  const opener = rootOf(blocks, first)
  if (fits(opener, last)) first = opener
  const signature = findSignature(blocks, first)
  if (signature !== undefined && fits(signature, last)) first = signature
  while (needsPreviousBlock(blocks, first) && fits(first - 1, last)) first--
  return { first, last }
}

/** Whether a block says little without the previous one. A definition does not need a sentence that announces a list of definitions. */
function needsPreviousBlock(blocks: readonly PassageBlock[], index: number): boolean {
  const before = blocks[index - 1]
  if (before?.isLeadIn !== true) return false
  return blocks[index]?.isSignature !== true || before.isSignature || before.type === 'heading'
}

/** The nearest signature at or above a block without a heading between them. */
function findSignature(blocks: readonly PassageBlock[], from: number): number | undefined {
  for (let index = from; index >= 0; index--) {
    if (blocks[index]?.isSignature === true) return index
    if (blocks[index]?.type === 'heading') return undefined
  }
  return undefined
}

/** The block that opens the outermost list item of a block; the block itself when it is not in one. */
function rootOf(blocks: readonly PassageBlock[], from: number): number {
  let index = from
  for (let parent = blocks[index]?.parent ?? -1; parent >= 0; parent = blocks[index]?.parent ?? -1) index = parent
  return index
}

/**
 * Adds neighboring blocks as long as they fit: first back to the block that opens the text, then forward. At the start of another
 * definition it stops once the text has some size, because the next definition answers another question.
 */
function addNeighbors(region: Region, run: IndexRun, allowed: IndexRun, limit: number): IndexRun {
  const { blocks } = region
  let { first, last } = run
  const fits = (from: number, to: number) =>
    from >= allowed.first && to <= allowed.last && sizeOf(region, { first: from, last: to }) <= limit
  for (;;) {
    const startsText = blocks[first]?.type === 'heading' || blocks[first]?.isSignature === true
    const above = rootOf(blocks, first - 1)
    const below = findLeadInEnd(blocks, last + 1)
    const isEnough = blocks[last + 1]?.isSignature === true && sizeOf(region, { first, last }) >= standaloneChars(limit)
    if (!startsText && fits(above, last)) first = above
    else if (!isEnough && fits(first, below)) last = below
    else return { first, last }
  }
}

/** A run without trailing blocks that only lead to the next ones, such as the name of a definition that is not shown. */
function dropTrailingLeadIns({ blocks }: Region, { first, last }: IndexRun, focus: number): IndexRun {
  let end = last
  if (last < blocks.length - 1) while (end > focus && blocks[end]?.isLeadIn === true) end--
  return { first, last: end }
}

/** The last block of the group that begins at a block: a lead-in includes the next block. */
function findLeadInEnd(blocks: readonly PassageBlock[], from: number): number {
  let index = from
  while (blocks[index]?.isLeadIn === true && index + 1 < blocks.length) index++
  return index
}

/** The signature above a run that does not include it. Only calls count: other code on its own line may be an example. */
function findDescribedSignature(region: Region, run: IndexRun, focus: number): string | null {
  const index = findSignature(region.blocks, focus)
  if (index === undefined || index >= run.first) return null
  const [definition] = findDefinitions(region.lines[region.blocks[index]?.start ?? 0] ?? '')
  return definition?.signature.includes('(') === true ? definition.signature : null
}

/** The block with the most words of the question; words in a block that states a name count double. */
function findFocus(
  { blocks }: Region,
  candidates: readonly number[],
  countWords: (index: number) => number,
): number | undefined {
  if (candidates.length < 2) return candidates[0]
  let best: number | undefined
  let bestCount = -1
  for (const index of candidates) {
    const found = countWords(index) * (blocks[index]?.isSignature === true ? 2 : 1)
    if (found > bestCount) {
      best = index
      bestCount = found
    }
  }
  return best
}

/** Counts the words of the question in the lines that a chunk and a block share. */
function createWordCount(
  { lines, blocks, offset }: Region,
  { startLine, endLine }: LineRange,
  terms: readonly string[],
): (index: number) => number {
  const from = startLine - 1 - offset
  const to = endLine - offset
  return (index) => {
    const { start = 0, end = 0 } = blocks[index] ?? {}
    const text = lines.slice(Math.max(start, from), Math.min(end, to)).join('\n').toLowerCase()
    return terms.filter((term) => text.includes(term)).length
  }
}

function cutPassage(
  region: Region,
  focus: number,
  span: PassageSpan,
  hit: PassageHit,
  limit: number,
): GrownPassage | undefined {
  const block = region.blocks[focus]
  const cut =
    block && cutBlock(region.lines, block, { line: span.startLine - 1 - region.offset, content: hit.content }, limit)
  if (cut === undefined) return undefined
  const { text, start, end } = cut
  const tokens = estimateTokens(text)
  const lines = { startLine: region.offset + start + 1, endLine: region.offset + end }
  return { ...lines, text, tokens, isCut: true, describedSignature: null }
}

/** Length of blocks when shown. */
export function sizeOf({ blocks, lengths }: Region, { first, last }: IndexRun): number {
  return (lengths[blocks[last]?.end ?? 0] ?? 0) - (lengths[blocks[first]?.start ?? 0] ?? 0) - 1
}

export function rangeOf({ blocks, offset }: Region, { first, last }: IndexRun): LineRange {
  return { startLine: offset + (blocks[first]?.start ?? 0) + 1, endLine: offset + (blocks[last]?.end ?? 0) }
}

/** The blocks that have lines in a range. */
function blocksOf({ blocks, offset }: Region, { startLine, endLine }: LineRange): IndexRun {
  const first = blocks.findIndex(({ end }) => offset + end >= startLine)
  const last = blocks.findLastIndex(({ start }) => offset + start < endLine)
  return { first: Math.max(0, first), last }
}

function listIndexes({ first, last }: IndexRun): number[] {
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => first + i)
}

function joinRuns(a: IndexRun, b: IndexRun): IndexRun {
  return { first: Math.min(a.first, b.first), last: Math.max(a.last, b.last) }
}

function clipRun(run: IndexRun, allowed: IndexRun): IndexRun {
  return { first: Math.max(run.first, allowed.first), last: Math.min(run.last, allowed.last) }
}
