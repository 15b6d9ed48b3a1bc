import { describe, expect, test } from 'vitest'
import type { CrawlEvent } from '../../src/crawl/events.ts'
import { DEFAULT_CRAWL_LIMITS } from '../../src/crawl/run.ts'
import { fetchUrl } from '../../src/library/crawl/fetch-url.ts'
import { type Child, startChild } from './children.ts'
import { statesOf } from './crawl.ts'
import { createLibraryPath } from './file-fixture.ts'
import {
  arrivalTimes,
  crawlPolitely,
  expectPaced,
  gapsOf,
  isTo,
  openPoliteLibrary,
  openPoliteSite,
  originOf,
  progressOf,
  TOLERANCE_MS,
} from './polite.ts'
import { type Answer, type AnswerParts, markdown, page, redirect, type SeenRequest, sitemap, text } from './site.ts'

const LONG = process.env['TEST_LONG'] !== undefined

/** A home page with links to the given number of different pages. */
function manyPages(
  count: number,
  answer: (body: string, i: number) => Answer = (body) => body,
): Record<string, Answer> {
  const siteNumber = nextSiteNumber++
  const paths = Array.from({ length: count }, (_, i) => `/p/${i}`)
  const others = paths.map((path, i) => [path, answer(page(`Site ${siteNumber} at ${path}`), i)] as const)
  return { '/': page(`Home of ${siteNumber}`, paths), ...Object.fromEntries(others) }
}

let nextSiteNumber = 0

/** Limits with the same interval throughout, without a slow start. */
function pace(intervalMs: number) {
  return { intervalMs, startIntervalMs: intervalMs, concurrency: 16 }
}

/** Waits until the condition is true, for at most two minutes. */
async function waitFor(condition: () => boolean): Promise<void> {
  for (let waited = 0; !condition(); waited += 5) {
    if (waited > 120_000) throw new Error('the condition did not become true within two minutes')
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

function heldEvents(events: readonly CrawlEvent[]): Extract<CrawlEvent, { type: 'held' }>[] {
  return events.filter((event) => event.type === 'held')
}

/** Follows links only. Trap guards are off, because the pages differ only in a number. */
const BASIC = { scope: { trapGuards: false }, settings: { crawlType: 'basic' } } as const
/** All hosts of the domain are in scope. Trap guards are off here too. */
const DOMAIN = { reach: 'domain', trapGuards: false } as const
const TOO_MANY: AnswerParts = { status: 429, body: 'slow down' }

// The tests measure arrival times, which a busy machine can delay. Retries are safe, because a broken rule fails every attempt.
describe.concurrent('a host that struggles', { retry: 2 }, () => {
  test('a host that slows down gets fewer requests, and the usual rate when it is fast again', async () => {
    const FAST_COUNT = 40
    const SLOW_COUNT = 32
    let requestCount = 0
    const site = await openPoliteSite(
      manyPages(FAST_COUNT + SLOW_COUNT + (LONG ? 400 : 180), (body) => () => {
        const isSlow = requestCount >= FAST_COUNT && requestCount < FAST_COUNT + SLOW_COUNT
        requestCount++
        return { body, delayMs: isSlow ? 1200 : 20 }
      }),
    )
    const speed = 8
    const library = await openPoliteLibrary({ limits: { concurrency: 8 }, speed })
    const { summary, events } = await crawlPolitely(library, `${site.origin}/`, BASIC)
    expect(summary).toMatchObject({ end: 'completed', failed: 0 })
    const moments = arrivalTimes(site, ({ path }) => path.startsWith('/p/'))
    const averageGap = (from: number, to: number) => ((moments[to] ?? 0) - (moments[from] ?? 0)) / (to - from)
    const progress = progressOf(events, new URL(site.origin).host)
    const pauses = progress.map(({ intervalMs }) => intervalMs)
    expect(pauses[0]).toBe(0)
    expect(Math.max(...pauses)).toBeGreaterThanOrEqual(500)
    expect(pauses.at(-1)).toBeLessThan(100)
    expect(Math.max(...progress.map(({ latencyMs }) => latencyMs ?? 0))).toBeGreaterThan(500)
    // The first requests after the recovery still had the long interval.
    const slowest = averageGap(FAST_COUNT + SLOW_COUNT, FAST_COUNT + SLOW_COUNT + 10)
    expect(slowest).toBeGreaterThan(250 / speed)
    expect(averageGap(10, FAST_COUNT - 10)).toBeLessThan(slowest / 2)
    expect(averageGap(moments.length - 20, moments.length - 1)).toBeLessThan(slowest / 2)
  })

  test('a host that answers 503 at many addresses gets fewer requests, and the next crawl starts at the usual rate', async () => {
    const site = await openPoliteSite(manyPages(30, (body, i) => (i < 15 ? body : { status: 503, body: 'busy' })))
    const library = await openPoliteLibrary({ limits: { concurrency: 1 }, speed: 20 })
    const { summary, events } = await crawlPolitely(library, `${site.origin}/`, BASIC)
    expect(summary).toMatchObject({ end: 'completed', failed: 15, indexed: 16 })
    // The crawler probes a page that worked before, and it still answers 200, so the host is slowed down but not held.
    expect(heldEvents(events)).toEqual([])
    const { host } = new URL(site.origin)
    const pauses = progressOf(events, host).map(({ intervalMs }) => intervalMs)
    expect(pauses[0]).toBe(0)
    expect(Math.max(...pauses)).toBe(2000)
    expect(await library.store.readClock(host, library.clock.now())).toMatchObject({ intervalMs: 0, strikes: 0 })
  })

  test.each([
    ['429', TOO_MANY],
    ['503', { status: 503, body: 'busy' }],
  ] as const)('a host that keeps failing is parked, while other hosts are read: %s', async (_name, answer) => {
    const bad = await openPoliteSite(manyPages(40, () => answer))
    const start = bad.pages.get('/')
    bad.pages.set('/', () =>
      bad.requests.some(({ path }) => path === '/') || typeof start !== 'string' ? answer : start,
    )
    const good = await openPoliteSite(manyPages(30))
    const library = await openPoliteLibrary({ limits: { concurrency: 16, holdsMs: [1000, 1000, 1000] }, speed: 100 })
    const crawled = await crawlPolitely(library, `${originOf(good, 'good.polite.test')}/`, {
      scope: DOMAIN,
      settings: { crawlType: 'basic', seeds: [`${originOf(bad, 'bad.polite.test')}/`] },
    })
    expect(crawled.summary).toMatchObject({ end: 'completed', indexed: 32 })
    const { host } = new URL(originOf(bad, 'bad.polite.test'))
    expect(crawled.events.filter(({ type }) => type === 'parked')).toMatchObject([{ host }])
    expect(heldEvents(crawled.events).map(({ strikes }) => strikes)).toEqual([1, 2, 3])
    const states = Object.values(statesOf(crawled))
    expect(states.filter((state) => state === 'failed host-parked').length).toBeGreaterThan(10)
    expect(arrivalTimes(bad).length).toBeLessThan(30)
  })
})

describe.concurrent('requests to a host', { retry: 2 }, () => {
  test('are evenly spaced by the interval and its jitter at any concurrency', async () => {
    const site = await openPoliteSite(manyPages(LONG ? 120 : 14, (body) => ({ body, delayMs: 700 })))
    const library = await openPoliteLibrary({ limits: pace(400) })
    const { summary, events } = await crawlPolitely(library, `${originOf(site, 'slow.test')}/`, BASIC)
    expect(summary).toMatchObject({ end: 'completed', failed: 0 })
    const moments = arrivalTimes(site)
    expect(moments.length).toBe(LONG ? 122 : 16)
    expectPaced(moments, 400)
    // Responses take longer than the interval, so the requests overlap.
    const gaps = gapsOf(moments).sort((a, b) => a - b)
    expect(gaps[Math.floor(gaps.length / 2)]).toBeLessThan(700)
    const progress = progressOf(events, new URL(originOf(site, 'slow.test')).host)
    expect(progress.length).toBeGreaterThan(5)
    for (const host of progress.slice(1)) {
      expect(host).toMatchObject({ intervalMs: 400, limitRpm: 150, backoffUntil: null })
    }
    expect(progress.at(-1)?.rpm).toBeGreaterThan(10)
    expect(progress.at(-1)?.requests).toBe(progress.at(-1)?.rpm)
  })

  test('are evenly spaced even if DNS resolution is slow', async () => {
    // Without pacing after the lookup, all requests that wait for the same name would be sent at once.
    const site = await openPoliteSite(manyPages(6, (body) => ({ body, delayMs: 900 })))
    const library = await openPoliteLibrary({ limits: pace(400), lookupMs: 1200 })
    const { summary } = await crawlPolitely(library, `${originOf(site, 'slow.test')}/`, BASIC)
    expect(summary).toMatchObject({ end: 'completed', failed: 0, requests: 8 })
    const moments = arrivalTimes(site)
    expect(moments).toHaveLength(8)
    expectPaced(moments, 400)
  })

  test('arrive at irregular intervals', async () => {
    const site = await openPoliteSite(manyPages(14))
    const library = await openPoliteLibrary({ limits: { ...pace(100), jitterMs: [100, 500] } })
    await crawlPolitely(library, `${originOf(site, 'slow.test')}/`, BASIC)
    const moments = arrivalTimes(site)
    expect(moments).toHaveLength(16)
    expectPaced(moments, 100, 100)
    const gaps = gapsOf(moments)
    expect(Math.max(...gaps) - Math.min(...gaps)).toBeGreaterThan(100)
    expect(new Set(gaps).size).toBeGreaterThan(5)
  })

  test('start slowly, and speed up while answers are fast', async () => {
    const site = await openPoliteSite(manyPages(90))
    const speed = 20
    const library = await openPoliteLibrary({
      limits: { intervalMs: 100, startIntervalMs: 2000, concurrency: 16 },
      speed,
    })
    const { events } = await crawlPolitely(library, `${originOf(site, 'slow.test')}/`, BASIC)
    const moments = arrivalTimes(site)
    const first = (moments[10] ?? 0) - (moments[0] ?? 0)
    expect(first).toBeGreaterThanOrEqual((10 * 2000) / speed - TOLERANCE_MS)
    // The shortest gaps, because a busy machine makes some longer.
    const gaps = gapsOf(moments)
    expect(Math.min(...gaps.slice(-30))).toBeLessThan(Math.min(...gaps.slice(0, 10)) / 2)
    const pauses = progressOf(events, new URL(originOf(site, 'slow.test')).host).map(({ intervalMs }) => intervalMs)
    expect(pauses.every((pause, i) => i < 2 || pause <= (pauses[i - 1] ?? 0))).toBe(true)
    expect(pauses.at(-1)).toBeLessThanOrEqual(2000 * 0.8 ** 8)
  })

  test('two names of one address are paced independently', async () => {
    const site = await openPoliteSite(manyPages(9))
    const library = await openPoliteLibrary({ limits: pace(400) })
    const names = ['one.test', 'two.test']
    await Promise.all(names.map((name) => crawlPolitely(library, `${originOf(site, name)}/`, BASIC)))
    const each = names.map((name) => arrivalTimes(site, isTo(name)))
    for (const moments of each) {
      expect(moments).toHaveLength(11)
      expectPaced(moments, 400)
    }
    // Both crawls ran at the same time, so neither waited for the other.
    const [one = [], two = []] = each
    const from = Math.max(one[0] ?? 0, two[0] ?? 0)
    const until = Math.min(one.at(-1) ?? 0, two.at(-1) ?? 0)
    for (const moments of each)
      expect(moments.filter((at) => at >= from && at <= until).length).toBeGreaterThan(moments.length / 2)
  })

  test('two crawls and a concurrent single fetch share one pace', async () => {
    const site = await openPoliteSite({
      ...manyPages(5),
      '/b/': page('Other', ['/b/1', '/b/2', '/b/3']),
      '/b/1': page('One'),
      '/b/2': page('Two'),
      '/b/3': page('Three'),
      '/alone': page('Alone'),
    })
    const library = await openPoliteLibrary({ limits: pace(400) })
    const origin = originOf(site, 'slow.test')
    const crawls = [crawlPolitely(library, `${origin}/`, BASIC), crawlPolitely(library, `${origin}/b/`, BASIC)]
    const { signal } = new AbortController()
    for (let i = 0; i < 3; i++) await expect(fetchUrl(library, `${origin}/alone`, { signal })).resolves.toBeDefined()
    await Promise.all(crawls)
    expect(site.requests.filter(({ path }) => path === '/alone')).toHaveLength(3)
    expectPaced(arrivalTimes(site), 400)
  })

  test('requests to this machine are not paced', async () => {
    const site = await openPoliteSite(manyPages(60, (body) => ({ body, delayMs: 30 })))
    const library = await openPoliteLibrary({ limits: { concurrency: 16 } })
    const { summary, events } = await crawlPolitely(library, `${site.origin}/`, BASIC)
    expect(summary).toMatchObject({ indexed: 61, requests: 62 })
    expect(summary.elapsedMs).toBeLessThan(summary.requests * DEFAULT_CRAWL_LIMITS.intervalMs)
    const moments = arrivalTimes(site, ({ path }) => path.startsWith('/p/'))
    const overlapping = gapsOf(moments).filter((gap) => gap < 30)
    expect(overlapping.length).toBeGreaterThan(40)
    for (const progress of progressOf(events, new URL(site.origin).host))
      expect(progress).toMatchObject({ intervalMs: 0, limitRpm: null, backoffMs: 0 })
  })
})

describe.concurrent('a slow crawl', { retry: 2 }, () => {
  test('keeps its interval on this machine too, even right after a fast crawl', async () => {
    const site = await openPoliteSite(manyPages(6))
    const library = await openPoliteLibrary()
    await crawlPolitely(library, `${site.origin}/`, BASIC)
    site.clearRequests()
    const slow = { ...library, limits: { ...library.limits, loopbackIntervalMs: 400 } }
    const { summary } = await crawlPolitely(slow, `${site.origin}/`, { ...BASIC, name: 'slow' })
    expect(summary).toMatchObject({ end: 'completed', indexed: 7 })
    expectPaced(arrivalTimes(site), 400)
  })
})

describe.concurrent('a Crawl-delay', { retry: 2 }, () => {
  test('applies to every request: robots.txt, lists, Markdown and pages', async () => {
    const site = await openPoliteSite()
    const { origin, pages } = site
    const files: Record<string, Answer> = {
      '/robots.txt': text('User-agent: *\nCrawl-delay: 0.45'),
      '/llms.txt': text('# Docs\n\n- [Guide](/guide.html)\n- [Other](/other.html)\n', 'text/markdown'),
      '/guide.html': page('Guide guillemot'),
      '/guide.html.md': text(markdown('Guide guillemot'), 'text/markdown'),
      '/other.html': page('Other owl'),
      '/sitemap.xml': sitemap([`${origin}/s1.xml`], 'sitemapindex'),
      '/s1.xml': sitemap([`${origin}/mapped`]),
      '/mapped': page('Mapped magpie'),
      '/': page('Home heron', ['/moved']),
      '/moved': redirect('/landed'),
      '/landed': page('Landed lapwing'),
    }
    for (const [path, answer] of Object.entries(files)) pages.set(path, answer)
    const library = await openPoliteLibrary({ limits: { concurrency: 16 } })
    const { summary } = await crawlPolitely(library, `${origin}/`)
    expect(summary.end).toBe('completed')
    const requested = site.requests.map(({ path }) => path)
    expect(requested).toEqual(expect.arrayContaining(Object.keys(files).filter((path) => path !== '/guide.html')))
    expectPaced(arrivalTimes(site), 450)
  })

  test('the delay of another host applies to the sitemaps on that host and to their redirect targets', async () => {
    const other = await openPoliteSite()
    const site = await openPoliteSite({
      '/robots.txt': text(`User-agent: *\nDisallow:\nSitemap: ${other.origin}/sitemap.xml`),
      '/': page('Home'),
    })
    const lists = [1, 2, 3, 4].map((i) => `/s${i}.xml`)
    other.pages.set('/robots.txt', text('User-agent: *\nCrawl-delay: 0.5'))
    other.pages.set(
      '/sitemap.xml',
      sitemap(
        lists.map((path) => other.origin + path),
        'sitemapindex',
      ),
    )
    for (const path of lists) other.pages.set(path, path === '/s2.xml' ? redirect('/moved.xml') : sitemap([]))
    other.pages.set('/moved.xml', sitemap([]))
    const library = await openPoliteLibrary({ limits: { concurrency: 16 } })
    await crawlPolitely(library, `${site.origin}/`)
    expect(new Set(other.requests.map(({ path }) => path))).toEqual(
      new Set(['/robots.txt', '/sitemap.xml', '/moved.xml', ...lists]),
    )
    expectPaced(arrivalTimes(other), 500)
  })
})

describe.concurrent('a rate-limiting host', { retry: 2 }, () => {
  test.each(['in seconds', 'as a date'])(
    'gets exactly the pause that it asks for, %s, while requests to other hosts continue',
    async (form) => {
      const [busy, other] = [await openPoliteSite(manyPages(8)), await openPoliteSite(manyPages(25))]
      let until = 0
      busy.pages.set('/p/3', () => {
        if (until > 0) return page('Number 3')
        const date = new Date(Date.now() + 3500)
        until = form === 'as a date' ? Math.floor(date.getTime() / 1000) * 1000 : Date.now() + 3000
        return { ...TOO_MANY, headers: { 'retry-after': form === 'as a date' ? date.toUTCString() : '3' } }
      })
      const library = await openPoliteLibrary({ limits: pace(150) })
      const seeds = [`${originOf(other, 'other.polite.test')}/`]
      const { summary, events } = await crawlPolitely(library, `${originOf(busy, 'busy.polite.test')}/`, {
        scope: DOMAIN,
        settings: { crawlType: 'basic', seeds },
      })
      expect(summary).toMatchObject({ end: 'completed', failed: 0, indexed: 35 })
      const refusedAt = busy.requests.find(({ status }) => status === 429)?.at ?? 0
      const isDuring = (at: number) => at > refusedAt + TOLERANCE_MS && at < until - 5
      expect(arrivalTimes(busy).filter(isDuring)).toEqual([])
      // A request that was about to be sent when the 429 response arrived may still have been sent.
      expect(arrivalTimes(busy).filter((at) => at > refusedAt && at < until - 5).length).toBeLessThanOrEqual(1)
      expect(arrivalTimes(busy).some((at) => at >= until - 5)).toBe(true)
      expect(arrivalTimes(other).filter(isDuring).length).toBeGreaterThan(5)
      expect(heldEvents(events)).toMatchObject([{ strikes: 1, reason: 'rate-limited' }])
      const { host } = new URL(originOf(busy, 'busy.polite.test'))
      const held = progressOf(events, host).filter(({ backoffMs }) => backoffMs > 0)
      expect(held.length).toBeGreaterThan(3)
      for (const { backoffUntil } of held) expect(backoffUntil).toBe(heldEvents(events)[0]?.untilMs)
      expect(progressOf(events, host)[0]).toMatchObject({ backoffUntil: null, backoffMs: 0 })
    },
  )

  test.each(['all', 'every other'])(
    'is slowed down once if it refuses %s of sixteen concurrent requests, and recovers',
    async (which) => {
      let requestCount = 0
      const site = await openPoliteSite(
        manyPages(120, (body) => () => {
          const isEarly = requestCount < 16
          const isRefused = isEarly && (which === 'all' || requestCount % 2 === 0)
          requestCount++
          return { ...(isRefused ? TOO_MANY : { body }), delayMs: isEarly ? 100 : 0 }
        }),
      )
      const speed = 10
      const library = await openPoliteLibrary({ limits: { concurrency: 16, holdsMs: [10_000, 20_000, 30_000] }, speed })
      const { summary, events } = await crawlPolitely(library, `${site.origin}/`, BASIC)
      expect(summary).toMatchObject({ end: 'completed', failed: 0, indexed: 121 })
      // The host is held only if none of the requests succeeded.
      expect(heldEvents(events)).toMatchObject(which === 'all' ? [{ strikes: 1 }] : [])
      const refused = arrivalTimes(site, ({ status }) => status === 429)
      expect(refused).toHaveLength(which === 'all' ? 16 : 8)
      // The interval is increased once, to 500 ms. Further refusals of the same burst do not increase it.
      const pauses = progressOf(events, new URL(site.origin).host).map(({ intervalMs }) => intervalMs)
      expect(Math.max(...pauses)).toBe(500)
      expect(pauses.at(-1)).toBeLessThan(250)
      if (which !== 'all') return
      // No request arrived while the host was held, and the remaining ones arrived afterwards.
      const moments = arrivalTimes(site)
      const gaps = gapsOf(moments)
      const longest = gaps.indexOf(Math.max(...gaps))
      expect(gaps[longest]).toBeGreaterThanOrEqual((0.9 * 10_000) / speed - TOLERANCE_MS)
      expect(moments[longest]).toBeGreaterThanOrEqual(refused.at(-1) ?? Infinity)
      expect(moments.length - longest).toBeGreaterThan(60)
    },
  )

  test('is parked for the rest of the crawl if it asks for over ten minutes, while other hosts are read', async () => {
    const busy = await openPoliteSite(manyPages(20))
    busy.pages.set('/p/5', { ...TOO_MANY, headers: { 'retry-after': '900' } })
    const other = await openPoliteSite(manyPages(15))
    const library = await openPoliteLibrary({ limits: pace(100) })
    const start = `${originOf(busy, 'busy.polite.test')}/`
    const more = {
      scope: DOMAIN,
      settings: { crawlType: 'basic', seeds: [`${originOf(other, 'other.polite.test')}/`] },
    } as const
    const crawled = await crawlPolitely(library, start, more)
    expect(crawled.summary.end).toBe('completed')
    expect(crawled.events.filter(({ type }) => type === 'parked')).toMatchObject([{ detail: 'Retry-After 900' }])
    const refusedAt = busy.requests.find(({ status }) => status === 429)?.at ?? 0
    expect(arrivalTimes(busy).filter((at) => at > refusedAt + TOLERANCE_MS)).toEqual([])
    const states = Object.values(statesOf(crawled))
    const parked = states.filter((state) => state === 'failed host-parked').length
    expect(parked).toBeGreaterThan(10)
    expect(states.filter((state) => state === 'indexed').length).toBe(36 - parked)
    expect(other.requests.filter(({ status }) => status === 200)).toHaveLength(16)
    // The next crawl does not request anything from the parked host either.
    busy.clearRequests()
    const again = await crawlPolitely(library, `${start}p/`, { ...more, name: 'again' })
    expect(busy.requests).toEqual([])
    expect(again.summary.ledger.reasons).toMatchObject({ 'failed/host-parked': 1 })
  })
})

describe.concurrent('a host that was parked before the crawl', { retry: 2 }, () => {
  test.each([null, 3])('does not delay requests to other hosts, with depth limit %s', async (maxDepth) => {
    const [held, good] = [await openPoliteSite(), await openPoliteSite()]
    const library = await openPoliteLibrary({ limits: pace(50) })
    const heldHost = new URL(originOf(held, 'held.polite.test')).host
    const heldUntil = library.clock.now() + 2 * 3_600_000
    await library.store.changeClock(heldHost, library.clock.now(), (clock) => ({ ...clock, heldUntil, floorMs: 50 }))
    // There are more links than fit into one frontier batch, so the crawl finds deeper pages before it requests the last link.
    const above = Array.from({ length: 24 }, (_, i) => `/${i}`)
    good.pages.set('/', page('Home', [`http://${heldHost}/`, ...above]))
    for (const path of above) {
      good.pages.set(path, page(`Above ${path}`, [`${path}/below`]))
      good.pages.set(`${path}/below`, page(`Below ${path}`))
    }
    const crawled = await crawlPolitely(library, `${originOf(good, 'good.polite.test')}/`, {
      scope: { ...DOMAIN, maxDepth },
      settings: { crawlType: 'basic' },
    })
    expect(held.requests).toEqual([])
    expect(crawled.summary).toMatchObject({ end: 'completed', indexed: 49 })
    expect(crawled.summary.ledger.reasons).toMatchObject({ 'failed/host-parked': 1 })
    expect(crawled.events.filter(({ type }) => type === 'parked')).toMatchObject([{ host: heldHost }])
  })
})

describe.concurrent('robots.txt comes first', { retry: 2 }, () => {
  test('every origin gets the request for robots.txt first, whether links, redirects, lists or Markdown lead to it', async () => {
    const robots = { ...text('User-agent: *\nDisallow: /private'), delayMs: 300 }
    const sites = [await openPoliteSite(), await openPoliteSite(), await openPoliteSite(), await openPoliteSite()]
    const [home, moved, linked, listed] = sites.map((site, i) => originOf(site, `s${i}.polite.test`))
    const pages: Record<string, Answer>[] = [
      {
        '/': redirect(`${moved}/start`, 302),
        '/llms.txt': text(`# Docs\n\n- [Guide](${listed}/guide)\n`, 'text/markdown'),
      },
      {
        '/start': page('Start', [`${linked}/a`, `${linked}/hop`, '/private/x', `${home}/b`]),
        '/llms.txt': text(`# Docs\n\n- [Guide](${listed}/guide)\n`, 'text/markdown'),
        '/sitemap.xml': sitemap([`${listed}/mapped`]),
      },
      { '/a': page('A'), '/hop': redirect(`${listed}/landed`) },
      { '/guide': page('Guide'), '/guide.md': text(markdown('Guide'), 'text/markdown'), '/landed': page('Landed') },
    ]
    for (const [i, site] of sites.entries()) {
      for (const [path, answer] of Object.entries(pages[i] ?? {})) site.pages.set(path, answer)
      site.pages.set('/robots.txt', robots)
    }
    const library = await openPoliteLibrary({ limits: { ...pace(0), concurrency: 16 } })
    const { signal } = new AbortController()
    const crawl = crawlPolitely(library, `${home}/`, { scope: DOMAIN })
    // A concurrent single fetch starts while the robots.txt request is under way.
    await expect(fetchUrl(library, `${moved}/private/x`, { signal })).rejects.toThrow('robots-disallow')
    expect((await crawl).summary.end).toBe('completed')
    for (const site of sites) {
      const [first, ...others] = site.requests
      expect(first?.path).toBe('/robots.txt')
      const pageRequests = others.filter(({ path }) => path !== '/robots.txt')
      expect(pageRequests.length).toBeGreaterThan(0)
      for (const { at, path } of pageRequests) {
        expect(at - (first?.at ?? 0)).toBeGreaterThanOrEqual(299)
        expect(path).not.toContain('/private')
      }
    }
  })
})

describe('processes', { retry: 2 }, () => {
  /** Kills a crawl when the condition is met, and starts the next immediately. */
  async function restart(origin: string, shouldKill: (first: Child) => boolean) {
    const path = await createLibraryPath()
    const first = startChild('crawl', path, `${origin}/`)
    await waitFor(() => shouldKill(first))
    first.process.kill('SIGKILL')
    await first.ended
    return { killedAt: Date.now(), second: startChild('crawl', path, `${origin}/`) }
  }

  async function expectSharedPace(): Promise<void> {
    const path = await createLibraryPath()
    const count = LONG ? 60 : 3
    const folders = ['/a/', '/b/'].map((folder) => {
      const paths = Array.from({ length: count }, (_, i) => `${folder}${i}`)
      return { [folder]: page(folder, paths), ...Object.fromEntries(paths.map((path) => [path, page(path)])) }
    })
    const robots = { ...text('User-agent: *\nCrawl-delay: 0.4'), delayMs: 300 }
    const site = await openPoliteSite({ '/robots.txt': robots, ...folders[0], ...folders[1] })
    const options = JSON.stringify({ limits: { concurrency: 16 } })
    const children = ['/a/', '/b/'].map((folder) => startChild('crawl', path, site.origin + folder, options))
    for (const { ended } of children) await ended
    for (const { lines } of children)
      expect(lines.at(-1)).toMatchObject({ type: 'ended', summary: { end: 'completed', indexed: count + 1 } })
    const isRobots = (request: SeenRequest) => request.path === '/robots.txt'
    const [first = 0] = arrivalTimes(site, isRobots)
    const others = arrivalTimes(site, (request) => !isRobots(request))
    expect(others.length).toBeGreaterThan(2 * count)
    expect((others[0] ?? 0) - first).toBeGreaterThanOrEqual(299)
    expectPaced(others, 400)
  }

  async function expectPaceAfterKill(): Promise<void> {
    const site = await openPoliteSite({ '/robots.txt': text('User-agent: *\nCrawl-delay: 2.5'), ...manyPages(2) })
    const { killedAt } = await restart(site.origin, () => site.requests.length >= 2)
    await waitFor(() => arrivalTimes(site).some((at) => at > killedAt))
    expect(site.requests.map(({ path }) => path).slice(0, 2)).toEqual(['/robots.txt', '/'])
    expectPaced(arrivalTimes(site), 2500)
  }

  async function expectHoldAfterKill(): Promise<void> {
    const site = await openPoliteSite(manyPages(10))
    let refusedAt = 0
    site.pages.set('/p/7', () => {
      if (refusedAt > 0) return page('Number 7')
      refusedAt = Date.now()
      return { ...TOO_MANY, headers: { 'retry-after': '5' } }
    })
    const { killedAt, second } = await restart(site.origin, ({ lines }) => lines.some(({ type }) => type === 'held'))
    await second.ended
    expect(second.lines.at(-1)).toMatchObject({ summary: { end: 'completed', failed: 0 } })
    const after = arrivalTimes(site).filter((at) => at > killedAt)
    expect(after.length).toBeGreaterThan(0)
    expect((after[0] ?? 0) - refusedAt).toBeGreaterThanOrEqual(5000 - 10)
  }

  test('processes on one library share one pace: concurrently, after one was killed, and after a Retry-After response', {
    timeout: 240_000,
  }, async () => {
    await Promise.all([expectSharedPace(), expectPaceAfterKill(), expectHoldAfterKill()])
  })
})
