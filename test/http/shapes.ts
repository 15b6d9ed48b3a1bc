import { z } from 'zod'

/*
 * The shapes of the contract, written from its text and not from the program. Strict ones hold exactly these fields; loose ones may
 * hold more.
 */

const moment = z.iso.datetime()
const momentOrNull = moment.nullable()
const count = z.int().min(0)

export const failure = z.strictObject({
  error: z.string().min(1),
  code: z.string().regex(/^[A-Z_]+$/),
  id: z.uuid(),
  advice: z.string().optional(),
  field: z.string().optional(),
})

const jobStatus = z.enum(['queued', 'running', 'done', 'failed', 'stopped', 'cancelled'])

export const jobItem = z.looseObject({
  id: z.string(),
  pid: z.int().nullable(),
  url: z.string(),
  startedAt: momentOrNull,
  paused: z.boolean(),
  visited: count,
  downloaded: count,
  errors: count,
  queueSize: count,
  lastActivityAt: momentOrNull,
  status: jobStatus,
  stage: z.enum(['queued', 'preparing', 'running', 'ended']),
  stageChangedAt: moment,
})

export const crawls = z.strictObject({ count, items: z.array(jobItem) })

export const jobDetail = z.looseObject({
  id: z.string(),
  pid: z.int().nullable(),
  args: z.array(z.string()).min(1),
  startUrl: z.string(),
  startedAt: momentOrNull,
  endedAt: momentOrNull,
  status: jobStatus,
  paused: z.boolean(),
  lastActivityAt: momentOrNull,
  metrics: z.looseObject({
    visited: count,
    downloaded: count,
    found: count,
    saved: count,
    errors: count,
    queueSize: count,
    requestsPerSec: z.number().min(0),
    downloadsPerSec: z.number().min(0),
    errorRatePerMin: z.number().min(0),
    bytesPerSec: z.number().min(0),
  }),
  lastProgress: z.looseObject({ visited: count, queueSize: count, paused: z.boolean() }).nullable(),
})

export const started = z.strictObject({
  pid: z.int().positive(),
  args: z.array(z.string()).min(1),
  jobId: z.uuid(),
  stage: z.literal('preparing'),
  durationMs: z.number().positive(),
})

const queueJob = z.looseObject({
  id: z.string(),
  url: z.string(),
  pid: z.int().nullable(),
  startedAt: momentOrNull,
  endedAt: momentOrNull,
  status: jobStatus,
})

export const queues = z.strictObject({
  total: count,
  items: z.array(queueJob.extend({ events: count, lastEventAt: momentOrNull })),
})

const cursors = z.strictObject({ nextBefore: z.int().nullable(), prevAfter: z.int().nullable() })

export const queueEvents = z.strictObject({
  job: queueJob,
  items: z.array(
    z.strictObject({
      id: z.int(),
      ts: moment,
      action: z.enum(['enqueued', 'dequeued', 'retry', 'drop']),
      url: z.string(),
      depth: z.int().nullable(),
      host: z.string().nullable(),
      reason: z.string().nullable(),
      queueSize: z.int(),
      alias: z.string().nullable(),
    }),
  ),
  cursors,
})

const note = z.strictObject({
  id: z.int(),
  ts: moment,
  kind: z.string(),
  scope: z.string().nullable(),
  target: z.string().nullable(),
  message: z.string().nullable(),
  details: z.record(z.string(), z.unknown()).nullable(),
  jobId: z.string(),
})

export const problems = z.strictObject({ items: z.array(note.extend({ severity: z.enum(['info', 'warn']) })), cursors })
export const milestones = z.strictObject({ items: z.array(note), cursors })

export const crawlTypes = z.strictObject({
  items: z.array(
    z.strictObject({
      name: z.string(),
      description: z.string(),
      declaration: z.looseObject({ crawlType: z.string(), useSitemap: z.boolean(), sitemapOnly: z.boolean() }),
    }),
  ),
})

export const health = z.looseObject({
  running: z.boolean(),
  stage: z.string().nullable(),
  queueSize: count,
  lastProgressAt: momentOrNull,
  paused: z.boolean(),
})

export const systemHealth = z.strictObject({
  dbSizeBytes: count.nullable(),
  freeDiskBytes: count.nullable(),
  memory: z.looseObject({ rss: count, heapUsed: count, heapTotal: count }),
  cpu: z.strictObject({ percent: z.number(), percentOfOneCore: z.number() }),
  journalMode: z.string().nullable(),
  walAutocheckpoint: z.int().nullable(),
})

export const urls = z.looseObject({
  total: count,
  count,
  items: z.array(z.looseObject({ url: z.string(), host: z.string(), ts: moment, status: z.int().nullable() })),
  cursor: z.base64().nullable(),
  notices: z.array(z.string()),
})

export const urlsWithDetails = z.looseObject({
  items: z.array(
    z.looseObject({
      url: z.string(),
      classification: z.string().nullable(),
      combined_hint: z.enum(['article', 'nav', 'other']).nullable(),
      combined_confidence: z.number().min(0).max(1).nullable(),
      depth: z.int(),
      title: z.string().nullable(),
    }),
  ),
})

export const recentErrors = z.looseObject({
  items: z
    .array(
      z.looseObject({
        status: z.int().nullable(),
        host: z.string(),
        count: z.int().positive(),
        examples: z.array(z.looseObject({ url: z.string(), at: moment })).max(3),
      }),
    )
    .max(50),
})

/** Payloads of events, by their names. */
export const events: Readonly<Record<string, z.ZodType>> = {
  log: z.looseObject({
    stream: z.enum(['server', 'stdout', 'stderr']),
    line: z.string(),
    jobId: z.string().nullable(),
  }),
  progress: z.looseObject({
    visited: count,
    downloaded: count,
    found: count,
    saved: count,
    errors: count,
    queueSize: count,
    paused: z.boolean(),
    jobId: z.string(),
  }),
  cache: z.looseObject({ jobId: z.string() }),
  queue: z.looseObject({
    action: z.enum(['enqueued', 'dequeued', 'retry', 'drop']),
    url: z.string(),
    jobId: z.string(),
  }),
  problem: z.looseObject({ kind: z.string(), jobId: z.string(), severity: z.enum(['info', 'warn']) }),
  milestone: z.looseObject({ kind: z.string(), jobId: z.string() }),
  done: z.looseObject({ code: z.int().nullable(), signal: z.string().nullable(), endedAt: moment, jobId: z.string() }),
  jobs: z.looseObject({ count, items: z.array(jobItem) }),
}
