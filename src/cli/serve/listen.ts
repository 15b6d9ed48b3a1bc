import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener, type HttpBindings, RequestError } from '@hono/node-server'
import type { EffectiveConfig } from '../../config.ts'
import { codeOf, PharosError } from '../../core/errors.ts'
import type { Peer } from '../../http/ports.ts'

/** A server that listens on this machine. */
export interface ListeningServer {
  /** The address for clients on this machine: `http://127.0.0.1:6280` */
  readonly origin: string
  close(): Promise<void>
}

/** Handles a web request from a peer. */
export type RequestHandler = (request: Request, peer?: Peer) => Promise<Response>

/** Options besides the port. */
export interface ListenOptions {
  /** @default 127.0.0.1, which other machines cannot reach */
  readonly host?: string
}

const LOOPBACK = '127.0.0.1'

/** Timeout for receiving the headers of a request. */
const HEADERS_TIMEOUT_MS = 15_000
/** Timeout for receiving a whole request. Responses have no timeout, because event streams last for days. */
const REQUEST_TIMEOUT_MS = 60_000
/** Idle time before a kept-alive connection is closed. */
const KEEP_ALIVE_TIMEOUT_MS = 30_000
/** Connections above this number are closed immediately. Each needs a file descriptor, and their number is limited. */
const MAX_CONNECTIONS = 4096

/** Serves HTTP on a port with a handler of web requests; port 0 picks a free one. */
export async function listen(
  handle: RequestHandler,
  port: number,
  options: ListenOptions = {},
): Promise<ListeningServer> {
  const { host = LOOPBACK } = options
  const server = createHttpServer(handle)
  const cause = await tryListen(server, port, host)
  if (cause !== undefined) throw listenError(cause, port, host)
  return toListeningServer(server, host)
}

/** The port range to search if no port is given. */
const PORT_RANGE = { first: 41_000, last: 61_000 }

/** Serves HTTP as the configuration says. A busy port of the environment is replaced, because only a flag or the file ask for no other. */
export async function listenConfigured(
  { values, origins }: Pick<EffectiveConfig, 'values' | 'origins'>,
  handle: RequestHandler,
  warn: (message: string) => void,
): Promise<ListeningServer> {
  const { host, port } = values
  if (port === 0) return listenInRange(handle, PORT_RANGE, { host })
  return listen(handle, port, { host }).catch((error: unknown) => {
    if (origins.port !== 'environment' || !(error instanceof Error) || codeOf(error.cause) !== 'EADDRINUSE') throw error
    warn(`the port ${port} of the environment is in use; another one was chosen`)
    return listenInRange(handle, PORT_RANGE, { host })
  })
}

/** Serves HTTP on the first free port of a range, or on any free port if all are taken. */
export async function listenInRange(
  handle: RequestHandler,
  { first, last }: { readonly first: number; readonly last: number },
  options: ListenOptions = {},
): Promise<ListeningServer> {
  const { host = LOOPBACK } = options
  const server = createHttpServer(handle)
  for (let port = first; port <= last; port++) {
    const cause = await tryListen(server, port, host)
    if (cause === undefined) return toListeningServer(server, host)
    // EACCES: the system may have reserved the port.
    if (cause.code !== 'EADDRINUSE' && cause.code !== 'EACCES') throw listenError(cause, port, host)
  }
  return listen(handle, 0, options)
}

function createHttpServer(handle: RequestHandler): Server {
  const answer = getRequestListener(
    // The adapter passes the bindings of a plain HTTP server.
    (request, env) => handle(request, peerOf(env as HttpBindings)),
    // Keeps the global `Request` and `Response` unchanged for the rest of the program.
    { overrideGlobalObjects: false, errorHandler: errorResponse },
  )
  const server = createServer(
    {
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
      connectionsCheckingInterval: 5000,
    },
    (incoming, outgoing) => void answer(incoming, outgoing),
  )
  server.maxConnections = MAX_CONNECTIONS
  return server
}

function peerOf({ incoming, outgoing }: HttpBindings): Peer {
  const { socket } = incoming
  const { remoteAddress: address } = socket
  return {
    ...(address === undefined ? {} : { address }),
    drop: () => void outgoing.destroy(),
    isGone: () => socket.destroyed,
  }
}

/** Handles malformed requests and errors that a handler did not catch. */
function errorResponse(error: unknown): Response {
  return error instanceof RequestError
    ? new Response('bad request', { status: 400 })
    : new Response('internal error', { status: 500 })
}

/** Returns the error, or undefined if the server listens. */
async function tryListen(server: Server, port: number, host: string): Promise<NodeJS.ErrnoException | undefined> {
  try {
    server.listen(port, host)
    await once(server, 'listening')
    return undefined
  } catch (cause) {
    if (cause instanceof Error) return cause
    throw cause
  }
}

function listenError(cause: NodeJS.ErrnoException, port: number, host: string): PharosError {
  const problems: Readonly<Record<string, string>> = {
    EADDRINUSE: `--port ${port}: the port is in use; choose another one`,
    EACCES: `--port ${port}: this user may not listen on this port; choose one above 1023`,
    EADDRNOTAVAIL: `--host ${host}: this machine has no such address`,
    ENOTFOUND: `--host ${host}: there is no such host`,
  }
  const problem = problems[cause.code ?? ''] ?? `--host ${host} --port ${port}: ${cause.message}`
  return new PharosError('USAGE', { problem }, { cause })
}

function toListeningServer(server: Server, host: string): ListeningServer {
  // A connection that cannot be accepted, for example with too many open files, must not end the server.
  server.on('error', () => undefined)
  // A server on a TCP port has an `AddressInfo`.
  const { port } = server.address() as AddressInfo
  return {
    origin: `http://${reachableName(host)}:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** The host name under which this machine reaches a listening address. */
function reachableName(host: string): string {
  if (host === '0.0.0.0') return LOOPBACK
  if (host === '::') return '[::1]'
  return host.includes(':') ? `[${host}]` : host
}
