import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { PageClass } from '../../src/core/model.ts'
import type { FoundAddress } from '../../src/crawl/ledger.ts'
import type { Settlement } from '../../src/crawl/settlement.ts'
import type { AddressCursor, AddressEntry, Addresses, AddressQuery } from '../../src/library/ports/addresses.ts'
import type { LibraryStore } from '../../src/library/ports/library-store.ts'
import { addSourceTo, recordOf } from '../embed/filled-store.ts'
import { classificationOf } from './classifications.ts'
import { setPause } from './host-clocks.ts'

/** Contract of the address lists of every store. Each test has its own store with two sources, `docs` and `more`. */
export function describeAddresses(open: () => Promise<LibraryStore>): void {
  let store: LibraryStore
  let addresses: Addresses

  beforeEach(async () => {
    store = await open()
    addresses = store.addresses
    await addSourceTo(store, 'docs')
    await addSourceTo(store, 'more')
  })
  afterEach(() => store.close())

  const find = (
    finds: readonly (Partial<FoundAddress> & Pick<FoundAddress, 'url'>)[],
    now: number,
    sourceId = 'docs',
  ) => store.offer(sourceId, `crawl of ${sourceId}`, finds.map(toFoundAddress), now)
  /** Records an address if it is unknown, and settles it. */
  const settle = async (
    url: string,
    now: number,
    answer: Partial<Settlement> & Pick<Settlement, 'state'>,
    sourceId = 'docs',
  ) => {
    const crawlId = `crawl of ${sourceId} at ${now}`
    await store.offer(sourceId, crawlId, [toFoundAddress({ url })], now)
    await setPause(store, new URL(url).host, 1, 0)
    const lease = { sourceId, limit: 100, now, until: now + 1000, horizon: now + 1e6, isBreadthFirst: false }
    const visits = await store.lease(lease)
    const visit = visits.find(({ key }) => key === url)
    if (visit === undefined) throw new Error(`${url} was not leased`)
    await store.release(visits.filter((other) => other !== visit))
    await store.settle({ visit, crawlId, now, ...answer })
  }
  const fail = (url: string, now: number, status: number | null, detail = `detail of ${url}`, sourceId = 'docs') =>
    settle(url, now, { state: 'failed', reason: status === null ? 'timeout' : 'not-found', status, detail }, sourceId)
  const write = (url: string, now: number, words: number, sourceId = 'docs') => {
    const { page, ...rest } = recordOf(url, `one of ${url}\n---\ntwo`, {})
    const record = { ...rest, page: { ...page, wordCount: words } }
    return settle(url, now, { state: 'indexed', record, status: 200 }, sourceId)
  }
  const list = async (query: Partial<AddressQuery> = {}) =>
    (await addresses.list({ limit: 100, ...query })).map(({ url }) => url)
  /** Reads a list to its end, and calls `between` after each page. */
  const listAll = async (query: AddressQuery, between: () => Promise<unknown> = async () => {}) => {
    const all: AddressEntry[] = []
    for (let cursor: AddressCursor | undefined; ; await between()) {
      const part = await addresses.list({ ...query, ...(cursor && { cursor }) })
      expect(part.length).toBeLessThanOrEqual(query.limit)
      all.push(...part)
      const last = part.at(-1)
      if (last === undefined) return all
      cursor = { at: last.at, id: last.id }
    }
  }

  describe('a list', () => {
    test('gives the known facts about each address', async () => {
      await find([{ url: urlAt('/found'), depth: 3, foundOn: urlAt('/list') }], 50)
      await find([{ url: urlAt('/refused'), refusal: { reason: 'excluded', pattern: '/re*', target: null } }], 40)
      await write(urlAt('/page'), 60, 120)
      await fail(urlAt('/failed'), 55, 500, 'it broke')
      const NOTHING = { reason: null, pattern: null, status: null, detail: null, foundOn: null, depth: 1 }
      const NO_CLASS = { classification: null, confidence: null }
      const NO_PAGE = { changedAt: null, title: null, wordCount: null, chunks: null, ...NO_CLASS }
      const identityOf = (path: string) => ({
        id: expect.any(Number),
        sourceId: 'docs',
        key: urlAt(path),
        url: urlAt(path),
        host: 'docs.test',
      })
      expect(await addresses.list({ limit: 9 })).toEqual([
        {
          ...identityOf('/page'),
          ...NOTHING,
          state: 'indexed',
          status: 200,
          at: 60,
          firstSeenAt: 60,
          checkedAt: 60,
          changedAt: 60,
          title: 'Title of /page',
          wordCount: 120,
          chunks: 2,
          ...NO_CLASS,
        },
        {
          ...identityOf('/failed'),
          ...NOTHING,
          ...NO_PAGE,
          state: 'failed',
          reason: 'not-found',
          status: 500,
          detail: 'it broke',
          at: 55,
          firstSeenAt: 55,
          checkedAt: 55,
        },
        {
          ...identityOf('/found'),
          ...NOTHING,
          ...NO_PAGE,
          state: 'pending',
          depth: 3,
          foundOn: urlAt('/list'),
          at: 50,
          firstSeenAt: 50,
          checkedAt: null,
        },
        {
          ...identityOf('/refused'),
          ...NOTHING,
          ...NO_PAGE,
          state: 'skipped',
          reason: 'excluded',
          pattern: '/re*',
          at: 40,
          firstSeenAt: 40,
          checkedAt: null,
        },
      ])
    })

    test('orders an address by its last check, and leaves out facts about a page that is gone', async () => {
      await write(urlAt('/a'), 10, 5)
      await find([{ url: urlAt('/b') }], 20)
      expect(await list()).toEqual([urlAt('/b'), urlAt('/a')])
      await settle(urlAt('/a'), 30, { state: 'failed', reason: 'removed', status: 410, isProvenGone: true })
      expect(await list()).toEqual([urlAt('/a'), urlAt('/b')])
      await store.removeProven('docs', 'crawl of docs at 30', false, 31)
      const [gone] = await addresses.list({ limit: 1 })
      expect(gone).toMatchObject({ url: urlAt('/a'), state: 'gone', title: null, wordCount: null, chunks: null })
      expect(await list({ minWordCount: 0 })).toEqual([])
    })

    test('can be paged with any page size, in both directions, across sources and equal times', async () => {
      await find(
        ['/5', '/1', '/3', '/2', '/4'].map((path) => ({ url: urlAt(path) })),
        10,
      )
      // The same addresses at the same moment, in another source.
      await find(
        ['/3', '/1', '/6'].map((path) => ({ url: urlAt(path) })),
        10,
        'more',
      )
      await find([{ url: urlAt('/7') }, { url: 'https://other.test/' }], 20, 'more')
      const whole = await addresses.list({ limit: 100 })
      expect(whole.map(({ url, sourceId }) => [url, sourceId])).toEqual([
        ['https://other.test/', 'more'],
        [urlAt('/7'), 'more'],
        // Of addresses with the same time, the last one found comes first.
        [urlAt('/6'), 'more'],
        [urlAt('/1'), 'more'],
        [urlAt('/3'), 'more'],
        [urlAt('/4'), 'docs'],
        [urlAt('/2'), 'docs'],
        [urlAt('/3'), 'docs'],
        [urlAt('/1'), 'docs'],
        [urlAt('/5'), 'docs'],
      ])
      for (const limit of [1, 2, 3, 4, 7]) {
        expect(await listAll({ limit })).toEqual(whole)
        expect(await listAll({ limit, order: 'oldest' })).toEqual(whole.toReversed())
        const onHost = whole.filter(({ host }) => host === 'docs.test')
        expect(await listAll({ limit, host: 'docs.test' })).toEqual(onHost)
        expect(await listAll({ limit, state: 'pending', text: '/' })).toEqual(whole)
      }
    })

    test('continues after a cursor that names an address instead of an entry', async () => {
      await find([{ url: urlAt('/1') }, { url: urlAt('/2') }], 10)
      await find([{ url: urlAt('/2') }, { url: urlAt('/3') }], 10, 'more')
      expect(await list({ cursor: { at: 10, url: urlAt('/2') } })).toEqual([urlAt('/1')])
      expect(await list({ cursor: { at: 10, url: urlAt('/2') }, order: 'oldest' })).toEqual([urlAt('/3')])
      expect(await list({ cursor: { at: 10, url: urlAt('/1') }, order: 'oldest' })).toEqual([
        urlAt('/2'),
        urlAt('/2'),
        urlAt('/3'),
      ])
      expect(await list({ cursor: { at: 11, url: '' }, to: 9 })).toEqual([])
    })

    test('restarts at the first entry of the same time if the address of the cursor no longer exists', async () => {
      await find([{ url: urlAt('/1') }, { url: urlAt('/2') }], 10)
      await find([{ url: urlAt('/0') }], 9)
      await fail(urlAt('/2'), 20, 404)
      for (const cursor of [{ at: 10, url: urlAt('/2') }, { at: 10, url: urlAt('/never') }, { at: 10 }]) {
        expect(await list({ cursor })).toEqual([urlAt('/1'), urlAt('/0')])
        expect(await list({ cursor, order: 'oldest' })).toEqual([urlAt('/1'), urlAt('/2')])
      }
    })

    test('contains the addresses of all subdomains of a host, however many there are', async () => {
      const urls = Array.from({ length: 80 }, (_, i) => `https://h${i}.many.test/`)
      await find(
        urls.map((url) => ({ url })),
        10,
      )
      await find([{ url: 'https://notmany.test/' }, { url: urlAt('/') }, { url: 'https://many.test/' }], 11)
      await find([{ url: 'https://of.many.test/' }], 12, 'more')
      await fail('https://h7.many.test/', 20, 404)
      const query = { host: 'Many.test', includeSubdomains: true }
      const all = [
        'h7.',
        'of.',
        '',
        ...Array.from({ length: 80 }, (_, i) => `h${79 - i}.`).filter((one) => one !== 'h7.'),
      ]
      const expected = all.map((name) => `https://${name}many.test/`)
      expect((await listAll({ ...query, limit: 7 })).map(({ url }) => url)).toEqual(expected)
      expect((await listAll({ ...query, limit: 50, order: 'oldest' })).map(({ url }) => url)).toEqual(
        expected.toReversed(),
      )
      expect(await list({ ...query, state: 'failed' })).toEqual(['https://h7.many.test/'])
      expect(await addresses.count(query, 1000)).toBe(82)
    })

    test('misses no unchanged address and repeats none while others are checked and found', async () => {
      const paths = Array.from({ length: 30 }, (_, i) => `/${10 + i}`)
      for (const [i, path] of paths.entries()) await find([{ url: urlAt(path) }], 100 + i)
      let now = 1000
      const checkedPaths = new Set<string>()
      const changeOthers = async () => {
        now++
        const path = paths[(now * 7) % paths.length] ?? ''
        if (!checkedPaths.has(path)) await fail(urlAt(path), now, 404)
        checkedPaths.add(path)
        await find([{ url: urlAt(`/new${now}`) }], now)
      }
      const seen = (await listAll({ limit: 4 }, changeOthers)).map(({ url }) => url)
      expect(new Set(seen).size).toBe(seen.length)
      expect(checkedPaths.size).toBeGreaterThan(3)
      const untouched = paths.filter((path) => !checkedPaths.has(path)).map((path) => urlAt(path))
      expect(seen).toEqual(expect.arrayContaining(untouched))
      // In a list from the oldest on, an address that is found meanwhile appears at the end.
      checkedPaths.clear()
      let rounds = 0
      const fromOldest = await listAll({ limit: 9, order: 'oldest' }, async () => {
        if (rounds++ < 3) await find([{ url: urlAt(`/late${rounds}`) }], ++now)
      })
      expect(new Set(fromOldest.map(({ url }) => url)).size).toBe(await addresses.count({}, 1000))
    })

    test('fills its page even if many rows do not match', async () => {
      const many = Array.from({ length: 5000 }, (_, i) => ({ url: urlAt(`/n/${i}`) }))
      await find(many, 10)
      await find([{ url: urlAt('/first/needle') }], 5)
      await find([{ url: urlAt('/last/needle') }], 15)
      await find([{ url: urlAt('/middle/needle') }], 10)
      const needles = [urlAt('/last/needle'), urlAt('/middle/needle'), urlAt('/first/needle')]
      expect(await list({ text: 'needle' })).toEqual(needles)
      expect((await listAll({ text: 'needle', limit: 1 })).map(({ url }) => url)).toEqual(needles)
      expect(await list({ text: 'needle', order: 'oldest', limit: 2 })).toEqual(needles.toReversed().slice(0, 2))
      expect(await addresses.count({ text: 'needle' }, 10)).toBe(3)
      expect(await addresses.count({ text: '/n/' }, 4500)).toBe(4500)
      expect(await addresses.count({ host: 'docs.test' }, 9999)).toBe(5003)
    })

    test('leaves out a removed source', async () => {
      await find([{ url: urlAt('/1') }], 10)
      await find([{ url: urlAt('/2') }], 10, 'more')
      await store.removeSource('docs')
      expect(await list()).toEqual([urlAt('/2')])
      expect(await addresses.find(urlAt('/1'))).toEqual([])
      expect(await addresses.describeHost('docs.test')).toMatchObject({ addresses: 1 })
    })
  })

  describe('a filter', () => {
    beforeEach(async () => {
      await write(urlAt('/long'), 10, 900)
      await write(urlAt('/short'), 20, 9)
      await fail(urlAt('/lost'), 30, 404)
      await fail(urlAt('/slow'), 40, null)
      await find([{ url: 'https://api.docs.test/x' }, { url: 'https://notdocs.test/y' }], 50, 'more')
      await find([{ url: urlAt('/refused'), refusal: { reason: 'excluded', pattern: null, target: null } }], 60, 'more')
    })

    const expectOnly = async (filter: Partial<AddressQuery>, urls: readonly string[]) => {
      expect(await list(filter)).toEqual(urls)
      expect(await addresses.count(filter, 100)).toBe(urls.length)
      expect(await addresses.count(filter, 1)).toBe(Math.min(1, urls.length))
    }

    test('selects addresses by source, state and reason', async () => {
      await expectOnly({ sourceId: 'docs' }, [urlAt('/slow'), urlAt('/lost'), urlAt('/short'), urlAt('/long')])
      await expectOnly({ sourceId: 'nobody' }, [])
      await expectOnly({ state: 'failed' }, [urlAt('/slow'), urlAt('/lost')])
      await expectOnly({ state: 'failed', sourceId: 'more' }, [])
      await expectOnly({ state: 'failed', host: 'docs.test' }, [urlAt('/slow'), urlAt('/lost')])
      await expectOnly({ state: 'gone' }, [])
      await expectOnly({ reason: 'excluded' }, [urlAt('/refused')])
      await expectOnly({ reason: 'not-found', state: 'failed' }, [urlAt('/lost')])
      await expectOnly({ reason: 'not-found', state: 'skipped' }, [])
    })

    test('leaves out links that lead out of the scope', async () => {
      const before = await list()
      const refusal = { reason: 'off-site', pattern: null, target: null } as const
      await find([{ url: 'https://other.test/', refusal }], 60, 'more')
      expect(await list()).toHaveLength(before.length + 1)
      await expectOnly({ isInScope: true }, before)
    })

    test('selects addresses by host, with subdomains on request', async () => {
      const own = [urlAt('/refused'), urlAt('/slow'), urlAt('/lost'), urlAt('/short'), urlAt('/long')]
      await expectOnly({ host: 'docs.test' }, own)
      await expectOnly({ host: 'DOCS.test' }, own)
      await expectOnly({ host: 'api.docs.test' }, ['https://api.docs.test/x'])
      const [first = '', ...others] = own
      await expectOnly({ host: 'docs.test', includeSubdomains: true }, [first, 'https://api.docs.test/x', ...others])
      await expectOnly({ host: 'docs.test', includeSubdomains: true, sourceId: 'docs' }, others)
      await expectOnly({ host: 'ocs.test', includeSubdomains: true }, [])
      await expectOnly({ host: '%', includeSubdomains: true }, [])
    })

    test('selects addresses by status, time and word count', async () => {
      await expectOnly({ status: 404 }, [urlAt('/lost')])
      await expectOnly({ status: 200 }, [urlAt('/short'), urlAt('/long')])
      await expectOnly({ from: 30, to: 40 }, [urlAt('/slow'), urlAt('/lost')])
      await expectOnly({ from: 41, to: 49 }, [])
      await expectOnly({ to: 10 }, [urlAt('/long')])
      await expectOnly({ minWordCount: 9 }, [urlAt('/short'), urlAt('/long')])
      await expectOnly({ minWordCount: 10 }, [urlAt('/long')])
      expect(await list({ from: 20, to: 40, order: 'oldest' })).toEqual([
        urlAt('/short'),
        urlAt('/lost'),
        urlAt('/slow'),
      ])
      expect(await list({ from: 20, to: 40, limit: 1, cursor: { at: 30, url: urlAt('/lost') } })).toEqual([
        urlAt('/short'),
      ])
    })

    test('selects pages by class and confidence', async () => {
      const classify = (path: string, now: number, kind: PageClass, confidence: number) => {
        const record = { ...recordOf(urlAt(path), path, {}), classification: classificationOf(kind, { confidence }) }
        return settle(urlAt(path), now, { state: 'indexed', record, status: 200 })
      }
      await classify('/story', 60, 'article', 0.9)
      await classify('/front', 61, 'nav', 0.4)
      await classify('/list', 62, 'nav', 0.75)
      await expectOnly({ classification: 'article' }, [urlAt('/story')])
      await expectOnly({ classification: 'nav' }, [urlAt('/list'), urlAt('/front')])
      await expectOnly({ classification: 'other' }, [])
      await expectOnly({ minConfidence: 0.75 }, [urlAt('/list'), urlAt('/story')])
      await expectOnly({ minConfidence: 0.75, classification: 'nav' }, [urlAt('/list')])
      await expectOnly({ minConfidence: 0.76, classification: 'nav' }, [])
      await expectOnly({ minConfidence: 0 }, [urlAt('/list'), urlAt('/front'), urlAt('/story')])
      const [entry] = await addresses.find(urlAt('/front'))
      expect(entry).toMatchObject({ classification: 'nav', confidence: 0.4 })
      // The class is removed together with the page, or with the content that it was derived from.
      await settle(urlAt('/front'), 70, { state: 'indexed', record: recordOf(urlAt('/front'), 'new', {}), status: 200 })
      await expectOnly({ classification: 'nav' }, [urlAt('/list')])
      await settle(urlAt('/list'), 80, { state: 'failed', reason: 'removed', status: 410, isProvenGone: true })
      await expectOnly({ classification: 'nav' }, [urlAt('/list')])
      await store.removeProven('docs', 'crawl of docs at 80', false, 81)
      await expectOnly({ classification: 'nav' }, [])
    })

    test('matches a part of the address, ignores case, and treats no character as a wildcard', async () => {
      await find(
        [
          { url: urlAt('/100%_done') },
          { url: urlAt('/Upper[a]*?') },
          { url: urlAt("/it's") },
          { url: urlAt('/\u{e4}b') },
        ],
        70,
      )
      await expectOnly({ text: '%' }, [urlAt('/100%_done')])
      await expectOnly({ text: '_' }, [urlAt('/100%_done')])
      await expectOnly({ text: '0%_D' }, [urlAt('/100%_done')])
      await expectOnly({ text: 'upper[A]*?' }, [urlAt('/Upper[a]*?')])
      await expectOnly({ text: "'" }, [urlAt("/it's")])
      await expectOnly({ text: '\u{e4}B' }, [urlAt('/\u{e4}b')])
      await expectOnly({ text: 'docs_test' }, [])
      await expectOnly({ text: 'LO', host: 'docs.test', state: 'failed' }, [urlAt('/slow'), urlAt('/lost')])
    })
  })

  test('an address is found by its key in every source that knows it', async () => {
    await find([{ url: 'https://docs.test/a?q=1' }, { url: 'https://docs.test/a/?q=1' }], 10)
    await find([{ url: 'https://docs.test/a?q=1' }, { url: urlAt('/b') }], 20, 'more')
    const sourcesOf = async (url: string) => (await addresses.find(url)).map(({ sourceId }) => sourceId)
    expect(await sourcesOf('https://docs.test/a?q=1')).toEqual(['more', 'docs'])
    // A slash at the end may lead to another page.
    expect(await sourcesOf('https://docs.test/a/?q=1')).toEqual(['docs'])
    expect(await sourcesOf('HTTPS://DOCS.test:443/a?q=1#part')).toEqual(['more', 'docs'])
    expect(await sourcesOf(urlAt('/b'))).toEqual(['more'])
    expect(await sourcesOf(urlAt('/c'))).toEqual([])
    expect(await sourcesOf('no address')).toEqual([])
  })

  test('failures of the same kind are grouped, the most frequent first', async () => {
    for (let i = 1; i <= 5; i++) await fail(urlAt(`/${i}`), i, 404)
    await fail('https://more.test/1', 6, 404, 'elsewhere', 'more')
    await fail(urlAt('/slow'), 7, null, 'too slow')
    await fail(urlAt('/slower'), 8, null, 'too slow')
    const groups = await addresses.groupErrors(100)
    expect(groups.map(({ status, reason, host, count, lastAt }) => [status, reason, host, count, lastAt])).toEqual([
      [404, 'not-found', 'docs.test', 5, 5],
      [null, 'timeout', 'docs.test', 2, 8],
      [404, 'not-found', 'more.test', 1, 6],
    ])
    expect(groups[0]?.examples).toEqual(
      [5, 4, 3].map((i) => ({ url: urlAt(`/${i}`), at: i, detail: `detail of ${urlAt(`/${i}`)}` })),
    )
    // Only the latest failures are grouped, and addresses that work again are left out.
    expect((await addresses.groupErrors(3)).map(({ count }) => count)).toEqual([2, 1])
    await write(urlAt('/slow'), 20, 5)
    expect((await addresses.groupErrors(2)).map(({ host }) => host)).toEqual(['docs.test', 'more.test'])
  })

  test('there are at most fifty groups of failures', async () => {
    for (let i = 0; i < 55; i++) await fail(`https://h${i}.test/`, i, 404)
    expect(await addresses.groupErrors(100)).toHaveLength(50)
  })

  describe('hosts', () => {
    test('are described by the facts about their addresses, in all sources', async () => {
      await write(urlAt('/page'), 10, 5)
      await write(urlAt('/other'), 11, 5, 'more')
      await fail(urlAt('/lost'), 12, 404)
      await find([{ url: urlAt('/found') }], 99)
      const described = await addresses.describeHost('docs.test')
      expect(described).toEqual({
        host: 'docs.test',
        addresses: 4,
        pages: 2,
        failed: 1,
        lastAt: 12,
        states: { pending: 1, leased: 0, indexed: 2, unchanged: 0, skipped: 0, failed: 1, gone: 0 },
      })
      expect(await addresses.describeHost('DOCS.TEST')).toEqual(described)
      expect(await addresses.describeHost('test')).toBeUndefined()
    })

    test('have current counts after every change', async () => {
      await write(urlAt('/page'), 10, 5)
      await settle(urlAt('/page'), 20, { state: 'unchanged', status: 304 })
      expect(await addresses.describeHost('docs.test')).toMatchObject({
        pages: 1,
        lastAt: 20,
        states: { unchanged: 1 },
      })
      await settle(urlAt('/page'), 30, { state: 'failed', reason: 'removed', status: 410, isProvenGone: true })
      await store.removeProven('docs', 'crawl of docs at 30', false, 31)
      const gone = { addresses: 1, pages: 0, failed: 0, lastAt: 30, states: { failed: 0, gone: 1, unchanged: 0 } }
      expect(await addresses.describeHost('docs.test')).toMatchObject(gone)
      await store.removeSource('docs')
      expect(await addresses.describeHost('docs.test')).toBeUndefined()
      expect(await addresses.listHosts(9)).toEqual([])
    })

    test('count leased and pending addresses separately', async () => {
      await find([{ url: urlAt('/1') }, { url: urlAt('/2') }, { url: 'https://other.test/' }], 10)
      await setPause(store, 'docs.test', 1, 0)
      const statesOf = async (host: string) => (await addresses.describeHost(host))?.states
      const visits = await store.lease({
        sourceId: 'docs',
        limit: 2,
        now: 11,
        until: 99,
        horizon: 99,
        isBreadthFirst: false,
      })
      const ofDocs = visits.filter(({ host }) => host === 'docs.test')
      expect(await statesOf('docs.test')).toMatchObject({ pending: 2 - ofDocs.length, leased: ofDocs.length })
      expect((await addresses.listHosts(9)).reduce((sum, { states }) => sum + states.leased, 0)).toBe(2)
      await store.release(visits)
      expect(await statesOf('docs.test')).toMatchObject({ pending: 2, leased: 0 })
    })

    test('are listed by their last check, latest first', async () => {
      await fail('https://b.test/', 20, 404)
      await fail('https://a.test/', 30, 404, '', 'more')
      await find([{ url: 'https://never.test/' }], 99)
      await find([{ url: 'https://ever.test/' }], 98)
      const hosts = async (limit: number) => (await addresses.listHosts(limit)).map(({ host }) => host)
      expect(await hosts(9)).toEqual(['a.test', 'b.test', 'ever.test', 'never.test'])
      expect(await hosts(1)).toEqual(['a.test'])
      expect((await addresses.listHosts(9))[2]).toMatchObject({ lastAt: null, addresses: 1 })
    })
  })
}

/** An address of `docs.test`. */
function urlAt(path: string): string {
  return `https://docs.test${path}`
}

function toFoundAddress({ url, ...more }: Partial<FoundAddress> & Pick<FoundAddress, 'url'>): FoundAddress {
  const host = new URL(url).host
  return { key: url, url, host, depth: 1, foundOn: null, discovery: 'link', refusal: null, ...more }
}
