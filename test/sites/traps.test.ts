import type { IncomingMessage } from 'node:http'
import { describe, expect, test } from 'vitest'
import type { LedgerRow } from '../../src/crawl/ledger.ts'
import { type Crawled, type CrawlFixture, type CrawlFixtureInput, createCrawlFixture, UNPACED } from './crawl.ts'
import { crawlPolitely, openPoliteLibrary, openPoliteSite, originOf } from './polite.ts'
import { type Answer, page, sitemap } from './site.ts'

/** Pseudo-random words, the same in every run. */
function createNoise(): () => string {
  let state = 1
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return `${state.toString(36)}x${((state >>> 3) * 7).toString(36)}k3j9d8f7a2`
  }
}

/** A page of a trap: the same text everywhere, with links of its own. */
function trapPage(title: string, links: readonly string[]): string {
  const items = links.map((href, i) => `<li><a href="${href}">Go on here ${i}</a></li>`).join('')
  return `<!doctype html><html><head><title>${title}</title></head><body><main><h1>${title}</h1>
<p>There is nothing to be seen here, as there was nothing to be seen on the page that has led here.</p>
<ul>${items}</ul></main></body></html>`
}

/** A site with some good pages. `endless` answers every other address, and the start links to those in `into`. */
async function stageTrap(
  into: readonly string[],
  endless: (url: URL) => string,
  input: CrawlFixtureInput = {},
  more: Readonly<Record<string, Answer>> = {},
): Promise<CrawlFixture> {
  const answer = ({ url = '/' }: IncomingMessage) => endless(new URL(url, 'http://trap.test'))
  return createCrawlFixture(
    {
      '/': page('Start', ['/good/', ...into]),
      '/good/': page('Good', ['/better/']),
      '/better/': page('Better'),
      ...more,
    },
    { limits: { concurrency: 4 }, ...input, siteOptions: { fallback: answer } },
  )
}

function rowsOf({ rows }: Crawled, reason: string): LedgerRow[] {
  return [...rows.values()].filter((row) => row.reason === reason)
}

/** Number of requests for anything other than a list. */
function countRequests({ site }: CrawlFixture): number {
  return site.requestedPaths().length
}

function expectGoodPages({ rows, summary }: Crawled): void {
  expect(summary).toMatchObject({ end: 'completed', cappedAt: null })
  for (const path of ['/', '/good', '/better']) expect(rows.get(path)?.state).toBe('indexed')
}

const YEAR = new Date().getUTCFullYear()
const LONG = process.env['TEST_LONG'] !== undefined

describe('a calendar without end', () => {
  /** Links to the previous and the next month. Months are counted since the year 0. */
  const months = (month: number, write: (year: number, month: string) => string): string[] =>
    around(month - 1, month + 1, write)
  const around = (before: number, after: number, write: (year: number, month: string) => string): string[] =>
    [before, after].map((at) => write(Math.floor(at / 12), String((at % 12) + 1).padStart(2, '0')))
  const START = YEAR * 12 + 5
  /** Like {@link months}, but the short form goes back by years until it is near 1970, and by months from there. */
  const distantMonths: typeof months = (month, write) =>
    LONG || month > START || month < 1971 * 12 ? months(month, write) : around(month - 12, START + 1, write)
  const event = createNoise()
  /** A page with an event of its own, so that no two pages are the same. */
  const eventPage = (links: readonly string[]) => page(`Meeting of ${event().replace(/\d/g, 'q')}`, links)

  test('a calendar with the month in the path is followed for a year ahead, and back to 1970', async () => {
    const staged = await stageTrap([`/calendar/${YEAR}/06/`], (url) => {
      const [, , year, month] = url.pathname.split('/')
      return eventPage(distantMonths(Number(year) * 12 + Number(month) - 1, (y, m) => `/calendar/${y}/${m}/`))
    })
    const crawled = await staged.crawl()
    expectGoodPages(crawled)
    const traps = rowsOf(crawled, 'calendar-trap')
    expect(traps.map(({ pattern }) => pattern)).toEqual([
      '1969-12 is before 1970',
      expect.stringMatching(/^\d{4}-\d{2} is more than a year ahead$/),
    ])
    expect(traps.every(({ state }) => state === 'skipped')).toBe(true)
    expect(countRequests(staged)).toBeLessThan((YEAR + 2 - 1970) * 12 + 4)
    expect(crawled.rows.get(`/calendar/${YEAR}/06`)?.state).toBe('indexed')
    expect(crawled.rows.get('/calendar/1970/01')?.state).toBe('indexed')
  })

  test('a calendar with the month in the query is followed for a year ahead, and back to 1970', async () => {
    const staged = await stageTrap([`/events?month=6&year=${YEAR}`], ({ searchParams }) =>
      eventPage(
        distantMonths(
          Number(searchParams.get('year')) * 12 + Number(searchParams.get('month')) - 1,
          (y, m) => `/events?month=${Number(m)}&amp;year=${y}`,
        ),
      ),
    )
    const crawled = await staged.crawl()
    expectGoodPages(crawled)
    expect(rowsOf(crawled, 'calendar-trap')).toHaveLength(2)
    expect(countRequests(staged)).toBeLessThan((YEAR + 2 - 1970) * 12 + 4)
  })

  test('is abandoned much earlier if it has no events', async () => {
    const staged = await stageTrap([`/calendar/${YEAR}/06/`], (url) => {
      const [, , year, month] = url.pathname.split('/')
      const at = Number(year) * 12 + Number(month) - 1
      return trapPage(
        `June ${year}`,
        months(at, (y, m) => `/calendar/${y}/${m}/`),
      )
    })
    const crawled = await staged.crawl()
    expectGoodPages(crawled)
    const same = rowsOf(crawled, 'same-content')
    expect(same.length).toBeGreaterThan(0)
    for (const { state, pattern } of same) {
      expect({ state, pattern }).toEqual({
        state: 'skipped',
        pattern: `${new URL(staged.site.origin).host}/calendar/#/#/`,
      })
    }
    expect(countRequests(staged)).toBeLessThan(130)
  })
})

describe('a session id in each link', () => {
  const paths = ['/', '/good/', '/better/', '/deep/one', '/deep/two']
  /** A site whose pages link to each other, each link with a session id of its own. */
  const stageSessions = async (write: (path: string, id: string) => string, read: (url: URL) => string) => {
    const noise = createNoise()
    const answer = ({ url = '/' }: IncomingMessage) => {
      const path = read(new URL(url, 'http://trap.test'))
      return page(
        `About ${path}`,
        paths.map((other) => write(other, noise())),
      ).replaceAll(/Read about [^<]*/g, 'Read on')
    }
    return createCrawlFixture({}, { limits: { concurrency: 4 }, siteOptions: { fallback: answer } })
  }

  test.each([
    ['a key of the query', (path: string, id: string) => `${path}?sid=${id}`, (url: URL) => url.pathname, 'sid'],
    [
      'a parameter of the path',
      (path: string, id: string) => `${path};jsessionid=${id}`,
      (url: URL) => url.pathname.replace(/;.*/, ''),
      'jsessionid',
    ],
    [
      'a segment of the path',
      (path: string, id: string) => `/(S(${id}))${path}`,
      (url: URL) => url.pathname.replace(/^\/\(S\([^/]*/, ''),
      'session',
    ],
  ] as const)(
    'is removed if it is written as %s, and each page is requested once',
    async (_what, write, read, name) => {
      const staged = await stageSessions(write, read)
      const crawled = await staged.crawl()
      expect(crawled.summary).toMatchObject({ end: 'completed', indexed: 5 })
      expect(staged.site.requestedPaths()).toEqual(['/', '/better/', '/deep/one', '/deep/two', '/good/'])
      expect([...crawled.rows.keys()]).toEqual(['/', '/better', '/deep/one', '/deep/two', '/good'])
      const dropped = crawled.events.filter((event) => event.type === 'dropped')
      expect(dropped.length).toBeGreaterThan(0)
      for (const event of dropped) expect(event).toMatchObject({ reason: 'session-id', pattern: name })
      const { origin } = staged.site
      const aliases = await staged.library.store.listAliases(staged.source.id, `${origin}/deep/one`)
      expect(aliases).toMatchObject([
        {
          url: expect.stringContaining(origin),
          aliasUrl: `${origin}/deep/one`,
          classification: 'session-id',
          reason: 'session-id',
          exists: true,
        },
      ])
    },
  )

  test('is recognized by enough pages with the same content if its parameter is unknown', async () => {
    const staged = await stageSessions(
      (path, id) => `${path}?x=${id}`,
      (url) => url.pathname,
    )
    const crawled = await staged.crawl()
    expect(crawled.summary.end).toBe('completed')
    const indexed = [...crawled.rows.values()].filter(({ state }) => state === 'indexed')
    expect(new Set(indexed.map(({ url }) => new URL(url).pathname))).toEqual(new Set(paths))
    const patterns = new Set(rowsOf(crawled, 'same-content').map(({ pattern }) => pattern))
    const { host } = new URL(staged.site.origin)
    expect(patterns).toEqual(new Set(paths.map((path) => `${host}${path}?x=*`)))
    expect(countRequests(staged)).toBeLessThan(5 * 70)
  })
})

describe('endlessly deep links', () => {
  test('are not followed once the path repeats itself', async () => {
    const staged = await stageTrap(['/a/b/'], (url) =>
      page(`At ${url.pathname.length}`, url.pathname.endsWith('/b/') ? ['a/', '/good/'] : ['b/', '/good/']),
    )
    const crawled = await staged.crawl()
    expectGoodPages(crawled)
    expect(rowsOf(crawled, 'path-trap').map(({ key, pattern }) => [new URL(key).pathname, pattern])).toEqual([
      ['/a/b/a/b/a/b/', 'a/b/ 3 times in a row'],
    ])
    expect(countRequests(staged)).toBeLessThan(12)
  })

  test('are not followed once a segment repeats too often in the path, even if every page differs', async () => {
    const word = createNoise()
    const staged = await stageTrap(['/trap/next'], ({ pathname }) => {
      const place = pathname.replace(/\/$/, '')
      return page(`About ${word().replace(/\d/g, 'q')}`, [`${place}/trap/next`, `${place}/again`])
    })
    const crawled = await staged.crawl()
    expectGoodPages(crawled)
    expect(rowsOf(crawled, 'path-trap').map(({ pattern }) => pattern)).toContain('again/ 5 times')
    expect(countRequests(staged)).toBeLessThan(400)
  })

  test('are abandoned after enough pages with the same content, whatever the order of their segments', async () => {
    const staged = await stageTrap(['/a/'], () => trapPage('Nested', ['a/', 'b/', 'c/']))
    const crawled = await staged.crawl()
    expectGoodPages(crawled)
    const patterns = new Set(rowsOf(crawled, 'same-content').map(({ pattern }) => pattern))
    expect(patterns).toContain(`${new URL(staged.site.origin).host}/{a,b,c}…`)
    expect(countRequests(staged)).toBeLessThan(400)
  })
})

describe('the same content', () => {
  const listing = (url: URL) => trapPage('List', [`/list?page=${Number(url.searchParams.get('page')) + 1}`])

  test('ends a list if consecutive pages have it', async () => {
    const staged = await stageTrap(['/list?page=1'], listing)
    const crawled = await staged.crawl()
    expectGoodPages(crawled)
    expect(rowsOf(crawled, 'same-content').map(({ key, pattern }) => [new URL(key).search, pattern])).toEqual([
      ['?page=26', `${new URL(staged.site.origin).host}/list?page=*`],
    ])
    expect(countRequests(staged)).toBe(28)
    expect(crawled.summary.incomplete).toBe(
      `addresses like ${new URL(staged.site.origin).host}/list?page=* were left out as repetitions`,
    )
  })

  test('ends a list after 50 pages that differ only in their number', async () => {
    const staged = await stageTrap(['/list?page=1'], (url) => {
      const number = Number(url.searchParams.get('page'))
      return trapPage(`Page ${number} of many`, [`/list?page=${number + 1}`])
    })
    const crawled = await staged.crawl()
    expectGoodPages(crawled)
    expect(rowsOf(crawled, 'same-content').map(({ key }) => new URL(key).search)).toEqual(['?page=51'])
    expect(countRequests(staged)).toBe(53)
  })

  test('is no trap on pages of a finite list that differ only in a number', async () => {
    const links = Array.from({ length: 150 }, (_, i) => `/item/${i}`)
    const staged = await stageTrap(links, ({ pathname }) => trapPage(`Item ${pathname.slice(6)}`, links.slice(0, 50)))
    const crawled = await staged.crawl()
    expectGoodPages(crawled)
    expect(crawled.summary).toMatchObject({ indexed: 153, skipped: 0 })
  })

  test('ends a calendar without end, although some of its months have events', async () => {
    const month = (at: number) => `/calendar/${Math.floor(at / 12)}/${(at % 12) + 1}`
    const now = YEAR * 12
    const staged = await stageTrap(
      [month(now)],
      ({ pathname }) => {
        const [, year = '0', number = '1'] = /(\d+)\/(\d+)/.exec(pathname) ?? []
        const at = Number(year) * 12 + Number(number) - 1
        const event = at > now - 3 && at <= now ? ` with a concert of ${createWord(pathname)}` : ''
        return trapPage(`Month ${number} of ${year}${event}`, [month(at - 1), month(at + 1)])
      },
      { scope: { maxPages: 1000 } },
    )
    const crawled = await staged.crawl()
    expectGoodPages(crawled)
    expect(countRequests(staged)).toBeLessThan(230)
  })

  test('removes pending addresses from the frontier without requesting them', async () => {
    const links = Array.from({ length: 500 }, (_, i) => `/item/${i}`)
    const staged = await stageTrap(links, () => trapPage('Item', []))
    const crawled = await staged.crawl()
    expectGoodPages(crawled)
    expect(countRequests(staged)).toBeLessThan(80)
    const same = rowsOf(crawled, 'same-content')
    expect(same.length).toBeGreaterThan(420)
    expect(same.every(({ state, status }) => state === 'skipped' && status === null)).toBe(true)
    expect(crawled.summary.incomplete).toContain('/item/# were left out as repetitions')
  })

  test('is no trap on pages that a sitemap lists, because a sitemap has an end', async () => {
    const paths = Array.from({ length: 60 }, (_, i) => `/lesson/${i}`)
    const crawled = await (
      await createCrawlFixture(
        (origin) => ({
          '/': page('Home', paths),
          ...Object.fromEntries(
            paths.map((path, i) => [path, page(i < 28 ? 'Coming soon' : `Lesson ${'abcdefghij'.repeat(i)}`)]),
          ),
          '/sitemap.xml': sitemap(paths.map((path) => origin + path)),
        }),
        { limits: { ...UNPACED, concurrency: 1 } },
      )
    ).crawl()
    expect(rowsOf(crawled, 'same-content')).toEqual([])
    expect(crawled.summary).toMatchObject({ indexed: 34, incomplete: null })
  })

  test('is no trap if one of the first pages differs, and no page is lost', async () => {
    const links = Array.from({ length: 300 }, (_, i) => `/item/${i}`)
    const rare = links.filter((_, i) => i % 12 === 3)
    const texts = rare.map((href) => [href, page(`Item ${createWord(href)}`)] as const)
    const staged = await stageTrap(links, () => trapPage('Item', []), {}, Object.fromEntries(texts))
    const crawled = await staged.crawl()
    expectGoodPages(crawled)
    expect(rowsOf(crawled, 'same-content')).toEqual([])
    expect(crawled.summary.incomplete).toBeNull()
    for (const href of rare) expect(crawled.rows.get(href)?.state).toBe('indexed')
  })

  test('does not cause addresses of stored pages to be left out', async () => {
    const links = Array.from({ length: 80 }, (_, i) => `/item/${i}`)
    const texts = links.map((href) => [href, page(`Item ${createWord(href)}`)] as const)
    const staged = await stageTrap(links, () => trapPage('Item', []), {}, Object.fromEntries(texts))
    const first = await staged.crawl()
    expect(first.summary).toMatchObject({ end: 'completed', indexed: 83 })
    for (const href of links) staged.site.pages.delete(href)
    staged.site.clearRequests()
    const second = await staged.crawl({ kind: 'recrawl', acceptLoss: true })
    // Each address is requested, because each has a stored page.
    expect(countRequests(staged)).toBe(83)
    expect(rowsOf(second, 'same-content')).toEqual([])
    expect(second.summary.incomplete).toBeNull()
  })

  test('is not assumed for sixty pages of one shape with different words', async () => {
    const links = Array.from({ length: 60 }, (_, i) => `/class/${i}`)
    const pages = links.map((href) => [href, page(`Class ${createWord(href)}`, links.slice(0, 5))] as const)
    const staged = await stageTrap(links, () => trapPage('Never', []), {}, Object.fromEntries(pages))
    const crawled = await staged.crawl()
    expectGoodPages(crawled)
    expect(crawled.summary).toMatchObject({ indexed: 63, skipped: 0 })
    expect(countRequests(staged)).toBe(63)
  })

  test('is not assumed for sixty lists of one shape that lead to different pages', async () => {
    const lists = Array.from({ length: 60 }, (_, i) => `/list/${i}`)
    const staged = await stageTrap(lists, (url) =>
      url.pathname.startsWith('/list/')
        ? trapPage('List', [`/about-${createWord(url.pathname)}`])
        : page(`About ${url.pathname}`),
    )
    const crawled = await staged.crawl()
    expectGoodPages(crawled)
    expect(rowsOf(crawled, 'same-content')).toEqual([])
    expect(countRequests(staged)).toBe(123)
  })
})

describe('hosts without end', () => {
  /** A site that answers to every subdomain, where each page links to two new ones. */
  const stageHosts = async (titleOf: (count: number) => string) => {
    const noise = createNoise()
    let count = 0
    const site = await openPoliteSite(
      {},
      {
        fallback: ({ headers }) => {
          const links = [noise(), noise().replace(/\d/g, 'q')].map(
            (label) => `http://${label}.trap.test:${String(headers.host).split(':')[1]}/`,
          )
          return trapPage(titleOf(count++), links)
        },
      },
    )
    const library = await openPoliteLibrary({ limits: { concurrency: 4, startIntervalMs: 0, intervalMs: 0 } })
    const hosts = () => new Set(site.requests.map(({ headers }) => headers['host']))
    const crawl = (maxPages: number | null) =>
      crawlPolitely(library, `${originOf(site, 'www.trap.test')}/`, {
        scope: { reach: 'domain', maxPages },
        settings: { crawlType: 'basic' },
      })
    return { site, hosts, crawl }
  }

  test('addresses of one shape are left out after twenty-five of them had the same content', async () => {
    const { site, hosts, crawl } = await stageHosts(() => 'Same everywhere')
    const crawled = await crawl(null)
    expect(crawled.summary).toMatchObject({ end: 'completed', cappedAt: null })
    const same = rowsOf(crawled, 'same-content')
    expect(same.length).toBeGreaterThan(0)
    const { port } = new URL(site.origin)
    for (const { pattern } of same) expect(pattern).toBe(`*.trap.test:${port}/`)
    // Concurrent requests may exceed the limit a little.
    expect(hosts().size).toBeGreaterThanOrEqual(26)
    expect(hosts().size).toBeLessThan(35)
    expect(crawled.summary.incomplete).toContain('*.trap.test')
  })

  test('are followed while each has different content', async () => {
    const word = createNoise()
    const { hosts, crawl } = await stageHosts(() => `About ${word().replace(/\d/g, 'q')}`)
    const crawled = await crawl(80)
    expect(rowsOf(crawled, 'same-content')).toEqual([])
    expect(hosts().size).toBeGreaterThanOrEqual(80)
  })
})

test('a stored page is visited whatever its address looks like, and an unknown one is not', async () => {
  const links = [`/calendar/${YEAR + 5}/06/`, '/a/a/a/a/a/']
  const staged = await stageTrap(
    links,
    () => page('Endless'),
    { scope: { trapGuards: false } },
    {
      [links[0] ?? '']: page('June'),
      [links[1] ?? '']: page('Nested'),
    },
  )
  const first = await staged.crawl()
  expect(first.summary).toMatchObject({ end: 'completed', indexed: 5 })
  staged.site.pages.set('/', page('Start', ['/good/', ...links, `/calendar/${YEAR + 5}/07/`, '/b/b/b/b/b/']))
  staged.site.clearRequests()
  const second = await staged.crawl({ kind: 'recrawl', scope: { trapGuards: true } })
  expect(second.summary).toMatchObject({ end: 'completed', removed: 0 })
  expect(new Set(staged.site.requestedPaths())).toEqual(new Set(['/', ...links, '/better/', '/good/']))
  for (const path of ['/a/a/a/a/a', `/calendar/${YEAR + 5}/06`]) {
    expect(second.rows.get(path)).toMatchObject({ state: 'unchanged', reason: null, hasPage: true })
  }
  expect(rowsOf(second, 'path-trap').map(({ key }) => new URL(key).pathname)).toEqual(['/b/b/b/b/b/'])
  expect(rowsOf(second, 'calendar-trap')).toHaveLength(1)
})

test('no page counts as a trap when trap guards are off', async () => {
  const noise = createNoise()
  const staged = await stageTrap(
    [`/calendar/${YEAR + 5}/06/`, '/a/a/a/a/a/', '/list?page=1', `/s?sid=${noise()}`],
    (url) => trapPage('List', [`/list?page=${Number(url.searchParams.get('page')) + 1}`, `/s?sid=${noise()}`]),
    { scope: { trapGuards: false, maxPages: 120 } },
  )
  const crawled = await staged.crawl()
  expect(crawled.rows.get('/good')?.state).toBe('indexed')
  for (const reason of ['calendar-trap', 'path-trap', 'session-id', 'same-content'])
    expect(rowsOf(crawled, reason)).toEqual([])
  expect(staged.site.requestedPaths()).toContain('/a/a/a/a/a/')
  expect(countRequests(staged)).toBeGreaterThan(100)
})

test('a start or seed is never a trap', async () => {
  const start = `/calendar/${YEAR + 5}/06/`
  const staged = await stageTrap([], () => page('Given'), {
    start,
    scope: { reach: 'hostname' },
    settings: (origin) => ({ seeds: [`${origin}/a/a/a/a/a/`, `${origin}/x;jsessionid=k3j9d8f7a2`] }),
  })
  const crawled = await staged.crawl()
  expect(crawled.summary.end).toBe('completed')
  expect(staged.site.requestedPaths()).toEqual(['/a/a/a/a/a/', start, '/x;jsessionid=k3j9d8f7a2'])
  expect(crawled.rows.has('/x')).toBe(true)
})

describe('more addresses than a source may have', () => {
  test('are counted and reported but not recorded, and no page is removed', async () => {
    const links = Array.from({ length: 50 }, (_, i) => `/p${i}`)
    const staged = await createCrawlFixture(
      { '/': page('Start', links), ...Object.fromEntries(links.map((href) => [href, page(`Page ${href}`, links)])) },
      { limits: { ledgerRows: 20, concurrency: 4 } },
    )
    const crawled = await staged.crawl()
    expect(crawled.summary).toMatchObject({ end: 'completed', indexed: 20, overflow: 31 })
    expect(crawled.summary.incomplete).toBe('more addresses were found than the 20 a source may have')
    expect(crawled.rows.size).toBe(20)
    const dropped = crawled.events.filter((event) => event.type === 'dropped')
    expect(dropped).toHaveLength(31)
    for (const event of dropped) expect(event).toMatchObject({ reason: 'overflow', pattern: '20' })
    const again = await staged.crawl({ kind: 'recrawl' })
    expect(again.summary).toMatchObject({ end: 'completed', unchanged: 20, removed: 0, overflow: 31 })
  })

  test('are not added from llms-full.txt either', async () => {
    const part = (name: string) =>
      `# ${name}\nSource: ORIGIN/${name}\n\nThis is what ${name} is about, in some words.\n\n`
    const names = ['alpha', 'beta', 'gamma', 'delta', 'epsilon']
    const staged = await createCrawlFixture(
      (origin) => ({
        '/': page('Start'),
        '/llms-full.txt': {
          headers: { 'content-type': 'text/plain' },
          body: names.map(part).join('').replaceAll('ORIGIN', origin),
        },
      }),
      { limits: { ledgerRows: 3 } },
    )
    const crawled = await staged.crawl()
    expect(crawled.rows.size).toBe(3)
    expect(crawled.summary.overflow).toBeGreaterThan(0)
    expect(crawled.summary.ledger.states.indexed).toBe(3)
  })
})

/** A word of letters only, which depends on the text. */
function createWord(text: string): string {
  return [...text].map((char) => String.fromCharCode(97 + (char.charCodeAt(0) % 26))).join('')
}
