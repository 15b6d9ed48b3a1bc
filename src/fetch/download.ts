import { parseRetryAfter } from '../core/retry-after.ts'
import {
  type Download,
  DownloadError,
  type DownloadRequest,
  type Downloads,
  type OpenProxy,
  type ProxyTarget,
} from '../library/download.ts'
import { findAddresses, type HostResolver, hostAndPortOf, systemResolve } from './address-check.ts'
import type { Allowance } from './addresses.ts'
import { type GuardedAgent, openAgent } from './agent.ts'
import { ConnectError, codeOf } from './connect-error.ts'
import { parseProxy } from './parse-proxy.ts'

/** How files are downloaded. */
export interface DownloadOptions {
  readonly userAgent: string
  /** Addresses that may be connected to. */
  readonly allowance: Allowance
  /** Origins of the registries that the owner configured. They may be private; only downloads from registries may lead there. */
  readonly origins: readonly string[]
  /** Returns the token of a registry by its host; `name:password` also works. It is sent only to that host. @default none */
  readonly tokenFor?: (host: string) => string | undefined
  /** URL of a proxy for every request. @default none */
  readonly proxy?: string | undefined
  /** Finds the addresses of a host name. @default the resolver of the system */
  readonly resolve?: HostResolver
  /** Certificates to trust instead of those of Node, in PEM. */
  readonly ca?: string
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
  const registry = openAgentFor(options, allowAlso(allowance, origins))
  return {
    web: createDownload(web, options),
    registry: createDownload(registry, options, options.tokenFor ?? (() => undefined)),
    resolve: (host, port) => resolveHost(host, port, options),
    openProxy: (way) => openGuard(options, way),
    async close() {
      await Promise.all([web.close(), registry.close()])
    },
  }
}

/** Idle timeout of the proxy for another program, in milliseconds; longer than git's own. */
const PROXY_IDLE_MS = 120_000

/** Loads the proxy only when needed, because few users read repositories. */
async function openGuard({ allowance, proxy }: DownloadOptions, way: ProxyTarget): Promise<OpenProxy> {
  const { openGuardProxy } = await import('./guard-proxy.ts')
  const upstreamProxy = proxy === undefined ? undefined : parseProxy(proxy)
  const isMeant = (host: string, port: number) => host.toLowerCase() === way.host.toLowerCase() && port === way.port
  return openGuardProxy({
    allowance: {
      isNameAllowed: (host, port) => allowance.isNameAllowed(host, port),
      isAllowed: (host, port, ip) => isMeant(host, port) && allowance.isAllowed(host, port, ip),
    },
    maxBytes: way.maxBytes,
    // Connects to the addresses that were checked, even if the name resolves differently by now.
    resolve: async () => way.addresses,
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
function allowAlso(allowance: Allowance, origins: readonly string[]): Allowance {
  const nameOf = (host: string, port: number) => `${host.toLowerCase()}:${port}`
  const places = new Set(
    origins.map((origin) => {
      const { host, port } = hostAndPortOf(new URL(origin))
      return nameOf(host, port)
    }),
  )
  return {
    isNameAllowed: (host, port) => places.has(nameOf(host, port)) || allowance.isNameAllowed(host, port),
    isAllowed: (host, port, ip) => places.has(nameOf(host, port)) || allowance.isAllowed(host, port, ip),
  }
}

type TokenFor = NonNullable<DownloadOptions['tokenFor']>

function createDownload(
  agent: GuardedAgent,
  { userAgent, timeoutMs = 15 * 60_000 }: DownloadOptions,
  tokenFor?: TokenFor,
): Download {
  return async (request) => {
    request.signal?.throwIfAborted()
    const late = AbortSignal.timeout(timeoutMs)
    const signal = request.signal === undefined ? late : AbortSignal.any([request.signal, late])
    let url = parseAddress(request.url)
    const { origin } = url
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
      const step = await withDownloadErrors(url, request, late, () => {
        const own = { ...(url.origin === origin ? request.headers : {}), ...authorize(url, tokenFor) }
        return requestOnce(agent, url, { request, userAgent, signal, late, own, isRegistry: tokenFor !== undefined })
      })
      if (!(step instanceof URL)) return step
      if (url.protocol === 'https:' && step.protocol === 'http:') {
        throw new DownloadError('failed', `${url.host} leads from https to http`)
      }
      url = step
    }
    throw new DownloadError('failed', `more than ${MAX_REDIRECTS} redirects`)
  }
}

/** The Authorization header for a host. Tokens are sent only over https or to this machine, because plain http exposes them. */
function authorize(url: URL, tokenFor: TokenFor | undefined): Record<string, string> {
  const token = tokenFor?.(url.host) ?? tokenFor?.(url.hostname)
  if (token === undefined) return {}
  if (url.protocol !== 'https:' && !/^(?:localhost|127\.[\d.]+|\[::1\])$/.test(url.hostname)) {
    throw new DownloadError('failed', `the token for ${url.host} is sent with https only`)
  }
  const scheme = token.includes(':') ? `Basic ${Buffer.from(token).toString('base64')}` : `Bearer ${token}`
  return { authorization: scheme }
}

interface RequestContext {
  readonly request: DownloadRequest
  /** Headers for this URL alone. */
  readonly own: Readonly<Record<string, string>>
  readonly isRegistry: boolean
  readonly userAgent: string
  readonly signal: AbortSignal
  readonly late: AbortSignal
}

/** Requests a URL and returns its body, or its redirect target. */
async function requestOnce(
  agent: GuardedAgent,
  url: URL,
  asking: RequestContext,
): Promise<AsyncIterable<Uint8Array> | URL> {
  const { request, userAgent, signal, late, own, isRegistry } = asking
  const { statusCode, headers, body } = await agent.request({
    origin: url.origin,
    path: url.pathname + url.search,
    method: 'GET',
    // Packages are already compressed.
    headers: { 'user-agent': userAgent, accept: request.accept ?? '*/*', ...own, 'accept-encoding': 'identity' },
    signal,
  })
  const { location } = headers
  if (REDIRECTS.has(statusCode) && typeof location === 'string') {
    await body.dump()
    return parseAddress(location, url)
  }
  if (statusCode !== 200) {
    await body.dump()
    throw createStatusError(url, statusCode, headers['retry-after'], isRegistry)
  }
  if (Number(headers['content-length'] ?? 0) > request.maxBytes) {
    // Handles the error event, because no other listener does.
    body.on('error', () => undefined).destroy()
    throw tooLarge(request)
  }
  return readBody(body as AsyncIterable<Uint8Array>, url, request, late)
}

function createStatusError(url: URL, status: number, retryAfter: unknown, isRegistry: boolean): DownloadError {
  const said = `${url.host} answered ${status}`
  if (status === 404 || status === 410) return new DownloadError('missing', said)
  if (status === 401 || status === 403) {
    const advice = isRegistry
      ? `name a variable that holds a token with registryTokens, as ${url.host}=VARIABLE`
      : 'what it wants to see can be given with --header'
    return new DownloadError('failed', `${said}: ${advice}`)
  }
  if (status !== 429 && status < 500) return new DownloadError('failed', said)
  const field = typeof retryAfter === 'string' ? retryAfter : null
  return new DownloadError('busy', said, { retryAfterMs: parseRetryAfter(field, Date.now) })
}

async function* readBody(
  body: AsyncIterable<Uint8Array>,
  url: URL,
  request: DownloadRequest,
  late: AbortSignal,
): AsyncGenerator<Uint8Array, void, void> {
  let length = 0
  const pieces = body[Symbol.asyncIterator]()
  try {
    for (;;) {
      const next = await withDownloadErrors(url, request, late, () => pieces.next())
      if (next.done === true) return
      length += next.value.length
      if (length > request.maxBytes) throw tooLarge(request)
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

function tooLarge({ maxBytes }: DownloadRequest): DownloadError {
  return new DownloadError('failed', `it has more than ${maxBytes} bytes`)
}

/** Runs a step and turns its errors into a {@link DownloadError}. */
async function withDownloadErrors<T>(
  url: URL,
  request: DownloadRequest,
  late: AbortSignal,
  step: () => Promise<T>,
): Promise<T> {
  try {
    return await step()
  } catch (cause) {
    request.signal?.throwIfAborted()
    if (cause instanceof DownloadError) throw cause
    if (cause instanceof ConnectError) throw toDownloadError(cause)
    if (late.aborted) throw new DownloadError('failed', `${url.host} took too long`, { cause })
    // A broken connection is transient.
    const isSilent = ['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT'].includes(codeOf(cause))
    const problem = isSilent ? `${url.host} says nothing any more` : `the connection to ${url.host} broke`
    throw new DownloadError('busy', problem, { cause })
  }
}
