/** The kinds a file can have. The order is that of the pack format; new kinds are only ever appended. */
export const KINDS = [
  'markdown',
  'json',
  'java_script',
  'html',
  'text',
  'image',
  'unknown',
  'python',
  'go',
  'rust',
  'java',
  'c',
  'cpp',
  'ruby',
  'shell',
] as const

/** What a file is, as far as chunking is concerned. `unknown` is cut by the rules for text. */
export type Kind = (typeof KINDS)[number]

/** One file of a folder or pack: facts about its bytes, never about when or where they were read. */
export interface FileMeta {
  /** Relative path with `/` between its parts. */
  readonly path: string
  readonly kind: Kind
  readonly bytes: number
  /** SHA-256 of the bytes, lower-case hexadecimal. */
  readonly sha256: string
  /** Number of lines; an empty file has one. */
  readonly lineCount: number
}

/** The unit that is indexed: a piece of one file that knows where it came from. */
export interface Chunk {
  /** SHA-256 of path, content hash and occurrence; the same for the same text at the same path, for ever. */
  readonly id: string
  /** The first twelve characters of the id. */
  readonly shortId: string
  /** Readable label made from file name and heading, symbol or address. Not unique. */
  readonly slug: string
  readonly path: string
  readonly kind: Kind
  /** Position among the chunks of its file, from 0. */
  readonly chunkIndex: number
  /** First line, from 1. */
  readonly startLine: number
  /** Last line, inclusive; blank lines up to the next chunk belong to this one. */
  readonly endLine: number
  readonly content: string
  /** SHA-256 of the content. */
  readonly contentHash: string
  /** About how many model tokens the content takes. */
  readonly tokenEstimate: number
  /** Headings above the content, outermost first. For code, the definitions that enclose it. */
  readonly headingPath: readonly string[]
  /** Name of the definition this chunk holds, qualified by its enclosing definitions (`Parser.parse`). */
  readonly symbol: string | null
  /** Place inside a JSON document (`$.key`, `$[0:50]`). */
  readonly address: string | null
  /** Where a pack keeps the original bytes of an image. */
  readonly assetPath: string | null
}

/** Why a file is missing from a pack, or is not in it whole. */
export const WARNING_CODES = [
  'max_file_bytes',
  'max_total_bytes',
  'max_total_chunks',
  'utf8',
  'binary',
  'max_chunks_per_file',
  'secret',
  'changed',
  'unreadable',
  'parser',
  'ignore_rules',
] as const

/** Code of a {@link Warning}. */
export type WarningCode = (typeof WARNING_CODES)[number]

/** Something a reader of the pack should know about one file. */
export interface Warning {
  readonly path: string
  readonly code: WarningCode
  readonly message: string
}

/** Everything one file contributes: its facts, its chunks in file order, and its warnings. */
export interface ChunkedFile {
  readonly file: FileMeta
  readonly chunks: readonly Chunk[]
  readonly warnings: readonly Warning[]
}

/** A chunk that matched a query, with what is needed to show and cite it. */
export interface Hit {
  readonly chunkId: string
  readonly chunkRef: string
  readonly score: number
  readonly path: string
  readonly startLine: number
  readonly endLine: number
  readonly snippet: string
  readonly headingPath: readonly string[]
}

/** SHA-256 of UTF-8 text or bytes, as lower-case hexadecimal. Passed in, so each runtime can use its fastest. */
export type Sha256 = (data: string | Uint8Array) => string
