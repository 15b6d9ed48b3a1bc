import { z } from 'zod'
import { flagField, textField } from '../fields.ts'
import { createRoute, type Route } from '../route.ts'
import { withJobLogOr } from '../server/store-access.ts'
import { failures } from '../shapes.ts'

/** The live event stream. */
export const liveRoutes: readonly Route[] = [
  createRoute({
    method: 'get',
    path: '/events',
    group: 'Live',
    summary:
      'Server-sent events: log, progress, cache, queue, problem, milestone, done, jobs, analysis. Resumes after Last-Event-ID.',
    query: z.object({
      logs: flagField(true, 'Whether to include log lines.'),
      job: textField('Only events of this job, and events without a job.', 64),
    }),
    answers: { 200: { what: 'A stream that does not end.', type: 'text/event-stream' }, ...failures(400, 503) },
    run: async ({ query, request, peer }, { events, ports }) => {
      const { logs, job: jobId = null } = query
      const isPast = jobId !== null && ports.dispatcher.find(jobId) === undefined
      const job = isPast
        ? await withJobLogOr(
            ports,
            (log) => log.find(jobId),
            () => undefined,
          )
        : undefined
      const endedJob = job?.endedAt === null ? undefined : job
      return events.open({ filter: { logs, jobId }, lastEventId: request.headers.get('last-event-id'), endedJob, peer })
    },
  }),
  ...(['get', 'post', 'delete'] as const).map((method) =>
    createRoute({
      method,
      path: '/mcp',
      group: 'Live',
      summary: 'The Model Context Protocol, over streamable HTTP.',
      answers: { 200: { what: 'A response of the protocol.' }, ...failures(413) },
      run: ({ forwardToMcp }) => forwardToMcp(),
    }),
  ),
]
