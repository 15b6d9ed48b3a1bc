import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** One request that a site received. */
interface ReceivedRequest {
  readonly path: string
  readonly headers: IncomingHttpHeaders
}

/** The response for a path: a body, a status code or a redirect target. */
type PageResponse = string | number | URL

/** A real site on this machine. Its pages may be changed while it runs. */
export class LocalSite {
  /** Path → body of a page, status code of a failure, or target of a redirect. */
  readonly pages: Map<string, PageResponse> = new Map()
  readonly requests: ReceivedRequest[] = []
  /** Delay of each response. */
  delayMs = 0
  /** Value of the Retry-After header, in seconds. If it is set, every response except a redirect has the header. */
  retryAfter: number | undefined
  readonly #server: Server

  private constructor() {
    this.#server = createServer(({ url: path = '/', headers }, response) => {
      this.requests.push({ path, headers })
      const found = this.pages.get(path) ?? 404
      const isPage = typeof found === 'string'
      const type = path.endsWith('.txt') ? 'text/plain' : 'text/html; charset=utf-8'
      setTimeout(() => {
        if (found instanceof URL) response.writeHead(302, { location: found.href }).end()
        else
          response
            .writeHead(isPage ? 200 : found, { 'content-type': type, ...retryAfterHeader(this.retryAfter) })
            .end(isPage ? found : 'no')
      }, this.delayMs)
    })
  }

  static async open(pages: Readonly<Record<string, PageResponse>>): Promise<LocalSite> {
    const site = new LocalSite()
    site.serve(pages)
    site.#server.listen(0, '127.0.0.1')
    await once(site.#server, 'listening')
    return site
  }

  get origin(): string {
    // The server listens on a port, so the address is an object.
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** Replaces all pages, removes the delay and the Retry-After header, and clears the recorded requests. */
  serve(pages: Readonly<Record<string, PageResponse>>): void {
    this.pages.clear()
    for (const [path, page] of Object.entries(pages)) this.pages.set(path, page)
    this.requests.length = 0
    this.delayMs = 0
    this.retryAfter = undefined
  }

  /** Number of requests for a path. */
  countOf(path: string): number {
    return this.requests.filter((request) => request.path === path).length
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }
}

/** HTML of a page with a title, the given words and links. */
export function writePage(title: string, links: readonly string[] = [], words = ''): string {
  const list = links.map((link) => `<li><a href="${link}">${link}</a></li>`).join('')
  const text = `This page is about ${title} and says so in enough words to be taken for a page. ${words}`
  return `<!doctype html><title>${title}</title><main><h1>${title}</h1><p>${text}</p><ul>${list}</ul></main>`
}

/** `/docs/` with links to the given number of pages. */
export function manyPages(count: number): Record<string, string> {
  const paths = Array.from({ length: count }, (_, i) => `/docs/p${i}`)
  return {
    '/docs/': writePage('Start', paths),
    ...Object.fromEntries(paths.map((path, i) => [path, writePage(`Chapter ${i}`, ['/docs/'], `kiln ${i}`)])),
  }
}

function retryAfterHeader(seconds: number | undefined): Record<string, string> {
  return seconds === undefined ? {} : { 'retry-after': String(seconds) }
}
