import { describe, expect, test } from 'vitest'
import { createCrawlFixture, statesOf } from './crawl.ts'
import { markdown, page, text } from './site.ts'

describe('links', () => {
  test('lead from page to page, and every web address gets a state', async () => {
    const { site, crawl } = await createCrawlFixture({
      '/': page('Home', ['/a', 'b', '/missing', 'https://other.example/x', 'mailto:a@b.example']),
      '/a': page('A', ['/b', '/']),
      '/b': page('B', ['/a#part']),
    })
    const crawled = await crawl()
    expect(statesOf(crawled)).toEqual({
      '/': 'indexed',
      '/a': 'indexed',
      '/b': 'indexed',
      '/missing': 'failed not-found',
      'https://other.example/x': 'skipped off-site',
    })
    expect(site.requestedPaths()).toEqual(['/', '/a', '/b', '/missing'])
    expect(crawled.summary.end).toBe('completed')
  })

  test('that are not addresses are told as dropped, once', async () => {
    const broken = ['http://[bad', 'https://a b.example/']
    const { site, crawl } = await createCrawlFixture({
      '/': page('Home', ['/a', ...broken, 'mailto:a@b.example']),
      '/a': page('A', broken),
    })
    const crawled = await crawl()
    const dropped = crawled.events.flatMap((event) => (event.type === 'dropped' ? [[event.url, event.reason]] : []))
    expect(dropped.sort()).toEqual(broken.map((url) => [url, 'bad-url']))
    expect(statesOf(crawled)).toMatchObject(Object.fromEntries(broken.map((url) => [url, 'skipped bad-url'])))
    expect(site.requestedPaths()).toEqual(['/', '/a'])
    expect(crawled.summary).toMatchObject({ end: 'completed', failed: 0 })
  })

  test('are resolved against the page they are on, without fragments and credentials', async () => {
    const { site, crawl } = await createCrawlFixture((origin) => ({
      '/': page('Home', ['guide/one', './guide/', '?page=2', origin.replace('//', '//user:secret@')]),
      '/?page=2': page('Home, continued'),
      '/guide/': page('Guide', ['two#top', '../up', '//other.example/a', '#here']),
      '/guide/one': page('One', ['two']),
      '/guide/two': page('Two'),
      '/up': page('Up'),
    }))
    const crawled = await crawl()
    expect(site.requestedPaths()).toEqual(['/', '/?page=2', '/guide/', '/guide/one', '/guide/two', '/up'])
    expect(crawled.rows.get('/guide/two')).toMatchObject({ state: 'indexed', depth: 2, discovery: 'link' })
    expect(crawled.rows.get('/up')?.foundOn).toBe(`${site.origin}/guide/`)
    expect(statesOf(crawled)['http://other.example/a']).toBe('skipped off-site')
  })

  test('are resolved against the base a page names', async () => {
    const { site, crawl } = await createCrawlFixture({
      '/': page('Home', ['one', '/two'], '<base href="/deep/down/">'),
      '/deep/down/one': page('One', ['three']),
      '/deep/down/three': page('Three'),
      '/two': page('Two', ['x'], '<base href="https://other.example/">'),
    })
    const crawled = await crawl()
    expect(site.requestedPaths()).toEqual(['/', '/deep/down/one', '/deep/down/three', '/two'])
    expect(statesOf(crawled)['https://other.example/x']).toBe('skipped off-site')
  })

  test('links that differ only in spelling cause one fetch, with the first spelling', async () => {
    const { site, crawl } = await createCrawlFixture({
      '/': page('Home', ['/a%7Eb/', '/a~b/', '/a~b//', '/a~b/#x', '/a~b/?utm_source=y']),
      '/a%7Eb/': page('One page'),
    })
    const crawled = await crawl()
    expect(site.requestedPaths()).toEqual(['/', '/a%7Eb/'])
    expect(crawled.rows.get('/a~b')).toMatchObject({ state: 'indexed', url: `${site.origin}/a%7Eb/` })
  })

  test('links outside the main content are followed too', async () => {
    const home = `<!doctype html><title>Home</title><nav><a href="/nav">n</a></nav><main><h1>Home</h1>
      <p>There is something to be read on this page, and more on others.</p></main>
      <footer><a href="/foot">f</a><map><area href="/area"></map></footer><link rel="next" href="/next">`
    const { site, crawl } = await createCrawlFixture({
      '/': home,
      '/nav': page('Nav'),
      '/foot': page('Foot'),
      '/area': page('Area'),
      '/next': page('Next'),
    })
    await crawl()
    expect(site.requestedPaths()).toEqual(['/', '/area', '/foot', '/nav', '/next'])
  })

  test('links in Markdown are followed', async () => {
    const { site, crawl } = await createCrawlFixture(
      {
        '/docs/start.md': text(markdown('Start', '\n[next](next.md)\n'), 'text/markdown'),
        '/docs/next.md': text(markdown('Next'), 'text/markdown'),
      },
      { start: '/docs/start.md' },
    )
    const crawled = await crawl()
    expect(site.requestedPaths()).toEqual(['/docs/next.md', '/docs/start.md'])
    expect(statesOf(crawled)).toEqual({ '/docs/start.md': 'indexed', '/docs/next.md': 'indexed' })
  })
})

describe('the Markdown form that a page names', () => {
  const form = '<link rel="alternate" type="text/markdown" href="/a.md">'

  test('is not fetched in addition to the page, and is recorded as covered by the page', async () => {
    const { site, crawl } = await createCrawlFixture({
      '/': page('Home', ['/a']),
      '/a': page('A', [], form),
      '/a.md': text(markdown('A'), 'text/markdown'),
    })
    const crawled = await crawl()
    expect(site.requestedPaths()).toEqual(['/', '/a'])
    expect(statesOf(crawled)).toEqual({ '/': 'indexed', '/a': 'indexed', '/a.md': 'skipped covered' })
    expect(crawled.rows.get('/a.md')).toMatchObject({
      discovery: 'alternate',
      pattern: 'text/markdown',
      target: `${site.origin}/a`,
    })
  })

  test('is not fetched even if the page links to it', async () => {
    const { site, crawl } = await createCrawlFixture({
      '/': page('Home', ['/a']),
      '/a': page('A', ['/a.md'], form),
      '/a.md': text(markdown('A'), 'text/markdown'),
    })
    const crawled = await crawl()
    expect(site.requestedPaths()).toEqual(['/', '/a'])
    expect(statesOf(crawled)['/a.md']).toBe('skipped covered')
  })

  test('is read instead of the page if llms.txt lists it, and the page is not indexed twice', async () => {
    const { site, crawl } = await createCrawlFixture({
      '/': page('Home', ['/a']),
      '/llms.txt': text('# Site\n\n- [A](/a.md)\n'),
      '/a': page('A', ['/b'], form),
      '/a.md': text(markdown('A in Markdown'), 'text/markdown'),
      '/b': page('B'),
    })
    const crawled = await crawl()
    expect(site.requestedPaths()).toEqual(['/', '/a', '/a.md', '/b', '/llms.txt'])
    expect(statesOf(crawled)).toEqual({
      '/': 'indexed',
      '/a': 'skipped canonical',
      '/a.md': 'indexed',
      '/b': 'indexed',
    })
    expect(crawled.rows.get('/a')).toMatchObject({ target: `${site.origin}/a.md`, pattern: 'text/markdown' })
  })

  test('is read instead of the page even if it answers later than the page', async () => {
    const answers = [{ status: 503, headers: { 'retry-after': '0' } }]
    const { crawl } = await createCrawlFixture(
      {
        '/': page('Home', ['/a']),
        '/llms.txt': text('# Site\n\n- [A](/a.md)\n- [B](/b.md)\n'),
        '/a': page('A', [], form),
        '/a.md': () => answers.pop() ?? text(markdown('A in Markdown'), 'text/markdown'),
      },
      { limits: { concurrency: 1 } },
    )
    expect(statesOf(await crawl())).toMatchObject({ '/a': 'skipped canonical', '/a.md': 'indexed' })
  })

  test('does not replace the page if llms.txt lists the form but the form is missing', async () => {
    const { crawl } = await createCrawlFixture({
      '/': page('Home', ['/a']),
      '/llms.txt': text('# Site\n\n- [A](/a.md)\n'),
      '/a': page('A', [], form),
    })
    expect(statesOf(await crawl())).toEqual({ '/': 'indexed', '/a': 'indexed', '/a.md': 'failed not-found' })
  })
})
