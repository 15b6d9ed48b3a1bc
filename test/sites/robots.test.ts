import { describe, expect, test } from 'vitest'
import { writeExplanation } from '../../src/cli/text/explanation-text.ts'
import { createUrlFetcher, fetchUrl } from '../../src/library/crawl/fetch-url.ts'
import { explainUrl } from '../../src/library/sources/explain.ts'
import type { OpenLibrary } from '../../src/open-library.ts'
import { reserveSlot } from '../contracts/host-clocks.ts'
import { createCrawlFixture, openTestLibrary, openTestSite, statesOf } from './crawl.ts'
import { createFileFixture } from './file-fixture.ts'
import { page, type Site, text } from './site.ts'

describe('robots.txt', () => {
  test('is read before anything else, and decides before every fetch', async () => {
    const { site, crawl } = await createCrawlFixture({
      '/': page('Home', ['/open', '/closed/a', '/closed/open', '/old']),
      '/open': page('Open'),
      '/closed/a': page('A'),
      '/closed/open': page('Open after all'),
      '/old': { status: 301, headers: { location: '/closed/b' } },
      '/closed/b': page('B'),
      '/robots.txt': text('User-agent: *\nDisallow: /closed/\nAllow: /closed/open\n'),
    })
    const crawled = await crawl()
    expect(site.requests[0]?.path).toBe('/robots.txt')
    expect(site.requestedPaths()).toEqual(['/', '/closed/open', '/old', '/open', '/robots.txt'])
    expect(statesOf(crawled)).toEqual({
      '/': 'indexed',
      '/open': 'indexed',
      '/closed/open': 'indexed',
      '/closed/a': 'skipped robots-disallow',
      '/old': 'skipped redirect',
      '/closed/b': 'skipped robots-disallow',
    })
    expect(crawled.rows.get('/closed/a')?.pattern).toContain('/closed/')
  })

  test('rules for Pharos take precedence over rules for all agents', async () => {
    const { site, crawl } = await createCrawlFixture({
      '/': page('Home', ['/a', '/b']),
      '/a': page('A'),
      '/b': page('B'),
      '/robots.txt': text('User-agent: *\nDisallow: /a\n\nUser-agent: pharos\nDisallow: /b\n'),
    })
    await crawl()
    expect(site.requestedPaths()).toEqual(['/', '/a', '/robots.txt'])
  })

  test('robots.txt that disallows everything fails the crawl with that reason', async () => {
    const { site, crawl } = await createCrawlFixture({
      '/': page('Home'),
      '/llms.txt': text('# Site\n\n- [A](/a)\n'),
      '/robots.txt': text('User-agent: *\nDisallow: /\n'),
    })
    const crawled = await crawl()
    expect(site.requests.map(({ path }) => path)).toEqual(['/robots.txt'])
    expect(statesOf(crawled)).toEqual({ '/': 'skipped robots-disallow' })
    expect(crawled.summary.end).toBe('failed')
    expect(crawled.summary.problem).toContain('robots-disallow')
  })

  test('an unreachable robots.txt disallows everything, and the crawl reports it', async () => {
    const { site, crawl } = await createFileFixture({ '/': page('Home'), '/robots.txt': { status: 503 } })
    const crawled = await crawl()
    expect(new Set(site.requests.map(({ path }) => path))).toEqual(new Set(['/robots.txt']))
    expect(statesOf(crawled)).toEqual({ '/': 'failed robots-unreachable' })
    expect(crawled.summary).toMatchObject({ end: 'failed' })
    expect(crawled.summary.problem).toContain('503')
  })

  test('robots.txt with any 4xx status allows everything', async () => {
    for (const status of [401, 403, 404, 410]) {
      const { crawl } = await createCrawlFixture({ '/': page('Home'), '/robots.txt': { status, body: 'Disallow: /' } })
      expect(statesOf(await crawl()), String(status)).toEqual({ '/': 'indexed' })
    }
  })

  test('robots.txt that fails at first is requested again and obeyed', async () => {
    let requestCount = 0
    const { crawl } = await createFileFixture({
      '/': page('Home', ['/a', '/closed']),
      '/a': page('A'),
      '/closed': page('Closed'),
      '/robots.txt': () => (++requestCount < 2 ? { status: 503 } : text('User-agent: *\nDisallow: /closed\n')),
    })
    const crawled = await crawl()
    expect(statesOf(crawled)).toEqual({ '/': 'indexed', '/a': 'indexed', '/closed': 'skipped robots-disallow' })
    expect(requestCount).toBe(2)
  })

  test('the last copy stays in force if robots.txt cannot be read again', async () => {
    const { site, crawl, library } = await createFileFixture({
      '/': page('Home', ['/a', '/closed']),
      '/a': page('A'),
      '/closed': page('Closed'),
      '/robots.txt': { status: 503 },
    })
    const body = 'User-agent: *\nDisallow: /closed\n'
    const fetchedAt = library.clock.now() - 20 * 3_600_000
    await library.store.writeRobots({ origin: site.origin, type: 'rules', fetchedAt, body, status: 200 })
    const crawled = await crawl()
    expect(statesOf(crawled)).toEqual({ '/': 'indexed', '/a': 'indexed', '/closed': 'skipped robots-disallow' })
    expect(crawled.summary).toMatchObject({ end: 'completed', incomplete: null })
  })

  test('pages wait while robots.txt fails temporarily', async () => {
    const { site, crawl, library } = await createFileFixture({ '/': page('Home', ['/a']), '/a': page('A') })
    await crawl()
    let requestCount = 0
    site.pages.set('/robots.txt', () => (++requestCount < 2 ? { status: 503 } : text('')))
    await library.store.writeRobots({ origin: site.origin, type: 'none', fetchedAt: 0, body: '', status: 404 })
    const crawled = await crawl({ kind: 'refresh' })
    expect(statesOf(crawled)).toEqual({ '/': 'unchanged', '/a': 'unchanged' })
    expect(requestCount).toBe(2)
  })

  test('pages fail if robots.txt fails a second time', async () => {
    const { site, crawl, library } = await createFileFixture({ '/': page('Home', ['/a']), '/a': page('A') })
    await crawl()
    site.pages.set('/robots.txt', { status: 503 })
    await library.store.writeRobots({ origin: site.origin, type: 'none', fetchedAt: 0, body: '', status: 404 })
    site.clearRequests()
    const crawled = await crawl({ kind: 'refresh' })
    expect(statesOf(crawled)).toEqual({ '/': 'failed robots-unreachable', '/a': 'failed robots-unreachable' })
    expect([...crawled.rows.values()].map(({ hasPage }) => hasPage)).toEqual([true, true])
    expect(site.requests.map(({ path }) => path)).toEqual(['/robots.txt', '/robots.txt'])
  })

  test('a recrawl removes nothing if robots.txt fails', async () => {
    const { site, crawl, library } = await createFileFixture({ '/': page('Home', ['/a']), '/a': page('A') })
    await crawl()
    site.pages.set('/robots.txt', { status: 500 })
    await library.store.writeRobots({ origin: site.origin, type: 'none', fetchedAt: 0, body: '', status: 404 })
    site.clearRequests()
    const crawled = await crawl({ kind: 'recrawl' })
    expect(new Set(site.requests.map(({ path }) => path))).toEqual(new Set(['/robots.txt']))
    expect(crawled.summary.removed).toBe(0)
    expect([...crawled.rows.values()].map(({ hasPage }) => hasPage)).toEqual([true, true])
  })
})

describe('fetching one page', () => {
  const CLOSED = text('User-agent: *\nDisallow: /a\n')
  const OPEN = text('User-agent: *\nDisallow: /b\n')
  const { signal } = new AbortController()
  const storeRobotsOfThreeMinutesAgo = (library: OpenLibrary, origin: string, body: string) =>
    library.store.writeRobots({
      origin,
      type: 'rules',
      fetchedAt: library.clock.now() - 180_000,
      body,
      status: 200,
    })
  const countRobotsRequests = ({ requests }: Site) => requests.filter(({ path }) => path === '/robots.txt').length

  test('reads robots.txt again if the last copy refuses the page', async () => {
    const site = await openTestSite({ '/a': page('A'), '/robots.txt': OPEN })
    const library = await openTestLibrary()
    await storeRobotsOfThreeMinutesAgo(library, site.origin, String(CLOSED.body))
    expect((await fetchUrl(library, `${site.origin}/a`, { signal })).title).toBe('A')
    expect(countRobotsRequests(site)).toBe(1)
  })

  test('uses the last copy if it allows the page', async () => {
    const site = await openTestSite({ '/a': page('A'), '/robots.txt': CLOSED })
    const library = await openTestLibrary()
    await storeRobotsOfThreeMinutesAgo(library, site.origin, String(OPEN.body))
    expect((await fetchUrl(library, `${site.origin}/a`, { signal })).title).toBe('A')
    expect(countRobotsRequests(site)).toBe(0)
  })

  test('reads robots.txt once for several refused pages, and each refusal names the age of the copy', async () => {
    const site = await openTestSite({ '/a': page('A'), '/robots.txt': CLOSED })
    const fetchOne = createUrlFetcher(await openTestLibrary())
    for (const path of ['/a', '/a/b', '/a/c'])
      await expect(fetchOne(`${site.origin}${path}`, { signal })).rejects.toMatchObject({
        code: 'FETCH_FAILED',
        message: expect.stringMatching(/robots\.txt \(read (?:just now|.* ago)\) disallows it: Disallow: \/a$/),
      })
    expect(countRobotsRequests(site)).toBe(1)
  })

  test('names the age of the last copy if robots.txt cannot be read again', async () => {
    const site = await openTestSite({ '/a': page('A'), '/robots.txt': { status: 503 } })
    const library = await openTestLibrary()
    await storeRobotsOfThreeMinutesAgo(library, site.origin, String(CLOSED.body))
    await expect(fetchUrl(library, `${site.origin}/a`, { signal })).rejects.toThrow(
      'robots.txt (read 3m ago) disallows it: Disallow: /a',
    )
  })
})

test('explain names the time at which a refusing robots.txt was read', async () => {
  const { crawl, library, source, site } = await createCrawlFixture({
    '/': page('Home', ['/a']),
    '/robots.txt': text('User-agent: *\nDisallow: /a\n'),
  })
  await crawl()
  const explanation = await explainUrl(library, source, `${site.origin}/a`)
  const readAt = (await library.store.readRobots(site.origin))?.fetchedAt ?? 0
  const words = writeExplanation(explanation, source, (...parts) => parts.join(' '), readAt + 180_000)
  expect(words).toContain('Rule: Disallow: /a')
  expect(words).toMatch(/\nrobots\.txt: last read .* \(3m ago\)$/m)
})

describe('a crawl delay', () => {
  test('is limited to a minute, and a longer one is reported', async () => {
    const { crawl, library, site } = await createFileFixture(
      { '/': page('Home'), '/robots.txt': text('User-agent: *\nCrawl-delay: 1000000000\n') },
      { settings: { crawlType: 'basic' } },
    )
    const { host } = new URL(site.origin)
    const crawled = await crawl()
    expect(crawled.events.filter(({ type }) => type === 'paced')).toEqual([
      { type: 'paced', host, intervalMs: 60_000, askedMs: 1_000_000_000_000 },
    ])
    const now = library.clock.now()
    expect((await reserveSlot(library.store, host, now)) - now).toBeLessThanOrEqual(60_000)
    site.pages.delete('/robots.txt')
    await library.store.writeRobots({
      origin: site.origin,
      type: 'none',
      fetchedAt: library.clock.now(),
      body: '',
      status: 404,
    })
    const again = await crawl({ kind: 'recrawl' })
    expect(again.summary).toMatchObject({ end: 'completed', unchanged: 1 })
    expect(await reserveSlot(library.store, host, now + 1e6)).toBe(now + 1e6)
  })

  test('spaces the requests for pages', async () => {
    const { site, crawl } = await createCrawlFixture(
      {
        '/': page('Home', ['/a', '/b', '/c']),
        '/a': page('A'),
        '/b': page('B'),
        '/c': page('C'),
        '/robots.txt': text('User-agent: *\nCrawl-delay: 0.2\n'),
      },
      { settings: { crawlType: 'basic' } },
    )
    const crawled = await crawl()
    expect(statesOf(crawled)).toEqual({ '/': 'indexed', '/a': 'indexed', '/b': 'indexed', '/c': 'indexed' })
    expectSpaced(site.requests, 200)
  })

  test('spaces requests for Markdown and for spellings of one address too', async () => {
    const { site, crawl } = await createCrawlFixture({
      '/': page('Home', ['/docs']),
      '/docs': { status: 301, headers: { location: '/docs/' } },
      '/docs/': page('Docs'),
      '/a': page('A'),
      '/llms.txt': text('# Site\n\n- [A](/a)\n'),
      '/robots.txt': text('User-agent: *\nCrawl-delay: 0.1\n'),
    })
    await crawl()
    expect(site.requestedPaths()).toEqual([
      '/',
      '/a',
      '/a.md',
      '/a/index.html.md',
      '/docs',
      '/docs/',
      '/llms.txt',
      '/robots.txt',
    ])
    expectSpaced(site.requests, 100)
  })

  test('applies also to addresses that were known before robots.txt was read', async () => {
    const { site, crawl } = await createCrawlFixture(
      {
        '/': page('Home'),
        '/a': page('A'),
        '/b': page('B'),
        '/robots.txt': text('User-agent: *\nCrawl-delay: 0.2\n'),
      },
      { settings: (origin) => ({ crawlType: 'basic', seeds: [`${origin}/a`, `${origin}/b`] }) },
    )
    const crawled = await crawl()
    expect(statesOf(crawled)).toEqual({ '/': 'indexed', '/a': 'indexed', '/b': 'indexed' })
    expectSpaced(site.requests, 200)
  })

  /** Compares every pair of requests, not only neighbors, because a request that arrives late makes the next one look early. */
  function expectSpaced(requests: readonly { path: string; at: number }[], ms: number): void {
    const pages = requests.filter(({ path }) => path !== '/robots.txt')
    for (const [i, first] of pages.entries()) {
      for (const [steps, { at, path }] of pages.slice(i).entries()) {
        expect(at - first.at, `${first.path} to ${path}`).toBeGreaterThanOrEqual(steps * ms - LATE_MS)
      }
    }
  }
})

/** How late a request may arrive on a busy machine. */
const LATE_MS = 50

describe('a page', () => {
  const noindex = '<meta name="robots" content="noindex">'

  test('is not stored if it says noindex, but its links are followed', async () => {
    const { site, crawl } = await createCrawlFixture({
      '/': page('Home', ['/hidden', '/by-header']),
      '/hidden': page('Hidden', ['/behind'], noindex),
      '/by-header': { headers: { 'x-robots-tag': 'noindex' }, body: page('By header', ['/behind-header']) },
      '/behind': page('Behind'),
      '/behind-header': page('Behind the other'),
    })
    const crawled = await crawl()
    expect(site.requestedPaths()).toEqual(['/', '/behind', '/behind-header', '/by-header', '/hidden'])
    expect(statesOf(crawled)).toEqual({
      '/': 'indexed',
      '/hidden': 'skipped noindex',
      '/by-header': 'skipped noindex',
      '/behind': 'indexed',
      '/behind-header': 'indexed',
    })
  })

  test('is stored if it says nofollow, and its links are recorded but not followed', async () => {
    const { site, crawl } = await createCrawlFixture({
      '/': page('Home', ['/quiet', '/by-header']),
      '/quiet': page('Quiet', ['/a'], '<meta name="robots" content="nofollow">'),
      '/by-header': { headers: { 'x-robots-tag': 'nofollow' }, body: page('By header', ['/b']) },
      '/a': page('A'),
      '/b': page('B'),
    })
    const crawled = await crawl()
    expect(site.requestedPaths()).toEqual(['/', '/by-header', '/quiet'])
    expect(statesOf(crawled)).toEqual({
      '/': 'indexed',
      '/quiet': 'indexed',
      '/by-header': 'indexed',
      '/a': 'skipped nofollow',
      '/b': 'skipped nofollow',
    })
  })

  test('is read if one page links to it with nofollow and another without', async () => {
    const { site, crawl } = await createCrawlFixture({
      '/': page('Home', ['/other']).replace(
        '<ul>',
        '<ul><li><a rel="nofollow ugc" href="/a">a</a> <a rel="nofollow" href="/b">b</a>',
      ),
      '/other': page('Other', ['/a']),
      '/a': page('A'),
      '/b': page('B'),
    })
    const crawled = await crawl()
    expect(site.requestedPaths()).toEqual(['/', '/a', '/other'])
    expect(statesOf(crawled)).toMatchObject({ '/a': 'indexed', '/b': 'skipped nofollow' })
  })

  test('is not removed while the noindex page that links to it fails', async () => {
    const { site, crawl } = await createCrawlFixture(
      { '/': page('Home', ['/hub']), '/hub': page('Hub', ['/a'], noindex), '/a': page('A') },
      { limits: { attempts: 1 } },
    )
    await crawl()
    site.pages.set('/hub', { status: 500 })
    const broken = await crawl({ kind: 'recrawl' })
    expect(statesOf(broken)).toEqual({ '/': 'unchanged', '/hub': 'failed http-server-error', '/a': 'unchanged' })
    expect(broken.summary).toMatchObject({ removed: 0, end: 'completed', incomplete: null })
    site.pages.delete('/hub')
    site.pages.delete('/a')
    const gone = await crawl({ kind: 'recrawl' })
    expect(statesOf(gone)).toEqual({ '/': 'unchanged', '/hub': 'failed not-found', '/a': 'gone not-found' })
  })

  test('is read if one of two links on the same page says nofollow and the other does not', async () => {
    const { site, crawl } = await createCrawlFixture({
      '/': page('Home', ['/a']).replace('<main>', '<nav><a rel="nofollow" href="/a">a</a></nav><main>'),
      '/a': page('A'),
    })
    await crawl()
    expect(site.requestedPaths()).toEqual(['/', '/a'])
  })

  test('is removed if it says noindex at a recrawl, and the pages it links to stay', async () => {
    const { site, crawl } = await createCrawlFixture({
      '/': page('Home', ['/a']),
      '/a': page('A', ['/b']),
      '/b': page('B'),
    })
    await crawl()
    site.pages.set('/a', page('A', ['/b'], noindex))
    const crawled = await crawl({ kind: 'recrawl' })
    expect(statesOf(crawled)).toEqual({ '/': 'unchanged', '/a': 'skipped noindex', '/b': 'unchanged' })
    expect(crawled.rows.get('/a')?.hasPage).toBe(false)
    expect(crawled.summary.removed).toBe(1)
  })
})

test('the next run applies rules that were added to robots.txt, and no longer those that were removed', async () => {
  const { site, crawl } = await createCrawlFixture({
    '/robots.txt': text('User-agent: *\nDisallow: /b'),
    '/': page('Home', ['/a', '/b']),
    '/a': page('A'),
    '/b': page('B'),
  })
  expect(statesOf(await crawl())).toMatchObject({ '/a': 'indexed', '/b': 'skipped robots-disallow' })
  site.pages.set('/robots.txt', text('User-agent: *\nDisallow: /a'))
  site.clearRequests()
  const next = await crawl({ kind: 'recrawl' })
  expect(next.rows.get('/b')).toMatchObject({ state: 'indexed' })
  expect(site.requestedPaths()).not.toContain('/a')
})
