import { type Context, Hono } from 'hono'
import { HTTPException } from 'hono/http-exception'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { PharosError } from '../../core/errors.ts'
import type { Dispatcher } from '../../library/jobs/dispatcher.ts'
import type { Library } from '../../library/library.ts'
import type { Addresses } from '../../library/ports/addresses.ts'
import type { JobLog } from '../../library/ports/job-log.ts'
import { pageAdviceOf } from '../advice.ts'
import { CLIENT_CLOSED_REQUEST, describeFailure, isStoreFailure } from '../failure.ts'
import type { HttpPorts } from '../ports.ts'
import { READER_STYLE, RENDERED_STYLE } from '../reader/style.ts'
import { ASK_SCRIPT, ASK_STYLE } from './ask.ts'
import { renderDomains } from './domains.ts'
import { renderError } from './error-page.ts'
import { renderErrors } from './errors.ts'
import { ICON, type JobCounts } from './layout.ts'
import { LIVE_SCRIPT } from './live.ts'
import { renderMilestones, renderProblems } from './notes.ts'
import type { Html } from './parts.ts'
import { findLatestQueue, renderQueue, renderQueues } from './queues.ts'
import { PAGE_STYLE } from './style.ts'
import { renderUrl } from './url.ts'
import { renderUrls } from './urls.ts'

/** Adds pages of another part of the program. */
export type AddPages = (app: Hono, ports: HttpPorts) => void

/** The server-rendered pages, and those of other parts. They work without scripts, and their one script adds live updates. */
export function createPages(ports: HttpPorts, others: readonly AddPages[]): Hono {
  const app = new Hono()
  const withLog =
    (render: (c: Context, log: JobLog) => Promise<Html>) =>
    async (c: Context): Promise<Response> =>
      c.html(await render(c, await ports.jobLog()))
  const withAddresses =
    (render: (c: Context, addresses: Addresses, since: JobCounts, library: Library) => Promise<Html>) =>
    async (c: Context): Promise<Response> => {
      // The counts are read before the addresses, so that an event in between appears twice instead of never.
      const since = countJobs(ports.dispatcher)
      const { addresses, library } = await openAddresses(ports)
      return c.html(await render(c, addresses, since, library))
    }

  // The first match answers, so `/queues/:id/ssr` below yields to a fixed address of these pages.
  for (const addPages of others) addPages(app, ports)
  app.get('/queues/ssr', withLog(renderQueues))
  app.get('/queues/latest', async (c) => c.redirect(await findLatestQueue(await ports.jobLog())))
  app.get('/queues/:id/ssr', withLog(renderQueue))
  app.get('/problems/ssr', withLog(renderProblems))
  app.get('/milestones/ssr', withLog(renderMilestones))
  app.get('/errors', withAddresses(renderErrors))
  app.get('/domains', withAddresses(renderDomains))
  app.get('/urls', withAddresses(renderUrls))
  app.get('/url', async (c) => {
    const { library } = await openAddresses(ports)
    const { page, isKnown } = await renderUrl(c, library)
    return c.html(page, isKnown ? 200 : 404)
  })
  app.get('/read', async (c) => {
    const { renderReader } = await import('../reader/reader-page.ts')
    const { page, isKnown } = await renderReader(c, await ports.library())
    return c.html(page, isKnown ? 200 : 404)
  })
  app.get('/read.md', async (c) => {
    const { answerMarkdown } = await import('../reader/reader-page.ts')
    return answerMarkdown(c, await ports.library())
  })
  for (const [path, { type, body }] of Object.entries(ASSETS)) {
    app.get(path, (c) => c.body(body, 200, { 'content-type': type, 'cache-control': 'public, max-age=300' }))
  }
  app.onError((error, c) => answerError(error, c, ports))
  return app
}

/** The counters of all jobs. */
function countJobs(dispatcher: Dispatcher): JobCounts {
  return Object.fromEntries(
    dispatcher
      .list()
      .map(({ id, progress }) => [id, { visited: progress?.visited ?? 0, errors: progress?.errors ?? 0 }]),
  )
}

/** Static files of the pages. */
const ASSETS: Readonly<Record<string, { readonly type: string; readonly body: string }>> = {
  '/pages/style.css': { type: 'text/css; charset=utf-8', body: PAGE_STYLE + ASK_STYLE },
  '/pages/rendered.css': { type: 'text/css; charset=utf-8', body: RENDERED_STYLE },
  '/pages/reader.css': { type: 'text/css; charset=utf-8', body: READER_STYLE },
  '/pages/live.js': { type: 'text/javascript; charset=utf-8', body: LIVE_SCRIPT + ASK_SCRIPT },
  '/pages/icon.svg': { type: 'image/svg+xml', body: ICON },
}

/** The library and its addresses. */
async function openAddresses(ports: HttpPorts): Promise<{ readonly library: Library; readonly addresses: Addresses }> {
  const library = await ports.library()
  if (library.addresses === undefined) throw new PharosError('STORE_UNAVAILABLE')
  return { library, addresses: library.addresses }
}

/** Renders an error as a page. Details of an unexpected error go to the log, under the id that the page shows. */
function answerError(error: Error, c: Context, ports: HttpPorts): Response | Promise<Response> {
  if (c.req.raw.signal.aborted) return new Response(null, { status: CLIENT_CLOSED_REQUEST })
  if (error instanceof HTTPException) {
    const title = error.status === 404 ? 'Not found' : 'This page cannot be shown'
    const advice = 'Check the address, or choose a page from the navigation above.'
    return c.html(renderError({ title, message: error.message, advice }), error.status as ContentfulStatusCode)
  }
  const id = crypto.randomUUID()
  const { status, body, internal } = describeFailure(error, id)
  ports.log.warn('a page could not be rendered', {
    id,
    path: c.req.path,
    code: body.code,
    problem: status < 500 ? body.error : internal,
  })
  const isTemporary = isStoreFailure(error) && body.code === 'STORE_UNAVAILABLE'
  const problem = isTemporary
    ? STORE_FAILURE
    : { message: body.error, advice: pageAdviceOf(body.code, body.advice) ?? UNEXPECTED_ADVICE }
  const title = status < 500 ? 'This page cannot be shown' : 'Something is wrong'
  return c.html(renderError({ title, ...problem, code: body.code, id }), status as ContentfulStatusCode)
}

const STORE_FAILURE = {
  message: 'The library cannot be read at the moment.',
  advice:
    'The server retries with each request: reload in a moment. If the problem persists, run `pharos doctor` on the server.',
}

const UNEXPECTED_ADVICE = 'Try again. If the problem persists, look in the server log under this id.'
