import type { IncomingHttpHeaders, IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { systemResolve } from './address-check.ts'
import { type Allowance, isPublicAddress } from './addresses.ts'
import { type GuardedAgent, openAgent } from './agent.ts'
import { ConnectError } from './connect-error.ts'
import { Connector } from './connector.ts'
import type { HttpFetcherOptions } from './http.ts'
import type { HttpProxy } from './parse-proxy.ts'

/** Addresses that a guard proxy allows, and its limits. */
export interface GuardProxyOptions extends Pick<HttpFetcherOptions, 'resolve' | 'connectTimeoutMs'> {
  readonly allowance: Allowance
  /** The owner's proxy for all connections. @default none */
  readonly upstreamProxy?: HttpProxy
  /** Limit of concurrent connections. @default 256 */
  readonly maxConnections?: number
  /** Limit of bytes received between two calls of {@link GuardProxy.resetCounters}. @default 256 MB */
  readonly maxBytes?: number
  /** Idle timeout of a connection, in milliseconds. @default 30_000 */
  readonly idleTimeoutMs?: number
}

/** A refused connection. */
export interface RefusedConnection {
  readonly host: string
  readonly reason: string
}

/** A local proxy that connects to allowed addresses only. */
export interface GuardProxy {
  /** URL of the proxy, such as `http://127.0.0.1:41234`. */
  readonly url: string
  /** The first refusals, up to {@link MAX_REFUSALS}. */
  readonly refusals: readonly RefusedConnection[]
  /** Number of all refusals. */
  readonly refusalCount: number
  /** Why the last failed request failed; null while no request has failed. */
  readonly failure: string | null
  /** Resets the counters of bytes and refusals, and clears `refusals` and `failure`. */
  resetCounters(): void
  /** Closes every connection. */
  close(): Promise<void>
}

const MAX_HEADER_BYTES = 65_536

/** Limit of stored refusals; further refusals are only counted. */
const MAX_REFUSALS = 20

/**
 * Opens a proxy for a browser or git. It supports CONNECT tunnels, which WebSockets use too, and plain requests in absolute form. The
 * {@link Connector} checks and opens every connection, and the proxy never connects to itself.
 */
export async function openGuardProxy(options: GuardProxyOptions): Promise<GuardProxy> {
  const proxy = new RunningProxy(options)
  await proxy.listen()
  return proxy
}

class RunningProxy implements GuardProxy {
  readonly refusals: RefusedConnection[] = []
  refusalCount = 0
  failure: string | null = null
  #received = 0
  #port = 0
  readonly #maxBytes: number
  readonly #idleTimeoutMs: number
  readonly #connector: Connector
  readonly #agent: GuardedAgent
  readonly #server: Server
  readonly #sockets = new Set<Socket>()

  constructor(options: GuardProxyOptions) {
    const { maxConnections = 256, maxBytes = 256 * 2 ** 20, idleTimeoutMs = 30_000 } = options
    this.#maxBytes = maxBytes
    this.#idleTimeoutMs = idleTimeoutMs
    const connection = {
      allowance: this.#withoutItself(options.allowance),
      resolve: options.resolve ?? systemResolve,
      ca: undefined,
      proxy: options.upstreamProxy,
    }
    const connectTimeoutMs = options.connectTimeoutMs ?? 10_000
    this.#connector = new Connector({ ...connection, timeoutMs: connectTimeoutMs })
    this.#agent = openAgent({
      ...connection,
      connectTimeoutMs,
      firstByteTimeoutMs: idleTimeoutMs,
      idleTimeoutMs,
      maxHeaderBytes: MAX_HEADER_BYTES,
      connectionsPerOrigin: maxConnections,
    })
    // A static import of `node:http` would make every crawl load Node's own fetch.
    this.#server = process
      .getBuiltinModule('node:http')
      .createServer({ maxHeaderSize: MAX_HEADER_BYTES, keepAliveTimeout: idleTimeoutMs })
    this.#server.maxConnections = maxConnections
    this.#server.on('connection', (socket: Socket) => this.#track(socket))
    this.#server.on('request', (request, response) => void this.#forward(request, response))
    this.#server.on('connect', (request, client, head) => void this.#tunnel(request, client, head))
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen(0, '127.0.0.1', resolve)
    })
    this.#port = (this.#server.address() as AddressInfo).port
  }

  resetCounters(): void {
    this.#received = 0
    this.refusalCount = 0
    this.failure = null
    this.refusals.length = 0
  }

  async close(): Promise<void> {
    this.#connector.close()
    const closed = new Promise((resolve) => this.#server.close(resolve))
    for (const socket of this.#sockets) socket.destroy()
    await Promise.all([closed, this.#agent.close()])
  }

  /** Refuses the proxy's own port, because a request to itself would loop without end. */
  #withoutItself(allowance: Allowance): Allowance {
    return {
      isNameAllowed: (host, port) => allowance.isNameAllowed(host, port),
      isAllowed: (host, port, ip) =>
        (port !== this.#port || isPublicAddress(ip)) && allowance.isAllowed(host, port, ip),
    }
  }

  #track(socket: Socket): void {
    this.#sockets.add(socket)
    socket.setTimeout(this.#idleTimeoutMs, () => socket.destroy())
    // Browsers and servers may reset connections; the close handler ends the other side.
    socket.on('error', () => {})
    socket.once('close', () => this.#sockets.delete(socket))
  }

  /** Forwards a plain request. */
  async #forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = URL.parse(request.url ?? '')
    if (url === null || url.protocol !== 'http:') return sendText(response, 400, 'not an http URL')
    const clientGone = new AbortController()
    response.once('close', () => clientGone.abort())
    try {
      this.#checkByteLimit(url.host)
      const answer = await this.#agent.request({
        origin: url.origin,
        path: url.pathname + url.search,
        // Any method is possible; undici validates it.
        method: request.method as 'GET',
        headers: dropHopHeaders(request.headers),
        body: hasBody(request.headers) ? request : null,
        signal: clientGone.signal,
      })
      response.writeHead(answer.statusCode, dropHopHeaders(answer.headers))
      for await (const part of answer.body as AsyncIterable<Uint8Array>) {
        this.#count(part.length, url.host)
        if (!response.write(part)) await waitForDrain(response, clientGone.signal)
      }
      response.end()
    } catch (error) {
      const [status, text] = this.#recordFailure(error, url.host)
      if (response.headersSent) response.destroy()
      else sendText(response, status, text)
    }
  }

  /** Opens a tunnel for a CONNECT request. */
  async #tunnel(request: IncomingMessage, client: Duplex, head: Uint8Array): Promise<void> {
    const [, bracketed, plain, digits] = /^(?:\[([^\]]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(request.url ?? '') ?? []
    const host = bracketed ?? plain
    if (host === undefined) return refuseTunnel(client, 400, 'not a host with a port')
    try {
      this.#checkByteLimit(host)
      const server = await this.#connector.dial(host, Number(digits))
      this.#track(server)
      // When one side closes, so does the other.
      client.once('close', () => server.destroy())
      server.once('close', () => client.destroy())
      if (client.destroyed) return void server.destroy()
      client.write('HTTP/1.1 200 Connection established\r\n\r\n')
      server.write(head)
      server.on('data', (part: Uint8Array) => {
        try {
          this.#count(part.length, host)
        } catch {
          // The failure is recorded, and no error response can be sent inside a tunnel.
          server.destroy()
        }
      })
      server.pipe(client).pipe(server)
    } catch (error) {
      const [status, text] = this.#recordFailure(error, host)
      refuseTunnel(client, status, text)
    }
  }

  #checkByteLimit(host: string): void {
    if (this.#received > this.#maxBytes) {
      throw new ConnectError('address-refused', `nothing is read from ${host}, because the byte limit is reached`)
    }
  }

  #count(bytes: number, host: string): void {
    const wasWithinLimit = this.#received <= this.#maxBytes
    this.#received += bytes
    if (this.#received <= this.#maxBytes) return
    this.failure = `more than ${this.#maxBytes} bytes were read`
    if (wasWithinLimit) this.#recordRefusal(host, this.failure)
    throw new ConnectError('network', 'too many bytes')
  }

  /** Records why a request failed, and returns the status and the text of the response to it. */
  #recordFailure(error: unknown, host: string): readonly [status: number, text: string] {
    this.failure = error instanceof ConnectError ? error.message : `the connection to ${host} broke`
    if (!(error instanceof ConnectError)) return [502, this.failure]
    if (error.problem !== 'address-refused') return [502, error.message]
    this.#recordRefusal(host, error.message)
    return [403, error.message]
  }

  #recordRefusal(host: string, reason: string): void {
    this.refusalCount++
    if (this.refusals.length < MAX_REFUSALS) this.refusals.push({ host, reason })
  }
}

/** Hop-by-hop headers, RFC 9110 section 7.6.1, and headers that undici sets itself. */
const HOP_FIELDS: ReadonlySet<string> = new Set([
  ...['connection', 'proxy-connection', 'keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'expect'],
  ...['proxy-authorization', 'proxy-authenticate', 'host'],
])

function dropHopHeaders(headers: IncomingHttpHeaders): Record<string, string | string[]> {
  const connectionFields = new Set(headers.connection?.toLowerCase().split(/(?<!\s)\s*,\s*/))
  const fields = Object.entries(headers).filter(([name]) => !HOP_FIELDS.has(name) && !connectionFields.has(name))
  return Object.fromEntries(fields.map(([name, value]) => [name, value ?? '']))
}

function hasBody(headers: IncomingHttpHeaders): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

function sendText(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' }).end(text)
}

function refuseTunnel(client: Duplex, status: number, text: string): void {
  const length = Buffer.byteLength(text)
  client.end(`HTTP/1.1 ${status} Refused\r\ncontent-length: ${length}\r\nconnection: close\r\n\r\n${text}`)
}

async function waitForDrain(response: ServerResponse, signal: AbortSignal): Promise<void> {
  await process.getBuiltinModule('node:events').once(response, 'drain', { signal })
}
