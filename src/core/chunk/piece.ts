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
}

/** The two sizes every chunker obeys, in UTF-16 code units. */
export interface ChunkSizes {
  /** A piece is closed at the next good place once it is this long. */
  readonly targetChars: number
  /** No piece is ever longer. */
  readonly maxChars: number
}

/** Longest heading or key kept in a heading path, so that one absurd line cannot fill every breadcrumb below it. */
export const MAX_HEADING_CHARS = 200

/** What comes instead of pieces when the parser fails by no fault of the text alone. */
export const PARSER_FAILED = 'parser failed'
export type ParserFailed = typeof PARSER_FAILED
