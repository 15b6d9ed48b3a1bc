import { z } from 'zod'

/*
 * Schemas of the responses of the HTTP API, written from its specification and not from the code. Strict schemas allow exactly their
 * fields, loose ones allow more.
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
  runId: z.string().optional(),
  detailUrl: z.string().optional(),
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
  sourceId: z.string().nullable(),
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
  items: z.array(queueJob.extend({ unread: count, events: count, lastEventAt: momentOrNull })),
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

const runItem = z.strictObject({
  id: z.uuid(),
  status: z.enum(['running', 'completed', 'failed', 'cancelled']),
  stage: z.enum(['db-setup', 'pages', 'domains', 'milestones', 'done']),
  startedAt: moment,
  endedAt: momentOrNull,
  durationMs: count,
  analysisVersion: count,
  pageLimit: count.nullable(),
  domainLimit: count.nullable(),
  skipPages: z.boolean(),
  skipDomains: z.boolean(),
  dryRun: z.boolean(),
  verbose: z.boolean(),
  summary: z.looseObject({}).nullable(),
  lastProgress: z.looseObject({ pages: count, totalPages: count }),
  error: z.string().nullable(),
})

export const runs = z.strictObject({ total: count, items: z.array(runItem).max(200) })

export const run = z.strictObject({
  run: runItem,
  events: z
    .array(
      z.strictObject({
        id: z.int(),
        runId: z.uuid(),
        ts: moment,
        stage: z.string(),
        message: z.string().min(1),
        details: z.looseObject({}).nullable(),
      }),
    )
    .max(500),
})

export const gazetteerSummary = z.looseObject({
  countries: count,
  regions: count,
  cities: count,
  names: count,
  sources: z.array(
    z.looseObject({ name: z.string(), license: z.string().min(1), attribution: z.string().min(1), importedAt: moment }),
  ),
})

const placeItem = z.looseObject({
  id: z.int().positive(),
  name: z.string().min(1),
  kind: z.enum(['country', 'region', 'city', 'poi', 'supranational']),
  countryCode: z.string().nullable(),
  population: z.number().nullable(),
  lat: z.number().nullable(),
  lng: z.number().nullable(),
})

export const places = z.strictObject({
  total: count,
  page: z.int().positive(),
  pageSize: z.int().positive(),
  items: z.array(placeItem).max(200),
})

export const place = z.looseObject({
  place: placeItem,
  names: z.array(z.looseObject({ name: z.string().min(1), lang: z.string().nullable(), kind: z.string() })),
  parents: z.array(placeItem),
  children: z.array(placeItem).max(200),
  size: z.strictObject({ names: count, parents: count, children: count }),
})

export const articles = z.strictObject({
  id: count,
  count,
  items: z.array(z.looseObject({ url: z.string(), title: z.string(), mentions: z.int().positive() })).max(20),
})

export const resolved = z.strictObject({ q: z.string(), items: z.array(placeItem).max(10) })

const hubItem = z.strictObject({
  url: z.string(),
  host: z.string(),
  placeId: z.int().nullable(),
  placeSlug: z.string().nullable(),
  placeKind: z.string().nullable(),
  topicSlug: z.string().nullable(),
  topicLabel: z.string().nullable(),
  topicKind: z.enum(['section', 'path-segment']).nullable(),
  title: z.string().nullable(),
  navLinks: count,
  articleLinks: count,
  evidence: z.looseObject({}),
  firstSeenAt: moment,
  lastSeenAt: moment,
})

export const hubs = z.strictObject({ total: count, items: z.array(hubItem) })

export const gazetteerHubs = z.strictObject({
  host: z.string().nullable(),
  total: count,
  items: z.array(hubItem).max(50),
})

export const hubHosts = z.strictObject({ count, items: z.array(z.strictObject({ host: z.string(), hubs: count })) })

export const coverage = z.strictObject({
  host: z.string(),
  hubs: count,
  countriesCovered: count,
  countries: count,
  missing: z
    .array(
      z.strictObject({
        url: z.string(),
        placeId: z.int().nullable(),
        placeSlug: z.string().nullable(),
        checkedAt: moment,
      }),
    )
    .max(500),
  missingCount: count,
  patterns: z.array(z.looseObject({ pattern: z.string(), seen: count, confidence: z.number().min(0).max(1) })),
  topics: z.array(z.strictObject({ slug: z.string(), label: z.string(), hubs: count })),
})

export const mentions = z.strictObject({
  count,
  items: z.array(z.strictObject({ place: placeItem, pages: count, hubs: count })),
})

export const urlDetails = z.looseObject({
  url: z.string(),
  story: z.array(z.strictObject({ ts: moment, event: z.string(), text: z.string(), url: z.string().nullable() })),
  sources: z.array(
    z.looseObject({
      row: z.looseObject({ url: z.string(), state: z.string() }),
      aliases: z.array(
        z.looseObject({
          url: z.string(),
          classification: z.string(),
          exists: z.boolean().nullable(),
          state: z.string().nullable(),
          kind: z.string().nullable(),
        }),
      ),
      classification: z.looseObject({ kind: z.string(), confidence: z.number() }).nullable(),
      analysis: z.looseObject({}).nullable(),
      analysedAt: momentOrNull,
    }),
  ),
  classification: z.looseObject({ kind: z.string(), confidence: z.number() }).nullable(),
  analysis: z
    .looseObject({
      findings: z.looseObject({ places: z.array(z.looseObject({ place: z.string(), place_id: z.int() })) }),
      meta: z.looseObject({ deepAnalysis: z.looseObject({ findings: z.looseObject({}) }) }),
    })
    .nullable(),
  hub: hubItem.nullable(),
  verdict: z.looseObject({ state: z.string() }).nullable(),
  problems: z.array(z.looseObject({ kind: z.string() })),
})
