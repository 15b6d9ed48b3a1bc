import { describe, expect, test } from 'vitest'
import { createCrawlFixture, statesOf } from './crawl.ts'
import { type AnswerParts, page, redirect } from './site.ts'

const canonical = (url: string) => `<link rel="canonical" href="${url}">`

describe('canonical links', () => {
  test('a page is skipped in favor of its canonical spelling, and the alias is recorded', async () => {
    const { site, crawl, library, source } = await createCrawlFixture({
      '/': page('Home', ['/a.html', '/B']),
      '/a.html': page('A', ['/c'], canonical('/a')),
      '/a': page('A', ['/c'], canonical('/a')),
      '/B': page('B', [], canonical('/b')),
      '/b': page('B', [], canonical('/b')),
      '/c': page('C'),
    })
    const crawled = await crawl()
    expect(site.requestedPaths()).toEqual(['/', '/B', '/a', '/a.html', '/b', '/c'])
    expect(statesOf(crawled)).toEqual({
      '/': 'indexed',
      '/a': 'indexed',
      '/a.html': 'skipped canonical',
      '/b': 'indexed',
      '/B': 'skipped canonical',
      '/c': 'indexed',
    })
    expect(crawled.rows.get('/a.html')?.target).toBe(`${site.origin}/a`)
    expect(crawled.rows.get('/a')).toMatchObject({ discovery: 'canonical', depth: 1 })
    expect(await library.store.listAliases(source.id, `${site.origin}/a.html`)).toMatchObject([
      {
        url: `${site.origin}/a.html`,
        aliasUrl: `${site.origin}/a`,
        classification: 'canonical',
        reason: null,
        exists: true,
      },
    ])
  })

  test('a canonical address in the Link header counts as well', async () => {
    const { crawl } = await createCrawlFixture({
      '/': page('Home', ['/a/index.html']),
      '/a/index.html': { headers: { link: '</a/>; rel="canonical"' }, body: page('A') },
      '/a/': page('A'),
    })
    expect(statesOf(await crawl())).toEqual({ '/': 'indexed', '/a': 'indexed', '/a/index.html': 'skipped canonical' })
  })

  test('a canonical address that names a different page is ignored, and both pages are indexed', async () => {
    const { crawl } = await createCrawlFixture({
      '/': page('Home', ['/a', '/b']),
      '/a': page('A', [], canonical('/')),
      '/b': page('B', [], canonical('/a')),
    })
    const crawled = await crawl()
    expect(statesOf(crawled)).toEqual({ '/': 'indexed', '/a': 'indexed', '/b': 'indexed' })
  })

  test('a page whose canonical address is off the site or out of scope is indexed itself', async () => {
    const { site, crawl } = await createCrawlFixture(
      {
        '/docs/': page('Docs', ['/docs/a', '/docs/b'], canonical('https://www.site.example/docs/')),
        '/docs/a': page('A', [], canonical('https://other.example/docs/a')),
        '/docs/b': page('B', [], canonical('/docs/b.html')),
        '/docs/b.html': page('B'),
      },
      { start: '/docs/', scope: { block: ['*.html'] } },
    )
    expect(statesOf(await crawl())).toMatchObject({ '/docs': 'indexed', '/docs/a': 'indexed', '/docs/b': 'indexed' })
    expect(site.requestedPaths()).toEqual(['/docs/', '/docs/a', '/docs/b'])
  })

  test.each([
    ['is missing', undefined, 'failed not-found'],
    ['is disallowed by robots.txt', page('A'), 'skipped robots-disallow'],
    ['is noindex', page('A', [], '<meta name="robots" content="noindex">'), 'skipped noindex'],
  ])('a page is indexed itself if its canonical address %s', async (_, answer, state) => {
    const { crawl } = await createCrawlFixture({
      '/': page('Home', ['/a']),
      '/a': page('A', [], canonical('/a.html')),
      ...(answer === undefined ? {} : { '/a.html': answer }),
      ...(state.includes('robots') ? { '/robots.txt': 'User-agent: *\nDisallow: /a.html' } : {}),
    })
    const crawled = await crawl()
    expect(statesOf(crawled)).toEqual({ '/': 'indexed', '/a': 'indexed', '/a.html': state })
    expect(crawled.summary.end).toBe('completed')
  })

  test('a page whose canonical address redirects back to it is indexed, and a recrawl fetches it only once', async () => {
    const { site, crawl } = await createCrawlFixture(
      {
        '/': page('Home', ['/a']),
        '/a': page('A', [], canonical('/a.html')),
        '/a.html': redirect('/a'),
      },
      { siteOptions: { hasEtags: false } },
    )
    expect(statesOf(await crawl())).toEqual({ '/': 'indexed', '/a': 'indexed', '/a.html': 'skipped redirect' })
    site.clearRequests()
    expect(statesOf(await crawl({ kind: 'recrawl' }))['/a']).toBe('unchanged')
    expect(site.requestedPaths().filter((path) => path === '/a')).toEqual(['/a'])
  })

  test.each([1, 16])(
    'two pages that name each other as canonical are both indexed, concurrency %i',
    async (concurrency) => {
      const { crawl } = await createCrawlFixture(
        {
          '/': page('Home', ['/a', '/a.html', '/b', '/b.html']),
          '/a': page('One', [], canonical('/a.html')),
          '/a.html': page('Another', [], canonical('/a')),
          '/b': page('The same', [], canonical('/b.html')),
          '/b.html': page('The same', [], canonical('/b')),
        },
        { limits: { concurrency } },
      )
      const states = {
        '/': 'indexed',
        '/a': 'indexed',
        '/a.html': 'indexed',
        '/b': 'indexed',
        '/b.html': 'skipped duplicate',
      }
      expect(statesOf(await crawl())).toEqual(states)
    },
  )

  test('a recrawl keeps the page while its canonical address fails temporarily', async () => {
    const { site, crawl } = await createCrawlFixture(
      {
        '/': page('Home', ['/a.html']),
        '/a.html': page('A', [], canonical('/a')),
        '/a': page('A', [], canonical('/a')),
      },
      { limits: { attempts: 1 } },
    )
    await crawl()
    site.pages.set('/a', { status: 500 })
    const broken = await crawl({ kind: 'recrawl' })
    expect(broken.summary.removed).toBe(0)
    expect(broken.rows.get('/a')).toMatchObject({ state: 'failed', hasPage: true })
    site.pages.set('/a', page('A', [], canonical('/a')))
    const again = await crawl({ kind: 'recrawl' })
    expect(statesOf(again)).toEqual({ '/': 'unchanged', '/a': 'unchanged', '/a.html': 'skipped canonical' })
  })
})

describe('the same content at several addresses', () => {
  test.each([
    ['/copy/of/a', 0],
    ['/a', 0],
    ['/copy/of/a', 80],
    ['/a', 80],
  ])('is indexed once, at the same address, whichever answers first (%s late by %i ms)', async (slow, delayMs) => {
    const answer =
      (path: string): (() => AnswerParts) =>
      () => ({
        body: page('The same'),
        ...(path === slow ? { delayMs } : {}),
      })
    const { site, crawl, library, source } = await createCrawlFixture({
      '/': page('Home', ['/copy/of/a', '/a']),
      '/a': answer('/a'),
      '/copy/of/a': answer('/copy/of/a'),
    })
    const crawled = await crawl()
    expect(statesOf(crawled)).toEqual({
      '/': 'indexed',
      '/a': 'indexed',
      '/copy/of/a': 'skipped duplicate',
    })
    expect(crawled.rows.get('/copy/of/a')?.target).toBe(`${site.origin}/a`)
    expect(site.requestedPaths()).toEqual(['/', '/a', '/copy/of/a'])
    expect(await library.store.countContent(source.id)).toMatchObject({ pages: 2 })
    const aliases = await library.store.listAliases(source.id, `${site.origin}/copy/of/a`)
    expect(aliases.map(({ classification }) => classification)).toContain('same-content')
  })

  test.each([1, 16])('is kept at the best of three addresses in every order, concurrency %i', async (concurrency) => {
    const paths = ['/a?lang=en', '/copy/of/a', '/a']
    for (const links of [paths, paths.toReversed()]) {
      const { crawl } = await createCrawlFixture(
        { '/': page('Home', links), ...Object.fromEntries(paths.map((path) => [path, page('The same')])) },
        { limits: { concurrency } },
      )
      expect(statesOf(await crawl())).toEqual({
        '/': 'indexed',
        '/a': 'indexed',
        '/copy/of/a': 'skipped duplicate',
        '/a?lang=en': 'skipped duplicate',
      })
    }
  })

  test('is indexed at the folder rather than at its index.html', async () => {
    const { crawl } = await createCrawlFixture({
      '/': page('Home', ['/index.html']),
      '/index.html': page('Home', ['/index.html']),
    })
    expect(statesOf(await crawl())).toEqual({ '/': 'indexed', '/index.html': 'skipped duplicate' })
  })

  test('moves to the other address at a recrawl if the page that held it changes', async () => {
    const { site, crawl } = await createCrawlFixture({
      '/': page('Home', ['/a', '/long/b']),
      '/a': page('The same'),
      '/long/b': page('The same'),
    })
    const first = await crawl()
    expect(statesOf(first)['/long/b']).toBe('skipped duplicate')
    site.pages.set('/a', page('Something else'))
    const crawled = await crawl({ kind: 'recrawl' })
    expect(statesOf(crawled)).toEqual({ '/': 'unchanged', '/a': 'indexed', '/long/b': 'indexed' })
    expect(crawled.summary.removed).toBe(0)
    site.pages.set('/a', page('The same'))
    const back = await crawl({ kind: 'recrawl' })
    expect(statesOf(back)).toEqual({ '/': 'unchanged', '/a': 'indexed', '/long/b': 'skipped duplicate' })
  })

  test('moves to the other address at a recrawl if the page that held it is gone', async () => {
    const { site, crawl } = await createCrawlFixture({
      '/': page('Home', ['/a', '/long/b']),
      '/a': page('The same'),
      '/long/b': page('The same'),
    })
    await crawl()
    site.pages.delete('/a')
    const crawled = await crawl({ kind: 'recrawl' })
    expect(crawled.rows.get('/long/b')).toMatchObject({ hasPage: true })
    expect(crawled.rows.get('/a')).toMatchObject({ hasPage: false })
    const again = await crawl({ kind: 'recrawl' })
    expect(again.rows.get('/long/b')).toMatchObject({ hasPage: true })
  })

  test('does not hide links: the links of each copy are followed, at a recrawl too', async () => {
    const copy = (link: string) =>
      page('The same').replace('</main>', `</main><footer><a href="${link}">x</a></footer>`)
    for (const hasEtags of [true, false]) {
      const { crawl } = await createCrawlFixture(
        {
          '/': page('Home', ['/a', '/long/b']),
          '/a': copy('/behind-a'),
          '/long/b': copy('/behind-b'),
          '/behind-a': page('Behind A'),
          '/behind-b': page('Behind B'),
        },
        { siteOptions: { hasEtags } },
      )
      const states = statesOf(await crawl())
      expect(states).toMatchObject({ '/long/b': 'skipped duplicate', '/behind-a': 'indexed', '/behind-b': 'indexed' })
      const again = await crawl({ kind: 'recrawl' })
      expect(statesOf(again)).toMatchObject({ '/behind-a': 'unchanged', '/behind-b': 'unchanged' })
      expect(again.summary.removed).toBe(0)
    }
  })

  test('counts once against the page cap', async () => {
    const { crawl } = await createCrawlFixture(
      {
        '/': page('Home', ['/a', '/long/b', '/c']),
        '/a': page('The same'),
        '/long/b': page('The same'),
        '/c': page('C'),
      },
      { scope: { maxPages: 3 } },
    )
    const crawled = await crawl()
    expect(statesOf(crawled)).toMatchObject({ '/a': 'indexed', '/long/b': 'skipped duplicate', '/c': 'indexed' })
    expect(crawled.summary.cappedAt).toBeNull()
  })
})
