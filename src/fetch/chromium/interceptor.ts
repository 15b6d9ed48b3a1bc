import type { CDPSession } from 'playwright-core'
import type { Snapshot } from '../../core/model.ts'
import { withoutFragment } from '../without-fragment.ts'
import type { ChromiumContext } from './context.ts'

/** How often a page may reload its document. A page that reloads more often is in a loop. */
const MAX_RELOADS = 2

/** Resources that extraction does not need and that no browser switch blocks: video, audio, the favicon. */
const BLOCKED_RESOURCES = [{ resourceType: 'Media' as const }, { urlPattern: '*/favicon.ico' }]

/**
 * Serves the fetched document to the page and decides about all later document requests: the page itself may load no other document, and
 * its frames only documents of its own origin. Blocks resources that are not read. Sends the owner's headers only to the page's origin.
 */
export class RequestInterceptor {
  /** Where a script or a refresh tried to navigate the page; undefined while the page stays. */
  navigationTarget: string | undefined
  readonly #session: CDPSession
  readonly #frameId: string
  readonly #snapshot: Snapshot
  readonly #origin: string
  readonly #headers: Readonly<Record<string, string>>
  /** Number of times that the document may still be served. */
  #servesLeft = 1 + MAX_RELOADS

  constructor({ session, frameId }: ChromiumContext, snapshot: Snapshot, headers: Readonly<Record<string, string>>) {
    this.#session = session
    this.#frameId = frameId
    this.#snapshot = snapshot
    this.#origin = new URL(snapshot.url).origin
    this.#headers = headers
    session.on('Fetch.requestPaused', this.#onRequestPaused)
  }

  /** Starts intercepting requests. */
  async start(): Promise<true> {
    const hasHeaders = Object.keys(this.#headers).length > 0
    const patterns = [
      { resourceType: 'Document' as const },
      ...BLOCKED_RESOURCES,
      ...(hasHeaders ? [{ urlPattern: `${this.#origin}/*` }] : []),
    ]
    await this.#session.send('Fetch.enable', { patterns })
    return true
  }

  /** Stops intercepting requests. */
  stop(): void {
    this.#session.off('Fetch.requestPaused', this.#onRequestPaused)
  }

  readonly #onRequestPaused = (paused: PausedRequest): void => {
    // Answering fails if the page has been closed in the meantime.
    this.#answer(paused).catch(() => {})
  }

  #answer(paused: PausedRequest): Promise<unknown> {
    const { requestId, request, resourceType, frameId } = paused
    if (resourceType === 'Document' && frameId === this.#frameId) return this.#answerPage(paused)
    const isSameOrigin = URL.parse(request.url)?.origin === this.#origin
    const isBlocked = resourceType === 'Media' || request.url.endsWith('/favicon.ico')
    if (isBlocked || (resourceType === 'Document' && !isSameOrigin)) return this.#fail(requestId)
    if (!isSameOrigin) return this.#session.send('Fetch.continueRequest', { requestId })
    const headers = Object.entries({ ...request.headers, ...this.#headers }).map(([name, value]) => ({ name, value }))
    return this.#session.send('Fetch.continueRequest', { requestId, headers })
  }

  #answerPage({ requestId, request }: PausedRequest): Promise<unknown> {
    const isDocument = request.method === 'GET' && withoutFragment(request.url) === withoutFragment(this.#snapshot.url)
    if (isDocument && this.#servesLeft > 0) {
      this.#servesLeft--
      return this.#session.send('Fetch.fulfillRequest', { requestId, ...toFulfillment(this.#snapshot) })
    }
    // The target of a form post is not an address to crawl.
    if (request.method === 'GET') this.navigationTarget ??= withoutFragment(request.url)
    return this.#fail(requestId)
  }

  #fail(requestId: string): Promise<unknown> {
    return this.#session.send('Fetch.failRequest', { requestId, errorReason: 'Aborted' })
  }
}

interface PausedRequest {
  readonly requestId: string
  readonly request: {
    readonly url: string
    readonly method: string
    readonly headers: Readonly<Record<string, string>>
  }
  readonly resourceType: string
  readonly frameId: string
}

/** Headers about the transfer, and headers that would store something in the browser or prevent the page from being shown. */
const DROPPED_HEADERS: ReadonlySet<string> = new Set([
  ...['content-encoding', 'content-length', 'transfer-encoding', 'connection', 'keep-alive', 'trailer'],
  ...['set-cookie', 'clear-site-data', 'strict-transport-security', 'alt-svc', 'content-disposition'],
])

interface Fulfillment {
  readonly responseCode: number
  readonly responseHeaders: { readonly name: string; readonly value: string }[]
  readonly body: string
}

function toFulfillment({ body, status = 200, headers = {} }: Snapshot): Fulfillment {
  const type = typeof body === 'string' ? 'text/html; charset=utf-8' : headers['content-type']
  const fields = Object.entries({ ...headers, 'content-type': type ?? 'text/html' })
  return {
    responseCode: status,
    responseHeaders: fields.filter(([name]) => !DROPPED_HEADERS.has(name)).map(([name, value]) => ({ name, value })),
    body: Buffer.from(body).toString('base64'),
  }
}
