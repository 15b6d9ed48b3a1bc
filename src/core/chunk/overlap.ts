import type { Block } from '../markdown/blocks.ts'
import { isBlank } from '../text/lines.ts'
import { findLastSentences, findLastWords } from '../text/sentences.ts'
import type { ChunkSizes, Piece } from './piece.ts'

/** Characters between the repeated text and the own text of a piece: a blank line. */
const SEPARATOR_CHARS = 2

/** The sizes of the new text in each piece, which leaves room for the overlap. */
export function reserveOverlap(sizes: ChunkSizes): ChunkSizes {
  const { targetChars, maxChars, overlapChars = 0 } = sizes
  if (overlapChars === 0) return sizes
  const maxOwnChars = maxChars - overlapChars - SEPARATOR_CHARS
  return { targetChars: Math.min(targetChars, maxOwnChars), maxChars: maxOwnChars }
}

/** Lines that are repeated together or not at all. */
export class AtomicLines {
  readonly #starts = new Map<number, number>()

  /** Records the headings, fences and tables of a block. */
  addBlock({ type, open, close, leaves }: Block): void {
    if (type !== 'other') this.add(open, close)
    for (const leaf of leaves) this.addBlock(leaf)
  }

  /** Records the lines `[start, end)`, from 0, as one block. */
  add(start: number, end: number): void {
    for (let line = start; line < end; line++) this.#starts.set(line, start)
  }

  /** The first line of the block that a line, from 0, belongs to; undefined for a line in no recorded block. */
  startOf(line: number): number | undefined {
    return this.#starts.get(line)
  }
}

/** Where and how pieces may repeat each other. */
export interface OverlapOptions {
  readonly sizes: ChunkSizes
  /** Indexes of pieces that open a section; these repeat nothing. */
  readonly sectionStarts?: ReadonlySet<number>
  readonly atomicLines?: AtomicLines
}

/**
 * Makes each piece begin with the end of the previous one: whole blocks, lines and sentences, up to the overlap and the cap. The line range
 * of the piece then starts at the repeated text.
 */
export function overlapPieces(lines: readonly string[], pieces: readonly Piece[], options: OverlapOptions): Piece[] {
  const { sizes, sectionStarts, atomicLines = new AtomicLines() } = options
  return pieces.map((piece, i) => {
    const before = pieces[i - 1]
    if (before === undefined || sectionStarts?.has(i) === true) return piece
    const budget = { overlap: sizes.overlapChars ?? 0, total: sizes.maxChars - piece.content.length }
    const isSlice = before.endLine === piece.startLine
    if (piece.frame !== undefined) return isSlice ? piece : repeatRows(lines, before, piece, piece.frame, budget)
    return (isSlice ? repeatSlice : repeatLines)(lines, before, piece, budget, atomicLines)
  })
}

interface OverlapBudget {
  /** Characters that may be repeated. */
  readonly overlap: number
  /** Characters that a piece may grow by, including the separator after the repeated text. */
  readonly total: number
}

/** Repeats the text before a slice of a long line. A slice inside a fence or table has no column and repeats nothing. */
function repeatSlice(lines: readonly string[], before: Piece, piece: Piece, budget: OverlapBudget): Piece {
  const { startLine, startColumn = 0, content } = piece
  const from = before.startLine === startLine ? (before.startColumn ?? 0) : 0
  const text = lines[startLine - 1]?.slice(from, startColumn) ?? ''
  const maxRepeated = Math.min(budget.overlap, budget.total)
  const tailStart = findLastSentences(text, maxRepeated) ?? findLastWords(text, maxRepeated) ?? text.length
  return { ...piece, content: text.slice(tailStart) + content }
}

/** Repeats the last rows in a further part of a fence or table, inside its frame. */
function repeatRows(
  lines: readonly string[],
  before: Piece,
  piece: Piece,
  { chars, bodyLine }: NonNullable<Piece['frame']>,
  budget: OverlapBudget,
): Piece {
  const { startLine, content } = piece
  const ownLine = startLine - 1
  const { from } = walkBack(lines, ownLine, Math.max(before.startLine, bodyLine) - 1, budget)
  const rows = lines.slice(from, ownLine).map((row) => `\n${row}`)
  return { ...piece, startLine: from + 1, content: content.slice(0, chars) + rows.join('') + content.slice(chars) }
}

function repeatLines(
  lines: readonly string[],
  before: Piece,
  piece: Piece,
  budget: OverlapBudget,
  atomicLines: AtomicLines,
): Piece {
  const ownLine = piece.startLine - 1
  const minLine = before.startLine - 1
  const { from, partialLine, charsLeft } = walkBack(lines, ownLine, minLine, budget, atomicLines)
  const column = partialLine === minLine ? before.startColumn : 0
  const text = partialLine === undefined ? '' : (lines[partialLine]?.slice(column) ?? '')
  const tailStart =
    findLastSentences(text, charsLeft) ?? (from === ownLine ? findLastWords(text, charsLeft) : undefined)
  const isPart = partialLine !== undefined && tailStart !== undefined
  const first = isPart ? partialLine : from
  const repeated = isPart
    ? [text.slice(tailStart), ...lines.slice(partialLine + 1, ownLine)]
    : lines.slice(from, ownLine)
  return { ...piece, startLine: first + 1, content: [...repeated, piece.content].join('\n').trimStart() }
}

interface OverlapStart {
  /** First of the lines that are repeated whole. */
  readonly from: number
  /** The line before `from`, if a part of that line may be repeated. */
  readonly partialLine: number | undefined
  /** Characters that may be repeated from `partialLine`. */
  readonly charsLeft: number
}

/** Walks back from `ownLine`, at most to `minLine`, over the lines that may be repeated whole. Lines count from 0. */
function walkBack(
  lines: readonly string[],
  ownLine: number,
  minLine: number,
  { overlap, total }: OverlapBudget,
  atomicLines?: AtomicLines,
): OverlapStart {
  let from = ownLine
  /** Characters from the line reached up to the piece, with line ends. */
  let size = 0
  /** The part of `size` in blank lines directly before the piece. */
  let blankChars = 0
  for (let at = ownLine - 1; at >= minLine; ) {
    const start = atomicLines?.startOf(at) ?? at
    const isGap = start === at && isBlank(lines[at] ?? '')
    const grown = size + measure(lines, start, at + 1)
    if (isGap && from === ownLine) blankChars = grown
    else if (start < minLine || grown - blankChars - 1 > overlap || grown > total) {
      const isAtomic = atomicLines?.startOf(at) !== undefined
      const charsLeft = Math.min(overlap - size + blankChars, total - size - 1)
      return { from, partialLine: isAtomic ? undefined : at, charsLeft }
    }
    size = grown
    if (!isGap) from = start
    at = start - 1
  }
  return { from, partialLine: undefined, charsLeft: 0 }
}

/** Length of the lines `[start, end)` with their line ends. */
function measure(lines: readonly string[], start: number, end: number): number {
  let size = 0
  for (let i = start; i < end; i++) size += (lines[i]?.length ?? 0) + 1
  return size
}
