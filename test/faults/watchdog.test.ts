import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { PharosError } from '../../src/core/errors.ts'
import type { CrawlEvent, CrawlKind } from '../../src/crawl/events.ts'
import type { Fetcher } from '../../src/crawl/ports.ts'
import { crawlSource } from '../../src/library/crawl/crawl-source.ts'
import type { Store } from '../../src/library/ports/store.ts'
import type { OpenLibrary } from '../../src/open-library.ts'
import { type CrawlFixtureInput, createCrawlFixture, runCrawl } from '../sites/crawl.ts'
import { withFastClock } from '../sites/fast-clock.ts'
import { createFixtureOn, readUninterrupted, toComparable } from '../sites/file-fixture.ts'
import { messySite, sitemapOf } from '../sites/messy-site.ts'
import { type Answer, page } from '../sites/site.ts'

/** Speed of the clock: ten minutes take a second. */
const SPEED = 600
const PAGES = { '/': page('Home heron', ['/a', '/stuck', '/b']), '/a': page('Alpha'), '/b': page('Beta') }
const NEVER = new Promise<never>(() => undefined)

/** A fetcher that does not answer at some paths until `release` is called, even if the signal of the request aborts. */
function holdFetches(fetcher: Fetcher, isHeld: (path: string) => boolean) {
  let release = (): void => undefined
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  const fetch: Fetcher['fetch'] = async (request) => {
    if (!isHeld(new URL(request.url).pathname)) return fetcher.fetch(request)
    await released
    const { signal, ...rest } = request
    return fetcher.fetch(rest)
  }
  return { fetcher: { fetch }, release }
}

/** A fixture with one fast clock for all its crawls, because the times that are stored for hosts must fit the next crawl. */
async function createFastFixture(
  pages: Readonly<Record<string, Answer>>,
  input: CrawlFixtureInput = {},
  speed = SPEED,
) {
  const { site, source, library } = await createCrawlFixture(pages, input)
  const fastLibrary = withFastClock(library, speed)
  const crawl = (overrides: Partial<OpenLibrary> = {}, kind: CrawlKind = 'add', signal?: AbortSignal) =>
    runCrawl({ ...fastLibrary, ...overrides }, source, { kind }, site.origin, signal)
  return { site, source, library: fastLibrary, crawl }
}

describe('a stalled crawl', () => {
  test('fails and names the address if a fetch never ends', async () => {
    const { library, source, site, crawl } = await createFastFixture({ ...PAGES, '/stuck': page('Stuck') })
    const { fetcher, release } = holdFetches(library.fetcher, (path) => path === '/stuck')
    const { summary, rows } = await crawl({ fetcher })
    expect(summary).toMatchObject({
      end: 'failed',
      indexed: 3,
      problem: `nothing happened for 10 minutes; in progress: ${site.origin}/stuck`,
      uselessReason: null,
    })
    expect(rows.get('/stuck')).toMatchObject({ state: 'leased' })
    await expect(library.store.listCrawls(source.id, 1)).resolves.toMatchObject([{ state: 'failed', summary }])
    // A late result is ignored.
    release()
    await sleep(200)
    await expect(library.store.countContent(source.id)).resolves.toMatchObject({ pages: 3 })
    const next = await crawl({}, 'recrawl')
    expect(next.summary.end).toBe('completed')
    expect(next.rows.get('/stuck')).toMatchObject({ state: 'indexed' })
  })

  test('fails and names the address if reading a page never ends', async () => {
    const { library, source, site, crawl } = await createFastFixture({ ...PAGES, '/stuck': page('Stuck') })
    const readPage: OpenLibrary['readPage'] = (snapshot, key) =>
      key.endsWith('/stuck') ? NEVER : library.readPage(snapshot, key)
    const { summary } = await crawl({ readPage })
    expect(summary).toMatchObject({ end: 'failed', indexed: 3 })
    expect(summary.problem).toContain(`${site.origin}/stuck`)
    await expect(library.store.listCrawls(source.id, 1)).resolves.toMatchObject([{ state: 'failed' }])
  })

  test('ends if its caller does not read events, and can be resumed', async () => {
    // More events than the buffer holds, and some more addresses to visit.
    const links = Array.from({ length: 1500 }, (_, i) => `${i % 50 === 0 ? '' : 'https://other.example'}/p${i}`)
    const { library, source, crawl } = await createFastFixture({ ...PAGES, '/b': page('Beta', links) })
    const events = crawlSource(library, source, { kind: 'add' }, new AbortController().signal)
    await events.next()
    await expect
      .poll(async () => (await library.store.listCrawls(source.id, 1))[0])
      .toMatchObject({
        state: 'cancelled',
        summary: { problem: 'the events of the crawl were not read for 10 minutes' },
      })
    let last: CrawlEvent | undefined
    for await (const event of events) last = event
    expect(last).toMatchObject({ type: 'ended', summary: { end: 'cancelled' } })
    const { summary, events: resumed } = await crawl()
    expect(resumed[0]).toMatchObject({ isResumed: true })
    expect(summary.end).toBe('completed')
  })

  test('stops without waiting for a fetch that hangs', async () => {
    const { library, source, crawl } = await createFastFixture({ ...PAGES, '/stuck': page('Stuck') })
    const stop = new AbortController()
    const { fetcher } = holdFetches(library.fetcher, (path) => {
      if (path === '/stuck') setTimeout(() => stop.abort(), 50)
      return path === '/stuck'
    })
    const { summary } = await crawl({ fetcher }, 'add', stop.signal)
    expect(summary.end).toBe('cancelled')
    await expect(library.store.listCrawls(source.id, 1)).resolves.toMatchObject([{ state: 'cancelled' }])
  })
})

describe('a waiting crawl', () => {
  test('continues after the pause that its host demands', async () => {
    let requestCount = 0
    const { crawl } = await createFastFixture(
      {
        ...PAGES,
        '/stuck': () => (++requestCount === 1 ? { status: 503, headers: { 'retry-after': '300' } } : page('Stuck')),
      },
      { limits: { stallMs: 30_000 } },
    )
    const { summary, rows } = await crawl()
    expect(summary.end).toBe('completed')
    expect(rows.get('/stuck')).toMatchObject({ state: 'indexed' })
  })

  test('continues when a delayed row becomes due', async () => {
    const pages = { ...PAGES, '/stuck': page('Stuck') }
    const { library, crawl } = await createFastFixture(pages, { limits: { stallMs: 60_000 } })
    let isDelayed = false
    const store: Store = {
      ...library.store,
      settle: async (settlement) => {
        const { visit, crawlId, now } = settlement
        if (isDelayed || !visit.key.endsWith('/stuck')) return library.store.settle(settlement)
        isDelayed = true
        const postponed = { state: 'pending', reason: 'timeout', dueAt: now + 600_000 } as const
        return library.store.settle({ visit, crawlId, now, ...postponed })
      },
    }
    const { summary, rows } = await crawl({ store })
    expect(summary.end).toBe('completed')
    expect(summary.elapsedMs).toBeGreaterThanOrEqual(600_000)
    expect(rows.get('/stuck')).toMatchObject({ state: 'indexed' })
  })

  test('continues after its machine slept', async () => {
    const pages = { ...PAGES, '/stuck': page('Stuck') }
    const { library, crawl } = await createFastFixture(pages, { limits: { stallMs: 30_000 } }, 1)
    let aheadMs = 0
    const clock = { ...library.clock, now: () => library.clock.now() + aheadMs }
    const { fetcher, release } = holdFetches(library.fetcher, (path) => {
      if (path !== '/stuck') return false
      // After this delay, nothing else is under way.
      setTimeout(() => {
        aheadMs = 8 * 3_600_000
      }, 800)
      setTimeout(release, 1600)
      return true
    })
    const { summary } = await crawl({ fetcher, clock })
    expect(summary).toMatchObject({ end: 'completed', indexed: 4 })
    expect(summary.elapsedMs).toBeGreaterThan(3_600_000)
  })
})

describe('a crawl with a failing store', () => {
  test('stops at an unknown error, and can be resumed', async () => {
    const { library, source, crawl } = await createFastFixture({ ...PAGES, '/stuck': page('Stuck') })
    let settlements = 0
    const store: Store = {
      ...library.store,
      settle: async (settlement) => {
        if (++settlements === 2) throw new TypeError('bad luck')
        return library.store.settle(settlement)
      },
    }
    await expect(crawl({ store })).rejects.toThrow('bad luck')
    await expect(library.store.listCrawls(source.id, 1)).resolves.toMatchObject([{ state: 'cancelled' }])
    const { summary, events } = await crawl()
    expect(events[0]).toMatchObject({ isResumed: true })
    expect(summary).toMatchObject({ end: 'completed', ledger: { states: { indexed: 4, pending: 0 } } })
  })

  test('reports the error after all earlier events were read, however late', async () => {
    const { library, source } = await createFastFixture({ ...PAGES, '/stuck': page('Stuck') })
    let settlements = 0
    const settle = () => {
      settlements++
      return Promise.reject(new TypeError('bad luck'))
    }
    const store: Store = { ...library.store, settle }
    const unhandled: unknown[] = []
    const recordRejection = (error: unknown) => unhandled.push(error)
    process.on('unhandledRejection', recordRejection)
    try {
      const events = crawlSource({ ...library, store }, source, { kind: 'add' }, new AbortController().signal)
      await expect(events.next()).resolves.toMatchObject({ value: { type: 'started' } })
      await expect.poll(() => settlements).toBe(1)
      await sleep(500)
      const readAll = async () => {
        for await (const _ of events);
      }
      await expect(readAll()).rejects.toThrow('bad luck')
    } finally {
      process.off('unhandledRejection', recordRejection)
    }
    expect(unhandled).toEqual([])
    await expect(library.store.listCrawls(source.id, 1)).resolves.toMatchObject([{ state: 'cancelled' }])
  })

  test('gives the same result after temporary failures of every write', async () => {
    const { site } = await createCrawlFixture(messySite(40))
    site.pages.set('/sitemap.xml', sitemapOf(site.origin))
    const scope = { maxDepth: 50 }
    const { library, source, readContent } = await createFixtureOn(site, '/', { scope }, { concurrency: 4 })
    const callCounts = new Map<PropertyKey, number>()
    /** The first two calls of each method in `WRITES` fail. Other methods, such as those that begin a crawl, do not fail. */
    const store = new Proxy(library.store, {
      get(target, name) {
        const method: unknown = Reflect.get(target, name)
        if (typeof method !== 'function' || !WRITES.has(name)) return method
        return async (...args: unknown[]): Promise<unknown> => {
          const times = (callCounts.get(name) ?? 0) + 1
          callCounts.set(name, times)
          if (times <= 2) throw new PharosError('LIBRARY_READ_ONLY', { library: 'there', problem: 'no' })
          return method.apply(target, args)
        }
      },
    })
    const { summary, events } = await runCrawl({ ...library, store }, source, { kind: 'add' }, site.origin)
    expect(summary.end).toBe('completed')
    const pauses = events.flatMap(({ type }) => (type === 'paused' || type === 'resumed' ? [type] : []))
    expect(pauses.length).toBeGreaterThan(6)
    expect(pauses).toEqual(pauses.map((_, i) => (i % 2 === 0 ? 'paused' : 'resumed')))
    expect(callCounts.get('endCrawl')).toBe(3)
    expect(toComparable(await readContent(), site.origin)).toEqual(await readUninterrupted(site, scope))
  })

  test('stops with a message after the time limit, and can be resumed', async () => {
    const { library, source, crawl } = await createFastFixture({ ...PAGES, '/stuck': page('Stuck') }, {}, 3600)
    let settlements = 0
    const refuse = (): never => {
      throw new PharosError('LIBRARY_LOCKED', { library: 'there' })
    }
    const store: Store = {
      ...library.store,
      settle: async (settlement) => (++settlements > 2 ? refuse() : library.store.settle(settlement)),
      release: async () => refuse(),
      touchCrawl: async () => refuse(),
      endCrawl: async () => refuse(),
    }
    const { summary } = await crawl({ store })
    expect(summary).toMatchObject({
      end: 'cancelled',
      problem:
        'another process has kept the library locked for 1 hour; stored pages stay, and the crawl can be resumed',
    })
    // Not even the failure could be written. The last heartbeat is so old that the next crawl does not wait.
    await expect(library.store.listCrawls(source.id, 1)).resolves.toMatchObject([{ state: 'running' }])
    const next = await crawl()
    expect(next.events[0]).toMatchObject({ isResumed: true })
    expect(next.summary).toMatchObject({ end: 'completed', ledger: { states: { indexed: 4, pending: 0 } } })
  })
})

const WRITES: ReadonlySet<PropertyKey> = new Set<keyof Store>([
  'offer',
  'lease',
  'settle',
  'release',
  'changeClock',
  'writeRobots',
  'requeueOrphanedAliases',
  'countRemovable',
  'removeProven',
  'touchCrawl',
  'endCrawl',
])
