import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** A request as it arrived. */
export interface SeenRequest {
  readonly method: string
  /** Without the query. */
  readonly path: string
  readonly query: URLSearchParams
  /** Headers by lower-case name. */
  readonly headers: Readonly<Record<string, string>>
  /** Values of the `:name` parts of the route. */
  readonly params: Readonly<Record<string, string>>
  readonly text: string
  /** The body as JSON, or undefined if it is not JSON. */
  readonly json: unknown
}

/** The response of a route: JSON or text. */
export interface RouteAnswer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly json?: unknown
  readonly text?: string
  /** Milliseconds before the answer begins. */
  readonly delayMs?: number
}

/** A strict route that answers like the real service. */
export type Route = (request: SeenRequest) => RouteAnswer | Promise<RouteAnswer>

/** A fault of one request. */
export type Fault =
  /** The connection is reset before anything is answered. */
  | { readonly type: 'reset' }
  /** The request never gets a response. */
  | { readonly type: 'hang' }
  /** The given response replaces the right one. */
  | ({ readonly type: 'answer' } & RouteAnswer)
  /** Status 200 with the right body, but the connection breaks in the middle of the body. */
  | { readonly type: 'cut' }
  /** The right status, with a text body that is not JSON. */
  | { readonly type: 'not-json' }
  /** Status 200 with the right body, and a pause of the given milliseconds between its two halves. */
  | { readonly type: 'slow'; readonly ms: number }
  /** The right answer, after the promise has resolved. */
  | { readonly type: 'wait'; readonly for: Promise<unknown> }
  /** The right answer. */
  | { readonly type: 'none' }

/** A service on loopback whose faults a test can script. */
export interface FaultyServer {
  /** Without a slash at its end. */
  readonly origin: string
  readonly port: number
  /** Every request that arrived, in order. */
  readonly requests: readonly SeenRequest[]
  /** Maximum number of concurrent requests since the last {@link clearRequests}. */
  readonly maxConcurrent: number
  /** Requests for a route (`POST /crawl`), or all. */
  count(route?: string): number
  /** Resolves when a route has received the given number of requests. */
  waitForRequests(route: string, count: number): Promise<void>
  /** The JSON bodies sent to a route, in order. */
  bodies(route: string): unknown[]
  /** Queues faults for a route. Each applies to one request, in order, and then the right responses follow. */
  queueFaults(route: string, ...faults: readonly Fault[]): void
  /** Makes every request for a route fail until {@link clearFaults}. Queued faults come first. */
  setFault(route: string, fault: Fault | ((seen: SeenRequest) => Fault)): void
  /** Drops all faults. */
  clearFaults(): void
  /** Forgets the requests that arrived. */
  clearRequests(): void
  /** Closes the port: connections are refused. */
  stopListening(): Promise<void>
  /** Listens again at the same port. */
  resumeListening(): Promise<void>
  close(): Promise<void>
}

/** Options of a {@link FaultyServer}. */
export interface FaultyServerOptions {
  /** Routes by `METHOD /path`. `:name` in a path matches any one segment. */
  readonly routes: Readonly<Record<string, Route>>
  /** Runs before every route, for example to check tokens. Its response replaces that of the route. */
  readonly beforeRoute?: (request: SeenRequest) => RouteAnswer | undefined
  /** Answers requests that match no route. @default 404 and 405 as FastAPI gives them */
  readonly unknown?: (request: SeenRequest, isOtherMethod: boolean) => RouteAnswer
}

/** Opens a server on a free port of 127.0.0.1. */
export async function openFaultyServer(options: FaultyServerOptions): Promise<FaultyServer> {
  const faults = new Map<string, Fault[]>()
  const permanentFaults = new Map<string, Fault | ((seen: SeenRequest) => Fault)>()
  const requests: SeenRequest[] = []
  const routeNames: string[] = []
  const sockets = new Set<Socket>()
  const pendingChecks = new Set<() => void>()
  let concurrent = 0
  let maxConcurrent = 0

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    maxConcurrent = Math.max(maxConcurrent, ++concurrent)
    callWhenAnswered(response, () => concurrent--)
    const found = await readRequest(request, options.routes)
    requests.push(found.seen)
    routeNames.push(found.name)
    for (const check of pendingChecks) check()
    const fallback = permanentFaults.get(found.name) ?? { type: 'none' }
    const fault = faults.get(found.name)?.shift() ?? (typeof fallback === 'function' ? fallback(found.seen) : fallback)
    await applyFault(response, fault, async () => await answerNormally(options, found))
  }
  const listen = async (port: number): Promise<Server> => {
    const server = createServer((request, response) => {
      // A test that is over may leave a request behind.
      answer(request, response).catch(() => response.destroy())
    })
    server.on('connection', (socket) => {
      sockets.add(socket)
      socket.once('close', () => sockets.delete(socket))
    })
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(port, '127.0.0.1', resolve)
    })
    return server
  }
  let server = await listen(0)
  const { port } = server.address() as AddressInfo
  const stopServer = async (): Promise<void> => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    for (const socket of sockets) socket.destroy()
    await closed
  }

  const count = (route?: string): number =>
    route === undefined ? requests.length : routeNames.filter((name) => name === route).length

  return {
    origin: `http://127.0.0.1:${port}`,
    port,
    requests,
    get maxConcurrent() {
      return maxConcurrent
    },
    count,
    waitForRequests: (route, wanted) =>
      new Promise((resolve) => {
        const check = (): void => {
          if (count(route) < wanted) return
          pendingChecks.delete(check)
          resolve()
        }
        pendingChecks.add(check)
        check()
      }),
    bodies: (route) => requests.filter((_, index) => routeNames[index] === route).map((request) => request.json),
    queueFaults: (route, ...more) => faults.set(route, [...(faults.get(route) ?? []), ...more]),
    setFault: (route, fault) => permanentFaults.set(route, fault),
    clearFaults() {
      faults.clear()
      permanentFaults.clear()
    },
    clearRequests() {
      requests.length = 0
      routeNames.length = 0
      maxConcurrent = concurrent
    },
    stopListening: stopServer,
    async resumeListening() {
      server = await listen(port)
    },
    close: stopServer,
  }
}

/** A port of 127.0.0.1 at which nothing listens. */
export async function findClosedPort(): Promise<number> {
  const server = await openFaultyServer({ routes: {} })
  await server.close()
  return server.port
}

/** Calls a function once, before the client can see the end of the response and send the next request. */
function callWhenAnswered(response: ServerResponse, onEnd: () => void): void {
  let hasEnded = false
  const endOnce = (): void => {
    if (!hasEnded) onEnd()
    hasEnded = true
  }
  const end = response.end.bind(response)
  response.end = ((...all: Parameters<typeof end>) => {
    endOnce()
    return end(...all)
  }) as typeof response.end
  response.once('close', endOnce)
}

interface Found {
  /** Name of the route, such as `POST /crawl`, or method and path of an unknown request. */
  readonly name: string
  readonly seen: SeenRequest
  readonly route: Route | undefined
}

async function readRequest(request: IncomingMessage, routes: Readonly<Record<string, Route>>): Promise<Found> {
  const { method = '', headers, url = '/' } = request
  const { pathname: path, searchParams: query } = new URL(url, 'http://127.0.0.1')
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  const text = Buffer.concat(parts).toString()
  const matches = Object.keys(routes).flatMap((name) => {
    const params = matchPath(name.slice(name.indexOf(' ') + 1), path)
    return params !== undefined && name.startsWith(`${method} `) ? [{ name, params }] : []
  })
  const [match] = matches
  const fields = Object.entries(headers).map(([name, value]) => [name, String(value)])
  const params = match?.params ?? {}
  const seen = { method, path, query, headers: Object.fromEntries(fields), params, text, json: parseJson(text) }
  return {
    name: match?.name ?? `${method} ${path}`,
    seen,
    route: match === undefined ? undefined : routes[match.name],
  }
}

function matchPath(pattern: string, path: string): Record<string, string> | undefined {
  const wanted = pattern.split('/')
  const given = path.split('/')
  if (wanted.length !== given.length) return undefined
  const params: Record<string, string> = {}
  for (const [index, part] of wanted.entries()) {
    const value = given[index] ?? ''
    if (part.startsWith(':')) params[part.slice(1)] = decodeURIComponent(value)
    else if (part !== value) return undefined
  }
  return params
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

async function answerNormally(options: FaultyServerOptions, { seen, route }: Found): Promise<RouteAnswer> {
  const { beforeRoute, routes, unknown = answerAsFastApi } = options
  const isOtherMethod = Object.keys(routes).some(
    (name) => matchPath(name.slice(name.indexOf(' ') + 1), seen.path) !== undefined,
  )
  if (route === undefined) return unknown(seen, isOtherMethod)
  return beforeRoute?.(seen) ?? (await route(seen))
}

function answerAsFastApi(_: SeenRequest, isOtherMethod: boolean): RouteAnswer {
  return isOtherMethod
    ? { status: 405, json: { detail: 'Method Not Allowed' } }
    : { status: 404, json: { detail: 'Not Found' } }
}

async function applyFault(response: ServerResponse, fault: Fault, right: () => Promise<RouteAnswer>): Promise<void> {
  switch (fault.type) {
    case 'reset':
      response.socket?.resetAndDestroy()
      return
    case 'hang':
      return
    case 'answer':
      return await send(response, fault)
    case 'not-json':
      return await send(response, { ...(await right()), json: undefined, text: '<html>not JSON</html>' })
    case 'wait':
      await fault.for
      return await send(response, await right())
    case 'none':
      return await send(response, await right())
    case 'cut':
    case 'slow': {
      const body = writeBody(await right())
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length })
      response.write(body.subarray(0, Math.ceil(body.length / 2)))
      if (fault.type === 'slow') {
        await sleep(fault.ms, undefined, { ref: false })
        response.end(body.subarray(Math.ceil(body.length / 2)))
      } else {
        // Written bytes must be sent before the connection closes.
        await sleep(5)
        response.destroy()
      }
    }
  }
}

async function send(response: ServerResponse, answer: RouteAnswer): Promise<void> {
  if (answer.delayMs !== undefined && answer.delayMs > 0) await sleep(answer.delayMs)
  const body = writeBody(answer)
  const type = answer.json === undefined ? 'text/plain; charset=utf-8' : 'application/json'
  response.writeHead(answer.status, { 'content-type': type, 'content-length': body.length, ...answer.headers })
  response.end(body)
}

function writeBody({ json, text = '' }: RouteAnswer): Buffer {
  return Buffer.from(json === undefined ? text : JSON.stringify(json))
}
