/** A piece of a file before it has ids. Every chunker returns pieces, in file order except where keys are sorted (JSON). */
export interface Piece {
  /** First line with content, from 1. */
  readonly startLine: number
  /** Last line, inclusive; blank lines up to the next piece belong to this one. */
  readonly endLine: number
  readonly content: string
  readonly headingPath?: readonly string[]
  readonly symbol?: string
  readonly address?: string
  /** Column where it begins in its first line, for a slice of a long line. @default 0 */
  readonly startColumn?: number
  /** Repeated text at the start that is not from the piece's own lines, for a later part of a fence or table. */
  readonly frame?: PieceFrame
}

/** The text that every further part of a fence or table repeats at its start. */
interface PieceFrame {
  readonly chars: number
  /** First line, from 1, of the split body. */
  readonly bodyLine: number
}

/** The sizes every chunker obeys, in UTF-16 code units. */
export interface ChunkSizes {
  /** A piece ends at the next good break once it is this long. */
  readonly targetChars: number
  /** No piece is ever longer. */
  readonly maxChars: number
  /** Up to this many characters from the end of the previous piece of the section begin each piece of Markdown or text. @default 0 */
  readonly overlapChars?: number
}

/** Longest heading or key kept in a heading path, so that one overlong line cannot fill every breadcrumb below it. */
export const MAX_HEADING_CHARS = 200

/** Returned instead of pieces when the parser fails for a reason other than the text alone. */
export const PARSER_FAILED = 'parser failed'
export type ParserFailed = typeof PARSER_FAILED
