import { z } from 'zod'
import { messageOf, PharosError } from '../../core/errors.ts'
import { parseDate } from '../../core/extract/metadata/dates.ts'
import { cleanText } from '../../core/extract/write/escape.ts'
import { CONTENT_TYPES, type ContentType } from '../../core/retrieval/content-type.ts'
import { clipText } from '../../core/text/lines.ts'
import { hideCredentials } from '../../core/url/credentials.ts'
import { parseHttp } from '../../core/url/key.ts'
import { type CooperativeTask, runToEnd } from '../cooperative-task.ts'
import { importKey } from '../ports/tree.ts'

/** Limits of an import. A character is a UTF-16 code unit. */
export interface ImportLimits {
  readonly bytes: number
  readonly chunks: number
  /** The same limit as for a crawled page. */
  readonly pageChunks: number
  /** About the longest input of embedding models. */
  readonly chunkChars: number
  readonly urlChars: number
  readonly sectionChars: number
}

/** Limits of every import. */
export const IMPORT_LIMITS: ImportLimits = {
  bytes: 32 * 2 ** 20,
  chunks: 100_000,
  pageChunks: 25_000,
  chunkChars: 32_000,
  urlChars: 2000,
  sectionChars: 1000,
}

/** Validated chunks that another program sent. */
export interface ChunkImport {
  /** Address that the chunks belong to: an import replaces an earlier one for the same address. */
  readonly sourceUrl: string
  /** Contains at least one chunk. */
  readonly chunks: readonly GivenChunk[]
}

/** A chunk of an import. */
export interface GivenChunk {
  readonly text: string
  /** Address of its page, optionally with the fragment of its section. */
  readonly sourceUrl: string
  /** Slugs of the headings above it, joined by `/`; empty at the top of a page. */
  readonly sectionPath: string
  readonly contentType: ContentType
  /** ISO 8601: a date, or a time with its offset. */
  readonly lastUpdated: string
  /** BCP 47. */
  readonly language: string | null
}

const address = z
  .string()
  .max(IMPORT_LIMITS.urlChars)
  .refine((text) => isAddress(text))
/** A date, optionally with a time. Of a time without an offset only the date is kept, because the time zone is unknown. */
const ISO = /^\d{4}-\d{2}-\d{2}(?:[T ](?:[01]\d|2[0-3]):[0-5]\d(?::[0-6]\d(?:[.,]\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?$/i

/** Schema of one chunk. */
const chunkSchema = z.strictObject({
  text: z
    .string()
    .max(IMPORT_LIMITS.chunkChars)
    // Rejects blank texts, and lone surrogates, which cannot be stored.
    .refine((text) => cleanText(text).trim() !== '' && !/\p{Cs}/u.test(text))
    .describe('Text of the chunk, stored as given: Markdown or code.'),
  source_url: address.describe('Address of its page: http or https. The part after # is its position in the page.'),
  section_path: z
    .string()
    .max(IMPORT_LIMITS.sectionChars)
    .refine((text) => !/[\p{Cc}\p{Cs}]/u.test(text))
    .describe('Slugs of the headings above it, joined by /, such as install/linux; empty at the top of a page.'),
  content_type: z.enum(CONTENT_TYPES).describe('Kind of content.'),
  last_updated: z
    .string()
    .refine((text) => ISO.test(text) && parseDate(text) !== null)
    .meta({ examples: ['2026-02-20'] })
    .describe('When it was last changed: ISO 8601.'),
  language: z
    .string()
    .refine((text) => isLanguage(text))
    .nullish()
    .describe('BCP 47 tag such as en. Default: the language of its page.'),
})

/** Advice for each invalid field. */
const EXPECTED: Readonly<Record<string, string>> = {
  source_url: `give an http or https address without user name and password, of at most ${IMPORT_LIMITS.urlChars} characters`,
  chunks: 'give a list of chunks',
  text: `give a text of 1 to ${IMPORT_LIMITS.chunkChars} visible characters`,
  section_path: `give slugs of headings joined by /, of at most ${IMPORT_LIMITS.sectionChars} characters, or ""`,
  content_type: `give ${CONTENT_TYPES.join(' or ')}`,
  last_updated: 'give an ISO 8601 date such as 2026-02-20 or 2026-02-20T10:30:00Z',
  language: 'give a BCP 47 tag such as en or pt-BR, or leave it out',
}

/** Schema of the import without its chunks, which are validated one by one. */
const importSchema = z.strictObject({ source_url: address, chunks: z.array(z.unknown()).min(1) })

/** Field names of a chunk. */
export const CHUNK_FIELDS: readonly string[] = Object.keys(chunkSchema.shape)

/** JSON schema of an import, for documentation. Only this file validates imports. */
export const IMPORT_SHAPE: Readonly<Record<string, unknown>> = writeShape(
  z.strictObject({
    source_url: address.describe('Address that the chunks belong to. They replace all chunks imported for it before.'),
    chunks: z.array(chunkSchema).min(1).max(IMPORT_LIMITS.chunks),
  }),
)

function writeShape(schema: z.ZodType): Record<string, unknown> {
  const { $schema: _, ...shape } = z.toJSONSchema(schema, { io: 'input' })
  return shape
}

/** Parses an import from JSON text. Throws `IMPORT_INVALID` if any part of it is invalid; `what` names the import in the message. */
export function parseImportText(bytes: Uint8Array, what = 'it'): ChunkImport {
  let value: unknown
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (error) {
    const why = messageOf(error).replaceAll(/\s+/g, ' ').slice(0, 200)
    throw new PharosError('IMPORT_INVALID', { what, problem: `it is not valid JSON: ${why}` })
  }
  return parseImport(value, what)
}

/** Validates an import; throws `IMPORT_INVALID` with a list of the first faults. */
export function parseImport(value: unknown, what = 'it'): ChunkImport {
  return runToEnd(checkImport(value, what))
}

/** Number of chunks validated before yielding to other work. */
const CHUNKS_PER_YIELD = 200

/** Validates an import and yields regularly, so that a server can handle other requests meanwhile. */
export function* checkImport(value: unknown, what = 'it'): CooperativeTask<ChunkImport> {
  const faults = new Faults(what)
  const outer = importSchema.safeParse(value, { reportInput: true })
  if (!outer.success) {
    faults.add('', outer.error.issues)
    throw faults.toError()
  }
  const { source_url: sourceUrl, chunks: given } = outer.data
  if (given.length > IMPORT_LIMITS.chunks) {
    const problem = `${given.length} chunks exceed the limit of ${IMPORT_LIMITS.chunks}; split them into several sources, each with its own source_url`
    throw new PharosError('IMPORT_INVALID', { what, problem })
  }
  const chunks: GivenChunk[] = []
  const firstIndexes = new Map<string, number>()
  const pageSizes = new Map<string, number>()
  for (const [i, rawChunk] of given.entries()) {
    if (i % CHUNKS_PER_YIELD === CHUNKS_PER_YIELD - 1) yield
    const path = `chunks[${i}]`
    const parsed = chunkSchema.safeParse(rawChunk, { reportInput: true })
    if (!parsed.success) {
      faults.add(path, parsed.error.issues)
      continue
    }
    const chunk = toChunk(parsed.data)
    const { text, sourceUrl: url, sectionPath } = chunk
    const identity = JSON.stringify([url, sectionPath, text])
    const firstIndex = firstIndexes.get(identity)
    if (firstIndex === undefined) firstIndexes.set(identity, i)
    else faults.report(`${path}: the same as chunks[${firstIndex}], leave one of them out`)
    const pageKey = importKey(url) ?? url
    const size = (pageSizes.get(pageKey) ?? 0) + 1
    pageSizes.set(pageKey, size)
    if (size === IMPORT_LIMITS.pageChunks + 1) {
      faults.report(`${path}: more than ${IMPORT_LIMITS.pageChunks} chunks of one page, split it into several pages`)
    }
    chunks.push(chunk)
  }
  if (faults.count > 0) throw faults.toError()
  return { sourceUrl, chunks }
}

function toChunk(given: z.output<typeof chunkSchema>): GivenChunk {
  const { text, source_url, section_path, content_type, last_updated, language } = given
  const [tag = null] = language ? Intl.getCanonicalLocales(language) : []
  return {
    text,
    sourceUrl: source_url,
    sectionPath: section_path,
    contentType: content_type,
    // The schema has already validated the date.
    lastUpdated: parseDate(last_updated) ?? last_updated,
    language: tag,
  }
}

/** Collects faults; the error describes the first ones and counts the rest. */
class Faults {
  readonly #what: string
  readonly #described: string[] = []
  count = 0

  constructor(what: string) {
    this.#what = what
  }

  /** Adds the first fault of each field. */
  add(path: string, issues: readonly z.core.$ZodIssue[]): void {
    const seen = new Set<string>()
    for (const issue of issues) {
      const field = issue.path.map(String).join('.')
      if (issue.code === 'unrecognized_keys') {
        for (const key of issue.keys) this.report(`${join(path, shorten(key))}: unknown field, leave it out`)
        continue
      }
      if (seen.has(field)) continue
      seen.add(field)
      this.report(`${join(path, field)}: ${writeFault(issue, field)}`)
    }
  }

  report(fault: string): void {
    this.count++
    if (this.#described.length < MAX_LISTED_FAULTS) this.#described.push(fault)
  }

  toError(): PharosError {
    const more = this.count - this.#described.length
    const rest = more > 0 ? `; and ${more} more ${more === 1 ? 'fault' : 'faults'}` : ''
    return new PharosError('IMPORT_INVALID', { what: this.#what, problem: this.#described.join('; ') + rest })
  }
}

/** Maximum number of faults described. */
const MAX_LISTED_FAULTS = 20

function join(path: string, field: string): string {
  return [path, field].filter((part) => part !== '').join('.') || 'the import'
}

function writeFault({ input, code }: z.core.$ZodIssue, field: string): string {
  const expected = EXPECTED[field] ?? 'give an object with source_url and chunks'
  if (input === undefined) return `missing, ${expected}`
  const isLong = code === 'too_big' && typeof input === 'string'
  return isLong ? `received ${input.length} characters, ${expected}` : `received ${show(input)}, ${expected}`
}

/** Maximum length of a received value in a message. */
const MAX_SHOWN_CHARS = 60

function show(input: unknown): string {
  if (typeof input === 'string') return shorten(JSON.stringify(hideCredentials(input)))
  if (Array.isArray(input)) return input.length === 0 ? 'an empty list' : 'a list'
  return typeof input === 'object' && input !== null ? 'an object' : shorten(String(input))
}

function shorten(text: string): string {
  return text.length > MAX_SHOWN_CHARS ? `${clipText(text, MAX_SHOWN_CHARS)}…` : text
}

function isAddress(text: string): boolean {
  const url = parseHttp(text)
  // Measures the encoded address, as a crawl does, because non-ASCII letters take several characters.
  return url !== undefined && url.username === '' && url.password === '' && url.href.length <= IMPORT_LIMITS.urlChars
}

function isLanguage(text: string): boolean {
  // A word such as `english` has the syntax of a tag, but no language has that code.
  if (!/^[a-z]{2,3}(?:-|$)/i.test(text)) return false
  try {
    return Intl.getCanonicalLocales(text).length === 1
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  }
}
