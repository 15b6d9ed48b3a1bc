import { chunkFile } from '../core/chunk/chunk-file.ts'
import type { Grammars } from '../core/chunk/code-grammars.ts'
import { kindOf } from '../core/chunk/kind.ts'
import { codeLanguageOf } from '../core/chunk/languages.ts'
import { type ChunkSizes, PARSER_FAILED } from '../core/chunk/piece.ts'
import { type ChunkProfile, sizesOf } from '../core/chunk/profiles.ts'
import type { ModuleText } from '../core/declarations/declaration.ts'
import { adaptToGrammar, readTypeScript } from '../core/declarations/read-typescript.ts'
import { decodePlain } from '../core/extract/decode-html.ts'
import { readIncludes } from '../core/extract/dialects/includes.ts'
import { measureMarkdown } from '../core/extract/measure.ts'
import { cleanText } from '../core/extract/write/escape.ts'
import type { ChunkedFile, Kind, NoPageReason, Page } from '../core/model.ts'
import { withPageSignature } from '../core/retrieval/with-page-signature.ts'
import { describeSecret, findSecrets, isCredentialFile, type SecretFinding } from '../core/secrets.ts'
import { decodeText, isBinary } from '../core/text/decode.ts'
import { baseName, extensionOf } from '../core/text/path.ts'
import type { Reason } from '../crawl/ledger-reasons.ts'
import { PageDefect } from '../crawl/page-defect.ts'
import type { DocumentReader, DocumentReading, PageReader, PageReading } from '../crawl/ports.ts'
import type { PageRecord } from '../crawl/settlement.ts'
import { formatOf } from '../documents/formats.ts'
import type { TreeFile } from '../library/ports/tree.ts'
import { nodeSha256 } from './sha256.ts'

/** How files become pages. */
export interface FilePageOptions {
  /** Reads Markdown and HTML files like web pages. */
  readonly readPage: PageReader
  /** Reads other documents: PDF, office files, notebooks and others. */
  readonly readDocument: DocumentReader
  /** Opens the grammars. Called when the first code file is read. */
  readonly openGrammars: () => Promise<Grammars>
}

/** A file of a source, or one of its pages. */
export interface PageFile extends TreeFile {
  readonly bytes: Uint8Array
  /** SHA-256 of the bytes. */
  readonly version: string
  /** Address at which a user opens the file. */
  readonly url: string
  /** Chunk sizes. */
  readonly profile: ChunkProfile
  /** Reads another file of the same tree; undefined if it does not exist or the tree leaves it out. */
  readonly readOther: (path: string) => Promise<Uint8Array | undefined>
}

/** Result of reading a file: a page, the names of its pages, or the reason why it has none. */
export type FilePage =
  | {
      readonly type: 'page'
      readonly record: PageRecord
      readonly detail: string | null
      /** Whether the same bytes would give the same chunks in another run. */
      readonly isFinal: boolean
    }
  | { readonly type: 'container'; readonly parts: readonly string[]; readonly detail: string | null }
  /** The file does not have the requested page. */
  | { readonly type: 'missing' }
  | {
      readonly type: 'no-page'
      readonly reason: Reason
      readonly pattern: string | null
      readonly detail: string | null
    }
  | { readonly type: 'failed'; readonly reason: 'page-defect'; readonly detail: string }

/** Turns files into pages. Keeps the grammars open until it is closed. */
export interface FilePages {
  read(file: PageFile): Promise<FilePage>
  /** Returns the page of a file from the cache of documents; undefined if the file must be read. */
  recall(file: Omit<PageFile, 'bytes' | 'readOther'>): Promise<FilePage | undefined>
  /** Cuts a text into chunks by the rules of its kind. */
  cut(path: string, text: string, sizes: ChunkSizes): Promise<ChunkedFile>
  /** Reads the declarations of a TypeScript module; undefined if it cannot be parsed. */
  readModule(text: string): Promise<ModuleText | undefined>
  /** Clears the cache of documents. */
  clearCache(): void
  close(): Promise<void>
}

/** Maximum number of chunks of a file, the same as for a web page. */
const MAX_CHUNKS = 25_000

/** Opens the reader that turns files into pages. */
export function openFilePages({ readPage, readDocument, openGrammars }: FilePageOptions): FilePages {
  const readings = new Map<string, Promise<DocumentReading>>()
  const readOnce = cacheReadings(readDocument, readings)
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
      const mediaType = extensionOf(file.path) === 'mdx' ? 'text/mdx' : MEDIA_TYPES[kind]
      try {
        if (formatOf(file.path, file.bytes) !== undefined) return choosePart(file, await readOnce(file))
        if (file.part !== null) return { type: 'missing' }
        if (kind === 'unknown' && isBinary(file.bytes)) return noPage('not-text', 'binary content')
        if (mediaType !== undefined) return await readMarkup(file, mediaType, readPage)
        return readLines(file, await prepareGrammars(file.path))
      } catch (error) {
        // A file that crashes its reader must not stop the reading of other files.
        const detail = error instanceof PageDefect ? `the file ${error.message}` : 'could not be read'
        return { type: 'failed', reason: 'page-defect', detail }
      }
    },
    async recall(file) {
      const reading = await readings.get(cacheKeyOf(file))?.catch(() => undefined)
      return reading === undefined ? undefined : choosePart(file, reading)
    },
    async cut(path, text, sizes) {
      const bytes = new TextEncoder().encode(text)
      return chunkFile({ path, bytes }, { ...sizes, ...(await prepareGrammars(path)), sha256: nodeSha256 })
    },
    async readModule(text) {
      const { grammars } = await prepareGrammars('index.d.ts')
      const named = adaptToGrammar(text)
      const module = grammars?.parser('typescript')?.read(named, (root) => readTypeScript(root, named))
      return module === PARSER_FAILED ? undefined : module
    },
    clearCache: () => readings.clear(),
    async close() {
      const grammars = await opening?.catch(() => undefined)
      grammars?.close()
    },
  }
}

/** Media types of the kinds of files that are read like web pages. */
const MEDIA_TYPES: Readonly<Partial<Record<Kind, string>>> = { markdown: 'text/markdown', html: 'text/html' }

/**
 * Relative links stay as written, and are resolved when they are shown. The address of a file may contain a commit or version, which
 * changes although the file stays the same.
 */
const FILE_SNAPSHOT_OPTIONS = { relativeLinks: 'kept', isFile: true } as const

/** Reads Markdown or HTML as a page. Robots rules do not apply to files, and links are not followed. */
async function readMarkup(
  { path, bytes, url, profile, readOther }: PageFile,
  mediaType: string,
  readPage: PageReader,
): Promise<FilePage> {
  const includes = mediaType === 'text/html' ? {} : await readIncludedFiles(path, bytes, readOther)
  const snapshot = { url, body: bytes, headers: { 'content-type': mediaType }, includes, ...FILE_SNAPSHOT_OPTIONS }
  const page = toPage(path, await readPage(snapshot, path, { chunks: profile }))
  // Included files may change while the file itself stays the same.
  return page.type === 'page' && Object.keys(includes).length > 0 ? { ...page, isFinal: false } : page
}

const MAX_INCLUDED_BYTES = 500_000

/** Reads the files that a Markdown file includes: text files of the same tree without credentials. */
function readIncludedFiles(
  path: string,
  bytes: Uint8Array,
  readOther: PageFile['readOther'],
): Promise<Readonly<Record<string, string>>> {
  return readIncludes(decodePlain(bytes, ''), path, async (name) => {
    const found = kindOf(name) === 'image' || isCredentialFile(name) ? undefined : await readOther(name)
    if (found === undefined || found.length > MAX_INCLUDED_BYTES || isBinary(found)) return undefined
    const text = decodePlain(found, '')
    return findLeak(name, findSecrets(text)) === undefined ? text : undefined
  })
}

function toPage(path: string, { extraction, record }: PageReading): FilePage {
  if (extraction.type === 'no-page') {
    const detail = extraction.target === null ? extraction.detail : `leads to ${extraction.target}`
    return noPage(NO_PAGE_REASONS[extraction.reason], null, detail)
  }
  if (record === null) return noPage('empty')
  const page = { ...record.page, title: record.page.title || titleOf(path) }
  return { type: 'page', record: { ...record, page, links: [] }, detail: null, isFinal: true }
}

/** Maximum number of cached documents. The pages of a document are requested one after the other, for several documents at a time. */
const MAX_CACHED_READINGS = 8

/** Reads a document once for all its pages. */
function cacheReadings(
  readDocument: DocumentReader,
  readings: Map<string, Promise<DocumentReading>>,
): (file: PageFile) => Promise<DocumentReading> {
  return (file) => {
    const { path, bytes, url, profile } = file
    const key = cacheKeyOf(file)
    const known = readings.get(key)
    const reading =
      known ?? readDocument({ url, body: bytes, headers: {}, ...FILE_SNAPSHOT_OPTIONS }, path, { chunks: profile })
    readings.delete(key)
    readings.set(key, reading)
    // A failure is not cached, because the next attempt may succeed. A defect of the document itself is cached: otherwise each of its pages
    // would take as long to fail.
    reading.catch((error: unknown) => {
      if (!(error instanceof PageDefect) && readings.get(key) === reading) readings.delete(key)
    })
    const [oldest] = readings.keys()
    if (readings.size > MAX_CACHED_READINGS && oldest !== undefined) readings.delete(oldest)
    return reading
  }
}

function cacheKeyOf({ url, version, profile }: Omit<PageFile, 'bytes' | 'readOther'>): string {
  return JSON.stringify([url, version, profile])
}

/** Returns the requested part of a document: its only page, the list of its pages, or one of its pages. */
function choosePart({ path, part }: TreeFile, reading: DocumentReading): FilePage {
  if (reading.type === 'refused') return noPage(reading.reason, null, reading.detail)
  if (reading.type === 'page') return part === null ? toPage(path, reading) : { type: 'missing' }
  const { detail = null } = reading
  if (part === null) return { type: 'container', parts: reading.parts.map(({ name }) => name), detail }
  const found = reading.parts.find(({ name }) => name === part)
  return found === undefined ? { type: 'missing' } : toPage(part, found)
}

const NO_PAGE_REASONS: Readonly<Record<NoPageReason, Reason>> = {
  challenge: 'challenge',
  login: 'login',
  soft_404: 'soft-404',
  needs_rendering: 'needs-rendering',
  // The target of a redirect is not read in place of the file.
  redirect: 'empty',
  empty: 'empty',
  not_text: 'not-text',
  encrypted: 'encrypted',
  damaged: 'damaged',
  too_large: 'too-large',
}

/**
 * Reads code, data or plain text unchanged, so that line numbers are those of the file. Only invisible characters are removed: they hide
 * words from users and from search, and none of them ends a line.
 */
function readLines({ path, bytes, url, profile }: PageFile, options: { readonly grammars?: Grammars }): FilePage {
  const decoded = decodeText(bytes)
  const isUtf = 'text' in decoded
  const original = isUtf ? decoded.text : decodeOther(bytes)
  if (original === undefined) return noPage('not-text', 'not valid UTF-8')
  const text = cleanText(original)
  if (text.trim() === '') return noPage('empty')
  const hiddenChars = original.length - text.length
  const chunked = chunkFile(
    { path, bytes: isUtf && hiddenChars === 0 ? bytes : new TextEncoder().encode(text) },
    { ...sizesOf(profile), ...options, maxChunksPerFile: MAX_CHUNKS, sha256: nodeSha256 },
  )
  const mayLeak = chunked.warnings.some(({ code }) => code === 'secret')
  const leak = mayLeak ? findLeak(path, findSecrets(text)) : undefined
  if (leak !== undefined) return noPage('secret', describeSecret(leak))
  const page = withPageSignature(createPage(url, titleOf(path), text, hiddenChars), PROSE.has(extensionOf(path)))
  const [warning] = chunked.warnings
  // A failed parser may succeed in another run, because other files may have caused the failure.
  const isFinal = !chunked.warnings.some(({ code }) => code === 'parser')
  const record = { page, chunks: chunked.chunks, links: [] }
  const detail = warning?.message ?? (isUtf ? null : 'is not UTF-8; read in the encoding that it most likely has')
  return { type: 'page', record, detail, isFinal }
}

/** Characters that no text contains. Bytes that are not text soon decode to one of them. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern looks for control characters
const NON_TEXT = /[\0-\x08\x0e-\x1a\x1c-\x1f\ufffd]/

/** Decodes text in an encoding older than UTF-8; undefined if the bytes are not text. */
function decodeOther(bytes: Uint8Array): string | undefined {
  const text = isBinary(bytes) ? '\0' : decodePlain(bytes, '')
  return NON_TEXT.test(text) ? undefined : text
}

/** Extensions of prose; empty for names such as README. */
const PROSE = new Set(['', 'txt'])

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

/** Extensions of settings and data. A likely password in code is mostly an example or a test; in these files it is real. */
const SETTINGS = new Set(
  `env ini cfg conf cnf config properties toml yaml yml json jsonl xml csv log plist tfvars tfstate npmrc netrc pgpass
  pem key`.split(/\s+/),
)

/**
 * Returns the credential because of which a file is left out. A certain credential counts in every file, a doubtful one only in settings
 * and data. Markdown, HTML and documents are not checked, because they explain credentials.
 */
function findLeak(path: string, found: readonly SecretFinding[]): SecretFinding | undefined {
  const isSettings = SETTINGS.has(extensionOf(path)) || /^\.env\b/.test(baseName(path))
  return isSettings ? found[0] : found.find(({ isDoubtful }) => !isDoubtful)
}

function noPage(reason: Reason, pattern: string | null = null, detail: string | null = null): FilePage {
  return { type: 'no-page', reason, pattern, detail }
}
