import { z } from 'zod'
import { PLACE_KINDS } from '../library/ports/findings.ts'
import { JOB_STATUSES } from '../library/ports/job-log.ts'
import { timestamp } from './fields.ts'
import type { AnswerSpec } from './route.ts'

/** The body of an error response. */
export const failureShape: z.ZodType = z.object({
  error: z.string(),
  code: z.string(),
  id: z.string(),
  advice: z.string().optional(),
  field: z.string().optional(),
  runId: z.string().optional(),
  detailUrl: z.string().optional(),
})

const FAILURES: Readonly<Record<number, string>> = {
  400: 'The request is invalid.',
  401: 'The token is missing or wrong.',
  403: 'The request came from a page of another site.',
  404: 'Not found.',
  405: 'The route does not support this method.',
  409: 'Conflict with the current state, such as a running crawl.',
  413: 'The body is too large.',
  414: 'The address is too long.',
  415: 'The body is not JSON.',
  421: 'The server does not accept this host name.',
  422: 'The named source, file or address cannot be used.',
  429: 'A limit is reached; try again later.',
  500: 'Unexpected error; the server log has the details under the id.',
  502: 'A page or service could not be fetched.',
  503: 'The library, or the server, cannot do that at the moment.',
}

/** The error responses of a route. */
export function failures(...statuses: readonly number[]): Record<number, AnswerSpec> {
  return Object.fromEntries(
    statuses.map((status) => [status, { what: FAILURES[status] ?? 'It failed.', schema: failureShape }]),
  )
}

const count = z.int().min(0)

/** A job in a list. */
export const jobItem: z.ZodType = z.object({
  id: z.string(),
  pid: z.int().nullable(),
  url: z.string(),
  startedAt: timestamp,
  paused: z.boolean(),
  visited: count,
  downloaded: count,
  errors: count,
  queueSize: count,
  lastActivityAt: timestamp,
  status: z.enum(JOB_STATUSES),
  stage: z.enum(['queued', 'preparing', 'running', 'ended']),
  stageChangedAt: z.string(),
  elsewhere: z.literal(true).optional(),
  sourceId: z.string().nullable(),
})

/** A job with all its details. */
export const jobDetail: z.ZodType = z.looseObject({
  id: z.string(),
  pid: z.int().nullable(),
  args: z.array(z.string()),
  startUrl: z.string(),
  startedAt: timestamp,
  endedAt: timestamp,
  status: z.enum(JOB_STATUSES),
  paused: z.boolean(),
  lastActivityAt: timestamp,
  crawlId: z.string().nullable(),
  sourceId: z.string().nullable(),
  problem: z.string().nullable(),
  documentation: z
    .array(z.string())
    .describe(
      'Addresses of documentation that a package with only one short page names, and that are not sources yet.',
    ),
  metrics: z.object({
    visited: count,
    downloaded: count,
    found: count,
    saved: count,
    errors: count,
    queueSize: count,
    bytes: count,
    requestsPerSec: z.number(),
    downloadsPerSec: z.number(),
    errorRatePerMin: z.number(),
    bytesPerSec: z.number(),
    cacheHitRatio: z.number(),
  }),
  lastProgress: z.record(z.string(), z.unknown()).nullable(),
})

/** Ids at which a list continues in both directions. */
export const cursors: z.ZodType = z.object({ nextBefore: z.int().nullable(), prevAfter: z.int().nullable() })

/** A source. */
export const sourceShape: z.ZodType = z.looseObject({
  id: z.string(),
  name: z.string(),
  version: z.string().nullable(),
  label: z.string(),
  kind: z.enum(['site', 'folder', 'archive', 'repository', 'package', 'import']),
  url: z.string(),
  status: z.enum(['PENDING', 'CRAWLING', 'INDEXED', 'UPDATING', 'ERROR']),
  pages: count,
  chunks: count,
  meaning: z
    .number()
    .nullable()
    .describe('Share of its chunks that search by meaning can find, from 0 to 1; null without search by meaning.'),
  balance: z.record(z.string(), count),
  reasons: z.record(z.string(), count),
  createdAt: z.string(),
  lastCrawledAt: timestamp,
  refresh: z
    .object({
      every: z.string(),
      everyMs: count,
      nextAt: z.string().describe('When it is due next.'),
      attempts: count.describe('Attempts since the last success, with one that runs now.'),
      problem: z.string().nullable().describe('Why the last attempt failed; null if it did not, or has not ended.'),
    })
    .nullable()
    .describe('When the source is crawled again by itself; null for never.'),
  isRunning: z.boolean(),
  isInterrupted: z.boolean(),
  partial: z
    .looseObject({ message: z.string(), cap: count.nullable(), unread: count, pending: count, failed: count })
    .nullable()
    .describe(
      'What the source lacks because its last crawl was capped, interrupted or partly failed; null if nothing is missing.',
    ),
  widerScope: z
    .looseObject({
      message: z.string(),
      advice: z.string(),
      pages: count,
      refused: count,
      listed: count,
      folder: z.string().nullable(),
      scope: z.object({ reach: z.string(), allow: z.array(z.string()) }),
    })
    .nullable()
    .describe(
      'A wider scope that the source probably needs, because its own admits only a few pages; null if its own fits.',
    ),
  documentation: z
    .array(z.string())
    .describe(
      'Addresses of documentation that a package with only one short page names, and that are not sources yet.',
    ),
})

/** An address of the ledger. */
export const rowShape: z.ZodType = z.looseObject({
  url: z.string(),
  host: z.string(),
  state: z.string(),
  reason: z.string().nullable(),
  status: z.int().nullable(),
})

/** A hub page of a place. */
export const hubShape: z.ZodType = z.object({
  url: z.string(),
  host: z.string(),
  placeId: z.int().nullable(),
  placeSlug: z.string().nullable(),
  placeKind: z.enum(PLACE_KINDS).nullable(),
  topicSlug: z.string().nullable(),
  topicLabel: z.string().nullable(),
  topicKind: z.string().nullable(),
  title: z.string().nullable(),
  navLinks: count,
  articleLinks: count,
  evidence: z.record(z.string(), z.unknown()),
  firstSeenAt: z.string(),
  lastSeenAt: z.string(),
})

/** A pack that was exported on request. */
export const packShape: z.ZodType = z.object({
  id: z.string(),
  source: z.string(),
  state: z.enum(['writing', 'ready', 'failed']),
  bytes: z.int().nullable(),
  files: z.int().nullable(),
  chunks: z.int().nullable(),
  problem: z.string().nullable(),
  createdAt: z.string(),
})
