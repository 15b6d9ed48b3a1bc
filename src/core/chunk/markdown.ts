import { type Block, parseBlocks } from '../markdown/blocks.ts'
import { clipText, isBlank, sliceText } from '../text/lines.ts'
import { type ChunkSizes, MAX_HEADING_CHARS, type Piece } from './piece.ts'
import { cutText } from './text.ts'

/**
 * Cuts Markdown at its headings. A section that fits the cap stays whole; a longer one is cut between blocks near the
 * target. A block that fits is never split; a fence or table that does not is split at line ends, with its opening and
 * closing lines or its header rows repeated.
 */
export function cutMarkdown(lines: readonly string[], sizes: ChunkSizes): Piece[] {
  const pieces: Piece[] = []
  const ancestry: Block[] = []
  let section: Block[] = []
  let headingPath: readonly string[] = []
  const close = () => {
    for (const piece of cutSection(lines, section, sizes)) pieces.push({ ...piece, headingPath })
    section = []
  }

  const body = frontMatterEnd(lines)
  if (body > 0) section.push(plainBlock(0, body))
  for (const found of parseBlocks(body > 0 ? lines.slice(body) : lines)) {
    const block = body > 0 ? shiftBlock(found, body) : found
    if (block.type === 'heading' && block.text !== '') {
      close()
      while ((ancestry.at(-1)?.level ?? 0) >= block.level) ancestry.pop()
      ancestry.push(block)
      headingPath = ancestry.map((heading) => clipText(heading.text, MAX_HEADING_CHARS))
    }
    section.push(block)
  }
  close()
  return pieces
}

function cutSection(lines: readonly string[], section: readonly Block[], sizes: ChunkSizes): Piece[] {
  const first = section[0]
  const last = section.at(-1)
  if (first === undefined || last === undefined) return []
  if (measure(lines, first.start, last.end) <= sizes.maxChars) return joinLines(lines, first.start, last.end)
  return groupBlocks(lines, section, sizes).flatMap((group) => {
    if (group.isOversized) return splitBlock(lines, group.block, sizes)
    return joinLines(lines, group.start, group.end)
  })
}

interface Group {
  /** The first block; the only one when it is oversized. */
  readonly block: Block
  readonly start: number
  end: number
  /** Length with every line end and blank line. */
  size: number
  readonly isOversized: boolean
}

/** Collects neighbouring blocks up to the target; one that exceeds the cap stands alone. A short tail is joined on. */
function groupBlocks(lines: readonly string[], section: readonly Block[], sizes: ChunkSizes): Group[] {
  const groups: Group[] = []
  for (const block of section.flatMap((block) =>
    isOversized(block) && block.leaves.length > 1 ? block.leaves : [block],
  )) {
    const last = groups.at(-1)
    const isLarge = isOversized(block)
    const canJoin = last !== undefined && !last.isOversized && !isLarge && last.size < sizes.targetChars
    if (canJoin && last.size + measure(lines, block.start, block.end) <= sizes.maxChars) {
      last.end = block.end
      last.size += fullSize(block)
    } else {
      groups.push({ block, start: block.start, end: block.end, size: fullSize(block), isOversized: isLarge })
    }
  }
  const [before, tail] = groups.slice(-2)
  if (before === undefined || tail === undefined || before.isOversized || tail.isOversized) return groups
  if (tail.size < sizes.targetChars / 4 && before.size + tail.size <= sizes.maxChars) {
    before.end = tail.end
    groups.pop()
  }
  return groups

  function isOversized(block: Block): boolean {
    return measure(lines, block.start, block.end) > sizes.maxChars
  }

  function fullSize(block: Block): number {
    let size = 0
    for (let i = block.start; i < block.end; i++) size += (lines[i]?.length ?? 0) + 1
    return size
  }
}

function splitBlock(lines: readonly string[], block: Block, sizes: ChunkSizes): Piece[] {
  const only = block.leaves[0] ?? block
  const framed =
    only.type === 'fence'
      ? splitFence(lines, only, sizes)
      : only.type === 'table'
        ? splitTable(lines, only, sizes)
        : undefined
  return framed ?? cutText(lines.slice(block.start, block.end), sizes, block.start + 1)
}

function splitFence(lines: readonly string[], block: Block, sizes: ChunkSizes): Piece[] | undefined {
  const opening = lines[block.start] ?? ''
  const marker = opening.indexOf(block.marker)
  const prefix = quotePrefix(opening.slice(0, marker))
  const last = lastContentLine(lines, block.start, block.end)
  const isClosed = last > block.start && isClosingFence(lines[last] ?? '', block.marker)
  return splitFramed(lines, sizes, {
    start: block.start,
    bodyStart: block.start + 1,
    bodyEnd: isClosed ? last : last + 1,
    end: block.end,
    firstHead: opening,
    head: prefix + opening.slice(marker),
    foot: `\n${prefix}${block.marker}`,
  })
}

function splitTable(lines: readonly string[], block: Block, sizes: ChunkSizes): Piece[] | undefined {
  const header = lines[block.start] ?? ''
  const delimiter = lines[block.start + 1] ?? ''
  return splitFramed(lines, sizes, {
    start: block.start,
    bodyStart: block.start + 2,
    bodyEnd: lastContentLine(lines, block.start, block.end) + 1,
    end: block.end,
    firstHead: `${header}\n${delimiter}`,
    head: `${header.replace(/^(?:[\s>]|[-*+]\s|\d+[.)]\s)+/, quotePrefix)}\n${delimiter}`,
    foot: '',
  })
}

interface Frame {
  readonly start: number
  readonly bodyStart: number
  readonly bodyEnd: number
  readonly end: number
  /** What the first part begins with. */
  readonly firstHead: string
  /** What every later part begins with. */
  readonly head: string
  /** What every part ends with. */
  readonly foot: string
}

/** Cuts the body of a fence or table into parts that each carry the frame; undefined when the frame leaves no room. */
function splitFramed(lines: readonly string[], sizes: ChunkSizes, frame: Frame): Piece[] | undefined {
  const room = sizes.maxChars - Math.max(frame.firstHead.length, frame.head.length) - frame.foot.length - 1
  if (room < sizes.maxChars / 2) return undefined
  const target = Math.min(room, sizes.targetChars)
  const pieces: Piece[] = []
  let part: string[] = []
  let size = 0
  let startLine = frame.start + 1
  let lastLine = startLine
  const emit = (endLine: number) => {
    const head = pieces.length === 0 ? frame.firstHead : frame.head
    pieces.push({ startLine, endLine, content: [head, ...part].join('\n').trim() + frame.foot })
    part = []
    size = 0
  }
  for (let i = frame.bodyStart; i < frame.bodyEnd; i++) {
    const line = lines[i] ?? ''
    for (const slice of line === '' ? [''] : sliceText(line, room)) {
      if (part.length > 0 && (size >= target || size + slice.length > room)) {
        emit(lastLine)
        startLine = i + 1
      }
      part.push(slice)
      size += slice.length + 1
      lastLine = i + 1
    }
  }
  emit(frame.end)
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
  let first = start
  while (first < end && isBlank(lines[first] ?? '')) first++
  const content = lines.slice(first, end).join('\n').trim()
  return content === '' ? [] : [{ startLine: first + 1, endLine: end, content }]
}

/** The line after YAML (`---`) or TOML (`+++`) front matter, or 0. */
function frontMatterEnd(lines: readonly string[]): number {
  const marker = lines[0]?.trimEnd()
  if ((marker !== '---' && marker !== '+++') || isBlank(lines[1] ?? '')) return 0
  for (let i = 1; i < lines.length; i++) {
    const line = lines[i]?.trimEnd()
    if (line === marker || (marker === '---' && line === '...')) return i + 1
  }
  return 0
}

function plainBlock(start: number, end: number): Block {
  return { type: 'other', start, end, level: 0, text: '', marker: '', leaves: [] }
}

function shiftBlock(block: Block, by: number): Block {
  const leaves = block.leaves.map((leaf) => shiftBlock(leaf, by))
  return { ...block, start: block.start + by, end: block.end + by, leaves }
}

function lastContentLine(lines: readonly string[], start: number, end: number): number {
  let last = end - 1
  while (last > start && isBlank(lines[last] ?? '')) last--
  return last
}

function isClosingFence(line: string, marker: string): boolean {
  const text = line.replace(/^[\s>]*/, '').trimEnd()
  return text.length >= marker.length && text === (marker[0] ?? '').repeat(text.length)
}

/** What stands before a block inside a list or quote, with list markers turned to spaces. */
function quotePrefix(prefix: string): string {
  return prefix.replace(/[^>\s]/g, ' ')
}
