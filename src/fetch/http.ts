import type { Dispatcher } from 'undici'
import { codeOf } from '../core/errors.ts'
import { joinBytes } from '../core/join-bytes.ts'
import { parseRetryAfter } from '../core/retry-after.ts'
import type { Reason } from '../crawl/ledger.ts'
import type { Fetcher, FetchOutcome, FetchRequest } from '../crawl/ports.ts'
import { type HostResolver, systemResolve } from './address-check.ts'
import { type Allowance, PUBLIC_ONLY } from './addresses.ts'
import { isParserError, openAgent } from './agent.ts'
import { CONNECT_OUTCOMES, ConnectError } from './connect-error.ts'
import { ACCEPTED_ENCODINGS, BodyDecoder, type DecodeResult, parseEncodings } from './decode.ts'
import { findFieldProblem, isFieldValue } from './header-fields.ts'
import { type HttpProxy, parseProxy } from './parse-proxy.ts'

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

type Settings = Required<Omit<HttpFetcherOptions, 'ca' | 'proxy'>>

const DEFAULT_ACCEPT = 'text/markdown, text/html;q=0.9, */*;q=0.8'

/** An unwanted body up to this size is read, so that the connection can be reused. A larger one closes the connection. */
const MAX_DRAINED_BYTES = 64 * 1024

/** Minimum timeout of a brief request, unless the general timeout is shorter. */
const MIN_BRIEF_MS = 1000

/** A body above this size waits for `admitLarge`. */
const LARGE_BYTES = 2 ** 20

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

/** One request and its response: the handler that undici calls. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #request: FetchRequest
  readonly #url: URL
  readonly #settings: Settings
  readonly #maxBytes: number
  /** Timeout until the response headers are complete. */
  readonly firstByteTimeoutMs: number
  readonly #resolve: (outcome: FetchOutcome) => void
  readonly #reject: (reason: unknown) => void
  #isSettled = false
  #controller: Dispatcher.DispatchController | undefined
  #timer: NodeJS.Timeout | undefined
  /** Whether admission of a large body has been requested. */
  #isLarge = false
  /** Idle time of this process when the request was sent. */
  #idleAtStart: number | undefined
  #latencyMs: number | undefined
  #status: number | null = null
  #headers: Fields = {}
  /** The outcome when the headers alone decide it. */
  #earlyOutcome: FetchOutcome | undefined
  #decoder: BodyDecoder | undefined
  #chunks: Uint8Array[] = []
  /** Bytes of the body received so far, still encoded. */
  #length = 0

  constructor(
    request: FetchRequest,
    url: URL,
    settings: Settings,
    resolve: (outcome: FetchOutcome) => void,
    reject: (reason: unknown) => void,
  ) {
    this.#request = request
    this.#url = url
    this.#settings = settings
    this.#maxBytes = request.maxBytes ?? settings.maxBytes
    const { firstByteTimeoutMs } = settings
    const briefMs = Math.min(firstByteTimeoutMs, Math.max(Math.ceil(firstByteTimeoutMs / 3), MIN_BRIEF_MS))
    this.firstByteTimeoutMs = request.isBrief === true ? briefMs : firstByteTimeoutMs
    this.#resolve = resolve
    this.#reject = reject
    request.signal?.addEventListener('abort', this.#onAbort, { once: true })
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#isSettled) {
      controller.abort(new Error('settled'))
      return
    }
    // Throwing here keeps the connection open for the next request; an abort would close it.
    if (this.#request.isInTime?.() === false) throw new SlotMissedError()
    this.#idleAtStart = idleTimeMs()
    this.#startTimer()
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: Fields): void {
    // Informational responses such as 103 come before the final one.
    if (status < 200) return
    this.#controller = controller
    this.#latencyMs = this.#waitedMs()
    this.#status = status
    this.#headers = headers
    const length = Number(singleValue(headers['content-length']) ?? 0)
    this.#earlyOutcome = outcomeOfStatus(status, headers, this.#request, this.#url, this.#settings.now)
    if (this.#earlyOutcome !== undefined) {
      if (length > MAX_DRAINED_BYTES) this.#stop(this.#earlyOutcome)
      return
    }
    const field = joinValues(headers['content-encoding']) ?? ''
    const encodings = parseEncodings(field)
    if (encodings === undefined) this.#stop(this.#fail('bad-answer', `unknown content encoding ${quote(field)}`))
    else if (length > this.#maxBytes && !this.#isClipped) this.#stop(this.#failTooLarge())
    else if (encodings.length > 0) {
      this.#decoder = new BodyDecoder(
        encodings,
        { maxBytes: this.#maxBytes, isClipped: this.#isClipped },
        {
          pause: () => controller.pause(),
          resume: () => controller.resume(),
          stop: () => this.#finishDecoding(),
          waitForRoom: (bytes) => this.#waitForRoom(bytes),
        },
      )
    }
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Uint8Array): void {
    if (this.#isSettled) return
    this.#length += chunk.length
    if (this.#earlyOutcome !== undefined) {
      if (this.#length > MAX_DRAINED_BYTES) this.#stop(this.#earlyOutcome)
    } else if (this.#length > this.#maxBytes) this.#stop(this.#clip(chunk))
    else if (this.#decoder !== undefined) this.#decoder.write(chunk)
    else {
      this.#chunks.push(chunk)
      const room = this.#waitForRoom(this.#length)
      if (room === undefined) return
      controller.pause()
      void room.then(() => controller.resume())
    }
  }

  onResponseEnd(): void {
    if (this.#isSettled) return
    if (this.#earlyOutcome !== undefined) this.#settle(this.#earlyOutcome)
    else if (this.#decoder !== undefined) this.#finishDecoding()
    else this.#settle(this.#fetched(joinBytes(this.#chunks, this.#length)))
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    if (this.#isSettled) return
    this.#settle(this.#earlyOutcome ?? this.#describeError(error))
  }

  readonly #onAbort = (): void => {
    if (this.#isSettled) return
    this.#release()
    this.#reject(this.#request.signal?.reason)
    this.#controller?.abort(new Error('aborted'))
  }

  #startTimer(): void {
    const answerTimeoutMs = this.#request.timeoutMs ?? this.#settings.answerTimeoutMs
    this.#timer = setTimeout(() => {
      const detail = `no complete answer from ${this.#url.host} within ${answerTimeoutMs} ms`
      // A response that started and then timed out would do so again, so it is not transient.
      this.#stop(this.#earlyOutcome ?? this.#fail('timeout', detail, this.#status === null))
    }, answerTimeoutMs)
  }

  /** Returns a promise to wait for before more than this many bytes of a body are read; undefined to continue at once. */
  #waitForRoom(bytes: number): Promise<void> | undefined {
    const { admitLarge } = this.#request
    if (this.#isLarge || bytes <= LARGE_BYTES || admitLarge === undefined) return undefined
    this.#isLarge = true
    // The server does not cause this wait, so the timeout starts anew after it.
    clearTimeout(this.#timer)
    return admitLarge().then(() => {
      if (!this.#isSettled) this.#startTimer()
    })
  }

  #finishDecoding(): void {
    this.#decoder?.end().then(
      (decoded) => this.#stop(this.#describeDecoded(decoded)),
      (error: unknown) => this.#reject(error),
    )
  }

  #describeDecoded(decoded: DecodeResult): FetchOutcome {
    switch (decoded.type) {
      case 'decoded':
        return this.#fetched(decoded.bytes)
      case 'too-large':
        return this.#failTooLarge()
      case 'corrupt':
        return this.#fail('bad-answer', 'the body does not have the content encoding it claims')
    }
  }

  /** Settles with an outcome, and closes the connection if the response is incomplete. */
  #stop(outcome: FetchOutcome): void {
    if (this.#isSettled) return
    this.#settle(outcome)
    this.#controller?.abort(new Error('stopped'))
  }

  #settle(outcome: FetchOutcome): void {
    this.#release()
    const isTimeout = outcome.type === 'failed' && outcome.reason === 'timeout'
    const latencyMs = this.#latencyMs ?? (isTimeout ? this.#waitedMs() : undefined)
    this.#resolve(latencyMs === undefined ? outcome : { ...outcome, latencyMs })
  }

  /** Time waited for the response, without the time in which this process was busy; undefined before the request is sent. */
  #waitedMs(): number | undefined {
    return this.#idleAtStart === undefined ? undefined : Math.max(0, idleTimeMs() - this.#idleAtStart)
  }

  #release(): void {
    this.#isSettled = true
    clearTimeout(this.#timer)
    this.#request.signal?.removeEventListener('abort', this.#onAbort)
    this.#decoder?.close()
    this.#chunks = []
  }

  #fetched(body: Uint8Array): FetchOutcome {
    const headers: Record<string, string> = {}
    for (const name in this.#headers) {
      const value = this.#headers[name]
      // Cookies are not stored, and Set-Cookie is the one header whose values cannot be joined.
      if (value !== undefined && name !== 'set-cookie')
        headers[name] = typeof value === 'string' ? value : value.join(', ')
    }
    return {
      type: 'fetched',
      snapshot: { url: this.#url.href, body, status: this.#status ?? 200, headers },
      etag: singleValue(this.#headers['etag']),
      lastModified: singleValue(this.#headers['last-modified']),
    }
  }

  /** Truncates or refuses a body that turns out to be too large. */
  #clip(chunk: Uint8Array): FetchOutcome {
    if (!this.#isClipped || this.#decoder !== undefined) return this.#failTooLarge()
    this.#chunks.push(chunk)
    return this.#fetched(joinBytes(this.#chunks, this.#length).slice(0, this.#maxBytes))
  }

  get #isClipped(): boolean {
    return this.#request.isClipped === true
  }

  #failTooLarge(): FetchOutcome {
    return this.#fail('too-large', `more than ${this.#maxBytes} bytes`)
  }

  #fail(reason: Reason, detail: string, isTransient = false): FetchOutcome {
    return fail(reason, detail, { status: this.#status, isTransient })
  }

  #describeError(error: Error): FetchOutcome {
    if (error instanceof SlotMissedError) return this.#fail('timeout', error.message, true)
    if (error instanceof ConnectError) {
      const { reason, isTransient } = CONNECT_OUTCOMES[error.problem]
      return this.#fail(reason, error.message, isTransient)
    }
    const { host } = this.#url
    const endedEarly = `${host} closed the connection in the middle of an answer`
    const notHttp = `the answer of ${host} is not HTTP`
    if (isParserError(error)) {
      // `error.data` has the bytes that failed to parse, and is empty when the response ended early.
      const isEarlyEnd = 'data' in error && error.data === ''
      return isEarlyEnd ? this.#fail('network', endedEarly, true) : this.#fail('bad-answer', notHttp)
    }
    const code = codeOf(error)
    switch (code) {
      case 'UND_ERR_HEADERS_TIMEOUT':
        return this.#fail('timeout', `no answer from ${host} within ${this.firstByteTimeoutMs} ms`, true)
      case 'UND_ERR_BODY_TIMEOUT':
        return this.#fail('timeout', `${host} stopped in the middle of an answer`, true)
      case 'UND_ERR_HEADERS_OVERFLOW':
        return this.#fail('bad-answer', `the header has more than ${this.#settings.maxHeaderBytes} bytes`)
      case 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH':
        // undici also reports two Content-Length headers this way.
        return this.#status === null ? this.#fail('bad-answer', notHttp) : this.#fail('network', endedEarly, true)
      case 'UND_ERR_DESTROYED':
      case 'UND_ERR_CLOSED':
        return this.#fail('network', 'the fetcher was closed', true)
    }
    if (code.startsWith('ERR_SSL_') || code.startsWith('ERR_TLS_') || code === 'EPROTO') {
      return this.#fail('tls', `the secure connection to ${host} broke`)
    }
    return this.#fail('network', `the connection to ${host} broke`, true)
  }
}

/** Milliseconds in which the event loop was idle. */
function idleTimeMs(): number {
  return performance.eventLoopUtilization().idle
}

/** The time slot in which the request might have been sent has passed. */
class SlotMissedError extends Error {
  constructor() {
    super('the request could not be sent in time')
  }
}

type Fields = Record<string, string | string[] | undefined>

interface FailDetails {
  readonly status?: number | null
  readonly isTransient?: boolean
  readonly retryAfterMs?: number | null
}

function fail(reason: Reason, detail: string, details: FailDetails = {}): FetchOutcome {
  const { status = null, isTransient = false, retryAfterMs = null } = details
  return { type: 'failed', status, reason, detail, isTransient, retryAfterMs }
}

/** The outcome that status and headers decide; undefined when the body should be read. */
function outcomeOfStatus(
  status: number,
  headers: Fields,
  request: FetchRequest,
  url: URL,
  now: () => number,
): FetchOutcome | undefined {
  const failTransiently = (reason: Reason): FetchOutcome => {
    const retryAfterMs = parseRetryAfter(singleValue(headers['retry-after']), now)
    return fail(reason, `the server answered ${status}`, { status, isTransient: true, retryAfterMs })
  }
  switch (status) {
    // No request has a Range header, so the server must not send a part.
    case 206:
      return fail('bad-answer', 'the server answered 206 with part of a page', { status })
    case 301:
    case 302:
    case 303:
    case 307:
    case 308: {
      const target = parseLocation(headers['location'], url)
      if (target === undefined) {
        return fail('bad-answer', `the server answered ${status} without a usable Location`, { status })
      }
      return { type: 'moved', status, target, isPermanent: status === 301 || status === 308 }
    }
    case 304: {
      const { etag = null, lastModified = null } = request
      if (!isSendable(etag) && !isSendable(lastModified)) {
        return fail('bad-answer', 'the server answered 304 to an unconditional request', { status })
      }
      return {
        type: 'unchanged',
        etag: singleValue(headers['etag']) ?? etag,
        lastModified: singleValue(headers['last-modified']) ?? lastModified,
      }
    }
    case 404:
    case 410:
      return { type: 'gone', status }
    case 408:
    case 425:
      return failTransiently('http-client-error')
    case 429:
      return failTransiently('rate-limited')
  }
  if (status < 300) return undefined
  if (status >= 500 && status < 600) return failTransiently('http-server-error')
  const detail = `the server answered ${status}`
  if (status >= 400 && status < 500) return { type: 'refused', status, reason: 'http-client-error', detail }
  return fail('bad-answer', detail, { status })
}

function parseLocation(field: string | string[] | undefined, base: URL): string | undefined {
  const text = singleValue(field)
  if (text === null || text.trim() === '') return undefined
  const target = URL.parse(decodeUtf8(text), base.href)
  if (target === null) return undefined
  if (target.username !== '' || target.password !== '') target.username = target.password = ''
  return target.href
}

/** Headers arrive as Latin-1, but a non-ASCII Location is meant as UTF-8. */
function decodeUtf8(text: string): string {
  const decoded = Buffer.from(text, 'latin1').toString('utf8')
  return decoded.includes('\uFFFD') ? text : decoded
}

/** The value of a header that may occur once; null when it is missing or its values differ. */
function singleValue(field: string | string[] | undefined): string | null {
  if (field === undefined) return null
  if (typeof field === 'string') return field
  return new Set(field).size === 1 ? (field[0] ?? null) : null
}

function joinValues(field: string | string[] | undefined): string | undefined {
  return typeof field === 'object' ? field.join(', ') : field
}

/** Quotes a server's text in a message: shortened and ASCII only. */
function quote(text: string): string {
  return JSON.stringify(text.slice(0, 40).replace(/[^\x20-\x7e]/g, '?'))
}

/** Whether a validator can be sent back as received. */
function isSendable(validator: string | null | undefined): validator is string {
  return typeof validator === 'string' && validator !== '' && isFieldValue(validator)
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
