import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { compareUtf8 } from '../../src/core/text/order.ts'

/** The response at one path: HTML as text, or a complete response. */
export type Answer = string | AnswerParts | ((request: IncomingMessage) => string | AnswerParts)

/** A complete response. */
export interface AnswerParts {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  /** Response time. @default 0 */
  readonly delayMs?: number
}

/** One request that reached a site. */
export interface SeenRequest {
  readonly path: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** Status of the response. */
  readonly status: number
  /** Arrival time in milliseconds since 1970. */
  readonly at: number
}

/** Options of a site. */
export interface SiteOptions {
  /** Sends ETags, and answers 304 to a matching `If-None-Match`. @default true */
  readonly hasEtags?: boolean
  /** IP address of the server; `127.0.0.2` counts as another host. @default 127.0.0.1 */
  readonly address?: string
  /** Port of the server. @default a free one */
  readonly port?: number
  /** Response at every path without a page, except for the lists that a crawl requests on every site. @default 404 */
  readonly fallback?: Answer
}

/** A real web site on loopback. Its pages can change between two crawls. */
export interface Site {
  readonly origin: string
  /** Responses by path with query, as in a request. */
  readonly pages: Map<string, Answer>
  /** Every request since the last `clearRequests`. */
  readonly requests: readonly SeenRequest[]
  /** Requested paths, sorted, without the requests for robots.txt, llms files and sitemaps that were answered with 404. */
  requestedPaths(): string[]
  clearRequests(): void
  close(): Promise<void>
}

/** Opens a site. Unknown paths answer 404. */
export async function openSite(pages: Readonly<Record<string, Answer>>, options: SiteOptions = {}): Promise<Site> {
  const { hasEtags = true, address = '127.0.0.1', port: wantedPort = 0 } = options
  const answers = new Map(Object.entries(pages))
  const requests: SeenRequest[] = []
  const server = createServer((request, response) => {
    const at = Date.now()
    const path = request.url ?? '/'
    const parts = answerTo(answers.get(path) ?? (LISTS.test(path) ? undefined : options.fallback), request)
    const [status, send] = prepareResponse(request, response, parts, hasEtags)
    requests.push({ path, headers: request.headers, status, at })
    if (parts.delayMs === undefined) send()
    else setTimeout(send, parts.delayMs)
  })
  await new Promise<void>((resolve) => server.listen(wantedPort, address, resolve))
  const { port } = server.address() as AddressInfo
  return {
    origin: `http://${address}:${port}`,
    pages: answers,
    requests,
    requestedPaths: () =>
      requests
        .filter(({ path, status }) => !(status === 404 && LISTS.test(path)))
        .map(({ path }) => path)
        .sort(compareUtf8),
    clearRequests: () => {
      requests.length = 0
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** A page with a title, a paragraph of its own and links. */
export function page(title: string, links: readonly string[] = [], headHtml = ''): string {
  const items = links.map((href) => `<li><a href="${href}">Read about ${href}</a></li>`).join('')
  return `<!doctype html><html><head><title>${title}</title>${headHtml}</head><body><main><h1>${title}</h1>
<p>This page is about ${title} and says enough about it that nobody takes it for an empty one.</p>
<ul>${items}</ul></main></body></html>`
}

/** A redirect. */
export function redirect(location: string, status = 301): AnswerParts {
  return { status, headers: { location } }
}

/** A response with a body and a content type. */
export function text(body: string | Uint8Array, type = 'text/plain'): AnswerParts {
  return { headers: { 'content-type': type }, body }
}

/** Markdown with a title and a paragraph of its own. */
export function markdown(title: string, more = ''): string {
  return `# ${title}\n\nThis text is about ${title} and says enough about it that nobody takes it for an empty one.\n${more}`
}

/** A sitemap of pages, or an index of sitemaps. */
export function sitemap(urls: readonly string[], kind: 'urlset' | 'sitemapindex' = 'urlset'): AnswerParts {
  const name = kind === 'urlset' ? 'url' : 'sitemap'
  const items = urls.map((url) => `<${name}><loc>${url}</loc></${name}>`).join('')
  const namespace = 'http://www.sitemaps.org/schemas/sitemap/0.9'
  return text(`<?xml version="1.0"?><${kind} xmlns="${namespace}">${items}</${kind}>`, 'application/xml')
}

/** Files that a crawl requests on every site. */
const LISTS = /^\/(?:.*\/)?(?:robots\.txt|llms(?:-full)?\.txt|sitemap(?:_index)?\.xml)$/

function answerTo(answer: Answer | undefined, request: IncomingMessage): AnswerParts {
  const result = typeof answer === 'function' ? answer(request) : answer
  if (result === undefined) return { status: 404, headers: { 'content-type': 'text/plain' }, body: 'not found' }
  return typeof result === 'string' ? { body: result } : result
}

/** The status of a response, and a function that sends it. */
function prepareResponse(
  request: IncomingMessage,
  response: ServerResponse,
  parts: AnswerParts,
  hasEtags: boolean,
): [status: number, send: () => void] {
  const { status = 200, body = '', headers = {} } = parts
  const etag = status === 200 && hasEtags ? `"${hashOf(body)}"` : undefined
  if (etag !== undefined && request.headers['if-none-match'] === etag) {
    return [304, () => response.writeHead(304, { etag }).end()]
  }
  const tags = etag === undefined ? {} : { etag }
  const fields = { 'content-type': 'text/html; charset=utf-8', ...tags, ...headers }
  return [status, () => response.writeHead(status, fields).end(body)]
}

function hashOf(body: string | Uint8Array): string {
  let hash = 5381
  for (const char of typeof body === 'string' ? body : Buffer.from(body).toString('latin1')) {
    hash = (Math.imul(hash, 33) ^ char.charCodeAt(0)) >>> 0
  }
  return hash.toString(36)
}
