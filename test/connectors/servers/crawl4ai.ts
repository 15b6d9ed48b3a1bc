// A test server that follows the Docker server of Crawl4AI (unclecode/crawl4ai, deploy/docker: server.py, schemas.py, api.py,
// auth_gate.py), as far as Pharos uses it. The real server silently ignores unknown members of a request or of a configuration. This one
// refuses them, because they would be mistakes of Pharos.
//
// - POST /crawl: CrawlRequest {urls: 1 to 100 strings, browser_config, crawler_config}; an invalid one gets 422 with details of pydantic.
//   Configurations are {type, params} as `dump()` writes them, or flat; dangerous fields (js_code, proxy, …) are refused with 400.
// - POST /md: MarkdownRequest {url, f: fit|raw|bm25|llm, q, c, provider}; 400 for an address that is not http; 502 for a failed crawl.
// - GET /health: {status: ok, timestamp, version}; public. If a token is set, all other routes require it: 401.
// - A failed page is a result with success=false and error_message, in an answer with 200 and success=true. If all pages of a request
//   failed, server.py up to 0.8 does `if all(not result["success"] …): raise HTTPException(500, f"Crawl request
//   failed: {results['results'][0]['error_message']}")`; 0.9 does the same, and its error handler hides the text of a 500 behind
//   `{"error": "Internal server error", "correlation_id": …}`; later versions (tests/test_crawl_failure_response.py) answer 200.
import { type FaultyServer, openFaultyServer, type RouteAnswer, type SeenRequest } from './faults.ts'

/** The result of the service for an address, with the fields of its CrawlResult. */
export type CrawlResult = Readonly<Record<string, unknown>>

/** Configuration of the server. */
export interface Crawl4AIServerOptions {
  /** Result for an address, merged into the usual fields. @default a page that names its address */
  readonly find?: (url: string) => CrawlResult
  /** The token that requests must send. @default none */
  readonly token?: string
  /** How the service reports that no page of a request could be read: like 0.8, 0.9 or later versions. @default detail */
  readonly onFailure?: FailureStyle
  /** Response time of a page in milliseconds. @default none */
  readonly delayMs?: (url: string) => number
}

/** How the service reports a failure: a 500 with the reason, a 500 without it, or in the result. */
export type FailureStyle = 'detail' | 'hidden' | 'result'

/** Opens the server on a free port of 127.0.0.1. */
export function openCrawl4AIServer(options: Crawl4AIServerOptions = {}): Promise<FaultyServer> {
  const { find = () => ({}), token, onFailure = 'detail', delayMs } = options
  return openFaultyServer({
    beforeRoute: ({ path, headers }) =>
      token === undefined || path === '/health' || headers['authorization'] === `Bearer ${token}`
        ? undefined
        : { status: 401, headers: { 'www-authenticate': 'Bearer' }, json: { detail: 'Authentication required' } },
    routes: {
      'GET /health': () => ({ status: 200, json: { status: 'ok', timestamp: 1_767_225_600.5, version: '0.9.0' } }),
      'POST /crawl': (request) => crawl(request, find, onFailure, delayMs),
      'POST /md': (request) => writeMarkdown(request, find),
    },
  })
}

/** A result with all members that the service returns. */
export function createCrawlResult(url: string, found: CrawlResult = {}): CrawlResult {
  const markdown = `# Page\n\nThis is what stands at ${url}.\n`
  return {
    url,
    html: '<html></html>',
    success: true,
    cleaned_html: '<h1>Page</h1>',
    media: { images: [], videos: [], audios: [] },
    links: { internal: [], external: [] },
    downloaded_files: null,
    js_execution_result: null,
    screenshot: null,
    pdf: null,
    mhtml: null,
    extracted_content: null,
    metadata: { title: 'Page', description: null, keywords: null, author: null },
    error_message: '',
    session_id: null,
    response_headers: { 'content-type': 'text/html' },
    status_code: 200,
    ssl_certificate: null,
    dispatch_result: null,
    redirected_url: url,
    network_requests: null,
    console_messages: null,
    tables: [],
    markdown: {
      raw_markdown: markdown,
      markdown_with_citations: markdown,
      references_markdown: '',
      fit_markdown: '',
      fit_html: '',
    },
    ...found,
  }
}

type Find = (url: string) => CrawlResult
type Fields = Readonly<Record<string, unknown>>

/** One entry of a pydantic validation error. */
interface Detail {
  readonly type: string
  readonly loc: readonly (string | number)[]
  readonly msg: string
  readonly input: unknown
}

function crawl(
  request: SeenRequest,
  find: Find,
  onFailure: FailureStyle,
  delayMs: (url: string) => number = () => 0,
): RouteAnswer {
  const body = readBody(request)
  if (Array.isArray(body)) return unprocessable(body)
  const { urls, browser_config: browser, crawler_config: crawler, ...rest } = body as Fields
  const details = [
    ...checkUrls(urls, body),
    ...checkDict('browser_config', browser),
    ...checkDict('crawler_config', crawler),
    ...refuseRest(rest),
  ]
  if (details.length > 0) return unprocessable(details)
  const rejected =
    checkConfig(browser as Fields | undefined, 'BrowserConfig', BROWSER_PARAMS) ??
    checkConfig(crawler as Fields | undefined, 'CrawlerRunConfig', CRAWLER_PARAMS)
  if (rejected !== undefined) return { status: 400, json: { detail: `Rejected config: ${rejected}` } }
  const results = (urls as readonly string[]).map((url) => createCrawlResult(url, find(url)))
  if (onFailure !== 'result' && results.every((result) => result['success'] !== true)) {
    const detail = `Crawl request failed: ${String(results[0]?.['error_message'] ?? 'None')}`
    const hidden = { error: 'Internal server error', correlation_id: '5f0c4c1e9d' }
    return { status: 500, json: onFailure === 'hidden' ? hidden : { detail } }
  }
  const json = {
    success: true,
    results,
    server_processing_time_s: 0.2,
    server_memory_delta_mb: 0.1,
    server_peak_memory_mb: 100.5,
  }
  return { status: 200, json, delayMs: Math.max(...(urls as readonly string[]).map(delayMs)) }
}

function writeMarkdown(request: SeenRequest, find: Find): RouteAnswer {
  const body = readBody(request)
  if (Array.isArray(body)) return unprocessable(body)
  const { url, f = 'fit', q = null, c = '0', provider = null, ...rest } = body as Fields
  const details = [
    ...(url === undefined ? [missing('url', body)] : checkText('url', url)),
    ...(['fit', 'raw', 'bm25', 'llm'].includes(String(f)) ? [] : [enumDetail('f', f)]),
    ...(q === null ? [] : checkText('q', q)),
    ...(c === null ? [] : checkText('c', c)),
    ...(provider === null ? [] : checkText('provider', provider)),
    ...refuseRest(rest),
  ]
  if (details.length > 0) return unprocessable(details)
  const address = String(url)
  if (!/^(?:https?:\/\/|raw:)/.test(address)) {
    const detail = 'Invalid URL format. Must start with http://, https://, or for raw HTML (raw:, raw://)'
    return { status: 400, json: { detail } }
  }
  const result = createCrawlResult(address, find(address))
  if (result['success'] !== true) return { status: 502, json: { detail: result['error_message'] } }
  const { raw_markdown: raw, fit_markdown: fit } = result['markdown'] as Fields
  const json = { url: address, filter: f, query: q, cache: c, markdown: f === 'raw' ? raw : fit, success: true }
  return { status: 200, json }
}

/** The fields of a body, or its validation errors. */
function readBody({ headers, json, text }: SeenRequest): Fields | readonly Detail[] {
  if (!/^application\/json\b/.test(headers['content-type'] ?? '')) {
    const msg = 'Input should be a valid dictionary or object to extract fields from'
    return [{ type: 'model_attributes_type', loc: ['body'], msg, input: text }]
  }
  if (json === undefined) return [{ type: 'json_invalid', loc: ['body', 0], msg: 'JSON decode error', input: {} }]
  if (typeof json !== 'object' || json === null || Array.isArray(json)) {
    const msg = 'Input should be a valid dictionary or object to extract fields from'
    return [{ type: 'model_attributes_type', loc: ['body'], msg, input: json }]
  }
  return json as Fields
}

function checkUrls(urls: unknown, input: unknown): Detail[] {
  const loc = ['body', 'urls']
  if (urls === undefined) return [missing('urls', input)]
  if (!Array.isArray(urls)) return [{ type: 'list_type', loc, msg: 'Input should be a valid list', input: urls }]
  const { length } = urls
  if (length < 1) {
    return [{ type: 'too_short', loc, msg: `List should have at least 1 item after validation, not 0`, input: urls }]
  }
  if (length > 100) {
    const msg = `List should have at most 100 items after validation, not ${length}`
    return [{ type: 'too_long', loc, msg, input: urls }]
  }
  return urls.flatMap((url: unknown, index) => checkText('urls', url, index))
}

function checkText(field: string, value: unknown, ...at: readonly number[]): Detail[] {
  const loc = ['body', field, ...at]
  return typeof value === 'string'
    ? []
    : [{ type: 'string_type', loc, msg: 'Input should be a valid string', input: value }]
}

function checkDict(field: string, value: unknown): Detail[] {
  const isDict = value === undefined || (typeof value === 'object' && !Array.isArray(value))
  return isDict
    ? []
    : [{ type: 'dict_type', loc: ['body', field], msg: 'Input should be a valid dictionary', input: value }]
}

function refuseRest(rest: Fields): Detail[] {
  return Object.entries(rest).map(([name, input]) => ({
    type: 'extra_forbidden',
    loc: ['body', name],
    msg: 'Extra inputs are not permitted',
    input,
  }))
}

function missing(field: string, input: unknown): Detail {
  return { type: 'missing', loc: ['body', field], msg: 'Field required', input }
}

function enumDetail(field: string, input: unknown): Detail {
  return { type: 'enum', loc: ['body', field], msg: "Input should be 'raw', 'fit', 'bm25' or 'llm'", input }
}

function unprocessable(detail: readonly Detail[]): RouteAnswer {
  return { status: 422, json: { detail } }
}

const BROWSER_PARAMS: Readonly<Record<string, (value: unknown) => boolean>> = {
  headless: (value) => typeof value === 'boolean',
  browser_type: (value) => ['chromium', 'firefox', 'webkit'].includes(String(value)),
  text_mode: (value) => typeof value === 'boolean',
  viewport_width: Number.isInteger,
  viewport_height: Number.isInteger,
}

const CRAWLER_PARAMS: Readonly<Record<string, (value: unknown) => boolean>> = {
  cache_mode: (value) => ['enabled', 'disabled', 'read_only', 'write_only', 'bypass'].includes(String(value)),
  word_count_threshold: Number.isInteger,
  css_selector: (value) => typeof value === 'string',
  page_timeout: Number.isInteger,
  screenshot: (value) => typeof value === 'boolean',
  stream: (value) => value === false,
}

/** Finds the problem in a configuration: {type, params}, or its params alone. */
function checkConfig(
  config: Fields | undefined,
  type: string,
  known: Readonly<Record<string, (value: unknown) => boolean>>,
): string | undefined {
  const { type: given = type, params = config ?? {}, ...rest } = 'params' in (config ?? {}) ? (config ?? {}) : {}
  if (given !== type) return `type ${String(given)} is not allowed here`
  if (Object.keys(rest).length > 0) return `field ${Object.keys(rest).join(', ')} is not allowed`
  for (const [name, value] of Object.entries(params as Fields)) {
    const isValid = known[name]
    if (isValid === undefined) return `field ${name} is not allowed`
    if (!isValid(value)) return `field ${name} has a value that it cannot have`
  }
  return undefined
}
