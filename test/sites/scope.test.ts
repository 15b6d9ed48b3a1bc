import { pathToFileURL } from 'node:url'
import { describe, expect, test } from 'vitest'
import { writeExplanation } from '../../src/cli/text/explanation-text.ts'
import { statusRecord, writeStatus } from '../../src/cli/text/status-text.ts'
import { DEFAULT_SCOPE } from '../../src/core/url/scope.ts'
import { addSource } from '../../src/library/crawl/add-source.ts'
import { TreeSurvey } from '../../src/library/import/tree-survey.ts'
import { createJobs } from '../../src/library/jobs/crawl-jobs.ts'
import { describeCrawl } from '../../src/library/sources/describe-crawl.ts'
import { describeSource } from '../../src/library/sources/describe-source.ts'
import { explainUrl } from '../../src/library/sources/explain.ts'
import { createTempFolder, writeFiles } from '../trees/archive-fixture.ts'
import { createTreeFixture } from '../trees/library-fixture.ts'
import { createCrawlFixture, openTestLibrary, openTestSite, runCrawl, statesOf, withNames } from './crawl.ts'
import { page, redirect, sitemap, text } from './site.ts'

describe('the reach of a source', () => {
  test('is by default the folder of its start', async () => {
    const { site, crawl } = await createCrawlFixture(
      {
        '/docs/': page('Docs', ['/docs/a', '/', '/docsx', '/Docs/b']),
        '/docs/a': page('A', ['../blog/', '/docs/deep/er']),
        '/docs/deep/er': page('Deeper'),
      },
      { start: '/docs/' },
    )
    const crawled = await crawl()
    expect(site.requestedPaths()).toEqual(['/docs/', '/docs/a', '/docs/deep/er'])
    expect(statesOf(crawled)).toEqual({
      '/docs': 'indexed',
      '/docs/a': 'indexed',
      '/docs/deep/er': 'indexed',
      '/': 'skipped out-of-scope',
      '/docsx': 'skipped out-of-scope',
      '/Docs/b': 'skipped out-of-scope',
      '/blog': 'skipped out-of-scope',
    })
    expect(crawled.rows.get('/blog')).toMatchObject({
      pattern: `subpages ${new URL(site.origin).host}/docs/`,
      foundOn: `${site.origin}/docs/a`,
    })
  })

  test('is the folder of a page that it starts from, also if the server adds a slash to pages', async () => {
    for (const start of ['/docs/getting-started', '/docs/slash']) {
      const { crawl } = await createCrawlFixture(
        {
          '/docs/llms.txt': text('# Docs\n\n- [A](/docs/a)\n- [B](/docs/more/b)\n- [Blog](/blog)\n'),
          '/docs/getting-started': page('Getting started'),
          '/docs/slash': redirect('/docs/slash/'),
          '/docs/slash/': page('Slash', ['/docs/slash/c']),
          '/docs/slash/c': page('C'),
          '/docs/a': page('A'),
          '/docs/more/b': page('B'),
        },
        { start },
      )
      const states = statesOf(await crawl())
      expect(states).toMatchObject({
        '/docs/a': 'indexed',
        '/docs/more/b': 'indexed',
        '/blog': 'skipped out-of-scope',
      })
      expect(states['/docs/slash/c']).toBe(start === '/docs/slash' ? 'indexed' : undefined)
    }
  })

  test('is the start itself if it redirects to a page below it, or is a folder of the root without its slash', async () => {
    for (const target of ['/docs/intro', '/docs/']) {
      const { crawl, library, source } = await createCrawlFixture(
        {
          '/docs': redirect(target, 302),
          [target]: page('Intro', ['/docs/a', '/blog']),
          '/docs/a': page('A'),
          '/blog': page('Blog'),
        },
        { start: '/docs' },
      )
      for (const kind of ['add', 'recrawl'] as const) {
        const crawled = await crawl({ kind })
        expect(crawled.summary).toMatchObject({ end: 'completed', incomplete: null, failed: 0 })
        expect(statesOf(crawled)).toMatchObject({ '/blog': 'skipped out-of-scope' })
        expect(crawled.rows.get('/docs/a')?.hasPage).toBe(true)
      }
      const { refusal } = await explainUrl(library, source, '/blog')
      expect(refusal?.reason).toBe('out-of-scope')
    }
  })

  test('hostname is the whole host and no other one', async () => {
    const other = await openTestSite({ '/x': page('X') }, { address: '127.0.0.2' })
    const { site, crawl } = await createCrawlFixture(
      (origin) => ({
        '/docs/': page('Docs', ['/', `${other.origin}/x`, `${origin.replace('127.0.0.1', 'localhost')}/docs/`]),
        '/': page('Root', ['https://127.0.0.1/']),
      }),
      { start: '/docs/', scope: { reach: 'hostname' } },
    )
    const crawled = await crawl()
    expect(site.requestedPaths()).toEqual(['/', '/docs/'])
    expect(other.requests).toEqual([])
    expect(statesOf(crawled)).toEqual({
      '/docs': 'indexed',
      '/': 'indexed',
      [`${other.origin}/x`]: 'skipped off-site',
      [`${site.origin.replace('127.0.0.1', 'localhost')}/docs`]: 'skipped off-site',
      'https://127.0.0.1/': 'skipped off-site',
    })
  })

  test('domain is every host below one domain, each with its own robots.txt first', async () => {
    const docs = await openTestSite({
      '/': page('Docs', ['http://api.site.test/', 'http://other.test/', 'http://site.test/']),
    })
    const api = await openTestSite({
      '/': page('Interface', ['/open', '/closed']),
      '/open': page('Open'),
      '/closed': page('Closed'),
      '/robots.txt': text('User-agent: *\nDisallow: /closed\n'),
    })
    const bare = await openTestSite({ '/': page('Bare') })
    const names = { 'docs.site.test': docs, 'api.site.test': api, 'site.test': bare }
    const library = withNames(await openTestLibrary(':memory:', { intervalMs: 0 }), names)
    const source = await addSource(library, { url: 'http://docs.site.test/', scope: { reach: 'domain' } })
    const crawled = await runCrawl(library, source, { kind: 'add' }, 'http://docs.site.test')
    expect(statesOf(crawled)).toEqual({
      '/': 'indexed',
      'http://api.site.test/': 'indexed',
      'http://api.site.test/open': 'indexed',
      'http://api.site.test/closed': 'skipped robots-disallow',
      'http://site.test/': 'indexed',
      'http://other.test/': 'skipped off-site',
    })
    expect(api.requests.map(({ path }) => path)).toEqual(['/robots.txt', '/', '/open'])
    expect(bare.requests.map(({ path }) => path)).toEqual(['/robots.txt', '/'])
  })

  test('domain is the host alone if the host is an IP address', async () => {
    const other = await openTestSite({ '/x': page('X') }, { address: '127.0.0.2' })
    const { crawl } = await createCrawlFixture(
      { '/': page('Home', [`${other.origin}/x`]) },
      { scope: { reach: 'domain' } },
    )
    expect(statesOf(await crawl())).toEqual({ '/': 'indexed', [`${other.origin}/x`]: 'skipped off-site' })
    expect(other.requests).toEqual([])
  })
})

describe('patterns', () => {
  const links = ['/docs/a', '/docs/old/b', '/docs/old/keep', '/blog/c', '/docs/x.pdf', '/docs/old']
  const pages = Object.fromEntries(links.map((path) => [path, page(`About ${path}`)]))

  test('block patterns take precedence over allow patterns, with or without an exclamation mark, and are recorded', async () => {
    const { site, crawl } = await createCrawlFixture(
      { '/': page('Home', links), ...pages },
      { scope: { allow: ['/docs/**', '/docs/old/keep'], block: ['!/docs/old/**', '*.pdf'] } },
    )
    const crawled = await crawl()
    expect(site.requestedPaths()).toEqual(['/', '/docs/a'])
    const outcomes = [...crawled.rows].map(([path, { state, reason, pattern }]) => [path, state, reason, pattern])
    expect(outcomes).toEqual([
      ['/', 'indexed', null, null],
      ['/blog/c', 'skipped', 'not-allowed', '/docs/**, /docs/old/keep'],
      ['/docs/a', 'indexed', null, null],
      ['/docs/old', 'skipped', 'blocked', '!/docs/old/**'],
      ['/docs/old/b', 'skipped', 'blocked', '!/docs/old/**'],
      ['/docs/old/keep', 'skipped', 'blocked', '!/docs/old/**'],
      ['/docs/x.pdf', 'skipped', 'blocked', '*.pdf'],
    ])
  })

  test('an exclamation mark blocks in the allow list as well, in a crawl and in a folder', async () => {
    const scope = { allow: ['/docs/**', '!/docs/old/**'] }
    const { site, crawl } = await createCrawlFixture({ '/': page('Home', links), ...pages }, { scope })
    expect(statesOf(await crawl())).toMatchObject({
      '/docs/old/b': 'skipped blocked',
      '/blog/c': 'skipped not-allowed',
    })
    expect(site.requestedPaths()).toEqual(['/', '/docs/a', '/docs/x.pdf'])
    const survey = new TreeSurvey({ ...DEFAULT_SCOPE, ...scope })
    const reasons = ['docs/a.md', 'docs/old/b.md', 'c.md'].map((path) => survey.findRefusal(path)?.reason)
    expect(reasons).toEqual([undefined, 'blocked', 'not-allowed'])
  })

  test('patterns are matched against the path alone', async () => {
    const { site, crawl } = await createCrawlFixture(
      { '/': page('Home', ['/a?id=secret', '/secret/']), '/a?id=secret': page('A') },
      { scope: { block: ['**secret**'] } },
    )
    expect(statesOf(await crawl())).toEqual({ '/': 'indexed', '/a?id=secret': 'indexed', '/secret': 'skipped blocked' })
    expect(site.requestedPaths()).toEqual(['/', '/a?id=secret'])
  })

  test('patterns do not exclude the start', async () => {
    const { crawl } = await createCrawlFixture(
      { '/start': page('Start', ['/start/a/x', '/start/b']), '/start/a/x': page('X') },
      { start: '/start', scope: { allow: ['/start/a/*'] } },
    )
    expect(statesOf(await crawl())).toEqual({
      '/start': 'indexed',
      '/start/a/x': 'indexed',
      '/start/b': 'skipped not-allowed',
    })
  })

  test('patterns never admit lists and archives', async () => {
    const never = ['/llms.txt', '/deep/LLMS.TXT', '/sitemap-2.xml', '/robots.txt', '/a.zip', '/deep/llms-full.txt']
    const { site, crawl } = await createCrawlFixture(
      {
        '/': page('Home', [...never, '/style.css']),
        ...Object.fromEntries([...never, '/style.css'].map((path) => [path, text('no page at all')])),
      },
      { scope: { allow: ['/**', ...never], useDefaultExcludes: false }, settings: { crawlType: 'basic' } },
    )
    const crawled = await crawl()
    expect(site.requestedPaths()).toEqual(['/', '/robots.txt', '/style.css'])
    for (const path of never) expect(statesOf(crawled)[path], path).toBe('skipped excluded')
    expect(crawled.rows.get('/deep/LLMS.TXT')?.pattern).toBe('llms.txt')
  })
})

describe('the depth limit', () => {
  const chain = {
    '/': page('Home', ['/1']),
    '/1': page('One', ['/2']),
    '/2': page('Two', ['/3']),
    '/3': page('Three', ['/4']),
    '/4': page('Four'),
  }

  test('stops the crawl at that depth, and deeper addresses are recorded', async () => {
    const { site, crawl } = await createCrawlFixture(chain, { scope: { maxDepth: 2 } })
    const crawled = await crawl()
    expect(site.requestedPaths()).toEqual(['/', '/1', '/2'])
    expect(statesOf(crawled)['/3']).toBe('skipped max-depth')
    expect(crawled.rows.get('/3')).toMatchObject({ depth: 3, pattern: '2' })
    expect(crawled.rows.has('/4')).toBe(false)
  })

  test('admits only the start and listed pages if it is 0', async () => {
    const { site, crawl } = await createCrawlFixture(
      (origin) => ({ ...chain, '/sitemap.xml': sitemap([`${origin}/4`]) }),
      {
        scope: { maxDepth: 0 },
      },
    )
    await crawl()
    expect(site.requestedPaths()).toEqual(['/', '/4', '/sitemap.xml'])
  })

  test('counts the shortest path, however late it is found', async () => {
    // The long path is fast and the short one slow.
    const { site, crawl } = await createCrawlFixture(
      {
        '/': page('Home', ['/1', '/slow']),
        '/1': page('One', ['/2']),
        '/2': page('Two', ['/far']),
        '/slow': () => ({ body: page('Slow', ['/far']), delayMs: 150 }),
        '/far': page('Far', ['/farther']),
        '/farther': page('Farther', ['/farthest']),
      },
      { scope: { maxDepth: 3 } },
    )
    const crawled = await crawl()
    expect(site.requestedPaths()).toEqual(['/', '/1', '/2', '/far', '/farther', '/slow'])
    expect(crawled.rows.get('/far')?.depth).toBe(2)
    expect(statesOf(crawled)['/farthest']).toBe('skipped max-depth')
  })

  test('does not exist by default', async () => {
    const { site, crawl } = await createCrawlFixture(chain)
    await crawl()
    expect(site.requestedPaths()).toEqual(['/', '/1', '/2', '/3', '/4'])
  })
})

describe('the cap on pages', () => {
  const many = Array.from({ length: 8 }, (_, i) => `/p${i}`)
  const pages = Object.fromEntries(many.map((path) => [path, page(`About ${path}`)]))

  test('counts pages and nothing that is filtered or failed, and the rest is reported as left out', async () => {
    const { site, crawl } = await createCrawlFixture(
      {
        '/': page('Home', ['/missing', '/noindex', '/blocked', '/a.zip', ...many]),
        '/noindex': page('Not for the index', [], '<meta name="robots" content="noindex">'),
        ...pages,
      },
      { scope: { maxPages: 4, block: ['/blocked'] } },
    )
    const { summary, ...crawled } = await crawl()
    const states = statesOf({ summary, ...crawled })
    const count = (state: string) => Object.values(states).filter((each) => each === state).length
    expect(count('indexed')).toBe(4)
    expect(count('skipped page-cap')).toBe(5)
    expect(states).toMatchObject({
      '/missing': 'failed not-found',
      '/noindex': 'skipped noindex',
      '/blocked': 'skipped blocked',
      '/a.zip': 'skipped excluded',
    })
    expect(summary).toMatchObject({ cappedAt: 4, end: 'completed' })
    expect(crawled.rows.get('/p7')?.pattern).toBe('4')
    expect(site.requestedPaths().filter((path) => path.startsWith('/p'))).toHaveLength(3)
  })

  test('is not reported if it leaves nothing out', async () => {
    const { crawl } = await createCrawlFixture({ '/': page('Home', ['/p0']), ...pages }, { scope: { maxPages: 2 } })
    const { summary } = await crawl()
    expect(summary.cappedAt).toBeNull()
  })

  test('admits the pages nearest to the start', async () => {
    const { crawl } = await createCrawlFixture(
      {
        '/': page('Home', ['/near', '/nearer']),
        '/near': page('Near', ['/far']),
        '/nearer': () => ({ body: page('Nearer'), delayMs: 80 }),
        '/far': page('Far'),
      },
      { scope: { maxPages: 3 } },
    )
    expect(statesOf(await crawl())).toEqual({
      '/': 'indexed',
      '/near': 'indexed',
      '/nearer': 'indexed',
      '/far': 'skipped page-cap',
    })
  })

  test('applies to pages of llms-full.txt as well', async () => {
    const { crawl } = await createCrawlFixture(
      (origin) => ({
        '/': page('Home'),
        '/llms-full.txt': text(
          `This belongs to no page in particular.\n\n${many
            .map((path) => `# About ${path}\nSource: ${origin}${path}\n\nWhat is to be said about ${path} here.\n`)
            .join('\n')}`,
        ),
      }),
      { scope: { maxPages: 3 } },
    )
    const crawled = await crawl()
    const states = Object.values(statesOf(crawled))
    expect(states.filter((state) => state === 'indexed')).toHaveLength(3)
    expect(states.filter((state) => state === 'skipped page-cap')).toHaveLength(7)
    expect(statesOf(crawled)['/llms-full.txt']).toBe('skipped page-cap')
    expect(crawled.summary.cappedAt).toBe(3)
  })

  test('removes nothing if it is set for one recrawl, and the next recrawl visits everything again', async () => {
    const { crawl } = await createCrawlFixture({ '/': page('Home', many), ...pages })
    await crawl()
    const capped = await crawl({ kind: 'recrawl', scope: { maxPages: 3 } })
    expect(capped.summary).toMatchObject({ cappedAt: 3, removed: 0, end: 'completed' })
    expect([...capped.rows.values()].filter(({ hasPage }) => hasPage)).toHaveLength(9)
    const uncapped = await crawl({ kind: 'recrawl' })
    expect(uncapped.summary).toMatchObject({ cappedAt: null, removed: 0 })
    expect(new Set(Object.values(statesOf(uncapped)))).toEqual(new Set(['unchanged']))
  })
})

describe('queries', () => {
  test('an address with tracking parameters is fetched without them, and the alias is recorded', async () => {
    const { site, crawl, library, source } = await createCrawlFixture({
      '/': page('Home', ['/a?utm_source=x&gclid=y', '/b?fbclid=1', '/b']),
      '/a': page('A'),
      '/b': page('B'),
    })
    const crawled = await crawl()
    expect(site.requestedPaths()).toEqual(['/', '/a', '/b'])
    expect(statesOf(crawled)).toEqual({ '/': 'indexed', '/a': 'indexed', '/b': 'indexed' })
    expect(crawled.rows.get('/a')).toMatchObject({ discovery: 'query-strip', url: `${site.origin}/a` })
    expect(await library.store.listAliases(source.id, `${site.origin}/a`)).toMatchObject([
      {
        url: `${site.origin}/a?utm_source=x&gclid=y`,
        aliasUrl: `${site.origin}/a`,
        classification: 'superfluous-query',
        reason: 'query-skip',
        exists: true,
      },
    ])
    const dropped = crawled.events.flatMap((event) =>
      event.type === 'dropped' ? [[event.url, event.reason, event.target]] : [],
    )
    expect(dropped.sort()).toEqual([
      [`${site.origin}/a?utm_source=x&gclid=y`, 'query-skip', `${site.origin}/a`],
      [`${site.origin}/b?fbclid=1`, 'query-skip', `${site.origin}/b`],
    ])
  })

  test('parameters that may select content are fetched as written, without those that track readers', async () => {
    const { site, crawl, library, source } = await createCrawlFixture({
      '/': page('Home', ['/a?id=1', '/a?id=2&utm_source=x&mc_cid=y&_ga=z', '/a?sessionid=s1&lang=de', '/a?B=%7e&A=1']),
      '/a?id=1': page('First'),
      '/a?id=2': page('Second'),
      '/a?lang=de': page('German'),
      '/a?B=%7e&A=1': page('Another'),
    })
    const crawled = await crawl()
    expect(site.requestedPaths()).toEqual(['/', '/a?B=%7e&A=1', '/a?id=1', '/a?id=2', '/a?lang=de'])
    expect(statesOf(crawled)).toEqual({
      '/': 'indexed',
      '/a?id=1': 'indexed',
      '/a?id=2': 'indexed',
      '/a?lang=de': 'indexed',
      '/a?B=~&A=1': 'indexed',
    })
    for (const [written, path] of [
      ['/a?id=2&utm_source=x&mc_cid=y&_ga=z', '/a?id=2'],
      ['/a?sessionid=s1&lang=de', '/a?lang=de'],
    ] as const) {
      const { row, aliases } = await explainUrl(library, source, `${site.origin}${written}`)
      expect(row).toMatchObject({ url: `${site.origin}${path}`, state: 'indexed' })
      expect(aliases).toMatchObject([{ url: `${site.origin}${written}`, aliasUrl: `${site.origin}${path}` }])
    }
  })

  test('every query is a page of its own with allowQueryUrls, whatever its keys', async () => {
    const { site, crawl } = await createCrawlFixture(
      {
        '/': page('Home', ['/list?view=1', '/list?view=2', '/list?view=%31', '/list', '/old?ref=x']),
        '/list': page('List'),
        '/list?view=1': page('First view', ['/list?view=3&ref=a']),
        '/list?view=2': page('Second view'),
        '/list?view=3&ref=a': page('Third view'),
        '/old?ref=x': { status: 301, headers: { location: '/list?view=2' } },
      },
      { scope: { allowQueryUrls: true } },
    )
    const expected = ['/', '/list', '/list?view=1', '/list?view=2', '/list?view=3&ref=a', '/old?ref=x']
    const crawled = await crawl()
    expect(statesOf(crawled)).toEqual({
      ...Object.fromEntries(expected.map((path) => [path, 'indexed'])),
      '/old?ref=x': 'skipped redirect',
    })
    expect(crawled.rows.get('/old?ref=x')?.target).toBe(`${site.origin}/list?view=2`)
    expect(site.requestedPaths()).toEqual(expected)
    const again = await crawl({ kind: 'recrawl' })
    expect(again.summary).toMatchObject({ indexed: 0, unchanged: 5, removed: 0 })
  })

  test('the query of the start is kept with allowQueryUrls', async () => {
    const { crawl } = await createCrawlFixture(
      { '/list?view=1': page('First view', ['/list?view=2']), '/list?view=2': page('Second view') },
      { start: '/list?view=1', scope: { allowQueryUrls: true } },
    )
    await crawl()
    const again = await crawl({ kind: 'recrawl' })
    expect(statesOf(again)).toEqual({ '/list?view=1': 'unchanged', '/list?view=2': 'unchanged' })
    expect(again.summary).toMatchObject({ end: 'completed', incomplete: null })
  })
})

test('indexed pages that the scope of the source blocks are removed and listed as blocked, linked or not', async () => {
  const { crawl, library, source } = await createCrawlFixture(
    { '/': page('Start', ['/a', '/blog/x']), '/a': page('A'), '/blog/x': page('X', ['/blog/y']), '/blog/y': page('Y') },
    { scope: { block: ['/blog/**'] } },
  )
  const before = await crawl({ scope: { block: [] } })
  expect(statesOf(before)).toMatchObject({ '/blog/x': 'indexed', '/blog/y': 'indexed' })
  const after = await crawl({ kind: 'recrawl' })
  expect(statesOf(after)).toMatchObject({ '/blog/x': 'skipped blocked', '/blog/y': 'skipped blocked' })
  expect(await library.store.countContent(source.id)).toMatchObject({ pages: 2 })
  const { filtered } = await describeSource(library, source, 10)
  expect(filtered.map(({ reason, pattern }) => [reason, pattern])).toEqual([
    ['blocked', '/blog/**'],
    ['blocked', '/blog/**'],
  ])
})

test('addresses count as filtered only when the scope refuses them', async () => {
  const { crawl, library, source } = await createCrawlFixture({
    '/': page('Start', ['/logo.png', 'mailto:a@b.example', 'https://elsewhere.example/', '/a?utm_source=x']),
  })
  await crawl()
  const { filtered, leftOut } = await describeSource(library, source, 10)
  expect(filtered.map(({ reason }) => reason)).toEqual(['off-site'])
  expect(leftOut.map(({ reason }) => reason)).toContain('excluded')
})

test('pages that only the scope of one run blocks stay, and are listed as blocked', async () => {
  const { crawl, library, source } = await createCrawlFixture(
    { '/': page('Start', ['/a', '/blog/x']), '/a': page('A'), '/blog/x': page('X', ['/blog/y']), '/blog/y': page('Y') },
    { name: 'site' },
  )
  await crawl()
  await crawl({ kind: 'recrawl', scope: { block: ['/blog/**'] } })
  expect(await library.store.countContent(source.id)).toMatchObject({ pages: 4 })
  const about = await describeSource(library, source, 10)
  expect(about.filtered.map(({ url, reason, pattern }) => [new URL(url).pathname, reason, pattern])).toEqual([
    ['/blog/x', 'blocked', '/blog/**'],
    ['/blog/y', 'blocked', '/blog/**'],
  ])
  const hint = (verb: string) => verb
  const now = library.clock.now()
  const status = writeStatus(about, hint, now)
  expect(status).toContain('Pages: 0 crawled, 2 skipped (unchanged), 0 errors')
  expect(status).toContain('Filtered: 2 URLs excluded by scope, 2 of them in the last run only: their pages stay')
  expect(statusRecord(about, now)).toMatchObject({ filtered_total: 2 })
  const report = await describeCrawl(library, createJobs(library), source, 10)
  expect(report.progress).toMatchObject({ filtered: 2, filteredUrls: [{ reason: 'blocked' }, { reason: 'blocked' }] })
  const explained = await explainUrl(library, source, '/blog/x')
  expect(explained).toMatchObject({ refusal: null, lastRefusal: { reason: 'blocked', pattern: '/blog/**' } })
  expect(writeExplanation(explained, source, hint, now)).toContain(
    'Last crawl: left as it was, blocked by /blog/** for that run only',
  )
  await crawl({ kind: 'recrawl' })
  expect((await describeSource(library, source, 10)).filtered).toEqual([])
  expect((await explainUrl(library, source, '/blog/x')).lastRefusal).toBeNull()
})

test('files that only the scope of one run blocks stay, and are listed as blocked', async () => {
  const folder = createTempFolder()
  writeFiles(folder, { 'a.md': '# A\n\nText of A.\n', 'blog/x.md': '# X\n\nText of X.\n' })
  const { crawl, library, source } = await createTreeFixture(pathToFileURL(`${folder}/`).href)
  await crawl()
  await crawl({ kind: 'recrawl', scope: { block: ['/blog/**'] } })
  const { filtered, pages } = await describeSource(library, source, 10)
  expect(pages).toBe(2)
  expect(filtered.map(({ key, reason, pattern }) => [key, reason, pattern])).toEqual([
    ['blog/x.md', 'blocked', '/blog/**'],
  ])
})
