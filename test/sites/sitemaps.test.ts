import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { createCrawlFixture, openTestSite, statesOf } from './crawl.ts'
import { type Answer, page, sitemap, text } from './site.ts'

describe('sitemaps', () => {
  test('a sitemap at the usual place leads to pages that no page links to', async () => {
    const { site, crawl } = await createCrawlFixture((origin) => ({
      '/': page('Home'),
      '/a': page('A', ['/b']),
      '/b': page('B'),
      '/sitemap.xml': sitemap([`${origin}/a`, `${origin}/`]),
    }))
    const crawled = await crawl()
    expect(site.requestedPaths()).toEqual(['/', '/a', '/b', '/sitemap.xml'])
    expect(crawled.rows.get('/a')).toMatchObject({
      state: 'indexed',
      discovery: 'sitemap',
      depth: 0,
      foundOn: `${site.origin}/sitemap.xml`,
    })
    expect(crawled.rows.get('/b')).toMatchObject({ discovery: 'link', depth: 1 })
    expect([...crawled.rows.keys()]).not.toContain('/sitemap.xml')
  })

  test('sitemaps named in robots.txt are read, besides the one at the usual place', async () => {
    const { site, crawl } = await createCrawlFixture((origin) => ({
      '/': page('Home'),
      '/a': page('A'),
      '/b': page('B'),
      '/c': page('C'),
      '/robots.txt': text(`Sitemap: ${origin}/maps/one.xml\nUser-agent: *\nDisallow:\nSitemap: /maps/two.xml\n`),
      '/maps/one.xml': sitemap([`${origin}/a`]),
      '/maps/two.xml': sitemap([`${origin}/b`]),
      '/sitemap.xml': sitemap([`${origin}/c`]),
    }))
    await crawl()
    expect(site.requestedPaths()).toEqual([
      '/',
      '/a',
      '/b',
      '/c',
      '/maps/one.xml',
      '/maps/two.xml',
      '/robots.txt',
      '/sitemap.xml',
    ])
  })

  test('are read two indexes deep, each once, even if they name each other', async () => {
    const { site, crawl } = await createCrawlFixture((origin) => ({
      '/': page('Home'),
      '/a': page('A'),
      '/sitemap.xml': sitemap([`${origin}/maps/index.xml`, `${origin}/sitemap.xml`], 'sitemapindex'),
      '/maps/index.xml': sitemap([`${origin}/maps/leaf.xml`, `${origin}/sitemap.xml`], 'sitemapindex'),
      '/maps/leaf.xml': sitemap([`${origin}/a`]),
    }))
    const crawled = await crawl()
    expect(site.requestedPaths()).toEqual(['/', '/a', '/maps/index.xml', '/maps/leaf.xml', '/sitemap.xml'])
    expect(crawled.rows.get('/a')?.foundOn).toBe(`${site.origin}/maps/leaf.xml`)
  })

  test('can be compressed, as a .gz file or with a content encoding', async () => {
    const { site, crawl } = await createCrawlFixture((origin) => ({
      '/': page('Home'),
      '/a': page('A'),
      '/b': page('B'),
      '/robots.txt': text(`Sitemap: ${origin}/one.xml.gz\nSitemap: ${origin}/two.xml\n`),
      '/one.xml.gz': text(gzipSync(sitemap([`${origin}/a`]).body ?? ''), 'application/x-gzip'),
      '/two.xml': {
        headers: { 'content-type': 'application/xml', 'content-encoding': 'gzip' },
        body: gzipSync(sitemap([`${origin}/b`]).body ?? ''),
      },
    }))
    await crawl()
    expect(site.requestedPaths()).toEqual(['/', '/a', '/b', '/one.xml.gz', '/robots.txt', '/two.xml'])
  })

  test('can be plain text with one address per line', async () => {
    const { site, crawl } = await createCrawlFixture((origin) => ({
      '/': page('Home'),
      '/a': page('A'),
      '/robots.txt': text(`Sitemap: ${origin}/urls.txt\n`),
      '/urls.txt': text(`${origin}/a\r\n\r\nno address\n`),
    }))
    const crawled = await crawl()
    expect(site.requestedPaths()).toEqual(['/', '/a', '/robots.txt', '/urls.txt'])
    expect(statesOf(crawled)).toEqual({ '/': 'indexed', '/a': 'indexed' })
  })

  test('sitemap entries pass the address filter: other hosts and folders are refused with a reason', async () => {
    const other = await openTestSite({ '/docs/x': page('X') }, { address: '127.0.0.2' })
    const { site, crawl } = await createCrawlFixture(
      (origin) => ({
        '/docs/': page('Docs'),
        '/docs/a': page('A'),
        '/sitemap.xml': sitemap([
          `${origin}/docs/a`,
          `${origin}/blog/b`,
          `${other.origin}/docs/x`,
          `${origin}/docs/c.zip`,
          'mailto:a@b.example',
        ]),
      }),
      { start: '/docs/' },
    )
    const crawled = await crawl()
    expect(statesOf(crawled)).toEqual({
      '/docs': 'indexed',
      '/docs/a': 'indexed',
      '/blog/b': 'skipped out-of-scope',
      '/docs/c.zip': 'skipped excluded',
      [`${other.origin}/docs/x`]: 'skipped off-site',
    })
    expect(site.requestedPaths()).toEqual(['/docs/', '/docs/a', '/sitemap.xml'])
    expect(other.requests).toEqual([])
  })

  test('sitemaps on another host are read only if robots.txt names them', async () => {
    const { site, crawl } = await createCrawlFixture((origin) => ({
      '/': page('Home'),
      '/a': page('A'),
      '/robots.txt': text(`Sitemap: ${origin.replace('127.0.0.1', 'localhost')}/named.xml\n`),
      '/named.xml': sitemap([`${origin}/a`]),
      '/sitemap.xml': sitemap([`${origin.replace('127.0.0.1', 'localhost')}/unnamed.xml`], 'sitemapindex'),
      '/unnamed.xml': sitemap([`${origin}/b`]),
      '/b': page('B'),
    }))
    const crawled = await crawl()
    // The sitemap at localhost needs the robots.txt of that host first.
    expect(site.requestedPaths()).toEqual(['/', '/a', '/named.xml', '/robots.txt', '/robots.txt', '/sitemap.xml'])
    expect(statesOf(crawled)).toEqual({ '/': 'indexed', '/a': 'indexed' })
  })

  test('a sitemap entry with a tracking parameter leads to the bare address, and the alias is recorded', async () => {
    const { site, crawl, library, source } = await createCrawlFixture((origin) => ({
      '/': page('Home'),
      '/a': page('A'),
      '/sitemap.xml': sitemap([`${origin}/a?utm_source=map`]),
    }))
    const crawled = await crawl()
    expect(site.requestedPaths()).toEqual(['/', '/a', '/sitemap.xml'])
    expect(crawled.rows.get('/a')).toMatchObject({ state: 'indexed', discovery: 'query-strip' })
    expect(await library.store.listAliases(source.id, `${site.origin}/a`)).toMatchObject([
      {
        url: `${site.origin}/a?utm_source=map`,
        aliasUrl: `${site.origin}/a`,
        classification: 'superfluous-query',
        reason: 'query-skip',
        exists: true,
      },
    ])
  })
})

describe('a recrawl', () => {
  const withMap = (origin: string) => ({
    '/': page('Home', ['/linked']),
    '/linked': page('Linked'),
    '/a': page('A'),
    '/b': page('B'),
    '/sitemap.xml': sitemap([`${origin}/a`, `${origin}/b`]),
  })

  test('requests pages that the sitemap no longer lists, and removes those that are gone', async () => {
    const { site, crawl } = await createCrawlFixture(withMap)
    await crawl()
    site.pages.set('/sitemap.xml', sitemap([]))
    site.pages.delete('/b')
    const { summary, ...crawled } = await crawl({ kind: 'recrawl' })
    expect(summary.removed).toBe(1)
    expect(statesOf({ summary, ...crawled })).toEqual({
      '/': 'unchanged',
      '/linked': 'unchanged',
      '/a': 'unchanged',
      '/b': 'gone not-found',
    })
  })

  test('removes no unseen page while a sitemap fails', async () => {
    const { site, crawl } = await createCrawlFixture(withMap)
    await crawl()
    site.pages.set('/sitemap.xml', { status: 500, body: 'broken' })
    const crawled = await crawl({ kind: 'recrawl' })
    expect(crawled.summary).toMatchObject({ removed: 0, end: 'completed' })
    expect(crawled.summary.incomplete).toContain('/sitemap.xml')
    expect(statesOf(crawled)).toEqual({ '/': 'unchanged', '/linked': 'unchanged', '/a': 'indexed', '/b': 'indexed' })
  })

  test.each([
    ['forbidden', { status: 403 }],
    ['behind a login', { status: 401 }],
    ['a page', page('Down for maintenance')],
    ['an empty answer', text('')],
  ] as const)('removes no unseen page while a sitemap is %s', async (_, answer: Answer) => {
    const { site, crawl } = await createCrawlFixture(withMap)
    await crawl()
    site.pages.set('/sitemap.xml', answer)
    const crawled = await crawl({ kind: 'recrawl' })
    expect(crawled.summary).toMatchObject({ removed: 0, end: 'completed' })
    expect(crawled.summary.incomplete).toContain('/sitemap.xml')
    expect(statesOf(crawled)).toMatchObject({ '/a': 'indexed', '/b': 'indexed' })
    for (const path of ['/sitemap.xml', '/a', '/b']) site.pages.delete(path)
    const gone = await crawl({ kind: 'recrawl' })
    expect(gone.summary).toMatchObject({ removed: 2, incomplete: null })
  })

  test('removes no unseen page while the index of its sitemaps is forbidden', async () => {
    const { site, crawl } = await createCrawlFixture((origin) => ({
      ...withMap(origin),
      '/sitemap.xml': sitemap([`${origin}/maps/one.xml`], 'sitemapindex'),
      '/maps/one.xml': sitemap([`${origin}/a`, `${origin}/b`]),
    }))
    await crawl()
    site.pages.set('/sitemap.xml', { status: 403 })
    const crawled = await crawl({ kind: 'recrawl' })
    expect(crawled.summary).toMatchObject({ removed: 0, end: 'completed' })
    expect(crawled.summary.incomplete).toContain('/sitemap.xml')
  })

  test.each([
    ['forbidden', { status: 403 }],
    ['a page', page('Not here')],
  ] as const)(
    'removes missing pages although the usual address of a list is %s and never had a list',
    async (_, answer: Answer) => {
      const { site, crawl } = await createCrawlFixture((origin) => ({
        ...withMap(origin),
        '/map.xml': sitemap([`${origin}/a`, `${origin}/b`]),
        '/robots.txt': text(`Sitemap: ${origin}/map.xml\n`),
        '/sitemap.xml': answer,
        '/sitemap_index.xml': answer,
        '/llms.txt': answer,
        '/llms-full.txt': answer,
      }))
      await crawl()
      site.pages.set('/', page('Home'))
      site.pages.delete('/linked')
      site.pages.delete('/b')
      site.pages.set('/map.xml', sitemap([`${site.origin}/a`]))
      const crawled = await crawl({ kind: 'recrawl' })
      expect(crawled.summary).toMatchObject({ removed: 2, incomplete: null })
      expect(statesOf(crawled)).toMatchObject({ '/linked': 'gone not-found', '/b': 'gone not-found' })
    },
  )

  test('keeps unseen pages while a nested sitemap fails or is truncated', async () => {
    for (const broken of [
      { status: 503 },
      text(gzipSync('<urlset>'.repeat(100)).subarray(0, 25), 'application/gzip'),
    ]) {
      const { site, crawl } = await createCrawlFixture((origin) => ({
        ...withMap(origin),
        '/sitemap.xml': sitemap([`${origin}/maps/one.xml`, `${origin}/maps/two.xml`], 'sitemapindex'),
        '/maps/one.xml': sitemap([`${origin}/a`]),
        '/maps/two.xml': sitemap([`${origin}/b`]),
      }))
      await crawl()
      site.pages.set('/maps/two.xml', broken)
      const crawled = await crawl({ kind: 'recrawl' })
      expect(crawled.summary.incomplete).toContain('/maps/two.xml')
      expect(statesOf(crawled)['/b']).toBe('indexed')
    }
  })

  test('removes missing pages although robots.txt names a sitemap that does not exist', async () => {
    const { site, crawl } = await createCrawlFixture((origin) => ({
      ...withMap(origin),
      '/robots.txt': text(`Sitemap: ${origin}/never.xml\nSitemap: ${origin}/page\n`),
      '/page': page('No sitemap'),
    }))
    await crawl()
    site.pages.set('/', page('Home'))
    site.pages.delete('/linked')
    const crawled = await crawl({ kind: 'recrawl' })
    expect(crawled.summary).toMatchObject({ removed: 1, incomplete: null })
    expect(statesOf(crawled)['/linked']).toBe('gone not-found')
  })
})
