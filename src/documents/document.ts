/**
 * A file of another format than the web's as pages can be made of it. Whoever converts one reads what it says and nothing else: nothing
 * in it is run, no address in it is opened, and what it may cost is bounded by {@link DOCUMENT_LIMITS}.
 */
export type Converted =
  | ({ readonly type: 'document' } & TextDocument)
  /** It holds several pages, each with an address of its own; `title` is that of the whole, `detail` says what was left out. */
  | {
      readonly type: 'parts'
      readonly title: string | null
      readonly parts: readonly DocumentPart[]
      readonly detail?: string
    }
  | { readonly type: 'refused'; readonly reason: DocumentRefusal; readonly detail: string }

/** Why there is no page in a document. */
export type DocumentRefusal = 'encrypted' | 'damaged' | 'too-large' | 'empty' | 'not-text'

/** What a document says, and what it says about itself. */
export interface TextDocument {
  readonly title: string | null
  readonly author: string | null
  /** BCP 47, as the document gives it. */
  readonly language: string | null
  /** ISO 8601. */
  readonly modifiedAt: string | null
  readonly body: DocumentBody
}

/**
 * Its content: Markdown, or HTML that is content alone. In HTML the `id` of a heading is the fragment that leads to it, and an element
 * with `data-mark` begins a place that has a fragment of its own, such as `page=12`; it stands between blocks.
 */
export interface DocumentBody {
  readonly form: 'html' | 'markdown'
  readonly text: string
}

/** One page of several. */
export interface DocumentPart extends TextDocument {
  /** What it is known by in its file, the same as long as it is the same part: `get-pets`, `chapter-3.xhtml`. No two parts share one. */
  readonly name: string
}

/** Makes pages of one format. The path tells what the bytes do not. */
export type Convert = (bytes: Uint8Array, path: string) => Promise<Converted> | Converted

/** How much a document may be. What is larger is refused as `too-large`, or cut off where a reader would not miss it, and says so. */
export const DOCUMENT_LIMITS = {
  /** Bytes of all its members together, once they are unpacked. */
  unpackedBytes: 268_435_456,
  /** Members of its container. */
  members: 20_000,
  /** Unpacked bytes of one member for each packed one, once it has a megabyte. */
  ratio: 200,
  /** Pages, slides or sheets. */
  pages: 10_000,
  /** Characters of the content. */
  characters: 20_000_000,
  /** Rows and columns of a table that are written down. */
  rows: 10_000,
  columns: 256,
  /** Both together: a wide table has fewer rows. */
  cells: 250_000,
  /** Elements inside each other. */
  depth: 200,
} as const

/** Says that a document cannot be read, and why. */
export class DocumentError extends Error {
  override readonly name = 'DocumentError'
  readonly reason: DocumentRefusal

  constructor(reason: DocumentRefusal, message: string, options?: ErrorOptions) {
    super(message, options)
    this.reason = reason
  }
}
