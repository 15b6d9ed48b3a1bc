import Sqlite from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import { writeExplanation } from '../../src/cli/text/explanation-text.ts'
import { addSource } from '../../src/library/crawl/add-source.ts'
import { crawlSource } from '../../src/library/crawl/crawl-source.ts'
import { findPage } from '../../src/library/search/find-page.ts'
import { explainUrl } from '../../src/library/sources/explain.ts'
import { OLDER_LAYOUT } from '../contracts/older-layout.ts'
import {
  type CrawlFixture,
  createCrawlFixture,
  openTestLibrary,
  openTestSite,
  runCrawl,
  statesOf,
  UNPACED,
} from './crawl.ts'
import { createLibraryPath } from './file-fixture.ts'
import { type Answer, page, redirect, text } from './site.ts'

/** The text of `explain` for an address. */
async function explain({ library, source, site }: CrawlFixture, path: string): Promise<string> {
  const explanation = await explainUrl(library, source, `${site.origin}${path}`)
  return writeExplanation(explanation, source, (...words) => words.join(' '), library.clock.now())
}

/** A site whose start links to all the given pages and then to `more`. */
function linkedSite(pages: Readonly<Record<string, Answer>>, more: readonly string[] = []): Record<string, Answer> {
  return { '/': page('Start', [...Object.keys(pages), ...more]), ...pages }
}

describe('an address with a display key such as ref or sort', () => {
  test.each(['ref=main', 'sort=a', 'view=full', 'from=5'])(
    'is fetched as linked with ?%s although the bare address is a 404',
    async (query) => {
      const staged = await createCrawlFixture(linkedSite({ [`/release?${query}`]: page('Release heron') }))
      expect(statesOf(await staged.crawl())).toMatchObject({ [`/release?${query}`]: 'indexed' })
      expect(staged.site.requestedPaths()).not.toContain('/release')
    },
  )

  test('is a page of its own if its content differs from the bare address', async () => {
    const staged = await createCrawlFixture(linkedSite({ '/list': page('List'), '/list?sort=a': page('List by age') }))
    expect(statesOf(await staged.crawl())).toMatchObject({ '/list': 'indexed', '/list?sort=a': 'indexed' })
  })

  test('is a duplicate if the bare address has the same content, and explain says so', async () => {
    const staged = await createCrawlFixture(linkedSite({ '/a?ref=nav': page('A'), '/a': page('A') }))
    expect(statesOf(await staged.crawl())).toMatchObject({ '/a': 'indexed', '/a?ref=nav': 'skipped duplicate' })
    const words = await explain(staged, '/a?ref=nav')
    expect(words).toContain('Why: another address has the same content')
    expect(words).toContain(`Content: held by ${staged.site.origin}/a (indexed)`)
  })

  test('is fetched without pure tracking keys', async () => {
    const staged = await createCrawlFixture(linkedSite({ '/a': page('A') }, ['/a?utm_source=x', '/b?gclid=1']))
    staged.site.pages.set('/b', page('B'))
    expect(statesOf(await staged.crawl())).toMatchObject({ '/a': 'indexed', '/b': 'indexed' })
    expect(staged.site.requestedPaths().filter((path) => path.includes('?'))).toEqual([])
  })
})

test('a recrawl keeps pages that were stored without a query when links to them gain ?ref=nav', async () => {
  const names = Array.from({ length: 30 }, (_, i) => `/p${i}x`)
  const pages = names.flatMap((name) => [name, `${name}?ref=nav`].map((path) => [path, page(name)] as const))
  const staged = await createCrawlFixture({
    '/': page('Start', ['/hub']),
    '/hub': page(
      'Hub',
      names.map((name) => `${name}?utm_source=nav`),
    ),
    ...Object.fromEntries(pages),
  })
  expect((await staged.crawl()).summary).toMatchObject({ indexed: 32 })
  staged.site.pages.set(
    '/hub',
    page(
      'Hub',
      names.map((name) => `${name}?ref=nav`),
    ),
  )
  const { rows, summary } = await staged.crawl({ kind: 'recrawl' })
  expect(summary).toMatchObject({ end: 'completed', removed: 0, withheld: 0 })
  for (const name of names) expect(rows.get(name)?.state).toBe('unchanged')
})

test('a recrawl keeps pages whose keys lack a part of their query in a library of an earlier schema version', async () => {
  const paths = Array.from({ length: 30 }, (_, i) => `/p?id=${i}&ref=nav`)
  const pages = { '/': page('Start', ['/hub']), '/hub': page('Hub', paths) }
  const site = await openTestSite({ ...pages, ...Object.fromEntries(paths.map((path) => [path, page(path)])) })
  const { origin } = site
  const path = await createLibraryPath()
  const first = await openTestLibrary(path, UNPACED)
  const source = await addSource(first, { url: `${origin}/` })
  expect((await runCrawl(first, source, { kind: 'add' }, origin)).summary).toMatchObject({ indexed: 32 })
  await first.close()
  const db = new Sqlite(path)
  db.exec(`
    ${OLDER_LAYOUT.join(';\n')};
    UPDATE ledger SET key = replace(key, '&ref=nav', '');
    UPDATE chunks SET path = replace(path, '&ref=nav', '');
    ALTER TABLE sources DROP COLUMN refresh;
    DROP TRIGGER row_deleted;
    DROP TABLE earlier_pages;
    ALTER TABLE crawls DROP COLUMN keeps_earlier;
    PRAGMA user_version = 11;
  `)
  db.close()
  // The content of a page may change while its key does.
  for (const changed of paths.slice(0, 10)) site.pages.set(changed, page(`Another ${changed}`))
  const second = await openTestLibrary(path, UNPACED)
  const { rows, summary } = await runCrawl(second, source, { kind: 'recrawl' }, origin)
  expect(summary).toMatchObject({ end: 'completed', removed: 0, withheld: 0, indexed: 10, unchanged: 22 })
  expect(rows.size).toBe(32)
})

test('an address that an earlier version stored with tracking parameters is requested without them', async () => {
  const site = await openTestSite({ '/': page('Home', ['/a?id=2']), '/a?id=2': page('Second') })
  const { origin } = site
  const path = await createLibraryPath()
  const first = await openTestLibrary(path, UNPACED)
  const source = await addSource(first, { url: `${origin}/` })
  await runCrawl(first, source, { kind: 'add' }, origin)
  await first.close()
  const db = new Sqlite(path)
  db.exec("UPDATE ledger SET url = url || '&utm_source=x' WHERE key LIKE '%id=2'")
  db.close()
  const second = await openTestLibrary(path, UNPACED)
  for (const kind of ['refresh', 'recrawl'] as const) {
    site.clearRequests()
    const states = new Set<string>()
    for await (const event of crawlSource(second, source, { kind }, new AbortController().signal))
      if (event.type === 'settled') states.add(`${event.url.slice(origin.length)} ${event.state}`)
    expect(states).toEqual(new Set(['/ unchanged', '/a?id=2 unchanged']))
    expect(site.requestedPaths()).toEqual(['/', '/a?id=2'])
  }
})

describe('two addresses that differ in a slash at the end', () => {
  test('are two pages if their content differs, and explain reports each', async () => {
    const staged = await createCrawlFixture(
      linkedSite({ '/t/same': page('Without heron'), '/t/same/': page('With warbler') }),
    )
    expect(statesOf(await staged.crawl())).toMatchObject({ '/t/same': 'indexed', '/t/same/': 'indexed' })
    for (const [path, title] of [
      ['/t/same', 'Without heron'],
      ['/t/same/', 'With warbler'],
    ] as const) {
      expect(await explain(staged, path)).toContain('State: indexed, its content was indexed')
      const { library, site } = staged
      expect((await findPage(library, { url: `${site.origin}${path}` })).markdown).toContain(title)
    }
  })

  test('are one page if their content is equal', async () => {
    const staged = await createCrawlFixture(linkedSite({ '/a/': page('A'), '/a': page('A') }))
    expect(statesOf(await staged.crawl())).toMatchObject({ '/a': 'indexed', '/a/': 'skipped duplicate' })
    expect(await explain(staged, '/a/')).toContain(`Content: held by ${staged.site.origin}/a (indexed)`)
  })

  test('are one page if one redirects to the other, at one request each', async () => {
    const staged = await createCrawlFixture(linkedSite({ '/a': redirect('/a/'), '/a/': page('A') }))
    expect(statesOf(await staged.crawl())).toMatchObject({ '/a': 'skipped redirect', '/a/': 'indexed' })
    expect(staged.site.requestedPaths().filter((path) => path.startsWith('/a'))).toEqual(['/a', '/a/'])
  })

  test('cost one request if only one is linked and the other is its canonical address', async () => {
    const canonical = '<link rel="canonical" href="/a/">'
    const staged = await createCrawlFixture(linkedSite({ '/a': page('A', [], canonical) }))
    expect(statesOf(await staged.crawl())).toMatchObject({ '/a': 'indexed' })
    expect(staged.site.requestedPaths()).not.toContain('/a/')
  })

  test('explain distinguishes two addresses if only one was linked', async () => {
    const staged = await createCrawlFixture(linkedSite({ '/a/': page('A') }))
    await staged.crawl()
    const words = await explain(staged, '/a')
    expect(words).toContain('Never seen')
    expect(words).toContain(`Known: ${staged.site.origin}/a/ (indexed)`)
    // A lookup by hand finds the page with or without the slash.
    const { library, site } = staged
    expect((await findPage(library, { url: `${site.origin}/a` })).url).toBe(`${site.origin}/a/`)
  })
})

describe('a site that links every page in two ways', () => {
  const COUNT = 60
  const paths = Array.from({ length: COUNT }, (_, i) => `/p${i}x`)
  const twice = (other: (path: string) => string): Record<string, Answer> => {
    const pages = paths.flatMap((path) => [path, other(path)].map((one) => [one, page(`Page ${path}`)] as const))
    return linkedSite(Object.fromEntries(pages))
  }

  test.each([
    ['slash at the end', (path: string) => `${path}/`],
    ['ref', (path: string) => `${path}?ref=nav`],
    ['index file', (path: string) => `${path}/index.html`],
  ])('gets one request for most pages after ten pairs differing in %s had the same content', async (pattern, other) => {
    const staged = await createCrawlFixture(twice(other), { limits: { concurrency: 2 } })
    const { rows } = await staged.crawl()
    for (const path of paths) expect(rows.get(path)?.state).toBe('indexed')
    const skippedRows = [...rows.values()].filter(({ reason }) => reason === 'spelling')
    expect(skippedRows.length).toBeGreaterThan(COUNT / 2)
    expect(staged.site.requestedPaths().length).toBeLessThan(COUNT * 1.5)
    const [first] = skippedRows
    if (pattern === 'index file') return
    expect(first).toMatchObject({ state: 'skipped', pattern, hasPage: false })
    const words = await explain(staged, first?.url.slice(staged.site.origin.length) ?? '')
    expect(words).toContain(`Rule: ${pattern}`)
    expect(words).toContain('Content: held by')
    expect(words).not.toContain('Last requested')
  })

  test('gets requests for all addresses once a pair had different content', async () => {
    const staged = await createCrawlFixture({ ...twice((path) => `${path}/`), '/p0x/': page('Something else') })
    const { rows } = await staged.crawl()
    expect([...rows.values()].filter(({ reason }) => reason === 'spelling')).toEqual([])
    expect(rows.get('/p0x/')?.state).toBe('indexed')
  })

  test('gets a request for the skipped spelling if the other spelling is a 404', async () => {
    const staged = await createCrawlFixture(
      { ...twice((path) => `${path}/`), '/p50x': { status: 404 } },
      { limits: { concurrency: 1 } },
    )
    const { rows } = await staged.crawl()
    expect(rows.get('/p50x')?.state).toBe('failed')
    expect(rows.get('/p50x/')?.state).toBe('indexed')
  })

  test('keeps a page of an earlier run whose content differs from that of the other spelling', async () => {
    const staged = await createCrawlFixture(
      { ...twice((path) => `${path}/`), '/p50x/': page('Something else') },
      { limits: { concurrency: 1 } },
    )
    staged.site.pages.set('/', page('Start', ['/p50x/']))
    await staged.crawl()
    staged.site.pages.set('/', twice((path) => `${path}/`)['/'] ?? '')
    const { rows } = await staged.crawl({ kind: 'recrawl' })
    expect(rows.get('/p50x/')).toMatchObject({ hasPage: true, state: 'unchanged' })
    expect(rows.get('/p50x')?.state).toBe('indexed')
  })
})

describe('a page that links to itself without end', () => {
  test.each(['ref', 'sort'])('gets a bounded number of requests for new values of ?%s=', async (name) => {
    let count = 0
    const endless = () => page('List', [`/list?${name}=${count++}x`, `/list?${name}=${count++}x`])
    const staged = await createCrawlFixture(linkedSite({ '/good': page('Good') }, [`/list?${name}=x`]), {
      siteOptions: { fallback: endless },
    })
    const { rows, summary } = await staged.crawl()
    expect(summary).toMatchObject({ end: 'completed' })
    expect(rows.get('/good')?.state).toBe('indexed')
    expect(staged.site.requestedPaths().length).toBeLessThan(100)
  })
})

test('an address that differs in a slash from a page of llms-full.txt is covered by that page', async () => {
  const staged = await createCrawlFixture((origin) => ({
    '/': page('Start', ['/a/', '/b']),
    '/a/': page('A as HTML'),
    '/b': page('B'),
    '/llms-full.txt': text(
      `# Guide\n\nSource: ${origin}/a\n\nThis guide tells enough about herons.\n\n# Other\n\nSource: ${origin}/c\n\nThis tells enough about warblers.\n`,
    ),
  }))
  expect(statesOf(await staged.crawl())).toMatchObject({ '/a': 'indexed', '/a/': 'skipped covered', '/b': 'indexed' })
  expect(staged.site.requestedPaths()).not.toContain('/a/')
})
