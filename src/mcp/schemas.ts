import { z } from 'zod'
import { RARE, UNLISTED } from './listed-schema.ts'

/** Maximum length of a text argument. */
const MAX_CHARS = 4096

/** A required text. */
export function textOf(description: string): z.ZodString {
  return z.string().max(MAX_CHARS).describe(description)
}

/** The schema of an optional text. */
export type OptionalText = z.ZodOptional<z.ZodString>

/** Creates the schema of an optional text. */
export function text(description?: string): OptionalText {
  return describe(z.string().max(MAX_CHARS), description).optional()
}

/** The schema of an optional number. */
export type OptionalNumber = z.ZodOptional<z.ZodNumber>

/** Creates the schema of an optional number. */
export function number(description?: string): OptionalNumber {
  return describe(z.number(), description).optional()
}

/** An optional flag. */
export function flag(description?: string): z.ZodOptional<z.ZodBoolean> {
  return describe(z.boolean(), description).optional()
}

/** An optional list of texts, given as a list or comma-separated. */
export type OptionalTexts = z.ZodOptional<z.ZodUnion<readonly [z.ZodString, z.ZodArray<z.ZodString>]>>

/** Creates the schema of an optional list of texts. */
export function texts(description?: string): OptionalTexts {
  const schema = z.union([z.string().max(MAX_CHARS), z.array(z.string().max(MAX_CHARS)).max(100)])
  return describe(schema, description).optional()
}

/** Marks a field as accepted but not listed: an alternative name of a parameter, or a detail of a response. */
export function unlisted<T extends z.ZodType>(schema: T): T {
  return schema.meta(UNLISTED)
}

/** Marks a parameter that few questions need; it is listed only in the full tool set. */
export function rare<T extends z.ZodType>(schema: T): T {
  return schema.meta(RARE)
}

function describe<T extends z.ZodType>(schema: T, description: string | undefined): T {
  return description === undefined ? schema : schema.describe(description)
}

/** A schema that also accepts null. */
export type OrNull<T extends z.ZodType> = z.ZodUnion<readonly [T, z.ZodNull]>

/** Makes a schema accept null. */
export function orNull<T extends z.ZodType>(schema: T): OrNull<T> {
  return z.union([schema, z.null()])
}

/** The source parameter with all its alternative names. */
export const ONE_SOURCE: Readonly<Record<'source' | 'library' | 'sourceId', OptionalText>> = {
  source: text('Name, name@version, id or start URL.'),
  library: unlisted(text()),
  sourceId: unlisted(text()),
}

/** A source in a response. */
export const SOURCE_RECORD: z.ZodObject<{
  id: z.ZodString
  name: z.ZodString
  version: OrNull<z.ZodString>
  url: z.ZodString
}> = z.object({ id: z.string(), name: z.string(), version: orNull(z.string()), url: z.string() })

/** The first addresses of a list, with their reasons. */
const ADDRESSES = z.array(z.object({ url: z.string(), reason: z.string(), pattern: orNull(z.string()) }))

/** A crawl in a list. */
export const CRAWL_ENTRY: z.ZodObject = z.object({
  crawlId: z.string(),
  source: SOURCE_RECORD,
  kind: z.string(),
  state: z.string(),
  startedAt: z.string(),
  endedAt: orNull(z.string()),
  elapsedMs: z.number(),
  problem: orNull(z.string()),
})

/** A crawl with all details. */
export const CRAWL_REPORT: z.ZodObject = z.object({
  source: SOURCE_RECORD,
  status: z.enum(['PENDING', 'CRAWLING', 'INDEXED', 'UPDATING', 'ERROR']),
  isRunning: z.boolean(),
  crawl: orNull(CRAWL_ENTRY),
  pagesCrawled: z.number(),
  pagesSkipped: z.number(),
  pagesTotal: z.number(),
  pending: z.number(),
  errors: z.number(),
  errorUrls: ADDRESSES,
  filtered: z.number(),
  filteredUrls: ADDRESSES,
  pages: z.number(),
  chunks: z.number(),
  cappedAt: orNull(z.number()),
  unread: z.number(),
  incomplete: orNull(z.string()),
  waiting: z.array(z.object({ host: z.string(), until: z.string(), cause: orNull(z.string()) })),
  partial: orNull(z.string()),
  needsRendering: z.number(),
  widerScope: orNull(
    z.object({
      message: z.string(),
      pages: z.number(),
      refused: z.number(),
      listed: z.number(),
      folder: orNull(z.string()),
      scope: z.string(),
      allowPatterns: z.array(z.string()),
    }),
  ),
  listFaults: unlisted(z.array(z.string()).optional()),
  documentation: unlisted(z.array(z.string()).optional()),
})
