import {
  createMcpHandler,
  isLegacyRequest,
  type McpServer,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import { trackResponse } from '../core/track-response.ts'
import type { McpRequest } from './server.ts'

/** The client of a request. */
export interface HttpPeer {
  readonly address?: string
}

/** An MCP handler for streamable HTTP. */
export interface HttpHandler {
  fetch(request: Request, peer?: HttpPeer): Promise<Response>
  close(): Promise<void>
}

/** Options of the HTTP handler. */
export interface HttpOptions {
  readonly createServer: (request?: McpRequest) => McpServer | Promise<McpServer>
  /** Creates an unguessable id. */
  readonly newId: () => string
  /** The current time in milliseconds since 1970. */
  readonly now: () => number
  /** The path of the endpoint. @default /mcp */
  readonly path?: string
}

/** Maximum number of sessions, which clients of the 2025 protocol may leave open. */
const MAX_SESSIONS = 256
/** Maximum number of sessions per client, so that a client that never closes sessions leaves room for others. */
const MAX_CLIENT_SESSIONS = 64
/** Idle time after which a session is closed when the next one is opened. */
const IDLE_TIMEOUT_MS = 30 * 60_000
/**
 * At the session limit, sessions idle for this long make way for new ones: time enough between two requests of a new client. The client of a
 * closed session opens another.
 */
const MIN_EVICTION_IDLE_MS = 5_000

const TOO_MANY_OWN = `Too many sessions of this client (${MAX_CLIENT_SESSIONS}) were used a moment ago: try again in a few seconds`

interface Session {
  /** The client, by {@link identify}. */
  readonly client: string
  readonly transport: WebStandardStreamableHTTPServerTransport
  readonly server: McpServer
  usedAt: number
  /** Responses that the client still reads: a client that listens or waits is alive, even if it is silent. */
  responses: number
}

/**
 * Serves MCP over streamable HTTP. The caller has checked Host and Origin of each request. Clients of the 2026 protocol need no session.
 * Clients of the 2025 protocol get one, because cancellation, progress and server requests depend on it.
 */
export function createHttpHandler(options: HttpOptions): HttpHandler {
  const { createServer, newId, now, path = '/mcp' } = options
  const modern = createMcpHandler(createServer, { legacy: 'reject' })
  // Ordered by last use.
  const sessions = new Map<string, Session>()

  const closeSession = async (id: string): Promise<void> => {
    const session = sessions.get(id)
    sessions.delete(id)
    await session?.server.close()
  }
  /** Sessions that are being opened count too, or concurrent requests would exceed the limits. */
  const opening = new Set<Pick<Session, 'client'>>()
  const countSessionsOf = (client: string): number =>
    [...sessions.values(), ...opening].filter((session) => session.client === client).length
  const countAll = (): number => sessions.size + opening.size
  /**
   * Closes idle sessions before a new one is opened. At the limit of all sessions a shorter idle time is enough. At the limit of the client
   * it is enough for sessions of that client only.
   */
  const closeIdleSessions = async (client: string): Promise<void> => {
    for (const [id, { usedAt, responses, client: owner }] of [...sessions]) {
      const isFull = countSessionsOf(client) >= MAX_CLIENT_SESSIONS ? owner === client : countAll() >= MAX_SESSIONS
      if (responses === 0 && now() - usedAt >= (isFull ? MIN_EVICTION_IDLE_MS : IDLE_TIMEOUT_MS)) await closeSession(id)
    }
  }
  const open = async (request: Request, peer: HttpPeer | undefined): Promise<Response> => {
    const client = await identify(request, peer)
    await closeIdleSessions(client)
    if (countSessionsOf(client) >= MAX_CLIENT_SESSIONS) return refuse(429, -32000, TOO_MANY_OWN)
    if (countAll() >= MAX_SESSIONS) return refuse(503, -32000, 'Too many sessions: try again in a few seconds')
    const openingSession = { client }
    opening.add(openingSession)
    try {
      return await initialize(request, openingSession)
    } finally {
      opening.delete(openingSession)
    }
  }
  const initialize = async (request: Request, openingSession: Pick<Session, 'client'>): Promise<Response> => {
    const server = await createServer()
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: newId,
      onsessioninitialized: (id) => {
        opening.delete(openingSession)
        sessions.set(id, { ...openingSession, transport, server, usedAt: now(), responses: 0 })
      },
      onsessionclosed: (id) => {
        sessions.delete(id)
      },
    })
    await server.connect(transport)
    const response = await transport.handleRequest(request)
    // The request was not an initialization, and its response says so.
    if (transport.sessionId === undefined) await server.close()
    return response
  }
  const continueSession = async (request: Request, id: string): Promise<Response> => {
    const session = sessions.get(id)
    if (session === undefined) return refuse(404, -32001, 'Session not found')
    session.usedAt = now()
    sessions.delete(id)
    sessions.set(id, session)
    return countResponse(session, await session.transport.handleRequest(request), request.signal, now)
  }
  return {
    async fetch(request, peer) {
      if (new URL(request.url).pathname !== path) return refuse(404, -32601, `Not found: MCP is at ${path}`)
      const id = request.headers.get('mcp-session-id')
      if (id !== null) return continueSession(request, id)
      return (await isLegacyRequest(request)) ? open(request, peer) : modern.fetch(request)
    },
    async close() {
      await modern.close()
      for (const id of [...sessions.keys()]) await closeSession(id)
    },
  }
}

/** Counts a response of a session until the client has read it. */
function countResponse(session: Session, response: Response, signal: AbortSignal, now: () => number): Response {
  session.responses++
  return trackResponse(response, signal, () => {
    session.responses--
    session.usedAt = now()
  })
}

/** Distinguishes clients: remote ones by address, local ones by the name they give. */
async function identify(request: Request, { address = '' }: HttpPeer = {}): Promise<string> {
  if (address !== '' && !LOOPBACK.test(address)) return address
  const message: unknown = await request
    .clone()
    .json()
    .catch(() => null)
  const { params } = (message ?? {}) as { readonly params?: { readonly clientInfo?: { readonly name?: unknown } } }
  const agent = request.headers.get('user-agent') ?? ''
  return `${agent} ${String(params?.clientInfo?.name ?? '')}`.slice(0, MAX_CLIENT_CHARS)
}

const LOOPBACK = /^(?:::ffff:)?127\.|^::1$/
const MAX_CLIENT_CHARS = 200

function refuse(status: number, code: number, message: string): Response {
  return Response.json({ jsonrpc: '2.0', error: { code, message }, id: null }, { status })
}
