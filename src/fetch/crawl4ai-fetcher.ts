import type { KnownFacts } from '../core/model.ts'
import type { Reason } from '../crawl/ledger-reasons.ts'
import type { Fetcher, FetchOutcome, FetchRequest } from '../crawl/ports.ts'
import { CircuitBreaker, CircuitOpenError } from '../library/circuit-breaker.ts'
import { ServiceFailure } from '../library/service-call.ts'
import type { AddressChecker } from './address-check.ts'
import {
  type Crawl4AIClientOptions,
  type CrawledPage,
  createCrawl4AIClient,
  isServiceFault,
} from './crawl4ai-client.ts'
import { describeHead } from './crawl4ai-head.ts'
import { withoutFragment } from './without-fragment.ts'

/** How a Crawl4AI service fetches pages. */
export interface Crawl4AIFetcherOptions extends Omit<Crawl4AIClientOptions, 'retries' | 'delaysMs'> {
  /** Pages that the service reads at the same time. */
  readonly concurrency: number
  /** Number of retries of a failed call; at most one, because the crawl retries too. */
  readonly retries: number
  /** Checks every URL before the service gets it, and the final URL afterwards. */
  readonly checkAddress: AddressChecker
}

/** Fetches pages as Markdown, through a service that runs their scripts. */
export interface Crawl4AIFetcher extends Fetcher {
  /** Aborts the pages that are being read. */
  close(): Promise<void>
}

const MAX_RETRIES = 1
const RETRY_DELAYS_MS = [1000]

/** Minimum delay before a page is retried while the circuit breaker is open; other pages probe the service meanwhile. */
const MIN_RETRY_DELAY_MS = 5000

/** Size limit of a page's Markdown, in bytes. */
const MAX_BYTES = 20 * 2 ** 20

/** Opens a fetcher. Rejects with `SERVICE_UNUSABLE` when the service is not healthy. */
export async function openCrawl4AIFetcher(options: Crawl4AIFetcherOptions): Promise<Crawl4AIFetcher> {
  const { clock, checkAddress } = options
  const crawl4ai = createCrawl4AIClient({
    ...options,
    retries: Math.min(options.retries, MAX_RETRIES),
    delaysMs: RETRY_DELAYS_MS,
  })
  await crawl4ai.checkHealth()
  const breaker = new CircuitBreaker({ now: () => clock.now() })
  const closing = new AbortController()
  const acquireSlot = createSemaphore(options.concurrency)

  return {
    async fetch(request) {
      if (closing.signal.aborted) throw new TypeError('the fetcher is closed')
      request.signal?.throwIfAborted()
      const refusal = await checkAddress(request.url)
      if (refusal !== undefined) return fail(refusal)
      const release = await acquireSlot()
      const { signal = closing.signal } = request
      try {
        signal.throwIfAborted()
        const call = { signal: AbortSignal.any([signal, closing.signal]) }
        const page = await breaker.run(() => crawl4ai.crawl(request.url, call), isServiceFault)
        return (await checkTarget(page, request, checkAddress)) ?? toOutcome(page, request)
      } catch (error) {
        request.signal?.throwIfAborted()
        return closing.signal.aborted ? fail(CLOSED) : describeFailure(error)
      } finally {
        release()
      }
    },
    async close() {
      closing.abort()
    },
  }
}

interface FetchFailure {
  readonly reason: Reason
  readonly detail: string
  readonly isTransient: boolean
  readonly status?: number
  readonly retryAfterMs?: number | null
}

const CLOSED: FetchFailure = { reason: 'service-failed', detail: 'the fetcher was closed', isTransient: true }

function fail({ reason, detail, isTransient, status, retryAfterMs }: FetchFailure): FetchOutcome {
  return { type: 'failed', status: status ?? null, reason, detail, isTransient, retryAfterMs: retryAfterMs ?? null }
}

/** Returns a failure for a page whose final URL may not be reached; undefined when it may. */
async function checkTarget(
  page: CrawledPage,
  request: FetchRequest,
  checkAddress: AddressChecker,
): Promise<FetchOutcome | undefined> {
  const refusal = page.url === request.url ? undefined : await checkAddress(page.url)
  return refusal === undefined ? undefined : fail({ ...refusal, detail: `it redirects: ${refusal.detail}` })
}

function toOutcome(page: CrawledPage, request: FetchRequest): FetchOutcome {
  const { status } = page
  const statusOutcome = outcomeOfStatus(status)
  if (statusOutcome !== undefined) return statusOutcome
  if (!page.isSuccess) {
    const detail = `the service could not read the page: ${page.problem || 'it gave no reason'}`
    return fail({ reason: 'network', detail, isTransient: true })
  }
  const requestedUrl = withoutFragment(request.url)
  const target = withoutFragment(page.url)
  // The service does not report the status of redirects, so the move cannot count as permanent.
  if (target !== requestedUrl) return { type: 'moved', status: 302, target, isPermanent: false }
  const maxBytes = request.maxBytes ?? MAX_BYTES
  if (Buffer.byteLength(page.markdown) > maxBytes) {
    return fail({ reason: 'too-large', detail: `more than ${maxBytes} bytes`, isTransient: false })
  }
  return {
    type: 'fetched',
    snapshot: {
      url: requestedUrl,
      body: page.markdown,
      status: status === 0 ? 200 : status,
      headers: describeHead(page),
      known: knownOf(page),
    },
    etag: null,
    lastModified: null,
  }
}

/** The outcome that a page's HTTP status implies; undefined when its content should be read. */
function outcomeOfStatus(status: number): FetchOutcome | undefined {
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

/** The outcome of a page when the service fails. The failure does not count against the page. */
function describeFailure(error: unknown): FetchOutcome {
  if (error instanceof CircuitOpenError) {
    return fail({
      reason: 'service-failed',
      detail: `Crawl4AI was ${error.message}`,
      isTransient: true,
      retryAfterMs: Math.max(error.retryInMs, MIN_RETRY_DELAY_MS),
    })
  }
  if (!(error instanceof ServiceFailure)) throw error
  const { type, message: detail, isTransient, retryAfterMs } = error
  return fail({ reason: type === 'too-large' ? type : 'service-failed', detail, isTransient, retryAfterMs })
}

/** A semaphore; each caller calls the returned function to release its slot. */
function createSemaphore(count: number): () => Promise<() => void> {
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
