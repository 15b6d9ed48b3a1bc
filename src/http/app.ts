import { type Context, Hono } from 'hono'
import { routePath } from 'hono/route'
import { PharosError } from '../core/errors.ts'
import { trackResponse } from '../core/track-response.ts'
import type { StoreStats } from '../library/ports/store.ts'
import type { WorkerRecord } from '../library/ports/workers.ts'
import { pageAdviceOf } from './advice.ts'
import type { HttpContext, OpenApi } from './context.ts'
import { createCrawlHistory } from './crawl-history.ts'
import { renderDocs } from './docs-page.ts'
import { type EventOptions, EventStreams } from './events.ts'
import { createExternalCrawls } from './external-crawls.ts'
import { CLIENT_CLOSED_REQUEST, describeFailure } from './failure.ts'
import { LOCAL_PATH } from './local-page.ts'
import { createMetrics } from './metrics.ts'
import { describeRoutes } from './openapi.ts'
import { createPages } from './pages/create-pages.ts'
import { renderError, renderNotFound } from './pages/error-page.ts'
import { completeBar } from './pages/layout.ts'
import type { Asset, HttpApp, HttpPorts, Peer } from './ports.ts'
import type { Reply, Route } from './route.ts'
import { acceptsGzip, compress } from './server/compress.ts'
import { writeEtag } from './server/etag.ts'
import { readBody, readJson } from './server/read-body.ts'
import { maskAddress, writeRequestLine } from './server/request-log.ts'
import { createGuard } from './server/security.ts'
import { createSessions } from './server/session.ts'
import { withLibraryOr } from './server/store-access.ts'
import { hasFindings, PAGES, ROUTES } from './table.ts'

/** Per-request values that the request itself does not carry. */
interface Bindings {
  readonly id: string
  readonly began: number
  readonly peer: Peer | undefined
  /** Records the matched route for the metrics. */
  readonly recordRoute: (route: string) => void
}

type RequestContext = Context<{ Bindings: Bindings }>

/** Options of the server, besides its ports. */
export interface HttpOptions extends Omit<EventOptions, 'dispatcher'> {
  /** How long the list of crawls in other processes stays cached. @default 2 s */
  readonly externalCrawlsTtlMs?: number
}

/** Creates the server: the HTTP API, events, pages, dashboard, the local page and MCP, all on one origin. */
export function createHttp(ports: HttpPorts, options: HttpOptions = {}): HttpApp {
  const sessions = createSessions(ports.settings.token)
  const guard = createGuard(ports.settings, sessions)
  const metrics = createMetrics(
    ports.dispatcher,
    () =>
      withLibraryOr<StoreStats | null>(
        ports,
        ({ store }) => store.stats(),
        () => null,
      ),
    () =>
      withLibraryOr<readonly WorkerRecord[] | null>(
        ports,
        async ({ workers }) => (await workers?.list()) ?? null,
        () => null,
      ),
  )
  const events = new EventStreams({ ...options, dispatcher: ports.dispatcher })
  const externalCrawls = createExternalCrawls(ports, options.externalCrawlsTtlMs)
  const crawlHistory = createCrawlHistory(ports.dispatcher)
  const context: HttpContext = {
    ports,
    metrics,
    events,
    sessions,
    externalCrawls,
    crawlHistory,
    hasFindings: () => hasFindings(ports),
    openApi: createOpenApi(ports),
  }
  const app = createApp(context)

  const answer = async (request: Request, path: string, bindings: Bindings): Promise<Response> => {
    const complete = (response: Response) => {
      const isSignedIn = sessions.isTokenRequired && sessions.isAuthenticated(request)
      return completePage(response, isSignedIn, ports)
    }
    try {
      const preflight = guard.preflight(request)
      if (preflight !== undefined) return preflight
      guard.check(request, path)
      return revalidate(compress(await complete(await app.fetch(request, bindings)), request), request)
    } catch (error) {
      // The client no longer waits, such as a search page whose user types on, so this is no failure of the server.
      if (request.signal.aborted) return new Response(null, { status: CLIENT_CLOSED_REQUEST })
      return complete(await answerFailure(error, request, path, bindings.id, ports))
    }
  }
  return {
    async fetch(request, peer) {
      const began = performance.now()
      const id = crypto.randomUUID()
      let route = 'none'
      const recordRoute = (matched: string) => {
        route = matched
      }
      const path = pathOf(request)
      const response = await answer(request, path, { id, began, peer, recordRoute })
      guard.addHeaders(response, request, path)
      return trackResponse(response, request.signal, () => {
        const ms = performance.now() - began
        metrics.recordResponse(request.method, route, response.status, ms)
        // A page has dozens of files, and they would hide the other requests.
        if (ASSET_PATH.test(path) && response.status < 400) return
        ports.log.info(writeRequestLine(request, response.status, ms), { id })
      })
    },
    close() {
      events.close()
      metrics.close()
      crawlHistory.close()
    },
  }
}

/** The files of a built page. */
const ASSET_PATH = /^\/(?:local\/)?assets\//

function createApp(context: HttpContext): Hono<{ Bindings: Bindings }> {
  const { ports } = context
  const app = new Hono<{ Bindings: Bindings }>()
  for (const route of ROUTES) app.on(route.method, route.path, (c) => answerRoute(route, c, context))
  // A known path with a method that it does not support throws METHOD_REFUSED.
  for (const path of new Set(ROUTES.map((route) => route.path))) {
    const allowed = ROUTES.filter((route) => route.path === path).map(({ method }) => method.toUpperCase())
    app.all(path, (c) => {
      c.env.recordRoute(path)
      const { method } = c.req
      throw new PharosError('METHOD_REFUSED', { path: c.req.path, method, allowed: allowed.join(', ') })
    })
  }
  app.use(async (c, next) => {
    await next()
    c.env.recordRoute(c.res.status === 404 ? 'none' : routePath(c, -1))
  })
  app.route('/', createPages(ports, PAGES))
  app.get(LOCAL_PATH.slice(0, -1), (c) => c.redirect(LOCAL_PATH))
  app.get(`${LOCAL_PATH}*`, (c) => answerLocal(c, ports))
  app.get('*', (c) => answerDashboard(c, ports))
  app.notFound((c) => {
    throw new PharosError('ROUTE_UNKNOWN', { path: maskAddress(c.req.url).slice(0, 200) })
  })
  app.onError((error) => {
    throw error
  })
  return app
}

async function answerRoute(route: Route, c: RequestContext, context: HttpContext): Promise<Response> {
  const { began, peer, recordRoute } = c.env
  const request = c.req.raw
  recordRoute(route.path)
  const answer = await route.answer(
    {
      params: c.req.param(),
      request,
      readBody: () => readJson(request, route.maxBodyBytes),
      began,
      peer,
      forwardToMcp: () => forwardToMcp(request, peer, context.ports),
    },
    context,
  )
  const response = answer instanceof Response ? answer : toResponse(answer)
  // A HEAD response sends no body, so the stream is cancelled; otherwise it would stay open.
  if (request.method === 'HEAD') await response.body?.cancel()
  return response
}

function toResponse({ status, json, headers }: Reply): Response {
  const body = JSON.stringify(json)
  return new Response(body, {
    status,
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'content-length': String(byteLength(body)),
      ...headers,
    },
  })
}

/** Bytes of a text in UTF-8. */
function byteLength(text: string): number {
  return new TextEncoder().encode(text).length
}

/** Passes a request to the MCP handler, after checking its body size. */
async function forwardToMcp(request: Request, peer: Peer | undefined, { mcp }: HttpPorts): Promise<Response> {
  const { method, headers, signal, url } = request
  const body = method === 'GET' || method === 'HEAD' ? undefined : await readBody(request)
  const forwarded = new Request(url, { method, headers, signal, ...(body === undefined ? {} : { body }) })
  const response = await mcp(forwarded, peer)
  // The headers of a response from another handler may be immutable, so this copies the response.
  return new Response(response.body, response)
}

/** Serves a file of the dashboard; `/` serves `index.html`. */
async function answerDashboard(c: RequestContext, { readAsset }: HttpPorts): Promise<Response> {
  const { path } = c.req
  const asset = await readAsset(path === '/' ? '/index.html' : path)
  if (asset === undefined) return c.notFound()
  c.env.recordRoute(path === '/' ? '/' : '/assets/*')
  return writeAsset(asset, c.req.raw)
}

/** Serves a file of the local page. */
async function answerLocal(c: RequestContext, { readLocal }: HttpPorts): Promise<Response> {
  const path = c.req.path.slice(LOCAL_PATH.length - 1)
  const asset = await readLocal(path === '/' ? '/index.html' : path)
  return asset === undefined ? c.notFound() : writeAsset(asset, c.req.raw)
}

function writeAsset({ body, gzipped, type, isImmutable, etag }: Asset, request: Request): Response {
  const compressed = acceptsGzip(request) ? gzipped : undefined
  return new Response(compressed ?? body, {
    headers: {
      'content-type': type,
      'content-length': String((compressed ?? body).byteLength),
      ...(compressed === undefined ? {} : { 'content-encoding': 'gzip', vary: 'accept-encoding' }),
      'cache-control': isImmutable ? 'public, max-age=31536000, immutable' : 'no-cache',
      ...(isImmutable ? {} : { etag: `${compressed === undefined ? '' : 'W/'}${etag ?? writeEtag(body)}` }),
    },
  })
}

/** Completes the bar of a rendered page, and with it the ETag. A file of the build has a length, and is left as it is. */
async function completePage(response: Response, isSignedIn: boolean, ports: HttpPorts): Promise<Response> {
  const { headers, status } = response
  if (!(headers.get('content-type') ?? '').startsWith('text/html') || headers.has('content-length')) return response
  const bar = { isSignedIn, hasFindings: await hasFindings(ports) }
  const page = completeBar(await response.text(), bar)
  if (headers.has('etag')) headers.set('etag', writeEtag(page))
  return new Response(page, { status, headers })
}

/** Returns 304 when the client already has the same ETag. */
function revalidate(response: Response, request: Request): Response {
  const etag = response.headers.get('etag')
  const cachedTags = request.headers.get('if-none-match')
  if (etag === null || cachedTags === null || response.status !== 200) return response
  const bare = (tag: string) => tag.trim().replace(/^W\//, '')
  if (!cachedTags.split(',').some((tag) => bare(tag) === bare(etag))) return response
  void response.body?.cancel()
  const headers = new Headers({ etag })
  for (const name of ['cache-control', 'vary']) {
    const value = response.headers.get(name)
    if (value !== null) headers.set(name, value)
  }
  return new Response(null, { status: 304, headers })
}

async function answerFailure(
  error: unknown,
  request: Request,
  path: string,
  id: string,
  { log }: HttpPorts,
): Promise<Response> {
  const { status, body, internal } = describeFailure(error, id)
  const problem = status >= 500 ? internal : body.error
  log.warn(`[req] ${request.method} ${maskAddress(request.url)} failed`, { id, code: body.code, problem })
  const headers = failureHeaders(error)
  if (!isPageRequest(request, path)) return toResponse({ status, json: body, headers })
  if (status === 401) {
    const next = encodeURIComponent(request.url.slice(new URL(request.url).origin.length))
    return new Response(null, { status: 303, headers: { location: `/login?next=${next}` } })
  }
  const { code } = body
  const advice =
    pageAdviceOf(code, body.advice) ?? 'Try again. If the problem persists, look in the server log under this id.'
  const page =
    status === 404
      ? renderNotFound(path)
      : renderError({ title: 'This page cannot be shown', message: body.error, advice, code, id })
  return new Response(String(await page), {
    status,
    headers: { ...headers, 'content-type': 'text/html; charset=utf-8' },
  })
}

function failureHeaders(error: unknown): Record<string, string> {
  if (!(error instanceof PharosError)) return {}
  if (error.code === 'TOKEN_REQUIRED') return { 'www-authenticate': 'Bearer realm="pharos"' }
  // The connection still carries the rest of the oversized body, so it cannot be reused.
  if (error.code === 'BODY_TOO_LARGE') return { connection: 'close' }
  return error.code === 'METHOD_REFUSED' ? { allow: String(error.details['allowed']) } : {}
}

/** Whether the response goes to a browser page rather than an API client. */
function isPageRequest({ method, headers }: Request, path: string): boolean {
  const isApi = path.startsWith('/api/') || path === '/mcp' || path === '/events'
  return method === 'GET' && !isApi && (headers.get('accept') ?? '').includes('text/html')
}

function pathOf({ url }: Request): string {
  const { pathname } = new URL(url)
  return pathname
}

/** Builds the OpenAPI document on first use. */
function createOpenApi({ version, settings }: HttpPorts): () => Promise<OpenApi> {
  let openApi: Promise<OpenApi> | undefined
  return () => {
    openApi ??= (async () => {
      const document = describeRoutes(ROUTES, version, settings)
      return { json: JSON.stringify(document), page: await renderDocs(document) }
    })()
    return openApi
  }
}
