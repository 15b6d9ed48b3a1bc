import { z } from 'zod'
import { PharosError, usageError } from '../../core/errors.ts'
import { CRAWL_TYPE_SEEDS } from '../../library/crawl/crawl-types.ts'
import { requireStartMilestones } from '../../library/crawl/require-milestones.ts'
import { type CrawlBody, crawlBodySchema, parseCrawlRequest } from '../../library/jobs/crawl-request.ts'
import type { Dispatcher, JobView } from '../../library/jobs/dispatcher.ts'
import { writeJobItem } from '../../library/jobs/job-item.ts'
import { offerDocumentation } from '../../library/sources/offer-documentation.ts'
import type { HttpContext } from '../context.ts'
import { jobId } from '../fields.ts'
import { endedRecord, externalCrawlRecord, jobRecord } from '../records/job-records.ts'
import { createRoute, type Reply, type Route, reply } from '../route.ts'
import { withJobLog, withJobLogOr, withLibrary, withLibraryOr } from '../server/store-access.ts'
import { failures, jobDetail, jobItem } from '../shapes.ts'

const GROUP = 'Crawls'
const id = z.object({ id: jobId })
const jobIdFields = z.object({ jobId: jobId.optional().describe('Id of the job; required while several crawls run.') })
const stopped = z.object({ stopped: z.boolean(), escalatesInMs: z.int().optional() })
const paused = z.object({ ok: z.literal(true), paused: z.boolean() })

const VERBS = { stop: 'Stops', pause: 'Pauses', resume: 'Resumes' } as const

/** Routes that start, stop and show crawls. */
export const crawlRoutes: readonly Route[] = [
  createRoute({
    method: 'post',
    path: '/api/crawl',
    group: GROUP,
    summary: 'Starts a crawl; answers 409 when the crawl limit is reached, unless `queue` lets it wait.',
    body: crawlBodySchema.optional(),
    required: ({ defaultStartUrl }) => (defaultStartUrl === null ? ['startUrl'] : []),
    answers: {
      202: {
        what: 'The crawl is starting. With `queue` it may be queued instead, and then has no process yet.',
        schema: z.object({
          pid: z.int().nullable(),
          args: z.array(z.string()),
          jobId: z.string(),
          stage: z.string(),
          durationMs: z.number(),
        }),
      },
      ...failures(400, 409, 503),
    },
    run: ({ body, began }, { ports }) => startCrawl(body, began, ports),
  }),
  ...(['stop', 'pause', 'resume'] as const).flatMap((verb) => [
    createRoute({
      method: 'post',
      path: `/api/${verb}`,
      group: GROUP,
      summary: `${VERBS[verb]} the running crawl, or the one given by jobId.`,
      query: jobIdFields,
      body: jobIdFields.optional(),
      answers: {
        ...(verb === 'stop'
          ? {
              200: { what: 'No crawl is running.', schema: stopped },
              202: { what: 'The crawl is stopping.', schema: stopped },
            }
          : { 200: { what: 'Done.', schema: paused } }),
        ...failures(400, 404, 409, 500),
      },
      async run({ query, body }, context) {
        const targetId = resolveJobId(context.ports.dispatcher, body?.jobId ?? query.jobId)
        if (targetId !== undefined) return control(verb, targetId, context)
        if (verb === 'stop') return reply({ stopped: false })
        throw new PharosError('JOB_UNKNOWN', { job: 'at all' })
      },
    }),
    createRoute({
      method: 'post',
      path: `/api/crawls/:id/${verb}`,
      group: GROUP,
      summary: `${VERBS[verb]} a crawl.`,
      params: id,
      answers: {
        ...(verb === 'stop'
          ? { 202: { what: 'The crawl is stopping.', schema: stopped } }
          : { 200: { what: 'Done.', schema: paused } }),
        ...failures(400, 404, 409, 500),
      },
      run: ({ params }, context) => control(verb, params.id, context),
    }),
  ]),
  createRoute({
    method: 'get',
    path: '/api/crawls',
    group: GROUP,
    summary: 'The crawls that wait or run, and those that other processes run on the same library.',
    answers: { 200: { what: 'Newest first.', schema: z.object({ count: z.int(), items: z.array(jobItem) }) } },
    async run(_, { ports, externalCrawls }) {
      const others = await externalCrawls.list()
      const items = [...ports.dispatcher.list().filter(isOpen).map(writeJobItem), ...others]
      return reply({ count: items.length, items })
    },
  }),
  createRoute({
    method: 'get',
    path: '/api/crawls/:id',
    group: GROUP,
    summary: 'One crawl in all its details, also one that has ended.',
    params: id,
    answers: { 200: { what: 'The crawl.', schema: jobDetail }, ...failures(400, 404, 503) },
    async run({ params }, context) {
      const job = await findJob(params.id, context)
      return reply({ ...job, documentation: await listDocumentation(job, context) })
    },
  }),
  createRoute({
    method: 'get',
    path: '/api/crawl-history',
    group: GROUP,
    summary: 'The counters of the running crawls over time, since this server first saw each of them.',
    answers: {
      200: {
        what: 'The samples of each crawl, oldest first. They are in the memory of the server, and a restart forgets them.',
        schema: z.object({
          items: z.array(
            z.object({
              id: z.string(),
              samples: z.array(
                z.object({
                  at: z.int().describe('In milliseconds since 1970.'),
                  visited: z.int(),
                  errors: z.int(),
                  queueSize: z.int(),
                }),
              ),
            }),
          ),
        }),
      },
    },
    run: async (_, { crawlHistory, externalCrawls }) =>
      reply({ items: crawlHistory.read(await externalCrawls.list()) }),
  }),
  createRoute({
    method: 'get',
    path: '/api/crawl-types',
    group: GROUP,
    summary: 'The crawl types.',
    answers: {
      200: {
        what: 'The crawl types of the library, or the built-in ones while the library is unavailable.',
        schema: z.object({
          items: z.array(
            z.object({ name: z.string(), description: z.string(), declaration: z.record(z.string(), z.unknown()) }),
          ),
        }),
      },
    },
    run: async (_, { ports }) =>
      reply({
        items: await withJobLogOr(
          ports,
          (log) => log.listTypes(),
          () => CRAWL_TYPE_SEEDS,
        ),
      }),
  }),
]

/** Whether a job waits or runs. */
export function isOpen({ status }: JobView): boolean {
  return status === 'queued' || status === 'running'
}

async function startCrawl(body: CrawlBody | undefined, began: number, ports: HttpContext['ports']): Promise<Reply> {
  const { dispatcher, settings, log } = ports
  const { libraryPath, defaultStartUrl, traceStart } = settings
  const request = parseCrawlRequest(body, { libraryPath, defaultStartUrl: defaultStartUrl ?? undefined })
  if (body?.crawlType === 'history' && body.force !== true) await refuseUnprepared(request.url, body, ports)
  const parsedAt = performance.now()
  const job = await (body?.queue === true ? dispatcher.enqueue(request) : dispatcher.begin(request))
  const now = performance.now()
  if (traceStart) {
    const parts = `read=${(parsedAt - began).toFixed(1)}ms begin=${(now - parsedAt).toFixed(1)}ms total=${(now - began).toFixed(1)}ms`
    log.info(`[trace] start handler timings job=${job.id} ${parts}`, { jobId: job.id })
  }
  const { pid, args } = job
  const stage = job.status === 'queued' ? 'queued' : 'preparing'
  return reply({ pid, args, jobId: job.id, stage, durationMs: now - began }, 202)
}

/**
 * Refuses a history crawl of a site about which too little is known, before starting a process that would refuse it too. Queued crawls
 * pass, because the site may be known by then; so do crawls of another library, which this server cannot read.
 */
async function refuseUnprepared(url: string, { queue, dbPath }: CrawlBody, ports: HttpContext['ports']): Promise<void> {
  if (queue === true || dbPath !== undefined) return
  await withLibrary(
    ports,
    (library) => requireStartMilestones(library, url),
    () => undefined,
  )
}

/** The job that a request refers to; undefined when none is named and none is running. */
function resolveJobId(dispatcher: Dispatcher, givenId: string | undefined): string | undefined {
  if (givenId !== undefined) return givenId
  const [first, ...others] = dispatcher.list().filter(({ status }) => status === 'running')
  if (others.length > 0) {
    throw usageError(`jobId: required, because ${others.length + 1} crawls are running`)
  }
  return first?.id
}

async function control(verb: 'stop' | 'pause' | 'resume', id: string, context: HttpContext): Promise<Reply> {
  const { ports, externalCrawls } = context
  const { dispatcher } = ports
  if (dispatcher.find(id) === undefined) {
    const other = (await externalCrawls.list()).find((item) => item.id === id)
    if (other !== undefined) throw new PharosError('CRAWL_RUNNING', { source: other.url })
  }
  const { status, endedAt } = await findJob(id, context)
  if (endedAt !== null) {
    if (verb === 'stop') return reply({ stopped: false }, 202)
    throw new PharosError('JOB_UNREACHABLE', { job: id, advice: `it has ended: ${status}` })
  }
  if (verb === 'stop') {
    const { stopped: isStopped, escalatesInMs } = await dispatcher.stop(id)
    return isStopped ? reply({ stopped: true, escalatesInMs }, 202) : reply({ stopped: false }, 202)
  }
  if (status === 'queued') throw new PharosError('JOB_WAITS', { job: id })
  const isDelivered = await (verb === 'pause' ? dispatcher.pause(id) : dispatcher.resume(id))
  if (!isDelivered) throw new PharosError('JOB_UNREACHABLE', { job: id })
  return reply({ ok: true, paused: verb === 'pause' })
}

/** Addresses of documentation to offer after the crawl of a package; empty while the library is unavailable. */
async function listDocumentation(
  { sourceId, endedAt }: Record<string, unknown>,
  { ports }: HttpContext,
): Promise<readonly string[]> {
  if (typeof sourceId !== 'string' || endedAt === null) return []
  return withLibraryOr(
    ports,
    async ({ store }) => {
      const source = (await store.listSources()).find(({ id: known }) => known === sourceId)
      return source === undefined ? [] : offerDocumentation({ store }, source, await store.countContent(sourceId))
    },
    () => [],
  )
}

async function findJob(id: string, { ports, externalCrawls }: HttpContext): Promise<Record<string, unknown>> {
  const job = ports.dispatcher.find(id)
  if (job !== undefined) return jobRecord(job)
  const ended = await withJobLog(
    ports,
    (log) => log.find(id),
    () => undefined,
  )
  if (ended !== undefined) return endedRecord(ended)
  const other = (await externalCrawls.list()).find((item) => item.id === id)
  if (other === undefined) throw new PharosError('JOB_UNKNOWN', { job: id })
  return externalCrawlRecord(other)
}
