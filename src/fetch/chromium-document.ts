import type { CDPSession } from 'playwright-core'
import type { Snapshot } from '../core/model.ts'
import type { Booth } from './chromium-booth.ts'

/** Times that a page is given its document again. One that asks for it more often leads nowhere. */
const MAX_RELOADS = 2

/** What a reader has nothing of, though the switches of the browser do not keep it away: films, sounds, the icon of the site. */
const UNREAD = [{ resourceType: 'Media' as const }, { urlPattern: '*/favicon.ico' }]

/**
 * Gives a page the document that was fetched, and decides about all that follow: none for the page itself, those of its own origin
 * for frames. What nobody reads is not loaded. Fields of the owner go to the origin of the page.
 */
export class Documents {
  /** Where a script or a refresh wanted to lead the page; undefined while it stays. */
  leftFor: string | undefined
  readonly #session: CDPSession
  readonly #frameId: string
  readonly #snapshot: Snapshot
  readonly #origin: string
  readonly #headers: Readonly<Record<string, string>>
  /** Times that the page may still be given its document. */
  #left = 1 + MAX_RELOADS

  constructor({ session, frameId }: Booth, snapshot: Snapshot, headers: Readonly<Record<string, string>>) {
    this.#session = session
    this.#frameId = frameId
    this.#snapshot = snapshot
    this.#origin = new URL(snapshot.url).origin
    this.#headers = headers
    session.on('Fetch.requestPaused', this.#decide)
  }

  /** Begins to decide. */
  async start(): Promise<true> {
    const hasHeaders = Object.keys(this.#headers).length > 0
    const patterns = [
      { resourceType: 'Document' as const },
      ...UNREAD,
      ...(hasHeaders ? [{ urlPattern: `${this.#origin}/*` }] : []),
    ]
    await this.#session.send('Fetch.enable', { patterns })
    return true
  }

  /** Decides no longer. */
  stop(): void {
    this.#session.off('Fetch.requestPaused', this.#decide)
  }

  readonly #decide = (paused: Paused): void => {
    // A page that goes away takes its requests with it.
    this.#answer(paused).catch(() => {})
  }

  #answer(paused: Paused): Promise<unknown> {
    const { requestId, request, resourceType, frameId } = paused
    if (resourceType === 'Document' && frameId === this.#frameId) return this.#answerPage(paused)
    const isOwn = URL.parse(request.url)?.origin === this.#origin
    const isUnread = resourceType === 'Media' || request.url.endsWith('/favicon.ico')
    if (isUnread || (resourceType === 'Document' && !isOwn)) return this.#fail(requestId)
    if (!isOwn) return this.#session.send('Fetch.continueRequest', { requestId })
    const headers = Object.entries({ ...request.headers, ...this.#headers }).map(([name, value]) => ({ name, value }))
    return this.#session.send('Fetch.continueRequest', { requestId, headers })
  }

  #answerPage({ requestId, request }: Paused): Promise<unknown> {
    const isSame = request.method === 'GET' && withoutHash(request.url) === withoutHash(this.#snapshot.url)
    if (isSame && this.#left > 0) {
      this.#left--
      return this.#session.send('Fetch.fulfillRequest', { requestId, ...writeAnswer(this.#snapshot) })
    }
    // What a form posts is no address.
    if (request.method === 'GET') this.leftFor ??= withoutHash(request.url)
    return this.#fail(requestId)
  }

  #fail(requestId: string): Promise<unknown> {
    return this.#session.send('Fetch.failRequest', { requestId, errorReason: 'Aborted' })
  }
}

interface Paused {
  readonly requestId: string
  readonly request: {
    readonly url: string
    readonly method: string
    readonly headers: Readonly<Record<string, string>>
  }
  readonly resourceType: string
  readonly frameId: string
}

/** Fields that were about the transfer, or that would leave something behind in the browser or keep the page from being shown. */
const DROPPED: ReadonlySet<string> = new Set([
  ...['content-encoding', 'content-length', 'transfer-encoding', 'connection', 'keep-alive', 'trailer'],
  ...['set-cookie', 'clear-site-data', 'strict-transport-security', 'alt-svc', 'content-disposition'],
])

interface Fulfilment {
  readonly responseCode: number
  readonly responseHeaders: { readonly name: string; readonly value: string }[]
  readonly body: string
}

function writeAnswer({ body, status = 200, headers = {} }: Snapshot): Fulfilment {
  const type = typeof body === 'string' ? 'text/html; charset=utf-8' : headers['content-type']
  const fields = Object.entries({ ...headers, 'content-type': type ?? 'text/html' })
  return {
    responseCode: status,
    responseHeaders: fields.filter(([name]) => !DROPPED.has(name)).map(([name, value]) => ({ name, value })),
    body: Buffer.from(body).toString('base64'),
  }
}

/** An address without what stands for a place within the page. */
export function withoutHash(text: string): string {
  const url = new URL(text)
  url.hash = ''
  return url.href
}
