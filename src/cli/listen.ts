import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener, type HttpBindings, RequestError } from '@hono/node-server'
import { PharosError } from '../core/errors.ts'
import type { Peer } from '../http/ports.ts'

/** A server that listens on this machine. */
export interface Listening {
  /** Where this machine reaches it: `http://127.0.0.1:6280` */
  readonly origin: string
  close(): Promise<void>
}

/** Answers a web request of somebody. */
export type Handle = (request: Request, peer?: Peer) => Promise<Response>

/** Where to listen, besides the port. */
export interface ListenOptions {
  /** @default 127.0.0.1, which other machines cannot reach */
  readonly host?: string
}

const LOOPBACK = '127.0.0.1'

/** Time for the fields of a request and for all of it. Answers have no limit: streams of events go on for days. */
const HEADERS_TIMEOUT_MS = 15_000
const REQUEST_TIMEOUT_MS = 60_000
/** Time a connection is kept for a next request. */
const KEEP_ALIVE_MS = 30_000
/** Those that come when as many are open are closed at once. Each costs a file, of which a process has about a thousand or more. */
const MAX_CONNECTIONS = 4096

/** Answers HTTP requests with a handler of web requests, at one port; 0 is any that is free. */
export async function listen(handle: Handle, port: number, options: ListenOptions = {}): Promise<Listening> {
  const { host = LOOPBACK } = options
  const server = createAnswering(handle)
  const cause = await tryListen(server, port, host)
  if (cause !== undefined) throw refusal(cause, port, host)
  return listeningOf(server, host)
}

/** The same at the first port of a range that is free, or at any where none of them is. */
export async function listenAtFirst(
  handle: Handle,
  { first, last }: { readonly first: number; readonly last: number },
  options: ListenOptions = {},
): Promise<Listening> {
  const { host = LOOPBACK } = options
  const server = createAnswering(handle)
  for (let port = first; port <= last; port++) {
    const cause = await tryListen(server, port, host)
    if (cause === undefined) return listeningOf(server, host)
    // A port may also be kept for others by the system.
    if (cause.code !== 'EADDRINUSE' && cause.code !== 'EACCES') throw refusal(cause, port, host)
  }
  return listen(handle, 0, options)
}

function createAnswering(handle: Handle): Server {
  const answer = getRequestListener(
    // It is given what a server of plain HTTP has.
    (request, env) => handle(request, peerOf(env as HttpBindings)),
    // What the rest of the program calls a request stays what it is.
    { overrideGlobalObjects: false, errorHandler: refuse },
  )
  const server = createServer(
    {
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
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

/** Answers what is no request, and what no handler should have let through. */
function refuse(error: unknown): Response {
  return error instanceof RequestError
    ? new Response('bad request', { status: 400 })
    : new Response('internal error', { status: 500 })
}

/** What is in the way, or undefined when it listens. */
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

function refusal(cause: NodeJS.ErrnoException, port: number, host: string): PharosError {
  const problems: Readonly<Record<string, string>> = {
    EADDRINUSE: `--port ${port}: it is in use`,
    EACCES: `--port ${port}: this user may not listen at it`,
    EADDRNOTAVAIL: `--host ${host}: this machine has no such address`,
    ENOTFOUND: `--host ${host}: there is no such host`,
  }
  const problem = problems[cause.code ?? ''] ?? `--host ${host} --port ${port}: ${cause.message}`
  return new PharosError('USAGE', { problem }, { cause })
}

function listeningOf(server: Server, host: string): Listening {
  // A connection that cannot be taken, such as with too many files open, is one that is lost; all others go on.
  server.on('error', () => undefined)
  // It listens on a port.
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

/** Under what name this machine reaches what listens at an address. */
function reachableName(host: string): string {
  if (host === '0.0.0.0') return LOOPBACK
  if (host === '::') return '[::1]'
  return host.includes(':') ? `[${host}]` : host
}
