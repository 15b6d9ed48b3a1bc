import { describe, expect, test } from 'vitest'
import { writeExplanation } from '../../src/cli/text/explanation-text.ts'
import { writeStatus } from '../../src/cli/text/status-text.ts'
import { describeSource } from '../../src/library/sources/describe-source.ts'
import { explainUrl } from '../../src/library/sources/explain.ts'
import { REASON_WORDS } from '../../src/library/sources/ledger-words.ts'
import { reportSource } from '../../src/library/sources/source-status.ts'
import { type CrawlFixture, createCrawlFixture, UNPACED } from './crawl.ts'
import { page, redirect, sitemap } from './site.ts'

const DEAD = Array.from({ length: 3000 }, (_, i) => `/dead/${i}`)
const countRequests = ({ site }: CrawlFixture, prefix: string) =>
  site.requests.filter(({ path }) => path.startsWith(prefix)).length
/** An answer that stops the crawl and has status 404. */
const stopCrawlWith = (stop: AbortController) => () => {
  stop.abort()
  return { status: 404, body: 'none' }
}

describe('a sitemap whose addresses are all gone', () => {
  test('is sampled and set aside, and keeps no linked page waiting', async () => {
    const staged = await createCrawlFixture(
      (origin) => ({
        '/': page('Home heron', ['/good']),
        '/good': page('Good goose', ['/good/2']),
        '/good/2': page('Better bittern'),
        '/sitemap.xml': sitemap(DEAD.map((path) => origin + path)),
      }),
      { limits: UNPACED, scope: { maxPages: 100 } },
    )
    const { summary, rows, events } = await staged.crawl()
    expect(summary).toMatchObject({ end: 'completed', indexed: 3 })
    for (const path of ['/good', '/good/2']) expect(rows.get(path)).toMatchObject({ state: 'indexed' })
    const requestCount = countRequests(staged, '/dead/')
    expect(requestCount).toBeLessThan(400)
    // The sample covers the whole list, not only its beginning.
    const positions = staged.site.requests.flatMap(({ path }) => /^\/dead\/(\d+)$/.exec(path)?.[1] ?? [])
    expect(Math.max(...positions.map(Number))).toBeGreaterThan(2500)
    expect(summary.ledger.reasons).toMatchObject({
      'failed/not-found': requestCount,
      'skipped/stale-list': DEAD.length - requestCount,
    })
    const skippedRow = [...rows.values()].find(({ reason }) => reason === 'stale-list')
    expect(skippedRow).toMatchObject({ state: 'skipped', pattern: `${staged.site.origin}/sitemap.xml` })
    const { library, source } = staged
    const hint = (...words: string[]) => words.join(' ')
    const now = library.clock.now()
    const explanation = await explainUrl(library, source, skippedRow?.url ?? '')
    expect(writeExplanation(explanation, source, hint, now)).toContain(REASON_WORDS['stale-list'])
    expect(writeStatus(await describeSource(library, source, 5), hint, now)).toContain('stale-list')
    const details = events.filter((event) => event.type === 'discovery').map(({ detail }) => detail)
    expect(
      details.filter((detail) => detail.endsWith('addresses set aside: those that were requested are gone')),
    ).toHaveLength(1)
    expect(summary.incomplete).toContain('sitemap.xml')
  })

  test('costs a recrawl only a sample of requests, and no page is removed', async () => {
    const staged = await createCrawlFixture(
      (origin) => ({
        '/': page('Home heron', ['/good']),
        '/good': page('Good goose'),
        '/sitemap.xml': sitemap(DEAD.map((path) => origin + path)),
      }),
      { limits: UNPACED },
    )
    await staged.crawl()
    staged.site.clearRequests()
    const { summary } = await staged.crawl({ kind: 'recrawl' })
    expect(summary).toMatchObject({ end: 'completed', unchanged: 2, removed: 0 })
    expect(countRequests(staged, '/dead/')).toBeLessThan(400)
  })
})

describe('a list that is stale in part', () => {
  test('is read to its end if some of its addresses answer', async () => {
    const live = Array.from({ length: 40 }, (_, i) => `/live/${i}`)
    const staged = await createCrawlFixture(
      (origin) => ({
        '/': page('Home heron'),
        ...Object.fromEntries(live.map((path) => [path, page(`Live ${path}`)])),
        '/sitemap.xml': sitemap([...DEAD.slice(0, 400), ...live].map((path) => origin + path)),
      }),
      { limits: UNPACED },
    )
    const { summary } = await staged.crawl()
    expect(summary).toMatchObject({ indexed: 41, incomplete: null })
    expect(summary.ledger.reasons).not.toHaveProperty('skipped/stale-list')
  })

  test('is set aside, except for an address that a page links to', async () => {
    const listedLink = '/linked/too'
    const staged = await createCrawlFixture(
      (origin) => ({
        '/': page('Home heron', ['/slow']),
        // The links of this page are found after the list was set aside.
        '/slow': { body: page('Slow swallow', [listedLink]), delayMs: 1500 },
        [listedLink]: page('Linked lapwing'),
        '/sitemap.xml': sitemap([...DEAD.slice(0, 1777), listedLink, ...DEAD.slice(1777)].map((path) => origin + path)),
      }),
      { limits: UNPACED },
    )
    const { rows } = await staged.crawl()
    expect(rows.get(listedLink)).toMatchObject({ state: 'indexed' })
    expect(rows.get('/dead/2998')).toMatchObject({ state: 'skipped', reason: 'stale-list' })
  })

  test('is read to its end after an interruption, too', async () => {
    const live = Array.from({ length: 40 }, (_, i) => `/live/${i}`)
    const stop = new AbortController()
    const staged = await createCrawlFixture(
      (origin) => ({
        '/': page('Home heron'),
        ...Object.fromEntries(live.map((path) => [path, page(`Live ${path}`)])),
        [DEAD[17] ?? '']: stopCrawlWith(stop),
        '/sitemap.xml': sitemap([...DEAD.slice(0, 400), ...live].map((path) => origin + path)),
      }),
      { limits: UNPACED },
    )
    expect((await staged.crawl({}, stop.signal)).summary).toMatchObject({ end: 'cancelled' })
    const { summary, events } = await staged.crawl()
    expect(events[0]).toMatchObject({ isResumed: true })
    expect(summary.ledger.states).toMatchObject({ indexed: 41, failed: 400 })
    expect(summary.ledger.reasons).not.toHaveProperty('skipped/stale-list')
  })

  test('is set aside, except for an address that a page linked to before an interruption', async () => {
    const linked = Array.from({ length: 300 }, (_, i) => `/linked/${i}`)
    const listedLink = linked.at(-1) ?? ''
    const stop = new AbortController()
    const staged = await createCrawlFixture(
      (origin) => ({
        '/': page('Home heron', linked),
        ...Object.fromEntries(linked.map((path) => [path, page(`Linked ${path}`)])),
        [DEAD[17] ?? '']: stopCrawlWith(stop),
        '/sitemap.xml': sitemap([...DEAD.slice(0, 1777), listedLink, ...DEAD.slice(1777)].map((path) => origin + path)),
      }),
      { limits: UNPACED },
    )
    const stopped = await staged.crawl({}, stop.signal)
    expect(stopped.rows.get(listedLink)).toMatchObject({ state: 'pending', discovery: 'sitemap' })
    const { rows, summary } = await staged.crawl()
    expect(summary.ledger.reasons['skipped/stale-list']).toBeGreaterThan(2000)
    expect(rows.get(listedLink)).toMatchObject({ state: 'indexed' })
  })

  test.each([500, 403])(
    'a list is not set aside for answers of %i, which do not say that pages are missing',
    async (status) => {
      const paths = Array.from({ length: 330 }, (_, i) => `/listed/${i}`)
      const broken = Object.fromEntries(paths.map((path) => [path, { status, body: 'broken' }]))
      const staged = await createCrawlFixture(
        (origin) => ({
          '/': page('Home heron'),
          ...broken,
          '/sitemap.xml': sitemap(paths.map((path) => origin + path)),
        }),
        { limits: { ...UNPACED, attempts: 1, holdsMs: [10, 10, 10, 10, 10, 10, 10, 10] } },
      )
      const { summary } = await staged.crawl()
      expect(summary.ledger.states).toMatchObject({ indexed: 1, failed: 330 })
      expect(summary.ledger.reasons).not.toHaveProperty('skipped/stale-list')
    },
  )

  test('is read to its end if addresses redirect to pages', async () => {
    const old = Array.from({ length: 330 }, (_, i) => `/old/${i}`)
    const staged = await createCrawlFixture(
      (origin) => ({
        '/': page('Home heron'),
        ...Object.fromEntries(old.map((path) => [path, redirect(path.replace('old', 'new'))])),
        ...Object.fromEntries(old.map((path) => [path.replace('old', 'new'), page(`Page ${path}`)])),
        '/sitemap.xml': sitemap(old.flatMap((path, i) => [origin + path, `${origin}${DEAD[i]}`])),
      }),
      { limits: UNPACED },
    )
    const { summary } = await staged.crawl()
    expect(summary).toMatchObject({ indexed: 331, incomplete: null })
  })

  test('leaves the other lists of the site alone', async () => {
    const live = Array.from({ length: 30 }, (_, i) => `/live/${i}`)
    const staged = await createCrawlFixture(
      (origin) => ({
        '/': page('Home heron'),
        ...Object.fromEntries(live.map((path) => [path, page(`Live ${path}`)])),
        '/sitemap.xml': sitemap([`${origin}/dead.xml`, `${origin}/live.xml`], 'sitemapindex'),
        '/dead.xml': sitemap(DEAD.map((path) => origin + path)),
        '/live.xml': sitemap(live.map((path) => origin + path)),
      }),
      { limits: UNPACED },
    )
    const { summary } = await staged.crawl()
    expect(summary).toMatchObject({ indexed: 31 })
  })
})

describe('a page cap', () => {
  test('is shared by listed and linked addresses', async () => {
    const listed = Array.from({ length: 300 }, (_, i) => `/listed/${i}`)
    const linked = Array.from({ length: 100 }, (_, i) => `/linked/${i}`)
    const staged = await createCrawlFixture(
      (origin) => ({
        '/': page('Home heron', linked),
        ...Object.fromEntries([...listed, ...linked].map((path) => [path, page(`Page ${path}`)])),
        '/sitemap.xml': sitemap(listed.map((path) => origin + path)),
      }),
      { limits: UNPACED, scope: { maxPages: 60 } },
    )
    const { summary } = await staged.crawl()
    expect(summary).toMatchObject({ indexed: 60, cappedAt: 60 })
    for (const prefix of ['/listed/', '/linked/']) expect(countRequests(staged, prefix)).toBeGreaterThan(15)
  })

  test('is shared by listed and linked addresses also if the link depth is limited', async () => {
    const listed = Array.from({ length: 100 }, (_, i) => `/listed/${i}`)
    const staged = await createCrawlFixture(
      (origin) => ({
        '/': page('Home heron', ['/good']),
        '/good': page('Good goose'),
        ...Object.fromEntries(listed.map((path) => [path, page(`Page ${path}`)])),
        '/sitemap.xml': sitemap(listed.map((path) => origin + path)),
      }),
      { limits: UNPACED, scope: { maxPages: 20, maxDepth: 3 } },
    )
    const { summary, rows } = await staged.crawl()
    expect(summary).toMatchObject({ indexed: 20, cappedAt: 20 })
    expect(rows.get('/good')).toMatchObject({ state: 'indexed', depth: 1 })
  })

  test('limits the addresses taken from sitemaps', async () => {
    const listed = Array.from({ length: 12_000 }, (_, i) => `/listed/${i}`)
    const staged = await createCrawlFixture(
      (origin) => ({ '/': page('Home heron'), '/sitemap.xml': sitemap(listed.map((path) => origin + path)) }),
      { limits: UNPACED, scope: { maxPages: 5 } },
    )
    const { summary } = await staged.crawl()
    expect(summary.ledger.total).toBe(10_001)
    expect(summary.incomplete).toContain('the sitemaps list more entries than are read')
  })

  test('limits the requests to ten for each page of the cap plus a hundred', async () => {
    const staged = await createCrawlFixture(
      { '/': page('Home heron', DEAD.slice(0, 500)) },
      { limits: UNPACED, scope: { maxPages: 5 } },
    )
    const { summary } = await staged.crawl()
    expect(summary).toMatchObject({ end: 'completed', indexed: 1, cappedAt: 5 })
    const unread = summary.unread ?? 0
    const { requests = 0, pages } = summary.spent ?? {}
    expect({ requests: requests >= 150 && requests <= 150 + 16, pages }).toEqual({ requests: true, pages: 1 })
    const shortfall = (await reportSource(staged.library, staged.source)).shortfall
    expect(shortfall?.gaps).toEqual([
      {
        words: `stopped after ${requests} requests for 1 page (cap 5): ${unread} known addresses not read`,
        // A page cap allows ten requests per page, so this cap is enough for all known addresses.
        remedy: { verb: 'recrawl', maxPages: Math.ceil((requests + unread) / 10) },
      },
    ])
    expect(countRequests(staged, '/dead/')).toBeLessThanOrEqual(150 + 16)
    expect(summary.ledger.reasons['skipped/page-cap']).toBeGreaterThan(300)
  })
})
