/** A piece of a file before it has ids: what every chunker returns, in file order except where keys are sorted (JSON). */
export interface Piece {
  /** First line with content, from 1. */
  readonly startLine: number
  /** Last line, inclusive; blank lines up to the next piece belong to this one. */
  readonly endLine: number
  readonly content: string
  readonly headingPath?: readonly string[]
  readonly symbol?: string
  readonly address?: string
  /** Where it begins in its first line, for a slice of a long one. @default 0 */
  readonly startColumn?: number
  /** What it begins with that is not from its lines, for a part of a fence or table that goes on. */
  readonly frame?: PieceFrame
}

/** What is repeated in front of every further part of a fence or table. */
interface PieceFrame {
  readonly chars: number
  /** First line, from 1, of what is split. */
  readonly bodyLine: number
}

/** The sizes every chunker obeys, in UTF-16 code units. */
export interface ChunkSizes {
  /** A piece is closed at the next good place once it is this long. */
  readonly targetChars: number
  /** No piece is ever longer. */
  readonly maxChars: number
  /** A piece of Markdown or text begins with as much of the end of the one before it in its section. @default 0 */
  readonly overlapChars?: number
}

/** Longest heading or key kept in a heading path, so that one absurd line cannot fill every breadcrumb below it. */
export const MAX_HEADING_CHARS = 200

/** What comes instead of pieces when the parser fails by no fault of the text alone. */
export const PARSER_FAILED = 'parser failed'
export type ParserFailed = typeof PARSER_FAILED
