import { PharosError } from '../../core/errors.ts'
import type { Fetcher, Renderer, Rendering } from '../../crawl/ports.ts'
import type { Library } from '../library.ts'

/** What pages are rendered with, as far as they are to be. */
export interface OpenRendering {
  readonly renderer?: Renderer
  readonly pageFetcher?: Fetcher
}

/**
 * Opens what a way of reading pages needs. What cannot do without a browser or a service is refused where there is none; `auto` does
 * without, and says of each page that it would have needed one. Fields that were to be sent with every request are refused where a
 * service makes the requests, which sends its own.
 */
export async function openRendering(
  library: Library,
  render: Rendering,
  headers: Readonly<Record<string, string>> = {},
): Promise<OpenRendering> {
  switch (render) {
    case 'http':
      return {}
    case 'auto':
      return { renderer: renderWhereNeeded(library) }
    case 'chromium':
      return { renderer: await openRenderer(library) }
    case 'crawl4ai':
      if (Object.keys(headers).length > 0) throw new PharosError('USAGE', { problem: NO_HEADERS })
      return { pageFetcher: await openCrawl4AI(library) }
  }
}

const NO_HEADERS = 'headers are not sent with render crawl4ai: the service asks for pages in its own way'

/** A browser that starts with the first page that needs one. Whether it does is found out once, and holds for all others. */
function renderWhereNeeded(library: Library): Renderer {
  let opening: Promise<Renderer> | undefined
  const open = async (): Promise<Renderer> => {
    const renderer = await openRenderer(library)
    await renderer.prepare()
    return renderer
  }
  const openOnce = (): Promise<Renderer> => {
    opening ??= open()
    return opening
  }
  return {
    async prepare() {
      await openOnce()
    },
    async render(snapshot, request) {
      try {
        return await (await openOnce()).render(snapshot, request)
      } catch (error) {
        if (!(error instanceof PharosError) || error.code !== 'BROWSER_MISSING') throw error
        const detail = String(error.details['problem'])
        return { type: 'failed', reason: 'needs-rendering', detail, isTransient: false }
      }
    },
  }
}

async function openRenderer({ openRenderer: open }: Library): Promise<Renderer> {
  if (open !== undefined) return open()
  const problem = 'this library was opened without a browser'
  throw new PharosError('BROWSER_MISSING', { problem, advice: 'read its pages with render http' })
}

function openCrawl4AI({ openCrawl4AI: open }: Library): Promise<Fetcher> {
  if (open !== undefined) return open()
  throw new PharosError('USAGE', { problem: 'render crawl4ai needs a Crawl4AI service, and none is configured' })
}
