import { z } from 'zod'

/** Longest text that an argument may be. */
const MAX_CHARS = 4096

/** A text that is given. */
export function textOf(description: string): z.ZodString {
  return z.string().max(MAX_CHARS).describe(description)
}

/** A text that may be given. */
export function text(description: string): z.ZodOptional<z.ZodString> {
  return textOf(description).optional()
}

/** A number that may be given. */
export function number(description: string): z.ZodOptional<z.ZodNumber> {
  return z.number().describe(description).optional()
}

/** A switch that may be given. */
export function flag(description: string): z.ZodOptional<z.ZodBoolean> {
  return z.boolean().describe(description).optional()
}

/** Several texts that may be given: as a list, or with commas between them. */
export function texts(description: string): z.ZodOptional<z.ZodUnion<readonly [z.ZodString, z.ZodArray<z.ZodString>]>> {
  return z
    .union([z.string().max(MAX_CHARS), z.array(z.string().max(MAX_CHARS)).max(100)])
    .describe(description)
    .optional()
}

/** A value, or null: with both types spelt out, which more clients understand than one type that is two. */
export type OrNull<T extends z.ZodType> = z.ZodUnion<readonly [T, z.ZodNull]>

/** Makes such a schema. */
export function orNull<T extends z.ZodType>(schema: T): OrNull<T> {
  return z.union([schema, z.null().describe('None.')])
}

/** The names under which one source can be given. */
export interface SourceShape {
  readonly source: z.ZodOptional<z.ZodString>
  readonly library: z.ZodOptional<z.ZodString>
  readonly sourceId: z.ZodOptional<z.ZodString>
}

/** The source that a tool is about, under all its names. */
export const ONE_SOURCE: SourceShape = {
  source: text('The source: its name, name@version, id or start URL.'),
  library: text('Same as source.'),
  sourceId: text('Same as source; usually its id.'),
}

/** A source in an answer. */
export const SOURCE_RECORD: z.ZodObject<{
  id: z.ZodString
  name: z.ZodString
  version: OrNull<z.ZodString>
  url: z.ZodString
}> = z.object({ id: z.string(), name: z.string(), version: orNull(z.string()), url: z.string() })

/** How many addresses there are, and the first of them. */
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

/** Everything about one crawl. */
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
  needsRendering: z.number(),
})
