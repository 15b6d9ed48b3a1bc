import { z } from 'zod'
import { isoOrNull } from '../../core/text/iso-time.ts'
import type { JobView } from '../../library/jobs/dispatcher.ts'
import { type JobItem, writeJobItem } from '../../library/jobs/job-item.ts'
import type { Library } from '../../library/library.ts'
import { timestamp } from '../fields.ts'
import { createRoute, type Route, reply } from '../route.ts'
import { writeEtag } from '../server/etag.ts'
import { withLibrary, withLibraryOr } from '../server/store-access.ts'
import { failures } from '../shapes.ts'

const GROUP = 'Server'
const health = z.object({
  running: z.boolean(),
  stage: z.string().nullable(),
  queueSize: z.int(),
  lastProgressAt: timestamp,
  paused: z.boolean(),
})

/** Routes for the state of the server. */
export const systemRoutes: readonly Route[] = [
  createRoute({
    method: 'get',
    path: '/health',
    group: GROUP,
    summary: 'Whether the server and a crawl are running. Needs no token.',
    answers: {
      200: { what: 'The server is running.', schema: health.extend({ status: z.literal('ok'), version: z.string() }) },
    },
    run: (_, { ports, externalCrawls }) =>
      reply({ status: 'ok', version: ports.version, ...healthOf(ports.dispatcher.list(), externalCrawls.latest) }),
  }),
  createRoute({
    method: 'get',
    path: '/ready',
    group: GROUP,
    summary: 'Whether the library is available. Needs no token.',
    answers: {
      200: { what: 'The library is available.', schema: z.object({ status: z.literal('ready') }) },
      ...failures(503),
    },
    async run(_, { ports }) {
      await ports.waitForCheck()
      await withLibrary(ports, probe)
      return reply({ status: 'ready' })
    },
  }),
  createRoute({
    method: 'get',
    path: '/api/status',
    group: GROUP,
    summary: 'The same as /health, with the job counts and whether the library is available.',
    answers: {
      200: {
        what: 'The status of the server.',
        schema: health.extend({
          version: z.string(),
          jobs: z.object({ queued: z.int(), running: z.int() }),
          allowsSeveral: z.boolean().describe('Whether several crawls may run at once.'),
          eventStreams: z.int(),
          store: z.enum(['ready', 'unavailable']),
          hasFindings: z.boolean().describe('Whether the library has places, hubs or analysis runs.'),
        }),
      },
    },
    async run(_, { ports, events, externalCrawls, hasFindings }) {
      const jobs = ports.dispatcher.list()
      const count = (status: JobView['status']) => jobs.filter((job) => job.status === status).length
      return reply({
        ...healthOf(jobs, externalCrawls.latest),
        version: ports.version,
        jobs: { queued: count('queued'), running: count('running') },
        allowsSeveral: ports.dispatcher.slots > 1,
        eventStreams: events.count,
        hasFindings: await hasFindings(),
        store: await withLibraryOr(
          ports,
          (library) => probe(library).then(() => 'ready'),
          () => 'unavailable',
        ),
      })
    },
  }),
  createRoute({
    method: 'get',
    path: '/api/system-health',
    group: GROUP,
    summary: 'Size of the library, free disk space, memory and CPU use.',
    answers: {
      200: {
        what: 'Unknown values are null.',
        schema: z.object({
          dbSizeBytes: z.int().nullable(),
          freeDiskBytes: z.int().nullable(),
          memory: z.object({ rss: z.int(), heapUsed: z.int(), heapTotal: z.int() }),
          cpu: z.object({ percent: z.number(), percentOfOneCore: z.number() }),
          journalMode: z.string().nullable(),
          walAutocheckpoint: z.int().nullable(),
        }),
      },
    },
    run: async (_, { ports }) => reply(await ports.system.read()),
  }),
  createRoute({
    method: 'get',
    path: '/metrics',
    group: GROUP,
    summary: 'Metrics for Prometheus.',
    answers: { 200: { what: 'The metrics in the text format of Prometheus.', type: 'text/plain' } },
    run: async (_, { metrics, events }) =>
      new Response(await metrics.write(events.count), {
        headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' },
      }),
  }),
  createRoute({
    method: 'get',
    path: '/openapi.json',
    group: GROUP,
    summary: 'This description, for programs.',
    answers: { 200: { what: 'OpenAPI 3.1.' } },
    run: async (_, { openApi }) => createCacheableResponse((await openApi()).json, 'application/json'),
  }),
  createRoute({
    method: 'get',
    path: '/docs',
    group: GROUP,
    summary: 'This description, for people.',
    answers: { 200: { what: 'A page.', type: 'text/html' } },
    run: async (_, { openApi }) => createCacheableResponse((await openApi()).page, 'text/html; charset=utf-8'),
  }),
]

/** Runs the queries that every response about the library depends on. */
async function probe({ store }: Pick<Library, 'store'>): Promise<void> {
  await store.listSources()
  await store.listRunning()
}

/** Reports whether any crawl is running, here or in another process. */
function healthOf(jobs: readonly JobView[], others: readonly JobItem[]) {
  const running = [...jobs.filter(({ status }) => status === 'running').map(writeJobItem), ...others]
  const last = Math.max(0, ...running.map(({ lastActivityAt }) => Date.parse(lastActivityAt ?? '') || 0))
  return {
    running: running.length > 0,
    stage: running[0]?.stage ?? null,
    queueSize: running.reduce((sum, { queueSize }) => sum + queueSize, 0),
    lastProgressAt: isoOrNull(last === 0 ? null : last),
    paused: running.length > 0 && running.every(({ paused }) => paused),
  }
}

/** A response whose body changes only with the program version. */
function createCacheableResponse(body: string, type: string): Response {
  return new Response(body, {
    headers: { 'content-type': type, 'cache-control': 'no-cache', etag: writeEtag(body) },
  })
}
