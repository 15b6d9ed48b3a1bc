/**
 * A document file converted to pages. A converter only reads content: it runs nothing, opens no address, and its cost is bounded by {@link
 * DOCUMENT_LIMITS}.
 */
export type ConversionResult =
  | ({ readonly type: 'document' } & TextDocument)
  /** Several pages, each with its own address; `title` is that of the whole document, `detail` says what was left out. */
  | {
      readonly type: 'parts'
      readonly title: string | null
      readonly parts: readonly DocumentPart[]
      readonly detail?: string
    }
  | { readonly type: 'refused'; readonly reason: DocumentRefusal; readonly detail: string }

/** Why a document has no page. */
export type DocumentRefusal = 'encrypted' | 'damaged' | 'too-large' | 'empty' | 'not-text'

/** The content of a document and its metadata. */
export interface TextDocument {
  readonly title: string | null
  readonly author: string | null
  /** BCP 47, as given in the document. */
  readonly language: string | null
  /** ISO 8601. */
  readonly modifiedAt: string | null
  readonly body: DocumentBody
}

/**
 * Content as Markdown or as HTML without page chrome. In HTML the `id` of a heading is its fragment. The value of `data-mark` on an element
 * is the fragment that applies from there on, such as `page=12`.
 */
export interface DocumentBody {
  readonly form: 'html' | 'markdown'
  readonly text: string
}

/** One of several pages. */
export interface DocumentPart extends TextDocument {
  /** Stable and unique name within the file: `get-pets`, `chapter-3.xhtml`. */
  readonly name: string
}

/** Converts one format to pages. The path tells what the bytes do not, such as a title or the language. */
export type Converter = (bytes: Uint8Array, path: string) => Promise<ConversionResult> | ConversionResult

/** Limits of a document. A larger one is refused as `too-large`, or truncated with a note where a reader would not miss the rest. */
export const DOCUMENT_LIMITS = {
  /** Unpacked bytes of all members together. */
  unpackedBytes: 268_435_456,
  /** Members of the archive that holds the document. */
  members: 20_000,
  /** Compression ratio of a member, checked from one megabyte on. */
  ratio: 200,
  /** Pages, slides or sheets. */
  pages: 10_000,
  /** Characters of the content. */
  characters: 20_000_000,
  /** Rows and columns of a table that are written. */
  rows: 10_000,
  columns: 256,
  /** Cells of a table: a wide table has fewer rows. */
  cells: 250_000,
  /** Nesting depth of elements. */
  depth: 200,
} as const

/** A document that cannot be read, with the reason. */
export class DocumentError extends Error {
  override readonly name = 'DocumentError'
  readonly reason: DocumentRefusal

  constructor(reason: DocumentRefusal, message: string, options?: ErrorOptions) {
    super(message, options)
    this.reason = reason
  }
}
