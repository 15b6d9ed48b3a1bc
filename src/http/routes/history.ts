import { z } from 'zod'
import { PharosError } from '../../core/errors.ts'
import { isoOf } from '../../core/text/iso-time.ts'
import { withoutUndefined } from '../../core/without-undefined.ts'
import { QUEUE_ACTIONS } from '../../library/jobs/events/frames.ts'
import { severityOf } from '../../library/jobs/events/severity.ts'
import type { JobLog, LogPage, NoteFilter, StoredNote } from '../../library/ports/job-log.ts'
import { jobId, limitField, rowId, textField, wordField } from '../fields.ts'
import { queueRecord } from '../records/job-records.ts'
import { createRoute, type Route, reply } from '../route.ts'
import { withJobLog } from '../server/store-access.ts'
import { cursors, failures } from '../shapes.ts'

const GROUP = 'History'
const before = rowId('Only entries older than the one with this id.')
const after = rowId('Only entries newer than the one with this id.')
const queueItem = z.looseObject({ id: z.string(), url: z.string(), status: z.string(), paused: z.boolean() })

/** The stored history of jobs. */
export const historyRoutes: readonly Route[] = [
  createRoute({
    method: 'get',
    path: '/api/queues',
    group: GROUP,
    summary: 'The last jobs, with the number of their queue events.',
    query: z.object({ limit: limitField(50, 200) }),
    answers: {
      200: { what: 'Newest first.', schema: z.object({ total: z.int(), items: z.array(queueItem) }) },
      ...failures(400, 503),
    },
    run: async ({ query }, { ports }) => {
      const { total, items } = await withJobLog(
        ports,
        (log) => log.list(query.limit),
        () => ({ total: 0, items: [] }),
      )
      return reply({ total, items: items.map((job) => queueRecord(job, ports.dispatcher)) })
    },
  }),
  createRoute({
    method: 'get',
    path: '/api/queues/:id/events',
    group: GROUP,
    summary: 'The queue events of a job, newest first.',
    params: z.object({ id: jobId }),
    query: z.object({
      limit: limitField(200, 500),
      action: wordField(QUEUE_ACTIONS, 'Only events of this kind.'),
      before,
      after,
    }),
    answers: {
      200: {
        what: 'The events, and cursors to continue the list.',
        schema: z.object({
          job: queueItem,
          items: z.array(
            z.object({
              id: z.int(),
              ts: z.string(),
              action: z.enum(QUEUE_ACTIONS),
              url: z.string(),
              depth: z.int().nullable(),
              host: z.string().nullable(),
              reason: z.string().nullable(),
              queueSize: z.int(),
              alias: z.string().nullable(),
            }),
          ),
          cursors,
        }),
      },
      ...failures(400, 404, 503),
    },
    async run({ params, query }, { ports }) {
      const { action, ...page } = query
      const found = await withJobLog(
        ports,
        async (log) => {
          const job = await log.find(params.id)
          if (job === undefined) return undefined
          const read = (logPage: LogPage) => {
            return log.listQueueEvents(job.id, { ...logPage, ...withoutUndefined({ action }) })
          }
          return { job, ...(await readListPage(read, page)) }
        },
        () => undefined,
      )
      if (found === undefined) throw new PharosError('JOB_UNKNOWN', { job: params.id })
      const { job, items, cursors: pageCursors } = found
      return reply({
        job: queueRecord(job, ports.dispatcher),
        items: items.map(({ id, at, action: what, url, depth, host, reason, queueSize, alias }) => {
          return { id, ts: isoOf(at), action: what, url, depth, host, reason, queueSize, alias }
        }),
        cursors: pageCursors,
      })
    },
  }),
  createNoteRoute('problems', (log, filter) => log.listProblems(filter)),
  createNoteRoute('milestones', (log, filter) => log.listMilestones(filter)),
]

/** Creates the route for problems or milestones. */
function createNoteRoute(
  name: 'problems' | 'milestones',
  list: (log: JobLog, filter: NoteFilter) => Promise<readonly StoredNote[]>,
): Route {
  return createRoute({
    method: 'get',
    path: `/api/${name}`,
    group: GROUP,
    summary: `The ${name} that crawls reported, newest first.`,
    query: z.object({
      job: textField('Only those of this job.', 64),
      kind: textField('Only those of this kind.', 200),
      scope: textField('Only those of this scope.', 500),
      limit: limitField(100, 500),
      before,
      after,
    }),
    answers: {
      200: {
        what: `The ${name}, and cursors to continue the list.`,
        schema: z.object({
          items: z.array(
            z.looseObject({
              id: z.int(),
              ts: z.string(),
              kind: z.string(),
              scope: z.string().nullable(),
              target: z.string().nullable(),
              message: z.string().nullable(),
              details: z.record(z.string(), z.unknown()).nullable(),
              jobId: z.string(),
            }),
          ),
          cursors,
        }),
      },
      ...failures(400, 503),
    },
    async run({ query }, { ports }) {
      const { job, kind, scope, ...page } = query
      const filter = withoutUndefined({ jobId: job, kind, scope })
      const { items, cursors: pageCursors } = await withJobLog(
        ports,
        (log) => readListPage((logPage) => list(log, { ...logPage, ...filter }), page),
        () => ({ items: [], cursors: { nextBefore: null, prevAfter: null } }),
      )
      return reply({ items: items.map((note) => noteRecord(note, name)), cursors: pageCursors })
    },
  })
}

function noteRecord({ id, at, kind, scope, target, message, details, jobId: job }: StoredNote, name: string) {
  const severity = name === 'problems' ? { severity: severityOf(kind) } : {}
  return { id, ts: isoOf(at), kind, scope, target, message, details, jobId: job, ...severity }
}

/** Reads one page of a list and its cursors. One extra entry tells whether there are more. */
async function readListPage<T extends { readonly id: number }>(
  read: (page: LogPage) => Promise<readonly T[]>,
  { limit, before: beforeId, after: afterId }: { limit: number; before: number | undefined; after: number | undefined },
): Promise<{ items: readonly T[]; cursors: { nextBefore: number | null; prevAfter: number | null } }> {
  const found = await read({ limit: limit + 1, ...withoutUndefined({ before: beforeId, after: afterId }) })
  const isForward = afterId !== undefined
  const hasMore = found.length > limit
  // When reading towards newer entries, the extra entry is the newest one.
  const items = isForward ? found.slice(Math.max(0, found.length - limit)) : found.slice(0, limit)
  const hasOlder = isForward || hasMore
  return {
    items,
    cursors: {
      nextBefore: hasOlder ? (items.at(-1)?.id ?? (afterId === undefined ? null : afterId + 1)) : null,
      prevAfter: items[0]?.id ?? afterId ?? (beforeId === undefined ? null : beforeId - 1),
    },
  }
}
