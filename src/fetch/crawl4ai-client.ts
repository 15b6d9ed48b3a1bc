import { PharosError } from '../core/errors.ts'
import { cleanLine } from '../core/extract/metadata/line.ts'
import { listOf } from '../core/json/fields.ts'
import { tryParseJson } from '../core/json/try-parse-json.ts'
import type { Clock } from '../crawl/ports.ts'
import {
  type HttpClient,
  ServiceError,
  type ServiceRequest,
  type ServiceResponse,
} from '../library/ports/http-client.ts'
import { callService, hideKeys, type ServiceCall, ServiceFailure } from '../library/service-call.ts'

/** How to call a Crawl4AI service. */
export interface Crawl4AIClientOptions {
  /** URL of the service, with its base path. */
  readonly endpoint: string
  /** Sent as a bearer token. @default none */
  readonly token?: string | undefined
  /** Timeout of each response, in milliseconds. */
  readonly timeoutMs: number
  /** Number of retries of a failed call. */
  readonly retries: number
  /** Back-off before each retry, in milliseconds; the last value repeats. */
  readonly delaysMs: readonly number[]
  readonly client: HttpClient
  readonly clock: Clock
}

/** Options of one call. */
export interface Crawl4AICall {
  readonly signal?: AbortSignal | undefined
  /** Called before each retry. */
  readonly onRetry?: (failure: ServiceFailure, attempt: number, delayMs: number) => void
}

/** The service's result for one URL, independent of the field names of its version. */
export interface CrawledPage {
  readonly isSuccess: boolean
  /** The service's error message on one line; empty when it gives none. */
  readonly problem: string
  /** The final URL. */
  readonly url: string
  /** HTTP status of the page, 0 when unknown. */
  readonly status: number
  /** `fit_markdown` if it is not empty, otherwise `raw_markdown`, otherwise the Markdown itself. */
  readonly markdown: string
  /** The HTML after scripts ran; empty when not provided. */
  readonly html: string
  /** Response headers of the page, with names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly title: string
  readonly description: string
  readonly timestamp: string
  readonly internalLinkCount: number
  readonly externalLinkCount: number
  /** Targets of the links, absolute. */
  readonly links: readonly string[]
}

/** How `/md` filters a page. */
export type MarkdownFilter = 'fit' | 'raw' | 'bm25'

/** A Crawl4AI service. Failed calls reject with a {@link ServiceFailure}. */
export interface Crawl4AIClient {
  /** Resolves when the service is healthy; rejects with `SERVICE_UNUSABLE` otherwise. */
  checkHealth(signal?: AbortSignal): Promise<void>
  /** Reads one page and bypasses the service's cache. */
  crawl(url: string, call?: Crawl4AICall): Promise<CrawledPage>
  /** Returns the Markdown of one page; `query` is the query of the `bm25` filter. */
  readMarkdown(url: string, filter: MarkdownFilter, query?: string, call?: Crawl4AICall): Promise<string>
}

/** Name of the service in messages. */
const SERVICE = 'Crawl4AI'

/** Timeout of the health check. */
const HEALTH_TIMEOUT_MS = 10_000

/** Length limit of a quoted error message; the service includes its whole browser log. */
const MAX_PROBLEM_LENGTH = 200

/** Bypasses the cache, and drops text blocks with fewer than 10 words. */
const CRAWLER_CONFIG = {
  type: 'CrawlerRunConfig',
  params: { cache_mode: 'bypass', word_count_threshold: 10 },
} as const

const BROWSER_CONFIG = { type: 'BrowserConfig', params: { headless: true } } as const

/** A page sent inline, so that a working service can read it without a fetch. The service would take a shorter page for a blocked one. */
const PROBE_PAGE =
  'raw:<html><head><title>Lighthouse</title></head><body><h1>Lighthouse</h1>' +
  '<p>A lighthouse shows at night, to all who come in from the sea, where the harbour is and where the rocks are.</p></body></html>'

/** Creates a client for the current API of Crawl4AI: `/crawl`, `/md`, `/health`. */
export function createCrawl4AIClient(options: Crawl4AIClientOptions): Crawl4AIClient {
  const { token, timeoutMs, retries, delaysMs, client, clock } = options
  const base = options.endpoint.replace(/(?<!\/)\/+$/, '')
  const headers: Record<string, string> =
    token === undefined || token === '' ? {} : { authorization: `Bearer ${token}` }
  const faultDetectingClient = withFaultDetection(client, {
    method: 'POST',
    url: `${base}/md`,
    headers,
    timeoutMs: HEALTH_TIMEOUT_MS,
  })
  const post = (path: string, parts: Pick<ServiceCall, 'json' | 'isRefusal'>, call: Crawl4AICall): Promise<unknown> =>
    callService(faultDetectingClient, clock, {
      service: SERVICE,
      method: 'POST',
      url: `${base}${path}`,
      headers,
      timeoutMs,
      retries,
      delaysMs,
      isWorthRetrying: isServiceFault,
      ...parts,
      ...call,
    })

  return {
    async checkHealth(signal) {
      const status = await client
        .request({ method: 'GET', url: `${base}/health`, headers, timeoutMs: HEALTH_TIMEOUT_MS, signal })
        .then((answer) => answer.status)
        .catch((error: unknown) => {
          if (!(error instanceof ServiceError)) throw error
          throw unusableError(base, error.message, error.problem === 'not-allowed' ? KEY_ADVICE : START_ADVICE, error)
        })
      if (status !== 200) throw unusableError(base, `its health check answered ${status}`, START_ADVICE)
    },
    async crawl(url, call = {}) {
      const requestedUrl = normalizeUrl(url)
      const json = { urls: [requestedUrl], browser_config: BROWSER_CONFIG, crawler_config: CRAWLER_CONFIG }
      try {
        return parseResult(await post('/crawl', { json, isRefusal: isPageFault }, call), requestedUrl, headers)
      } catch (error) {
        if (error instanceof ServiceFailure && error.type === 'refused' && (error.status ?? 0) >= 500) {
          return createFailedPage(requestedUrl, error.serviceMessage)
        }
        throw error
      }
    },
    async readMarkdown(url, filter, query, call = {}) {
      const json = createMarkdownBody(normalizeUrl(url), filter, query)
      const answer = fieldsOf(await post('/md', { json, isRefusal: isMarkdownPageFault }, call))
      if (answer['success'] !== true) throw badAnswerError('reports a failure')
      return textOf(answer['markdown'])
    },
  }
}

/** Whether a failure means that the service is in trouble, rather than that it rejected the request. */
export function isServiceFault(error: unknown): boolean {
  return error instanceof ServiceFailure && ['timeout', 'network', 'server-error'].includes(error.type)
}

/** Start of the error message of `/crawl` when no page of a request could be read. */
const PAGE_FAILED = 'Crawl request failed:'

/**
 * Whether an error of `/crawl` is about the page. Up to version 0.8 the service answers 500 with the page's error when it could read none
 * of the requested pages; this client requests one at a time. Version 0.9 also answers 500, but hides the error. Later versions answer 200
 * with the result.
 */
function isPageFault(status: number, answer: unknown): boolean {
  return status === 500 && textOf(fieldsOf(answer)['detail']).startsWith(PAGE_FAILED)
}

/**
 * Finds out whether the page or the service failed when version 0.9 hides the error behind a log id. Blaming the page would let a broken
 * service receive every page and count its failures against the hosts. Blaming the service would stop its use after a few dead links. So
 * the client sends a page that cannot fail: if the service reads it, the original page is at fault, and the response is rewritten to the
 * form of other versions.
 */
function withFaultDetection(client: HttpClient, probe: Omit<ServiceRequest, 'body' | 'signal'>): HttpClient {
  const body = JSON.stringify(createMarkdownBody(PROBE_PAGE, 'raw'))
  const isHealthy = async (signal: AbortSignal | undefined): Promise<boolean> => {
    try {
      return (await client.request({ ...probe, body, signal })).status === 200
    } catch (error) {
      if (error instanceof ServiceError) return false
      throw error
    }
  }
  return {
    async request(request) {
      const answer = await client.request(request)
      const message = readHiddenMessage(answer)
      if (message === undefined || !(await isHealthy(request.signal))) return answer
      return { ...answer, body: new TextEncoder().encode(JSON.stringify({ detail: `${PAGE_FAILED} ${message}` })) }
    },
  }
}

/** The message of a response that hides its error behind a log id; undefined for other responses. */
function readHiddenMessage({ status, body }: ServiceResponse): string | undefined {
  if (status !== 500) return undefined
  const { error, correlation_id: logId } = fieldsOf(tryParseJson(new TextDecoder().decode(body)))
  return typeof logId === 'string' ? textOf(error) : undefined
}

/** The same as `isPageFault` for `/md`, which answers 502. A reverse proxy before a stopped service answers 502 too, without `detail`. */
function isMarkdownPageFault(status: number, answer: unknown): boolean {
  return isPageFault(status, answer) || (status === 502 && textOf(fieldsOf(answer)['detail']) !== '')
}

/** The request body of `/md`. */
function createMarkdownBody(url: string, filter: MarkdownFilter, query?: string): Fields {
  return { url, f: filter, q: query ?? null, c: '0' }
}

/**
 * Normalizes a URL. Other parsers read unusual ones such as `http://a.example\@10.0.0.1/` differently, and would connect to an unchecked
 * host.
 */
function normalizeUrl(url: string): string {
  return new URL(url).href
}

type Fields = Readonly<Record<string, unknown>>

/** The result for a page that could not be read. */
function createFailedPage(url: string, serviceMessage: string): CrawledPage {
  // Python writes a missing message as None.
  const problem = serviceMessage
    .replace(PAGE_FAILED, '')
    .trim()
    .replace(/^None$/, '')
  return parseResult({ success: true, results: [{ url, success: false, error_message: problem }] }, url, {})
}

function parseResult(answer: unknown, requestedUrl: string, headers: Readonly<Record<string, string>>): CrawledPage {
  const outer = fieldsOf(answer)
  // Some versions answer with the result itself, and some with a failure that no result describes.
  const isBare = outer['results'] === undefined && (outer['markdown'] ?? outer['url']) !== undefined
  const [first] = isBare ? [answer] : listOf(outer['results'])
  const result = fieldsOf(first)
  const problem = textOf(result['error_message']) || textOf(outer['error_message'])
  const isSuccess = outer['success'] === true
  if (!isSuccess && problem === '') throw badAnswerError('reports a failure')
  if (isSuccess && first === undefined) throw badAnswerError('contains no result')
  const { title, description } = fieldsOf(result['metadata'])
  const { internal, external } = fieldsOf(result['links'])
  const { status_code: status } = result
  const url = textOf(result['redirected_url']) || textOf(result['url']) || requestedUrl
  return {
    isSuccess: isSuccess && result['success'] === true,
    problem: cleanLine(hideKeys(problem, headers), MAX_PROBLEM_LENGTH) ?? '',
    url,
    status: typeof status === 'number' ? status : 0,
    markdown: pickMarkdown(result['markdown']),
    html: textOf(result['html']),
    headers: listFields(result['response_headers']),
    title: textOf(title),
    description: textOf(description),
    timestamp: textOf(result['crawl_timestamp']),
    internalLinkCount: listOf(internal).length,
    externalLinkCount: listOf(external).length,
    links: [...listOf(internal), ...listOf(external)].flatMap((link) => findTarget(link, url)),
  }
}

function pickMarkdown(markdown: unknown): string {
  if (typeof markdown === 'string') return markdown
  const { fit_markdown: fit, raw_markdown: raw } = fieldsOf(markdown)
  // A filter that removes the whole text may leave its line breaks.
  return textOf(fit).trim() === '' ? textOf(raw) : textOf(fit)
}

function listFields(headers: unknown): Record<string, string> {
  return Object.fromEntries(
    Object.entries(fieldsOf(headers)).map(([name, value]) => [name.toLowerCase(), textOf(value)]),
  )
}

/** The absolute target of a link; empty for an invalid one. */
function findTarget(link: unknown, base: string): string | [] {
  const href = textOf(fieldsOf(link)['href'])
  return href === '' ? [] : (URL.parse(href, base)?.href ?? [])
}

/** The properties of an object; none for other values. */
function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {}
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

const START_ADVICE = 'start the service, or correct its address (crawl4aiEndpoint)'
const KEY_ADVICE = 'correct the token (crawl4aiToken, or token of a reader)'

function unusableError(url: string, problem: string, advice: string, cause?: unknown): PharosError {
  return new PharosError('SERVICE_UNUSABLE', { service: SERVICE, url, problem, advice }, { cause })
}

function badAnswerError(what: string): ServiceFailure {
  return new ServiceFailure('bad-answer', `the answer of ${SERVICE} ${what}`)
}
