import type { Block } from '../markdown/blocks.ts'
import { isBlank } from '../text/lines.ts'
import { findLastSentences, findLastWords } from '../text/sentences.ts'
import type { ChunkSizes, Piece } from './piece.ts'

/** Characters between the repeated text and the own text of a piece: a blank line. */
const SEPARATOR_CHARS = 2

/** The sizes of the new text in each piece, which leave room for the overlap. */
export function reserveOverlap(sizes: ChunkSizes): ChunkSizes {
  const { targetChars, maxChars, overlapChars = 0 } = sizes
  if (overlapChars === 0) return sizes
  const most = maxChars - overlapChars - SEPARATOR_CHARS
  return { targetChars: Math.min(targetChars, most), maxChars: most }
}

/** Lines that are repeated together or not at all. */
export class AtomicLines {
  readonly #starts = new Map<number, number>()

  /** Notes the headings, fences and tables of a block. */
  addBlock({ type, open, close, leaves }: Block): void {
    if (type !== 'other') this.add(open, close)
    for (const leaf of leaves) this.addBlock(leaf)
  }

  /** Notes the lines `[start, end)`, from 0. */
  add(start: number, end: number): void {
    for (let line = start; line < end; line++) this.#starts.set(line, start)
  }

  /** The first line of the block that a line, from 0, belongs to; undefined for a line of its own. */
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
    const room = { overlap: sizes.overlapChars ?? 0, total: sizes.maxChars - piece.content.length }
    const isSlice = before.endLine === piece.startLine
    if (piece.frame === undefined) return (isSlice ? repeatSlice : repeatLines)(lines, before, piece, room, atomicLines)
    return isSlice ? piece : repeatRows(lines, before, piece, piece.frame, room)
  })
}

interface OverlapBudget {
  /** Characters that may be repeated. */
  readonly overlap: number
  /** Characters that a piece may grow by, including the separator after the repeated text. */
  readonly total: number
}

/** Repeats the text before a slice of a long line. A slice inside a fence or table has no column and repeats nothing. */
function repeatSlice(lines: readonly string[], before: Piece, piece: Piece, room: OverlapBudget): Piece {
  const { startLine, startColumn = 0, content } = piece
  const from = before.startLine === startLine ? (before.startColumn ?? 0) : 0
  const text = lines[startLine - 1]?.slice(from, startColumn) ?? ''
  const most = Math.min(room.overlap, room.total)
  const tail = findLastSentences(text, most) ?? findLastWords(text, most) ?? text.length
  return { ...piece, content: text.slice(tail) + content }
}

/** Repeats the last rows in a further part of a fence or table, inside its frame. */
function repeatRows(
  lines: readonly string[],
  before: Piece,
  piece: Piece,
  { chars, bodyLine }: NonNullable<Piece['frame']>,
  room: OverlapBudget,
): Piece {
  const { startLine, content } = piece
  const own = startLine - 1
  const { from } = walkBack(lines, own, Math.max(before.startLine, bodyLine) - 1, room)
  const rows = lines.slice(from, own).map((row) => `\n${row}`)
  return { ...piece, startLine: from + 1, content: content.slice(0, chars) + rows.join('') + content.slice(chars) }
}

function repeatLines(
  lines: readonly string[],
  before: Piece,
  piece: Piece,
  room: OverlapBudget,
  solid: AtomicLines,
): Piece {
  const own = piece.startLine - 1
  const least = before.startLine - 1
  const { from, rest, left } = walkBack(lines, own, least, room, solid)
  const text = rest === undefined ? '' : (lines[rest]?.slice(rest === least ? before.startColumn : 0) ?? '')
  const tail = findLastSentences(text, left) ?? (from === own ? findLastWords(text, left) : undefined)
  const isPart = rest !== undefined && tail !== undefined
  const first = isPart ? rest : from
  const repeated = isPart ? [text.slice(tail), ...lines.slice(rest + 1, own)] : lines.slice(from, own)
  return { ...piece, startLine: first + 1, content: [...repeated, piece.content].join('\n').trimStart() }
}

interface OverlapStart {
  /** First of the lines that are repeated whole. */
  readonly from: number
  /** The line before them, if a part of it may be repeated. */
  readonly rest: number | undefined
  /** Characters that this part may have. */
  readonly left: number
}

/** Walks back from a line over the lines that may be repeated whole, not before `least`. Lines count from 0. */
function walkBack(
  lines: readonly string[],
  own: number,
  least: number,
  { overlap, total }: OverlapBudget,
  solid?: AtomicLines,
): OverlapStart {
  let from = own
  /** Characters up to the piece, with line ends, and the part of them in blank lines directly before it. */
  let size = 0
  let blank = 0
  for (let at = own - 1; at >= least; ) {
    const start = solid?.startOf(at) ?? at
    const isGap = start === at && isBlank(lines[at] ?? '')
    const grown = size + measure(lines, start, at + 1)
    if (isGap && from === own) blank = grown
    else if (start < least || grown - blank - 1 > overlap || grown > total) {
      const isSolid = solid?.startOf(at) !== undefined
      return { from, rest: isSolid ? undefined : at, left: Math.min(overlap - size + blank, total - size - 1) }
    }
    size = grown
    if (!isGap) from = start
    at = start - 1
  }
  return { from, rest: undefined, left: 0 }
}

/** Length of the lines `[start, end)` with their ends. */
function measure(lines: readonly string[], start: number, end: number): number {
  let size = 0
  for (let i = start; i < end; i++) size += (lines[i]?.length ?? 0) + 1
  return size
}
