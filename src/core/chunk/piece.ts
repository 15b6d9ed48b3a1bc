import type { Chunk } from '../model.ts'

/** A piece of a file before it has ids. Every chunker returns pieces, in file order except where keys are sorted (JSON). */
export interface Piece {
  /** First line with content, from 1. */
  readonly startLine: number
  /** Last line, inclusive; blank lines up to the next piece belong to this one. */
  readonly endLine: number
  readonly content: string
  readonly headingPath?: readonly string[]
  readonly symbol?: string
  readonly members?: NonNullable<Chunk['members']>
  readonly address?: string
  /** Column where the piece begins in its first line, for a slice of a long line. @default 0 */
  readonly startColumn?: number
  /** Set for every part of a fence or table but the first: the repeated text at the start of the part. */
  readonly frame?: PieceFrame
}

/** The text that every further part of a fence or table repeats at its start. */
interface PieceFrame {
  /** Length of the repeated text. */
  readonly chars: number
  /** First line, from 1, of the split body. */
  readonly bodyLine: number
}

/** The sizes every chunker obeys, in UTF-16 code units. */
export interface ChunkSizes {
  /** A piece ends at the next good break once it is this long. */
  readonly targetChars: number
  /** No piece is longer than this. */
  readonly maxChars: number
  /** Each piece of Markdown or text repeats up to this many characters from the end of the previous piece in its section. @default 0 */
  readonly overlapChars?: number
}

/** Longest heading or key kept in a heading path, so that one overlong line cannot fill every breadcrumb below it. */
export const MAX_HEADING_CHARS = 200

/** Returned instead of pieces when the parser fails for a reason other than the text alone. */
export const PARSER_FAILED = 'parser failed'
export type ParserFailed = typeof PARSER_FAILED
