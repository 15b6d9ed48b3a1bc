import { type Block, parseBlocks } from '../markdown/blocks.ts'
import { closesFence, continueQuote } from '../markdown/fences.ts'
import { clipText, isBlank, sliceText } from '../text/lines.ts'
import { sliceSentences } from '../text/sentences.ts'
import { AtomicLines, overlapPieces, reserveOverlap } from './overlap.ts'
import { type ChunkSizes, MAX_HEADING_CHARS, type Piece } from './piece.ts'
import { cutLines, type LineSlicer } from './text.ts'

/** Cuts Markdown by {@link cutSections}, with overlap between the pieces of a section if the sizes ask for it. */
export function cutMarkdown(lines: readonly string[], sizes: ChunkSizes, maxPieces?: number): Piece[] {
  const { overlapChars = 0 } = sizes
  if (overlapChars === 0) return cutSections(lines, sizes, maxPieces)
  const sectionStarts = new Set<number>()
  const atomicLines = new AtomicLines()
  atomicLines.add(0, frontMatterEnd(lines))
  const pieces = cutSections(lines, sizes, maxPieces, (block, piece) => {
    if (opensSection(block)) sectionStarts.add(piece)
    atomicLines.addBlock(block)
  })
  return overlapPieces(lines, pieces, { sizes, sectionStarts, atomicLines })
}

/**
 * Cuts Markdown at its headings. A section that fits the cap stays whole; a longer one is cut between blocks near the target. A block that
 * fits with its heading is never split; a larger fence or table is split at line ends, with its opening and closing lines or its header rows repeated. After
 * `maxPieces` the rest of the file is not read.
 */
function cutSections(
  lines: readonly string[],
  sizes: ChunkSizes,
  maxPieces: number = Number.POSITIVE_INFINITY,
  /** Called for every block; for a block that opens a section, `piece` is the index of the section's first piece. */
  onBlock: (block: Block, piece: number) => void = () => {},
): Piece[] {
  const pieces: Piece[] = []
  const ancestry: Block[] = []
  let headingPath: readonly string[] = []
  /** Blank lines up to the next piece belong to the previous one, even if they are inside a Markdown block. */
  const extendLast = (endLine: number) => {
    const last = pieces.at(-1)
    if (last !== undefined && last.endLine < endLine) pieces[pieces.length - 1] = { ...last, endLine }
  }
  const section = new SectionCutter(lines, sizes, (piece) => {
    extendLast(piece.startLine - 1)
    pieces.push({ ...piece, headingPath })
  })

  const bodyStart = frontMatterEnd(lines)
  if (bodyStart > 0) section.add(plainBlock(0, bodyStart))
  for (const block of parseBlocks(lines, bodyStart)) {
    if (opensSection(block)) {
      section.close()
      while ((ancestry.at(-1)?.level ?? 0) >= block.level) ancestry.pop()
      ancestry.push(block)
      headingPath = ancestry.map((heading) => clipText(heading.text, MAX_HEADING_CHARS))
    }
    onBlock(block, pieces.length)
    section.add(block)
    if (pieces.length >= maxPieces) return pieces
  }
  section.close()
  extendLast(lines.length)
  return pieces
}

function opensSection({ type, text }: Block): boolean {
  return type === 'heading' && text !== ''
}

/** Neighboring blocks that become one piece, or one block that becomes several. */
interface Group {
  /** The first block; an oversized group has no other. */
  readonly block: Block
  readonly start: number
  end: number
  /** Length with every line end and blank line. */
  size: number
  readonly isOversized: boolean
}

/** Turns the blocks of one section after the other into pieces, and keeps only the open blocks in memory. */
class SectionCutter {
  readonly #lines: readonly string[]
  readonly #sizes: ChunkSizes
  /** Sizes for the pieces of a section that exceeds the cap. */
  readonly #partSizes: ChunkSizes
  readonly #slice: LineSlicer
  readonly #emit: (piece: Piece) => void
  /** The section so far, as long as it fits the cap. */
  #blocks: Block[] = []
  /** Length of `#blocks` with every line end and blank line. */
  #size = 0
  /** The last groups of a section that does not fit. */
  #groups: Group[] = []

  constructor(lines: readonly string[], sizes: ChunkSizes, emit: (piece: Piece) => void) {
    this.#lines = lines
    this.#sizes = sizes
    this.#partSizes = reserveOverlap(sizes)
    this.#slice = this.#partSizes === sizes ? sliceText : sliceSentences
    this.#emit = emit
  }

  add(block: Block): void {
    const isShort = this.#groups.length === 0
    if (isShort && this.#size + measure(this.#lines, block.start, block.end) <= this.#sizes.maxChars) {
      this.#blocks.push(block)
      this.#size += this.#fullSize(block)
      return
    }
    for (const waiting of this.#blocks) this.#addToGroups(waiting)
    this.#blocks = []
    this.#addToGroups(block)
    // Only the last two groups can still change: `close` joins a short tail to the group before it.
    for (const group of this.#groups.splice(0, this.#groups.length - 2)) this.#emitGroup(group)
  }

  /** Ends the section. */
  close(): void {
    const first = this.#blocks[0]
    const last = this.#blocks.at(-1)
    if (first !== undefined && last !== undefined) this.#emitLines(first.start, last.end)
    const [before, tail] = this.#groups
    if (before !== undefined && tail !== undefined && this.#isShortTail(before, tail)) {
      before.end = tail.end
      this.#groups.pop()
    }
    for (const group of this.#groups) this.#emitGroup(group)
    this.#blocks = []
    this.#size = 0
    this.#groups = []
  }

  /** Collects neighboring blocks up to the target; a block that exceeds the cap is a group of its own, with the heading before it. */
  #addToGroups(whole: Block): void {
    for (const block of this.#isOversized(whole) && whole.leaves.length > 1 ? whole.leaves : [whole]) {
      const last = this.#groups.at(-1)
      const heading = this.#openHeading
      const isLarge = this.#isOversized(block)
      const canJoin = last !== undefined && !last.isOversized && !isLarge
      const size = this.#fullSize(block)
      if (heading !== undefined && isLarge) {
        this.#groups.pop()
        const { start } = heading
        const leaves = block.leaves.map((leaf, i) => (i === 0 ? { ...leaf, start } : leaf))
        this.#groups.push({ ...heading, block: { ...block, start, leaves }, end: block.end, isOversized: true })
      } else if (canJoin && (last === heading || this.#hasRoom(last, block))) {
        last.end = block.end
        last.size += size
      } else {
        this.#groups.push({ block, start: block.start, end: block.end, size, isOversized: isLarge })
      }
    }
  }

  #hasRoom({ size }: Group, block: Block): boolean {
    const { maxChars, targetChars } = this.#partSizes
    return size < targetChars && size + measure(this.#lines, block.start, block.end) <= maxChars
  }

  /** The heading that the next block stays with. */
  get #openHeading(): Group | undefined {
    const last = this.#groups.at(-1)
    const isAlone = last?.block.type === 'heading' && last.end === last.block.end
    return isAlone && last.size <= this.#partSizes.maxChars / 4 ? last : undefined
  }

  #isShortTail(before: Group, tail: Group): boolean {
    if (before.isOversized || tail.isOversized) return false
    return tail.size < this.#sizes.targetChars / 4 && before.size + tail.size <= this.#sizes.maxChars
  }

  #emitGroup(group: Group): void {
    if (!group.isOversized) this.#emitLines(group.start, group.end)
    else for (const piece of splitBlock(this.#lines, group.block, this.#partSizes, this.#slice)) this.#emit(piece)
  }

  #emitLines(start: number, end: number): void {
    for (const piece of joinLines(this.#lines, start, end)) this.#emit(piece)
  }

  #isOversized(block: Block): boolean {
    const headingChars = this.#openHeading?.size ?? 0
    return headingChars + measure(this.#lines, block.start, block.end) > this.#sizes.maxChars
  }

  #fullSize(block: Block): number {
    let size = 0
    for (let i = block.start; i < block.end; i++) size += (this.#lines[i]?.length ?? 0) + 1
    return size
  }
}

function splitBlock(lines: readonly string[], block: Block, sizes: ChunkSizes, slice: LineSlicer): Piece[] {
  const leaf = block.leaves[0] ?? block
  const framed =
    leaf.type === 'fence'
      ? splitFence(lines, leaf, sizes)
      : leaf.type === 'table'
        ? splitTable(lines, leaf, sizes)
        : undefined
  return (
    framed ?? cutLines(lines.slice(block.start, block.end), sizes, block.start + 1, slice, block.open - block.start)
  )
}

function splitFence(lines: readonly string[], block: Block, sizes: ChunkSizes): Piece[] | undefined {
  const opening = lines[block.open] ?? ''
  const marker = opening.indexOf(block.marker)
  const prefix = continueQuote(opening.slice(0, marker))
  const last = lastContentLine(lines, block.open, block.close)
  const end = lines[last] ?? ''
  const isClosed = last > block.open && closesFence(end, { indent: prefix, marker: block.marker, info: '' })
  // The closing marker may be longer than the opening one.
  const closer = isClosed ? end.replace(/[\s>]+/g, '') : block.marker
  return splitFramed(lines, sizes, block, {
    bodyStart: block.open + 1,
    bodyEnd: isClosed ? last : last + 1,
    head: prefix + opening.slice(marker),
    firstFoot: `\n${prefix}${closer}`,
    // The indentation is dropped with the list item: without the item, a line indented by four spaces does not close a fence.
    foot: `\n${isBlank(prefix) ? '' : prefix}${closer}`,
  })
}

function splitTable(lines: readonly string[], block: Block, sizes: ChunkSizes): Piece[] | undefined {
  const header = lines[block.open] ?? ''
  const delimiter = lines[block.open + 1] ?? ''
  return splitFramed(lines, sizes, block, {
    bodyStart: block.open + 2,
    bodyEnd: lastContentLine(lines, block.open, block.close) + 1,
    head: `${header.replace(/^(?:[\s>]|[-*+]\s|\d+[.)]\s)+/, continueQuote)}\n${delimiter}`,
    firstFoot: '',
    foot: '',
  })
}

interface Frame {
  readonly bodyStart: number
  readonly bodyEnd: number
  /** Text that begins every part but the first; the first part has the lines up to the body. */
  readonly head: string
  /** Text that ends the first part. */
  readonly firstFoot: string
  /** Text that ends every later part. */
  readonly foot: string
}

/** Cuts the body of a fence or table into parts that each carry the frame; undefined when the frame takes more than half of a part. */
function splitFramed(
  lines: readonly string[],
  sizes: ChunkSizes,
  block: Block,
  { bodyStart, bodyEnd, head, firstFoot, foot }: Frame,
): Piece[] | undefined {
  const firstHead = lines.slice(block.start, bodyStart).join('\n').trimStart()
  const rest = lines.slice(block.close, block.end).join('\n').trimEnd()
  const tail = rest === '' ? '' : `\n${rest}`
  const longestFoot = Math.max(firstFoot.length, foot.length) + tail.length
  const maxBodyChars = sizes.maxChars - Math.max(firstHead.length, head.length) - longestFoot - 1
  if (maxBodyChars < sizes.maxChars / 2) return undefined
  const target = Math.min(maxBodyChars, sizes.targetChars)
  const pieces: Piece[] = []
  let part: string[] = []
  let size = 0
  let startLine = firstContentLine(lines, block.start, block.open) + 1
  let lastLine = startLine
  const emit = (endLine: number, after = '') => {
    const isFirst = pieces.length === 0
    const text = [isFirst ? firstHead : head, ...part].join('\n').trim()
    const piece = { startLine, endLine, content: text + (isFirst ? firstFoot : foot) + after }
    pieces.push(isFirst ? piece : { ...piece, frame: { chars: head.trimStart().length, bodyLine: bodyStart + 1 } })
    part = []
    size = 0
  }
  for (let i = bodyStart; i < bodyEnd; i++) {
    const line = lines[i] ?? ''
    for (const slice of line === '' ? [''] : sliceText(line, maxBodyChars)) {
      // A blank line never opens a part: it ends the previous one, where it is trimmed.
      if (part.length > 0 && !isBlank(slice) && (size >= target || size + slice.length > maxBodyChars)) {
        emit(lastLine)
        startLine = i + 1
      }
      part.push(slice)
      size += slice.length + 1
      lastLine = i + 1
    }
  }
  emit(block.end, tail)
  return pieces
}

/** Length of the lines `[start, end)` once joined and trimmed at their end. */
function measure(lines: readonly string[], start: number, end: number): number {
  let size = -1
  const last = lastContentLine(lines, start, end)
  for (let i = start; i <= last; i++) size += (lines[i]?.length ?? 0) + 1
  return size
}

function joinLines(lines: readonly string[], start: number, end: number): Piece[] {
  const first = firstContentLine(lines, start, end)
  const content = lines.slice(first, end).join('\n').trim()
  return content === '' ? [] : [{ startLine: first + 1, endLine: end, content }]
}

/** The line after YAML (`---`) or TOML (`+++`) front matter, or 0. */
function frontMatterEnd(lines: readonly string[]): number {
  const marker = lines[0]?.trimEnd()
  if (marker !== '---' && marker !== '+++') return 0
  let first = 1
  while (lines[first]?.startsWith('#') === true) first++
  if (!ENTRY.test(lines[first] ?? '')) return 0
  for (let i = first; i < lines.length; i++) {
    const line = lines[i]?.trimEnd() ?? ''
    if (line === marker || (marker === '---' && line === '...')) return i + 1
    if (line !== '' && isBlank(lines[i - 1] ?? '') && !ENTRY.test(line) && !FURTHER_ENTRY.test(line)) return 0
  }
  return 0
}

/** The first entry, a key or a table, distinguishes front matter from text after a thematic break; only comments may precede it. */
const ENTRY = /^(?:(?:"[^"]*"|'[^']*'|[\p{L}\p{N}_.-]+)\s*[:=]|\[)/u

/** Lines that may follow a blank line in front matter besides keys: a list item, an indented line, a comment, a closing bracket. */
const FURTHER_ENTRY = /^(?:-\s|\s|#|[\]}])/

function plainBlock(start: number, end: number): Block {
  return { type: 'other', start, end, open: start, close: end, level: 0, text: '', marker: '', leaves: [] }
}

function firstContentLine(lines: readonly string[], start: number, end: number): number {
  let first = start
  while (first < end && isBlank(lines[first] ?? '')) first++
  return first
}

function lastContentLine(lines: readonly string[], start: number, end: number): number {
  let last = end - 1
  while (last > start && isBlank(lines[last] ?? '')) last--
  return last
}
