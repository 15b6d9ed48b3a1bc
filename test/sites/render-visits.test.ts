import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, test } from 'vitest'
import type { ChunkProfile } from '../../src/core/chunk/profiles.ts'
import { PharosError } from '../../src/core/errors.ts'
import type { Snapshot } from '../../src/core/model.ts'
import { compareUtf8 } from '../../src/core/text/order.ts'
import type { Fetcher, Renderer, Rendering, RenderOutcome, RenderRequest } from '../../src/crawl/ports.ts'
import type { CrawlInput } from '../../src/library/crawl/crawl-source.ts'
import { fetchUrl } from '../../src/library/crawl/fetch-url.ts'
import { prepareSource } from '../../src/library/crawl/prepare-source.ts'
import { explainUrl } from '../../src/library/sources/explain.ts'
import type { OpenLibrary } from '../../src/open-library.ts'
import { type Crawled, createCrawlFixture, openTestLibrary, runCrawl, statesOf } from './crawl.ts'
import { withFastClock } from './fast-clock.ts'
import { type Answer, markdown, page, type Site, text } from './site.ts'

/** The HTML that the server sends for every page of an application. */
const SHELL = '<!doctype html><title>App</title><div id="root"></div><script src="/app.js"></script>'

/** The result of rendering each path: a document, or another outcome. */
type Results = Readonly<Record<string, string | ((snapshot: Snapshot) => RenderOutcome)>>

/** A renderer with known results that records its requests. */
class FakeRenderer implements Renderer {
  readonly renderedPaths: string[] = []
  readonly requests: RenderRequest[] = []
  /** How often `prepare` was called. */
  starts = 0
  results: Results

  constructor(results: Results) {
    this.results = results
  }

  async prepare(): Promise<void> {
    this.starts++
  }

  async render(snapshot: Snapshot, request: RenderRequest = {}): Promise<RenderOutcome> {
    const { pathname } = new URL(snapshot.url)
    // The renderer gets the HTML of the response.
    expect(String(Buffer.from(snapshot.body))).toContain('<')
    this.renderedPaths.push(pathname)
    this.requests.push(request)
    const result = this.results[pathname] ?? '<title>App</title><div id="root"></div><script src="/app.js"></script>'
    return typeof result === 'string' ? rendered(snapshot, result) : result(snapshot)
  }
}

function rendered(snapshot: Snapshot, body: string, url: string = snapshot.url): RenderOutcome {
  return { type: 'rendered', snapshot: { ...snapshot, url, body } }
}

/** A site, a library with a renderer, and a source whose pages are read with the given mode. */
async function stageRendered(pages: Readonly<Record<string, Answer>>, results: Results, render: Rendering = 'auto') {
  const renderer = new FakeRenderer(results)
  const { site, library: plain, source } = await createCrawlFixture(pages, { settings: { render } })
  const library: OpenLibrary = { ...withFastClock(plain), openRenderer: async () => renderer }
  const crawl = async (input: Partial<CrawlInput> = {}, usedLibrary = library): Promise<Crawled> => {
    const [current = source] = await library.store.listSources()
    return runCrawl(usedLibrary, current, { kind: 'add', ...input }, site.origin)
  }
  return { site, library, source, renderer, crawl }
}

function tagsSent({ requests }: Site): unknown[] {
  return requests.map(({ headers }) => headers['if-none-match']).filter((tag) => tag !== undefined)
}

describe('a source read with auto', () => {
  const results: Results = { '/': page('Home heron', ['/plain', '/deep']), '/deep': page('Deep dunlin') }
  const pages = { '/': SHELL, '/deep': SHELL, '/plain': page('Plain plover') }

  test('renders only pages that are empty without a browser', async () => {
    const { site, renderer, library, source, crawl } = await stageRendered(pages, results)
    const crawled = await crawl()
    expect(statesOf(crawled)).toEqual({ '/': 'indexed', '/deep': 'indexed', '/plain': 'indexed' })
    expect(renderer.renderedPaths.toSorted(compareUtf8)).toEqual(['/', '/deep'])
    // One request for each document.
    expect(site.requestedPaths()).toEqual(['/', '/deep', '/plain'])
    const facts = [...crawled.rows].map(([path, row]) => [path, row.isShell, row.etag !== null])
    expect(facts).toEqual([
      ['/', true, false],
      ['/deep', true, false],
      ['/plain', false, true],
    ])
    const { row } = await explainUrl(library, source, '/deep')
    expect(row).toMatchObject({ isShell: true, status: 200, detail: 'read in a browser' })
    expect((await library.store.readPage(source.id, `${site.origin}/deep`))?.page.title).toBe('Deep dunlin')
  })

  test('renders the same pages again although their HTML is unchanged, and finds changes', async () => {
    const { site, renderer, crawl } = await stageRendered(pages, results)
    await crawl()
    site.clearRequests()
    renderer.renderedPaths.length = 0
    expect(statesOf(await crawl({ kind: 'recrawl' }))).toEqual({
      '/': 'unchanged',
      '/deep': 'unchanged',
      '/plain': 'unchanged',
    })
    expect(renderer.renderedPaths.toSorted(compareUtf8)).toEqual(['/', '/deep'])
    // Only pages read without a browser are requested with validators.
    expect(tagsSent(site)).toHaveLength(1)
    renderer.results = { ...results, '/deep': page('Deep diver') }
    expect(statesOf(await crawl({ kind: 'refresh' }))).toMatchObject({ '/': 'unchanged', '/deep': 'indexed' })
  })

  test('reports the pages that need a browser if there is none, and indexes them once there is one', async () => {
    const { library, crawl } = await stageRendered(pages, results)
    const openRenderer = () => Promise.reject(new PharosError('BROWSER_MISSING', { problem: 'none', advice: '' }))
    const { rows, summary } = await crawl({}, { ...library, openRenderer })
    expect(rows.get('/')).toMatchObject({ state: 'failed', reason: 'needs-rendering', pattern: 'render auto' })
    expect(rows.get('/')).toMatchObject({ attempts: 1, detail: 'none', isShell: false })
    expect(summary).toMatchObject({ end: 'failed', uselessReason: 'needs-rendering' })
    expect(statesOf(await crawl({ kind: 'recrawl' }))).toMatchObject({ '/': 'indexed', '/deep': 'indexed' })
  })

  test('keeps rendered pages while no browser is available, whatever the server sends', async () => {
    const { site, library, renderer, crawl } = await stageRendered(pages, results)
    await crawl()
    site.pages.set('/deep', page('Cookies are used here'))
    const openRenderer = () => Promise.reject(new PharosError('BROWSER_MISSING', { problem: 'none', advice: '' }))
    const { rows, summary } = await crawl({ kind: 'recrawl' }, { ...library, openRenderer })
    const kept = { state: 'failed', reason: 'needs-rendering', hasPage: true, isShell: true }
    expect(rows.get('/deep')).toMatchObject({ ...kept, pattern: 'render auto', detail: 'none' })
    expect(summary).toMatchObject({ end: 'completed', unchanged: 1, removed: 0 })
    renderer.renderedPaths.length = 0
    expect(statesOf(await crawl({ kind: 'retry' }))).toMatchObject({ '/': 'unchanged', '/deep': 'unchanged' })
    expect(renderer.renderedPaths.toSorted(compareUtf8)).toEqual(['/', '/deep'])
  })

  test('tries once to start the browser, and reports the failure for every page that needs it', async () => {
    const site = { '/': page('Home heron', ['/a', '/b', '/plain']), '/a': SHELL, '/b': SHELL, '/plain': page('Plain') }
    const { library, crawl } = await stageRendered(site, {})
    let starts = 0
    const problem = 'the browser /nonsense/chrome does not start'
    const prepare = async () => {
      starts++
      throw new PharosError('BROWSER_MISSING', { problem, advice: '' })
    }
    const render = () => Promise.reject(new Error('render must not be called'))
    const { rows, events } = await crawl({}, { ...library, openRenderer: async () => ({ prepare, render }) })
    const failed = { state: 'failed', reason: 'needs-rendering', detail: problem, attempts: 1 }
    expect([rows.get('/a'), rows.get('/b')]).toMatchObject([failed, failed])
    expect(rows.get('/plain')).toMatchObject({ state: 'indexed' })
    expect(starts).toBe(1)
    expect(events.filter(({ type }) => type === 'retry')).toEqual([])
  })

  test('starts no browser for a site that needs none', async () => {
    const { renderer, crawl } = await stageRendered({ '/': page('Home heron') }, {})
    await crawl()
    expect(renderer.starts).toBe(0)
  })

  test('a crawl rejects if opening the browser fails with an error other than BROWSER_MISSING', async () => {
    const { library, crawl } = await stageRendered(pages, results)
    const openRenderer = () => Promise.reject(new Error('broken'))
    await expect(crawl({}, { ...library, openRenderer })).rejects.toThrow('broken')
  })

  test('records that a page was rendered even if the page is empty in the browser too', async () => {
    const { crawl } = await stageRendered(
      { '/': SHELL, '/blank': SHELL },
      { '/': page('Home heron', ['/blank']), '/blank': '<title>App</title><main></main>' },
    )
    const { rows } = await crawl()
    expect(rows.get('/blank')).toMatchObject({
      state: 'failed',
      reason: 'needs-rendering',
      isShell: true,
      detail: 'it shows no text, even after rendering',
    })
  })

  test('renders a document of 600 kB', async () => {
    const large = SHELL.replace('<div', `<script>/*${'x'.repeat(600_000)}*/</script><div`)
    const { renderer, crawl } = await stageRendered({ '/': large }, { '/': page('Large lapwing') })
    expect(statesOf(await crawl())).toEqual({ '/': 'indexed' })
    expect(renderer.renderedPaths).toEqual(['/'])
  })

  test('indexes a page that becomes large in the browser', async () => {
    const grown = page('Grown gull', [], `<style>/*${'x'.repeat(1_200_000)}*/</style>`)
    const { crawl } = await stageRendered({ '/': SHELL }, { '/': grown })
    expect(statesOf(await crawl())).toEqual({ '/': 'indexed' })
  })

  test('follows script redirects like other redirects, and applies the address filter to them', async () => {
    const { crawl } = await stageRendered(
      { '/': SHELL, '/home': SHELL, '/away': SHELL, '/same': SHELL, '/back': SHELL },
      {
        '/': (from) => rendered(from, page('Home heron'), new URL('/home', from.url).href),
        '/home': page('Home heron', ['/away', '/same', '/back']),
        '/away': (from) => rendered(from, page('Elsewhere'), 'https://other.example/'),
        '/same': (from) => rendered(from, page('Same sandpiper'), `${from.url}?utm_source=app#top`),
        '/back': (from) => rendered(from, page('Back'), new URL('/back?page=2', from.url).href),
      },
    )
    const crawled = await crawl()
    expect(statesOf(crawled)).toMatchObject({
      '/': 'skipped redirect',
      '/home': 'indexed',
      '/away': 'skipped redirect',
      'https://other.example/': 'skipped off-site',
      '/same': 'indexed',
      '/back': 'skipped redirect',
    })
    expect(crawled.rows.get('/')?.target).toBe(crawled.rows.get('/home')?.key)
  })

  test('reads the metadata of a page from the rendered document', async () => {
    const { crawl } = await stageRendered(
      { '/': SHELL, '/hidden': SHELL },
      {
        '/': page('Home heron', ['/hidden']),
        '/hidden': page('Hidden hoopoe', ['/behind'], '<meta name="robots" content="noindex, nofollow">'),
      },
    )
    expect(statesOf(await crawl())).toMatchObject({ '/hidden': 'skipped noindex', '/behind': 'skipped nofollow' })
  })

  test.each([
    { isTransient: true, renders: 3 },
    { isTransient: false, renders: 1 },
  ])(
    'treats a page that fails in the browser like one that fails on the server (transient: $isTransient)',
    async (given) => {
      const { renderer, crawl } = await stageRendered(
        { '/': SHELL, '/a': SHELL },
        {
          '/': page('Home heron', ['/a']),
          '/a': () => ({ type: 'failed', reason: 'timeout', detail: 'it hung', isTransient: given.isTransient }),
        },
      )
      const { rows, events } = await crawl()
      expect(rows.get('/a')).toMatchObject({ state: 'failed', reason: 'timeout', status: 200, detail: 'it hung' })
      expect(renderer.renderedPaths.filter((path) => path === '/a')).toHaveLength(given.renders)
      expect(events.filter(({ type }) => type === 'retry')).toHaveLength(given.renders - 1)
    },
  )

  test('passes the request headers of the crawl to the browser', async () => {
    const { site, renderer, crawl } = await stageRendered({ '/': SHELL }, { '/': page('Home heron') })
    await crawl({ headers: { cookie: 'a=b' } })
    expect(renderer.requests).toMatchObject([{ headers: { cookie: 'a=b' } }])
    expect(site.requests.find(({ path }) => path === '/')?.headers['cookie']).toBe('a=b')
  })
})

describe('a source that is read with http', () => {
  test('opens no browser, and reports each page that needs one', async () => {
    const { library, crawl } = await stageRendered({ '/': page('Home', ['/app']), '/app': SHELL }, {}, 'http')
    const openRenderer = () => Promise.reject(new Error('the browser must not be opened'))
    const { rows } = await crawl({}, { ...library, openRenderer })
    expect(rows.get('/app')).toMatchObject({ reason: 'needs-rendering', pattern: 'render http', isShell: false })
  })

  test('changes its mode when a recrawl names another, and keeps that mode', async () => {
    const { library, renderer, crawl } = await stageRendered(
      { '/': SHELL, '/a': SHELL },
      { '/': page('Home heron', ['/a']), '/a': page('Alpha avocet') },
      'http',
    )
    await crawl()
    expect(statesOf(await crawl({ kind: 'recrawl', render: 'auto' }))).toEqual({ '/': 'indexed', '/a': 'indexed' })
    expect((await library.store.listSources())[0]?.settings.render).toBe('auto')
    renderer.renderedPaths.length = 0
    await crawl({ kind: 'refresh' })
    expect(renderer.renderedPaths.toSorted(compareUtf8)).toEqual(['/', '/a'])
    // Rendered pages stay, although this mode cannot confirm them.
    const back = await crawl({ kind: 'recrawl', render: 'http' })
    expect(statesOf(back)).toEqual({ '/': 'failed needs-rendering', '/a': 'failed needs-rendering' })
    expect([...back.rows.values()].map(({ hasPage }) => hasPage)).toEqual([true, true])
  })
})

describe('a source that is read with chromium', () => {
  const pages = {
    '/': page('Home heron', ['/plain', '/notes.md']),
    '/plain': page('Plain plover'),
    '/notes.md': text(markdown('Notes'), 'text/markdown'),
  }
  const results: Results = { '/': page('Home heron', ['/plain', '/notes.md']), '/plain': page('Painted plover') }

  test('renders every document, and requests each without validators', async () => {
    const { site, renderer, library, source, crawl } = await stageRendered(pages, results, 'chromium')
    expect(statesOf(await crawl())).toEqual({ '/': 'indexed', '/notes.md': 'indexed', '/plain': 'indexed' })
    expect(renderer.renderedPaths.toSorted(compareUtf8)).toEqual(['/', '/plain'])
    expect((await library.store.readPage(source.id, `${site.origin}/plain`))?.page.title).toBe('Painted plover')
    site.clearRequests()
    await crawl({ kind: 'recrawl' })
    expect(tagsSent(site)).toEqual([])
  })

  test('records which pages need a browser, so that only those are rendered when auto is set', async () => {
    const mixed = { '/': page('Home heron', ['/plain', '/deep']), '/plain': page('Plain plover'), '/deep': SHELL }
    const { library, renderer, crawl } = await stageRendered(
      mixed,
      { ...mixed, '/deep': page('Deep dunlin') },
      'chromium',
    )
    const { rows } = await crawl()
    const shells = [...rows].map(([path, { isShell, etag, detail }]) => [path, isShell, etag, detail])
    expect(shells).toEqual([
      ['/', false, null, 'read in a browser'],
      ['/deep', true, null, 'read in a browser'],
      ['/plain', false, null, 'read in a browser'],
    ])
    renderer.renderedPaths.length = 0
    const states = { '/': 'unchanged', '/deep': 'unchanged', '/plain': 'unchanged' }
    expect(statesOf(await crawl({ kind: 'recrawl', render: 'auto' }))).toEqual(states)
    expect(renderer.renderedPaths).toEqual(['/deep'])
    const openRenderer = () => Promise.reject(new PharosError('BROWSER_MISSING', { problem: 'none', advice: '' }))
    const without = await crawl({ kind: 'recrawl' }, { ...library, openRenderer })
    expect(statesOf(without)).toEqual({ ...states, '/deep': 'failed needs-rendering' })
  })

  test('is refused if the browser does not start, before anything is written', async () => {
    const { library, source, renderer, crawl } = await stageRendered(pages, results, 'chromium')
    const missing = new PharosError('BROWSER_MISSING', { problem: 'it does not start', advice: '' })
    const dead: Renderer = { prepare: () => Promise.reject(missing), render: (one) => renderer.render(one) }
    const openRenderer = async () => dead
    await expect(crawl({}, { ...library, openRenderer })).rejects.toBe(missing)
    expect(await library.store.listCrawls(source.id, 5)).toEqual([])
    expect(renderer.renderedPaths).toEqual([])
  })

  test('is refused if there is no browser, before anything is written', async () => {
    const { library, source, crawl } = await stageRendered(pages, results, 'chromium')
    const { openRenderer: _, ...without } = library
    await expect(crawl({}, without as OpenLibrary)).rejects.toMatchObject({ code: 'BROWSER_MISSING' })
    expect(await library.store.listCrawls(source.id, 5)).toEqual([])
    const input = { url: 'https://new.example/', settings: { render: 'chromium' } } as const
    await expect(prepareSource(without as OpenLibrary, input)).rejects.toMatchObject({ code: 'BROWSER_MISSING' })
    expect(await library.store.listSources()).toHaveLength(1)
  })

  test('a folder cannot be read with a browser', async () => {
    const library = await openTestLibrary()
    const { source } = await prepareSource(library, { url: new URL('.', import.meta.url).href, isOwnFolder: true })
    const input = { kind: 'recrawl', render: 'auto' } as const
    await expect(runCrawl(library, source, input, '')).rejects.toMatchObject({ code: 'USAGE' })
  })
})

describe('a source that is read by a service', () => {
  /** A fake service that returns Markdown, and links that the Markdown lacks. */
  function createPageFetcher(origin: string): Fetcher & { readonly fetchedPaths: string[] } {
    const fetchedPaths: string[] = []
    return {
      fetchedPaths,
      async fetch({ url }) {
        const { pathname } = new URL(url)
        fetchedPaths.push(pathname)
        if (pathname === '/gone') return { type: 'gone', status: 404 }
        const body = pathname === '/blank' ? '' : `Text of ${pathname}, which is all there is.\n`
        const known = {
          title: `Known ${pathname}`,
          description: 'A page.',
          links: [`${origin}/next`, '/blank', 'mailto:somebody@example.com'],
        }
        const snapshot = { url, body, status: 200, headers: { 'content-type': 'text/markdown' }, known }
        return { type: 'fetched', snapshot, etag: '"never"', lastModified: null }
      },
    }
  }

  test('fetches its pages through the service, and robots.txt directly', async () => {
    const { site, library, source, crawl } = await stageRendered({}, {}, 'crawl4ai')
    const service = createPageFetcher(site.origin)
    const withService: OpenLibrary = { ...library, openCrawl4AI: async () => service }
    const crawled = await crawl({}, withService)
    expect(statesOf(crawled)).toMatchObject({
      '/': 'indexed',
      '/next': 'indexed',
      '/blank': 'failed needs-rendering',
    })
    expect(crawled.rows.get('/')).toMatchObject({ isShell: false, etag: null, detail: 'read by Crawl4AI' })
    expect(service.fetchedPaths.toSorted(compareUtf8)).toEqual(['/', '/blank', '/next'])
    expect(site.requests.map(({ path }) => path)).toContain('/robots.txt')
    expect(site.requests.map(({ path }) => path)).not.toContain('/')
    const stored = await library.store.readPage(source.id, `${site.origin}/next`)
    expect(stored?.page).toMatchObject({ title: 'Known /next', description: 'A page.' })
  })

  test('is refused if there is no service, before anything is written', async () => {
    const { library, source, crawl } = await stageRendered({}, {}, 'crawl4ai')
    const unusable = new PharosError('SERVICE_UNUSABLE', { service: 'Crawl4AI', url: '', problem: 'x', advice: '' })
    const openCrawl4AI = () => Promise.reject(unusable)
    await expect(crawl({}, { ...library, openCrawl4AI })).rejects.toMatchObject({ code: 'SERVICE_UNUSABLE' })
    const { openCrawl4AI: _, ...without } = library
    await expect(crawl({}, without as OpenLibrary)).rejects.toMatchObject({ code: 'USAGE' })
    expect(await library.store.listCrawls(source.id, 5)).toEqual([])
  })

  test('a single page can be fetched through the service, too', async () => {
    const { site, library } = await stageRendered({}, {})
    const withService: OpenLibrary = { ...library, openCrawl4AI: async () => createPageFetcher(site.origin) }
    const { signal } = new AbortController()
    const read = await fetchUrl(withService, `${site.origin}/one`, { render: 'crawl4ai', signal })
    expect(read.title).toBe('Known /one')
  })
})

describe('a single page', () => {
  test('is rendered on request, also after a redirect by script', async () => {
    const { site, library } = await stageRendered(
      { '/': SHELL, '/to': SHELL },
      { '/': (from) => rendered(from, '', new URL('/to', from.url).href), '/to': page('Target tern') },
    )
    const { signal } = new AbortController()
    expect((await fetchUrl(library, `${site.origin}/`, { render: 'auto', signal })).title).toBe('Target tern')
    await expect(fetchUrl(library, `${site.origin}/`, { signal })).rejects.toMatchObject({ code: 'PAGE_REFUSED' })
    const missing = new PharosError('BROWSER_MISSING', { problem: 'there is no program there', advice: '' })
    const without = { ...library, openRenderer: () => Promise.reject(missing) }
    await expect(fetchUrl(without, `${site.origin}/`, { render: 'auto', signal })).rejects.toBe(missing)
    const unfollowed = fetchUrl(library, `${site.origin}/`, { render: 'chromium', followsRedirects: false, signal })
    await expect(unfollowed).rejects.toMatchObject({ code: 'FETCH_FAILED' })
  })
})

describe('the chunk profile of a source', () => {
  const long = page('Long lark', [], '').replace(
    '<ul>',
    `${'<p>Words of a paragraph that is not short.</p>'.repeat(150)}<ul>`,
  )

  test('determines how pages of sites and files of folders are split', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'pharos-chunks-'))
    writeFileSync(join(folder, 'long.html'), long)
    writeFileSync(join(folder, 'notes.txt'), 'A line of a text that goes on.\n'.repeat(300))
    const countChunks = async (chunks: ChunkProfile) => {
      const { library, crawl } = await createCrawlFixture({ '/': long }, { settings: { chunks } })
      const { summary } = await crawl()
      const [source] = await library.store.listSources()
      expect(source?.settings.chunks).toBe(chunks)
      const url = pathToFileURL(folder).href
      const folderSource = await prepareSource(library, { url, isOwnFolder: true, settings: { chunks } })
      const indexed = await runCrawl(library, folderSource.source, { kind: 'add' }, '')
      const total = async (id: string) => (await library.store.countContent(id)).chunks
      expect([summary.indexed, indexed.summary.indexed]).toEqual([1, 2])
      return [await total(source?.id ?? ''), await total(folderSource.source.id)]
    }
    const [library, pack] = [await countChunks('library'), await countChunks('pack')]
    rmSync(folder, { recursive: true })
    expect(library[0]).toBeGreaterThan(pack[0] ?? Infinity)
    expect(library[1]).toBeGreaterThan(pack[1] ?? Infinity)
  })

  test('changes when a recrawl names another, but unchanged pages are split again only in a full recrawl', async () => {
    const { library, source, crawl } = await stageRendered({ '/': long }, {}, 'http')
    await crawl()
    const count = async () => (await library.store.countContent(source.id)).chunks
    const before = await count()
    await crawl({ kind: 'recrawl', chunks: 'pack' })
    expect((await library.store.listSources())[0]?.settings).toMatchObject({ render: 'http', chunks: 'pack' })
    expect(await count()).toBe(before)
    await crawl({ kind: 'recrawl', full: true })
    expect(await count()).toBeLessThan(before)
  })
})
