import { describe, expect, test } from 'vitest'
import { compareUtf8 } from '../../src/core/text/order.ts'
import { createCrawlFixture, statesOf } from './crawl.ts'
import { createFileFixture, expectUntouched, type FileFixture, shareCrawledFixture } from './file-fixture.ts'
import { type Answer, page, redirect, type Site, sitemap } from './site.ts'

/** The validators with which a site lets the crawler check whether a page has changed. */
const VALIDATORS = ['etag', 'date', 'none'] as const
type Validators = (typeof VALIDATORS)[number]

const KINDS = ['refresh', 'recrawl'] as const

/** In the short form each kind of crawl is tested without validators, and with one kind of validator. */
const TESTED_VALIDATORS: Readonly<Record<(typeof KINDS)[number], readonly Validators[]>> =
  process.env['TEST_LONG'] === undefined
    ? { refresh: ['etag', 'none'], recrawl: ['date', 'none'] }
    : { refresh: VALIDATORS, recrawl: VALIDATORS }

/** A tree: every page except the start is linked from exactly one other page. */
const TREE: Readonly<Record<string, string>> = {
  '/': page('Home heron', ['/a', '/b', '/c', '/d', '/e']),
  '/a': page('Alpha albatross', ['/a/1', '/a/2']),
  '/a/1': page('First finch'),
  '/a/2': page('Second swallow'),
  '/b': page('Beta bittern', ['/b/1']),
  '/b/1': page('Third thrush', ['/b/2']),
  '/b/2': page('Fourth falcon'),
  '/c': page('Gamma gannet', ['/c/1']),
  '/c/1': page('Fifth flamingo'),
  '/d': page('Delta dunlin', ['/dead']),
  '/e': page('Epsilon eagle'),
}

describe.each(KINDS)('a %s', (kind) => {
  describe.each(TESTED_VALIDATORS[kind])('of a site with validators: %s', (validators) => {
    test('changes the rows of pages that changed, and no others', async () => {
      const fixture = await stageTree(validators)
      const before = await fixture.readContent()
      const head = '<meta name="x" content="only around the content">'
      put(fixture.site, '/a/1', page('First finch', [], head), validators)
      put(fixture.site, '/b/1', page('Third cormorant', ['/b/2']), validators)
      fixture.site.clearRequests()
      const crawled = await fixture.crawl({ kind })
      const after = await fixture.readContent()

      expect(crawled.summary).toMatchObject({
        end: 'completed',
        indexed: 1,
        removed: 0,
        failed: kind === 'recrawl' ? 1 : 0,
      })
      expectUntouched(before, after, ['/b/1', ...(validators === 'none' ? [] : ['/a/1'])])
      // The content of the page is unchanged, so only its validators may differ.
      expect(after.pages.get('/a/1')).toEqual(before.pages.get('/a/1'))
      expect(after.rows.get('/a/1')).toMatchObject({
        state: 'unchanged',
        changedAt: before.rows.get('/a/1')?.changedAt,
      })
      expect(after.rows.get('/b/1')?.state).toBe('indexed')
      expect(after.rows.get('/b/1')?.changedAt).toBeGreaterThan(before.rows.get('/b/1')?.changedAt ?? Infinity)
      await expect(fixture.search('thrush')).resolves.toEqual([])
      await expect(fixture.search('cormorant')).resolves.toEqual(['/b/1'])

      expect(fixture.site.requestedPaths()).toEqual(
        [...before.pages.keys(), ...(kind === 'recrawl' ? ['/dead'] : [])].sort(compareUtf8),
      )
      for (const { path, headers, status } of fixture.site.requests) {
        if (!before.pages.has(path)) continue
        const row = before.rows.get(path)
        expect(headers['if-none-match'], path).toBe(validators === 'etag' ? row?.etag : undefined)
        expect(headers['if-modified-since'], path).toBe(validators === 'date' ? row?.lastModified : undefined)
        const isRead = validators === 'none' || path === '/b/1' || path === '/a/1'
        expect(status, path).toBe(isRead ? 200 : 304)
      }
    })

    test('removes a missing page: after 410 at once, after 404 on the second request', async () => {
      const { site, crawl, readContent, search } = await stageTree(validators)
      const before = await readContent()
      site.pages.delete('/a/1')
      site.pages.set('/e', { status: 410, body: 'gone' })
      site.clearRequests()
      const { summary } = await crawl({ kind })
      const after = await readContent()
      expect(summary).toMatchObject({ end: 'completed', removed: 2, indexed: 0, withheld: 0 })
      expectUntouched(before, after, ['/a/1', '/e'])
      expect(after.rows.get('/a/1')).toMatchObject({ state: 'gone', reason: 'not-found', hasPage: false })
      expect(after.rows.get('/e')).toMatchObject({ state: 'gone', reason: 'removed', hasPage: false })
      expect([...before.pages.keys()].filter((path) => !after.pages.has(path))).toEqual(['/a/1', '/e'])
      expect(countRequests(site, '/a/1')).toBe(2)
      expect(countRequests(site, '/e')).toBe(1)
      await expect(search('finch')).resolves.toEqual([])
      await expect(search('eagle')).resolves.toEqual([])
      await expect(search('swallow')).resolves.toEqual(['/a/2'])
    })

    test('keeps a page that was missing only once', async () => {
      const { site, crawl, readContent } = await stageTree(validators)
      const before = await readContent()
      const answer = site.pages.get('/a/1')
      let requestCount = 0
      site.pages.set('/a/1', (request) => {
        if (++requestCount === 1) return { status: 404, body: 'not now' }
        return typeof answer === 'function' ? answer(request) : (answer ?? '')
      })
      const { summary } = await crawl({ kind })
      expect(requestCount).toBe(2)
      expect(summary).toMatchObject({ end: 'completed', removed: 0 })
      expectUntouched(before, await readContent(), [])
    })

    test('keeps a page that answers with errors, and the pages behind it', async () => {
      const { site, crawl, readContent, search } = await stageTree(validators)
      const before = await readContent()
      site.pages.set('/b', { status: 500, body: 'broken' })
      site.pages.set('/c/1', { status: 503, body: 'busy' })
      site.clearRequests()
      const crawled = await crawl({ kind })
      const after = await readContent()
      expect(crawled.summary).toMatchObject({ end: 'completed', removed: 0, indexed: 0 })
      expectUntouched(before, after, ['/b', '/c/1'])
      for (const path of ['/b', '/c/1']) {
        expect(after.rows.get(path)).toMatchObject({
          state: 'failed',
          reason: 'http-server-error',
          hasPage: true,
          attempts: 3,
        })
        expect(after.pages.get(path)).toEqual(before.pages.get(path))
        expect(countRequests(site, path)).toBe(3)
      }
      expect(after.rows.get('/b/1')?.state).toBe('unchanged')
      await expect(search('bittern')).resolves.toEqual(['/b'])
      await expect(search('thrush')).resolves.toEqual(['/b/1'])
    })

    test('finds new pages behind unchanged ones, or reports that they exist', async () => {
      const { site, crawl, readContent, search } = await stageTree(validators)
      const before = await readContent()
      // /b is unchanged, but /b/1 behind it links to a new page. /c keeps its text and gains a link outside of the text.
      put(site, '/b/1', page('Third thrush', ['/b/2', '/b/new']), validators)
      put(site, '/b/new', page('New nightingale', ['/b/newer']), validators)
      put(site, '/b/newer', page('Newer nuthatch'), validators)
      put(site, '/c', TREE['/c']?.replace('<main>', '<nav><a href="/c/new">more</a></nav><main>') ?? '', validators)
      put(site, '/c/new', page('Another nightjar'), validators)
      put(site, '/dead', page('Risen roller'), validators)
      site.clearRequests()
      const crawled = await crawl({ kind })
      const after = await readContent()
      const isFull = kind === 'recrawl'
      expect(crawled.summary).toMatchObject({
        end: 'completed',
        indexed: isFull ? 5 : 1,
        newInRefresh: isFull ? 0 : 2,
        removed: 0,
      })
      expectUntouched(before, after, ['/b/1', '/c', '/b/new', '/b/newer', '/c/new', ...(isFull ? ['/dead'] : [])])
      expect(after.pages.get('/c')?.chunks).toEqual(before.pages.get('/c')?.chunks)
      expect(after.rows.get('/c')).toMatchObject({ state: 'unchanged', changedAt: before.rows.get('/c')?.changedAt })
      const states = statesOf(crawled)
      expect(states['/b/new']).toBe(isFull ? 'indexed' : 'skipped new-in-refresh')
      expect(states['/b/newer']).toBe(isFull ? 'indexed' : undefined)
      expect(states['/c/new']).toBe(isFull ? 'indexed' : 'skipped new-in-refresh')
      expect(states['/dead']).toBe(isFull ? 'indexed' : 'failed not-found')
      expect(site.requestedPaths().includes('/b/new')).toBe(isFull)
      await expect(search('nightingale')).resolves.toEqual(isFull ? ['/b/new'] : [])
      if (isFull) return

      site.clearRequests()
      const next = await crawl({ kind: 'refresh', discover: true })
      expect(next.summary).toMatchObject({ end: 'completed', indexed: 3, newInRefresh: 0 })
      expect(statesOf(next)).toMatchObject({ '/b/new': 'indexed', '/b/newer': 'indexed', '/c/new': 'indexed' })
      await expect(search('nightingale')).resolves.toEqual(['/b/new'])
      expect(site.requestedPaths()).not.toContain('/dead')
    })

    test('a run that is stopped half-way deletes nothing, and resumes', async () => {
      const { site, crawl, readContent } = await stageTree(validators)
      const before = await readContent()
      put(site, '/c/1', page('Fifth fulmar'), validators)
      site.pages.delete('/a/1')
      const stop = new AbortController()
      const answer = site.pages.get('/c')
      site.pages.set('/c', (request) => {
        stop.abort()
        return typeof answer === 'function' ? answer(request) : (answer ?? '')
      })
      const stopped = await crawl({ kind }, stop.signal)
      expect(stopped.summary).toMatchObject({ end: 'cancelled', removed: 0 })
      const between = await readContent()
      expect([...between.pages.keys()]).toEqual([...before.pages.keys()])
      const crawled = await crawl({ kind })
      expect(crawled.events[0]).toMatchObject({ type: 'started', isResumed: true, crawlId: stopped.summary.crawlId })
      expect(crawled.summary).toMatchObject({ end: 'completed', removed: 1 })
      const after = await readContent()
      expectUntouched(before, after, ['/c/1', '/a/1'])
      expect(after.rows.get('/c/1')?.state).toBe('indexed')
      expect(after.rows.get('/a/1')).toMatchObject({ state: 'gone', reason: 'not-found' })
    })

    test('a run with a cap visits no more pages than the cap, and deletes nothing that it did not visit', async () => {
      const { site, crawl, readContent, library, source } = await stageTree(validators)
      const before = await readContent()
      put(site, '/', page('Home heron', ['/a', '/b', '/c', '/d']), validators)
      site.clearRequests()
      const crawled = await crawl({ kind, scope: { maxPages: 4 } })
      expect(crawled.summary).toMatchObject({ end: 'completed', cappedAt: 4, removed: 0 })
      expect(crawled.summary.indexed + crawled.summary.unchanged).toBe(4)
      expect(site.requestedPaths()).toHaveLength(4)
      const after = await readContent()
      expect([...after.pages.keys()]).toEqual([...before.pages.keys()])
      for (const [path, content] of before.pages) if (path !== '/') expect(after.pages.get(path)).toEqual(content)
      const [sourceAfter] = await library.store.listSources()
      expect(sourceAfter?.scope).toEqual(source.scope)
    })

    test('a run with a narrower scope leaves pages outside of it alone', async () => {
      const { site, crawl, readContent, search, library, source } = await stageTree(validators)
      const before = await readContent()
      put(site, '/a/1', page('First fieldfare'), validators)
      put(site, '/b/1', page('Third tern', ['/b/2']), validators)
      site.clearRequests()
      const narrow = await crawl({ kind, scope: { block: ['/a/**'] } })
      expect(narrow.summary).toMatchObject({ end: 'completed', removed: 0, indexed: 1 })
      expect(site.requestedPaths().filter((path) => path.startsWith('/a/'))).toEqual([])
      const between = await readContent()
      for (const path of ['/a/1', '/a/2']) expect(between.pages.get(path)).toEqual(before.pages.get(path))
      await expect(search('finch')).resolves.toEqual(['/a/1'])
      await expect(search('tern')).resolves.toEqual(['/b/1'])
      const [sourceAfter] = await library.store.listSources()
      expect(sourceAfter?.scope).toEqual(source.scope)

      const wide = await crawl({ kind })
      expect(wide.summary).toMatchObject({ end: 'completed', removed: 0, indexed: 1 })
      expect(wide.rows.get('/a/1')).toMatchObject({ state: 'indexed', reason: null })
      expect(wide.rows.get('/a/2')).toMatchObject({ state: 'unchanged', reason: null })
      await expect(search('fieldfare')).resolves.toEqual(['/a/1'])
    })
  })
})

describe('a full recrawl', () => {
  test.each(VALIDATORS)('reads every page again and finds orphans too, with validators: %s', async (validators) => {
    const { site, crawl, readContent, search } = await stageTree(validators)
    const before = await readContent()
    put(site, '/', page('Home heron', ['/a', '/b', '/c', '/d']), validators)
    site.pages.delete('/e')
    site.clearRequests()
    const { summary } = await crawl({ kind: 'recrawl', full: true })
    expect(summary).toMatchObject({ end: 'completed', indexed: 10, unchanged: 0, removed: 1 })
    for (const { path, headers, status } of site.requests) {
      expect(headers['if-none-match'] ?? headers['if-modified-since'], path).toBeUndefined()
      if (before.pages.has(path)) expect(status).toBe(path === '/e' ? 404 : 200)
    }
    const after = await readContent()
    expect(after.rows.get('/e')).toMatchObject({ state: 'gone', reason: 'not-found' })
    await expect(search('eagle')).resolves.toEqual([])
    for (const path of after.pages.keys()) {
      expect(after.pages.get(path)?.chunks.map(({ id }) => id)).toEqual(
        path === '/' ? expect.anything() : before.pages.get(path)?.chunks.map(({ id }) => id),
      )
    }
  })
})

describe('orphans', () => {
  /** The start without its link to /e. */
  const shrunk = page('Home heron', ['/a', '/b', '/c', '/d'])

  test('pages that a complete recrawl did not find are requested, and stay while they exist', async () => {
    const { site, crawl, search, readContent } = await stageTree('etag')
    const before = await readContent()
    site.pages.set('/', page('We will be back soon'))
    site.clearRequests()
    const crawled = await crawl({ kind: 'recrawl' })
    expect(crawled.summary).toMatchObject({ end: 'completed', removed: 0 })
    expect(crawled.rows.get('/e')).toMatchObject({ state: 'unchanged', reason: null })
    expect(site.requestedPaths()).toContain('/e')
    expect([...(await readContent()).pages.keys()]).toEqual([...before.pages.keys()])
    await expect(search('eagle')).resolves.toEqual(['/e'])
  })

  test('have one rule, whatever led to them: those that answer and are in scope stay', async () => {
    const staged = await createCrawlFixture(
      (origin) => ({
        '/': page('Home heron', ['/hub', '/from-start', '/gone']),
        '/hub': page('Hub hawk', ['/deep', '/deep-gone', '/old/page']),
        '/sitemap.xml': sitemap([`${origin}/listed`, `${origin}/listed-gone`]),
        ...Object.fromEntries(
          ['/from-start', '/gone', '/deep', '/deep-gone', '/old/page', '/listed', '/listed-gone'].map((path) => [
            path,
            page(`Page ${path}`),
          ]),
        ),
      }),
      { scope: { block: ['/old/**'] } },
    )
    await staged.crawl({ scope: { block: [] } })
    const { site } = staged
    site.pages.set('/', page('Home heron', ['/hub']))
    site.pages.set('/hub', page('Hub hawk'))
    site.pages.set('/sitemap.xml', sitemap([]))
    for (const path of ['/gone', '/deep-gone', '/listed-gone']) site.pages.delete(path)
    site.clearRequests()
    const crawled = await staged.crawl({ kind: 'recrawl' })
    expect(crawled.summary).toMatchObject({ end: 'completed', removed: 4, incomplete: null })
    expect(statesOf(crawled)).toEqual({
      '/': 'indexed',
      '/hub': 'indexed',
      '/from-start': 'unchanged',
      '/deep': 'unchanged',
      '/listed': 'unchanged',
      '/gone': 'gone not-found',
      '/deep-gone': 'gone not-found',
      '/listed-gone': 'gone not-found',
      '/old/page': 'skipped blocked',
    })
    expect(site.requestedPaths()).toEqual(expect.arrayContaining(['/from-start', '/deep', '/listed', '/deep-gone']))
    expect(site.requestedPaths()).not.toContain('/old/page')
  })

  test('stay if only redirects and pages without content linked to them and the start loses its links', async () => {
    const noindex = '<meta name="robots" content="noindex">'
    const names = ['one', 'two', 'three', 'four', 'five', 'six', 'seven']
    const targets = names.map((name) => `/target/${name}`)
    const behind = names.flatMap((name) => [`/behind/${name}`, `/below/${name}`])
    const staged = await createCrawlFixture({
      '/': redirect('/home', 302),
      '/home': page('Home heron', [...names.map((name) => `/link/${name}`), '/hub', '/empty']),
      ...Object.fromEntries(names.map((name) => [`/link/${name}`, redirect(`/target/${name}`)])),
      '/hub': page('Hub hawk', [...names.map((name) => `/behind/${name}`)], noindex),
      // This page has too little text to be stored, so only its links count.
      '/empty': `<title></title><body>${names.map((name) => `<a href="/below/${name}"></a>`).join('')}</body>`,
      ...Object.fromEntries([...targets, ...behind].map((path) => [path, page(`Page ${path}`)])),
    })
    const first = await staged.crawl()
    expect(statesOf(first)).toMatchObject({ '/hub': 'skipped noindex', '/empty': 'skipped empty' })
    const pages = ['/home', ...targets, ...behind]
    for (const path of pages) expect(first.rows.get(path), path).toMatchObject({ state: 'indexed' })
    staged.site.pages.set('/', page('We will be back soon'))
    staged.site.clearRequests()
    const crawled = await staged.crawl({ kind: 'recrawl' })
    expect(crawled.summary).toMatchObject({ end: 'completed', removed: 0, incomplete: null })
    for (const path of pages) expect(crawled.rows.get(path), path).toMatchObject({ state: 'unchanged' })
    expect(staged.site.requestedPaths()).toEqual(expect.arrayContaining(pages))
  })

  test('are removed if a complete recrawl did not find them and they do not answer', async () => {
    const { site, crawl, search } = await stageTree('etag')
    site.pages.set('/', shrunk)
    site.pages.set('/e', { status: 404, body: 'no' })
    const crawled = await crawl({ kind: 'recrawl' })
    expect(crawled.summary).toMatchObject({ end: 'completed', removed: 1 })
    expect(crawled.rows.get('/e')).toMatchObject({ state: 'gone', reason: 'not-found' })
    await expect(search('eagle')).resolves.toEqual([])
    site.pages.set('/', TREE['/'] ?? '')
    site.pages.set('/e', TREE['/e'] ?? '')
    const back = await crawl({ kind: 'recrawl' })
    expect(back.rows.get('/e')).toMatchObject({ state: 'indexed', reason: null })
    await expect(search('eagle')).resolves.toEqual(['/e'])
  })

  test.each([
    ['a refresh', { kind: 'refresh' }],
    ['a crawl of kind add', { kind: 'add' }],
    ['a capped recrawl', { kind: 'recrawl', scope: { maxPages: 5 } }],
    ['a recrawl with another scope', { kind: 'recrawl', scope: { block: ['/c/**'] } }],
    ['a recrawl of another depth', { kind: 'recrawl', scope: { maxDepth: 1 } }],
  ] as const)('stay after %s', async (_, input) => {
    const { site, crawl, search } = await stageTree('etag')
    site.pages.set('/', shrunk)
    const { summary } = await crawl(input)
    expect(summary).toMatchObject({ end: 'completed', removed: 0 })
    await expect(search('eagle')).resolves.toEqual(['/e'])
    await expect(search('flamingo')).resolves.toEqual(['/c/1'])
  })

  test.each(['/llms.txt', '/sitemap.xml', '/robots.txt'])('stay while %s cannot be read', async (list) => {
    const { site, crawl, search, library } = await stageTree('etag')
    site.pages.set('/', shrunk)
    site.pages.set(list, { status: 500, body: 'broken' })
    // 25 hours later, the stored robots.txt is too old to be used while it cannot be fetched.
    Object.assign(library, { clock: { ...library.clock, now: shift(library.clock.now, 90_000_000) } })
    const { summary } = await crawl({ kind: 'recrawl' })
    expect(summary.removed).toBe(0)
    await expect(search('eagle')).resolves.toEqual(['/e'])
  })

  test.each([
    ['fails', { status: 500, body: 'broken' }],
    ['is not found', { status: 404, body: 'not there' }],
    ['is gone', { status: 410, body: 'gone' }],
    [
      'asks for a login',
      '<title>Log in</title><main><h1>Log in</h1><form action="/login" method="post"><input name="user"><input type="password" name="p"><button>Log in</button></form></main>',
    ],
    [
      'shows a bot challenge',
      '<title>Just a moment...</title><body><div id="challenge-running">Checking your browser before accessing</div><script src="/cdn-cgi/challenge-platform/h/b.js"></script></body>',
    ],
    ['is empty', '<title></title><body></body>'],
    ['leads to a login elsewhere', { status: 302, headers: { location: 'http://localhost:1/login' } }],
  ] as const)('stay when the start %s', async (_, answer: Answer) => {
    const { site, crawl, readContent } = await stageTree('etag')
    const before = await readContent()
    site.pages.set('/', answer)
    site.clearRequests()
    const { summary } = await crawl({ kind: 'recrawl' })
    const after = await readContent()
    expect(site.requestedPaths()).toContain('/b/2')
    expect([...after.pages.keys()]).toEqual([...before.pages.keys()])
    const isMissing = typeof answer !== 'string' && [404, 410].includes((answer as { status: number }).status)
    expect(summary).toMatchObject({ end: isMissing ? 'failed' : 'completed', removed: 0 })
  })
})

describe('the loss gate', () => {
  const many = (count: number): Record<string, string> => {
    const paths = Array.from({ length: count - 1 }, (_, i) => `/p/${i}`)
    return {
      '/': page('Home heron', paths),
      ...Object.fromEntries(paths.map((path, i) => [path, page(`Number n${i}n`)])),
    }
  }
  const drop = (site: Site, count: number, status: number) => {
    for (let i = 0; i < count; i++) site.pages.set(`/p/${i}`, { status, body: 'no' })
  }

  const stageForty = shareCrawledFixture(many(40))

  test.each([404, 410])('stops a crawl that would remove most of a source (%i)', async (status) => {
    const { site, crawl, readContent, search } = await stageForty()
    const before = await readContent()
    drop(site, 30, status)
    const stopped = await crawl({ kind: 'recrawl' })
    expect(stopped.summary).toMatchObject({ end: 'gate', removed: 0, withheld: 30 })
    expect((await readContent()).pages).toEqual(before.pages)
    await expect(search('n7n')).resolves.toEqual(['/p/7'])
    const accepted = await crawl({ kind: 'recrawl', acceptLoss: true })
    expect(accepted.summary).toMatchObject({ end: 'completed', removed: 30, withheld: 0 })
    expect((await readContent()).pages.size).toBe(10)
    await expect(search('n7n')).resolves.toEqual([])
    await expect(search('n33n')).resolves.toEqual(['/p/33'])
  })

  test('stops a crawl that did not find most of a source', async () => {
    const { site, crawl, readContent } = await stageForty()
    site.pages.set('/', page('Home heron', ['/p/37', '/p/38']))
    drop(site, 37, 404)
    const { summary } = await crawl({ kind: 'recrawl' })
    expect(summary).toMatchObject({ end: 'gate', removed: 0, withheld: 37 })
    expect((await readContent()).pages.size).toBe(40)
  })

  test('applies to a refresh as well', async () => {
    const { site, crawl, readContent } = await stageForty()
    drop(site, 30, 410)
    const { summary } = await crawl({ kind: 'refresh' })
    expect(summary).toMatchObject({ end: 'gate', removed: 0, withheld: 30 })
    expect((await readContent()).pages.size).toBe(40)
  })

  const stageSixteen = shareCrawledFixture(many(16))

  test('protects a small source whose start lost its links', async () => {
    const { site, crawl, readContent } = await stageSixteen()
    const before = await readContent()
    site.pages.set('/', page('We will be back soon'))
    drop(site, 15, 404)
    expect((await crawl({ kind: 'recrawl' })).summary).toMatchObject({ end: 'gate', removed: 0, withheld: 15 })
    expect([...(await readContent()).pages.keys()]).toEqual([...before.pages.keys()])
    const accepted = await crawl({ kind: 'recrawl', acceptLoss: true })
    expect(accepted.summary).toMatchObject({ end: 'completed', removed: 15 })
  })

  test('allows the removal of half of a small source, and of most of one with fewer than four pages', async () => {
    const { site, crawl } = await stageSixteen()
    drop(site, 8, 410)
    expect((await crawl({ kind: 'recrawl' })).summary).toMatchObject({ end: 'completed', removed: 8 })
    const tiny = await shareCrawledFixture(many(3))()
    drop(tiny.site, 2, 410)
    expect((await tiny.crawl({ kind: 'recrawl' })).summary).toMatchObject({ end: 'completed', removed: 2 })
  })

  test('allows the removal of twenty pages, even in a small source', async () => {
    const { site, crawl, readContent } = await stageForty()
    drop(site, 20, 410)
    const { summary } = await crawl({ kind: 'recrawl' })
    expect(summary).toMatchObject({ end: 'completed', removed: 20 })
    expect((await readContent()).pages.size).toBe(20)
  })

  test('allows the removal of a tenth of a large source', async () => {
    const { site, crawl, readContent } = await createFileFixture(many(220))
    await crawl()
    drop(site, 21, 410)
    const { summary } = await crawl({ kind: 'recrawl' })
    expect(summary).toMatchObject({ end: 'completed', removed: 21 })
    expect((await readContent()).pages.size).toBe(199)
  })
})

describe.each(KINDS)('in a %s, a page', (kind) => {
  const start = async () => {
    const fixture = await stageTree('etag')
    return { ...fixture, before: await fixture.readContent() }
  }

  test('is removed if it becomes noindex', async () => {
    const { site, crawl, readContent, search, before } = await start()
    site.pages.set('/b', page('Beta bittern', ['/b/1'], '<meta name="robots" content="noindex">'))
    const { summary } = await crawl({ kind })
    const after = await readContent()
    expect(summary).toMatchObject({ end: 'completed', removed: 1 })
    expectUntouched(before, after, ['/b'])
    expect(after.rows.get('/b')).toMatchObject({ state: 'skipped', reason: 'noindex', hasPage: false })
    await expect(search('bittern')).resolves.toEqual([])
  })

  test('is removed if it redirects to a page with content', async () => {
    const { site, crawl, readContent, search, before } = await start()
    site.pages.set('/e', { status: 301, headers: { location: '/a' } })
    const { summary } = await crawl({ kind })
    const after = await readContent()
    expect(summary).toMatchObject({ end: 'completed', removed: 1 })
    expectUntouched(before, after, ['/e'])
    expect(after.rows.get('/e')).toMatchObject({
      state: 'skipped',
      reason: 'redirect',
      target: after.rows.get('/a')?.key,
      hasPage: false,
    })
    await expect(search('eagle')).resolves.toEqual([])
  })

  test('keeps its content after a move to a new address until that address is read', async () => {
    const { site, crawl, readContent, search } = await start()
    site.pages.set('/e', { status: 301, headers: { location: '/moved' } })
    site.pages.set('/moved', page('Epsilon eagle'))
    const { summary } = await crawl({ kind })
    const { rows } = await readContent()
    if (kind === 'recrawl') {
      expect(summary.removed + rows.size).toBeGreaterThan(0)
      expect(rows.get('/e')).toMatchObject({ state: 'skipped', reason: 'redirect', hasPage: false })
      await expect(search('eagle')).resolves.toEqual(['/moved'])
      return
    }
    expect(summary.removed).toBe(0)
    expect(rows.get('/moved')).toMatchObject({ state: 'skipped', reason: 'new-in-refresh' })
    await expect(search('eagle')).resolves.toEqual(['/e'])
    await crawl({ kind: 'recrawl' })
    await expect(search('eagle')).resolves.toEqual(['/moved'])
  })

  test.each([
    [
      'redirects to another site',
      { status: 302, headers: { location: 'https://elsewhere.example/' } },
      'skipped redirect',
    ],
    ['redirects to nothing', { status: 302, headers: { location: '/nothing' } }, 'skipped redirect'],
    [
      'asks for a login',
      '<title>Log in</title><main><h1>Log in</h1><form action="/login" method="post"><input name="user"><input type="password" name="p"><button>Log in</button></form></main>',
      'skipped login',
    ],
    [
      'shows a bot challenge',
      '<title>Just a moment...</title><body><div id="challenge-running">Checking your browser before accessing</div><script src="/cdn-cgi/challenge-platform/h/b.js"></script></body>',
      'failed challenge',
    ],
    [
      'says in its text that it does not exist',
      '<title>404 Not Found</title><main><h1>404 Not Found</h1><p>The page you are looking for does not exist.</p></main>',
      'failed soft-404',
    ],
    ['is forbidden', { status: 403, body: 'no' }, 'failed http-client-error'],
    [
      'becomes an image',
      { status: 200, headers: { 'content-type': 'image/png' }, body: '\u0089PNG' },
      'skipped not-text',
    ],
  ] as const)('stays if it %s, and so do the pages behind it', async (_, answer: Answer, state) => {
    const { site, crawl, readContent, search, before } = await start()
    site.pages.set('/b', answer)
    const crawled = await crawl({ kind })
    const after = await readContent()
    expect(crawled.summary).toMatchObject({ end: 'completed', removed: 0 })
    expectUntouched(before, after, ['/b', '/nothing', 'https://elsewhere.example/'])
    expect(statesOf(crawled)['/b']).toBe(state)
    expect(after.pages.get('/b')).toEqual(before.pages.get('/b'))
    await expect(search('bittern')).resolves.toEqual(['/b'])
    await expect(search('thrush')).resolves.toEqual(['/b/1'])
    // The page is as before once it answers normally again.
    site.pages.set('/b', TREE['/b'] ?? '')
    const healed = await crawl({ kind })
    expect(healed.rows.get('/b')).toMatchObject({ state: 'unchanged', reason: null, target: null })
    expect((await readContent()).pages.get('/b')).toEqual(before.pages.get('/b'))
  })

  test('is stored under the better address when it becomes a duplicate of another', async () => {
    const { site, crawl, readContent, search, before } = await start()
    site.pages.set('/a/1', TREE['/e'] ?? '')
    await crawl({ kind })
    const after = await readContent()
    expectUntouched(before, after, ['/a/1'])
    expect(after.rows.get('/a/1')).toMatchObject({
      state: 'skipped',
      reason: 'duplicate',
      target: after.rows.get('/e')?.key,
      hasPage: false,
    })
    await expect(search('eagle')).resolves.toEqual(['/e'])
    await expect(search('finch')).resolves.toEqual([])
  })
})

describe('a duplicate of a page with a better address', () => {
  const TWINS: Readonly<Record<string, string>> = {
    '/': page('Home heron', ['/e', '/deep/e']),
    '/e': page('Epsilon eagle'),
    '/deep/e': page('Epsilon eagle'),
  }

  describe.each([true, false])('on a site with ETags: %s', (hasEtags) => {
    const stageTwins = shareCrawledFixture(TWINS, { siteOptions: { hasEtags } })
    const start = async () => {
      const staged = await stageTwins()
      expect((await staged.readContent()).rows.get('/deep/e')).toMatchObject({ state: 'skipped', reason: 'duplicate' })
      return staged
    }

    test.each(KINDS)('takes the content over when the better page changes, in a %s', async (kind) => {
      const { site, crawl, search, readContent } = await start()
      site.pages.set('/e', page('Epsilon egret'))
      const { rows } = await crawl({ kind })
      expect(rows.get('/e')).toMatchObject({ state: 'indexed' })
      expect(rows.get('/deep/e')).toMatchObject({ state: 'indexed', reason: null, target: null })
      await expect(search('egret')).resolves.toEqual(['/e'])
      await expect(search('eagle')).resolves.toEqual(['/deep/e'])
      const before = await readContent()
      site.pages.set('/e', page('Epsilon eagle'))
      const again = await crawl({ kind })
      expect(again.rows.get('/deep/e')).toMatchObject({ state: 'skipped', reason: 'duplicate', hasPage: false })
      await expect(search('eagle')).resolves.toEqual(['/e'])
      expectUntouched(before, await readContent(), ['/e', '/deep/e'])
    })

    test.each([
      ['is gone', { status: 410, body: 'gone' }],
      ['is not found', { status: 404, body: 'no' }],
      ['may not be indexed', page('Epsilon eagle', [], '<meta name="robots" content="noindex">')],
    ] as const)('takes the content over when the better page %s', async (_, answer: Answer) => {
      for (const kind of KINDS) {
        const { site, crawl, search } = await start()
        site.pages.set('/e', answer)
        const { rows, summary } = await crawl({ kind })
        expect(summary).toMatchObject({ end: 'completed', removed: 1 })
        expect(rows.get('/deep/e')).toMatchObject({ state: 'indexed', reason: null, hasPage: true })
        await expect(search('eagle')).resolves.toEqual(['/deep/e'])
      }
    })

    test('takes the content over when the better page is gone and nothing links to it', async () => {
      const { site, crawl, search } = await start()
      site.pages.set('/', page('Home heron', ['/deep/e']))
      site.pages.delete('/e')
      const { rows, summary } = await crawl({ kind: 'recrawl' })
      expect(summary).toMatchObject({ end: 'completed', removed: 1 })
      expect(rows.get('/e')).toMatchObject({ state: 'gone', reason: 'not-found' })
      expect(rows.get('/deep/e')).toMatchObject({ state: 'indexed', reason: null, hasPage: true })
      await expect(search('eagle')).resolves.toEqual(['/deep/e'])
    })
  })
})

describe('a freshness window', () => {
  test.each(KINDS)(
    'a %s does not fetch pages checked within the window, and still follows their links',
    async (kind) => {
      const { site, crawl, readContent, search } = await stageTree('etag')
      const before = await readContent()
      put(site, '/b/1', page('Third tern', ['/b/2']), 'etag')
      put(site, '/dead', page('Risen roller'), 'etag')
      site.clearRequests()
      const { summary } = await crawl({ kind, maxAgeMs: 3_600_000 })
      expect(summary).toMatchObject({ end: 'completed', indexed: kind === 'recrawl' ? 1 : 0, removed: 0 })
      expect(site.requestedPaths()).toEqual(kind === 'recrawl' ? ['/dead'] : [])
      const after = await readContent()
      expectUntouched(before, after, ['/dead'])
      for (const path of before.pages.keys()) {
        expect(after.rows.get(path)?.checkedAt, 'the time of the last request').toBe(before.rows.get(path)?.checkedAt)
      }
      await expect(search('tern')).resolves.toEqual([])
      const later = await crawl({ kind, maxAgeMs: 0 })
      expect(later.summary.indexed).toBe(1)
      await expect(search('tern')).resolves.toEqual(['/b/1'])
    },
  )

  test('starts with the last successful check of a page, not with an error', async () => {
    const { site, crawl, library } = await stageTree('etag')
    Object.assign(library, { clock: { ...library.clock, now: shift(library.clock.now, 3_600_000) } })
    site.pages.set('/b', { status: 500, body: 'broken' })
    const broken = await crawl({ kind: 'recrawl' })
    expect(broken.rows.get('/b')).toMatchObject({ state: 'failed' })
    site.clearRequests()
    const windowed = await crawl({ kind: 'recrawl', maxAgeMs: 3_600_000 })
    expect(site.requestedPaths()).toEqual(['/b', '/b', '/b', '/dead'])
    expect(windowed.rows.get('/b')).toMatchObject({ state: 'failed' })
  })

  test('is not extended by crawls that sent no request', async () => {
    const { site, crawl, library } = await stageTree('etag')
    const checkedAt = library.clock.now()
    // The window is so long that the duration of the crawls does not matter.
    const windowMs = 3_600_000
    for (let i = 1; i <= 3; i++) {
      Object.assign(library, { clock: { ...library.clock, now: shift(library.clock.now, 1_500_000) } })
      site.clearRequests()
      await crawl({ kind: 'refresh', maxAgeMs: windowMs })
      const isOver = library.clock.now() - checkedAt >= windowMs
      expect(site.requestedPaths().length > 0, `after ${library.clock.now() - checkedAt} ms`).toBe(isOver)
    }
  })
})

describe('validators', () => {
  test('validators of an older content are dropped when the new content comes without any', async () => {
    const old = { headers: { etag: '"one"' }, body: page('Epsilon eagle') }
    const { site, crawl, search } = await createFileFixture(
      { '/': page('Home heron', ['/e']), '/e': old },
      { siteOptions: { hasEtags: false } },
    )
    await crawl()
    site.pages.set('/e', page('Epsilon egret'))
    await crawl({ kind: 'recrawl' })
    await expect(search('egret')).resolves.toEqual(['/e'])
    site.pages.set('/e', ({ headers }) => (headers['if-none-match'] === '"one"' ? { status: 304 } : old))
    await crawl({ kind: 'recrawl' })
    await expect(search('egret')).resolves.toEqual([])
    await expect(search('eagle')).resolves.toEqual(['/e'])
  })

  test('validators of a response that was not stored are not used for the stored page', async () => {
    const paths = Array.from({ length: 30 }, (_, i) => `/p/${i}`)
    const { site, crawl } = await createFileFixture({
      '/': page('Home heron', paths),
      ...Object.fromEntries(paths.map((path, i) => [path, page(`Number n${i}n`)])),
    })
    await crawl()
    for (const [i, path] of paths.entries()) {
      site.pages.set(path, page(`Number n${i}n`, [], '<meta name="robots" content="noindex">'))
    }
    const gated = await crawl({ kind: 'recrawl' })
    expect(gated.summary).toMatchObject({ end: 'gate', withheld: 30 })
    const accepted = await crawl({ kind: 'recrawl', acceptLoss: true })
    expect(accepted.summary).toMatchObject({ end: 'completed', removed: 30 })
  })
})

function shift(now: () => number, ms: number): () => number {
  return () => now() + ms
}

function put(site: Site, path: string, html: string, validators: Validators): void {
  site.pages.set(path, answerWith(html, validators))
}

let changes = 0

/** A response with the given validators. Each later response has a later date. */
function answerWith(html: string, validators: Validators): Answer {
  if (validators !== 'date') return html
  const date = new Date(1_700_000_000_000 + ++changes * 1000).toUTCString()
  return ({ headers }) =>
    headers['if-modified-since'] === date ? { status: 304 } : { headers: { 'last-modified': date }, body: html }
}

/** The tree on a site with these validators, after one crawl. */
function stageTree(validators: Validators): Promise<FileFixture> {
  return TREES[validators]()
}

function shareTree(validators: Validators): () => Promise<FileFixture> {
  const pages = Object.entries(TREE).map(([path, html]) => [path, answerWith(html, validators)] as const)
  return shareCrawledFixture(Object.fromEntries(pages), { siteOptions: { hasEtags: validators === 'etag' } })
}

const TREES = { etag: shareTree('etag'), date: shareTree('date'), none: shareTree('none') }

function countRequests(site: Site, path: string): number {
  return site.requests.filter((request) => request.path === path).length
}
