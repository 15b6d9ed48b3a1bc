import { createHash } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Chunk, Page } from '../../src/core/model.ts'
import { createPageSignature } from '../../src/core/retrieval/page-signature.ts'
import { compareUtf8 } from '../../src/core/text/order.ts'
import { DEFAULT_SCOPE } from '../../src/core/url/scope.ts'
import type { CrawlSummary } from '../../src/crawl/events.ts'
import type { FoundAddress, LeaseRequest, Visit } from '../../src/crawl/ledger.ts'
import type { Reason } from '../../src/crawl/ledger-reasons.ts'
import type { PageRecord, Settlement, SettlementResult } from '../../src/crawl/settlement.ts'
import { type ChunkFilter, type Crawl, MAX_FOCUSED_RUNS, type Store } from '../../src/library/ports/store.ts'
import { searchHits } from '../../src/library/search/hits.ts'
import { DEFAULT_SETTINGS, type Source } from '../../src/library/source.ts'
import { classificationOf } from './classifications.ts'
import { reserveSlot, setPause } from './host-clocks.ts'

/** Contract of every store. Each test has its own store with one source, `docs`. */
export function describeStore(open: () => Promise<Store>): void {
  let store: Store

  beforeEach(async () => {
    store = await open()
    await store.addSource(source('docs'))
  })
  afterEach(() => store.close())

  const offer = (finds: readonly FoundAddress[], crawlId = 'c1', now = 100) => store.offer('docs', crawlId, finds, now)
  const lease = (more: Partial<LeaseRequest> = {}) =>
    store.lease({
      sourceId: 'docs',
      limit: 100,
      now: 200,
      until: 10_000,
      horizon: 1_000_000,
      isBreadthFirst: false,
      ...more,
    })
  const row = (path: string) => store.findRow('docs', at(path))
  const leaseOne = async (path: string, more: Partial<LeaseRequest> = {}): Promise<Visit> => {
    const visits = await lease(more)
    const visit = visits.find(({ key }) => key === at(path))
    await store.release(visits.filter((other) => other !== visit))
    if (visit === undefined) throw new Error(`${path} was not leased`)
    return visit
  }
  const settle = (visit: Visit, more: Partial<Settlement> & Pick<Settlement, 'state'>) =>
    store.settle({ visit, crawlId: 'c1', now: 300, ...more })
  /** Offers, leases and settles an address. */
  const visit = async (
    path: string,
    more: Partial<Settlement> & Pick<Settlement, 'state'>,
    crawlId = more.crawlId ?? 'c1',
  ): Promise<SettlementResult> => {
    await offer([foundAddress(path)], crawlId)
    return settle(await leaseOne(path), { crawlId, ...more })
  }
  const index = (path: string, text: string, more: Partial<Settlement> = {}) =>
    visit(path, { state: 'indexed', record: record(path, text), ...more })
  const hold = (host: string, heldUntil: number) => store.changeClock(host, 0, (clock) => ({ ...clock, heldUntil }))
  const pathsOf = (visits: readonly Visit[]) => visits.map(({ key }) => key.slice('https://docs.test'.length))

  describe('sources', () => {
    test('are listed as they were added', async () => {
      const second = { ...source('two'), version: '2.0', createdAt: 2 }
      await store.addSource(second)
      expect(await store.listSources()).toEqual([source('docs'), second])
    })

    test('are refused if name and version exist already, and only then', async () => {
      await expect(store.addSource({ ...source('other'), name: 'docs' })).rejects.toMatchObject({
        code: 'SOURCE_EXISTS',
        details: { source: 'docs' },
      })
      await store.addSource({ ...source('other'), name: 'docs', version: '1' })
      await expect(store.addSource({ ...source('third'), name: 'docs', version: '1' })).rejects.toMatchObject({
        code: 'SOURCE_EXISTS',
        details: { source: 'docs@1' },
      })
      expect(await store.listSources()).toHaveLength(2)
    })

    test('can get another site address and version, but not a name that is taken', async () => {
      await store.addSource(source('two'))
      await store.updateSource('docs', { siteUrl: 'https://www.docs.test/', version: '3' })
      const changed = { ...source('docs'), siteUrl: 'https://www.docs.test/', version: '3' }
      expect(await store.listSources()).toContainEqual(changed)
      await store.updateSource('docs', { version: null })
      await expect(store.updateSource('two', { name: 'docs' })).rejects.toMatchObject({ code: 'SOURCE_EXISTS' })
      expect((await store.listSources()).map(({ name }) => name)).toEqual(['docs', 'two'])
    })

    test('can be given other settings', async () => {
      const settings = { ...source('docs').settings, render: 'auto', chunks: 'tokens' } as const
      await store.updateSource('docs', { settings })
      expect(await store.listSources()).toEqual([{ ...source('docs'), settings }])
      await store.updateSource('docs', { version: '2' })
      expect(await store.listSources()).toEqual([{ ...source('docs'), version: '2', settings }])
    })

    test('keep their refresh schedule through other changes, until it is turned off', async () => {
      const refresh = { everyMs: 86_400_000, dueAt: 5, attempts: 2, problem: 'no answer' }
      await store.addSource({ ...source('two'), refresh })
      await store.updateSource('docs', { refresh })
      await store.updateSource('docs', { version: '2' })
      expect(await store.listSources()).toEqual([
        { ...source('docs'), version: '2', refresh },
        { ...source('two'), refresh },
      ])
      await store.updateSource('docs', { refresh: null })
      expect(await store.listSources()).toEqual([
        { ...source('docs'), version: '2' },
        { ...source('two'), refresh },
      ])
    })

    test('are changed one after another by functions that see the change before', async () => {
      await store.updateSource('docs', { refresh: { everyMs: 1, dueAt: 0, attempts: 0, problem: null } })
      const attempt = () =>
        store.updateSource('docs', ({ refresh }) =>
          refresh === undefined ? {} : { refresh: { ...refresh, attempts: refresh.attempts + 1 } },
        )
      await Promise.all(Array.from({ length: 10 }, attempt))
      expect(await store.listSources()).toMatchObject([{ id: 'docs', refresh: { attempts: 10 } }])
      let isCalled = false
      await store
        .updateSource('nobody', () => {
          isCalled = true
          return { name: 'x' }
        })
        .catch(() => undefined)
      expect(isCalled).toBe(false)
    })

    test('are removed with everything they own, and nothing else', async () => {
      await store.addSource(source('two'))
      await store.offer('two', 'c9', [foundAddress('/kept')], 100)
      const [kept] = await lease({ sourceId: 'two' })
      if (kept === undefined) throw new Error('nothing was leased')
      await settle(kept, { state: 'indexed', record: record('/kept', 'kept words'), crawlId: 'c9' })
      await store.beginCrawl(crawl('c1'), 1000)
      await index('/a', 'lost words', { aliases: [alias('/a', '/b')] })
      await offer([foundAddress('/waiting')])

      expect(await store.removeSource('docs', { onlyEmpty: true })).toEqual({ pages: 0, chunks: 0 })
      expect(await store.countContent('docs')).toMatchObject({ pages: 1 })
      expect(await store.removeSource('docs')).toEqual({ pages: 1, chunks: 1 })
      expect(await store.listSources()).toEqual([source('two')])
      expect(await row('/a')).toBeUndefined()
      expect(await store.readPage('docs', at('/a'))).toBeUndefined()
      expect(await store.countLedger('docs')).toMatchObject({ total: 0 })
      expect(await store.countOpen('docs', 0)).toMatchObject({ pending: 0, leased: 0, nextAt: null })
      expect(await store.listCrawls('docs', 10)).toEqual([])
      expect(await store.listAliases('docs', at('/a'))).toEqual([])
      expect((await searchHits(store, { query: 'words', limit: 10 })).map(({ url }) => url)).toEqual([at('/kept')])
      expect(await store.stats()).toMatchObject({ sources: 1, pages: 1, chunks: 1 })

      await store.addSource(source('docs'))
      expect(await store.countLedger('docs')).toMatchObject({ total: 0 })
      await store.removeSource('docs', { onlyEmpty: true })
      expect(await store.listSources()).toEqual([source('two')])
      expect(await store.removeSource('nobody')).toEqual({ pages: 0, chunks: 0 })
    })

    test('must exist to be written to', async () => {
      await expect(store.offer('nobody', 'c1', [foundAddress('/a')], 1)).rejects.toMatchObject({
        code: 'SOURCE_UNKNOWN',
      })
      expect(await store.listRows('nobody', { limit: 10 })).toEqual([])
      expect(await store.countContent('nobody')).toEqual({ pages: 0, chunks: 0 })
    })
  })

  describe('crawls', () => {
    test('are stored with their options and results, newest first', async () => {
      expect(await store.beginCrawl(crawl('c1', 1000), 60_000)).toEqual(crawl('c1', 1000))
      await store.endCrawl('c1', summary('c1', 'completed'), 2000)
      await store.beginCrawl(crawl('c2', 3000), 60_000)
      expect(await store.listCrawls('docs', 10)).toEqual([
        crawl('c2', 3000),
        { ...crawl('c1', 1000), state: 'completed', endedAt: 2000, summary: summary('c1', 'completed') },
      ])
      expect(await store.listCrawls('docs', 1)).toEqual([crawl('c2', 3000)])
      expect(await store.listRunning()).toEqual([crawl('c2', 3000)])
    })

    test('are trimmed to the latest ones if they cover a part of a source, and all other crawls stay', async () => {
      const part = (id: string, at: number) => {
        const { options, ...rest } = crawl(id, at)
        return { ...rest, options: { ...options, isFocused: true } }
      }
      await store.addSource(source('two'))
      await store.beginCrawl({ ...part('other', 1), sourceId: 'two' }, 10)
      await store.endCrawl('other', null, 2)
      await store.beginCrawl(crawl('whole', 10), 10)
      await store.endCrawl('whole', summary('whole', 'completed'), 20)
      for (let i = 1; i <= MAX_FOCUSED_RUNS + 2; i++) {
        await store.beginCrawl(part(`p${i}`, 100 * i), 10)
        await store.endCrawl(`p${i}`, summary(`p${i}`, i % 2 === 0 ? 'completed' : 'gate'), 100 * i + 50)
      }
      const kept = (await store.listCrawls('docs', 100)).map(({ id }) => id)
      expect([kept.length, kept[0], kept.at(-2), kept.at(-1)]).toEqual([
        MAX_FOCUSED_RUNS + 1,
        `p${MAX_FOCUSED_RUNS + 2}`,
        'p3',
        'whole',
      ])
      expect(await store.listCrawls('two', 10)).toHaveLength(1)
    })

    test('are refused while another crawl of the source is alive', async () => {
      await store.beginCrawl(crawl('c1', 1000), 500)
      await store.touchCrawl('c1', 5000)
      await expect(store.beginCrawl(crawl('c2', 5499), 500)).rejects.toMatchObject({
        code: 'CRAWL_RUNNING',
        details: { source: 'docs' },
      })
      expect(await store.listCrawls('docs', 10)).toHaveLength(1)
      await store.addSource(source('two'))
      await store.beginCrawl({ ...crawl('c3', 5000), sourceId: 'two' }, 500)
    })

    test('cancel a stale crawl when they begin, and it can no longer be touched or ended', async () => {
      await store.beginCrawl(crawl('c1', 1000), 500)
      await store.touchCrawl('c1', 5000)
      await store.beginCrawl(crawl('c2', 5500), 500)
      expect((await store.listCrawls('docs', 10))[1]).toEqual({
        ...crawl('c1', 1000),
        state: 'cancelled',
        heartbeatAt: 5000,
        endedAt: 5000,
      })
      expect(await store.touchCrawl('c1', 6000)).toBe(false)
      expect(await store.touchCrawl('c2', 6000)).toBe(true)
      await store.endCrawl('c1', summary('c1', 'completed'), 7000)
      expect((await store.listCrawls('docs', 10))[1]).toMatchObject({ state: 'cancelled', summary: null })
    })

    test('are stale with a heartbeat in the future as well as with an old one', async () => {
      await store.beginCrawl(crawl('c1', 1000), 500)
      await store.touchCrawl('c1', 9000)
      await expect(store.beginCrawl(crawl('c2', 8501), 500)).rejects.toMatchObject({ code: 'CRAWL_RUNNING' })
      expect(await store.beginCrawl(crawl('c2', 8500), 500, 'c1')).toMatchObject({ id: 'c1', heartbeatAt: 8500 })
    })

    test.each([undefined, 'c1'])(
      'make rows due that a wrong clock had delayed for too long (resume: %s)',
      async (resume) => {
        const late = 5000 + 20 * 60_000
        await store.beginCrawl(crawl('c1', 1000), 500)
        await visit('/near', { state: 'pending', reason: 'timeout', dueAt: late })
        await visit('/far', { state: 'pending', reason: 'timeout', dueAt: late + 1 })
        await store.beginCrawl(crawl('c2', 5000), 500, resume)
        expect(await row('/near')).toMatchObject({ state: 'pending', dueAt: late })
        expect(await row('/far')).toMatchObject({ state: 'pending', dueAt: null })
        expect(pathsOf(await lease({ now: 5000, until: 9000, horizon: 6000 }))).toEqual(['/far'])
      },
    )

    test.each(['stale', 'cancelled'])('resume with their original options when they are %s', async (how) => {
      const begun = { ...crawl('c1', 1000), options: { ...crawl('c1').options, full: true } }
      await store.beginCrawl(begun, 500)
      if (how === 'cancelled') await store.endCrawl('c1', summary('c1', 'cancelled'), 1100)
      const request = { ...crawl('c2', 9000), heartbeatAt: 9100 }
      const resumed = { ...begun, heartbeatAt: 9100 }
      expect(await store.beginCrawl(request, 500, 'c1')).toEqual(resumed)
      expect(await store.listCrawls('docs', 10)).toEqual([resumed])
    })

    test('do not resume if they have ended, belong to another source or are alive', async () => {
      await store.beginCrawl(crawl('c1', 1000), 500)
      await expect(store.beginCrawl(crawl('c2', 1200), 500, 'c1')).rejects.toMatchObject({ code: 'CRAWL_RUNNING' })
      await store.endCrawl('c1', summary('c1', 'completed'), 1100)
      await expect(store.beginCrawl(crawl('c2', 9000), 500, 'c1')).rejects.toThrow(TypeError)
      await expect(store.beginCrawl(crawl('c2', 9000), 500, 'c7')).rejects.toThrow(TypeError)
      await store.addSource(source('two'))
      await store.beginCrawl({ ...crawl('c5', 9000), sourceId: 'two' }, 500)
      await expect(store.beginCrawl(crawl('c2', 99_000), 500, 'c5')).rejects.toThrow(TypeError)
    })

    test('are taken over by another runner if theirs is gone, and only then', async () => {
      const begun = { ...crawl('c1', 1000), runner: 'one' }
      await store.beginCrawl(begun, 60_000)
      const request = { ...crawl('c2', 1100), runner: 'two' }
      const running = { code: 'CRAWL_RUNNING' }
      await expect(store.beginCrawl(request, 60_000, 'c1')).rejects.toMatchObject(running)
      await expect(store.beginCrawl(request, 60_000, 'c1', 'three')).rejects.toMatchObject(running)
      const resumed = { ...begun, runner: 'two', heartbeatAt: 1100 }
      expect(await store.beginCrawl(request, 60_000, 'c1', 'one')).toEqual(resumed)
      // The runner that was presumed gone notices it, and cannot end the crawl.
      expect(await store.touchCrawl('c1', 1200, 'one')).toBe(false)
      await store.endCrawl('c1', summary('c1', 'cancelled'), 1300, 'one')
      expect(await store.touchCrawl('c1', 1400, 'two')).toBe(true)
      expect(await store.listCrawls('docs', 10)).toEqual([{ ...begun, runner: 'two', heartbeatAt: 1400 }])
      await expect(store.beginCrawl(request, 60_000, undefined, 'one')).rejects.toMatchObject(running)
    })

    test('are cancelled without a summary when they are interrupted', async () => {
      await store.beginCrawl(crawl('c1', 1000), 60_000)
      await store.endCrawl('c1', null, 1100)
      expect(await store.listCrawls('docs', 10)).toMatchObject([{ state: 'cancelled', endedAt: 1100, summary: null }])
      expect(await store.beginCrawl(crawl('c2', 1200), 60_000, 'c1')).toMatchObject({ id: 'c1', state: 'running' })
    })

    test('keep rows that await confirmation if they are resumed, and start without them if they are new', async () => {
      await index('/a', 'one')
      await store.beginCrawl(crawl('c2', 1000), 60_000)
      await visit('/a', { state: 'pending', reason: 'not-found', awaitsConfirmation: true }, 'c2')
      await store.endCrawl('c2', null, 1100)
      await store.beginCrawl(crawl('c3', 1200), 60_000, 'c2')
      const again = await leaseOne('/a')
      expect(again).toMatchObject({ isConfirmation: true, attempts: 1 })
      await store.release([again])
      await store.endCrawl('c2', null, 1300)
      await store.beginCrawl(crawl('c4', 1400), 60_000)
      expect(await leaseOne('/a')).toMatchObject({ isConfirmation: false, attempts: 0 })
    })

    test.each(['ended', 'replaced'])('write nothing any more after they were %s', async (how) => {
      await store.beginCrawl(crawl('c1', 1000), 500)
      await index('/page', 'one')
      await visit('/proven', { state: 'indexed', record: record('/proven', 'two') })
      await visit('/failed', { state: 'failed', reason: 'timeout' })
      await offer([foundAddress('/a'), foundAddress('/b')])
      if (how === 'ended') await store.endCrawl('c1', summary('c1', 'completed'), 1100)
      else await store.beginCrawl(crawl('c2', 9000), 500)
      const [leasedVisit] = await lease({ limit: 1 })
      if (leasedVisit === undefined) throw new Error('nothing was leased')
      const before = await store.listRows('docs', { limit: 100 })

      const settled = await settle(leasedVisit, {
        state: 'indexed',
        record: record('/a', 'late'),
        finds: [foundAddress('/late')],
      })
      expect(settled).toMatchObject({ type: 'lost', finds: [] })
      expect(await offer([foundAddress('/new'), foundAddress('/page')])).toEqual(['known', 'known'])
      expect(await lease({ crawlId: 'c1' })).toEqual([])
      const [known] = await store.listSources()
      await store.updateSource('docs', { siteUrl: 'https://late.test/' }, 'c1')
      expect(await store.listSources()).toEqual([known])
      const adoption = {
        sourceId: 'docs',
        crawlId: 'c1',
        now: 1200,
        find: foundAddress('/full'),
        finds: [foundAddress('/late')],
      }
      expect(await store.adopt({ ...adoption, record: record('/full', 'x') })).toMatchObject({ type: 'lost' })
      expect(await store.skipPending('docs', 'page-cap', '1', 1200, 'c1')).toBe(0)
      expect(await store.requeue('docs', 'c1', 'failed', 1200)).toBe(0)
      expect(await store.requeueOrphanedAliases('docs', 'c1', 1200)).toMatchObject({ requeued: 0 })
      expect(await store.removeProven('docs', 'c1', true, 1200)).toBe(0)
      expect(await store.listRows('docs', { limit: 100 })).toEqual(before)
      expect(await store.countContent('docs')).toEqual({ pages: 2, chunks: 2 })
    })

    test('take back rows that were leased before them', async () => {
      await offer([foundAddress('/a')])
      const first = await leaseOne('/a')
      await store.beginCrawl(crawl('c1', 500), 1000)
      expect(await row('/a')).toMatchObject({ state: 'pending' })
      expect(await settle(first, { state: 'skipped', reason: 'noindex' })).toMatchObject({ type: 'lost' })
    })
  })

  describe('a find', () => {
    test('creates a pending row, or one with the reason for its refusal', async () => {
      const refused = foundAddress('/b', { refusal: { reason: 'blocked', pattern: '/b*', target: at('/c') } })
      expect(await offer([foundAddress('/a', { depth: 2 }), refused, foundAddress('/a')])).toEqual([
        'admitted',
        'refused',
        'known',
      ])
      expect(await row('/a')).toEqual({
        sourceId: 'docs',
        key: at('/a'),
        url: at('/a'),
        host: 'docs.test',
        state: 'pending',
        reason: null,
        pattern: null,
        target: null,
        depth: 1,
        foundOn: at('/'),
        discovery: 'link',
        etag: null,
        lastModified: null,
        contentHash: null,
        attempts: 0,
        status: null,
        detail: null,
        firstSeenAt: 100,
        checkedAt: null,
        changedAt: null,
        dueAt: null,
        crawlId: 'c1',
        hasPage: false,
        isShell: false,
      })
      expect(await row('/b')).toMatchObject({ state: 'skipped', reason: 'blocked', pattern: '/b*', target: at('/c') })
    })

    test('requeues a row that an earlier crawl settled and keeps its first discovery', async () => {
      await index('/a', 'one', { etag: '"1"' })
      await visit('/b', { state: 'failed', reason: 'timeout', detail: 'slow' })
      const again = { discovery: 'sitemap', foundOn: null, url: `${at('/b')}#x`, depth: 3 } as const
      expect(await offer([foundAddress('/a', again), foundAddress('/b', again)], 'c2', 500)).toEqual([
        'admitted',
        'admitted',
      ])
      expect(await row('/a')).toMatchObject({ state: 'pending', crawlId: 'c2', depth: 3, hasPage: true, etag: '"1"' })
      expect(await row('/b')).toMatchObject({
        state: 'pending',
        reason: null,
        attempts: 0,
        discovery: 'link',
        foundOn: at('/'),
        url: at('/b'),
        firstSeenAt: 100,
      })
    })

    test('leaves a row alone that the same crawl settled', async () => {
      await index('/a', 'one')
      expect(await offer([foundAddress('/a')])).toEqual(['known'])
      expect(await row('/a')).toMatchObject({ state: 'indexed' })
    })

    test('counts as the first discovery if it admits a refused address', async () => {
      await offer([foundAddress('/a', { depth: 9, refusal: { reason: 'max-depth', pattern: '3', target: null } })])
      const better = foundAddress('/a', {
        depth: 2,
        discovery: 'sitemap',
        foundOn: at('/map.xml'),
        url: `${at('/a')}?`,
      })
      expect(await offer([better])).toEqual(['admitted'])
      expect(await row('/a')).toMatchObject({
        state: 'pending',
        reason: null,
        pattern: null,
        depth: 2,
        discovery: 'sitemap',
        foundOn: at('/map.xml'),
        url: `${at('/a')}?`,
      })
    })

    test('never changes content if it is refused', async () => {
      await index('/a', 'one')
      const refused = foundAddress('/a', { refusal: { reason: 'out-of-scope', pattern: null, target: null } })
      expect(await offer([refused], 'c2')).toEqual(['known'])
      expect(await row('/a')).toMatchObject({ state: 'indexed', hasPage: true, crawlId: 'c1' })
    })

    test.each(['path-trap', 'calendar-trap', 'same-content'] as const)(
      'admits a stored page although the address is refused as a trap, for %s',
      async (reason) => {
        await index('/a', 'one')
        const trap = { refusal: { reason, pattern: 'x/#', target: null } }
        expect(await offer([foundAddress('/a', trap), foundAddress('/b', trap)], 'c2')).toEqual(['admitted', 'refused'])
        expect(await row('/a')).toMatchObject({ state: 'pending', reason: null, pattern: null, hasPage: true })
        expect(await row('/a')).toMatchObject({ crawlId: 'c2' })
        expect(await row('/b')).toMatchObject({ state: 'skipped', reason, pattern: 'x/#' })
      },
    )

    test('is not recorded beyond the row limit of a source, and known rows are still updated', async () => {
      const offerUpTo = (maxRows: number, paths: readonly string[], crawlId = 'c1') =>
        store.offer(
          'docs',
          crawlId,
          paths.map((path) => foundAddress(path)),
          100,
          [alias('/x', '/y')],
          maxRows,
        )
      expect(await offerUpTo(2, ['/a', '/b', '/c', '/a', '/d'])).toEqual([
        'admitted',
        'admitted',
        'overflow',
        'known',
        'overflow',
      ])
      expect(await row('/c')).toBeUndefined()
      expect(await store.countLedger('docs')).toMatchObject({ total: 2 })
      expect(await store.listAliases('docs', at('/x'))).toHaveLength(1)
      await settle(await leaseOne('/a'), { state: 'failed', reason: 'timeout' })
      const refused = foundAddress('/e', { refusal: { reason: 'blocked', pattern: '/e', target: null } })
      expect(await store.offer('docs', 'c2', [refused, foundAddress('/a')], 100, [], 1)).toEqual([
        'overflow',
        'admitted',
      ])
      expect(await offerUpTo(3, ['/c', '/d'])).toEqual(['admitted', 'overflow'])
      expect(await store.countLedger('docs')).toMatchObject({ total: 3 })
      await store.addSource(source('two'))
      expect(await store.offer('two', 'c9', [foundAddress('/a')], 100, [], 1)).toEqual(['admitted'])
    })

    test('sets the smallest depth of the crawl on pending rows', async () => {
      await offer([foundAddress('/a', { depth: 5 })])
      await offer([foundAddress('/a', { depth: 3 })])
      await offer([foundAddress('/a', { depth: 4 })])
      expect(await row('/a')).toMatchObject({ depth: 3, crawlId: 'c1' })
      expect(await offer([foundAddress('/a', { depth: 7 })], 'c2')).toEqual(['known'])
      expect(await row('/a')).toMatchObject({ depth: 7, crawlId: 'c2', state: 'pending' })
    })
  })

  describe('a lease', () => {
    test('gives a visit with all its fields', async () => {
      await offer([foundAddress('/a', { depth: 2, discovery: 'sitemap', foundOn: at('/list.xml') })])
      const [first, ...others] = await lease()
      expect(others).toEqual([])
      expect(first).toEqual({
        sourceId: 'docs',
        key: at('/a'),
        url: at('/a'),
        host: 'docs.test',
        depth: 2,
        discovery: 'sitemap',
        foundOn: at('/list.xml'),
        attempts: 0,
        etag: null,
        lastModified: null,
        contentHash: null,
        checkedAt: null,
        contentUrl: null,
        hasPage: false,
        hasLinks: false,
        isShell: false,
        target: null,
        isConfirmation: false,
        isFinal: false,
        notBefore: 200,
        lease: expect.any(String),
      })
      expect(await row('/a')).toMatchObject({ state: 'leased' })
      expect(await lease()).toEqual([])
    })

    test('is ordered by depth, then by age, up to the limit', async () => {
      await offer([
        foundAddress('/c', { depth: 2 }),
        foundAddress('/b', { depth: 1 }),
        foundAddress('/a', { depth: 1 }),
        foundAddress('/d', { depth: 0 }),
      ])
      expect(pathsOf(await lease({ limit: 3 }))).toEqual(['/d', '/b', '/a'])
      expect(pathsOf(await lease({ limit: 3 }))).toEqual(['/c'])
    })

    test('is ordered by weight first, smallest first', async () => {
      await offer([
        foundAddress('/plain', { depth: 0 }),
        foundAddress('/late', { depth: 0, weight: 7 }),
        foundAddress('/soon', { depth: 2, weight: -3 }),
        foundAddress('/sooner', { depth: 1, weight: -3 }),
        foundAddress('/soon too', { depth: 2, weight: -3 }),
      ])
      expect(pathsOf(await lease({ limit: 2 }))).toEqual(['/sooner', '/soon'])
      expect(pathsOf(await lease())).toEqual(['/soon too', '/plain', '/late'])
    })

    test('is ordered by weight within a level if levels are finished one by one', async () => {
      await offer([
        foundAddress('/b', { depth: 1 }),
        foundAddress('/deep', { depth: 2, weight: -9 }),
        foundAddress('/c', { depth: 1, weight: 2 }),
        foundAddress('/a', { depth: 1, weight: -1 }),
      ])
      const level = { isBreadthFirst: true }
      expect(pathsOf(await lease({ ...level, limit: 2 }))).toEqual(['/a', '/b'])
      const rest = await lease(level)
      expect(pathsOf(rest)).toEqual(['/c'])
      await store.release(rest)
      // A postponed row makes the store check hosts one by one, which must give the same order.
      await offer([
        foundAddress('/due', { depth: 1, weight: -5 }),
        foundAddress('/host', { depth: 1, weight: 1, host: 'h.test' }),
      ])
      await settle(await leaseOne('/due'), { state: 'pending', reason: 'timeout', dueAt: 500 })
      expect(pathsOf(await lease({ ...level, now: 500 }))).toEqual(['/due', '/host', '/c'])
    })

    test('is ordered by weight across hosts', async () => {
      await setPause(store, 'docs.test', 100, 200)
      await offer([
        foundAddress('/a'),
        foundAddress('/b', { weight: -1 }),
        foundAddress('/x', { weight: 5, host: 'x.test' }),
      ])
      await offer([foundAddress('/y', { weight: -2, host: 'y.test' })])
      await settle(await leaseOne('/a'), { state: 'pending', reason: 'timeout', dueAt: 900 })
      const clocks = { now: 1000, horizon: 1000 }
      expect(pathsOf(await lease({ ...clocks, limit: 2 }))).toEqual(['/y', '/b'])
      expect(pathsOf(await lease(clocks))).toEqual(['/x'])
    })

    test('uses the smallest weight that a crawl found for a row, and for a refused row the weight of the find that admits it', async () => {
      await offer([
        foundAddress('/a', { weight: 4 }),
        foundAddress('/b', { weight: 3 }),
        foundAddress('/c', { refusal: BLOCKED }),
      ])
      await offer([
        foundAddress('/a', { weight: 1 }),
        foundAddress('/b', { weight: 9 }),
        foundAddress('/c', { weight: 2 }),
      ])
      expect(pathsOf(await lease())).toEqual(['/a', '/c', '/b'])
      await offer([foundAddress('/d', { weight: 1 }), foundAddress('/e', { weight: 2 })])
      await offer([foundAddress('/d', { weight: 3 })], 'c2')
      expect(pathsOf(await lease())).toEqual(['/e', '/d'])
    })

    test('contains rows of one source only', async () => {
      await store.addSource(source('two'))
      await store.offer('two', 'c9', [foundAddress('/a')], 1)
      expect(await lease()).toEqual([])
      expect(await lease({ sourceId: 'two' })).toHaveLength(1)
    })

    test('expires, and its holder has lost the row', async () => {
      await offer([foundAddress('/a')])
      const first = await leaseOne('/a', { now: 200, until: 300 })
      expect(await lease({ now: 299 })).toEqual([])
      const second = await leaseOne('/a', { now: 300 })
      expect(second.lease).not.toBe(first.lease)
      const late = await settle(first, {
        state: 'indexed',
        record: record('/a', 'late'),
        finds: [foundAddress('/new')],
        aliases: [alias('/a', '/late')],
      })
      expect(late).toEqual({ type: 'lost', state: 'leased', reason: null, target: null, finds: [] })
      expect(await row('/new')).toBeUndefined()
      expect(await store.listAliases('docs', at('/a'))).toEqual([])
      expect(await store.readPage('docs', at('/a'))).toBeUndefined()
      expect(await row('/a')).toMatchObject({ state: 'leased', checkedAt: null })
      expect(await settle(second, { state: 'skipped', reason: 'empty' })).toMatchObject({ type: 'settled' })
      expect(await settle(second, { state: 'failed', reason: 'network' })).toMatchObject({
        type: 'lost',
        state: 'skipped',
      })
    })

    test('can still be settled after it expired, while the row is not leased again', async () => {
      await offer([foundAddress('/a')])
      const first = await leaseOne('/a', { until: 300 })
      expect(await settle(first, { state: 'skipped', reason: 'empty', now: 900 })).toMatchObject({ type: 'settled' })
    })

    test('does not expire while its crawl runs', async () => {
      await store.beginCrawl(crawl('c1', 100), 1000)
      await offer([foundAddress('/a')])
      const first = await leaseOne('/a', { crawlId: 'c1', now: 200, until: 300 })
      expect(await lease({ crawlId: 'c1', now: 5000 })).toEqual([])
      expect(await store.countOpen('docs', 5000)).toMatchObject({ pending: 0, leased: 1, nextAt: null })
      expect(await settle(first, { state: 'skipped', reason: 'empty', now: 6000 })).toMatchObject({ type: 'settled' })
      await offer([foundAddress('/b')])
      await leaseOne('/b', { crawlId: 'c1', now: 200, until: 300 })
      await store.endCrawl('c1', null, 7000)
      expect(await store.countOpen('docs', 7000)).toMatchObject({ pending: 1, leased: 0 })
      expect(pathsOf(await lease({ now: 7000 }))).toEqual(['/b'])
    })

    test('can be released', async () => {
      await visit('/a', { state: 'pending', reason: 'timeout', dueAt: 250 })
      const second = await leaseOne('/a', { now: 260 })
      await store.release([second])
      expect(await row('/a')).toMatchObject({ state: 'pending', attempts: 1, dueAt: 250 })
      expect(await settle(second, { state: 'failed' })).toMatchObject({ type: 'lost' })
      const third = await leaseOne('/a', { now: 270 })
      await store.release([second])
      expect(await row('/a')).toMatchObject({ state: 'leased' })
      await store.release([third])
      expect(await row('/a')).toMatchObject({ state: 'pending' })
    })

    test('skips a row until it is due', async () => {
      await visit('/a', { state: 'pending', reason: 'timeout', dueAt: 500 })
      expect(await lease({ now: 499 })).toEqual([])
      expect(await store.countOpen('docs', 499)).toMatchObject({ pending: 1, leased: 0, nextAt: 500 })
      expect((await lease({ now: 500 }))[0]).toMatchObject({ attempts: 1, isConfirmation: false })
    })

    test('reserves slots of its host', async () => {
      await setPause(store, 'docs.test', 100, 0)
      await offer([foundAddress('/a'), foundAddress('/b'), foundAddress('/c')])
      const visits = await lease({ now: 1000, horizon: 1150 })
      expect(visits.map(({ notBefore }) => notBefore)).toEqual([1000, 1100])
      expect(await lease({ now: 1000, horizon: 1199 })).toEqual([])
      expect(await store.countOpen('docs', 1000)).toMatchObject({ pending: 1, leased: 2, nextAt: 1200 })
      expect(await lease({ now: 1000, horizon: 1200 })).toMatchObject([{ notBefore: 1200 }])
      expect(await reserveSlot(store, 'docs.test', 1000)).toBe(1300)
      expect(await reserveSlot(store, 'docs.test', 5000)).toBe(5000)
    })

    test('adds jitter to each slot, and reserves none beyond the horizon', async () => {
      await setPause(store, 'docs.test', 100, 0)
      await offer(['/a', '/b', '/c', '/d', '/e'].map((path) => foundAddress(path)))
      const draws = [30, 40, 25.5, 50, 30]
      const jitter = () => draws.shift() ?? 0
      const visits = await lease({ now: 1000, horizon: 1380, jitter })
      expect(visits.map(({ notBefore }) => notBefore)).toEqual([1000, 1130, 1270])
      expect(await store.readClock('docs.test', 1000)).toMatchObject({ nextAt: 1395.5 })
      expect(await lease({ now: 1395, horizon: 1400, jitter: () => 50 })).toMatchObject([{ notBefore: 1395.5 }])
    })

    test('has no jitter at a host without an interval', async () => {
      await offer([foundAddress('/a'), foundAddress('/b')])
      expect(await lease({ now: 1000, horizon: 1000, jitter: () => 50 })).toMatchObject([
        { notBefore: 1000 },
        { notBefore: 1000 },
      ])
    })

    test('skips a held host, and no others', async () => {
      await hold('docs.test', 5000)
      await offer([foundAddress('/a'), foundAddress('/b'), foundAddress('/c', { host: 'other.test', depth: 2 })])
      expect(pathsOf(await lease({ now: 1000, horizon: 4999 }))).toEqual(['/c'])
      expect(await store.countOpen('docs', 1000)).toMatchObject({ pending: 2, nextAt: 5000 })
      expect(await lease({ now: 4500, horizon: 5500 })).toMatchObject([{ notBefore: 5000 }, { notBefore: 5000 }])
    })

    test('ignores a hold that a wrong clock wrote', async () => {
      await hold('docs.test', 1e11)
      await offer([foundAddress('/a')])
      expect(await store.readClock('docs.test', 1000)).toMatchObject({ heldUntil: 1000 })
      expect(await store.countOpen('docs', 1000)).toMatchObject({ nextAt: 1000 })
      expect(await lease({ now: 1000, horizon: 1000 })).toMatchObject([{ notBefore: 1000 }])
    })

    test('prefers other hosts to a busy one', async () => {
      await setPause(store, 'slow.test', 1000, 0)
      const slow = ['/1', '/2', '/3', '/4'].map((path) => foundAddress(path, { host: 'slow.test', depth: 0 }))
      await offer([...slow, foundAddress('/5', { depth: 1 }), foundAddress('/6', { depth: 1 })])
      expect(pathsOf(await lease({ limit: 3, now: 0, horizon: 10 }))).toEqual(['/1', '/5', '/6'])
      expect(await lease({ limit: 3, now: 0, horizon: 10 })).toEqual([])
    })

    test('takes confirmations only if nothing else is left', async () => {
      await offer([
        foundAddress('/a', { depth: 0 }),
        foundAddress('/b', { depth: 1 }),
        foundAddress('/c', { depth: 1 }),
      ])
      const gone = { state: 'pending', reason: 'not-found', awaitsConfirmation: true } as const
      await settle(await leaseOne('/a'), gone)
      const [b, c] = await lease()
      expect([b?.key, c?.key]).toEqual([at('/b'), at('/c')])
      if (b === undefined || c === undefined) return
      expect(await lease()).toEqual([])
      await settle(b, gone)
      await settle(c, { state: 'pending', reason: 'timeout', dueAt: 5000 })
      expect(await lease({ now: 400 })).toEqual([])
      await settle(await leaseOne('/c', { now: 5000 }), { state: 'failed', reason: 'timeout' })
      const confirmations = await lease({ now: 5000 })
      expect(confirmations.map(({ key, isConfirmation, attempts }) => [key, isConfirmation, attempts])).toEqual([
        [at('/a'), true, 1],
        [at('/b'), true, 1],
      ])
    })

    test('finishes a level before the next on request', async () => {
      await offer([
        foundAddress('/a', { depth: 1 }),
        foundAddress('/b', { depth: 2 }),
        foundAddress('/c', { depth: 1 }),
      ])
      const [a, c, ...others] = await lease({ isBreadthFirst: true })
      expect([a?.key, c?.key, others.length]).toEqual([at('/a'), at('/c'), 0])
      if (a === undefined || c === undefined) return
      await settle(a, { state: 'skipped', reason: 'empty', finds: [foundAddress('/d', { depth: 2 })] })
      expect(await lease({ isBreadthFirst: true })).toEqual([])
      await settle(c, { state: 'pending', reason: 'timeout', dueAt: 900 })
      expect(await lease({ isBreadthFirst: true, now: 400 })).toEqual([])
      await settle(await leaseOne('/c', { now: 900 }), { state: 'failed', reason: 'timeout' })
      expect(pathsOf(await lease({ isBreadthFirst: true, now: 900 }))).toEqual(['/b', '/d'])
    })

    test('treats the first depths as one level on request, ordered by weight', async () => {
      await offer([
        foundAddress('/listed', { depth: 0, weight: 1 }),
        foundAddress('/link', { depth: 1 }),
        foundAddress('/first', { depth: 0 }),
        foundAddress('/deep', { depth: 2, weight: -1 }),
      ])
      const level = { isBreadthFirst: true, firstLevel: 1 }
      const visits = await lease(level)
      expect(pathsOf(visits)).toEqual(['/first', '/link', '/listed'])
      expect(await lease(level)).toEqual([])
      // Postponed rows make the store check hosts one by one, which must give the same order.
      for (const visit of visits) await settle(visit, { state: 'pending', reason: 'timeout', dueAt: 500 })
      expect(pathsOf(await lease({ ...level, now: 500, limit: 2 }))).toEqual(['/first', '/link'])
      expect(pathsOf(await lease({ ...level, now: 500 }))).toEqual(['/listed'])
    })

    test('contains validators if a 304 response would be enough', async () => {
      await index('/a', 'one', { etag: '"1"', lastModified: 'Mon' })
      await visit('/b', { state: 'failed', reason: 'timeout', etag: '"2"', contentHash: sha('two') })
      await offer([foundAddress('/a'), foundAddress('/b')], 'c2')
      expect(await lease()).toMatchObject([
        { key: at('/a'), hasPage: true, etag: '"1"', lastModified: 'Mon', contentHash: sha('one'), checkedAt: 300 },
        { key: at('/b'), hasPage: false, etag: null, lastModified: null, contentHash: null, checkedAt: 300 },
      ])
    })

    test('contains the validators of a duplicate while its target holds the same content', async () => {
      await index('/a', 'same')
      await index('/a/b', 'same', { etag: '"dup"' })
      await offer([foundAddress('/a/b')], 'c2')
      const again = await leaseOne('/a/b')
      expect(again).toMatchObject({ target: at('/a'), etag: '"dup"', contentHash: sha('same'), hasPage: false })
      expect(await settle(again, { state: 'unchanged', crawlId: 'c2' })).toMatchObject({
        state: 'skipped',
        reason: 'duplicate',
        target: at('/a'),
      })

      await visit('/a', { state: 'indexed', record: record('/a', 'other') }, 'c3')
      await offer([foundAddress('/a/b')], 'c3')
      expect(await leaseOne('/a/b')).toMatchObject({ target: at('/a'), etag: null, contentHash: null })
    })
  })

  describe('the open work', () => {
    test('counts expired leases as pending', async () => {
      expect(await store.countOpen('docs', 0)).toMatchObject({ pending: 0, leased: 0, nextAt: null })
      await offer([foundAddress('/a'), foundAddress('/b')])
      await lease({ limit: 1, now: 200, until: 300 })
      expect(await store.countOpen('docs', 250)).toMatchObject({ pending: 1, leased: 1, nextAt: 250 })
      expect(await store.countOpen('docs', 300)).toMatchObject({ pending: 2, leased: 0, nextAt: 300 })
    })

    test('is due when the first host is free', async () => {
      await setPause(store, 'slow.test', 1000, 0)
      await reserveSlot(store, 'slow.test', 0)
      await offer([foundAddress('/a', { host: 'slow.test' })])
      expect(await store.countOpen('docs', 10)).toMatchObject({ nextAt: 1000 })
      await visit('/b', { state: 'pending', reason: 'timeout', dueAt: 600 })
      expect(await store.countOpen('docs', 10)).toMatchObject({ nextAt: 600 })
    })

    test('is due when a held host is free again, if there is no other', async () => {
      expect(await store.countOpen('docs', 10)).toEqual({ pending: 0, leased: 0, nextAt: null })
      await offer([foundAddress('/a', { host: 'b.test' }), foundAddress('/b', { host: 'a.test' })])
      await hold('a.test', 700)
      expect(await store.countOpen('docs', 10)).toMatchObject({ nextAt: 10 })
      await hold('b.test', 900)
      expect(await store.countOpen('docs', 10)).toMatchObject({ nextAt: 700 })
    })

    test('lists the held hosts that have pending rows', async () => {
      const a = ['/a', '/b'].map((path) => foundAddress(path, { host: 'a.test' }))
      await offer([
        foundAddress('/z', { host: 'z.test' }),
        ...a,
        foundAddress('/c', { host: 'c.test' }),
        foundAddress('/free'),
      ])
      await offer([foundAddress('/wrong', { host: 'wrong.test' })])
      for (const [host, until] of Object.entries({ 'z.test': 900, 'a.test': 901, 'c.test': 800, 'nobody.test': 900 }))
        await hold(host, until)
      await hold('wrong.test', 1e11)
      expect(await store.listHeldHosts('docs', 10, 800)).toEqual(['a.test', 'z.test'])
      expect(await store.listHeldHosts('docs', 10, 900)).toEqual(['a.test'])
      expect(await store.listHeldHosts('docs', 10, 901)).toEqual([])
      expect(await store.listHeldHosts('none', 10, 0)).toEqual([])
      await visit('/c', { state: 'pending', reason: 'not-found', awaitsConfirmation: true })
      expect(await store.listHeldHosts('docs', 10, 700)).toEqual(['a.test', 'c.test', 'z.test'])
      await store.failPending('docs', 'c1', 'a.test', 'host-parked', null)
      expect(await store.listHeldHosts('docs', 10, 700)).toEqual(['c.test', 'z.test'])
    })

    test('makes the pending rows of a host due, and no others', async () => {
      await offer([foundAddress('/a', { host: 'a.test' }), foundAddress('/b', { host: 'b.test' })])
      const visits = await lease()
      for (const leased of visits) await settle(leased, { state: 'pending', reason: 'rate-limited', dueAt: 5000 })
      expect(visits).toHaveLength(2)
      expect(await store.clearDelays('docs', 'a.test')).toBe(1)
      expect(await store.clearDelays('docs', 'a.test')).toBe(0)
      expect(await store.clearDelays('none', 'b.test')).toBe(0)
      expect((await store.findRow('docs', at('/a')))?.dueAt).toBeNull()
      expect((await store.findRow('docs', at('/b')))?.dueAt).toBe(5000)
    })

    test('is due when its host is free, also after a lease expired', async () => {
      await offer([foundAddress('/a')])
      await lease({ now: 100, until: 200 })
      await hold('docs.test', 5000)
      expect(await store.countOpen('docs', 300)).toEqual({
        pending: 1,
        leased: 0,
        nextAt: 5000,
      })
    })
  })

  describe('a settlement', () => {
    test('can record another address, which readers open from then on', async () => {
      await index('/a', 'one')
      expect(await row('/a')).toMatchObject({ url: at('/a') })
      await index('/a', 'two', { url: at('/a?v=2'), crawlId: 'c2' })
      expect(await row('/a')).toMatchObject({ key: at('/a'), url: at('/a?v=2') })
      expect(await store.readPageText('docs', at('/a'))).toMatchObject({ url: at('/a?v=2'), markdown: 'two' })
      await visit('/a', { state: 'unchanged', crawlId: 'c3' })
      expect(await row('/a')).toMatchObject({ url: at('/a?v=2') })
    })

    test('stores a page with its chunks, links, aliases and finds', async () => {
      await offer([foundAddress('/a')])
      const stored = record('/a', 'one two', { links: [at('/b'), at('/c')] })
      const settled = await settle(await leaseOne('/a'), {
        state: 'indexed',
        status: 200,
        detail: 'fine',
        etag: '"1"',
        lastModified: 'Mon',
        record: stored,
        aliases: [alias('/old', '/a')],
        finds: [foundAddress('/b'), foundAddress('/a')],
      })
      expect(settled).toEqual({
        type: 'settled',
        state: 'indexed',
        reason: null,
        target: null,
        demoted: null,
        hasPage: true,
        finds: ['admitted', 'known'],
      })
      expect(await row('/a')).toMatchObject({
        state: 'indexed',
        status: 200,
        detail: 'fine',
        etag: '"1"',
        lastModified: 'Mon',
        contentHash: sha('one two'),
        checkedAt: 300,
        changedAt: 300,
        attempts: 0,
        hasPage: true,
      })
      expect(await store.readPage('docs', at('/a'))).toEqual({
        sourceId: 'docs',
        key: at('/a'),
        page: stored.page,
        checkedAt: 300,
        changedAt: 300,
      })
      expect(await store.readLinks('docs', at('/a'))).toEqual([at('/b'), at('/c')])
      expect(await store.listAliases('docs', at('/old'))).toEqual([alias('/old', '/a')])
      expect(await store.listAliases('docs', at('/a'))).toEqual([alias('/old', '/a')])
      expect(await row('/b')).toMatchObject({ state: 'pending' })
    })

    test('counts chunks by type', async () => {
      const code = ['```js', 'one()', 'two()', '```'].join('\n')
      await store.addSource({ ...source('two'), createdAt: 2 })
      await index('/a', `apples\n---\npears\n---\n${code}`)
      await searchHits(store, { query: 'apples', limit: 1 })
      const counts = await store.countContentTypes()
      expect(counts.get('docs')).toEqual({ prose: 2, code: 1 })
      expect(counts.get('two') ?? { prose: 0, code: 0 }).toEqual({ prose: 0, code: 0 })
      await index('/a', 'cherries', { crawlId: 'c2', now: 900 })
      await searchHits(store, { query: 'cherries', limit: 1 })
      expect((await store.countContentTypes()).get('docs')).toEqual({ prose: 1, code: 0 })
    })

    test('replaces the old content completely by new content', async () => {
      await index('/a', 'apples pears\n---\nplums')
      expect(await store.countContent('docs')).toEqual({ pages: 1, chunks: 2 })
      await index('/a', 'cherries', { crawlId: 'c2', now: 900 })
      expect(await store.countContent('docs')).toEqual({ pages: 1, chunks: 1 })
      expect(await searchHits(store, { query: 'apples plums', limit: 9 })).toEqual([])
      expect(await searchHits(store, { query: 'cherries', limit: 9 })).toHaveLength(1)
      expect(await row('/a')).toMatchObject({ changedAt: 900, contentHash: sha('cherries') })
    })

    test('keeps an unchanged page and stores new links', async () => {
      await index('/a', 'one', { etag: '"1"' })
      await visit('/a', { state: 'unchanged', now: 900, status: 304 }, 'c2')
      expect(await row('/a')).toMatchObject({
        state: 'unchanged',
        checkedAt: 900,
        changedAt: 300,
        etag: '"1"',
        crawlId: 'c2',
      })
      expect(await store.readLinks('docs', at('/a'))).toEqual([])
      await visit('/a', { state: 'unchanged', links: [at('/z')], etag: null }, 'c3')
      expect(await store.readLinks('docs', at('/a'))).toEqual([at('/z')])
      expect(await row('/a')).toMatchObject({ etag: null, contentHash: sha('one') })
      expect(await store.readPage('docs', at('/a'))).toMatchObject({ page: record('/a', 'one').page })
    })

    test('replaces only the metadata if nothing else changed, and keeps the content', async () => {
      await index('/a', 'apples\n---\npears')
      await searchHits(store, { query: 'anything', limit: 1 })
      const { page, chunks } = record('/a', 'apples\n---\npears')
      const renamed = { page: { ...page, title: 'Zebra', author: 'Other' }, chunks, links: [at('/z')] }
      const settled = await visit('/a', { state: 'unchanged', record: renamed, now: 900 }, 'c2')
      expect(settled).toMatchObject({ state: 'unchanged' })
      expect(await store.readPage('docs', at('/a'))).toMatchObject({ page: renamed.page, changedAt: 300 })
      expect(await store.readLinks('docs', at('/a'))).toEqual([at('/z')])
      expect(await searchHits(store, { query: 'zebra', limit: 9 })).toMatchObject([
        { title: 'Zebra' },
        { title: 'Zebra' },
      ])
      expect(await searchHits(store, { query: 'title', limit: 9 })).toEqual([])
      expect(await searchHits(store, { query: 'apples', limit: 9 })).toHaveLength(1)
      expect(await store.countContent('docs')).toEqual({ pages: 1, chunks: 2 })
    })

    test.each(['skipped', 'failed', 'pending'] as const)('stores links in the state %s', async (state) => {
      await visit('/a', { state, reason: 'noindex', links: [at('/x'), at('/y')] })
      expect(await store.readLinks('docs', at('/a'))).toEqual([at('/x'), at('/y')])
      await offer([foundAddress('/a')], 'c2')
      const again = await leaseOne('/a')
      expect(again).toMatchObject({ hasLinks: true, hasPage: false })
      await settle(again, { state: 'failed', reason: 'timeout', crawlId: 'c2' })
      expect(await store.readLinks('docs', at('/a'))).toEqual([at('/x'), at('/y')])
      await offer([foundAddress('/b')])
      expect(await leaseOne('/b')).toMatchObject({ hasLinks: false })
    })

    test('records whether the response was empty before a browser ran its scripts, and a later settlement can change that', async () => {
      await index('/a', 'one', { isShell: true })
      expect(await row('/a')).toMatchObject({ isShell: true })
      await offer([foundAddress('/a')], 'c2')
      const again = await leaseOne('/a')
      expect(again).toMatchObject({ isShell: true })
      await settle(again, { state: 'failed', reason: 'timeout', crawlId: 'c2' })
      expect(await row('/a')).toMatchObject({ state: 'failed', isShell: true })
      await offer([foundAddress('/a')], 'c3')
      const last = await leaseOne('/a')
      await settle(last, { state: 'indexed', record: record('/a', 'two'), isShell: false, crawlId: 'c3' })
      expect(await row('/a')).toMatchObject({ state: 'indexed', isShell: false })
    })

    test('requeues a row without validators if it is unchanged but has no stored content', async () => {
      const settled = await visit('/a', { state: 'unchanged', status: 304 })
      expect(settled).toMatchObject({ type: 'settled', state: 'pending', reason: null, target: null })
      expect(await row('/a')).toMatchObject({ state: 'pending', dueAt: null })
      expect(await leaseOne('/a')).toMatchObject({ isFinal: true, etag: null, lastModified: null })
    })

    test.each(['skipped', 'failed'] as const)('keeps the page in the state %s', async (state) => {
      await index('/a', 'one')
      await visit('/a', { state, reason: 'http-server-error', pattern: 'p', status: 503, contentHash: sha('x') }, 'c2')
      expect(await row('/a')).toMatchObject({
        state,
        reason: 'http-server-error',
        pattern: 'p',
        status: 503,
        hasPage: true,
        attempts: state === 'failed' ? 1 : 0,
        contentHash: sha('x'),
      })
      expect(await store.readPage('docs', at('/a'))).toMatchObject({ page: { markdown: 'one' } })
      await offer([foundAddress('/a')], 'c3')
      expect(await leaseOne('/a')).toMatchObject({ attempts: 0 })
    })

    test('counts attempts if it requeues a row', async () => {
      await visit('/a', { state: 'pending', reason: 'timeout', dueAt: 400, status: null, detail: 'slow' })
      expect(await row('/a')).toMatchObject({
        state: 'pending',
        reason: 'timeout',
        attempts: 1,
        dueAt: 400,
        detail: 'slow',
      })
      await settle(await leaseOne('/a', { now: 400 }), { state: 'pending', reason: 'network' })
      expect(await row('/a')).toMatchObject({ attempts: 2, dueAt: null, reason: 'network', detail: null })
      await settle(await leaseOne('/a'), { state: 'indexed', record: record('/a', 'one') })
      expect(await row('/a')).toMatchObject({ state: 'indexed', reason: null, attempts: 0, dueAt: null })
    })

    test('records finds up to the row limit of the source', async () => {
      const found = { finds: [foundAddress('/b'), foundAddress('/a'), foundAddress('/c')], maxRows: 2 }
      expect(await index('/a', 'one', found)).toMatchObject({
        state: 'indexed',
        finds: ['admitted', 'known', 'overflow'],
      })
      expect(await row('/c')).toBeUndefined()
      expect(await row('/a')).toMatchObject({ state: 'indexed', hasPage: true })
    })

    test('requires content in the state indexed, and writes nothing without it', async () => {
      await offer([foundAddress('/a')])
      const first = await leaseOne('/a')
      await expect(settle(first, { state: 'indexed', finds: [foundAddress('/b')] })).rejects.toThrow(TypeError)
      expect(await row('/b')).toBeUndefined()
      expect(await row('/a')).toMatchObject({ state: 'leased', checkedAt: null })
    })
  })

  describe('the same content', () => {
    test('stays at its address if that is better', async () => {
      await index('/a', 'same')
      expect(await index('/a/b', 'same')).toMatchObject({ state: 'skipped', reason: 'duplicate', target: at('/a') })
      expect(await row('/a/b')).toMatchObject({
        state: 'skipped',
        hasPage: false,
        contentHash: sha('same'),
        changedAt: null,
      })
      expect(await store.listAliases('docs', at('/a/b'))).toEqual([
        { url: at('/a/b'), aliasUrl: at('/a'), classification: 'same-content', reason: null },
      ])
      expect(await store.countContent('docs')).toEqual({ pages: 1, chunks: 1 })
    })

    test('is moved to a better address without reporting a demoted row if an earlier crawl settled that row', async () => {
      await index('/a/b', 'same')
      expect(await index('/a', 'same', { crawlId: 'c2' })).toMatchObject({ state: 'indexed', demoted: null })
    })

    test('moves to a better address', async () => {
      await index('/a/b', 'same')
      expect(await index('/a', 'same')).toMatchObject({
        ...{ state: 'indexed', reason: null, target: null, demoted: { state: 'indexed' } },
      })
      expect(await row('/a/b')).toMatchObject({
        state: 'skipped',
        reason: 'duplicate',
        target: at('/a'),
        hasPage: false,
        contentHash: sha('same'),
      })
      expect(await store.readPage('docs', at('/a/b'))).toBeUndefined()
      expect(await store.listAliases('docs', at('/a/b'))).toHaveLength(1)
      expect(await searchHits(store, { query: 'same', limit: 9 })).toMatchObject([{ url: at('/a') }])
    })

    test('is taken from a pending row, which stays pending', async () => {
      await index('/a/b', 'same')
      await offer([foundAddress('/a/b')], 'c2')
      await offer([foundAddress('/a')], 'c2')
      await settle(await leaseOne('/a'), { state: 'indexed', record: record('/a', 'same'), crawlId: 'c2' })
      expect(await row('/a/b')).toMatchObject({ state: 'pending', hasPage: false })
      expect(await store.countContent('docs')).toEqual({ pages: 1, chunks: 1 })
    })

    test('leaves other content of a row in place until the crawl completes', async () => {
      await index('/a', 'same')
      await index('/a/b', 'own', { etag: '"own"' })
      const settled = await index('/a/b', 'same', { crawlId: 'c2', now: 900, etag: '"same"' })
      expect(settled).toMatchObject({ state: 'skipped', reason: 'duplicate', target: at('/a') })
      // The check says nothing about the content that the row still holds, so the time of its check stays.
      const left = { state: 'skipped', reason: 'duplicate', hasPage: true, contentHash: sha('same'), checkedAt: 300 }
      expect(await row('/a/b')).toMatchObject(left)
      expect(await searchHits(store, { query: 'own', limit: 9 })).toHaveLength(1)
      expect(await store.countRemovable('docs', 'c2', false)).toEqual({ removable: 1, pages: 2 })
      expect(await store.removeProven('docs', 'c2', false, 950)).toBe(1)
      expect(await row('/a/b')).toMatchObject({ state: 'skipped', reason: 'duplicate', hasPage: false })
      expect(await searchHits(store, { query: 'own', limit: 9 })).toEqual([])
      // The row keeps its links.
      expect(await store.readLinks('docs', at('/a/b'))).toEqual(record('/a/b', 'same').links)
    })

    test('gives no validators to a row that keeps other content', async () => {
      await index('/a', 'same')
      await index('/a/b', 'own', { etag: '"own"' })
      await index('/a/b', 'same', { crawlId: 'c2', etag: '"same"' })
      await offer([foundAddress('/a/b')], 'c3')
      const again = await leaseOne('/a/b')
      expect(again).toMatchObject({ hasPage: true, contentHash: sha('own'), etag: null, lastModified: null })
      await settle(again, { state: 'indexed', record: record('/a/b', 'own'), crawlId: 'c3' })
      expect(await row('/a/b')).toMatchObject({ state: 'indexed', reason: null, hasPage: true })
      expect(await store.countRemovable('docs', 'c3', false)).toEqual({ removable: 0, pages: 2 })
    })

    test('makes a row with other content pending, with its page, when the better copy is gone', async () => {
      await index('/a', 'same')
      await index('/a/b', 'own')
      await index('/a/b', 'same', { crawlId: 'c2' })
      await visit('/a', { state: 'failed', reason: 'removed', isProvenGone: true }, 'c2')
      expect(await store.requeueOrphanedAliases('docs', 'c2', 900)).toMatchObject({ requeued: 1 })
      expect(await store.removeProven('docs', 'c2', false, 900)).toBe(1)
      expect(await leaseOne('/a/b')).toMatchObject({ isFinal: true, hasPage: true })
    })

    test('is stored separately in another source', async () => {
      await index('/a', 'same')
      await store.addSource(source('two'))
      await store.offer('two', 'c9', [foundAddress('/a/b')], 1)
      const [other] = await lease({ sourceId: 'two' })
      if (other === undefined) throw new Error('nothing was leased')
      expect(await settle(other, { state: 'indexed', record: record('/a/b', 'same') })).toMatchObject({
        state: 'indexed',
      })
    })
  })

  describe('an adoption', () => {
    const adopt = (path: string, text: string, more: { crawlId?: string; now?: number; links?: string[] } = {}) => {
      const { crawlId = 'c1', now = 400, links = [] } = more
      const found = foundAddress(path, { discovery: 'llms-full', foundOn: at('/llms-full.txt') })
      const finds = [foundAddress('/found')]
      return store.adopt({ sourceId: 'docs', crawlId, now, find: found, record: record(path, text, { links }), finds })
    }

    test('stores a page without a visit', async () => {
      expect(await adopt('/a', 'one')).toEqual({
        type: 'settled',
        state: 'indexed',
        reason: null,
        target: null,
        demoted: null,
        hasPage: true,
        finds: ['admitted'],
      })
      expect(await row('/a')).toMatchObject({
        state: 'indexed',
        discovery: 'llms-full',
        foundOn: at('/llms-full.txt'),
        firstSeenAt: 400,
        checkedAt: 400,
        changedAt: 400,
        crawlId: 'c1',
        hasPage: true,
        contentHash: sha('one'),
      })
      expect(await row('/found')).toMatchObject({ state: 'pending' })
    })

    test('confirms known content and stores its links', async () => {
      await index('/a', 'one')
      expect(await adopt('/a', 'one', { crawlId: 'c2', now: 900, links: [at('/z')] })).toMatchObject({
        state: 'unchanged',
      })
      expect(await row('/a')).toMatchObject({
        state: 'unchanged',
        changedAt: 300,
        checkedAt: 900,
        crawlId: 'c2',
        discovery: 'llms-full',
        foundOn: at('/llms-full.txt'),
      })
      expect(await store.readLinks('docs', at('/a'))).toEqual([at('/z')])
    })

    test('replaces other content', async () => {
      await index('/a', 'one', { isShell: true })
      expect(await adopt('/a', 'two', { now: 900 })).toMatchObject({ state: 'indexed' })
      expect(await row('/a')).toMatchObject({ changedAt: 900, contentHash: sha('two'), isShell: false })
    })

    test('stores content once', async () => {
      await index('/a', 'same')
      expect(await adopt('/a/b', 'same')).toMatchObject({ state: 'skipped', reason: 'duplicate', target: at('/a') })
      await adopt('/x/y', 'other')
      expect(await adopt('/x', 'other')).toMatchObject({ state: 'indexed' })
      expect(await row('/x/y')).toMatchObject({ state: 'skipped', reason: 'duplicate', target: at('/x') })
    })

    test('stores no page that needs a new row beyond the row limit', async () => {
      await index('/a', 'one')
      const adoptUpTo = (maxRows: number, path: string, text: string) =>
        store.adopt({
          sourceId: 'docs',
          crawlId: 'c2',
          now: 400,
          find: foundAddress(path),
          record: record(path, text),
          finds: [foundAddress('/a'), foundAddress('/found')],
          maxRows,
        })
      expect(await adoptUpTo(1, '/b', 'two')).toEqual({
        type: 'settled',
        state: 'skipped',
        reason: 'overflow',
        target: null,
        finds: ['admitted', 'overflow'],
      })
      expect(await row('/b')).toBeUndefined()
      expect(await store.countContent('docs')).toEqual({ pages: 1, chunks: 1 })
      expect(await adoptUpTo(1, '/a', 'three')).toMatchObject({ state: 'indexed', finds: ['known', 'overflow'] })
      expect(await adoptUpTo(2, '/b', 'two')).toMatchObject({ state: 'indexed', finds: ['known', 'overflow'] })
      expect(await store.countLedger('docs')).toMatchObject({ total: 2 })
    })

    test('invalidates the lease of a process that fetches the page', async () => {
      await offer([foundAddress('/a')])
      const first = await leaseOne('/a')
      await adopt('/a', 'one')
      expect(await settle(first, { state: 'failed', reason: 'timeout' })).toMatchObject({
        type: 'lost',
        state: 'indexed',
      })
      expect(await store.countOpen('docs', 500)).toMatchObject({ leased: 0 })
    })
  })

  describe('bulk changes', () => {
    test('skipping removes pending rows from the frontier, and keeps pages', async () => {
      await index('/page', 'one')
      await offer([foundAddress('/a'), foundAddress('/leased', { depth: 0 })])
      await lease({ limit: 1 })
      await offer([foundAddress('/page')], 'c2')
      expect(await store.skipPending('docs', 'page-cap', '2', 500)).toBe(2)
      expect(await row('/a')).toMatchObject({ state: 'skipped', reason: 'page-cap', pattern: '2', hasPage: false })
      expect(await row('/page')).toMatchObject({ state: 'unchanged', reason: null, pattern: null, hasPage: true })
      expect(await row('/page')).toMatchObject({ checkedAt: 300 })
      expect(await row('/leased')).toMatchObject({ state: 'leased' })
      expect(await store.countOpen('docs', 500)).toMatchObject({ pending: 0, leased: 1 })
    })

    test('skipping the finds of a list leaves its pages, other lists and links pending', async () => {
      const list = 'https://docs.test/sitemap.xml'
      const listed = { discovery: 'sitemap', foundOn: list } as const
      await index('/page', 'one')
      await offer([
        foundAddress('/a', listed),
        foundAddress('/link', { foundOn: list }),
        foundAddress('/other', { ...listed, foundOn: '/b.xml' }),
      ])
      await offer([foundAddress('/page', listed)], 'c2')
      const [first] = await lease({ limit: 1 })
      expect(first).toMatchObject({ foundOn: expect.any(String) })
      await store.release(first === undefined ? [] : [first])
      await offer([foundAddress('/spared', { ...listed, host: 'other.test' })])
      const rows = { list, exceptHosts: ['other.test', 'third.test'] }
      expect(await store.skipPending('docs', 'stale-list', list, 500, undefined, rows)).toBe(1)
      expect(await row('/a')).toMatchObject({ state: 'skipped', reason: 'stale-list', pattern: list })
      for (const path of ['/page', '/link', '/other', '/spared'])
        expect(await row(path)).toMatchObject({ state: 'pending' })
      // A later find admits the address again.
      expect(await offer([foundAddress('/a', listed)])).toEqual(['admitted'])
    })

    test('parking a host fails its pending rows, and keeps pages', async () => {
      await index('/page', 'one')
      await offer([foundAddress('/page')], 'c2')
      await offer([foundAddress('/leased', { depth: 0 })])
      await lease({ limit: 1 })
      await visit('/due', { state: 'pending', reason: 'timeout', dueAt: 900 })
      await visit('/gone', { state: 'pending', reason: 'not-found', awaitsConfirmation: true })
      await offer([foundAddress('/other', { host: 'other.test' })])
      const before = await row('/due')
      expect(await store.failPending('docs', 'c2', 'docs.test', 'host-parked', 'Retry-After 900')).toBe(3)
      const failed = { state: 'failed', reason: 'host-parked', pattern: 'Retry-After 900', target: null, dueAt: null }
      expect(await row('/page')).toMatchObject({ ...failed, hasPage: true })
      expect(await row('/due')).toMatchObject({ ...failed, attempts: before?.attempts })
      expect(await row('/gone')).toMatchObject(failed)
      expect(await row('/leased')).toMatchObject({ state: 'leased' })
      expect(await row('/other')).toMatchObject({ state: 'pending' })
      expect(await store.countOpen('docs', 900)).toEqual({
        pending: 1,
        leased: 1,
        nextAt: 900,
      })
      expect(await store.failPending('docs', 'c2', 'docs.test', 'host-parked', null)).toBe(0)
      // A crawl that retries requests these addresses again.
      expect(await store.requeue('docs', 'c3', 'failed', 1000)).toBe(3)
      expect(await leaseOne('/gone', { now: 1000 })).toMatchObject({ isConfirmation: false })
    })

    test('a crawl that has ended cannot park a host', async () => {
      await store.beginCrawl(crawl('c1', 100), 1000)
      await offer([foundAddress('/a')])
      await store.endCrawl('c1', null, 200)
      expect(await store.failPending('docs', 'c1', 'docs.test', 'host-parked', null)).toBe(0)
      expect(await row('/a')).toMatchObject({ state: 'pending' })
    })

    test('requeueing selects pages or failures', async () => {
      await index('/page', 'one')
      await visit('/failed', { state: 'failed', reason: 'timeout' })
      await visit('/skipped', { state: 'skipped', reason: 'noindex' })
      expect(await store.requeue('docs', 'c2', 'failed', 500)).toBe(1)
      expect(await row('/failed')).toMatchObject({ state: 'pending', crawlId: 'c2', attempts: 0, dueAt: null })
      expect(await store.requeue('docs', 'c2', 'pages', 500)).toBe(1)
      expect(await row('/page')).toMatchObject({ state: 'pending', crawlId: 'c2', hasPage: true })
      expect(await store.requeue('docs', 'c2', 'pages', 500)).toBe(0)
      expect(await row('/skipped')).toMatchObject({ state: 'skipped', reason: 'noindex' })
    })

    test('requeueing selects unseen pages up to a depth', async () => {
      await index('/page', 'one')
      await offer([foundAddress('/deep', { depth: 2 }), foundAddress('/listed', { depth: 0, discovery: 'sitemap' })])
      for (const path of ['/deep', '/listed'])
        await settle(await leaseOne(path), { state: 'indexed', record: record(path, path) })
      await visit('/hub', { state: 'skipped', reason: 'noindex', status: 200 })
      await visit('/failed', { state: 'failed', reason: 'not-found', status: 404 })
      expect(await store.requeue('docs', 'c1', 'unlinked', 500)).toBe(0)
      expect(await store.requeue('docs', 'c2', 'unlinked', 500, 1)).toBe(2)
      for (const path of ['/page', '/listed'])
        expect(await row(path)).toMatchObject({ state: 'pending', crawlId: 'c2', hasPage: true })
      expect(await row('/deep')).toMatchObject({ state: 'indexed', crawlId: 'c1' })
      expect(await store.requeue('docs', 'c2', 'unlinked', 500)).toBe(1)
      expect(await store.requeue('docs', 'c2', 'unlinked', 500)).toBe(0)
    })

    test('orphaned duplicates are fetched for themselves, once per crawl', async () => {
      await index('/a', 'same')
      await index('/a/b', 'same', { etag: '"1"' })
      expect(await store.requeueOrphanedAliases('docs', 'c1', 500)).toMatchObject({ requeued: 0 })
      await index('/a', 'changed', { crawlId: 'c2' })
      expect(await store.requeueOrphanedAliases('docs', 'c2', 500)).toEqual({ requeued: 1, settled: 0 })
      const orphan = await leaseOne('/a/b')
      expect(orphan).toMatchObject({ isFinal: true, etag: null, lastModified: null })
      await settle(orphan, { state: 'skipped', reason: 'duplicate', target: at('/nowhere'), crawlId: 'c2' })
      expect(await store.requeueOrphanedAliases('docs', 'c2', 500)).toMatchObject({ requeued: 0 })
      expect(await store.requeueOrphanedAliases('docs', 'c3', 500)).toMatchObject({ requeued: 1 })
    })

    test('duplicates take over the content of a page that is about to be removed', async () => {
      await index('/a', 'same')
      await index('/a/b', 'same')
      await visit('/a', { state: 'failed', reason: 'removed', isProvenGone: true }, 'c2')
      await visit('/a/b', { state: 'unchanged' }, 'c2')
      // No page holds the content any more, so the address is requested for itself.
      const waiting = await leaseOne('/a/b')
      expect(waiting).toMatchObject({ isFinal: true })
      await settle(waiting, { state: 'indexed', record: record('/a/b', 'same'), crawlId: 'c2' })
      expect(await row('/a/b')).toMatchObject({ state: 'indexed', target: null, hasPage: true })
      expect(await store.removeProven('docs', 'c2', false, 500)).toBe(1)
      expect(await row('/a')).toMatchObject({ state: 'gone', reason: 'removed', hasPage: false })
    })

    test('a page that was presumed gone and answers takes its content back', async () => {
      await index('/a', 'same')
      await visit('/a', { state: 'failed', reason: 'removed', isProvenGone: true }, 'c2')
      await visit('/a/b', { state: 'indexed', record: record('/a/b', 'same') }, 'c2')
      expect(await row('/a/b')).toMatchObject({ state: 'indexed' })
      await visit('/a', { state: 'unchanged' }, 'c3')
      expect(await row('/a')).toMatchObject({ state: 'unchanged', hasPage: true })
      expect(await row('/a/b')).toMatchObject({
        state: 'skipped',
        reason: 'duplicate',
        target: at('/a'),
        hasPage: false,
      })
      expect(await searchHits(store, { query: 'same', limit: 9 })).toHaveLength(1)
    })

    test('duplicates follow their content to a third address without a request', async () => {
      await index('/a/b/c', 'same')
      await index('/a/b', 'same')
      await index('/a', 'same')
      expect(await row('/a/b/c')).toMatchObject({ reason: 'duplicate', target: at('/a/b') })
      expect(await store.requeueOrphanedAliases('docs', 'c1', 500)).toMatchObject({ requeued: 0 })
      expect(await row('/a/b/c')).toMatchObject({ state: 'skipped', reason: 'duplicate', target: at('/a') })
    })

    test('a duplicate whose content moved to a worse address is fetched again and takes the content over', async () => {
      await index('/a', 'same')
      await index('/a/b', 'same', { etag: '"1"' })
      await visit('/a', { state: 'failed', reason: 'removed', isProvenGone: true }, 'c2')
      await visit('/a/b/c', { state: 'indexed', record: record('/a/b/c', 'same') }, 'c2')
      await store.requeueOrphanedAliases('docs', 'c2', 500)
      expect(await row('/a/b')).toMatchObject({ reason: 'duplicate', target: at('/a/b/c') })
      expect(await store.removeProven('docs', 'c2', false, 500)).toBe(1)
      await visit('/a/b', { state: 'unchanged' }, 'c3')
      const again = await leaseOne('/a/b')
      expect(again).toMatchObject({ isFinal: false, etag: null })
      await settle(again, { state: 'indexed', record: record('/a/b', 'same'), crawlId: 'c3' })
      expect(await row('/a/b')).toMatchObject({ state: 'indexed', hasPage: true })
      expect(await row('/a/b/c')).toMatchObject({ state: 'skipped', reason: 'duplicate', target: at('/a/b') })
    })

    test('a canonical alias stays a duplicate of its target, even if the target is a worse address', async () => {
      await index('/long/way', 'same')
      const alias = { reason: 'canonical', target: at('/long/way'), contentHash: sha('same'), etag: '"1"' } as const
      await visit('/short', { state: 'skipped', ...alias })
      await visit('/short', { state: 'unchanged' }, 'c2')
      expect(await row('/short')).toMatchObject({ state: 'skipped', reason: 'duplicate', target: at('/long/way') })
      await visit('/short', { state: 'unchanged' }, 'c3')
      // The page must declare its canonical address again.
      expect(await leaseOne('/short')).toMatchObject({ isFinal: false, etag: null })
      expect(await row('/long/way')).toMatchObject({ hasPage: true })
    })

    test('a row stays final through retries, until it is settled', async () => {
      await visit('/a', { state: 'unchanged' })
      await settle(await leaseOne('/a'), { state: 'pending', reason: 'timeout' })
      const again = await leaseOne('/a')
      expect(again).toMatchObject({ isFinal: true })
      await settle(again, { state: 'indexed', record: record('/a', 'one') })
      await offer([foundAddress('/a')], 'c2')
      expect(await leaseOne('/a')).toMatchObject({ isFinal: false })
    })

    test('a canonical alias is orphaned if neither its target nor the target of that row holds content', async () => {
      const canonical = (path: string, target: string) =>
        visit(path, { state: 'skipped', reason: 'canonical', target: at(target) })
      await index('/held', 'one')
      await canonical('/1', '/held')
      await canonical('/2', '/1')
      await canonical('/3', '/2')
      await canonical('/4', '/nothing')
      await visit('/failed', { state: 'failed', reason: 'timeout' })
      await canonical('/5', '/failed')
      await visit('/6', { state: 'skipped', reason: 'redirect', target: at('/nothing') })
      expect(await store.requeueOrphanedAliases('docs', 'c1', 500)).toMatchObject({ requeued: 3 })
      const waiting = await store.listRows('docs', { state: 'pending', limit: 10 })
      expect(waiting.map(({ key }) => key)).toEqual([at('/3'), at('/4'), at('/5')])
    })
  })

  describe('removal', () => {
    const isProvenGone = true

    test('takes the pages that this crawl proved gone', async () => {
      await index('/a', 'one')
      await index('/b', 'two')
      await visit('/a', { state: 'failed', reason: 'not-found', status: 404, isProvenGone }, 'c2')
      expect(await store.countRemovable('docs', 'c2', false)).toEqual({ removable: 1, pages: 2 })
      expect(await store.countRemovable('docs', 'c3', false)).toEqual({ removable: 0, pages: 2 })
      expect(await row('/a')).toMatchObject({ hasPage: true })
      expect(await store.removeProven('docs', 'c2', false, 900)).toBe(1)
      expect(await row('/a')).toMatchObject({ state: 'gone', reason: 'not-found', hasPage: false })
      expect(await store.readPage('docs', at('/a'))).toBeUndefined()
      expect(await searchHits(store, { query: 'one', limit: 9 })).toEqual([])
      expect(await store.countContent('docs')).toEqual({ pages: 1, chunks: 1 })
      expect(await store.removeProven('docs', 'c2', false, 900)).toBe(0)
    })

    test('keeps a page if a later response does not prove it gone', async () => {
      await index('/a', 'one')
      await visit('/a', { state: 'failed', reason: 'not-found', isProvenGone }, 'c2')
      await visit('/a', { state: 'failed', reason: 'timeout' }, 'c3')
      expect(await store.countRemovable('docs', 'c2', false)).toMatchObject({ removable: 0 })
    })

    test.each(['redirect', 'canonical'] as const)('waits for the target of a %s', async (reason) => {
      await index('/old', 'one')
      await visit('/old', { state: 'skipped', reason, target: at('/new'), isProvenGone }, 'c2')
      expect(await store.countRemovable('docs', 'c2', false)).toEqual({ removable: 0, pages: 1 })
      expect(await store.removeProven('docs', 'c2', false, 900)).toBe(0)
      await index('/new', 'two', { crawlId: 'c2' })
      expect(await store.removeProven('docs', 'c2', false, 900)).toBe(1)
      expect(await row('/old')).toMatchObject({ state: 'skipped', reason, target: at('/new'), hasPage: false })
    })

    test('takes pages that a complete crawl did not see, on request', async () => {
      await index('/seen', 'one')
      await index('/unseen', 'two')
      await visit('/failed', { state: 'failed', reason: 'timeout' })
      await visit('/failed-now', { state: 'failed', reason: 'timeout' }, 'c2')
      await visit('/seen', { state: 'unchanged' }, 'c2')
      expect(await store.countRemovable('docs', 'c2', false)).toEqual({ removable: 0, pages: 2 })
      expect(await store.countRemovable('docs', 'c2', true)).toEqual({ removable: 1, pages: 2 })
      expect(await store.removeProven('docs', 'c2', true, 900)).toBe(1)
      expect(await row('/unseen')).toMatchObject({ state: 'gone', reason: 'unlinked', hasPage: false })
      expect(await row('/failed')).toMatchObject({ state: 'gone', reason: 'unlinked' })
      expect(await row('/failed-now')).toMatchObject({ state: 'failed', reason: 'timeout' })
      expect(await row('/seen')).toMatchObject({ state: 'unchanged', hasPage: true })
    })

    test('is undone by a find', async () => {
      await index('/a', 'one', { etag: '"1"' })
      await store.removeProven('docs', 'c2', true, 900)
      expect(await offer([foundAddress('/a')], 'c3')).toEqual(['admitted'])
      const again = await leaseOne('/a')
      expect(again).toMatchObject({ hasPage: false, etag: null, contentHash: null })
      expect(await settle(again, { state: 'indexed', record: record('/a', 'one'), crawlId: 'c3' })).toMatchObject({
        state: 'indexed',
      })
    })
  })

  describe('the ledger', () => {
    test('is counted by state and by reason', async () => {
      expect(await store.countLedger('docs')).toEqual({ total: 0, states: states(), reasons: {} })
      await index('/a', 'one')
      await visit('/b', { state: 'failed', reason: 'timeout' })
      await visit('/c', { state: 'skipped', reason: 'noindex' })
      await visit('/d', { state: 'skipped', reason: 'noindex' })
      await offer([foundAddress('/e'), foundAddress('/f', { depth: 0 })])
      await lease({ limit: 1 })
      expect(await store.countLedger('docs')).toEqual({
        total: 6,
        states: states({ indexed: 1, failed: 1, skipped: 2, pending: 1, leased: 1 }),
        reasons: { 'failed/timeout': 1, 'skipped/noindex': 2 },
      })
      await store.requeue('docs', 'c2', 'failed', 1)
      await store.removeProven('docs', 'c2', true, 1)
      expect(await store.countLedger('docs')).toEqual({
        total: 6,
        states: states({ gone: 1, skipped: 2, pending: 2, leased: 1 }),
        reasons: { 'gone/unlinked': 1, 'skipped/noindex': 2 },
      })
    })

    test('counts the addresses that a crawl has settled', async () => {
      await index('/a', 'one')
      await index('/b', 'two')
      await visit('/b', { state: 'unchanged' }, 'c2')
      await index('/b/c', 'two', { crawlId: 'c2' })
      await visit('/d', { state: 'failed', reason: 'timeout' }, 'c2')
      await index('/e', 'five', { crawlId: 'c2' })
      const counts = await Promise.all(['c1', 'c2', 'c3'].map((id) => store.countSettled('docs', id)))
      expect(counts).toEqual([
        { indexed: 1, unchanged: 0, failed: 0 },
        { indexed: 1, unchanged: 1, failed: 1 },
        { indexed: 0, unchanged: 0, failed: 0 },
      ])
    })

    test('is listed by state and reason, in the order of keys, page by page', async () => {
      await offer(['/b', '/z', '/a', '/\u{ff01}', '/\u{1f600}'].map((path) => foundAddress(path)))
      await visit('/c', { state: 'skipped', reason: 'noindex' })
      await visit('/d', { state: 'skipped', reason: 'empty' })
      const list = async (filter: {
        state?: 'pending' | 'skipped'
        reason?: Reason
        after?: string
        before?: string
        limit?: number
      }) => (await store.listRows('docs', { limit: 100, ...filter })).map(({ key }) => key)
      const waiting = ['/a', '/b', '/z', '/\u{ff01}', '/\u{1f600}'].map(at)
      expect(await list({ state: 'pending' })).toEqual(waiting)
      expect(await list({ state: 'pending', limit: 2, after: at('/a') })).toEqual(waiting.slice(1, 3))
      expect(await list({ state: 'pending', after: at('/a'), before: at('/\u{ff01}') })).toEqual(waiting.slice(1, 3))
      expect(await list({ after: at('/b'), before: at('/z') })).toEqual([at('/c'), at('/d')])
      expect(await list({ state: 'skipped', reason: 'noindex', before: at('/c') })).toEqual([])
      expect(await list({ reason: 'noindex' })).toEqual([at('/c')])
      expect(await list({ state: 'pending', reason: 'noindex' })).toEqual([])
      expect(await list({})).toHaveLength(7)
      expect((await store.listRows('docs', { limit: 1 }))[0]).toEqual(await row('/a'))
    })

    test('stores one alias per pair of addresses, with the latest facts', async () => {
      await visit('/a', { state: 'skipped', reason: 'redirect', aliases: [alias('/a', '/b'), alias('/a', '/c')] })
      const later = { ...alias('/a', '/b'), classification: 'canonical', reason: 'rel' } as const
      await visit('/a', { state: 'skipped', reason: 'canonical', aliases: [later] }, 'c2')
      const sort = (found: readonly { aliasUrl: string }[]) =>
        [...found].sort((a, b) => (a.aliasUrl < b.aliasUrl ? -1 : 1))
      expect(sort(await store.listAliases('docs', at('/a')))).toEqual([later, alias('/a', '/c')])
      expect(await store.listAliases('docs', at('/c'))).toEqual([alias('/a', '/c')])
      expect(await store.listAliases('docs', at('/none'))).toEqual([])
    })

    test('gives the state of the targets of aliases after they were checked', async () => {
      const learned = ['page', 'lost', 'away', 'odd', 'wait', 'shut'].map((name) => stripped(`/${name}`))
      await offer([foundAddress('/wait'), foundAddress('/shut', { refusal: BLOCKED })])
      await store.offer('docs', 'c1', [], 100, [...learned, stripped('/never'), stripped('/page', '?key=2')])
      const classified = { ...record('/page', 'words'), classification: classificationOf('article') }
      await visit('/page', { state: 'indexed', record: classified, status: 200 })
      await visit('/lost', { state: 'failed', reason: 'not-found', status: 404 })
      await visit('/away', { state: 'skipped', reason: 'redirect', status: 301, target: at('/page') })
      await visit('/odd', { state: 'failed', reason: 'http-server-error', status: 500 })
      expect(await store.listAliases('docs', at('/page'))).toEqual([stripped('/page', '?key=2'), stripped('/page')])
      const before = await store.listAliases('docs', at('/page'))
      expect(before.map((alias) => 'exists' in alias)).toEqual([false, false])

      expect(await store.checkAliases('docs', 900)).toBe(8)
      const aliasTo = async (path: string) => (await store.listAliases('docs', at(path)))[0]
      const facts = { state: null, reason: null, status: null, kind: null }
      const checkedAlias = (path: string, exists: boolean | null, metadata: object) => ({
        ...stripped(path),
        exists,
        checkedAt: 900,
        metadata: { ...facts, ...metadata },
      })
      const page = { state: 'indexed', status: 200, kind: 'article', title: 'Title of /page' }
      expect((await store.listAliases('docs', at('/page'))).map(({ exists }) => exists)).toEqual([true, true])
      expect(await store.listAliases('docs', at('/page?s=1'))).toEqual([checkedAlias('/page', true, page)])
      const lost = { state: 'failed', reason: 'not-found', status: 404 }
      expect(await aliasTo('/lost')).toEqual(checkedAlias('/lost', false, lost))
      const away = { state: 'skipped', reason: 'redirect', status: 301 }
      expect(await aliasTo('/away')).toEqual(checkedAlias('/away', true, away))
      const odd = { state: 'failed', reason: 'http-server-error', status: 500 }
      expect(await aliasTo('/odd')).toEqual(checkedAlias('/odd', null, odd))
      expect(await aliasTo('/wait')).toEqual(checkedAlias('/wait', null, { state: 'pending' }))
      expect(await aliasTo('/shut')).toEqual(checkedAlias('/shut', null, { state: 'skipped', reason: 'blocked' }))
      expect(await aliasTo('/never')).toEqual(checkedAlias('/never', null, {}))

      // Another report of the same alias keeps the result, and the next check finds the new state.
      await visit('/wait', { state: 'failed', reason: 'removed', status: 410, aliases: [stripped('/wait')] }, 'c2')
      expect(await aliasTo('/wait')).toEqual(checkedAlias('/wait', null, { state: 'pending' }))
      await store.checkAliases('docs', 950)
      expect(await aliasTo('/wait')).toMatchObject({ exists: false, checkedAt: 950, metadata: { status: 410 } })
      expect(await store.checkAliases('nobody', 1)).toBe(0)
    })

    test('checks all aliases, however many there are', async () => {
      const paths = Array.from({ length: 1203 }, (_, i) => `/${i}`)
      await offer(paths.map((path) => foundAddress(path)))
      await store.offer(
        'docs',
        'c1',
        [],
        100,
        paths.map((path) => stripped(path)),
      )
      expect(await store.checkAliases('docs', 900)).toBe(1203)
      for (const path of ['/0', '/500', '/999', '/1202']) {
        expect(await store.listAliases('docs', at(path))).toMatchObject([{ metadata: { state: 'pending' } }])
      }
    })
  })

  test('lists with pages are stored by address, and their pages confirmed together', async () => {
    const url = at('/llms-full.txt')
    const list = {
      url,
      etag: '"1"',
      lastModified: null,
      contentHash: 'c',
      contextHash: 'x',
      pages: 2,
      named: [at('/n')],
    }
    expect(await store.readList('docs', url)).toBeUndefined()
    await store.writeList('docs', 'c1', list)
    await store.writeList('docs', 'c1', { ...list, etag: null })
    expect(await store.readList('docs', url)).toEqual({ ...list, etag: null })
    const adopt = (path: string, foundOn: string | null) => {
      const found = foundAddress(path, { discovery: 'llms-full', foundOn, depth: 0 })
      const text = record(path, `text of ${path}`)
      return store.adopt({ sourceId: 'docs', crawlId: 'c1', now: 400, find: found, record: text, finds: [] })
    }
    await adopt('/b', url)
    await adopt('/a', url)
    await adopt('/llms-full.txt', null)
    await adopt('/other', at('/other.txt'))
    await index('/linked', 'linked')
    const pagesOfList = ['/a', '/b', '/llms-full.txt'].map((path) => ({ key: at(path), url: at(path) }))
    expect(await store.listPagesOf('docs', url, url)).toEqual(pagesOfList)
    expect(await store.confirmPagesOf('docs', 'c1', url, url, 500)).toBe(3)
    expect(await row('/a')).toMatchObject({ state: 'indexed', crawlId: 'c1', checkedAt: 500 })
    await offer([foundAddress('/a')], 'c2')
    const oldVisit = await leaseOne('/a')
    expect(await store.confirmPagesOf('docs', 'c2', url, url, 600)).toBe(3)
    expect(await row('/a')).toMatchObject({
      state: 'unchanged',
      crawlId: 'c2',
      checkedAt: 600,
      changedAt: 400,
      depth: 0,
    })
    expect(await row('/other')).toMatchObject({ state: 'indexed', crawlId: 'c1' })
    expect(await settle(oldVisit, { state: 'failed', reason: 'timeout' })).toMatchObject({ type: 'lost' })
    expect(await store.countOpen('docs', 600)).toMatchObject({ pending: 0, leased: 0 })
    await store.removeSource('docs')
    expect(await store.readList('docs', url)).toBeUndefined()
  })

  test('lists are returned if they name addresses with content that a crawl has not seen', async () => {
    const on = (path: string, list: string, discovery: FoundAddress['discovery'] = 'sitemap') =>
      foundAddress(path, { discovery, foundOn: at(list) })
    await offer([
      on('/a', '/b.xml'),
      on('/b', '/b.xml'),
      on('/c', '/a.xml'),
      on('/d', '/c.xml'),
      on('/e', '/l', 'llms-txt'),
    ])
    for (const path of ['/a', '/b', '/e']) {
      await settle(await leaseOne(path), { state: 'indexed', record: record(path, `text of ${path}`) })
    }
    await settle(await leaseOne('/c'), { state: 'skipped', reason: 'redirect', target: at('/z') })
    await settle(await leaseOne('/d'), { state: 'failed', reason: 'not-found' })
    const unseen = (crawlId: string) => store.listUnseenLists('docs', crawlId, 'sitemap')
    expect(await unseen('c1')).toEqual([])
    expect(await unseen('c2')).toEqual([at('/a.xml'), at('/b.xml')])
    expect(await store.listUnseenLists('docs', 'c2', 'llms-txt')).toEqual([at('/l')])
    await offer([on('/a', '/b.xml'), on('/c', '/a.xml')], 'c2')
    expect(await unseen('c2')).toEqual([at('/b.xml')])
    await offer([on('/b', '/b.xml')], 'c2')
    expect(await unseen('c2')).toEqual([])
    expect(await store.listUnseenLists('none', 'c2', 'sitemap')).toEqual([])
  })

  test('hosts have a clock that all sources share', async () => {
    expect(await reserveSlot(store, 'a.test', 100)).toBe(100)
    expect(await reserveSlot(store, 'a.test', 100)).toBe(100)
    await setPause(store, 'a.test', 50, 100)
    expect(await reserveSlot(store, 'a.test', 100)).toBe(100)
    expect(await reserveSlot(store, 'a.test', 100)).toBe(150)
    await setPause(store, 'a.test', 12.5, 200)
    expect(await reserveSlot(store, 'a.test', 100)).toBe(200)
    expect(await reserveSlot(store, 'a.test', 100)).toBe(212.5)
    expect(await reserveSlot(store, 'b.test', 100)).toBe(100)
  })

  test('a host is free sooner when its interval shrinks, and one whose clock is hours ahead is free at once', async () => {
    await setPause(store, 'a.test', 60_000, 0)
    await reserveSlot(store, 'a.test', 0)
    await setPause(store, 'a.test', 200, 1000)
    expect(await reserveSlot(store, 'a.test', 1000)).toBe(1200)
    await setPause(store, 'a.test', 1e11, 0)
    await reserveSlot(store, 'a.test', 2000)
    expect(await reserveSlot(store, 'a.test', 2000)).toBe(2000)
    await offer([foundAddress('/a', { host: 'a.test' })])
    expect(await store.countOpen('docs', 3000)).toMatchObject({ nextAt: 3000 })
    expect(await lease({ now: 3000, horizon: 4000 })).toMatchObject([{ notBefore: 3000 }])
  })

  test('the clock of a host is stored and returned as it was changed', async () => {
    const free = { nextAt: 0, intervalMs: 0, floorMs: -1, heldUntil: 0, slowedAt: 0, strikes: 0 }
    expect(await store.readClock('a.test', 100)).toEqual(free)
    const clock = { nextAt: 1.25, intervalMs: 262.144, floorMs: 200, heldUntil: 9000.5, slowedAt: 90, strikes: 2 }
    const seen: unknown[] = []
    const changed = await store.changeClock('a.test', 100, (known) => {
      seen.push(known)
      return clock
    })
    expect(changed).toEqual(clock)
    expect(seen).toContainEqual(free)
    expect(await store.readClock('a.test', 100)).toEqual(clock)
    expect(await store.readClock('b.test', 100)).toEqual(free)
    const later = await store.changeClock('a.test', 100, (known) => ({ ...known, strikes: known.strikes + 1 }))
    expect(later).toEqual({ ...clock, strikes: 3 })
    await expect(
      store.changeClock('a.test', 100, () => {
        throw new Error('no')
      }),
    ).rejects.toThrow('no')
    expect(await store.readClock('a.test', 100)).toEqual(later)
  })

  test('concurrent changes to a clock are all applied, and no two get the same slot', async () => {
    await setPause(store, 'a.test', 100, 0)
    const slots = await Promise.all(Array.from({ length: 50 }, () => reserveSlot(store, 'a.test', 1000)))
    expect([...slots].sort((a, b) => a - b)).toEqual(slots.map((_, i) => 1000 + i * 100))
  })

  test('robots.txt files are kept by origin', async () => {
    const rules = { origin: 'https://a.test', fetchedAt: 1, type: 'rules', body: 'User-agent: *', status: 200 } as const
    const none = { ...rules, fetchedAt: 2, type: 'none', body: '', status: null } as const
    expect(await store.readRobots('https://a.test')).toBeUndefined()
    await store.writeRobots(rules)
    expect(await store.readRobots('https://a.test')).toEqual(rules)
    await store.writeRobots(none)
    expect(await store.readRobots('https://a.test')).toEqual(none)
  })

  describe('content', () => {
    test('is listed in the order of keys, while it changes', async () => {
      const paths = Array.from({ length: 70 }, (_, i) => `/p${String(i).padStart(2, '0')}`)
      await offer([...paths].reverse().map((path) => foundAddress(path)))
      for (const leased of await lease()) {
        await settle(leased, { state: 'indexed', record: record(leased.key.slice(17), `text of ${leased.key}`) })
      }
      const seen: string[] = []
      for await (const { key, page, sourceId } of store.listPages('docs')) {
        if (seen.length === 0) await offer([foundAddress('/later')], 'c2')
        seen.push(key)
        expect([sourceId, page.markdown]).toEqual(['docs', `text of ${key}`])
      }
      expect(seen).toEqual(paths.map(at))
    })

    test('is read by chunk id or by a unique prefix of it', async () => {
      const id = (tail: string) => `${'0123456789ab'}${tail.padEnd(52, '0')}`
      const [first, second, third] = [id('c1'), id('c2'), `f${id('c3').slice(1)}`]
      const base = record('/a', 'x')
      const chunks = [first, second, third].map((chunkId, i) => ({ ...chunk('/a', `text ${i}`, i), ...idOf(chunkId) }))
      await visit('/a', { state: 'indexed', record: { ...base, chunks } })
      const read = async (chunkId: string) => (await store.readChunk('docs', chunkId))?.chunk.content
      expect(await store.readChunk('docs', third)).toEqual({
        sourceId: 'docs',
        url: at('/a'),
        title: 'Title of /a',
        chunk: chunks[2],
      })
      expect(await read(first)).toBe('text 0')
      expect(await read(third.slice(0, 12))).toBe('text 2')
      expect(await read(third.slice(0, 13))).toBe('text 2')
      expect(await read(first.slice(0, 12))).toBeUndefined()
      expect(await read(first.slice(0, 14))).toBe('text 0')
      expect(await read(third.slice(0, 11))).toBeUndefined()
      expect(await read('abcdef012345')).toBeUndefined()
      expect(await store.readChunk('nobody', third)).toBeUndefined()
    })

    test('is counted', async () => {
      expect(await store.stats()).toMatchObject({ sources: 1, pages: 0, chunks: 0, changedAt: null })
      await index('/a', 'one\n---\ntwo', { now: 700 })
      await index('/b', 'three', { now: 600 })
      expect(await store.countContent('docs')).toEqual({ pages: 2, chunks: 3 })
      const stats = await store.stats()
      expect(stats).toMatchObject({ sources: 1, pages: 2, chunks: 3, changedAt: 700 })
      expect(stats.bytes).toBeGreaterThan(0)
      expect(store.location).not.toBe('')
    })
  })

  describe('the text of a page', () => {
    test('has its sections and the positions of its chunks', async () => {
      const base = record('/a', 'one\n---\ntwo')
      const section = { title: 'One', level: 1, anchor: 'one', startLine: 1, endLine: 3, children: [] }
      const links = [{ url: at('/b'), text: 'b', rel: [], isContent: true }]
      const page = { ...base.page, language: 'en', sections: [section], links }
      await visit('/a', { state: 'indexed', record: { ...base, page }, now: 700 })
      const text = await store.readPageText('docs', at('/a'))
      expect(text).toEqual({
        sourceId: 'docs',
        key: at('/a'),
        url: at('/a'),
        title: 'Title of /a',
        language: 'en',
        markdown: 'one\n---\ntwo',
        sections: [section],
        chunks: base.chunks.map(({ id, startLine, endLine, headingPath, symbol }) => {
          return { id, startLine, endLine, headingPath, symbol }
        }),
        checkedAt: 700,
        changedAt: 700,
      })
      expect(text?.chunks).toHaveLength(2)
      expect(await store.readPageText('docs', at('/b'))).toBeUndefined()
      expect(await store.readPageText('nobody', at('/a'))).toBeUndefined()

      const times = { checkedAt: 700, changedAt: 700 }
      const excerpt = await store.readExcerpt('docs', at('/a'), 1)
      expect(excerpt).toMatchObject({ ...times, markdown: text?.markdown, linesBefore: 0, first: 0 })
      expect(excerpt?.spans.map(({ anchor }) => anchor)).toEqual(['one', 'one'])
      expect(await store.readExcerpt('docs', at('/a'), 2)).toBeUndefined()
      expect(await store.readExcerpt('docs', at('/b'), 0)).toBeUndefined()

      expect(await store.findPages('docs', 'TWO')).toEqual([at('/a')])
      expect(await store.findPages('docs', 'three')).toEqual([])
      expect(await store.findPages('nobody', 'two')).toEqual([])
    })

    test('comes with a current page signature as long as the page exists', async () => {
      const base = record('/a', 'one')
      const alternates = [
        { url: at('/a'), language: 'en', type: null },
        { url: at('/de/a'), language: 'de', type: null },
      ]
      const page = { ...base.page, language: 'en', fingerprint: '00ff00ff00ff00ff', alternates }
      await visit('/a', { state: 'indexed', record: { ...base, page } })
      const signature = createPageSignature(page)
      expect(signature).toEqual({ fingerprint: '00ff00ff00ff00ff', language: 'en', family: expect.any(String) })
      const places = ['/nowhere', '/a'].map((path) => ({ sourceId: 'docs', key: at(path) }))
      expect(await store.readPageSignatures(places)).toEqual([undefined, signature])
      expect(await store.readPageSignatures([{ sourceId: 'nobody', key: at('/a') }])).toEqual([undefined])
      expect(await store.readPageSignatures([])).toEqual([])
      const listed = async () => {
        const found: unknown[] = []
        for await (const one of store.listPageSignatures('docs')) found.push(one)
        return found
      }
      expect(await listed()).toEqual([
        { sourceId: 'docs', key: at('/a'), url: at('/a'), title: 'Title of /a', ...signature },
      ])
      const changedPage = { ...page, language: 'fr', alternates: [] }
      await visit('/a', { state: 'unchanged', record: { ...base, page: changedPage }, now: 900 }, 'c2')
      const changedSignature = { ...signature, language: 'fr', family: null }
      expect(await store.readPageSignatures(places)).toEqual([undefined, changedSignature])
      await store.removeSource('docs')
      expect([await store.readPageSignatures(places), await listed()]).toEqual([[undefined, undefined], []])
    })

    test('has an excerpt with its current anchors', async () => {
      const base = record('/a', 'one')
      const section = { title: 'One', level: 1, anchor: 'old', startLine: 1, endLine: 1, children: [] }
      await visit('/a', { state: 'indexed', record: { ...base, page: { ...base.page, sections: [section] } } })
      const moved = { ...base.page, sections: [{ ...section, anchor: 'new' }] }
      await visit('/a', { state: 'unchanged', record: { ...base, page: moved }, now: 900 }, 'c2')
      const excerpt = await store.readExcerpt('docs', at('/a'), 0)
      expect(excerpt?.spans.map(({ anchor }) => anchor)).toEqual(['new'])
    })
  })

  describe('a search', () => {
    const findPaths = async (query: string, sourceIds?: readonly string[]) =>
      (await searchHits(store, { query, limit: 9, ...(sourceIds && { filter: { sourceIds } }) })).map(({ url }) =>
        url.slice(17),
      )

    test('finds chunks by their text, best first', async () => {
      await index('/often', 'parser parser parser')
      await index('/once', `parser ${'padding words here '.repeat(20)}`)
      for (const path of ['/1', '/2', '/3']) await index(path, `something else ${path}`)
      expect(await findPaths('parser')).toEqual(['/often', '/once'])
      const [best, next] = await searchHits(store, { query: 'parser', limit: 9 })
      expect(best?.score).toBeGreaterThan(next?.score ?? Number.POSITIVE_INFINITY)
      expect(best).toMatchObject({
        sourceId: 'docs',
        title: 'Title of /often',
        chunk: chunk('/often', 'parser parser parser', 0),
      })
      expect(await searchHits(store, { query: 'parser', limit: 1 })).toHaveLength(1)
    })

    test('finds titles and headings', async () => {
      const base = record('/a', 'body')
      const headed = { ...chunk('/a', 'body', 0), headingPath: ['Installing', 'Requirements'] }
      await visit('/a', { state: 'indexed', record: { ...base, chunks: [headed] } })
      expect(await findPaths('requirement')).toEqual(['/a'])
      expect(await findPaths('title')).toEqual(['/a'])
    })

    test('finds every form of a word, identifier and script', async () => {
      await index('/forms', 'He connected several databases.')
      await index('/names', 'Call fs.readFileSync or __init__ of utf-8 in C++ v3.11.4')
      await index('/cjk', '東京都の天気')
      await index('/joined', 'می\u200cخواهم σίγμας naïve')
      expect(await findPaths('connecting a database')).toEqual(['/forms'])
      for (const name of ['fs.readFileSync', 'readFileSync', 'c++', 'utf8', '__init__', '3.11']) {
        expect(await findPaths(name), name).toEqual(['/names'])
      }
      for (const name of ['東京', '京', '天気']) expect(await findPaths(name), name).toEqual(['/cjk'])
      for (const name of ['می\u200cخواهم', 'ΣΊΓΜΑΣ', 'naive']) expect(await findPaths(name), name).toEqual(['/joined'])
    })

    test('drops stop words unless there is nothing else', async () => {
      await index('/the', 'the and of')
      await index('/word', 'quicksort')
      expect(await findPaths('the quicksort of')).toEqual(['/word'])
      expect(await findPaths('the and')).toEqual(['/the'])
    })

    test('can be limited to sources', async () => {
      await index('/a', 'shared words')
      await store.addSource(source('two'))
      await store.offer('two', 'c9', [foundAddress('/b')], 1)
      const [other] = await lease({ sourceId: 'two' })
      if (other === undefined) throw new Error('nothing was leased')
      await settle(other, { state: 'indexed', record: record('/b', 'shared words'), crawlId: 'c9' })
      expect(new Set(await findPaths('shared'))).toEqual(new Set(['/a', '/b']))
      expect(await findPaths('shared', ['two'])).toEqual(['/b'])
      expect(await findPaths('shared', ['docs', 'two'])).toHaveLength(2)
      expect(await findPaths('shared', [])).toEqual([])
      expect(await findPaths('shared', ['nobody'])).toEqual([])
    })

    test('explains which terms matched, and the parts of the score', async () => {
      await index('/a', 'He connects databases to the network.')
      await index('/b', 'Nothing of the kind.')
      const [hit, ...others] = await searchHits(store, { query: 'the connection, network', limit: 9, explain: true })
      expect(others).toEqual([])
      expect(hit).toMatchObject({ terms: ['connects', 'network'], explain: { pairs: 0 } })
      const parts = hit?.explain?.parts ?? []
      expect(parts).toMatchObject([
        { word: 'connection', fields: { body: 1 }, terms: ['connects'], documents: 1 },
        { word: 'network', fields: { body: 1 }, terms: ['network'], documents: 1 },
      ])
      expect(hit?.score).toBeCloseTo(
        parts.reduce((sum, { score }) => sum + score, 0),
        12,
      )
      expect((await searchHits(store, { query: 'network', limit: 1 }))[0]).not.toHaveProperty('explain')
    })

    test('adds to the score if words are adjacent', async () => {
      await index('/apart', 'alpha one beta')
      await index('/together', 'alpha beta one')
      const [together, apart] = await searchHits(store, { query: 'alpha beta', limit: 9, explain: true })
      expect(together?.url).toBe(at('/together'))
      const [near = 0, far = 0] = [together, apart].map((hit) => hit?.explain?.pairs)
      expect(near).toBeGreaterThan(far)
      expect((together?.score ?? 0) - (apart?.score ?? 0)).toBeCloseTo(near - far, 12)
    })

    test('scores as if removed content had never existed', async () => {
      const searchScores = async () =>
        (await searchHits(store, { query: 'parser title', limit: 9 })).map(({ url, score }) => [url, score])
      await index('/1', 'parser one')
      await index('/2', `parser ${'two '.repeat(9)}`)
      const before = await searchScores()
      for (let i = 0; i < 20; i++) {
        await index(`/gone${i}`, `parser ${'gone '.repeat(i)}`, { crawlId: 'c2' })
        await searchScores()
      }
      await visit('/1', { state: 'indexed', record: record('/1', 'parser changed'), crawlId: 'c3' })
      await searchScores()
      await visit('/1', { state: 'indexed', record: record('/1', 'parser one'), crawlId: 'c4' })
      await visit('/2', { state: 'unchanged', crawlId: 'c4' })
      await store.removeProven('docs', 'c4', true, 900)
      expect(await searchScores()).toEqual(before)
    })

    test('returns additionally requested chunks after the best ones, with their word scores', async () => {
      await index('/best', 'parser parser parser')
      await index('/next', 'A parser among many other words that say nothing about it at all.')
      await index('/other', 'Something else.')
      const [best, next] = await searchHits(store, { query: 'parser', limit: 9 })
      const [other] = await searchHits(store, { query: 'else', limit: 9 })
      if (best === undefined || next === undefined || other === undefined) throw new Error('a page was not found')
      const refOf = ({ sourceId, chunk }: typeof best) => ({ sourceId, chunkId: chunk.id })
      const gone = { sourceId: 'docs', chunkId: '0'.repeat(64) }
      const also = [refOf(other), gone, refOf(best), refOf(next)]
      const found = await store.search({ query: 'parser', limit: 1, also })
      expect(found.map(({ number, score }) => [number, score])).toEqual([
        [best.number, best.score],
        [other.number, 0],
        [next.number, next.score],
      ])
    })

    describe('with a filter', () => {
      const filtered = async (filter: ChunkFilter, query = 'word') =>
        (await searchHits(store, { query, limit: 99, filter })).map(({ url }) => url.slice(17)).sort(compareUtf8)
      const add = (path: string, change: Partial<Chunk>, page: Partial<Page> = {}) => {
        const base = record(path, `word ${path}`)
        const [first] = base.chunks
        if (first === undefined) throw new Error('there is no chunk')
        return visit(path, {
          state: 'indexed',
          record: { ...base, page: { ...base.page, ...page }, chunks: [{ ...first, ...change }] },
        })
      }

      test('finds only chunks whose page and path match', async () => {
        await add('/guide/a', {}, { language: 'en-GB' })
        await add('/guide/deep/b', {}, { language: 'de' })
        await add('/api/größe', {}, { language: null })
        for (const path of ['/guide', 'guide', '/guide/**', '/gui']) {
          expect(await filtered({ path }), path).toEqual(['/guide/a', '/guide/deep/b'])
        }
        expect(await filtered({ path: '/guide/*' })).toEqual(['/guide/a'])
        expect(await filtered({ path: '/api/größe' })).toHaveLength(1)
        expect(await filtered({ path: '/API' })).toEqual([])
        expect(await filtered({ language: 'en' })).toEqual(['/guide/a'])
        expect(await filtered({ language: 'EN-gb' })).toEqual(['/guide/a'])
        expect(await filtered({ language: 'e' })).toEqual([])
        expect(await filtered({ language: 'de', path: '/guide/*' })).toEqual([])
      })

      test('finds only chunks that match', async () => {
        const code = ['word', '```js', 'one()', 'two()', '```'].join('\n')
        await add('/prose', {
          headingPath: ['Getting started', 'On Linux'],
          content: 'word\n\n`json.dump(obj, fp)`\n\nWrites.',
        })
        await add('/fenced', { headingPath: ['Getting started'], content: code })
        await add('/source', { kind: 'python', headingPath: [], symbol: 'Parser.parse' })
        expect(await filtered({ kind: 'python' })).toEqual(['/source'])
        expect(await filtered({ contentType: 'code' })).toEqual(['/fenced', '/source'])
        expect(await filtered({ contentType: 'prose' })).toEqual(['/prose'])
        expect(await filtered({ heading: 'getting-started' })).toEqual(['/fenced', '/prose'])
        for (const heading of ['getting-started/on-linux', 'On Linux', 'on-linux']) {
          expect(await filtered({ heading }), heading).toEqual(['/prose'])
        }
        for (const heading of ['started', 'get', 'getting']) {
          expect(await filtered({ heading }), heading).toEqual(['/fenced', '/prose'])
        }
        for (const heading of ['started/on', 'linux']) expect(await filtered({ heading }), heading).toEqual(['/prose'])
        for (const heading of ['starting', 'on-linux/getting-started', 'getting-started-on-linux']) {
          expect(await filtered({ heading }), heading).toEqual([])
        }
        for (const symbol of ['json.du', 'dump', 'JSON.dump'])
          expect(await filtered({ symbol }), symbol).toEqual(['/prose'])
        for (const symbol of ['Parser', 'parse', 'Parser.parse']) {
          expect(await filtered({ symbol }), symbol).toEqual(['/source'])
        }
        expect(await filtered({ symbol: 'ump' })).toEqual([])
        expect(await filtered({ contentType: 'code', heading: 'getting-started' })).toEqual(['/fenced'])
        expect(await filtered({ kind: 'markdown', contentType: 'code', symbol: 'x' })).toEqual([])
      })

      test('finds a matching chunk even if all others have a better score', async () => {
        for (let i = 0; i < 30; i++) await index(`/better/${i}`, `word word word w${i}x`)
        await index('/asked/1', `word ${'and so on '.repeat(30)}`)
        expect(
          (await searchHits(store, { query: 'word', limit: 3, filter: { path: '/asked' } })).map(({ url }) => url),
        ).toEqual([at('/asked/1')])
        expect(await searchHits(store, { query: 'word', limit: 3, filter: { path: '/better' } })).toHaveLength(3)
      })
    })

    test.each(['', '   ', '"', '" OR "', 'NEAR(a b)', 'zebra:', '*', '-', '🙂', 'x AND NOT y', "'", '\0', '^x'])(
      'does not interpret %j as query syntax',
      async (query) => {
        await index('/a', 'plain words')
        await expect(searchHits(store, { query, limit: 9 })).resolves.toEqual([])
      },
    )

    test('finds everything once the index has been maintained', async () => {
      const progress = async () => {
        await store.indexMissingChunks()
        return store.readIndexState()
      }
      expect(await progress()).toEqual({ chunks: 0, indexed: 0 })
      await index('/a', 'apples')
      await index('/b', 'apples pears')
      expect(await progress()).toEqual({ chunks: 2, indexed: 2 })
      await index('/b', 'cherries', { crawlId: 'c2' })
      await store.indexMissingChunks(AbortSignal.abort())
      expect(await progress()).toEqual({ chunks: 2, indexed: 2 })
      expect(await findPaths('apples')).toEqual(['/a'])
      await store.removeSource('docs')
      expect(await progress()).toEqual({ chunks: 0, indexed: 0 })
    })

    test('breaks ties by chunk id', async () => {
      for (const path of ['/1', '/2', '/3', '/4']) {
        const base = record(path, `same ${path.slice(1)}`)
        const same = { ...chunk(path, `same ${path.slice(1)}`, 0) }
        await visit(path, { state: 'indexed', record: { ...base, page: { ...base.page, title: 'T' }, chunks: [same] } })
      }
      const ids = (await searchHits(store, { query: 'same', limit: 9 })).map(({ chunk: { id } }) => id)
      expect(ids).toEqual([...ids].sort(compareUtf8))
      expect((await searchHits(store, { query: 'same', limit: 2 })).map(({ chunk: { id } }) => id)).toEqual(
        ids.slice(0, 2),
      )
    })
  })

  describe('a row with possibly unread links', () => {
    const findUnread = async (crawlId = 'c1') =>
      (await store.findUnread('docs', crawlId, ['http-client-error', 'login', 'too-many-links']))?.key

    test('is one that the crawl settled for one of the given reasons and never read', async () => {
      await expect(findUnread()).resolves.toBeUndefined()
      await visit('/b', { state: 'failed', reason: 'http-client-error' })
      await visit('/a', { state: 'skipped', reason: 'login' })
      await visit('/0', { state: 'failed', reason: 'not-found' })
      await offer([foundAddress('/1')])
      await expect(findUnread()).resolves.toBe(at('/a'))
      await expect(findUnread('c2')).resolves.toBeUndefined()
      await expect(store.findUnread('docs', 'c1', ['timeout'])).resolves.toBeUndefined()
      await expect(store.findUnread('nobody', 'c1', ['login'])).resolves.toBeUndefined()
    })

    test('is not one that was read before, even if it had no links', async () => {
      await index('/a', 'words')
      await visit('/b', { state: 'skipped', reason: 'noindex', links: [] })
      for (const path of ['/a', '/b']) {
        await visit(path, { state: 'failed', reason: 'http-client-error', crawlId: 'c2' })
      }
      await expect(findUnread('c2')).resolves.toBeUndefined()
    })

    test('is one of which some links were not read', async () => {
      await index('/a', 'words', { reason: 'too-many-links' })
      await expect(findUnread()).resolves.toBe(at('/a'))
      await expect(row('/a')).resolves.toMatchObject({ state: 'indexed', reason: 'too-many-links' })
      await visit('/a', { state: 'unchanged', reason: 'too-many-links', crawlId: 'c2' })
      await expect(findUnread('c2')).resolves.toBe(at('/a'))
    })
  })

  test('aliases learned from finds are stored with them', async () => {
    await store.offer('docs', 'c1', [], 100, [alias('/old', '/new')])
    await expect(store.listAliases('docs', at('/new'))).resolves.toEqual([alias('/old', '/new')])
  })

  test('a visit names the address that returned the stored content', async () => {
    await index('/a', 'words', { etag: '"1"', contentUrl: at('/a.md') })
    await offer([foundAddress('/a')], 'c2')
    const again = await leaseOne('/a')
    expect(again).toMatchObject({ etag: '"1"', contentUrl: at('/a.md') })
    await settle(again, { state: 'unchanged', crawlId: 'c2' })
    await offer([foundAddress('/a')], 'c3')
    expect(await leaseOne('/a')).toMatchObject({ contentUrl: at('/a.md') })
  })
}

function at(path: string): string {
  return `https://docs.test${path}`
}

function sha(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

function idOf(id: string): { id: string; shortId: string } {
  return { id, shortId: id.slice(0, 12) }
}

function source(id: string): Source {
  return {
    id,
    name: id,
    version: null,
    url: 'https://docs.test/',
    siteUrl: 'https://docs.test/',
    scope: { ...DEFAULT_SCOPE, block: ['/x/**'] },
    settings: DEFAULT_SETTINGS,
    createdAt: 1,
  }
}

function crawl(id: string, startedAt = 1000): Crawl {
  return {
    id,
    sourceId: 'docs',
    kind: 'recrawl',
    state: 'running',
    options: { full: false, acceptLoss: false, discover: true, maxAgeMs: 0, maxAgeMsOf: {}, scope: { maxPages: 5 } },
    startedAt,
    runner: null,
    heartbeatAt: startedAt,
    endedAt: null,
    summary: null,
  }
}

function summary(crawlId: string, end: CrawlSummary['end']): CrawlSummary {
  return {
    crawlId,
    kind: 'recrawl',
    end,
    ledger: { total: 0, states: states(), reasons: {} },
    visited: 1,
    indexed: 1,
    unchanged: 0,
    skipped: 0,
    failed: 0,
    removed: 0,
    withheld: 0,
    cappedAt: null,
    parked: [],
    incomplete: null,
    newInRefresh: 0,
    overflow: 0,
    bytes: 10,
    requests: 1,
    elapsedMs: 5,
    problem: null,
    uselessReason: null,
  }
}

function states(more: Partial<Record<string, number>> = {}) {
  return { pending: 0, leased: 0, indexed: 0, unchanged: 0, skipped: 0, failed: 0, gone: 0, ...more }
}

function foundAddress(path: string, more: Partial<FoundAddress> = {}): FoundAddress {
  const url = at(path)
  return { key: url, url, host: 'docs.test', depth: 1, foundOn: at('/'), discovery: 'link', refusal: null, ...more }
}

function alias(from: string, to: string) {
  return { url: at(from), aliasUrl: at(to), classification: 'redirect', reason: null } as const
}

const BLOCKED = { reason: 'blocked', pattern: '/x', target: null } as const

/** An alias that leads from an address with a superfluous query to the address without it. */
function stripped(path: string, query = '?s=1') {
  return { url: at(path + query), aliasUrl: at(path), classification: 'superfluous-query', reason: 's' } as const
}

/** A page whose parts between lines of hyphens are its chunks. */
function record(path: string, markdown: string, more: { links?: readonly string[] } = {}): PageRecord {
  const page: Page = {
    url: at(path),
    title: `Title of ${path}`,
    description: null,
    author: 'Somebody',
    publishedAt: null,
    modifiedAt: '2026-01-02',
    language: 'en',
    canonical: null,
    alternates: [{ url: at(`${path}.md`), language: null, type: 'text/markdown' }],
    robots: { index: true, follow: true },
    generator: 'sphinx',
    markdown,
    sections: [{ title: 'S', level: 1, anchor: 's', startLine: 1, endLine: 2, children: [] }],
    links: [{ url: at('/l'), text: 'l', rel: ['next'], isContent: true }],
    wordCount: 2,
    contentHash: sha(markdown),
    hiddenChars: 0,
  }
  return { page, chunks: markdown.split('\n---\n').map((text, i) => chunk(path, text, i)), links: more.links ?? [] }
}

function chunk(path: string, content: string, chunkIndex: number): Chunk {
  return {
    ...idOf(sha(`${path}\n${content}\n${chunkIndex}`)),
    slug: 'slug',
    path: at(path),
    kind: 'markdown',
    chunkIndex,
    startLine: 1,
    endLine: 2,
    content,
    contentHash: sha(content),
    tokenEstimate: 3,
    headingPath: ['Heading'],
    symbol: null,
    address: null,
    assetPath: null,
  }
}
