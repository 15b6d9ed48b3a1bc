import { describe, expect, test } from 'vitest'
import type { CrawlKind } from '../../src/crawl/events.ts'
import { describeSource } from '../../src/library/sources/describe-source.ts'
import { type Crawled, type CrawlFixture, createCrawlFixture, openTestSite, statesOf } from './crawl.ts'
import { createFileFixture } from './file-fixture.ts'
import { type Answer, markdown, page, redirect, text } from './site.ts'

/** Runs a crawl that is stopped as soon as the address at `path` is settled. */
async function stopAfter({ crawl, library }: CrawlFixture, kind: CrawlKind, path: string): Promise<Crawled> {
  const stop = new AbortController()
  const settle = library.store.settle
  library.store.settle = async (settlement) => {
    const settled = await settle(settlement)
    if (new URL(settlement.visit.url).pathname === path && settled.state !== 'pending') stop.abort()
    return settled
  }
  try {
    return await crawl({ kind }, stop.signal)
  } finally {
    library.store.settle = settle
  }
}

const LIMITS = { limits: { attempts: 1, concurrency: 1 } }

/** Responses to the request for a page that prove nothing about the pages that it links to. */
const INCONCLUSIVE: Readonly<Record<string, Answer>> = {
  'a server error': { status: 500, body: 'broken' },
  'status 401': { status: 401, body: 'who are you?' },
  'status 403': { status: 403, body: 'no' },
  'status 451': { status: 451, body: 'no' },
  'a login form': `<!doctype html><title>Sign in</title><form><input type="text" name="user"><input type="password"></form>`,
  'a redirect to itself': redirect('/hub'),
}

describe('pages that a crawl did not find', () => {
  test.each(Object.entries(INCONCLUSIVE))('stay while an unread page answers with %s', async (_name, answer) => {
    const { site, crawl } = await createCrawlFixture(
      { '/': page('Home', ['/a', '/b']), '/a': page('A'), '/b': page('B') },
      LIMITS,
    )
    await crawl()
    site.pages.set('/', page('Home', ['/hub']))
    site.pages.set('/hub', answer)
    const crawled = await crawl({ kind: 'recrawl' })
    expect(crawled.summary).toMatchObject({ end: 'completed', removed: 0 })
    expect(crawled.summary.incomplete).toContain('/hub')
    expect(crawled.rows.get('/a')).toMatchObject({ hasPage: true })
  })

  test.each([404, 410])(
    'are removed if the unread page answers with %i, which proves that nothing is behind it',
    async (status) => {
      const { site, crawl } = await createCrawlFixture(
        { '/': page('Home', ['/a', '/b']), '/a': page('A'), '/b': page('B') },
        LIMITS,
      )
      await crawl()
      site.pages.set('/', page('Home', ['/hub']))
      site.pages.set('/hub', { status, body: 'none' })
      site.pages.delete('/a')
      site.pages.delete('/b')
      const { summary } = await crawl({ kind: 'recrawl' })
      expect(summary).toMatchObject({ end: 'completed', removed: 2, incomplete: null })
    },
  )

  test('stay if an unread page failed before the crawl was interrupted and resumed', async () => {
    const staged = await createCrawlFixture(
      { '/': page('Home', ['/a', '/b']), '/a': page('A'), '/b': page('B') },
      LIMITS,
    )
    const { site, crawl } = staged
    await crawl()
    site.pages.set('/', page('Home', ['/hub', '/z']))
    site.pages.set('/hub', { status: 500, body: 'broken' })
    site.pages.set('/z', page('Z'))
    const stopped = await stopAfter(staged, 'recrawl', '/hub')
    expect(stopped.summary.end).toBe('cancelled')
    const crawled = await crawl({ kind: 'recrawl' })
    expect(crawled.events[0]).toMatchObject({ isResumed: true })
    expect(crawled.summary).toMatchObject({ end: 'completed', removed: 0 })
    expect(crawled.summary.incomplete).toContain('/hub')
  })
})

describe('a noindex page', () => {
  const PAGES = {
    '/': page('Home', ['/hub']),
    '/hub': page('Hub', ['/a', '/b'], '<meta name="robots" content="noindex">'),
    '/a': page('A'),
    '/b': page('B'),
  }

  test.each(Object.entries(INCONCLUSIVE))(
    'keeps the pages behind it when it answers with %s at a recrawl',
    async (_name, answer) => {
      const { site, crawl } = await createCrawlFixture(PAGES, LIMITS)
      await crawl()
      site.pages.set('/hub', answer)
      const crawled = await crawl({ kind: 'recrawl' })
      // The links of the page are still known, so the crawl is not incomplete.
      expect(crawled.summary).toMatchObject({ end: 'completed', removed: 0, incomplete: null })
      expect(crawled.rows.get('/a')).toMatchObject({ state: 'unchanged' })
      site.pages.set('/hub', PAGES['/hub'])
      await expect(crawl({ kind: 'recrawl' })).resolves.toMatchObject({ summary: { removed: 0 } })
    },
  )

  test('loses the pages behind it if it is still missing on the second request', async () => {
    const { site, crawl } = await createCrawlFixture(PAGES, LIMITS)
    await crawl()
    let requestCount = 0
    site.pages.set('/hub', () => {
      requestCount++
      return { status: 404, body: 'none' }
    })
    site.pages.delete('/a')
    site.pages.delete('/b')
    const { summary } = await crawl({ kind: 'recrawl' })
    expect(requestCount).toBe(2)
    expect(summary).toMatchObject({ end: 'completed', removed: 2 })
  })
})

describe('a site that moves', () => {
  const PAGES = { '/': page('Home', ['/a', '/b']), '/a': page('A'), '/b': page('B') }

  async function siteUrlOf({ library }: CrawlFixture): Promise<string | undefined> {
    return (await library.store.listSources())[0]?.siteUrl
  }

  test('a temporary redirect of the start applies to that crawl only, and no page is removed because of it', async () => {
    const other = await openTestSite({ '/': page('Maintenance') }, { address: '127.0.0.2' })
    const staged = await createCrawlFixture(PAGES)
    const { site, crawl } = staged
    await crawl()
    site.pages.set('/', redirect(`${other.origin}/`, 302))
    const away = await crawl({ kind: 'recrawl' })
    expect(away.rows.get('/a')).toMatchObject({ hasPage: true })
    expect(away.rows.get('/b')).toMatchObject({ hasPage: true })
    expect(away.summary.incomplete).toContain(other.origin)
    await expect(siteUrlOf(staged)).resolves.toBe(`${site.origin}/`)
    site.pages.set('/', PAGES['/'])
    other.clearRequests()
    const back = await crawl({ kind: 'recrawl' })
    expect(other.requests).toEqual([])
    // The content stayed the whole time, because a temporary redirect proves nothing.
    expect(back.rows.get('/')).toMatchObject({ state: 'unchanged', hasPage: true })
  })

  test('a permanent redirect of the start is stored until the start answers by itself again', async () => {
    const other = await openTestSite(PAGES, { address: '127.0.0.2' })
    const staged = await createCrawlFixture(PAGES)
    const { site, crawl } = staged
    site.pages.set('/', redirect(`${other.origin}/`))
    await crawl()
    await expect(siteUrlOf(staged)).resolves.toBe(`${other.origin}/`)
    const same = await crawl({ kind: 'recrawl' })
    expect(same.summary).toMatchObject({ end: 'completed', removed: 0, incomplete: null })
    site.pages.set('/', PAGES['/'])
    const back = await crawl({ kind: 'recrawl' })
    expect(back.summary.incomplete).toContain(site.origin)
    expect(back.summary).toMatchObject({ end: 'completed' })
    expect(back.rows.get('/a')).toMatchObject({ state: 'indexed' })
    await expect(siteUrlOf(staged)).resolves.toBe(`${site.origin}/`)
  })

  test('a redirect of the start is followed again when an interrupted crawl resumes, and no page is removed because of it', async () => {
    const other = await openTestSite({ '/': page('Elsewhere', ['/x']), '/x': page('X') }, { address: '127.0.0.2' })
    const staged = await createCrawlFixture(PAGES, LIMITS)
    const { site, crawl } = staged
    await crawl()
    site.pages.set('/', redirect(`${other.origin}/`, 302))
    await stopAfter(staged, 'recrawl', '/')
    const crawled = await crawl({ kind: 'recrawl' })
    expect(crawled.events[0]).toMatchObject({ isResumed: true })
    expect(crawled.rows.get(`${other.origin}/x`)).toMatchObject({ state: 'indexed' })
    expect(crawled.rows.get('/a')).toMatchObject({ hasPage: true })
    expect(crawled.summary.incomplete).toContain(other.origin)
  })
})

describe.each(['refresh', 'retry'] as const)('a %s', (kind) => {
  test.each(['add', 'recrawl'] as const)('is refused while a crawl of kind %s is unfinished', async (first) => {
    const staged = await createCrawlFixture(
      { '/': page('Home', ['/a', '/b']), '/a': page('A', ['/c']), '/b': page('B'), '/c': page('C') },
      LIMITS,
    )
    const { crawl, site } = staged
    if (first === 'recrawl') await crawl()
    await stopAfter(staged, first, '/')
    site.clearRequests()
    await expect(crawl({ kind })).rejects.toMatchObject({ code: 'CRAWL_UNFINISHED', details: { kind: first } })
    expect(site.requests).toEqual([])
    const crawled = await crawl({ kind: 'recrawl' })
    expect(crawled.events[0]).toMatchObject({ isResumed: true })
    expect(crawled.summary).toMatchObject({ end: 'completed', ledger: { total: 4 } })
    await expect(crawl({ kind })).resolves.toMatchObject({ summary: { end: 'completed' } })
  })
})

test('links beyond the limit are reported, and then no page is removed', async () => {
  const many = Array.from({ length: 20_010 }, (_, i) => `/p${i}`)
  const links = (paths: readonly string[]) => paths.map((path) => `<a href="${path}">x</a>`).join(' ')
  const home = (paths: readonly string[]) =>
    page('Home').replace('</main>', `${links(paths)}<a rel="nofollow" href="/shy">shy</a></main>`)
  const { site, crawl, library, source } = await createCrawlFixture(
    { '/': home(['/a']), '/a': page('A') },
    { scope: { allow: ['/', '/a', '/p2000*', '/shy'] }, limits: { attempts: 1, concurrency: 32 } },
  )
  const before = await crawl()
  expect(before.rows.get('/shy')).toMatchObject({ state: 'skipped', reason: 'nofollow' })
  site.pages.set('/', home([...many, '/a']))
  for (const isAgain of [false, true]) {
    const { summary, rows } = await crawl({ kind: 'recrawl' })
    expect(rows.get('/p20009'), `${isAgain}`).toMatchObject({ state: 'skipped', reason: 'too-many-links' })
    expect(rows.get('/shy')).toMatchObject({ state: 'skipped', reason: 'nofollow' })
    expect(rows.get('/a')).toMatchObject({ hasPage: true })
    expect(summary).toMatchObject({ end: 'completed', removed: 0 })
    expect(summary.incomplete).toContain('links')
  }
  const { leftOut } = await describeSource(library, source, 100)
  const paths = leftOut.map(({ url }) => new URL(url).pathname)
  expect(paths).toContain('/p20009')
  expect(paths).toEqual([...new Set(paths)])
})

test('a redirect that adds a slash does not bypass robots.txt', async () => {
  const { site, crawl } = await createCrawlFixture({
    '/': page('Home', ['/private', '/open']),
    '/private': redirect('/private/'),
    '/private/': page('Secret'),
    '/open': redirect('/open/'),
    '/open/': page('Open'),
    '/robots.txt': text('User-agent: *\nDisallow: /private/\n'),
  })
  const crawled = await crawl()
  expect(statesOf(crawled)).toEqual({
    '/': 'indexed',
    '/open': 'skipped redirect',
    '/open/': 'indexed',
    '/private': 'skipped redirect',
    '/private/': 'skipped robots-disallow',
  })
  expect(crawled.rows.get('/private/')).toMatchObject({ pattern: expect.stringContaining('/private/') })
  expect(site.requestedPaths()).not.toContain('/private/')
})

describe('validators', () => {
  const OLD = 'Mon, 01 Jan 2024 00:00:00 GMT'
  const dated = (body: string, type: string): Answer => {
    return ({ headers }) =>
      headers['if-modified-since'] === undefined
        ? { body, headers: { 'content-type': type, 'last-modified': OLD } }
        : { status: 304, headers: {} }
  }
  const list = text('# X\n\n- [Guide](/guide)\n')

  test('validators of a page are not sent for its Markdown variant, nor the other way round', async () => {
    const { site, crawl, library, source } = await createCrawlFixture(
      { '/': page('Home'), '/llms.txt': list, '/guide': dated(page('Guide in HTML'), 'text/html') },
      { siteOptions: { hasEtags: false } },
    )
    const readMarkdown = async () => (await library.store.readPage(source.id, `${site.origin}/guide`))?.page.markdown
    const requested = () =>
      site.requests
        .filter(({ path }) => path.startsWith('/guide'))
        .map(
          ({ path, status, headers }) => `${path} ${status} ${headers['if-modified-since'] === undefined ? '' : '?'}`,
        )
    await crawl()
    site.clearRequests()
    await crawl({ kind: 'recrawl' })
    expect(requested().at(-1)).toBe('/guide 304 ?')
    // The site now has a Markdown variant with the same date as the page.
    site.pages.set('/guide.md', dated(markdown('Guide in Markdown'), 'text/markdown'))
    site.clearRequests()
    await crawl({ kind: 'recrawl' })
    // The page itself is read for links that its Markdown may lack.
    expect(requested()).toEqual(['/guide.md 200 ', '/guide 200 '])
    await expect(readMarkdown()).resolves.toContain('Guide in Markdown')
    site.clearRequests()
    await crawl({ kind: 'recrawl' })
    // The validator of the Markdown is not stored: with a 304, new links of the page would be missed.
    expect(requested()).toEqual(['/guide.md 200 ', '/guide 200 '])
    // The Markdown variant disappears.
    site.pages.delete('/guide.md')
    site.clearRequests()
    await crawl({ kind: 'recrawl' })
    expect(requested().at(-1)).toBe('/guide 200 ')
    await expect(readMarkdown()).resolves.toContain('Guide in HTML')
  })

  test('validators received from another spelling of an address are sent only to that spelling', async () => {
    const { site, crawl } = await createCrawlFixture({
      '/': page('Home', ['/docs']),
      '/docs': redirect('/docs/'),
      '/docs/': page('D'),
    })
    await crawl()
    site.clearRequests()
    await crawl({ kind: 'recrawl' })
    const requested = site.requests.filter(({ path }) => path.startsWith('/docs'))
    const found = requested.map(({ path, status, headers }) => [path, status, headers['if-none-match'] !== undefined])
    expect(found).toEqual([
      ['/docs', 301, false],
      ['/docs/', 304, true],
    ])
  })
})

test('a page with unchanged content gets its new description', async () => {
  const { site, crawl, library, source } = await createCrawlFixture({ '/': page('Home') })
  await crawl()
  site.pages.set('/', page('Home', [], '<meta name="description" content="All about it">'))
  const crawled = await crawl({ kind: 'recrawl' })
  expect(crawled.rows.get('/')).toMatchObject({ state: 'unchanged', detail: 'same content' })
  const stored = await library.store.readPage(source.id, `${site.origin}/`)
  expect(stored?.page.description).toBe('All about it')
})

test('aliases from lists and links are kept even if the first settlement of a crawl is lost', async () => {
  const { site, crawl, library, source } = await createCrawlFixture({
    '/': page('Home', ['/b?utm_source=page']),
    '/llms.txt': text('# X\n\n- [A](/a?utm_source=list)\n'),
    '/a': page('A'),
    '/b': page('B'),
  })
  // The first settlement of the start is lost, as if another worker had taken its row.
  let isLost = false
  const settle = library.store.settle
  library.store.settle = async (settlement) => {
    if (isLost) return settle(settlement)
    isLost = true
    await library.store.release([settlement.visit])
    return settle(settlement)
  }
  await crawl()
  for (const path of ['/a', '/b']) {
    const aliases = await library.store.listAliases(source.id, `${site.origin}${path}`)
    expect(aliases, path).toContainEqual(expect.objectContaining({ classification: 'superfluous-query' }))
  }
})

test('a crawl survives a store that fails to write a heartbeat', async () => {
  const paths = Array.from({ length: 16 }, (_, i) => `/p${i}`)
  const slow = Object.fromEntries(paths.map((path) => [path, { body: page(path), delayMs: 300 }]))
  const { crawl, library } = await createFileFixture({ '/': page('Home', paths), ...slow })
  const unhandled: unknown[] = []
  const recordError = (error: unknown) => unhandled.push(error)
  process.on('unhandledRejection', recordError)
  let heartbeatCount = 0
  library.store.touchCrawl = async () => {
    heartbeatCount++
    throw new Error('database is locked')
  }
  try {
    const { summary } = await crawl()
    expect(summary).toMatchObject({ end: 'completed', indexed: 17 })
    expect(heartbeatCount).toBeGreaterThan(0)
    expect(unhandled).toEqual([])
  } finally {
    process.off('unhandledRejection', recordError)
  }
})

test('a crawl that another process took over ends as cancelled', async () => {
  const { crawl, library, source } = await createFileFixture({ '/': page('Home', ['/a']), '/a': page('A') })
  library.store.touchCrawl = async () => (await library.store.countLedger(source.id)).states.indexed < 2
  const { summary } = await crawl()
  expect(summary).toMatchObject({ end: 'cancelled', problem: 'another process has taken the crawl over', indexed: 2 })
  expect(await library.store.countLedger(source.id)).toMatchObject({ states: { indexed: 2 } })
})
