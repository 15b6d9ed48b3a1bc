import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { PharosError } from '../core/errors.ts'

/** A server that listens on this machine. */
export interface Listening {
  /** `http://127.0.0.1:6280` */
  readonly origin: string
  close(): Promise<void>
}

const HOST = '127.0.0.1'

/** Answers HTTP requests of this machine with a handler of web requests. Other machines cannot reach it. */
export async function listen(handle: (request: Request) => Promise<Response>, port: number): Promise<Listening> {
  const server = createServer((incoming, outgoing) => {
    answer(handle, incoming, outgoing).catch(() => outgoing.destroy())
  })
  server.listen(port, HOST)
  await once(server, 'listening').catch((cause: unknown) => {
    const why =
      cause instanceof Error && 'code' in cause && cause.code === 'EADDRINUSE' ? 'it is in use' : String(cause)
    throw new PharosError('USAGE', { problem: `--port ${port}: ${why}` }, { cause })
  })
  // A connection that cannot be taken, such as with too many files open, is one that is lost; all others go on.
  server.on('error', () => undefined)
  // It listens on a port.
  const { port: chosen } = server.address() as AddressInfo
  return {
    origin: `http://${HOST}:${chosen}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function answer(
  handle: (request: Request) => Promise<Response>,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const gone = new AbortController()
  outgoing.once('close', () => gone.abort())
  const request = toRequest(incoming, gone.signal)
  const response = request === undefined ? new Response('bad request', { status: 400 }) : await handle(request)
  outgoing.writeHead(response.status, Object.fromEntries(response.headers))
  if (response.body === null) outgoing.end()
  else {
    outgoing.flushHeaders()
    await pipeline(Readable.fromWeb(response.body), outgoing)
  }
}

/** The same request as the web knows it; undefined when its address is none. */
function toRequest(incoming: IncomingMessage, signal: AbortSignal): Request | undefined {
  const { method = 'GET', url = '/' } = incoming
  const address = URL.parse(url, `http://${HOST}`)
  if (address === null) return undefined
  const headers = new Headers()
  for (const [name, value] of Object.entries(incoming.headers)) {
    for (const one of [value ?? []].flat()) headers.append(name, one)
  }
  const hasBody = method !== 'GET' && method !== 'HEAD'
  return new Request(address, {
    method,
    headers,
    signal,
    ...(hasBody ? { body: Readable.toWeb(incoming), duplex: 'half' } : {}),
  })
}
