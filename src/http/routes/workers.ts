import { z } from 'zod'
import type { WorkerRecord } from '../../library/ports/workers.ts'
import { workerItem } from '../records/worker-records.ts'
import { createRoute, type Route, reply } from '../route.ts'
import { withLibrary } from '../server/store-access.ts'
import { failures } from '../shapes.ts'

const count = z.int().min(0)

const job = z.object({ id: z.string(), url: z.string().nullable() })

const worker = z.object({
  id: z.string(),
  name: z.string().describe('Where it is: the machine and the process.'),
  version: z.string(),
  isServer: z.boolean().describe('Whether it is a server that runs crawls itself.'),
  state: z
    .enum(['working', 'draining', 'lost'])
    .describe('draining: takes no new jobs. lost: stopped reporting; other workers continue its jobs.'),
  slots: count.describe('Crawls that it runs at once.'),
  jobs: z.array(job).describe('Crawls that it runs.'),
  helps: z.array(job).describe('Crawls of other workers that this worker helps with while it is idle.'),
  leases: count.describe('Hosts leased by its processes.'),
  visits: count.describe('Visits since it began.'),
  bytes: count,
  visitsPerSec: z.number().describe('Over the last seconds.'),
  startedAt: z.string(),
  silentMs: count.describe('Time since its last report, in milliseconds.'),
})

/** Routes for workers. */
export const workerRoutes: readonly Route[] = [
  createRoute({
    method: 'get',
    path: '/api/workers',
    group: 'Crawls',
    summary: 'The workers that share the work of a library in PostgreSQL, with what each does.',
    answers: {
      200: {
        what: 'A library in a file has none: its server does everything itself.',
        schema: z.object({
          isShared: z.boolean().describe('Whether workers can join.'),
          slots: count.describe('Crawls that all of them together run at once.'),
          leases: count.describe('Hosts leased by all processes together.'),
          items: z.array(worker),
        }),
      },
      ...failures(503),
    },
    async run(_, { ports }) {
      const found = await withLibrary(
        ports,
        async ({ workers }) => workers && { workers: await workers.list(), leases: await workers.countLeases() },
        () => undefined,
      )
      const workers: readonly WorkerRecord[] = found?.workers ?? []
      const items = workers.map((item) => workerItem(item, ports.dispatcher.list()))
      const slots = items.reduce((sum, item) => sum + (item.state === 'working' ? item.slots : 0), 0)
      return reply({ isShared: found !== undefined, slots, leases: found?.leases ?? 0, items })
    },
  }),
]
