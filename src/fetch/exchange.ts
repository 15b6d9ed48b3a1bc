import type { Dispatcher } from 'undici'
import { joinValues, singleValue } from '../core/header-fields.ts'
import { joinBytes } from '../core/join-bytes.ts'
import type { Reason } from '../crawl/ledger-reasons.ts'
import type { FetchOutcome, FetchRequest } from '../crawl/ports.ts'
import { isParserError } from './agent.ts'
import { CONNECT_OUTCOMES, ConnectError } from './connect-error.ts'
import { BodyDecoder, type DecodeResult, parseEncodings } from './decode.ts'
import type { Settings } from './http.ts'
import { type Fields, fail, outcomeOfStatus } from './response-outcome.ts'

/** An unwanted body up to this size is read, so that the connection can be reused. A larger one closes the connection. */
const MAX_DRAINED_BYTES = 64 * 1024

/** Minimum timeout of a brief request, unless the general timeout is shorter. */
const MIN_BRIEF_MS = 1000

/** A body above this size waits for `admitLarge`. */
const LARGE_BYTES = 2 ** 20

/** One request and its response: the handler that undici calls. */
export class Exchange implements Dispatcher.DispatchHandler {
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
    const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
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

/** Quotes a server's text in a message: shortened and ASCII only. */
function quote(text: string): string {
  return JSON.stringify(text.slice(0, 40).replace(/[^\x20-\x7e]/g, '?'))
}
