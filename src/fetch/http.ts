import { findFieldProblem, isFieldValue, isSendable } from '../core/header-fields.ts'
import type { Fetcher, FetchRequest } from '../crawl/ports.ts'
import { type HostResolver, systemResolve } from './address-check.ts'
import { type Allowance, PUBLIC_ONLY } from './addresses.ts'
import { openAgent } from './agent.ts'
import { ACCEPTED_ENCODINGS } from './decode.ts'
import { Exchange } from './exchange.ts'
import { type HttpProxy, parseProxy } from './parse-proxy.ts'
import { fail } from './response-outcome.ts'

/** How the web is fetched. A megabyte is 2²⁰ bytes. */
export interface HttpFetcherOptions {
  /** Value of the User-Agent header; `writeUserAgent` gives the usual form. */
  readonly userAgent: string
  /** Addresses that may be connected to. @default public ones */
  readonly allowance?: Allowance
  /** Size limit of a decoded response, in bytes. @default 20 MB */
  readonly maxBytes?: number
  /** Timeout for opening a connection: name resolution, every address tried, TLS. @default 10_000 */
  readonly connectTimeoutMs?: number
  /** Timeout from the request to the end of the response headers. @default 10_000 */
  readonly firstByteTimeoutMs?: number
  /** Idle timeout within a body. @default 10_000 */
  readonly idleTimeoutMs?: number
  /** Timeout from the request to the end of the response. @default 30_000 */
  readonly answerTimeoutMs?: number
  /** Size limit of the response headers, in bytes. @default 65_536 */
  readonly maxHeaderBytes?: number
  /** Limit of connections per origin; further requests wait. @default 16 */
  readonly connectionsPerOrigin?: number
  /** Finds the addresses of a host name. @default the resolver of the system */
  readonly resolve?: HostResolver
  /** Certificates to trust instead of those of Node, in PEM. */
  readonly ca?: string
  /**
   * URL of a proxy for every request, with user name and password if it needs them. The proxy opens tunnels to addresses that were resolved
   * and checked here. Environment variables such as HTTP_PROXY are ignored. @default none
   */
  readonly proxy?: string
  /** Milliseconds since 1970, for dates in Retry-After. @default Date.now */
  readonly now?: () => number
}

/** Fetches over HTTP and HTTPS, to allowed addresses only. */
export interface HttpFetcher extends Fetcher {
  /** Closes all connections; fetches in progress fail. */
  close(): Promise<void>
}

/** Opens a fetcher. It keeps connections alive, so it must be closed. */
export function openHttpFetcher(options: HttpFetcherOptions): HttpFetcher {
  const settings = resolveOptions(options)
  const agent = openAgent({ ...settings, ca: options.ca, proxy: resolveProxy(options.proxy) })
  let isClosed = false

  return {
    fetch(request) {
      return new Promise((resolve, reject) => {
        if (isClosed) throw new TypeError('the fetcher is closed')
        request.signal?.throwIfAborted()
        const url = URL.parse(request.url)
        if (url === null) return resolve(fail('bad-url', 'not a URL'))
        if (url.protocol !== 'http:' && url.protocol !== 'https:') {
          return resolve(fail('scheme', `${url.protocol} is not fetched`))
        }
        // Fragment and credentials are not part of a page's address and are never sent.
        if (url.hash !== '') url.hash = ''
        if (url.username !== '' || url.password !== '') url.username = url.password = ''
        const headers = writeHeaders(request, settings.userAgent)
        const exchange = new Exchange(request, url, settings, resolve, reject)
        const headersTimeout = exchange.firstByteTimeoutMs
        const path = url.pathname + url.search
        agent.dispatch({ origin: url.origin, path, method: 'GET', headers, headersTimeout }, exchange)
      })
    },
    async close() {
      isClosed = true
      await agent.close()
    },
  }
}

export type Settings = Required<Omit<HttpFetcherOptions, 'ca' | 'proxy'>>

const DEFAULT_ACCEPT = 'text/markdown, text/html;q=0.9, */*;q=0.8'

function resolveOptions(options: HttpFetcherOptions): Settings {
  const settings: Settings = {
    userAgent: options.userAgent,
    allowance: options.allowance ?? PUBLIC_ONLY,
    maxBytes: options.maxBytes ?? 20 * 2 ** 20,
    connectTimeoutMs: options.connectTimeoutMs ?? 10_000,
    firstByteTimeoutMs: options.firstByteTimeoutMs ?? 10_000,
    idleTimeoutMs: options.idleTimeoutMs ?? 10_000,
    answerTimeoutMs: options.answerTimeoutMs ?? 30_000,
    maxHeaderBytes: options.maxHeaderBytes ?? 65_536,
    connectionsPerOrigin: options.connectionsPerOrigin ?? 16,
    resolve: options.resolve ?? systemResolve,
    now: options.now ?? Date.now,
  }
  for (const [name, value] of Object.entries(settings)) {
    if (typeof value === 'number' && !(Number.isSafeInteger(value) && value > 0)) {
      throw new TypeError(`${name} must be a positive whole number, got ${value}`)
    }
  }
  if (!isFieldValue(settings.userAgent)) {
    throw new TypeError(`userAgent must be a field value, got ${JSON.stringify(settings.userAgent)}`)
  }
  return settings
}

/** Parses the setting. The error does not repeat its value, because the value may contain a password. */
function resolveProxy(text: string | undefined): HttpProxy | undefined {
  if (text === undefined) return undefined
  const proxy = parseProxy(text)
  if (proxy === undefined)
    throw new TypeError('proxy must be an address such as http://user:password@proxy.example:3128')
  return proxy
}

/** Names and values alternate, the form that undici processes fastest. */
function writeHeaders(request: FetchRequest, userAgent: string): string[] {
  const { etag, lastModified, headers } = request
  const fields = [
    'user-agent',
    userAgent,
    'accept',
    request.accept ?? DEFAULT_ACCEPT,
    'accept-encoding',
    ACCEPTED_ENCODINGS,
  ]
  if (isSendable(etag)) fields.push('if-none-match', etag)
  if (isSendable(lastModified)) fields.push('if-modified-since', lastModified)
  for (const name in headers) {
    const key = name.toLowerCase()
    const value = headers[name] ?? ''
    const problem = findFieldProblem(name, value)
    if (problem !== undefined) throw new TypeError(problem)
    if (key === 'user-agent') fields[1] = value
    else if (key === 'accept') fields[3] = value
    else fields.push(name, value)
  }
  return fields
}
