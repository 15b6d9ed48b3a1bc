import { describe, expect, test } from 'vitest'
import type { CrawlEvent } from '../../src/crawl/events.ts'
import type { Fetcher } from '../../src/crawl/ports.ts'
import { addSource } from '../../src/library/crawl/add-source.ts'
import { type OpenLibrary, openLibrary } from '../../src/open-library.ts'
import { closeWithTest, openTestSite, runCrawl, statesOf } from './crawl.ts'
import { withFastClock } from './fast-clock.ts'
import { createFileFixture, createLibraryPath } from './file-fixture.ts'
import { progressOf } from './polite.ts'
import { type Answer, type AnswerParts, page } from './site.ts'

const HOME = page('Home heron', ['/a', '/b'])
const A = page('Alpha albatross')
const B = page('Beta bittern', ['/b/1'])

describe('an address that answers with an error', () => {
  test.each([
    [500, 'http-server-error'],
    [502, 'http-server-error'],
    [503, 'http-server-error'],
    [429, 'rate-limited'],
  ] as const)('is requested again after status %i', async (status, reason) => {
    const { site, crawl, library } = await createFileFixture({
      '/': HOME,
      '/a': failFirst(2, { status }, A),
      '/b': B,
      '/b/1': A,
    })
    const requestTimes: number[] = []
    const answer = site.pages.get('/a')
    site.pages.set('/a', (request) => {
      requestTimes.push(library.clock.now())
      return typeof answer === 'function' ? answer(request) : ''
    })
    const crawled = await crawl()
    expect(crawled.summary).toMatchObject({ end: 'completed', failed: 0 })
    expect(crawled.rows.get('/a')).toMatchObject({
      state: 'indexed',
      reason: null,
      attempts: 0,
      dueAt: null,
      status: 200,
    })
    const retries = retriesOf(crawled.events)
    expect(retries.map(({ attempt }) => attempt)).toEqual([1, 2])
    expect(retries.every((retry) => retry.reason === reason)).toBe(true)
    const [first = 0, second = 0, third = 0] = requestTimes
    expect(requestTimes).toHaveLength(3)
    expect(second - first).toBeGreaterThanOrEqual((retries[0]?.delayMs ?? Infinity) - SLACK_MS)
    expect(third - second).toBeGreaterThanOrEqual((retries[1]?.delayMs ?? Infinity) - SLACK_MS)
    expect(retries[0]?.delayMs).toBeGreaterThanOrEqual(500)
    expect(retries[1]?.delayMs).toBeGreaterThanOrEqual(1000)
  })

  test.each([429, 503])('is requested again at the time that Retry-After names (%i)', async (status) => {
    const refusal = { status, headers: { 'retry-after': '7' } }
    const { site, crawl, library } = await createFileFixture({ '/': HOME, '/a': A, '/b': B, '/b/1': page('Other') })
    const requestTimes: number[] = []
    site.pages.set('/a', () => {
      requestTimes.push(library.clock.now())
      return requestTimes.length === 1 ? refusal : A
    })
    const crawled = await crawl()
    expect(crawled.rows.get('/a')).toMatchObject({ state: 'indexed' })
    expect(retriesOf(crawled.events)).toMatchObject([{ attempt: 1, delayMs: 7000 }])
    expect((requestTimes[1] ?? 0) - (requestTimes[0] ?? 0)).toBeGreaterThanOrEqual(7000 - SLACK_MS)
  })

  test.each([
    [429, 'rate-limited', '999999999'],
    [503, 'http-server-error', '9999999999'],
    [503, 'http-server-error', '601'],
  ] as const)(
    'parks the host if the server asks for more than ten minutes (%i, %s, %s)',
    async (status, reason, seconds) => {
      const refusal = { status, headers: { 'retry-after': seconds } }
      const { site, crawl } = await createFileFixture({
        '/': HOME,
        '/a': refusal,
        '/b': { body: B, delayMs: 200 },
        '/b/1': page('Other'),
      })
      const crawled = await crawl()
      expect(crawled.rows.get('/a')).toMatchObject({
        state: 'failed',
        reason,
        status,
        pattern: `Retry-After ${seconds}`,
      })
      expect(retriesOf(crawled.events)).toEqual([])
      expect(site.requests.filter(({ path }) => path === '/a')).toHaveLength(1)
      // Requests under way finished, and no new ones were sent.
      expect(crawled.rows.get('/b')).toMatchObject({ state: 'indexed' })
      expect(crawled.rows.get('/b/1')).toMatchObject({ state: 'failed', reason: 'host-parked' })
      expect(crawled.events.filter(({ type }) => type === 'parked')).toMatchObject([
        { detail: `Retry-After ${seconds}` },
      ])
      expect(crawled.summary).toMatchObject({ end: 'completed', indexed: 2, failed: 2 })
    },
  )

  // The test has retries, because a busy machine may not reach the other addresses within the pause of half a second.
  test('does not delay other addresses if it sends no Retry-After', { retry: 2 }, async () => {
    const { site, crawl } = await createFileFixture({
      '/': HOME,
      '/a': failFirst(1, { status: 500 }, A),
      '/b': B,
      '/b/1': page('Other'),
    })
    await crawl()
    const requested = site.requests.map(({ path }) => path)
    expect(requested.lastIndexOf('/a')).toBeGreaterThan(requested.indexOf('/b/1'))
  })

  test('fails after three attempts, without affecting other pages', async () => {
    const { site, crawl, search } = await createFileFixture({
      '/': HOME,
      '/a': { status: 500, body: 'no' },
      '/b': B,
      '/b/1': page('Other owl'),
    })
    const crawled = await crawl()
    expect(crawled.rows.get('/a')).toMatchObject({
      state: 'failed',
      reason: 'http-server-error',
      attempts: 3,
      status: 500,
      hasPage: false,
    })
    expect(site.requests.filter(({ path }) => path === '/a')).toHaveLength(3)
    expect(crawled.summary).toMatchObject({ end: 'completed', failed: 1, indexed: 3 })
    await expect(search('owl')).resolves.toEqual(['/b/1'])
  })

  test.each([
    [401, 'http-client-error'],
    [403, 'http-client-error'],
    [404, 'not-found'],
    [410, 'removed'],
    [451, 'http-client-error'],
  ] as const)('is not requested again after a permanent error: %i', async (status, reason) => {
    const { site, crawl } = await createFileFixture({
      '/': HOME,
      '/a': { status, body: 'no' },
      '/b': B,
      '/b/1': page('Other'),
    })
    const crawled = await crawl()
    expect(statesOf(crawled)['/a']).toBe(`failed ${reason}`)
    expect(site.requests.filter(({ path }) => path === '/a')).toHaveLength(1)
  })
})

describe('a few bad addresses on a healthy host', () => {
  const good = Array.from({ length: 50 }, (_, i) => `/good/${i}`)

  async function stageBad() {
    let requests = 0
    const site = await openTestSite({
      '/': page('Home heron', ['/hangs', '/resets', '/limited', ...good]),
      ...Object.fromEntries(good.map((path) => [path, page(`Good ${path}`)])),
      '/hangs': { delayMs: 3_600_000 },
      '/resets': (request) => {
        request.socket.resetAndDestroy()
        return ''
      },
      '/limited': () => (++requests === 1 ? { status: 429, headers: { 'retry-after': '2' } } : page('Limited linnet')),
    })
    const library = withFastClock(await openWithDefaultLimits(1000), 5)
    const source = await addSource(library, { url: `${site.origin}/`, settings: { crawlType: 'basic' } })
    const crawl = (kind: 'add' | 'recrawl' = 'add') => runCrawl(library, source, { kind }, site.origin)
    const readHostClock = () => library.store.readClock(new URL(site.origin).host, library.clock.now())
    return { site, crawl, readHostClock }
  }

  test('do not slow down the host, except for the pause that Retry-After asks for', async () => {
    const { site, crawl, readHostClock } = await stageBad()
    const { summary, rows, events } = await crawl()
    expect(summary).toMatchObject({ end: 'completed', indexed: 52, failed: 2 })
    expect(rows.get('/hangs')).toMatchObject({ state: 'failed', reason: 'timeout' })
    expect(rows.get('/resets')).toMatchObject({ state: 'failed', reason: 'network' })
    // The host is held as long as Retry-After says, and no longer.
    const held = events.filter((event) => event.type === 'held')
    expect(held).toMatchObject([{ reason: 'rate-limited', strikes: 1 }])
    const delays = retriesOf(events).map(({ url, delayMs }) => [new URL(url).pathname, delayMs] as const)
    for (const [path, delayMs] of delays) expect(delayMs, path).toBeLessThanOrEqual(4000)
    expect(site.requests.filter(({ path }) => path === '/hangs')).toHaveLength(2)
    // Three attempts. One that breaks while the host is held does not count and is made again.
    const attempts = retriesOf(events).flatMap(({ url, attempt }) => (url.endsWith('/resets') ? [attempt] : []))
    expect([...new Set(attempts)]).toEqual([1, 2])
    expect(attempts.length).toBeLessThanOrEqual(3)
    expect(site.requests.filter(({ path }) => path === '/resets')).toHaveLength(attempts.length + 1)
    expect(await readHostClock()).toMatchObject({ intervalMs: 0, strikes: 0 })
  })

  test('leave the next run at full speed', async () => {
    const { site, crawl, readHostClock } = await stageBad()
    await crawl()
    site.clearRequests()
    const { events, summary } = await crawl('recrawl')
    expect(summary).toMatchObject({ end: 'completed', unchanged: 52, failed: 2 })
    expect(events.filter(({ type }) => type === 'held')).toEqual([])
    const intervals = progressOf(events, new URL(site.origin).host).map(({ intervalMs }) => intervalMs)
    expect(new Set(intervals)).toEqual(new Set([0]))
    expect(await readHostClock()).toMatchObject({ intervalMs: 0, strikes: 0 })
  })
})

describe('a host that vanishes for a while', () => {
  test.each([1, 2, 5, 7])('loses no page if it vanishes with %i addresses left', async (count) => {
    const paths = Array.from({ length: count }, (_, i) => `/left/${i}`)
    const library = withFastClock(await openWithDefaultLimits())
    let goneSince: number | undefined
    let isHeld = false
    // However slow the machine is, the host does not come back before the crawl has noticed.
    const isGone = () => goneSince !== undefined && (!isHeld || library.clock.now() - goneSince < 6000)
    const vanish =
      (body: string): Answer =>
      (request) => {
        if (isGone()) request.socket.resetAndDestroy()
        return body
      }
    const site = await openTestSite({ '/': vanish(page('Home heron', paths)) })
    for (const path of paths) {
      const answer = vanish(page(`Left ${path}`))
      site.pages.set(path, (request) => {
        goneSince ??= library.clock.now()
        return typeof answer === 'function' ? answer(request) : answer
      })
    }
    const source = await addSource(library, { url: `${site.origin}/`, settings: { crawlType: 'basic' } })
    const { summary, events } = await runCrawl(library, source, { kind: 'add' }, site.origin, undefined, ({ type }) => {
      isHeld ||= type === 'held'
    })
    expect(summary).toMatchObject({ end: 'completed', indexed: count + 1, failed: 0 })
    expect(events.filter(({ type }) => type === 'held')).toMatchObject([{ reason: 'network', strikes: 1 }])
  })
})

describe('an address whose answer does not begin in time', () => {
  const HANG: AnswerParts = { delayMs: 3_600_000 }
  const BUSY: AnswerParts = { status: 503 }

  test.each([
    { answers: [BUSY, HANG, A], state: 'indexed', brief: [false, false, true] },
    { answers: [HANG, BUSY, A], state: 'indexed', brief: [false, true, false] },
    { answers: [HANG, HANG, A], state: 'failed', brief: [false, true] },
  ])(
    'fails only after two timeouts in a row ($state; requests with a short timeout: $brief)',
    async ({ answers, state, brief }) => {
      const left = [...answers]
      const site = await openTestSite({ '/': page('Home heron', ['/slow']), '/slow': () => left.shift() ?? A })
      const library = withFastClock(await openWithDefaultLimits(500))
      const isBrief: (boolean | undefined)[] = []
      const fetcher: Fetcher = {
        fetch(request) {
          if (request.url.endsWith('/slow')) isBrief.push(request.isBrief)
          return library.fetcher.fetch(request)
        },
      }
      const source = await addSource(library, { url: `${site.origin}/`, settings: { crawlType: 'basic' } })
      const { rows } = await runCrawl({ ...library, fetcher }, source, { kind: 'add' }, site.origin)
      expect(rows.get('/slow')).toMatchObject({ state })
      expect(isBrief).toEqual(brief)
    },
  )
})

describe('a connection', () => {
  test('a dropped connection is retried', async () => {
    let requestCount = 0
    const { crawl } = await createFileFixture({
      '/': HOME,
      '/a': (request) => {
        if (++requestCount < 3) request.socket.resetAndDestroy()
        return A
      },
      '/b': B,
      '/b/1': page('Other'),
    })
    const crawled = await crawl()
    expect(requestCount).toBe(3)
    expect(crawled.rows.get('/a')).toMatchObject({ state: 'indexed' })
    expect(retriesOf(crawled.events).map(({ reason }) => reason)).toEqual(['network', 'network'])
  })

  test('a recrawl without a connection keeps every page, and the start is marked as failed', async () => {
    const { site, crawl, readContent } = await createFileFixture({ '/': HOME, '/a': A, '/b': B, '/b/1': page('Other') })
    await crawl()
    const before = await readContent()
    await site.close()
    const crawled = await crawl({ kind: 'recrawl' })
    expect(crawled.summary.removed).toBe(0)
    expect(crawled.rows.get('/')).toMatchObject({ state: 'failed', hasPage: true })
    expect((await readContent()).pages).toEqual(before.pages)
    const refreshed = await crawl({ kind: 'refresh' })
    expect(refreshed.summary).toMatchObject({ removed: 0, failed: 4 })
    expect((await readContent()).pages).toEqual(before.pages)
  })

  test('an add without a connection fails', async () => {
    const { site, crawl } = await createFileFixture({ '/': HOME })
    await site.close()
    const { summary } = await crawl()
    expect(summary.end).toBe('failed')
    expect(summary.problem).toContain('failed')
  })
})

describe('a retry', () => {
  test('fetches failed pages and new ones behind them, and nothing else', async () => {
    const { site, crawl, readContent } = await createFileFixture({
      '/': page('Home heron', ['/a', '/b', '/x', 'https://other.example/']),
      '/a': A,
      '/b': { status: 500, body: 'no' },
    })
    await crawl()
    const before = await readContent()
    expect(before.rows.get('/b')).toMatchObject({ state: 'failed' })
    site.pages.set('/a', page('Alpha changed'))
    site.pages.set('/b', page('Beta bittern', ['/', '/a', '/b/1', 'https://other.example/']))
    site.pages.set('/b/1', page('First finch', ['/b/2']))
    site.pages.set('/b/2', page('Second swallow'))
    site.clearRequests()
    const crawled = await crawl({ kind: 'retry' })
    expect(crawled.summary).toMatchObject({ end: 'completed', indexed: 3, removed: 0 })
    expect(site.requestedPaths()).toEqual(['/b', '/b/1', '/b/2', '/x'])
    expect(statesOf(crawled)).toEqual({
      '/': 'indexed',
      '/a': 'indexed',
      '/b': 'indexed',
      '/b/1': 'indexed',
      '/b/2': 'indexed',
      '/x': 'failed not-found',
      'https://other.example/': 'skipped off-site',
    })
    const after = await readContent()
    for (const path of ['/', '/a', 'https://other.example/'])
      expect(after.rows.get(path)).toEqual(before.rows.get(path))
    for (const path of ['/', '/a']) expect(after.pages.get(path)).toEqual(before.pages.get(path))
  })

  test('fetches nothing if nothing had failed', async () => {
    const { site, crawl } = await createFileFixture({ '/': page('Home heron', ['/a']), '/a': A })
    await crawl()
    site.clearRequests()
    const { summary } = await crawl({ kind: 'retry' })
    expect(summary).toMatchObject({ end: 'completed', visited: 0 })
    expect(site.requests).toEqual([])
  })

  test('confirms a page that was kept after an error', async () => {
    const { site, crawl, readContent } = await createFileFixture({ '/': page('Home heron', ['/a']), '/a': A })
    await crawl()
    const before = await readContent()
    site.pages.set('/a', { status: 500, body: 'no' })
    await crawl({ kind: 'refresh' })
    site.pages.set('/a', A)
    site.clearRequests()
    const crawled = await crawl({ kind: 'retry' })
    expect(site.requests.map(({ path, status }) => [path, status])).toEqual([
      ['/robots.txt', 404],
      ['/a', 304],
    ])
    expect(crawled.rows.get('/a')).toMatchObject({ state: 'unchanged', attempts: 0 })
    expect((await readContent()).pages).toEqual(before.pages)
  })
})

/** Opens a library with the default limits of crawls. It closes with the test. */
async function openWithDefaultLimits(firstByteTimeoutMs?: number): Promise<OpenLibrary> {
  const path = await createLibraryPath()
  const timeouts = firstByteTimeoutMs === undefined ? {} : { firstByteTimeoutMs }
  const library = await openLibrary({ path, version: '0.0.0', allowPrivate: ['127.0.0.0/8'], ...timeouts })
  closeWithTest(library)
  return library
}

/** Tolerance for timers: those of a fast clock are only as precise as those of the machine. */
const SLACK_MS = 50

function failFirst(times: number, failure: AnswerParts, then: string): Answer {
  let requestCount = 0
  return () => (++requestCount <= times ? failure : then)
}

function retriesOf(events: readonly CrawlEvent[]): Extract<CrawlEvent, { type: 'retry' }>[] {
  return events.filter((event) => event.type === 'retry')
}
