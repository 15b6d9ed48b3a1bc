import { CHARS_PER_TOKEN, estimateTokens } from '../text/estimate.ts'
import { isBlank, splitLines } from '../text/lines.ts'
import { growRun, type IndexRun, type IsFree, type Region, rangeOf, sizeOf, standaloneChars } from './grow-run.ts'
import { createLineStarts, type LineStarts } from './line-starts.ts'
import { type PassageBlock, scanBlocks } from './passage-blocks.ts'

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

/** A section that fits, with the length of its heading path and the index of its last chunk. */
interface FoundSection extends LineRange {
  readonly depth: number
  readonly last: number
}

/** Chunks to consider on each side of a hit in a long section. */
const NEIGHBORS = 6

/** Turns hits of one page into readable passages. Only the sections of these hits are parsed. */
export class PassageGrower {
  readonly #markdown: string
  readonly #chunks: readonly PassageSpan[]
  readonly #startOf: LineStarts
  readonly #regions = new Map<number, Region>()

  constructor({ markdown, chunks }: PassagePage) {
    this.#markdown = markdown
    this.#chunks = chunks
    this.#startOf = createLineStarts(markdown)
  }

  /** Grows a hit, without entering the lines in `taken`. */
  grow(hit: PassageHit, limits: PassageBudget, taken: readonly LineRange[]): GrowResult {
    const { chunkIndex: index } = hit
    const span = this.#chunks[index]
    if (span === undefined) return 'shown'
    const isFree: IsFree = (range) => !taken.some((other) => overlaps(other, range))
    const region = this.#regionOf(index, hit.isMarkdown)
    const grown = growRun(region, span, hit, limits, isFree)
    if (grown === 'shown' || grown === 'too-large') return grown
    if ('cut' in grown) return grown.cut
    const limit = Math.min(limits.target, limits.remaining) * CHARS_PER_TOKEN
    const grownLines = rangeOf(region, grown.run)
    const section = hit.isMarkdown ? this.#findSection(index, limit, isFree) : undefined
    if (section !== undefined && contains(section, grownLines)) {
      // A few words under their own heading, such as the name in a manual, say little without the sections beside them.
      const { last, depth } = section
      const parent = { last, depth: Math.max(0, depth - 1) }
      return this.#show(this.#addNextSections(section, parent, limit, standaloneChars(limit), isFree))
    }
    const isWhole =
      grown.run.last === region.blocks.length - 1 && !isSamePath(this.#chunks, region.last, region.last + 1)
    const hasFewLines = grownLines.endLine - grownLines.startLine < 2
    const isShort = (hasFewLines || sizeOf(region, grown.run) < limit / 2) && hit.isMarkdown
    const below = { last: region.last, depth: this.#chunks[region.last]?.headingPath.length ?? 0 }
    const range = isWhole && isShort ? this.#addNextSections(grownLines, below, limit, limit, isFree) : grownLines
    return this.#show(range, false, grown.describedSignature)
  }

  /**
   * Joins two passages with only blank lines between them; undefined when other lines are between them, or the result exceeds `maxTokens`.
   */
  join(a: GrownPassage, b: GrownPassage, maxTokens: number): GrownPassage | undefined {
    const [upper, lower] = a.startLine < b.startLine ? [a, b] : [b, a]
    const between = this.#readLines({ startLine: upper.endLine + 1, endLine: lower.startLine - 1 })
    if (upper.isCut || lower.isCut || between.some((line) => !isBlank(line))) return undefined
    const joined = this.#show({ startLine: upper.startLine, endLine: lower.endLine }, false, upper.describedSignature)
    return joined.tokens <= maxTokens ? joined : undefined
  }

  #readLines({ startLine, endLine }: LineRange): string[] {
    return splitLines(this.#markdown.slice(this.#startOf(startLine), this.#startOf(endLine + 1)))
  }

  /** Length of lines without the last line end; never less than the length of the shown text. */
  #measure({ startLine, endLine }: LineRange): number {
    const end = this.#startOf(endLine + 1)
    return end - this.#startOf(startLine) - (this.#markdown.charAt(end - 1) === '\n' ? 1 : 0)
  }

  #show(range: LineRange, isCut = false, describedSignature: string | null = null): GrownPassage {
    const text = this.#readLines(range).join('\n')
    const { startLine, endLine } = range
    return { startLine, endLine, text, tokens: estimateTokens(text), isCut, describedSignature }
  }

  #readRegion(first: number, last: number, isMarkdown: boolean): Region {
    const startLine = this.#chunks[first]?.startLine ?? 1
    const lines = this.#readLines({ startLine, endLine: this.#chunks[last]?.endLine ?? startLine })
    const offset = startLine - 1
    const spans = this.#chunks.slice(first, last + 1)
    const blocks = isMarkdown ? scanBlocks(lines) : spans.map((span) => spanBlock(span, offset, lines))
    return { first, last, offset, lines, blocks, lengths: sumLengths(lines) }
  }

  /** The neighborhood of a chunk in a long section, from the start of a block; undefined when that start cannot be found. */
  #readNeighborhood(index: number, whole: IndexRun): Region | undefined {
    let first = Math.max(whole.first, index - NEIGHBORS)
    const last = Math.min(whole.last, index + NEIGHBORS)
    while (first > whole.first && !isBlank(this.#readLines(lineBefore(this.#chunks[first])).join(''))) first--
    const before = this.#markdown.slice(
      this.#startOf(this.#chunks[whole.first]?.startLine ?? 1),
      this.#startOf(this.#chunks[first]?.startLine ?? 1),
    )
    if (before.includes('```') || before.includes('~~~')) return undefined
    const region = this.#readRegion(first, last, true)
    if (last === whole.last) return region
    // The last block may go on after the last line that was read.
    const lastBlock = region.blocks.at(-1)
    const isHit = lastBlock !== undefined && region.offset + lastBlock.start < (this.#chunks[index]?.endLine ?? 0)
    return isHit || lastBlock?.type === 'fence' ? undefined : { ...region, blocks: region.blocks.slice(0, -1) }
  }

  #regionOf(index: number, isMarkdown: boolean): Region {
    const whole = findRun(this.#chunks, index, this.#chunks[index]?.headingPath.length ?? 0, true)
    const isLong = isMarkdown && whole.last - whole.first > 2 * NEIGHBORS
    const known = this.#regions.get(whole.first)
    if (known !== undefined) return known
    const region =
      (isLong ? this.#readNeighborhood(index, whole) : undefined) ??
      this.#readRegion(whole.first, whole.last, isMarkdown)
    if (region.first === whole.first && region.last === whole.last) this.#regions.set(whole.first, region)
    return region
  }

  /** The section around a chunk with all its subsections, or a wider one if that is short; undefined when none fits. */
  #findSection(index: number, limit: number, isFree: IsFree): FoundSection | undefined {
    let found: FoundSection | undefined
    for (let depth = this.#chunks[index]?.headingPath.length ?? 0; depth >= 0; depth--) {
      const { first, last } = findRun(this.#chunks, index, depth, false)
      const range = withoutBlankEnd(this.#startOf, this.#markdown, spanOf(this.#chunks, first, last))
      const maxChars = found === undefined ? limit : 2 * standaloneChars(limit)
      // Several headings of the first level may be several pages of a document.
      const hasSeveralTitles = depth === 0 && this.#chunks[first]?.headingPath[0] !== this.#chunks[last]?.headingPath[0]
      if (this.#measure(range) > maxChars || !isFree(range) || (found !== undefined && hasSeveralTitles)) break
      found = { ...range, depth, last }
      if (this.#measure(range) >= standaloneChars(limit)) break
    }
    return found
  }

  /** Extends lines by the next sections that share the headings down to `depth`: to at least `minChars` characters, at most to `limit`. */
  #addNextSections(
    range: LineRange,
    { last, depth }: Pick<FoundSection, 'last' | 'depth'>,
    limit: number,
    minChars: number,
    isFree: IsFree,
  ): LineRange {
    const path = this.#chunks[last]?.headingPath ?? []
    let grown = range
    for (let next = last + 1; next < this.#chunks.length && this.#measure(grown) < minChars; ) {
      if (!startsWith(this.#chunks[next]?.headingPath ?? [], path, depth)) break
      const run = findRun(this.#chunks, next, this.#chunks[next]?.headingPath.length ?? 0, true)
      const { endLine } = withoutBlankEnd(this.#startOf, this.#markdown, spanOf(this.#chunks, next, run.last))
      const wider = { startLine: range.startLine, endLine }
      if (this.#measure(wider) > limit || !isFree({ startLine: grown.endLine + 1, endLine })) break
      grown = wider
      next = run.last + 1
    }
    return grown
  }
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

/** Whether two ranges share a line. */
export function overlaps(a: LineRange, b: LineRange): boolean {
  return a.startLine <= b.endLine && b.startLine <= a.endLine
}

function contains(outer: LineRange, inner: LineRange): boolean {
  return outer.startLine <= inner.startLine && inner.endLine <= outer.endLine
}
