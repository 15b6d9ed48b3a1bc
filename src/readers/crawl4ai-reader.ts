import { PharosError } from '../core/errors.ts'
import { hasCredentials } from '../core/url/credentials.ts'
import { type AddressChecker, createAddressCheck, systemResolve } from '../fetch/address-check.ts'
import {
  type Crawl4AIClient,
  type CrawledPage,
  createCrawl4AIClient,
  isServiceFault,
} from '../fetch/crawl4ai-client.ts'
import { openServiceClient, type ServiceClient } from '../fetch/service-client.ts'
import { CircuitBreaker, CircuitOpenError } from '../library/circuit-breaker.ts'
import { ServiceFailure } from '../library/service-call.ts'
import { checkUrls, createClosedError } from './check-options.ts'
import { type Crawl4AIReaderOptions, type ReaderSettings, resolveReaderOptions } from './crawl4ai-options.ts'
import { documentId, type PageMetadata, type ReaderDocument, type ReadFailure, type VectorSink } from './document.ts'
import type { DocumentReader } from './document-reader.ts'
import { loadBatch } from './load-batch.ts'
import { type LogRecord, withoutCredentials } from './reader-log.ts'

/** Timeout for resolving a page's host. */
const RESOLVE_TIMEOUT_MS = 10_000

/**
 * Opens a reader. Rejects with `OPTION_INVALID` for options out of range, then with `SERVICE_UNUSABLE` when the service is not healthy. It
 * keeps connections alive, so it must be closed.
 */
export async function openCrawl4AIReader(options: Crawl4AIReaderOptions = {}): Promise<Crawl4AIReader> {
  const settings = resolveReaderOptions(options)
  const { allowance, endpointUrl, maxConcurrentRequests, clock } = settings
  const http = openServiceClient({
    origins: [endpointUrl],
    userAgent: 'Pharos',
    connectionsPerOrigin: maxConcurrentRequests,
  })
  const client = createCrawl4AIClient({
    endpoint: endpointUrl,
    token: settings.token,
    timeoutMs: settings.timeoutSeconds * 1000,
    retries: settings.maxRetries,
    delaysMs: settings.retryDelays.map((seconds) => seconds * 1000),
    client: http,
    clock,
  })
  try {
    await client.checkHealth()
  } catch (error) {
    await http.close()
    throw error
  }
  const resolve = options.resolve ?? systemResolve
  const checkAddress = createAddressCheck({ allowance, resolve, timeoutMs: RESOLVE_TIMEOUT_MS })
  return new Crawl4AIReader(settings, { http, client, checkAddress })
}

/** Dependencies of a reader. */
interface ReaderParts {
  readonly http: ServiceClient
  readonly client: Crawl4AIClient
  readonly checkAddress: AddressChecker
}

/**
 * Reads pages through a Crawl4AI service, as documents with stable ids. The network guard checks every URL before the service gets it, and
 * the final URL that the service reports. A circuit breaker pauses requests to a failing service.
 */
export class Crawl4AIReader implements DocumentReader {
  readonly isRemote = true
  readonly className = 'Crawl4AIReader'
  readonly endpointUrl: string
  readonly timeoutSeconds: number
  readonly failOnError: boolean
  readonly maxConcurrentRequests: number
  readonly maxRetries: number
  readonly retryDelays: readonly number[]
  /** Whether new vectors of a page should replace its old ones. Reading removes nothing. */
  readonly enableDeduplication: boolean
  readonly vectorStore: VectorSink | undefined
  readonly #settings: ReaderSettings
  readonly #parts: ReaderParts
  readonly #breaker: CircuitBreaker
  readonly #closing = new AbortController()
  #lastFailures: readonly ReadFailure[] = []

  constructor(settings: ReaderSettings, parts: ReaderParts) {
    this.endpointUrl = settings.endpointUrl
    this.timeoutSeconds = settings.timeoutSeconds
    this.failOnError = settings.failOnError
    this.maxConcurrentRequests = settings.maxConcurrentRequests
    this.maxRetries = settings.maxRetries
    this.retryDelays = settings.retryDelays
    this.enableDeduplication = settings.enableDeduplication
    this.vectorStore = settings.vectorStore
    this.#settings = settings
    this.#parts = parts
    this.#breaker = new CircuitBreaker({
      now: () => settings.clock.now(),
      onChange: (state) =>
        this.#log(
          state === 'open'
            ? { level: 'warning', event: 'circuit-opened', failed: this.#breaker.failures }
            : { level: 'info', event: 'circuit-closed' },
        ),
    })
  }

  /** State of the circuit breaker: `closed` sends requests, `open` pauses them, `half-open` lets one request probe the service. */
  get circuitState(): CircuitBreaker['state'] {
    return this.#breaker.state
  }

  /** Failures of the last call of {@link loadData} or {@link loadAll}, in the order of its URLs. */
  get lastFailures(): readonly ReadFailure[] {
    return this.#lastFailures
  }

  /** Reads pages. Returns the documents in the order of their URLs, without failed ones. */
  async loadData(urls: readonly string[], signal?: AbortSignal): Promise<ReaderDocument[]> {
    const slots = await this.loadAll(urls, signal)
    return slots.filter((slot) => slot !== null)
  }

  /**
   * Reads pages. Returns one slot per URL in order, null for a failed one. With `failOnError`, rejects with the first failure and aborts
   * the rest. A URL that is given twice is read twice.
   */
  async loadAll(urls: readonly string[], signal?: AbortSignal): Promise<(ReaderDocument | null)[]> {
    this.#closing.signal.throwIfAborted()
    checkUrls(urls)
    this.#lastFailures = []
    if (urls.length === 0) return []
    const combinedSignal = AbortSignal.any([this.#closing.signal, ...(signal === undefined ? [] : [signal])])
    // An open breaker rejects without a request.
    if (this.#breaker.state !== 'open') await this.#parts.client.checkHealth(combinedSignal)
    const total = urls.length
    this.#log({ level: 'info', event: 'batch-started', total })
    const { maxConcurrentRequests: concurrency, failOnError } = this
    const options = { concurrency, failOnError, signal: combinedSignal }
    const read = (url: string, pageSignal: AbortSignal) => this.#read(url, pageSignal)
    const { documents, failures } = await loadBatch(urls, options, read)
    this.#lastFailures = failures
    const loaded = documents.filter((document) => document !== null).length
    this.#log({ level: 'info', event: 'batch-ended', total, loaded, failed: failures.length })
    const [first] = failures
    if (failOnError && first !== undefined) throw first.error
    return documents
  }

  /** Aborts reads in progress, and closes the connections. */
  async close(): Promise<void> {
    this.#closing.abort(createClosedError())
    await this.#parts.http.close()
  }

  async #read(url: string, signal: AbortSignal): Promise<ReaderDocument> {
    if (hasCredentials(url)) throw this.#failure(url, 'it contains a user name or password', 'has-credentials')
    await this.#guard(url, url)
    const page = await this.#crawl(url, signal)
    if (page.url !== url) await this.#guard(url, page.url)
    if (!page.isSuccess) throw this.#failure(url, page.problem || 'the service gave no reason', 'refused')
    if (page.markdown.trim() === '') throw this.#failure(url, 'the service found no content on the page', 'no-content')
    this.#log({ level: 'debug', event: 'page-read', url, status: page.status, length: page.markdown.length })
    return { id: documentId(url), text: page.markdown, metadata: describePage(page, url, this.#settings.clock.now()) }
  }

  async #guard(url: string, target: string): Promise<void> {
    const refusal = await this.#parts.checkAddress(target)
    if (refusal === undefined) return
    const problem = target === url ? refusal.detail : `it redirects: ${refusal.detail}`
    throw this.#failure(url, problem, 'address-refused')
  }

  /** Calls the service, unless the circuit breaker is open. */
  async #crawl(url: string, signal: AbortSignal): Promise<CrawledPage> {
    try {
      const onRetry = (failure: ServiceFailure, attempt: number, delayMs: number): void =>
        this.#log({ level: 'warning', event: 'call-retried', url, attempt, delayMs, ...factsOf(failure) })
      // The other pages of a batch wait while one of them probes the service, instead of failing.
      return await this.#breaker.run(() => this.#parts.client.crawl(url, { signal, onRetry }), isServiceFault, signal)
    } catch (error) {
      if (error instanceof CircuitOpenError) {
        throw this.#failure(url, `Crawl4AI was ${error.message}`, 'circuit-open', error)
      }
      if (error instanceof ServiceFailure) throw this.#failure(url, error.message, error.type, error)
      throw error
    }
  }

  #failure(url: string, problem: string, failure: NonNullable<LogRecord['failure']>, cause?: Error): PharosError {
    const facts = cause instanceof ServiceFailure ? factsOf(cause) : { failure }
    this.#log({ level: 'error', event: 'page-failed', url, ...facts })
    const details = { url: withoutCredentials(url), problem, advice: ADVICE[failure] ?? DEFAULT_ADVICE }
    return new PharosError('READ_FAILED', details, { cause })
  }

  #log(record: LogRecord): void {
    const { url } = record
    this.#settings.log(url === undefined ? record : { ...record, url: withoutCredentials(url) })
  }
}

function describePage(page: CrawledPage, url: string, now: number): PageMetadata {
  return {
    source: url,
    source_url: url,
    title: page.title,
    description: page.description,
    status_code: page.status,
    crawl_timestamp: isDate(page.timestamp) ? page.timestamp : new Date(now).toISOString(),
    internal_links_count: page.internalLinkCount,
    external_links_count: page.externalLinkCount,
    source_type: 'web_crawl',
  }
}

function isDate(text: string): boolean {
  return /^\d{4}-\d{2}-\d{2}/.test(text) && !Number.isNaN(Date.parse(text))
}

function factsOf({ type, status }: ServiceFailure): Pick<LogRecord, 'failure' | 'status'> {
  return { failure: type, ...(status === null ? {} : { status }) }
}

const DEFAULT_ADVICE = 'look at the log of the service, then read the page again'

const ADVICE: Readonly<Partial<Record<NonNullable<LogRecord['failure']>, string>>> = {
  'address-refused': 'give the address of a public page, or allow private addresses (allowPrivate)',
  // The credentials would appear in the service's log, in the document and beside its vectors.
  'has-credentials': 'give the address without them; read pages that need a login with PharosReader and headers',
  'circuit-open': 'check that the service is healthy, then read the page again',
  timeout: 'give the service more time (timeoutSeconds), or fewer pages at once (maxConcurrentRequests)',
}
