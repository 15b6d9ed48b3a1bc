import { codeOf } from '../core/errors.ts'
import {
  type HttpClient,
  ServiceError,
  type ServiceRequest,
  type ServiceResponse,
} from '../library/ports/http-client.ts'
import { hostAndPortOf, systemResolve } from './address-check.ts'
import type { Allowance } from './addresses.ts'
import { type GuardedAgent, isParserError, openAgent } from './agent.ts'
import { ConnectError } from './connect-error.ts'
import type { HttpFetcherOptions } from './http.ts'

/** Which services may be reached, and how. */
export interface ServiceClientOptions
  extends Pick<HttpFetcherOptions, 'userAgent' | 'resolve' | 'ca' | 'connectionsPerOrigin' | 'connectTimeoutMs'> {
  /** Origins of the services that the owner configured. They may be private; other origins are refused. */
  readonly origins: readonly string[]
}

/** Sends requests to services. The client keeps connections alive, so it must be closed. */
export interface ServiceClient extends HttpClient {
  close(): Promise<void>
}

const MAX_BYTES = 64 * 2 ** 20

/** Opens a client for the services that the owner configured, with the same connector as all other requests. */
export function openServiceClient(options: ServiceClientOptions): ServiceClient {
  const origins = new Set(options.origins.map((text) => new URL(text).origin))
  const agent = openAgent({
    allowance: allowOrigins(origins),
    resolve: options.resolve ?? systemResolve,
    ca: options.ca,
    proxy: undefined,
    connectTimeoutMs: options.connectTimeoutMs ?? 10_000,
    // Each request has its own overall timeout.
    firstByteTimeoutMs: 0,
    idleTimeoutMs: 0,
    maxHeaderBytes: 65_536,
    connectionsPerOrigin: options.connectionsPerOrigin ?? 16,
  })
  return {
    async request(request) {
      request.signal?.throwIfAborted()
      const url = URL.parse(request.url)
      if (url === null || !origins.has(url.origin)) {
        throw new ServiceError('not-allowed', `${url?.origin ?? 'the given URL'} is not a configured service`)
      }
      const timeout = AbortSignal.timeout(request.timeoutMs)
      const signal = request.signal === undefined ? timeout : AbortSignal.any([request.signal, timeout])
      try {
        return await exchange(agent, url, request, options.userAgent, signal)
      } catch (error) {
        request.signal?.throwIfAborted()
        throw describeError(error, url, request.timeoutMs, timeout.aborted)
      }
    },
    close: () => agent.close(),
  }
}

/** Allows the configured origins at any address, also private ones, and nothing else. */
function allowOrigins(origins: ReadonlySet<string>): Allowance {
  const allowed = new Set([...origins].map((origin) => writeHostAndPort(hostAndPortOf(new URL(origin)))))
  const isConfigured = (host: string, port: number): boolean => allowed.has(writeHostAndPort({ host, port }))
  return { isNameAllowed: isConfigured, isAllowed: isConfigured }
}

function writeHostAndPort({ host, port }: { readonly host: string; readonly port: number }): string {
  return `${host.toLowerCase()}:${port}`
}

async function exchange(
  agent: GuardedAgent,
  url: URL,
  request: ServiceRequest,
  userAgent: string,
  signal: AbortSignal,
): Promise<ServiceResponse> {
  const { method, headers = {}, body, maxBytes = MAX_BYTES } = request
  const answer = await agent.request({
    origin: url.origin,
    path: url.pathname + url.search,
    method,
    headers: {
      'user-agent': userAgent,
      accept: 'application/json',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    body: body ?? null,
    signal,
  })
  if (answer.headers['content-encoding'] !== undefined) {
    await answer.body.dump()
    throw new ServiceError('bad-answer', `${url.origin} answered with a content encoding that was not requested`)
  }
  const fields = Object.entries(answer.headers).map(([name, value]) => [name, String(value)])
  const parts: Uint8Array[] = []
  let length = 0
  for await (const part of answer.body as AsyncIterable<Uint8Array>) {
    length += part.length
    if (length > maxBytes) {
      answer.body.destroy()
      throw new ServiceError('too-large', `${url.origin} answered with more than ${maxBytes} bytes`)
    }
    parts.push(part)
  }
  return { status: answer.statusCode, headers: Object.fromEntries(fields), body: Buffer.concat(parts) }
}

function describeError(error: unknown, { origin }: URL, timeoutMs: number, isLate: boolean): ServiceError {
  if (error instanceof ServiceError) return error
  if (isLate) {
    return new ServiceError('timeout', `${origin} gave no complete answer within ${timeoutMs} ms`, { cause: error })
  }
  if (error instanceof ConnectError) {
    const problem = error.problem === 'timeout' ? 'timeout' : 'network'
    return new ServiceError(problem, error.message, { cause: error })
  }
  // Only the key can be invalid, because the owner sets no other part of a request verbatim.
  if (codeOf(error) === 'UND_ERR_INVALID_ARG') {
    return new ServiceError('not-allowed', 'the key contains characters that a header must not have')
  }
  // `error.data` has the bytes that failed to parse, and is empty when the response ended early.
  if (error instanceof Error && isParserError(error) && 'data' in error && error.data !== '') {
    return new ServiceError('bad-answer', `the answer of ${origin} is not HTTP`, { cause: error })
  }
  return new ServiceError('network', `the connection to ${origin} broke`, { cause: error })
}
