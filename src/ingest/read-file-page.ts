import { chunkFile } from '../core/chunk/chunk-file.ts'
import type { Grammars } from '../core/chunk/code-grammars.ts'
import { kindOf } from '../core/chunk/kind.ts'
import { codeLanguageOf } from '../core/chunk/languages.ts'
import type { ChunkSizes } from '../core/chunk/piece.ts'
import { type ChunkProfile, sizesOf } from '../core/chunk/profiles.ts'
import { measureMarkdown } from '../core/extract/measure.ts'
import { cleanText } from '../core/extract/write/escape.ts'
import type { ChunkedFile, Kind, NoPageReason, Page } from '../core/model.ts'
import { decodeText, isBinary } from '../core/text/decode.ts'
import { baseName, extensionOf } from '../core/text/path.ts'
import type { PageRecord, Reason } from '../crawl/ledger.ts'
import { PageDefect } from '../crawl/page-defect.ts'
import type { PageReader } from '../crawl/ports.ts'
import { writeFileUrl } from '../library/folder.ts'
import { nodeSha256 } from './sha256.ts'

/** How files become pages. */
export interface FilePageOptions {
  /** Reads Markdown and HTML, as it does those of the web. */
  readonly readPage: PageReader
  /** Opens the grammars, when the first file of code is read. */
  readonly openGrammars: () => Promise<Grammars>
}

/** A file of a source. */
export interface PageFile {
  readonly path: string
  readonly bytes: Uint8Array
  /** Address of the source. */
  readonly source: string
  /** How it is cut. */
  readonly profile: ChunkProfile
}

/** What a file became. */
export type FilePage =
  | {
      readonly type: 'page'
      readonly record: PageRecord
      readonly detail: string | null
      /** Whether the same bytes would give the same chunks in another run. */
      readonly isFinal: boolean
    }
  | {
      readonly type: 'no-page'
      readonly reason: Reason
      readonly pattern: string | null
      readonly detail: string | null
    }
  | { readonly type: 'failed'; readonly reason: 'page-defect'; readonly detail: string }

/** Makes pages of files; holds the grammars until it is closed. */
export interface FilePages {
  read(file: PageFile): Promise<FilePage>
  /** Cuts a text by the rules of its kind. */
  cut(path: string, text: string, sizes: ChunkSizes): Promise<ChunkedFile>
  close(): Promise<void>
}

/** As many as the page of a web site may be cut into. */
const MAX_CHUNKS = 25_000

/** Opens what makes pages of files. */
export function openFilePages({ readPage, openGrammars }: FilePageOptions): FilePages {
  let opening: Promise<Grammars> | undefined
  const prepareGrammars = async (path: string): Promise<{ readonly grammars?: Grammars }> => {
    const language = codeLanguageOf(path)
    if (language === undefined) return {}
    opening ??= openGrammars()
    const grammars = await opening
    await grammars.prepare([language.grammar])
    return { grammars }
  }
  return {
    async read(file) {
      const kind = kindOf(file.path)
      const media = MEDIA[kind]
      if (kind === 'unknown' && isBinary(file.bytes)) return noPage('not-text', 'binary content')
      try {
        if (media !== undefined) return await readDocument(file, media, readPage)
        return readLines(file, await prepareGrammars(file.path))
      } catch (error) {
        // A file that brings its reader down must not bring the others down.
        const detail = error instanceof PageDefect ? `the file ${error.message}` : 'could not be read'
        return { type: 'failed', reason: 'page-defect', detail }
      }
    },
    async cut(path, text, sizes) {
      const bytes = new TextEncoder().encode(text)
      return chunkFile({ path, bytes }, { ...sizes, ...(await prepareGrammars(path)), sha256: nodeSha256 })
    },
    async close() {
      const grammars = await opening?.catch(() => undefined)
      grammars?.close()
    },
  }
}

/** Kinds of files that are read like pages of the web. */
const MEDIA: Readonly<Partial<Record<Kind, string>>> = { markdown: 'text/markdown', html: 'text/html' }

/** Markdown and HTML: what a reader would see of it. Nobody has to be asked whether it may be indexed, and no link is followed. */
async function readDocument(
  { path, bytes, source, profile }: PageFile,
  media: string,
  readPage: PageReader,
): Promise<FilePage> {
  const snapshot = { url: writeFileUrl(source, path), body: bytes, headers: { 'content-type': media } }
  const { extraction, record } = await readPage(snapshot, path, { chunks: profile })
  if (extraction.type === 'no-page') {
    const detail = extraction.target === null ? extraction.detail : `leads to ${extraction.target}`
    return noPage(NO_PAGE[extraction.reason], null, detail)
  }
  if (record === null) return noPage('empty')
  const page = { ...record.page, title: record.page.title || titleOf(path) }
  return { type: 'page', record: { ...record, page, links: [] }, detail: null, isFinal: true }
}

const NO_PAGE: Readonly<Record<NoPageReason, Reason>> = {
  challenge: 'challenge',
  login: 'login',
  soft_404: 'soft-404',
  needs_rendering: 'needs-rendering',
  // A file has no address of its own that could take the place of this one.
  redirect: 'empty',
  empty: 'empty',
  not_text: 'not-text',
}

/**
 * Code, data and plain text: line by line as it stands in the file, so that its line numbers are those of the file. Only characters
 * that nobody sees are left out: they hide words from readers and from search, and no line ends with one.
 */
function readLines({ path, bytes, source, profile }: PageFile, options: { readonly grammars?: Grammars }): FilePage {
  const decoded = decodeText(bytes)
  if (!('text' in decoded)) return noPage('not-text', 'not valid UTF-8')
  const text = cleanText(decoded.text)
  if (text.trim() === '') return noPage('empty')
  const hiddenChars = decoded.text.length - text.length
  const chunked = chunkFile(
    { path, bytes: hiddenChars === 0 ? bytes : new TextEncoder().encode(text) },
    { ...sizesOf(profile), ...options, maxChunksPerFile: MAX_CHUNKS, sha256: nodeSha256 },
  )
  const secret = findLeak(chunked)
  if (secret !== undefined) return noPage('secret', secret)
  const page = createPage(writeFileUrl(source, path), titleOf(path), text, hiddenChars)
  const [warning] = chunked.warnings
  // A parser that failed may have done so because of other files.
  const isFinal = !chunked.warnings.some(({ code }) => code === 'parser')
  const record = { page, chunks: chunked.chunks, links: [] }
  return { type: 'page', record, detail: warning?.message ?? null, isFinal }
}

function titleOf(path: string): string {
  return cleanText(baseName(path))
}

function createPage(url: string, title: string, markdown: string, hiddenChars: number): Page {
  return {
    url,
    title,
    description: null,
    author: null,
    publishedAt: null,
    modifiedAt: null,
    language: null,
    canonical: null,
    alternates: [],
    robots: { index: true, follow: true },
    generator: null,
    markdown,
    sections: [],
    links: [],
    ...measureMarkdown(markdown, nodeSha256),
    hiddenChars,
  }
}

/** What looks like a password in code is mostly an example or a test; in these files it is one. */
const SETTINGS = new Set(
  `env ini cfg conf cnf config properties toml yaml yml json jsonl xml csv log plist tfvars tfstate npmrc netrc pgpass
  pem key`.split(/\s+/),
)
const DOUBTFUL = /looks like a (?:password|bearer token|JSON web token|authorization)/

/**
 * Why a file is left out because of a credential, in words that do not hold it: an unmistakable one anywhere, a doubtful one in a
 * file of settings or data. Documents explain such things, and are never left out for it.
 */
function findLeak({ file, warnings }: ChunkedFile): string | undefined {
  const found = warnings.filter(({ code }) => code === 'secret').map(({ message }) => message)
  const isSettings = SETTINGS.has(extensionOf(file.path)) || /^\.env\b/.test(baseName(file.path))
  return isSettings ? found[0] : found.find((message) => !DOUBTFUL.test(message))
}

function noPage(reason: Reason, pattern: string | null = null, detail: string | null = null): FilePage {
  return { type: 'no-page', reason, pattern, detail }
}
