import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { addSource } from '../../src/library/crawl/add-source.ts'
import { fetchUrl } from '../../src/library/crawl/fetch-url.ts'
import { prepareSource } from '../../src/library/crawl/prepare-source.ts'
import { searchHits } from '../../src/library/search/hits.ts'
import { type LibraryOptions, type OpenLibrary, openLibrary } from '../../src/open-library.ts'
import { openPharosReader } from '../../src/readers/pharos-reader.ts'
import { openTestSite, runCrawl, statesOf } from '../sites/crawl.ts'
import type { Site } from '../sites/site.ts'
import { type CrawlResult, openCrawl4AIServer } from './servers/crawl4ai.ts'
import type { FaultyServer } from './servers/faults.ts'

const CRAWL = 'POST /crawl'

let site: Site
let server: FaultyServer
let library: OpenLibrary
/** Results of the service by path. */
let pages: Record<string, CrawlResult>

beforeEach(async () => {
  site = await openTestSite({
    '/robots.txt': { headers: { 'content-type': 'text/plain' }, body: 'User-agent: *\nDisallow: /secret' },
    '/': 'content of a direct fetch, which must not be indexed',
  })
  server = await openCrawl4AIServer({
    find: (url) => pages[new URL(url).pathname] ?? { status_code: 404, markdown: 'not there' },
  })
  pages = {
    '/': page('Start', ['/lamp', '/secret/key', '/gone', '/old', '/inside', '/unlisted', 'https://other.example/']),
    '/lamp': page('Lamp', ['/']),
    '/new': page('New', []),
    '/unlisted': { ...page('Unlisted', ['/beyond']), html: '<meta name="robots" content="noindex,nofollow"><p>x' },
    '/old': { ...page('Old', []), redirected_url: `${site.origin}/new` },
    '/inside': { ...page('Inside', []), redirected_url: 'http://10.0.0.7/' },
  }
  library = await open()
})
afterEach(async () => {
  await library.close()
  await server.close()
})

function open(more: Partial<LibraryOptions> = {}): Promise<OpenLibrary> {
  const crawl4ai = { endpoint: server.origin, retries: 0 }
  return openLibrary({ path: ':memory:', version: '0.0.0', allowPrivate: ['127.0.0.1'], crawl4ai, ...more })
}

async function reopen(more: Partial<LibraryOptions>): Promise<OpenLibrary> {
  await library.close()
  return open(more)
}

function page(title: string, links: readonly string[]): CrawlResult {
  return {
    markdown: `# ${title}\n\nAll that there is to know about ${title.toLowerCase()} stands here.\n`,
    metadata: { title, description: `About ${title}` },
    links: { internal: links.map((href) => ({ href })), external: [] },
  }
}

async function crawl(kind: 'add' | 'recrawl' = 'add') {
  const [source = await addSource(library, { url: `${site.origin}/`, settings: { render: 'crawl4ai' } })] =
    await library.store.listSources()
  return runCrawl(library, source, { kind }, site.origin)
}

function servicePaths(): string[] {
  return server.bodies(CRAWL).flatMap((body) => (body as { urls: string[] }).urls.map((url) => new URL(url).pathname))
}

describe('a crawl by Crawl4AI', () => {
  test('reads pages through the service, but robots.txt directly', async () => {
    const crawled = await crawl()
    expect(statesOf(crawled)).toMatchObject({
      '/': 'indexed',
      '/lamp': 'indexed',
      '/new': 'indexed',
      '/old': 'skipped redirect',
      '/inside': 'failed address-refused',
      '/secret/key': 'skipped robots-disallow',
      '/gone': 'failed not-found',
      '/unlisted': 'skipped noindex',
    })
    expect(new Set(servicePaths())).toEqual(new Set(['/', '/gone', '/inside', '/lamp', '/new', '/old', '/unlisted']))
    expect(site.requestedPaths()).toEqual(['/robots.txt'])

    const [hit] = await searchHits(library.store, { query: 'know about lamp', limit: 1 })
    expect(hit?.chunk.path).toBe(`${site.origin}/lamp`)
  })

  test('finds all pages unchanged when it is repeated', async () => {
    await crawl()
    const crawled = await crawl('recrawl')
    expect(statesOf(crawled)).toMatchObject({ '/': 'unchanged', '/lamp': 'unchanged', '/new': 'unchanged' })
  })

  test('keeps stored pages while the service fails', async () => {
    await crawl()
    server.setFault(CRAWL, { type: 'answer', status: 401, json: { detail: 'Authentication required' } })
    const crawled = await crawl('recrawl')
    for (const path of ['/', '/lamp', '/new']) expect(crawled.rows.get(path)?.hasPage).toBe(true)
    expect(crawled.rows.get('/')).toMatchObject({ state: 'failed', reason: 'service-failed' })
  })

  test('does not slow down the host when the service fails', async () => {
    library = await reopen({ limits: { attempts: 1 } })
    await crawl()
    server.clearRequests()
    server.setFault(CRAWL, { type: 'answer', status: 503, headers: { 'retry-after': '600' }, json: { detail: 'full' } })
    const { host } = new URL(site.origin)
    const crawled = await crawl('recrawl')
    expect(crawled.rows.get('/')).toMatchObject({ state: 'failed', reason: 'service-failed', hasPage: true })
    expect(await library.store.readClock(host, Date.now())).toMatchObject({ strikes: 0 })
    expect(crawled.events.filter(({ type }) => type === 'held' || type === 'parked')).toEqual([])
  })

  test('refuses headers that the service would not send, before it writes or requests anything', async () => {
    const headers = { cookie: 'a=b' }
    const settings = { render: 'crawl4ai' } as const
    const url = `${site.origin}/`
    const usage = { code: 'USAGE', message: expect.stringContaining('headers cannot be used with render crawl4ai') }
    await expect(prepareSource(library, { url, settings, headers })).rejects.toMatchObject(usage)
    expect(await library.store.listSources()).toEqual([])
    const { signal } = new AbortController()
    await expect(fetchUrl(library, url, { render: 'crawl4ai', headers, signal })).rejects.toMatchObject(usage)
    await expect(openPharosReader({ library, render: 'crawl4ai', headers })).rejects.toMatchObject({
      code: 'OPTION_INVALID',
    })
    const source = await addSource(library, { url, settings })
    await expect(runCrawl(library, source, { kind: 'add', headers }, site.origin)).rejects.toMatchObject(usage)
    expect(await library.store.listCrawls(source.id, 1)).toEqual([])
    expect(server.count()).toBe(0)
  })

  test('does not start if the service does not answer', async () => {
    await server.stopListening()
    await expect(crawl()).rejects.toMatchObject({ code: 'SERVICE_UNUSABLE' })
    await server.resumeListening()
  })
})
