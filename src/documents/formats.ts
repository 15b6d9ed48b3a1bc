import { constants, gunzipSync } from 'node:zlib'
import { codeOf } from '../core/errors.ts'
import { bytesToText } from '../core/text/code-units.ts'
import { baseName, extensionOf } from '../core/text/path.ts'
import { type ConversionResult, type Converter, DocumentError } from './document.ts'

/** A document format that can be converted to pages. */
export interface Format {
  readonly name: string
  readonly extensions: string
  readonly mediaTypes: readonly string[]
  /**
   * How links are treated. `binary`: relative links are dropped, because they lead to other parts of the file. `markup` (written by hand):
   * links are followed like those in Markdown. `data`: links are kept in the text but not followed.
   */
  readonly form: 'binary' | 'markup' | 'data'
  /** Loaded with the first file of the format, because most libraries have no such file. */
  readonly load: () => Promise<Converter>
}

const OPEN_XML = 'application/vnd.openxmlformats-officedocument'

const FORMATS: readonly Format[] = [
  {
    name: 'PDF',
    extensions: 'pdf',
    mediaTypes: ['application/pdf'],
    form: 'binary',
    load: async () => (await import('./pdf.ts')).convertPdf,
  },
  {
    name: 'Word document',
    extensions: 'docx',
    mediaTypes: [`${OPEN_XML}.wordprocessingml.document`],
    form: 'binary',
    load: async () => (await import('./office/docx.ts')).convertDocx,
  },
  {
    name: 'PowerPoint presentation',
    extensions: 'pptx',
    mediaTypes: [`${OPEN_XML}.presentationml.presentation`],
    form: 'binary',
    load: async () => (await import('./office/pptx.ts')).convertPptx,
  },
  {
    name: 'Excel workbook',
    extensions: 'xlsx',
    mediaTypes: [`${OPEN_XML}.spreadsheetml.sheet`],
    form: 'binary',
    load: async () => (await import('./office/xlsx.ts')).convertXlsx,
  },
  {
    name: 'OpenDocument text',
    extensions: 'odt',
    mediaTypes: ['application/vnd.oasis.opendocument.text'],
    form: 'binary',
    load: async () => (await import('./office/odt.ts')).convertOdt,
  },
  {
    name: 'EPUB',
    extensions: 'epub',
    mediaTypes: ['application/epub+zip'],
    form: 'binary',
    load: async () => (await import('./epub.ts')).convertEpub,
  },
  {
    name: 'RTF',
    extensions: 'rtf',
    mediaTypes: ['application/rtf', 'text/rtf'],
    form: 'data',
    load: async () => (await import('./office/rtf.ts')).convertRtf,
  },
  {
    name: 'Jupyter notebook',
    extensions: 'ipynb',
    mediaTypes: ['application/x-ipynb+json'],
    form: 'data',
    load: async () => (await import('./notebook.ts')).convertNotebook,
  },
  {
    name: 'reStructuredText',
    extensions: 'rst rest',
    mediaTypes: ['text/x-rst', 'text/prs.fallenstein.rst'],
    form: 'markup',
    load: async () => (await import('./rst.ts')).convertRst,
  },
  {
    name: 'AsciiDoc',
    extensions: 'adoc asciidoc asc',
    mediaTypes: ['text/asciidoc', 'text/x-asciidoc'],
    form: 'markup',
    load: async () => (await import('./asciidoc.ts')).convertAsciidoc,
  },
  {
    name: 'Org',
    extensions: 'org',
    // Databases of media types give the last one for `.org`, although it belonged to another program.
    mediaTypes: ['text/org', 'text/x-org', 'application/vnd.lotus-organizer'],
    form: 'markup',
    load: async () => (await import('./org.ts')).convertOrg,
  },
  {
    name: 'CSV',
    extensions: 'csv tsv',
    mediaTypes: ['text/csv', 'text/tab-separated-values'],
    form: 'data',
    load: async () => (await import('./csv.ts')).convertCsv,
  },
]

const MAN: Format = {
  name: 'man page',
  extensions: '',
  mediaTypes: ['text/troff', 'application/x-troff', 'application/x-troff-man'],
  form: 'data',
  load: async () => (await import('./man.ts')).convertMan,
}

const OPENAPI: Format = {
  name: 'OpenAPI description',
  extensions: '',
  mediaTypes: [
    'application/vnd.oai.openapi',
    'application/vnd.oai.openapi+json',
    'application/openapi+json',
    'application/openapi+yaml',
  ],
  form: 'data',
  load: async () => (await import('./openapi.ts')).convertOpenapi,
}

const BY_EXTENSION: ReadonlyMap<string, Format> = new Map(
  FORMATS.flatMap((format) => format.extensions.split(' ').map((extension) => [extension, format] as const)),
)

const BY_MEDIA_TYPE: ReadonlyMap<string, Format> = new Map(
  [...FORMATS, MAN, OPENAPI].flatMap((format) => format.mediaTypes.map((type) => [type, format] as const)),
)

/** `printf.3`, `git-log.1.gz`, `perlfunc.1p`: a name and its manual section. */
const MAN_PAGE = /^[^.].*\.[1-9](?:[a-z]{1,4})?(?:\.gz)?$/
const PACKED_MAN_PAGE = /^[^.].*\.[1-9](?:[a-z]{1,4})?\.gz$/
/** Start of a manual page: a comment or a request. */
const TROFF = /^\s*[.'](?:\\"|(?:TH|Dd|so|de|ds|nr|ie|if|ig)\s)/
/** Start of an AsciiDoc text: a title, often underlined. */
const ASCIIDOC_TITLE = /^\s*(?:= \S.*|\S.*\r?\n={4,}[ \t]*)\r?\n/
/** Marks that only AsciiDoc has: a block name, a condition, a macro with brackets. */
const ASCIIDOC_MARK =
  /^\[(?:verse|quote|source|listing|abstract|horizontal|NOTE|TIP|IMPORTANT|WARNING|CAUTION)\b[^\]\n]*\]\s*$|^(?:ifn?def|include)::\S|\b(?:link|linkgit|xref|mailto|https?):[^\s[\]]+\[/m
/** Extensions of files whose content is checked, because most JSON and YAML is not OpenAPI. */
const OPENAPI_EXTENSIONS = new Set(['json', 'yaml', 'yml'])
/** The version key of a description, after an optional license comment. */
const OPENAPI_KEY = /^[\s{]*(?:#.*\n\s*)*["']?(?:openapi|swagger)["']?\s*:\s*["']?[23]\.\d/m
const SNIFF_BYTES = 4096
const MAX_UNPACKED_BYTES = 2 ** 22
/** PGP signatures share the extension `.asc` with AsciiDoc. */
const SIGNATURE = /^-----BEGIN PGP /

/** The format of a file that needs a converter; undefined for all others. */
export function formatOf(path: string, bytes: Uint8Array): Format | undefined {
  const beginning = PACKED_MAN_PAGE.test(baseName(path)) ? unpackBeginning(bytes) : beginningOf(bytes)
  const named = formatOfName(path, beginning)
  if (named !== undefined) return named
  const extension = extensionOf(path)
  if (extension === 'txt' && isAsciidoc(beginning)) return BY_EXTENSION.get('adoc')
  return OPENAPI_EXTENSIONS.has(extension) ? formatOfText(beginning) : undefined
}

/** Many projects, including Git, write AsciiDoc in plain text files. */
function isAsciidoc(beginning: string): boolean {
  return ASCIIDOC_TITLE.test(beginning) && ASCIIDOC_MARK.test(beginning)
}

/** The first characters of compressed bytes. */
function unpackBeginning(bytes: Uint8Array): string {
  try {
    // A truncated stream is enough for the start.
    const unpacked = gunzipSync(bytes.subarray(0, 4 * SNIFF_BYTES), {
      finishFlush: constants.Z_SYNC_FLUSH,
      maxOutputLength: MAX_UNPACKED_BYTES,
    })
    return beginningOf(unpacked)
  } catch (error) {
    // Bytes that cannot be decompressed have no format.
    if (codeOf(error) !== '') return ''
    throw error
  }
}

/** The first characters of bytes, as many as detection needs. */
export function beginningOf(bytes: Uint8Array): string {
  return bytesToText(bytes.subarray(0, SNIFF_BYTES))
}

/** OpenAPI if a line of the beginning starts with an `openapi` or `swagger` version key; undefined otherwise. */
export function formatOfText(beginning: string): Format | undefined {
  return OPENAPI_KEY.test(beginning) ? OPENAPI : undefined
}

/**
 * The format by file name; undefined for a PGP signature, which shares `.asc` with AsciiDoc. A manual page needs a section suffix, and
 * either a `man` folder or a troff start.
 */
export function formatOfName(path: string, beginning = ''): Format | undefined {
  if (SIGNATURE.test(beginning)) return undefined
  const known = BY_EXTENSION.get(extensionOf(path)) ?? formatOfSource(path)
  if (known !== undefined) return known
  const isManual = /(?:^|\/)man[1-9a-z]*\//.test(path) || TROFF.test(beginning)
  return isManual && MAN_PAGE.test(baseName(path)) ? MAN : undefined
}

/** `tutorial.rst.txt`: sources that Sphinx publishes beside its pages. */
function formatOfSource(path: string): Format | undefined {
  if (extensionOf(path) !== 'txt') return undefined
  const format = BY_EXTENSION.get(extensionOf(path.slice(0, -'.txt'.length)))
  return format?.form === 'binary' ? undefined : format
}

/** Whether a file name has a known document format. */
export function isDocumentName(path: string): boolean {
  return BY_EXTENSION.has(extensionOf(path)) || PACKED_MAN_PAGE.test(baseName(path))
}

/**
 * Whether a page of a folder was made from a document. If a file has several pages, the key of each ends with `#` and the name of the page.
 */
export function isDocumentPage(key: string): boolean {
  const file = key.slice(0, Math.max(0, key.lastIndexOf('#')))
  return (
    formatOfName(key) !== undefined || formatOfName(file) !== undefined || OPENAPI_EXTENSIONS.has(extensionOf(file))
  )
}

/** The format of a response by its media type. */
export function formatOfType(mediaType: string): Format | undefined {
  return BY_MEDIA_TYPE.get(mediaType)
}

/** Converts a document to pages. Every failure becomes a refusal with its reason. */
export async function convertDocument(
  { name, load }: Format,
  bytes: Uint8Array,
  path: string,
): Promise<ConversionResult> {
  const convert = await load()
  try {
    return await convert(bytes, path)
  } catch (error) {
    if (error instanceof DocumentError) return { type: 'refused', reason: error.reason, detail: error.message }
    return { type: 'refused', reason: 'damaged', detail: `it is not a readable ${name}` }
  }
}
