import { PharosError } from '../core/errors.ts'
import { cleanLine } from '../core/extract/metadata/line.ts'
import type { Clock } from '../crawl/ports.ts'
import { type HttpClient, type ServiceAnswer, ServiceError, type ServiceRequest } from '../library/http-client.ts'
import { callService, hideKeys, type ServiceCall, ServiceFailure } from '../library/service-call.ts'

/** How a Crawl4AI service is asked. */
export interface Crawl4AIClientOptions {
  /** Where it is, with the path it lives under. */
  readonly endpoint: string
  /** Sent as a bearer token. @default none */
  readonly token?: string | undefined
  /** Time for each answer, in milliseconds. */
  readonly timeoutMs: number
  /** Times that a failed call is made again. */
  readonly retries: number
  /** Pauses before them, in milliseconds; the last one repeats. */
  readonly delaysMs: readonly number[]
  readonly client: HttpClient
  readonly clock: Clock
}

/** One call of it. */
export interface Crawl4AICall {
  readonly signal?: AbortSignal | undefined
  /** Told before each pause. */
  readonly onRetry?: (failure: ServiceFailure, attempt: number, delayMs: number) => void
}

/** What the service says of one address, whatever spelling its version has. */
export interface CrawledPage {
  readonly isSuccess: boolean
  /** What it says of a failure, on one line; empty where it says nothing. */
  readonly problem: string
  /** Where it ended up. */
  readonly url: string
  /** Status of the page's own answer, 0 when it is not told. */
  readonly status: number
  /** `fit_markdown` where it holds anything, else `raw_markdown`, else the Markdown itself. */
  readonly markdown: string
  /** The document as its scripts left it; empty where it is not given. */
  readonly html: string
  /** Fields of the page's own answer by their names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly title: string
  readonly description: string
  readonly timestamp: string
  readonly internalLinkCount: number
  readonly externalLinkCount: number
  /** Where they lead, absolute. */
  readonly links: readonly string[]
}

/** How `/md` filters a page. */
export type MarkdownFilter = 'fit' | 'raw' | 'bm25'

/** A Crawl4AI service. What goes wrong with it rejects with a {@link ServiceFailure}. */
export interface Crawl4AIClient {
  /** Resolves when the service is well; rejects with `SERVICE_UNUSABLE` otherwise. */
  checkHealth(signal?: AbortSignal): Promise<void>
  /** Lets it read one page, past its cache. */
  crawl(url: string, call?: Crawl4AICall): Promise<CrawledPage>
  /** Lets it write the Markdown of one page; `query` is what `bm25` looks for. */
  readMarkdown(url: string, filter: MarkdownFilter, query?: string, call?: Crawl4AICall): Promise<string>
}

/** How people know it. */
const SERVICE = 'Crawl4AI'

/** Time for the answer to the question whether it is well. */
const HEALTH_TIMEOUT_MS = 10_000

/** Most characters of what it says of a failure that are repeated; the real one tells all that its browser did. */
const MOST_PROBLEM = 200

/** Every page is read anew, and blocks of fewer words are no content. */
const CRAWLER_CONFIG = {
  type: 'CrawlerRunConfig',
  params: { cache_mode: 'bypass', word_count_threshold: 10 },
} as const

const BROWSER_CONFIG = { type: 'BrowserConfig', params: { headless: true } } as const

/** A page that comes with the question, so that nothing is fetched: whoever can read any can read it. Shorter ones are taken for blocked. */
const GIVEN_PAGE =
  'raw:<html><head><title>Lighthouse</title></head><body><h1>Lighthouse</h1>' +
  '<p>A lighthouse shows at night, to all who come in from the sea, where the harbour is and where the rocks are.</p></body></html>'

/** Creates a client for today's API of Crawl4AI: `/crawl`, `/md`, `/health`. */
export function createCrawl4AIClient(options: Crawl4AIClientOptions): Crawl4AIClient {
  const { token, timeoutMs, retries, delaysMs, client, clock } = options
  const base = options.endpoint.replace(/\/+$/, '')
  const headers: Record<string, string> =
    token === undefined || token === '' ? {} : { authorization: `Bearer ${token}` }
  const telling = tellFaults(client, { method: 'POST', url: `${base}/md`, headers, timeoutMs: HEALTH_TIMEOUT_MS })
  const post = (path: string, parts: Pick<ServiceCall, 'json' | 'isRefusal'>, call: Crawl4AICall): Promise<unknown> =>
    callService(telling, clock, {
      service: SERVICE,
      method: 'POST',
      url: `${base}${path}`,
      headers,
      timeoutMs,
      retries,
      delaysMs,
      isWorthRetrying: blamesService,
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
          throw unusable(base, error.message, error.problem === 'not-allowed' ? KEY_ADVICE : START_ADVICE, error)
        })
      if (status !== 200) throw unusable(base, `it answered ${status} when asked whether it is well`, START_ADVICE)
    },
    async crawl(url, call = {}) {
      const asked = spell(url)
      const json = { urls: [asked], browser_config: BROWSER_CONFIG, crawler_config: CRAWLER_CONFIG }
      try {
        return parseResult(await post('/crawl', { json, isRefusal: blamesPage }, call), asked, headers)
      } catch (error) {
        if (error instanceof ServiceFailure && error.type === 'refused' && (error.status ?? 0) >= 500) {
          return failedPage(asked, error.told)
        }
        throw error
      }
    },
    async readMarkdown(url, filter, query, call = {}) {
      const json = describeMarkdown(spell(url), filter, query)
      const answer = fieldsOf(await post('/md', { json, isRefusal: blamesPageOfMarkdown }, call))
      if (answer['success'] !== true) throw badAnswer('says that it did not succeed')
      return textOf(answer['markdown'])
    },
  }
}

/** Whether a failure says that the service is in trouble, rather than that it did not like what it was asked. */
export function blamesService(error: unknown): boolean {
  return error instanceof ServiceFailure && ['timeout', 'network', 'server-error'].includes(error.type)
}

/** How `/crawl` begins what it says when no page of a request could be read. */
const PAGE_FAILED = 'Crawl request failed:'

/**
 * Whether an error of `/crawl` is about the page. Versions up to 0.8 answer 500 with what they have to say of the page when none of
 * those that were asked for could be read, which is always one here; 0.9 answers 500 too and hides why; later ones answer 200 with
 * the result.
 */
function blamesPage(status: number, answer: unknown): boolean {
  return status === 500 && textOf(fieldsOf(answer)['detail']).startsWith(PAGE_FAILED)
}

/**
 * Finds out who is at fault where a service does not say it: versions 0.9 hide that behind a number of their log. To blame the page
 * would have a service that fails asked for every page for ever, and its failures counted against their hosts; to blame the service
 * would have it left alone after a few dead links. So it is asked for a page that cannot fail: one that reads it has a page at fault,
 * which is then told as other versions tell it.
 */
function tellFaults(client: HttpClient, markdown: Omit<ServiceRequest, 'body' | 'signal'>): HttpClient {
  const body = JSON.stringify(describeMarkdown(GIVEN_PAGE, 'raw'))
  const isWell = async (signal: AbortSignal | undefined): Promise<boolean> => {
    try {
      return (await client.request({ ...markdown, body, signal })).status === 200
    } catch (error) {
      if (error instanceof ServiceError) return false
      throw error
    }
  }
  return {
    async request(request) {
      const answer = await client.request(request)
      const hidden = readHidden(answer)
      if (hidden === undefined || !(await isWell(request.signal))) return answer
      return { ...answer, body: new TextEncoder().encode(JSON.stringify({ detail: `${PAGE_FAILED} ${hidden}` })) }
    },
  }
}

/** What an answer says that hides why it failed behind a number of the log; undefined for any other. */
function readHidden({ status, body }: ServiceAnswer): string | undefined {
  if (status !== 500) return undefined
  const { error, correlation_id: logged } = fieldsOf(parseJson(new TextDecoder().decode(body)))
  return typeof logged === 'string' ? textOf(error) : undefined
}

/** The same for `/md`, which answers 502. So does what stands before a service that is down, but without a `detail`. */
function blamesPageOfMarkdown(status: number, answer: unknown): boolean {
  return blamesPage(status, answer) || (status === 502 && textOf(fieldsOf(answer)['detail']) !== '')
}

/** What `/md` is asked. */
function describeMarkdown(url: string, filter: MarkdownFilter, query?: string): Fields {
  return { url, f: filter, q: query ?? null, c: '0' }
}

/**
 * An address as it is meant here. Others read what is spelled strangely in other ways, such as `http://a.example\@10.0.0.1/`, and
 * would go where nobody checked.
 */
function spell(url: string): string {
  return new URL(url).href
}

type Fields = Readonly<Record<string, unknown>>

/** What is known of a page that could not be read. */
function failedPage(url: string, told: string): CrawledPage {
  // Python writes a message that is not there as None.
  const problem = told
    .replace(PAGE_FAILED, '')
    .trim()
    .replace(/^None$/, '')
  return parseResult({ success: true, results: [{ url, success: false, error_message: problem }] }, url, {})
}

function parseResult(answer: unknown, asked: string, sent: Readonly<Record<string, string>>): CrawledPage {
  const { success, results } = fieldsOf(answer)
  if (success !== true) throw badAnswer('says that it did not succeed')
  const [first] = listOf(results)
  if (first === undefined) throw badAnswer('holds no result')
  const result = fieldsOf(first)
  const { title, description } = fieldsOf(result['metadata'])
  const { internal, external } = fieldsOf(result['links'])
  const { status_code: status } = result
  const url = textOf(result['redirected_url']) || textOf(result['url']) || asked
  return {
    isSuccess: result['success'] === true,
    problem: cleanLine(hideKeys(textOf(result['error_message']), sent), MOST_PROBLEM) ?? '',
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
  // A filter that leaves nothing of a page may leave its line ends.
  return textOf(fit).trim() === '' ? textOf(raw) : textOf(fit)
}

function listFields(headers: unknown): Record<string, string> {
  return Object.fromEntries(
    Object.entries(fieldsOf(headers)).map(([name, value]) => [name.toLowerCase(), textOf(value)]),
  )
}

/** Where a link leads; nothing for one that leads nowhere. */
function findTarget(link: unknown, base: string): string | [] {
  const href = textOf(fieldsOf(link)['href'])
  return href === '' ? [] : (URL.parse(href, base)?.href ?? [])
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** The members of an object; none for anything else. */
function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {}
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const START_ADVICE = 'start the service, or correct where it is looked for (crawl4aiEndpoint)'
const KEY_ADVICE = 'correct the token (crawl4aiToken, or token of a reader)'

function unusable(url: string, problem: string, advice: string, cause?: unknown): PharosError {
  return new PharosError('SERVICE_UNUSABLE', { service: SERVICE, url, problem, advice }, { cause })
}

function badAnswer(what: string): ServiceFailure {
  return new ServiceFailure('bad-answer', `the answer of ${SERVICE} ${what}`)
}
