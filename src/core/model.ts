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

/** The kind of a file, which decides how it is chunked. `unknown` is cut by the rules for text. */
export type Kind = (typeof KINDS)[number]

/** One file of a folder or pack: facts about its bytes, never about the time or place of reading. */
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

/** The unit of the index: a piece of one file with its origin. */
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
  /** First line, from 1, including lines repeated from the end of the previous chunk. */
  readonly startLine: number
  /** Last line, inclusive; blank lines up to the next chunk belong to this one. */
  readonly endLine: number
  readonly content: string
  /** SHA-256 of the content. */
  readonly contentHash: string
  /** Approximate number of model tokens in the content. */
  readonly tokenEstimate: number
  /** Headings above the content, outermost first. For code, the definitions that enclose it. */
  readonly headingPath: readonly string[]
  /** Name of the definition this chunk holds, qualified by its enclosing definitions (`Parser.parse`). */
  readonly symbol: string | null
  /** Definitions inside it that have no chunk of their own, with their lines from 1: the methods of a small class. */
  readonly members?: readonly { readonly name: string; readonly line: number }[]
  /** Position inside a JSON document (`$.key`, `$[0:50]`). */
  readonly address: string | null
  /** Where a pack keeps the original bytes of an image. */
  readonly assetPath: string | null
}

/** Reasons why a file is missing from a pack, or is incomplete in it. */
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

/** A warning about one file for readers of the pack. */
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

/** A chunk that matched a query, with the data to show and cite it. */
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

/** SHA-256 of UTF-8 text or bytes, as lower-case hexadecimal. Passed in, so that each runtime can use its fastest implementation. */
export type Sha256 = (data: string | Uint8Array) => string

/** The response for one address: the bytes and their origin. */
export interface Snapshot {
  /** Address of the bytes, after redirects. */
  readonly url: string
  /** The original bytes, or decoded text. */
  readonly body: Uint8Array | string
  /** Status of the HTTP response. @default 200 */
  readonly status?: number
  /** Headers of the HTTP response by their names in lower case. */
  readonly headers?: Readonly<Record<string, string>>
  /** Facts about the page that the fetcher knows and the text does not state. */
  readonly known?: KnownFacts
  /** Text of the files that a Markdown file includes from the same tree, by the paths it uses. @default none */
  readonly includes?: Readonly<Record<string, string>>
  /**
   * How relative addresses in the Markdown of a page are treated: `kept` as written, when the caller that shows the page can resolve them
   * better; `dropped` when they lead to other parts of the same file.
   * @default resolved
   */
  readonly relativeLinks?: 'resolved' | 'kept' | 'dropped'
  /**
   * Whether the snapshot is a file and not a server's response, so that it cannot be an error or a login page in place of the content.
   * @default false
   */
  readonly isFile?: boolean
}

/** Facts about a page that do not come from its text. */
export interface KnownFacts {
  readonly title?: string
  readonly author?: string
  /** BCP 47. */
  readonly language?: string
  /** ISO 8601. */
  readonly modifiedAt?: string
  readonly description?: string
  /** Absolute addresses of the links on the page. */
  readonly links?: readonly string[]
}

/** Readable content of one address, and its metadata. */
export interface Page {
  readonly url: string
  readonly title: string
  readonly description: string | null
  readonly author: string | null
  /** ISO 8601: a date, or a moment with its offset. */
  readonly publishedAt: string | null
  readonly modifiedAt: string | null
  /** BCP 47, as the page declares it; for a stored page, as its text shows it if the declaration is missing or wrong. */
  readonly language: string | null
  readonly canonical: string | null
  readonly alternates: readonly Alternate[]
  readonly robots: PageRobots
  /** Name of the program that made the page, if it is known (`sphinx`). */
  readonly generator: string | null
  /**
   * The schema.org and Open Graph types that the page declares, in lower case (`newsarticle`, `og:article`); omitted if it declares
   * none. Pages stored by earlier versions have none.
   */
  readonly types?: readonly string[]
  /** The section of the site that the page declares. */
  readonly section?: string | null
  readonly markdown: string
  /** The headings as a tree. */
  readonly sections: readonly Section[]
  /** Every link of the document, including those outside its content. */
  readonly links: readonly Link[]
  readonly wordCount: number
  /** SHA-256 of the Markdown. */
  readonly contentHash: string
  /** Characters that were dropped because no reader would have seen them. */
  readonly hiddenChars: number
  /**
   * Fingerprint for finding near-duplicate pages; null for a page that is too short. Pages stored by earlier versions, and pages that are
   * only extracted, have none.
   */
  readonly fingerprint?: string | null
}

/** The classes of pages: content to read, navigation that leads to content, or neither. */
export const PAGE_CLASSES = ['article', 'nav', 'other'] as const

/** One of {@link PAGE_CLASSES}. */
export type PageClass = (typeof PAGE_CLASSES)[number]

/** What the URL of a page suggests about the class of the page. */
export interface UrlSignals {
  readonly host: string
  readonly tld: string | null
  readonly section: string | null
  readonly pathDepth: number
  readonly slugLen: number
  readonly hasDatePath: boolean
  readonly hasArticleWords: boolean
  readonly queryCount: number
}

/** What the content of a page suggests about the class of the page. */
export interface ContentSignals {
  /** Share of the text that is in links, from 0 to 1. */
  readonly linkDensity: number
  readonly h2: number
  readonly h3: number
  readonly a: number
  readonly p: number
  readonly wordCount: number
  /** Number of links in the whole document to likely navigation pages of the same site. */
  readonly navLinks: number
  /** Number of links in the whole document to likely articles of the same site. */
  readonly articleLinks: number
}

/** The class of a page, with the evidence. */
export interface Classification {
  /** Version of the rules that made the classification. */
  readonly version: number
  readonly kind: PageClass
  /** From 0 to 1. */
  readonly confidence: number
  readonly url: UrlSignals
  readonly content: ContentSignals
}

/** Another form of a page: a language, or a media type such as `text/markdown`. */
export interface Alternate {
  readonly url: string
  readonly language: string | null
  readonly type: string | null
}

/** The robots directives of a page. */
export interface PageRobots {
  readonly index: boolean
  readonly follow: boolean
}

/** A heading and the content under it. */
export interface Section {
  readonly title: string
  /** 1 to 6. */
  readonly level: number
  /** Fragment of the section in the original page. */
  readonly anchor: string | null
  /** Line of the heading in the Markdown, from 1. */
  readonly startLine: number
  /** Last line of the section, including its children. */
  readonly endLine: number
  readonly children: readonly Section[]
  /** Lines in this section, before its first child section, that have their own fragment; omitted if there are none. */
  readonly marks?: readonly SectionMark[]
}

/** The start of a part of a section with its own fragment, such as a page of a document or a definition. */
export interface SectionMark {
  /** From 1. */
  readonly line: number
  /** `page=12`, `csv.DictReader`; empty at the end of such a part, after which the anchor of the section applies. */
  readonly anchor: string
}

/** A link out of a page. */
export interface Link {
  /** Absolute, without credentials; as written if it cannot be parsed. */
  readonly url: string
  readonly text: string
  /** Tokens of the `rel` attribute. */
  readonly rel: readonly string[]
  /** Whether the link is in the content rather than in the navigation around it. */
  readonly isContent: boolean
}

/** Why a response is not a page. */
export const NO_PAGE_REASONS = [
  'challenge',
  'login',
  'soft_404',
  'needs_rendering',
  'redirect',
  'empty',
  'not_text',
  'encrypted',
  'damaged',
  'too_large',
] as const

/** One of {@link NO_PAGE_REASONS}. */
export type NoPageReason = (typeof NO_PAGE_REASONS)[number]

/** An element that a step of the extraction left out of a page. */
export interface Removal {
  readonly step: string
  readonly reason: string
  /** The element: name, id and classes as a selector. */
  readonly element: string
  /** Beginning of the element's text. */
  readonly text: string
}

/** The result of extraction: a page, or the reason why there is none. */
export type Extraction =
  | { readonly type: 'page'; readonly page: Page; readonly removals: readonly Removal[] }
  | {
      readonly type: 'no-page'
      readonly reason: NoPageReason
      /** The evidence for the reason, in words. */
      readonly detail: string
      /** The target of a redirect. */
      readonly target: string | null
      readonly links: readonly Link[]
      readonly removals: readonly Removal[]
    }
