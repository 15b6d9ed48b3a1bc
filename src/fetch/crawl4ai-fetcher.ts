import type { KnownFacts } from '../core/model.ts'
import type { Reason } from '../crawl/ledger.ts'
import type { Clock, Fetcher, FetchOutcome, FetchRequest } from '../crawl/ports.ts'
import { CircuitBreaker, CircuitOpenError } from '../library/circuit-breaker.ts'
import type { HttpClient } from '../library/http-client.ts'
import { ServiceFailure } from '../library/service-call.ts'
import type { CheckAddress } from './address-check.ts'
import { blamesService, type CrawledPage, createCrawl4AIClient } from './crawl4ai-client.ts'
import { describeHead } from './crawl4ai-head.ts'

/** How pages are fetched by a Crawl4AI service. */
export interface Crawl4AIFetcherOptions {
  readonly endpoint: string
  /** @default none */
  readonly token?: string | undefined
  /** Time for each answer of it, in milliseconds. */
  readonly timeoutMs: number
  /** Pages that it reads at once. */
  readonly concurrency: number
  /** Times that a failed call is made again; no more than once, for the crawl asks again too. */
  readonly retries: number
  /** Reaches the service. */
  readonly client: HttpClient
  readonly clock: Clock
  /** Asked about every address before it is handed over, and about where the service ended up. */
  readonly checkAddress: CheckAddress
}

/** Fetches pages as Markdown, by a service that runs their scripts. */
export interface Crawl4AIFetcher extends Fetcher {
  /** Gives up the pages that are being read. */
  close(): Promise<void>
}

const MOST_RETRIES = 1
const DELAYS_MS = [1000]

/** Least time until a page is asked for again while the service is left alone: others see meanwhile whether it is well. */
const LEAST_REST_MS = 5000

/** Most bytes of the Markdown of a page. */
const MAX_BYTES = 20 * 2 ** 20

/** Opens a fetcher. Rejects with `SERVICE_UNUSABLE` when the service is not well. */
export async function openCrawl4AIFetcher(options: Crawl4AIFetcherOptions): Promise<Crawl4AIFetcher> {
  const { clock, checkAddress } = options
  const crawl4ai = createCrawl4AIClient({
    ...options,
    retries: Math.min(options.retries, MOST_RETRIES),
    delaysMs: DELAYS_MS,
  })
  await crawl4ai.checkHealth()
  const breaker = new CircuitBreaker({ now: () => clock.now() })
  const closing = new AbortController()
  const takeTurn = createTurns(options.concurrency)

  return {
    async fetch(request) {
      if (closing.signal.aborted) throw new TypeError('the fetcher is closed')
      request.signal?.throwIfAborted()
      const refusal = await checkAddress(request.url)
      if (refusal !== undefined) return fail(refusal)
      const release = await takeTurn()
      const { signal = closing.signal } = request
      try {
        signal.throwIfAborted()
        const call = { signal: AbortSignal.any([signal, closing.signal]) }
        const page = await breaker.run(() => crawl4ai.crawl(request.url, call), blamesService)
        return (await checkTarget(page, request, checkAddress)) ?? judgePage(page, request)
      } catch (error) {
        request.signal?.throwIfAborted()
        return closing.signal.aborted ? fail(CLOSED) : describeTrouble(error)
      } finally {
        release()
      }
    },
    async close() {
      closing.abort()
    },
  }
}

interface Trouble {
  readonly reason: Reason
  readonly detail: string
  readonly isTransient: boolean
  readonly status?: number
  readonly retryAfterMs?: number | null
}

const CLOSED: Trouble = { reason: 'service-failed', detail: 'the fetcher was closed', isTransient: true }

function fail({ reason, detail, isTransient, status, retryAfterMs }: Trouble): FetchOutcome {
  return { type: 'failed', status: status ?? null, reason, detail, isTransient, retryAfterMs: retryAfterMs ?? null }
}

/** Refuses what was read at an address that may not be reached; undefined when all is well. */
async function checkTarget(
  page: CrawledPage,
  request: FetchRequest,
  checkAddress: CheckAddress,
): Promise<FetchOutcome | undefined> {
  const refusal = page.url === request.url ? undefined : await checkAddress(page.url)
  return refusal === undefined ? undefined : fail({ ...refusal, detail: `it leads on: ${refusal.detail}` })
}

function judgePage(page: CrawledPage, request: FetchRequest): FetchOutcome {
  const { status } = page
  const told = judgeStatus(status)
  if (told !== undefined) return told
  if (!page.isSuccess) {
    const detail = `the service could not read it: ${page.problem || 'it does not say why'}`
    return fail({ reason: 'network', detail, isTransient: true })
  }
  const asked = withoutFragment(request.url)
  const target = withoutFragment(page.url)
  // How it got there is not told, so nothing is known to be for ever.
  if (target !== asked) return { type: 'moved', status: 302, target, isPermanent: false }
  const maxBytes = request.maxBytes ?? MAX_BYTES
  if (Buffer.byteLength(page.markdown) > maxBytes) {
    return fail({ reason: 'too-large', detail: `more than ${maxBytes} bytes`, isTransient: false })
  }
  return {
    type: 'fetched',
    snapshot: {
      url: asked,
      body: page.markdown,
      status: status === 0 ? 200 : status,
      headers: describeHead(page),
      known: knownOf(page),
    },
    etag: null,
    lastModified: null,
  }
}

/** What the status of a page says of it; undefined where its content is wanted, or where it has none. */
function judgeStatus(status: number): FetchOutcome | undefined {
  const detail = `the server answered ${status}`
  if (status === 404 || status === 410) return { type: 'gone', status }
  if (status === 429) return fail({ reason: 'rate-limited', detail, isTransient: true, status })
  if (status === 408 || status === 425) return fail({ reason: 'http-client-error', detail, isTransient: true, status })
  if (status >= 500) return fail({ reason: 'http-server-error', detail, isTransient: true, status })
  if (status >= 400) return { type: 'refused', status, reason: 'http-client-error', detail }
  return undefined
}

function knownOf({ title, description, links }: CrawledPage): KnownFacts {
  return { ...(title === '' ? {} : { title }), ...(description === '' ? {} : { description }), links }
}

function withoutFragment(text: string): string {
  const url = new URL(text)
  url.hash = ''
  return url.href
}

/** What becomes of an address when the service fails. Its troubles are not those of the page. */
function describeTrouble(error: unknown): FetchOutcome {
  if (error instanceof CircuitOpenError) {
    return fail({
      reason: 'service-failed',
      detail: `Crawl4AI was ${error.message}`,
      isTransient: true,
      retryAfterMs: Math.max(error.retryInMs, LEAST_REST_MS),
    })
  }
  if (!(error instanceof ServiceFailure)) throw error
  const { type, message: detail, isTransient, retryAfterMs } = error
  return fail({ reason: type === 'too-large' ? type : 'service-failed', detail, isTransient, retryAfterMs })
}

/** Lets so many go on at once; each gives its turn back when it is done. */
function createTurns(count: number): () => Promise<() => void> {
  const waiting: (() => void)[] = []
  let free = count
  const release = (): void => {
    const next = waiting.shift()
    if (next === undefined) free++
    else next()
  }
  return async () => {
    if (free > 0) free--
    else await new Promise<void>((resolve) => waiting.push(resolve))
    return release
  }
}
