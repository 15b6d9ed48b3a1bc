import { describe, expect, test } from 'vitest'
import { createCrawlFixture, statesOf } from './crawl.ts'
import { markdown, page, sitemap, text } from './site.ts'

const site = (origin: string) => ({
  '/': page('Home', ['/linked']),
  '/linked': page('Linked'),
  '/listed': page('Listed', ['/behind-listed']),
  '/behind-listed': page('Behind listed'),
  '/mapped': page('Mapped', ['/behind-mapped']),
  '/behind-mapped': page('Behind mapped'),
  '/given': page('Given', ['/behind-given']),
  '/behind-given': page('Behind given'),
  '/llms.txt': text('# Site\n\n- [Listed](/listed)\n'),
  '/llms-full.txt': text(`# Full\nSource: ${origin}/full\n\n${markdown('Of the full file')}`),
  '/sitemap.xml': sitemap([`${origin}/mapped`]),
})

describe('a crawl of type', () => {
  test('docs reads llms.txt, llms-full.txt, sitemaps and links', async () => {
    const { crawl } = await createCrawlFixture(site)
    expect(Object.keys(statesOf(await crawl()))).toEqual([
      '/',
      '/behind-listed',
      '/behind-mapped',
      '/full',
      '/linked',
      '/listed',
      '/llms-full.txt',
      '/mapped',
    ])
  })

  test('basic follows links and requests no list', async () => {
    const { site: server, crawl } = await createCrawlFixture(site, { settings: { crawlType: 'basic' } })
    expect(statesOf(await crawl())).toEqual({ '/': 'indexed', '/linked': 'indexed' })
    expect(server.requests.map(({ path }) => path).sort()).toEqual(['/', '/linked', '/robots.txt'])
  })

  test('sitemap-only reads sitemap entries and follows no link', async () => {
    const { site: server, crawl } = await createCrawlFixture(site, { settings: { crawlType: 'sitemap-only' } })
    expect(statesOf(await crawl())).toEqual({ '/': 'indexed', '/mapped': 'indexed' })
    expect(server.requests.map(({ path }) => path).sort()).toEqual(['/', '/mapped', '/robots.txt', '/sitemap.xml'])
  })

  test('basic-with-sitemap reads sitemaps and links, and requests no llms.txt', async () => {
    const { site: server, crawl } = await createCrawlFixture(site, { settings: { crawlType: 'basic-with-sitemap' } })
    expect(Object.keys(statesOf(await crawl()))).toEqual(['/', '/behind-mapped', '/linked', '/mapped'])
    expect(server.requests.map(({ path }) => path).filter((path) => path.includes('llms'))).toEqual([])
  })
})

describe('seeds', () => {
  test('are read beside the start, at its depth, and their links are followed', async () => {
    const { site: server, crawl } = await createCrawlFixture(site, {
      settings: (origin) => ({ crawlType: 'basic', seeds: [`${origin}/given`, `${origin}/given#part`] }),
    })
    const crawled = await crawl()
    expect(server.requestedPaths()).toEqual(['/', '/behind-given', '/given', '/linked'])
    expect(crawled.rows.get('/given')).toMatchObject({ discovery: 'manual', depth: 0, foundOn: null })
    expect(crawled.rows.get('/behind-given')?.depth).toBe(1)
  })

  test('are checked against the scope: one out of scope is refused and reported', async () => {
    const { site: server, crawl } = await createCrawlFixture(
      { '/docs/': page('Docs'), '/blog': page('Blog'), '/docs/x.zip': 'zip' },
      {
        start: '/docs/',
        settings: (origin) => ({
          seeds: [`${origin}/blog`, `${origin}/docs/x.zip`, `${origin}/docs/llms.txt`, 'https://other.example/docs/'],
        }),
      },
    )
    expect(statesOf(await crawl())).toEqual({
      '/docs': 'indexed',
      '/blog': 'skipped out-of-scope',
      '/docs/x.zip': 'skipped excluded',
      '/docs/llms.txt': 'skipped excluded',
      'https://other.example/docs': 'skipped off-site',
    })
    expect(server.requestedPaths()).toEqual(['/docs/'])
  })
})
