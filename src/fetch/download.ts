import { codeOf } from '../core/errors.ts'
import { parseRetryAfter } from '../core/retry-after.ts'
import type { Registries } from '../core/url/package-url.ts'
import {
  type Download,
  DownloadError,
  type DownloadRequest,
  type Downloads,
  type OpenProxy,
  type ProxyTarget,
} from '../library/ports/download.ts'
import { findAddresses, hostAndPortOf, systemResolve } from './address-check.ts'
import type { Allowance } from './addresses.ts'
import { type GuardedAgent, openAgent } from './agent.ts'
import { ConnectError } from './connect-error.ts'
import type { HttpFetcherOptions } from './http.ts'
import { parseProxy } from './parse-proxy.ts'

/** How files are downloaded. */
export interface DownloadOptions extends Pick<HttpFetcherOptions, 'userAgent' | 'resolve' | 'ca'> {
  /** Addresses that may be connected to. */
  readonly allowance: Allowance
  /** Origins of the registries that the owner configured. They may be private; only downloads from registries may lead there. */
  readonly origins: readonly string[]
  /** Returns the Authorization header for an address of a registry. It is sent with the request for this address only. @default none */
  readonly authorize?: (url: URL, type: keyof Registries | undefined) => string | undefined
  /** URL of a proxy for every request. @default none */
  readonly proxy?: string | undefined
  /** Idle timeout, in milliseconds, before and within a response. @default 30_000 */
  readonly idleTimeoutMs?: number
  /** Timeout of the whole download, in milliseconds. @default 15 minutes */
  readonly timeoutMs?: number
}

const MAX_REDIRECTS = 5
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

/** Opens downloads, which use the same connector as all other requests. */
export function openDownloads(options: DownloadOptions): Downloads {
  const { allowance, origins } = options
  const web = openAgentFor(options, allowance)
  const registry = openAgentFor(options, allowOrigins(allowance, origins))
  return {
    web: createDownload(web, options),
    registry: createDownload(registry, options, options.authorize ?? (() => undefined)),
    resolve: (host, port) => resolveHost(host, port, options),
    openProxy: (target) => openTargetProxy(options, target),
    async close() {
      await Promise.all([web.close(), registry.close()])
    },
  }
}

/** Idle timeout of the proxy for another program, in milliseconds; longer than git's own timeout. */
const PROXY_IDLE_MS = 120_000

/** Loads the proxy only when needed, because few users read repositories. */
async function openTargetProxy({ allowance, proxy }: DownloadOptions, target: ProxyTarget): Promise<OpenProxy> {
  const { openGuardProxy } = await import('./guard-proxy.ts')
  const upstreamProxy = proxy === undefined ? undefined : parseProxy(proxy)
  const targetHost = target.host.toLowerCase()
  const isTarget = (host: string, port: number) => host.toLowerCase() === targetHost && port === target.port
  return openGuardProxy({
    allowance: {
      isNameAllowed: (host, port) => allowance.isNameAllowed(host, port),
      isAllowed: (host, port, ip) => isTarget(host, port) && allowance.isAllowed(host, port, ip),
    },
    maxBytes: target.maxBytes,
    // Connects to the addresses that were checked, even if the name resolves to others by now.
    resolve: async () => target.addresses,
    idleTimeoutMs: PROXY_IDLE_MS,
    ...(upstreamProxy === undefined ? {} : { upstreamProxy }),
  })
}

async function resolveHost(host: string, port: number, options: DownloadOptions): Promise<readonly string[]> {
  const { allowance, resolve = systemResolve } = options
  try {
    return await findAddresses(host, port, { allowance, resolve, timeoutMs: CONNECT_TIMEOUT_MS })
  } catch (cause) {
    if (cause instanceof ConnectError) throw toDownloadError(cause)
    throw cause
  }
}

function toDownloadError(cause: ConnectError): DownloadError {
  return new DownloadError('failed', cause.message, { cause, refused: cause.refused ?? null })
}

const CONNECT_TIMEOUT_MS = 10_000

function openAgentFor(options: DownloadOptions, allowance: Allowance): GuardedAgent {
  const { proxy, idleTimeoutMs = 30_000 } = options
  return openAgent({
    allowance,
    resolve: options.resolve ?? systemResolve,
    ca: options.ca,
    proxy: proxy === undefined ? undefined : parseProxy(proxy),
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    firstByteTimeoutMs: idleTimeoutMs,
    idleTimeoutMs,
    maxHeaderBytes: 65_536,
    connectionsPerOrigin: 4,
  })
}

/** Extends an allowance by the origins that the owner configured. */
function allowOrigins(allowance: Allowance, origins: readonly string[]): Allowance {
  const writeHostAndPort = (host: string, port: number) => `${host.toLowerCase()}:${port}`
  const allowed = new Set(
    origins.map((origin) => {
      const { host, port } = hostAndPortOf(new URL(origin))
      return writeHostAndPort(host, port)
    }),
  )
  return {
    isNameAllowed: (host, port) => allowed.has(writeHostAndPort(host, port)) || allowance.isNameAllowed(host, port),
    isAllowed: (host, port, ip) => allowed.has(writeHostAndPort(host, port)) || allowance.isAllowed(host, port, ip),
  }
}

type Authorize = NonNullable<DownloadOptions['authorize']>

function createDownload(
  agent: GuardedAgent,
  { userAgent, timeoutMs = 15 * 60_000 }: DownloadOptions,
  authorize?: Authorize,
): Download {
  return async (request) => {
    request.signal?.throwIfAborted()
    const timeout = AbortSignal.timeout(timeoutMs)
    const signal = request.signal === undefined ? timeout : AbortSignal.any([request.signal, timeout])
    let url = parseAddress(request.url)
    const { origin } = url
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
      const step = await withDownloadErrors(url, request, timeout, () => {
        // A registry could redirect to another one for which there is a token too, and so choose what is requested with it.
        const isOwnOrigin = url.origin === origin
        const extraHeaders = isOwnOrigin
          ? { ...request.headers, ...writeAuthorization(url, authorize?.(url, request.registryType)) }
          : {}
        const isRegistry = authorize !== undefined
        return requestOnce(agent, url, { request, userAgent, signal, timeout, extraHeaders, isRegistry })
      })
      if (!(step instanceof URL)) return step
      if (url.protocol === 'https:' && step.protocol === 'http:') {
        throw new DownloadError('failed', `${url.host} redirects from https to http`)
      }
      url = step
    }
    throw new DownloadError('failed', `more than ${MAX_REDIRECTS} redirects`)
  }
}

/** The Authorization header for an address. Tokens are sent only over https or to this machine, because plain http exposes them. */
function writeAuthorization(url: URL, authorization: string | undefined): Record<string, string> {
  if (authorization === undefined) return {}
  if (url.protocol !== 'https:' && !/^(?:localhost|127\.[\d.]+|\[::1\])$/.test(url.hostname)) {
    throw new DownloadError('failed', `the token for ${url.host} is sent with https only`)
  }
  return { authorization }
}

interface RequestContext {
  readonly request: DownloadRequest
  /** Headers for this URL alone. */
  readonly extraHeaders: Readonly<Record<string, string>>
  readonly isRegistry: boolean
  readonly userAgent: string
  readonly signal: AbortSignal
  readonly timeout: AbortSignal
}

/** Requests a URL and returns its body, or its redirect target. */
async function requestOnce(
  agent: GuardedAgent,
  url: URL,
  context: RequestContext,
): Promise<AsyncIterable<Uint8Array> | URL> {
  const { request, userAgent, signal, timeout, extraHeaders } = context
  const { accept = '*/*' } = request
  const { statusCode, headers, body } = await agent.request({
    origin: url.origin,
    path: url.pathname + url.search,
    method: 'GET',
    // Asks for no compression, because packages are already compressed.
    headers: { 'user-agent': userAgent, accept, ...extraHeaders, 'accept-encoding': 'identity' },
    signal,
  })
  const { location } = headers
  if (REDIRECTS.has(statusCode) && typeof location === 'string') {
    await body.dump()
    return parseAddress(location, url)
  }
  if (statusCode !== 200) {
    await body.dump()
    throw createStatusError(url, statusCode, headers['retry-after'], context)
  }
  if (Number(headers['content-length'] ?? 0) > request.maxBytes) {
    // Handles the error event, because no other listener does.
    body.on('error', () => undefined).destroy()
    throw createTooLargeError(request)
  }
  return readBody(body as AsyncIterable<Uint8Array>, url, request, timeout)
}

function createStatusError(
  url: URL,
  status: number,
  retryAfter: unknown,
  { isRegistry, extraHeaders }: Pick<RequestContext, 'isRegistry' | 'extraHeaders'>,
): DownloadError {
  const isAuthorized = extraHeaders['authorization'] !== undefined
  const message = `${url.host} answered ${status}`
  if (status === 404 || status === 410) return new DownloadError('missing', message)
  if (status === 401 || status === 403) {
    const naming = `name a variable that holds a token with registryTokens, as ${url.host}=VARIABLE`
    const registryAdvice = isAuthorized ? `it refused the token that was sent; renew it, or ${naming}` : naming
    const advice = isRegistry ? registryAdvice : 'pass the credentials with --header'
    return new DownloadError('failed', `${message}: ${advice}`)
  }
  if (status !== 429 && status < 500) return new DownloadError('failed', message)
  const field = typeof retryAfter === 'string' ? retryAfter : null
  return new DownloadError('busy', message, { retryAfterMs: parseRetryAfter(field, Date.now) })
}

async function* readBody(
  body: AsyncIterable<Uint8Array>,
  url: URL,
  request: DownloadRequest,
  timeout: AbortSignal,
): AsyncGenerator<Uint8Array, void, void> {
  let length = 0
  const pieces = body[Symbol.asyncIterator]()
  try {
    for (;;) {
      const next = await withDownloadErrors(url, request, timeout, () => pieces.next())
      if (next.done === true) return
      length += next.value.length
      if (length > request.maxBytes) throw createTooLargeError(request)
      yield next.value
    }
  } finally {
    // Closes the connection when the caller stops reading early.
    await pieces.return?.()
  }
}

/** Parses a URL and drops its user name and password, so that they are never sent. */
function parseAddress(text: string, base?: URL): URL {
  const url = URL.parse(text, base?.href)
  if (url === null || !['http:', 'https:'].includes(url.protocol)) {
    throw new DownloadError(
      'failed',
      base === undefined ? 'it is not a web address (http or https)' : `${base.host} redirects to an invalid address`,
    )
  }
  url.username = ''
  url.password = ''
  return url
}

function createTooLargeError({ maxBytes }: DownloadRequest): DownloadError {
  return new DownloadError('failed', `it has more than ${maxBytes} bytes`)
}

/** Runs a step and turns its errors into a {@link DownloadError}. */
async function withDownloadErrors<T>(
  url: URL,
  request: DownloadRequest,
  timeout: AbortSignal,
  step: () => Promise<T>,
): Promise<T> {
  try {
    return await step()
  } catch (cause) {
    request.signal?.throwIfAborted()
    if (cause instanceof DownloadError) throw cause
    if (cause instanceof ConnectError) throw toDownloadError(cause)
    if (timeout.aborted) throw new DownloadError('failed', `${url.host} took too long`, { cause })
    // `busy` marks a broken connection as transient.
    const isSilent = ['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT'].includes(codeOf(cause))
    const problem = isSilent ? `${url.host} stopped sending data` : `the connection to ${url.host} broke`
    throw new DownloadError('busy', problem, { cause })
  }
}
