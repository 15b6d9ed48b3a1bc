import { z } from 'zod'
import { PharosError } from '../../core/errors.ts'
import { withoutUndefined } from '../../core/without-undefined.ts'
import { runHref } from '../../http/advice.ts'
import { countField, jobId, limitField, timestamp } from '../../http/fields.ts'
import { createRoute, type Route, reply } from '../../http/route.ts'
import { failures } from '../../http/shapes.ts'
import { RUN_STAGES, RUN_STATUSES, type RunOptions } from '../ports/analyses.ts'
import { withAnalysisStores } from './place-stores.ts'
import { runEventRecord, runRecord, startAnalysis } from './run-records.ts'

const GROUP = 'Analysis'
const MAX_EVENTS = 500
const count = z.int().min(0)
const limit = z.int().min(1).max(1_000_000_000).optional()

/** The options of a run; all have defaults. */
export const runBody: z.ZodType<RunInput> = z.object({
  analysisVersion: z
    .int()
    .min(1)
    .max(1_000_000)
    .optional()
    .describe('Skips pages that were analysed by this version or a later one. Default: the version of this program.'),
  pageLimit: limit.describe('Maximum number of pages to analyse.'),
  domainLimit: limit.describe('Maximum number of hosts to analyse.'),
  skipPages: z.boolean().optional().describe('Skips the pages.'),
  skipDomains: z.boolean().optional().describe('Skips the hosts.'),
  dryRun: z.boolean().optional().describe('Dry run: stores only the record of the run.'),
  verbose: z.boolean().optional().describe('Records more events of the run.'),
})

/** The options given for a run. */
type RunInput = { readonly [K in keyof RunOptions]?: NonNullable<RunOptions[K]> | undefined }

const run = z.object({
  id: z.string(),
  status: z.enum(RUN_STATUSES),
  stage: z.enum(RUN_STAGES),
  startedAt: z.string(),
  endedAt: timestamp,
  durationMs: count,
  analysisVersion: count,
  pageLimit: count.nullable(),
  domainLimit: count.nullable(),
  skipPages: z.boolean(),
  skipDomains: z.boolean(),
  dryRun: z.boolean(),
  verbose: z.boolean(),
  summary: z.record(z.string(), z.unknown()).nullable(),
  lastProgress: z.looseObject({ pages: count, totalPages: count, articles: count, places: count, hubs: count }),
  error: z.string().nullable(),
})

const event = z.object({
  id: z.int(),
  runId: z.string(),
  ts: z.string(),
  stage: z.enum(RUN_STAGES),
  message: z.string(),
  details: z.record(z.string(), z.unknown()).nullable(),
})

/** Analysis runs over the stored pages. */
export const analysisRoutes: readonly Route[] = [
  createRoute({
    method: 'get',
    path: '/api/analysis',
    group: GROUP,
    summary: 'The analysis runs, newest first.',
    query: z.object({ limit: limitField(50, 200), offset: countField(0, 'Number of runs to skip.') }),
    answers: {
      200: { what: 'The runs.', schema: z.object({ total: count, items: z.array(run) }) },
      ...failures(400, 503),
    },
    async run({ query }, { ports }) {
      const { total, items } = await withAnalysisStores(
        ports,
        ({ analyses }) => analyses.listRuns({ limit: query.limit, offset: query.offset ?? 0 }),
        () => ({ total: 0, items: [] }),
      )
      const now = Date.now()
      return reply({ total, items: items.map((item) => runRecord(item, now)) })
    },
  }),
  createRoute({
    method: 'get',
    path: '/api/analysis/:id',
    group: GROUP,
    summary: 'One run with its events, newest first.',
    params: z.object({ id: jobId }),
    query: z.object({
      eventsLimit: countField(1, `How many events, at most ${MAX_EVENTS}.`),
      limit: limitField(100, MAX_EVENTS),
    }),
    answers: {
      200: { what: 'The run and its newest events.', schema: z.object({ run, events: z.array(event) }) },
      ...failures(400, 404, 503),
    },
    async run({ params, query }, { ports }) {
      const maxEvents = Math.min(query.eventsLimit ?? query.limit, MAX_EVENTS)
      const found = await withAnalysisStores(
        ports,
        async ({ analyses }) => {
          const storedRun = await analyses.findRun(params.id)
          if (storedRun === undefined) return undefined
          return { storedRun, events: await analyses.listEvents(storedRun.id, maxEvents) }
        },
        () => undefined,
      )
      if (found === undefined) throw new PharosError('RUN_UNKNOWN', { run: params.id })
      return reply({ run: runRecord(found.storedRun, Date.now()), events: found.events.map(runEventRecord) })
    },
  }),
  createRoute({
    method: 'post',
    path: '/api/analysis/start',
    group: GROUP,
    summary: 'Analyses the stored pages in the background.',
    body: runBody.optional(),
    answers: {
      202: {
        what: 'The run has started.',
        schema: z.object({ runId: z.string(), detailUrl: z.string(), apiUrl: z.string() }),
      },
      ...failures(400, 409, 500, 503),
    },
    async run({ body }, { ports }) {
      const { id } = await startAnalysis(ports, withoutUndefined(body ?? {}))
      return reply({ runId: id, detailUrl: runHref(id), apiUrl: `/api/analysis/${id}` }, 202)
    },
  }),
]
