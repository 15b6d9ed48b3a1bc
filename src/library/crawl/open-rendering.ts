import { PharosError, usageError } from '../../core/errors.ts'
import type { Fetcher, Renderer, Rendering } from '../../crawl/ports.ts'
import type { Library } from '../library.ts'

/** Renderer and fetcher that a rendering mode needs. */
export interface OpenRendering {
  readonly renderer?: Renderer
  readonly pageFetcher?: Fetcher
}

/**
 * Opens what a rendering mode needs. Modes that require a browser or a service throw if there is none; `auto` works without a browser and
 * marks pages that need one. Request headers are refused for a service, because it sends its own requests.
 */
export async function openRendering(
  library: Pick<Library, 'openCrawl4AI' | 'openRenderer'>,
  render: Rendering,
  hasHeaders = false,
): Promise<OpenRendering> {
  switch (render) {
    case 'http':
      return {}
    case 'auto':
      return { renderer: createLazyRenderer(library) }
    case 'chromium':
      return { renderer: await openRenderer(library) }
    case 'crawl4ai':
      if (hasHeaders) throw usageError(NO_HEADERS)
      return { pageFetcher: await openCrawl4AI(library) }
  }
}

const NO_HEADERS = 'headers cannot be used with render crawl4ai: the service fetches the pages itself'

/** Renderer that starts a browser on first use. The result of the start holds for all later pages. */
function createLazyRenderer(library: Pick<Library, 'openRenderer'>): Renderer {
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

async function openRenderer({ openRenderer: open }: Pick<Library, 'openRenderer'>): Promise<Renderer> {
  if (open !== undefined) return open()
  const problem = 'this library was opened without a browser'
  throw new PharosError('BROWSER_MISSING', { problem, advice: 'read its pages with render http' })
}

function openCrawl4AI({ openCrawl4AI: open }: Pick<Library, 'openCrawl4AI'>): Promise<Fetcher> {
  if (open !== undefined) return open()
  throw usageError('render crawl4ai needs a Crawl4AI service, and none is configured')
}
