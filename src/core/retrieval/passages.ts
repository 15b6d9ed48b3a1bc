import { CHARS_PER_TOKEN, estimateTokens } from '../text/estimate.ts'
import { isBlank, splitLines } from '../text/lines.ts'
import { findDefinitions } from './definitions.ts'
import { createLineStarts, type LineStarts } from './line-starts.ts'
import { type PassageBlock, scanBlocks } from './passage-blocks.ts'
import { cutBlock } from './passage-cut.ts'

/** A page, or a part of one that begins with a block, with the data for showing passages. */
export interface PassagePage {
  readonly markdown: string
  /** In the order of the page. */
  readonly chunks: readonly PassageSpan[]
}

/** Lines of a page, from 1, the last one included. */
export interface LineRange {
  readonly startLine: number
  readonly endLine: number
}

/** The position of a chunk in its page. */
export interface PassageSpan extends LineRange {
  readonly headingPath: readonly string[]
}

/** A chunk that was found, with the words that matched. */
export interface PassageHit {
  /** Index of the chunk among the chunks of the page. */
  readonly chunkIndex: number
  readonly content: string
  /** Whether the page is Markdown. Other text is shown in whole chunks. */
  readonly isMarkdown: boolean
  readonly terms: readonly string[]
}

/** How large a passage may become, in model tokens. */
export interface PassageBudget {
  /** Neighboring blocks are added up to this size. */
  readonly target: number
  /** Limit for the chunk and the context that it needs. */
  readonly max: number
  /** Remaining budget of the answer. */
  readonly remaining: number
  /** Budget of the whole answer. Only a block that is larger is ever cut. */
  readonly budget: number
}

/** A readable part of a page around a hit. */
export interface GrownPassage extends LineRange {
  readonly text: string
  readonly tokens: number
  readonly isCut: boolean
  /** The signature that the text describes, if it is too far above to be shown with it. */
  readonly describedSignature: string | null
}

/** Outcome for a hit: a passage, text that is already shown, or a text that does not fit. */
export type GrowResult = GrownPassage | 'shown' | 'too-large'

/** Turns hits of one page into readable passages. */
export interface PassageGrower {
  /** Grows a hit, without entering the lines in `taken`. */
  grow(hit: PassageHit, limits: PassageBudget, taken: readonly LineRange[]): GrowResult
  /**
   * Joins two passages with only blank lines between them; undefined when other lines are between them, or the result exceeds `maxTokens`.
   */
  join(a: GrownPassage, b: GrownPassage, maxTokens: number): GrownPassage | undefined
}

/** The part of a page under one heading, without the parts under headings below it. */
interface Region {
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

/** A section that fits, with the length of its heading path and the index of its last chunk. */
interface FoundSection extends LineRange {
  readonly depth: number
  readonly last: number
}

/** Tests whether lines of a page have not been shown yet. */
type IsFree = (range: LineRange) => boolean

/** Consecutive blocks or chunks by index, the last one included. */
interface IndexRun {
  readonly first: number
  readonly last: number
}

/** A whole definition or section of this size can be understood without its surroundings. */
const STANDALONE_CHARS = 600

function standaloneChars(limit: number): number {
  return Math.min(STANDALONE_CHARS, limit / 2)
}

/** Chunks to consider on each side of a hit in a long section. */
const NEIGHBORS = 6

/** Prepares a page for its hits. Only the sections of these hits are parsed. */
export function createPassageGrower({ markdown, chunks }: PassagePage): PassageGrower {
  const startOf = createLineStarts(markdown)
  const regions = new Map<number, Region>()

  const readLines = ({ startLine, endLine }: LineRange): string[] => {
    return splitLines(markdown.slice(startOf(startLine), startOf(endLine + 1)))
  }
  /** Length of lines without the last line end; never less than the length of the shown text. */
  const measure = ({ startLine, endLine }: LineRange): number => {
    const end = startOf(endLine + 1)
    return end - startOf(startLine) - (markdown.charAt(end - 1) === '\n' ? 1 : 0)
  }
  const show = (range: LineRange, isCut = false, describedSignature: string | null = null): GrownPassage => {
    const text = readLines(range).join('\n')
    const { startLine, endLine } = range
    return { startLine, endLine, text, tokens: estimateTokens(text), isCut, describedSignature }
  }

  const readRegion = (first: number, last: number, isMarkdown: boolean): Region => {
    const startLine = chunks[first]?.startLine ?? 1
    const lines = readLines({ startLine, endLine: chunks[last]?.endLine ?? startLine })
    const offset = startLine - 1
    const spans = chunks.slice(first, last + 1)
    const blocks = isMarkdown ? scanBlocks(lines) : spans.map((span) => spanBlock(span, offset, lines))
    return { first, last, offset, lines, blocks, lengths: sumLengths(lines) }
  }

  /** The neighborhood of a chunk in a long section, from the start of a block; undefined when that start cannot be found. */
  const readNeighborhood = (index: number, whole: IndexRun): Region | undefined => {
    let first = Math.max(whole.first, index - NEIGHBORS)
    const last = Math.min(whole.last, index + NEIGHBORS)
    while (first > whole.first && !isBlank(readLines(lineBefore(chunks[first])).join(''))) first--
    const before = markdown.slice(startOf(chunks[whole.first]?.startLine ?? 1), startOf(chunks[first]?.startLine ?? 1))
    if (before.includes('```') || before.includes('~~~')) return undefined
    const region = readRegion(first, last, true)
    if (last === whole.last) return region
    // The last block may go on after the last line that was read.
    const lastBlock = region.blocks.at(-1)
    const isHit = lastBlock !== undefined && region.offset + lastBlock.start < (chunks[index]?.endLine ?? 0)
    return isHit || lastBlock?.type === 'fence' ? undefined : { ...region, blocks: region.blocks.slice(0, -1) }
  }

  const regionOf = (index: number, isMarkdown: boolean): Region => {
    const whole = findRun(chunks, index, chunks[index]?.headingPath.length ?? 0, true)
    const isLong = isMarkdown && whole.last - whole.first > 2 * NEIGHBORS
    const known = regions.get(whole.first)
    if (known !== undefined) return known
    const region =
      (isLong ? readNeighborhood(index, whole) : undefined) ?? readRegion(whole.first, whole.last, isMarkdown)
    if (region.first === whole.first && region.last === whole.last) regions.set(whole.first, region)
    return region
  }

  /** The section around a chunk with all its subsections, or a wider one if that is short; undefined when none fits. */
  const findSection = (index: number, limit: number, isFree: IsFree): FoundSection | undefined => {
    let found: FoundSection | undefined
    for (let depth = chunks[index]?.headingPath.length ?? 0; depth >= 0; depth--) {
      const { first, last } = findRun(chunks, index, depth, false)
      const range = withoutBlankEnd(startOf, markdown, spanOf(chunks, first, last))
      const maxChars = found === undefined ? limit : 2 * standaloneChars(limit)
      // Several headings of the first level may be several pages of a document.
      const hasSeveralTitles = depth === 0 && chunks[first]?.headingPath[0] !== chunks[last]?.headingPath[0]
      if (measure(range) > maxChars || !isFree(range) || (found !== undefined && hasSeveralTitles)) break
      found = { ...range, depth, last }
      if (measure(range) >= standaloneChars(limit)) break
    }
    return found
  }

  /** Extends lines by the next sections that share the headings down to `depth`: to at least `minChars` characters, at most to `limit`. */
  const addNextSections = (
    range: LineRange,
    { last, depth }: Pick<FoundSection, 'last' | 'depth'>,
    limit: number,
    minChars: number,
    isFree: IsFree,
  ): LineRange => {
    const path = chunks[last]?.headingPath ?? []
    let grown = range
    for (let next = last + 1; next < chunks.length && measure(grown) < minChars; ) {
      if (!startsWith(chunks[next]?.headingPath ?? [], path, depth)) break
      const run = findRun(chunks, next, chunks[next]?.headingPath.length ?? 0, true)
      const { endLine } = withoutBlankEnd(startOf, markdown, spanOf(chunks, next, run.last))
      const wider = { startLine: range.startLine, endLine }
      if (measure(wider) > limit || !isFree({ startLine: grown.endLine + 1, endLine })) break
      grown = wider
      next = run.last + 1
    }
    return grown
  }

  return {
    grow(hit, limits, taken) {
      const { chunkIndex: index } = hit
      const span = chunks[index]
      if (span === undefined) return 'shown'
      const isFree: IsFree = (range) => !taken.some((other) => overlaps(other, range))
      const region = regionOf(index, hit.isMarkdown)
      const grown = growRun(region, span, hit, limits, isFree)
      if (grown === 'shown' || grown === 'too-large') return grown
      if ('cut' in grown) return grown.cut
      const limit = Math.min(limits.target, limits.remaining) * CHARS_PER_TOKEN
      const grownLines = rangeOf(region, grown.run)
      const section = hit.isMarkdown ? findSection(index, limit, isFree) : undefined
      if (section !== undefined && contains(section, grownLines)) {
        // A few words under their own heading, such as the name in a manual, say little without the sections beside them.
        const { last, depth } = section
        const parent = { last, depth: Math.max(0, depth - 1) }
        return show(addNextSections(section, parent, limit, standaloneChars(limit), isFree))
      }
      const isWhole = grown.run.last === region.blocks.length - 1 && !isSamePath(chunks, region.last, region.last + 1)
      const hasFewLines = grownLines.endLine - grownLines.startLine < 2
      const isShort = (hasFewLines || sizeOf(region, grown.run) < limit / 2) && hit.isMarkdown
      const below = { last: region.last, depth: chunks[region.last]?.headingPath.length ?? 0 }
      const range = isWhole && isShort ? addNextSections(grownLines, below, limit, limit, isFree) : grownLines
      return show(range, false, grown.describedSignature)
    },
    join(a, b, maxTokens) {
      const [upper, lower] = a.startLine < b.startLine ? [a, b] : [b, a]
      const between = readLines({ startLine: upper.endLine + 1, endLine: lower.startLine - 1 })
      if (upper.isCut || lower.isCut || between.some((line) => !isBlank(line))) return undefined
      const joined = show({ startLine: upper.startLine, endLine: lower.endLine }, false, upper.describedSignature)
      return joined.tokens <= maxTokens ? joined : undefined
    },
  }
}

/** Outcome for a hit within its region. */
type GrownRun =
  | { readonly run: IndexRun; readonly describedSignature: string | null }
  | { readonly cut: GrownPassage }
  | 'shown'
  | 'too-large'

function growRun(region: Region, span: PassageSpan, hit: PassageHit, limits: PassageBudget, isFree: IsFree): GrownRun {
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

/** The neighbors of a chunk whose heading paths agree with its own up to a depth, or exactly. */
function findRun(chunks: readonly PassageSpan[], index: number, depth: number, isExact: boolean): IndexRun {
  const path = chunks[index]?.headingPath ?? []
  const belongs = (at: number, neighbor: number) => {
    const chunk = chunks[at]
    if (chunk === undefined || !startsWith(chunk.headingPath, path, depth)) return false
    if (isExact && chunk.headingPath.length !== depth) return false
    // Chunks of JSON follow the sorted order of keys. Those that are not in line order are no neighbors.
    const [upper, lower] = at < neighbor ? [chunk, chunks[neighbor]] : [chunks[neighbor], chunk]
    return (upper?.endLine ?? 0) <= (lower?.startLine ?? 0)
  }
  let first = index
  let last = index
  while (belongs(first - 1, first)) first--
  while (belongs(last + 1, last)) last++
  return { first, last }
}

function startsWith(path: readonly string[], other: readonly string[], depth: number): boolean {
  if (path.length < depth) return false
  for (let i = 0; i < depth; i++) if (path[i] !== other[i]) return false
  return true
}

function isSamePath(chunks: readonly PassageSpan[], a: number, b: number): boolean {
  const path = chunks[a]?.headingPath ?? []
  const other = chunks[b]?.headingPath
  return other !== undefined && other.length === path.length && startsWith(other, path, path.length)
}

/** The line before a chunk. */
function lineBefore(span: PassageSpan | undefined): LineRange {
  const line = (span?.startLine ?? 1) - 1
  return { startLine: line, endLine: line }
}

function spanOf(chunks: readonly PassageSpan[], first: number, last: number): LineRange {
  return { startLine: chunks[first]?.startLine ?? 1, endLine: chunks[last]?.endLine ?? 1 }
}

function withoutBlankEnd(startOf: LineStarts, markdown: string, { startLine, endLine }: LineRange): LineRange {
  let last = endLine
  while (last > startLine && isBlank(markdown.slice(startOf(last), startOf(last + 1)))) last--
  return { startLine, endLine: last }
}

/** A chunk as one block, because it is shown as a whole. */
function spanBlock({ startLine, endLine }: LineRange, offset: number, lines: readonly string[]): PassageBlock {
  const start = startLine - 1 - offset
  let end = endLine - offset
  while (end > start + 1 && isBlank(lines[end - 1] ?? '')) end--
  return { type: 'text', start, end, parent: -1, isSignature: false, isLeadIn: false }
}

function sumLengths(lines: readonly string[]): Uint32Array {
  const lengths = new Uint32Array(lines.length + 1)
  lines.forEach((line, i) => {
    lengths[i + 1] = (lengths[i] ?? 0) + line.length + 1
  })
  return lengths
}

/** Length of blocks when shown. */
function sizeOf({ blocks, lengths }: Region, { first, last }: IndexRun): number {
  return (lengths[blocks[last]?.end ?? 0] ?? 0) - (lengths[blocks[first]?.start ?? 0] ?? 0) - 1
}

function rangeOf({ blocks, offset }: Region, { first, last }: IndexRun): LineRange {
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

function overlaps(a: LineRange, b: LineRange): boolean {
  return a.startLine <= b.endLine && b.startLine <= a.endLine
}

function contains(outer: LineRange, inner: LineRange): boolean {
  return outer.startLine <= inner.startLine && inner.endLine <= outer.endLine
}
