import { describe, expect, test } from 'vitest'
import { compareUtf8 } from '../../src/core/text/order.ts'
import { addSource } from '../../src/library/crawl/add-source.ts'
import { createCrawlFixture, openTestLibrary, openTestSite, runCrawl, statesOf } from './crawl.ts'
import { page, redirect, sitemap, text } from './site.ts'

describe('redirects', () => {
  test.each([301, 302, 303, 307, 308])(
    'a redirect with status %i leads to its target, which is indexed once',
    async (status) => {
      const { site, crawl, library, source } = await createCrawlFixture({
        '/': page('Home', ['/old', '/new', '/older']),
        '/old': redirect('/new', status),
        '/older': redirect('new#part', status),
        '/new': page('New'),
      })
      const crawled = await crawl()
      expect(site.requestedPaths()).toEqual(['/', '/new', '/old', '/older'])
      expect(statesOf(crawled)).toEqual({
        '/': 'indexed',
        '/new': 'indexed',
        '/old': 'skipped redirect',
        '/older': 'skipped redirect',
      })
      expect(crawled.rows.get('/old')).toMatchObject({ target: `${site.origin}/new`, status })
      expect(await library.store.listAliases(source.id, `${site.origin}/old`)).toMatchObject([
        {
          url: `${site.origin}/old`,
          aliasUrl: `${site.origin}/new`,
          classification: 'redirect',
          reason: String(status),
          exists: true,
          metadata: { state: 'indexed', reason: null, status: 200 },
        },
      ])
    },
  )

  test('a redirect finds a page that nothing links to, at the same depth', async () => {
    const { crawl } = await createCrawlFixture(
      {
        '/': page('Home', ['/old']),
        '/old': redirect('/new'),
        '/new': page('New'),
      },
      { scope: { maxDepth: 1 } },
    )
    const crawled = await crawl()
    expect(crawled.rows.get('/new')).toMatchObject({ state: 'indexed', depth: 1, discovery: 'redirect' })
  })

  test('a redirect that only adds a slash leads to one page, and links are resolved against its target', async () => {
    const { site, crawl } = await createCrawlFixture({
      '/': page('Home', ['/docs', '/docs/']),
      '/docs': redirect('/docs/'),
      '/docs/': page('Docs', ['a']),
      '/docs/a': page('A'),
    })
    const crawled = await crawl()
    expect(site.requestedPaths()).toEqual(['/', '/docs', '/docs/', '/docs/a'])
    expect(statesOf(crawled)).toEqual({
      '/': 'indexed',
      '/docs': 'skipped redirect',
      '/docs/': 'indexed',
      '/docs/a': 'indexed',
    })
  })

  test('a redirect off the site is not followed', async () => {
    const other = await openTestSite({ '/x': page('X') }, { address: '127.0.0.2' })
    const { crawl } = await createCrawlFixture({ '/': page('Home', ['/away']), '/away': redirect(`${other.origin}/x`) })
    expect(statesOf(await crawl())).toEqual({
      '/': 'indexed',
      '/away': 'skipped redirect',
      [`${other.origin}/x`]: 'skipped off-site',
    })
    expect(other.requests).toEqual([])
  })

  test('a redirect to an address that the address filter refuses is not followed', async () => {
    const { site, crawl } = await createCrawlFixture(
      {
        '/docs/': page('Docs', ['/docs/a', '/docs/b', '/docs/c']),
        '/docs/a': redirect('/blog/'),
        '/docs/b': redirect('/docs/old/'),
        '/docs/c': redirect('/llms.txt'),
      },
      { start: '/docs/', scope: { block: ['/docs/old'] } },
    )
    expect(statesOf(await crawl())).toMatchObject({
      '/docs/a': 'skipped redirect',
      '/blog': 'skipped out-of-scope',
      '/docs/old': 'skipped blocked',
      '/llms.txt': 'skipped excluded',
    })
    expect(site.requestedPaths()).toEqual(['/docs/', '/docs/a', '/docs/b', '/docs/c'])
  })

  test('a redirect to an address with a tracking parameter leads to the address without it', async () => {
    const { site, crawl } = await createCrawlFixture({
      '/': page('Home', ['/old']),
      '/old': redirect('/new?utm_source=redirect'),
      '/new': page('New'),
    })
    expect(statesOf(await crawl())).toEqual({ '/': 'indexed', '/old': 'skipped redirect', '/new': 'indexed' })
    expect(site.requestedPaths()).toEqual(['/', '/new', '/old'])
  })

  test('a redirect to a missing page leaves the target as failed', async () => {
    const { crawl } = await createCrawlFixture({ '/': page('Home', ['/old']), '/old': redirect('/new') })
    expect(statesOf(await crawl())).toEqual({
      '/': 'indexed',
      '/old': 'skipped redirect',
      '/new': 'failed not-found',
    })
  })

  test('a redirect without a usable target fails, and one to a non-web address is recorded as such', async () => {
    const { crawl } = await createCrawlFixture({
      '/': page('Home', ['/nowhere', '/mail', '/bad']),
      '/nowhere': { status: 302 },
      '/bad': redirect('http://[bad'),
      '/mail': redirect('mailto:a@b.example'),
    })
    expect(statesOf(await crawl())).toEqual({
      '/': 'indexed',
      '/nowhere': 'failed bad-answer',
      '/bad': 'failed bad-answer',
      '/mail': 'skipped redirect',
      'mailto:a@b.example': 'skipped scheme',
    })
  })
})

describe('a chain of redirects', () => {
  test('is followed step by step, each address once', async () => {
    const { site, crawl } = await createCrawlFixture({
      '/': page('Home', ['/1']),
      '/1': redirect('/2'),
      '/2': redirect('/3', 302),
      '/3': redirect('/end', 308),
      '/end': page('End'),
    })
    expect(statesOf(await crawl())).toEqual({
      '/': 'indexed',
      '/1': 'skipped redirect',
      '/2': 'skipped redirect',
      '/3': 'skipped redirect',
      '/end': 'indexed',
    })
    expect(site.requestedPaths()).toEqual(['/', '/1', '/2', '/3', '/end'])
  })

  test('fails if it is too long', async () => {
    const { site, crawl } = await createCrawlFixture((origin) => ({
      '/': page('Home', ['/r/0']),
      ...Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`/r/${i}`, redirect(`${origin}/r/${i + 1}`)])),
      '/r/20': page('End'),
    }))
    const crawled = await crawl()
    expect(site.requestedPaths()).toHaveLength(12)
    expect(crawled.rows.get('/r/9')).toMatchObject({ state: 'skipped', reason: 'redirect' })
    expect(crawled.rows.get('/r/10')).toMatchObject({ state: 'failed', reason: 'redirect-loop', pattern: '10' })
    expect(crawled.rows.has('/r/11')).toBe(false)
  })

  test.each([
    ['itself', { '/a': redirect('/a') }],
    ['itself with an encoded letter and back', { '/a': redirect('/%61'), '/%61': redirect('/a') }],
    [
      'itself in another spelling without end',
      { '/a': redirect('/a?utm_source=1'), '/a?utm_source=1': redirect('/a') },
    ],
  ])('is a loop if it leads to %s', async (_, pages) => {
    const { site, crawl } = await createCrawlFixture({ '/': page('Home', ['/a']), ...pages })
    expect(statesOf(await crawl())).toEqual({ '/': 'indexed', '/a': 'failed redirect-loop' })
    expect(site.requests.length).toBeLessThan(12)
  })

  test.each([
    ['one after the other', ['/a'], { concurrency: 1 }],
    ['side by side', ['/a', '/b'], {}],
    ['side by side, one slower', ['/a', '/b'], { slow: 40 }],
  ])(
    'is a loop if two addresses lead to each other, %s',
    async (_, links, { slow = 0, ...limits }: { slow?: number; concurrency?: number }) => {
      const { site, crawl } = await createCrawlFixture(
        {
          '/': page('Home', links),
          '/a': redirect('/b'),
          '/b': () => ({ ...redirect('/a'), delayMs: slow }),
        },
        { limits },
      )
      const states = statesOf(await crawl())
      expect(new Set([states['/a'], states['/b']])).toEqual(new Set(['failed redirect-loop', 'skipped redirect']))
      expect(site.requestedPaths()).toEqual(['/', '/a', '/b'])
    },
  )
})

describe('a page with a meta refresh', () => {
  test('counts as a redirect', async () => {
    const stub = '<!doctype html><title>Moved</title><meta http-equiv="refresh" content="0; url=new"><p>Moved.</p>'
    const { site, crawl } = await createCrawlFixture({ '/': page('Home', ['/old']), '/old': stub, '/new': page('New') })
    const crawled = await crawl()
    expect(statesOf(crawled)).toEqual({ '/': 'indexed', '/old': 'skipped redirect', '/new': 'indexed' })
    expect(crawled.rows.get('/old')?.target).toBe(`${site.origin}/new`)
    expect(site.requestedPaths()).toEqual(['/', '/new', '/old'])
  })

  test('leads to its target if it is the start', async () => {
    const stub = '<!doctype html><title>x</title><meta http-equiv="refresh" content="0; url=en/latest/"><p>Moved.</p>'
    const { crawl } = await createCrawlFixture({
      '/': stub,
      '/en/latest/': page('Home', ['a']),
      '/en/latest/a': page('A'),
    })
    expect(statesOf(await crawl())).toEqual({
      '/': 'skipped redirect',
      '/en/latest': 'indexed',
      '/en/latest/a': 'indexed',
    })
  })
})

describe('a start that redirects', () => {
  test('a redirect of the start to another host moves the site there, lists included', async () => {
    const newSite = await openTestSite(
      {
        '/docs/': page('Docs', ['a', '/blog']),
        '/docs/a': page('A', ['b']),
        '/docs/b': page('B'),
        '/docs/listed': page('Listed'),
        '/llms.txt': text('# Site\n\n- [Listed](/docs/listed)\n'),
      },
      { address: '127.0.0.2' },
    )
    const oldSite = await openTestSite({ '/docs/': redirect(`${newSite.origin}/docs/`), '/docs/old': page('Old') })
    newSite.pages.set('/docs/b', page('B', [`${oldSite.origin}/docs/old`]))
    const library = await openTestLibrary()
    const source = await addSource(library, { url: `${oldSite.origin}/docs/` })
    const crawled = await runCrawl(library, source, { kind: 'add' }, newSite.origin)
    expect(statesOf(crawled)).toEqual({
      [`${oldSite.origin}/docs`]: 'skipped redirect',
      [`${oldSite.origin}/docs/old`]: 'indexed',
      '/docs': 'indexed',
      '/docs/a': 'indexed',
      '/docs/b': 'indexed',
      '/docs/listed': 'indexed',
      '/blog': 'skipped out-of-scope',
    })
    expect(newSite.requests[0]?.path).toBe('/robots.txt')
    expect(oldSite.requests.map(({ path }) => path)).toEqual(['/robots.txt', '/docs/', '/docs/old'])
    const [moved] = await library.store.listSources()
    expect(moved).toMatchObject({ url: `${oldSite.origin}/docs/`, siteUrl: `${newSite.origin}/docs/` })

    newSite.clearRequests()
    const again = await runCrawl(library, moved ?? source, { kind: 'recrawl' }, newSite.origin)
    expect(again.summary).toMatchObject({ removed: 0, end: 'completed' })
    expect(statesOf(again)['/docs/a']).toBe('unchanged')
  })

  test.each([
    ['/docs', '/documentation/'],
    ['/docs/', '/en/docs/'],
    ['/docs/', '/en/docs/index.html'],
  ])('a redirect of the start from %s to another folder, %s, moves the crawl there', async (start, target) => {
    const folder = target.replace(/[^/]*$/, '')
    const { site, crawl } = await createCrawlFixture(
      {
        [start]: redirect(target),
        [target]: page('Docs', ['a', '/blog', '/docs/old']),
        [`${folder}a`]: page('A'),
        '/docs/old': page('Old'),
      },
      { start },
    )
    const crawled = await crawl()
    expect(statesOf(crawled)).toEqual({
      '/docs': 'skipped redirect',
      [target.replace(/\/$/, '')]: 'indexed',
      [`${folder}a`]: 'indexed',
      '/docs/old': 'indexed',
      '/blog': 'skipped out-of-scope',
    })
    expect(crawled.summary.end).toBe('completed')
    site.clearRequests()
    const again = await crawl({ kind: 'recrawl' })
    expect(again.summary).toMatchObject({ end: 'completed', removed: 0 })
    expect(site.requestedPaths()).toEqual([start, target, `${folder}a`, '/docs/old'].sort(compareUtf8))
  })

  test('a redirect of the start to the home page reads that page, and does not widen the scope to the whole site', async () => {
    const { crawl } = await createCrawlFixture(
      { '/docs/v1/': redirect('/'), '/': page('Home', ['/docs/v1/a', '/shop']), '/docs/v1/a': page('A') },
      { start: '/docs/v1/' },
    )
    expect(statesOf(await crawl())).toEqual({
      '/docs/v1': 'skipped redirect',
      '/': 'indexed',
      '/docs/v1/a': 'indexed',
      '/shop': 'skipped out-of-scope',
    })
  })

  test('a redirect of the start to the root of another host moves the crawl there', async () => {
    const newSite = await openTestSite({ '/': page('Docs', ['/a']), '/a': page('A') }, { address: '127.0.0.2' })
    const { site, crawl } = await createCrawlFixture({ '/docs': redirect(`${newSite.origin}/`) }, { start: '/docs' })
    expect(statesOf(await crawl())).toEqual({
      '/docs': 'skipped redirect',
      [`${newSite.origin}/`]: 'indexed',
      [`${newSite.origin}/a`]: 'indexed',
    })
    expect(site.requestedPaths()).toEqual(['/docs'])
  })

  test('a redirect of the start to itself fails the crawl', async () => {
    const { crawl } = await createCrawlFixture({ '/': redirect('/') })
    const crawled = await crawl()
    expect(statesOf(crawled)).toEqual({ '/': 'failed redirect-loop' })
    expect(crawled.summary.end).toBe('failed')
  })

  test('only a redirect of the start moves the site, not that of a listed page', async () => {
    const other = await openTestSite({ '/x': page('X', ['/y']), '/y': page('Y') }, { address: '127.0.0.2' })
    const { site, crawl, library } = await createCrawlFixture(
      (origin) => ({
        '/': page('Home', ['/a']),
        '/a': page('A'),
        '/sitemap.xml': sitemap([`${origin}/1`]),
        '/1': redirect('/2'),
        '/2': redirect(`${other.origin}/x`),
      }),
      { limits: { concurrency: 1 } },
    )
    const crawled = await crawl()
    expect(statesOf(crawled)).toEqual({
      '/': 'indexed',
      '/a': 'indexed',
      '/1': 'skipped redirect',
      '/2': 'skipped redirect',
      [`${other.origin}/x`]: 'skipped off-site',
    })
    expect(other.requests).toEqual([])
    expect((await library.store.listSources())[0]?.siteUrl).toBe(`${site.origin}/`)
  })

  test('only a redirect of the start moves the site, not that of a seed', async () => {
    const other = await openTestSite({ '/x': page('X') }, { address: '127.0.0.2' })
    const { site, crawl, library } = await createCrawlFixture(
      { '/': page('Home'), '/1': redirect('/2'), '/2': redirect(`${other.origin}/x`) },
      { settings: (origin) => ({ seeds: [`${origin}/1`] }) },
    )
    await crawl()
    expect(other.requests).toEqual([])
    expect((await library.store.listSources())[0]?.siteUrl).toBe(`${site.origin}/`)
  })
})

describe('a page that redirects at a recrawl', () => {
  test('is replaced by its target', async () => {
    const { site, crawl } = await createCrawlFixture({ '/': page('Home', ['/old']), '/old': page('The page') })
    await crawl()
    site.pages.set('/old', redirect('/new'))
    site.pages.set('/new', page('The page, moved'))
    const crawled = await crawl({ kind: 'recrawl' })
    expect(statesOf(crawled)).toEqual({ '/': 'unchanged', '/old': 'skipped redirect', '/new': 'indexed' })
    expect(crawled.rows.get('/old')?.hasPage).toBe(false)
    expect(crawled.summary.removed).toBe(1)
  })

  test('keeps its content while its target cannot be read', async () => {
    const { site, crawl } = await createCrawlFixture({ '/': page('Home', ['/old']), '/old': page('The page') })
    await crawl()
    site.pages.set('/old', redirect('/new'))
    const crawled = await crawl({ kind: 'recrawl' })
    expect(crawled.rows.get('/old')?.hasPage).toBe(true)
    expect(statesOf(crawled)['/new']).toBe('failed not-found')
  })
})
