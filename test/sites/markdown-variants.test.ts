import { describe, expect, test } from 'vitest'
import { createCrawlFixture, statesOf } from './crawl.ts'
import { markdown, page, text } from './site.ts'

const ACCEPT = 'text/markdown, text/html;q=0.9, */*;q=0.8'
const list = (...paths: readonly string[]) =>
  text(`# Site\n\n${paths.map((path) => `- [${path}](${path})\n`).join('')}`)

describe('Markdown variants of pages listed by llms.txt', () => {
  test.each(['text/markdown', 'text/markdown; charset=utf-8', 'text/plain', 'text/x-markdown'])(
    'are read instead of the pages if they are sent as %s',
    async (type) => {
      const { site, crawl, library, source } = await createCrawlFixture({
        '/': page('Home'),
        '/llms.txt': list('/a', '/b.html', '/c/'),
        '/a': page('A'),
        '/a.md': text(markdown('A in Markdown'), type),
        '/b.html': page('B'),
        '/b.html.md': text(markdown('B in Markdown'), type),
        '/c/': page('C'),
        '/c/index.html.md': text(markdown('C in Markdown'), type),
      })
      const crawled = await crawl()
      expect(site.requestedPaths()).toEqual([
        '/',
        '/a',
        '/a.md',
        '/b.html',
        '/b.html.md',
        '/c/',
        '/c/index.html.md',
        '/llms.txt',
      ])
      expect(statesOf(crawled)).toEqual({ '/': 'indexed', '/a': 'indexed', '/b.html': 'indexed', '/c': 'indexed' })
      const stored = await library.store.readPage(source.id, `${site.origin}/a`)
      expect(stored?.page.markdown).toContain('A in Markdown')
      expect(await library.store.listAliases(source.id, `${site.origin}/a`)).toMatchObject([
        {
          url: `${site.origin}/a.md`,
          aliasUrl: `${site.origin}/a`,
          classification: 'markdown-variant',
          reason: null,
          exists: true,
        },
      ])
    },
  )

  test('are requested at a second address if the page has no trailing slash', async () => {
    const { site, crawl } = await createCrawlFixture({
      '/': page('Home'),
      '/llms.txt': list('/a'),
      '/a/index.html.md': text(markdown('A in Markdown'), 'text/markdown'),
    })
    expect(statesOf(await crawl())).toEqual({ '/': 'indexed', '/a': 'indexed' })
    expect(site.requestedPaths()).toEqual(['/', '/a', '/a.md', '/a/index.html.md', '/llms.txt'])
  })

  test.each([
    ['HTML', { body: page('Not found') }],
    ['HTML sent as text', text(page('Not found'))],
    ['another type', text(markdown('A'), 'application/octet-stream')],
    ['404', { status: 404 }],
    ['500', { status: 500 }],
    ['a redirect', { status: 302, headers: { location: '/login' } }],
    ['empty', text('', 'text/markdown')],
  ])('are refused if the response is %s, and the page itself is read', async (_, answer) => {
    const { site, crawl, library, source } = await createCrawlFixture({
      '/': page('Home'),
      '/llms.txt': list('/a'),
      '/a': page('A in HTML'),
      '/a.md': answer,
      '/a/index.html.md': answer,
    })
    expect(statesOf(await crawl())).toEqual({ '/': 'indexed', '/a': 'indexed' })
    expect(site.requestedPaths()).toEqual(['/', '/a', '/a.md', '/a/index.html.md', '/llms.txt'])
    const stored = await library.store.readPage(source.id, `${site.origin}/a`)
    expect(stored?.page.markdown).toContain('A in HTML')
  })

  test('are no longer requested on a host that had none for three pages in a row', async () => {
    const paths = ['/a', '/b', '/c', '/d', '/e']
    const { site, crawl } = await createCrawlFixture(
      {
        '/': page('Home'),
        '/llms.txt': list(...paths),
        ...Object.fromEntries(paths.map((path) => [path, page(`About ${path}`)])),
      },
      { limits: { concurrency: 1 } },
    )
    await crawl()
    const variants = site.requestedPaths().filter((path) => path.endsWith('.md'))
    expect(variants).toEqual(['/a.md', '/a/index.html.md', '/b.md', '/b/index.html.md', '/c.md', '/c/index.html.md'])
    expect(site.requestedPaths().filter((path) => paths.includes(path))).toEqual(paths)
  })

  test('continue to be requested if one of the first three pages has a variant', async () => {
    const paths = ['/a', '/b', '/c', '/d', '/e']
    const { site, crawl } = await createCrawlFixture(
      {
        '/': page('Home'),
        '/llms.txt': list(...paths),
        ...Object.fromEntries(paths.map((path) => [path, page(`About ${path}`)])),
        '/c.md': text(markdown('C'), 'text/markdown'),
      },
      { limits: { concurrency: 1 } },
    )
    await crawl()
    expect(site.requestedPaths()).toContain('/e.md')
  })

  test('are never requested for pages known by a link, nor for pages that are Markdown already', async () => {
    const { site, crawl } = await createCrawlFixture({
      '/': page('Home', ['/linked']),
      '/llms.txt': list('/listed.md', '/notes.txt'),
      '/listed.md': text(markdown('Listed', '\n[x](/from-markdown)'), 'text/markdown'),
      '/notes.txt': text(markdown('Notes')),
      '/linked': page('Linked'),
      '/from-markdown': page('From Markdown'),
    })
    await crawl()
    expect(site.requestedPaths()).toEqual(['/', '/from-markdown', '/linked', '/listed.md', '/llms.txt', '/notes.txt'])
  })

  test('a noindex variant is ignored, and the page itself is indexed', async () => {
    const { site, crawl } = await createCrawlFixture({
      '/': page('Home'),
      '/llms.txt': list('/a.html'),
      '/a.html': page('A'),
      '/a.html.md': { headers: { 'content-type': 'text/markdown', 'x-robots-tag': 'noindex' }, body: markdown('A') },
    })
    expect(statesOf(await crawl())).toEqual({ '/': 'indexed', '/a.html': 'indexed' })
    expect(site.requestedPaths()).toEqual(['/', '/a.html', '/a.html.md', '/llms.txt'])
  })

  test('are requested again after a 429 response, and nothing else is requested meanwhile', async () => {
    const answers = [{ status: 429, headers: { 'retry-after': '0' } }]
    const { site, crawl, library, source } = await createCrawlFixture({
      '/': page('Home'),
      '/llms.txt': list('/a'),
      '/a': page('A in HTML'),
      '/a.md': () => answers.pop() ?? text(markdown('A in Markdown'), 'text/markdown'),
    })
    await crawl()
    expect(site.requestedPaths()).toEqual(['/', '/a', '/a.md', '/a.md', '/llms.txt'])
    const stored = await library.store.readPage(source.id, `${site.origin}/a`)
    expect(stored?.page.markdown).toContain('A in Markdown')
  })

  test('a variant that llms.txt lists beside its page is indexed once', async () => {
    const { crawl } = await createCrawlFixture({
      '/': page('Home'),
      '/llms.txt': list('/a.md', '/a'),
      '/a': page('A'),
      '/a.md': text(markdown('A in Markdown'), 'text/markdown'),
    })
    expect(statesOf(await crawl())).toEqual({ '/': 'indexed', '/a': 'indexed', '/a.md': 'skipped duplicate' })
  })

  test('are not requested if robots.txt disallows them', async () => {
    const { site, crawl } = await createCrawlFixture({
      '/': page('Home'),
      '/llms.txt': list('/a'),
      '/a': page('A'),
      '/a.md': text(markdown('A'), 'text/markdown'),
      '/robots.txt': text('User-agent: *\nDisallow: /*.md$\n'),
    })
    await crawl()
    expect(site.requestedPaths()).toEqual(['/', '/a', '/llms.txt', '/robots.txt'])
  })

  test('a recrawl fetches both the Markdown and the HTML, and finds the page unchanged', async () => {
    const { site, crawl } = await createCrawlFixture({
      '/': page('Home'),
      '/llms.txt': list('/a'),
      '/a': page('A'),
      '/a.md': text(markdown('A in Markdown'), 'text/markdown'),
    })
    await crawl()
    site.clearRequests()
    expect(statesOf(await crawl({ kind: 'recrawl' }))).toEqual({ '/': 'unchanged', '/a': 'unchanged' })
    expect(site.requestedPaths()).toEqual(['/', '/a', '/a.md', '/llms.txt'])
  })

  test.each([
    ['beside the page', '/a.md'],
    ['at the address of the page', '/a'],
  ])('need no HTML if they link to other pages, with the Markdown %s', async (place, requested) => {
    const asMarkdown = text(markdown('A in Markdown', '\n[b](/b)\n'), 'text/markdown')
    const { site, crawl } = await createCrawlFixture({
      '/': page('Home', ['/a']),
      ...(place === 'beside the page' ? { '/llms.txt': list('/a'), '/a.md': asMarkdown } : { '/a': asMarkdown }),
      '/b': page('B'),
    })
    const requests = () => site.requests.filter(({ path }) => path.startsWith('/a')).map((r) => [r.path, r.status])
    expect(statesOf(await crawl())).toEqual({ '/': 'indexed', '/a': 'indexed', '/b': 'indexed' })
    expect(requests()).toEqual([[requested, 200]])
    for (const kind of ['recrawl', 'refresh'] as const) {
      site.clearRequests()
      const again = await crawl({ kind })
      expect(again.summary).toMatchObject({ unchanged: 3, removed: 0, incomplete: null })
      expect(requests()).toEqual([[requested, 304]])
    }
  })

  test('are read alone in a refresh if they are the same, and a recrawl reads their HTML again', async () => {
    let html = page('A in HTML', ['/old'])
    const { site, crawl } = await createCrawlFixture({
      '/': page('Home', ['/a']),
      '/a': ({ headers }) =>
        headers.accept?.startsWith('text/markdown') ? text(markdown('A in Markdown'), 'text/markdown') : html,
      '/old': page('Old'),
      '/new': page('New'),
    })
    await crawl()
    html = page('A in HTML', ['/old', '/new'])
    site.clearRequests()
    expect((await crawl({ kind: 'refresh' })).summary).toMatchObject({ unchanged: 3, newInRefresh: 0 })
    expect(site.requestedPaths()).toEqual(['/', '/a', '/old'])
    const again = await crawl({ kind: 'recrawl' })
    expect(statesOf(again)).toEqual({ '/': 'unchanged', '/a': 'unchanged', '/old': 'unchanged', '/new': 'indexed' })
  })

  test.each(['beside the page', 'at the address of the page'])(
    'do not hide links that only the HTML has, also in a recrawl, with the Markdown %s',
    async (place) => {
      const html = page('A in HTML', ['/only-html', '/refused'])
      const asMarkdown = text(markdown('A in Markdown', '\n[other](https://other.test/) [top](#a)\n'), 'text/markdown')
      const { site, crawl, library, source } = await createCrawlFixture({
        '/': page('Home', ['/a']),
        ...(place === 'beside the page'
          ? { '/llms.txt': list('/a'), '/a': html, '/a.md': asMarkdown }
          : { '/a': ({ headers }) => (headers.accept?.startsWith('text/markdown') ? asMarkdown : html) }),
        '/only-html': page('Only in HTML', ['/behind']),
        '/behind': page('Behind'),
      })
      const indexed = {
        '/': 'indexed',
        '/a': 'indexed',
        '/only-html': 'indexed',
        '/behind': 'indexed',
      }
      expect(statesOf(await crawl())).toEqual({
        ...indexed,
        '/refused': 'failed not-found',
        'https://other.test/': 'skipped off-site',
      })
      const stored = await library.store.readPage(source.id, `${site.origin}/a`)
      expect(stored?.page.markdown).toContain('A in Markdown')
      const again = await crawl({ kind: 'recrawl' })
      expect(again.summary).toMatchObject({ end: 'completed', unchanged: 4, removed: 0 })
    },
  )

  test.each(['beside the page', 'at the address of the page'])(
    'do not hide a link that the HTML gains while the Markdown, %s, is unchanged',
    async (place) => {
      const asMarkdown = text(markdown('A in Markdown'), 'text/markdown')
      let html = page('A in HTML', ['/old'])
      const { site, crawl } = await createCrawlFixture({
        '/': page('Home', ['/a']),
        ...(place === 'beside the page'
          ? { '/llms.txt': list('/a'), '/a': () => html, '/a.md': asMarkdown }
          : { '/a': ({ headers }) => (headers.accept?.startsWith('text/markdown') ? asMarkdown : html) }),
        '/old': page('Old'),
        '/new': page('New'),
      })
      await crawl()
      html = page('A in HTML', ['/new'])
      site.pages.delete('/old')
      const again = await crawl({ kind: 'recrawl' })
      expect(statesOf(again)).toMatchObject({ '/': 'unchanged', '/a': 'unchanged', '/new': 'indexed' })
      expect(again.rows.get('/old')).toMatchObject({ state: 'gone' })
    },
  )

  test('are fetched again with their HTML if the HTML failed once', async () => {
    let isBroken = true
    const { crawl } = await createCrawlFixture({
      '/': page('Home'),
      '/llms.txt': list('/a'),
      '/a': () => {
        const answer = isBroken ? { status: 503, body: 'broken' } : page('A in HTML', ['/only-html'])
        isBroken = false
        return answer
      },
      '/a.md': text(markdown('A in Markdown'), 'text/markdown'),
      '/only-html': page('Only in HTML'),
    })
    const crawled = await crawl()
    expect(statesOf(crawled)).toEqual({ '/': 'indexed', '/a': 'indexed', '/only-html': 'indexed' })
    expect(crawled.summary).toMatchObject({ incomplete: null })
  })

  test('are kept if their HTML keeps failing, and the next recrawl requests both again', async () => {
    const { site, crawl } = await createCrawlFixture({
      '/': page('Home'),
      '/llms.txt': list('/a'),
      '/a': { status: 503, body: 'broken' },
      '/a.md': text(markdown('A in Markdown'), 'text/markdown'),
      '/only-html': page('Only in HTML'),
    })
    const crawled = await crawl()
    expect(statesOf(crawled)).toEqual({ '/': 'indexed', '/a': 'indexed' })
    expect(crawled.summary.incomplete).toContain('/a could not be read (http server error)')
    site.pages.set('/a', page('A in HTML', ['/only-html']))
    expect(statesOf(await crawl({ kind: 'recrawl' }))).toMatchObject({ '/a': 'unchanged', '/only-html': 'indexed' })
  })

  test('provide links that are followed like those of the page', async () => {
    const { site, crawl } = await createCrawlFixture(
      {
        '/docs/': page('Docs'),
        '/docs/llms.txt': list('/docs/a'),
        '/docs/a.md': text(markdown('A', '\n[next](next) [up](../x)'), 'text/markdown'),
        '/docs/next': page('Next'),
      },
      { start: '/docs/' },
    )
    await crawl()
    expect(site.requestedPaths()).toContain('/docs/next')
  })
})

test('a crawl does not wait for the HTML of a page while its host is held, and finds its links later', async () => {
  let limitedCount = 0
  const { site, crawl } = await createCrawlFixture({
    '/': page('Home', ['/limited']),
    '/llms.txt': list('/a'),
    '/limited': () =>
      limitedCount++ === 0 ? { status: 429, headers: { 'retry-after': '1' } } : page('Not limited any more'),
    '/a': page('A in HTML', ['/only-html']),
    '/a.md': () => ({ ...text(markdown('A in Markdown'), 'text/markdown'), delayMs: limitedCount === 0 ? 500 : 0 }),
    '/only-html': page('Only in HTML'),
  })
  const crawled = await crawl()
  expect(statesOf(crawled)).toMatchObject({ '/a': 'indexed', '/limited': 'indexed', '/only-html': 'indexed' })
  // The visit was postponed while the host was held, and repeated from the beginning.
  const requested = site.requests.map(({ path }) => path).filter((path) => path.startsWith('/a'))
  expect(requested).toEqual(['/a.md', '/a.md', '/a'])
  expect(crawled.summary.incomplete).toBeNull()
})

describe('the Accept header', () => {
  test('every request prefers Markdown, those for lists too', async () => {
    const { site, crawl } = await createCrawlFixture({
      '/': page('Home', ['/a', '/old']),
      '/llms.txt': list('/b'),
      '/a': page('A'),
      '/b': page('B'),
      '/old': { status: 301, headers: { location: '/new/' } },
      '/new/': page('New'),
    })
    await crawl()
    expect(site.requests.map(({ path }) => path).sort()).toEqual([
      '/',
      '/a',
      '/b',
      '/b.md',
      '/b/index.html.md',
      '/llms-full.txt',
      '/llms.txt',
      '/new/',
      '/old',
      '/robots.txt',
      '/sitemap.xml',
      '/sitemap_index.xml',
    ])
    for (const { path, headers } of site.requests) expect(headers['accept'], path).toBe(ACCEPT)
  })

  test('a server that supports content negotiation answers with Markdown, which is stored as it is', async () => {
    const { site, crawl, library, source } = await createCrawlFixture({
      '/': page('Home', ['/a']),
      '/a': ({ headers }) =>
        headers.accept?.startsWith('text/markdown')
          ? {
              headers: { 'content-type': 'text/markdown', vary: 'accept' },
              body: markdown('A', '\n- `x < y`\n\n[b](/b)\n'),
            }
          : page('A in HTML'),
      '/b': page('B'),
    })
    expect(statesOf(await crawl())).toEqual({ '/': 'indexed', '/a': 'indexed', '/b': 'indexed' })
    expect(site.requestedPaths()).toEqual(['/', '/a', '/b'])
    const stored = await library.store.readPage(source.id, `${site.origin}/a`)
    expect(stored?.page.markdown).toContain('- `x < y`')
  })
})
