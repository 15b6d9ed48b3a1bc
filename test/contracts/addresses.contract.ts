import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { PageClass } from '../../src/core/model.ts'
import type { Find, Settlement } from '../../src/crawl/ledger.ts'
import type { AddressCursor, AddressEntry, Addresses, AddressQuery } from '../../src/library/addresses.ts'
import type { LibraryStore } from '../../src/library/library-store.ts'
import { addSourceTo, recordOf } from '../embed/filled-store.ts'
import { classificationOf } from './classifications.ts'
import { setPause } from './host-clocks.ts'

/** Contract of every address view. Each test has its own store with two sources, `docs` and `more`. */
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

  const find = (finds: readonly (Partial<Find> & Pick<Find, 'url'>)[], now: number, sourceId = 'docs') =>
    store.offer(sourceId, `crawl of ${sourceId}`, finds.map(toFind), now)
  /** Records an address if it is unknown, and settles it. */
  const settle = async (
    url: string,
    now: number,
    answer: Partial<Settlement> & Pick<Settlement, 'state'>,
    sourceId = 'docs',
  ) => {
    const crawlId = `crawl of ${sourceId} at ${now}`
    await store.offer(sourceId, crawlId, [toFind({ url })], now)
    await setPause(store, new URL(url).host, 1, 0)
    const lease = { sourceId, limit: 100, now, until: now + 1000, horizon: now + 1e6, isLevelled: false }
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
  /** Goes through a whole list. */
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
      await find([{ url: A('/found'), depth: 3, foundOn: A('/list') }], 50)
      await find([{ url: A('/refused'), refusal: { reason: 'excluded', pattern: '/re*', target: null } }], 40)
      await write(A('/page'), 60, 120)
      await fail(A('/failed'), 55, 500, 'it broke')
      const NOTHING = { reason: null, pattern: null, status: null, detail: null, foundOn: null, depth: 1 }
      const NO_CLASS = { classification: null, confidence: null, combinedHint: null, combinedConfidence: null }
      const NO_PAGE = { changedAt: null, title: null, wordCount: null, chunks: null, ...NO_CLASS }
      const where = (path: string) => ({
        id: expect.any(Number),
        sourceId: 'docs',
        key: A(path),
        url: A(path),
        host: 'docs.test',
      })
      expect(await addresses.list({ limit: 9 })).toEqual([
        {
          ...where('/page'),
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
          ...where('/failed'),
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
          ...where('/found'),
          ...NOTHING,
          ...NO_PAGE,
          state: 'pending',
          depth: 3,
          foundOn: A('/list'),
          at: 50,
          firstSeenAt: 50,
          checkedAt: null,
        },
        {
          ...where('/refused'),
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
      await write(A('/a'), 10, 5)
      await find([{ url: A('/b') }], 20)
      expect(await list()).toEqual([A('/b'), A('/a')])
      await settle(A('/a'), 30, { state: 'failed', reason: 'removed', status: 410, isProvenGone: true })
      expect(await list()).toEqual([A('/a'), A('/b')])
      await store.removeProven('docs', 'crawl of docs at 30', false, 31)
      const [gone] = await addresses.list({ limit: 1 })
      expect(gone).toMatchObject({ url: A('/a'), state: 'gone', title: null, wordCount: null, chunks: null })
      expect(await list({ minWordCount: 0 })).toEqual([])
    })

    test('is paged in every size, in both directions, across sources and equal times', async () => {
      await find(
        ['/5', '/1', '/3', '/2', '/4'].map((path) => ({ url: A(path) })),
        10,
      )
      // The same addresses at the same moment, in another source.
      await find(
        ['/3', '/1', '/6'].map((path) => ({ url: A(path) })),
        10,
        'more',
      )
      await find([{ url: A('/7') }, { url: 'https://other.test/' }], 20, 'more')
      const whole = await addresses.list({ limit: 100 })
      expect(whole.map(({ url, sourceId }) => [url, sourceId])).toEqual([
        ['https://other.test/', 'more'],
        [A('/7'), 'more'],
        // Addresses of the same time come in the order in which they were found.
        [A('/6'), 'more'],
        [A('/1'), 'more'],
        [A('/3'), 'more'],
        [A('/4'), 'docs'],
        [A('/2'), 'docs'],
        [A('/3'), 'docs'],
        [A('/1'), 'docs'],
        [A('/5'), 'docs'],
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
      await find([{ url: A('/1') }, { url: A('/2') }], 10)
      await find([{ url: A('/2') }, { url: A('/3') }], 10, 'more')
      expect(await list({ cursor: { at: 10, url: A('/2') } })).toEqual([A('/1')])
      expect(await list({ cursor: { at: 10, url: A('/2') }, order: 'oldest' })).toEqual([A('/3')])
      expect(await list({ cursor: { at: 10, url: A('/1') }, order: 'oldest' })).toEqual([A('/2'), A('/2'), A('/3')])
      expect(await list({ cursor: { at: 11, url: '' }, to: 9 })).toEqual([])
    })

    test('restarts at the beginning of a timestamp if the address of the cursor no longer exists', async () => {
      await find([{ url: A('/1') }, { url: A('/2') }], 10)
      await find([{ url: A('/0') }], 9)
      await fail(A('/2'), 20, 404)
      for (const cursor of [{ at: 10, url: A('/2') }, { at: 10, url: A('/never') }, { at: 10 }]) {
        expect(await list({ cursor })).toEqual([A('/1'), A('/0')])
        expect(await list({ cursor, order: 'oldest' })).toEqual([A('/1'), A('/2')])
      }
    })

    test('is the same for any number of subdomains of the host', async () => {
      const urls = Array.from({ length: 80 }, (_, i) => `https://h${i}.many.test/`)
      await find(
        urls.map((url) => ({ url })),
        10,
      )
      await find([{ url: 'https://notmany.test/' }, { url: A('/') }, { url: 'https://many.test/' }], 11)
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

    test('misses no stable address and repeats none while others are checked and found', async () => {
      const paths = Array.from({ length: 30 }, (_, i) => `/${10 + i}`)
      for (const [i, path] of paths.entries()) await find([{ url: A(path) }], 100 + i)
      let now = 1000
      const asked = new Set<string>()
      const disturb = async () => {
        now++
        const path = paths[(now * 7) % paths.length] ?? ''
        if (!asked.has(path)) await fail(A(path), now, 404)
        asked.add(path)
        await find([{ url: A(`/new${now}`) }], now)
      }
      const seen = (await listAll({ limit: 4 }, disturb)).map(({ url }) => url)
      expect(new Set(seen).size).toBe(seen.length)
      expect(asked.size).toBeGreaterThan(3)
      const still = paths.filter((path) => !asked.has(path)).map((path) => A(path))
      expect(seen).toEqual(expect.arrayContaining(still))
      // From the oldest on, an address that is found meanwhile appears at the end.
      asked.clear()
      let rounds = 0
      const fromOldest = await listAll({ limit: 9, order: 'oldest' }, async () => {
        if (rounds++ < 3) await find([{ url: A(`/late${rounds}`) }], ++now)
      })
      expect(new Set(fromOldest.map(({ url }) => url)).size).toBe(await addresses.count({}, 1000))
    })

    test('fills its page even if many rows do not match', async () => {
      const many = Array.from({ length: 5000 }, (_, i) => ({ url: A(`/n/${i}`) }))
      await find(many, 10)
      await find([{ url: A('/first/needle') }], 5)
      await find([{ url: A('/last/needle') }], 15)
      await find([{ url: A('/middle/needle') }], 10)
      const needles = [A('/last/needle'), A('/middle/needle'), A('/first/needle')]
      expect(await list({ text: 'needle' })).toEqual(needles)
      expect((await listAll({ text: 'needle', limit: 1 })).map(({ url }) => url)).toEqual(needles)
      expect(await list({ text: 'needle', order: 'oldest', limit: 2 })).toEqual(needles.toReversed().slice(0, 2))
      expect(await addresses.count({ text: 'needle' }, 10)).toBe(3)
      expect(await addresses.count({ text: '/n/' }, 4500)).toBe(4500)
      expect(await addresses.count({ host: 'docs.test' }, 9999)).toBe(5003)
    })

    test('leaves out a removed source', async () => {
      await find([{ url: A('/1') }], 10)
      await find([{ url: A('/2') }], 10, 'more')
      await store.removeSource('docs')
      expect(await list()).toEqual([A('/2')])
      expect(await addresses.find(A('/1'))).toEqual([])
      expect(await addresses.describeHost('docs.test')).toMatchObject({ addresses: 1 })
    })
  })

  describe('a filter', () => {
    beforeEach(async () => {
      await write(A('/long'), 10, 900)
      await write(A('/short'), 20, 9)
      await fail(A('/lost'), 30, 404)
      await fail(A('/slow'), 40, null)
      await find([{ url: 'https://api.docs.test/x' }, { url: 'https://notdocs.test/y' }], 50, 'more')
      await find([{ url: A('/refused'), refusal: { reason: 'excluded', pattern: null, target: null } }], 60, 'more')
    })

    const expectOnly = async (filter: Partial<AddressQuery>, urls: readonly string[]) => {
      expect(await list(filter)).toEqual(urls)
      expect(await addresses.count(filter, 100)).toBe(urls.length)
      expect(await addresses.count(filter, 1)).toBe(Math.min(1, urls.length))
    }

    test('selects addresses by source, state and reason', async () => {
      await expectOnly({ sourceId: 'docs' }, [A('/slow'), A('/lost'), A('/short'), A('/long')])
      await expectOnly({ sourceId: 'nobody' }, [])
      await expectOnly({ state: 'failed' }, [A('/slow'), A('/lost')])
      await expectOnly({ state: 'failed', sourceId: 'more' }, [])
      await expectOnly({ state: 'failed', host: 'docs.test' }, [A('/slow'), A('/lost')])
      await expectOnly({ state: 'gone' }, [])
      await expectOnly({ reason: 'excluded' }, [A('/refused')])
      await expectOnly({ reason: 'not-found', state: 'failed' }, [A('/lost')])
      await expectOnly({ reason: 'not-found', state: 'skipped' }, [])
    })

    test('selects addresses by host, with subdomains on request', async () => {
      const own = [A('/refused'), A('/slow'), A('/lost'), A('/short'), A('/long')]
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
      await expectOnly({ status: 404 }, [A('/lost')])
      await expectOnly({ status: 200 }, [A('/short'), A('/long')])
      await expectOnly({ from: 30, to: 40 }, [A('/slow'), A('/lost')])
      await expectOnly({ from: 41, to: 49 }, [])
      await expectOnly({ to: 10 }, [A('/long')])
      await expectOnly({ minWordCount: 9 }, [A('/short'), A('/long')])
      await expectOnly({ minWordCount: 10 }, [A('/long')])
      expect(await list({ from: 20, to: 40, order: 'oldest' })).toEqual([A('/short'), A('/lost'), A('/slow')])
      expect(await list({ from: 20, to: 40, limit: 1, cursor: { at: 30, url: A('/lost') } })).toEqual([A('/short')])
    })

    test('selects pages by class and confidence', async () => {
      const classify = (path: string, now: number, kind: PageClass, hint: PageClass, confidence: number) => {
        const combined = { hint, confidence, considered: 5 }
        const record = { ...recordOf(A(path), path, {}), classification: classificationOf(kind, { combined }) }
        return settle(A(path), now, { state: 'indexed', record, status: 200 })
      }
      await classify('/story', 60, 'article', 'article', 0.9)
      await classify('/front', 61, 'nav', 'article', 0.4)
      await classify('/list', 62, 'nav', 'nav', 0.75)
      await expectOnly({ classification: 'article' }, [A('/story')])
      await expectOnly({ classification: 'nav' }, [A('/list'), A('/front')])
      await expectOnly({ classification: 'other' }, [])
      await expectOnly({ combinedHint: 'article' }, [A('/front'), A('/story')])
      await expectOnly({ combinedHint: 'article', classification: 'nav' }, [A('/front')])
      await expectOnly({ minCombinedConfidence: 0.75 }, [A('/list'), A('/story')])
      await expectOnly({ minCombinedConfidence: 0.76, combinedHint: 'nav' }, [])
      await expectOnly({ minCombinedConfidence: 0 }, [A('/list'), A('/front'), A('/story')])
      const [entry] = await addresses.find(A('/front'))
      const combined = { combinedHint: 'article', combinedConfidence: 0.4 }
      expect(entry).toMatchObject({ classification: 'nav', confidence: 0.8, ...combined })
      // The class is removed together with the page, or with the content that it was derived from.
      await settle(A('/front'), 70, { state: 'indexed', record: recordOf(A('/front'), 'new', {}), status: 200 })
      await expectOnly({ classification: 'nav' }, [A('/list')])
      await settle(A('/list'), 80, { state: 'failed', reason: 'removed', status: 410, isProvenGone: true })
      await expectOnly({ classification: 'nav' }, [A('/list')])
      await store.removeProven('docs', 'crawl of docs at 80', false, 81)
      await expectOnly({ classification: 'nav' }, [])
    })

    test('matches a part of the address, ignores case, and treats no character as a wildcard', async () => {
      await find([{ url: A('/100%_done') }, { url: A('/Upper[a]*?') }, { url: A("/it's") }, { url: A('/\u{e4}b') }], 70)
      await expectOnly({ text: '%' }, [A('/100%_done')])
      await expectOnly({ text: '_' }, [A('/100%_done')])
      await expectOnly({ text: '0%_D' }, [A('/100%_done')])
      await expectOnly({ text: 'upper[A]*?' }, [A('/Upper[a]*?')])
      await expectOnly({ text: "'" }, [A("/it's")])
      await expectOnly({ text: '\u{e4}B' }, [A('/\u{e4}b')])
      await expectOnly({ text: 'docs_test' }, [])
      await expectOnly({ text: 'LO', host: 'docs.test', state: 'failed' }, [A('/slow'), A('/lost')])
    })
  })

  test('an address is found by its key in every source that knows it', async () => {
    await find([{ url: 'https://docs.test/a?q=1' }, { url: 'https://docs.test/a/?q=1' }], 10)
    await find([{ url: 'https://docs.test/a?q=1' }, { url: A('/b') }], 20, 'more')
    const sourcesOf = async (url: string) => (await addresses.find(url)).map(({ sourceId }) => sourceId)
    expect(await sourcesOf('https://docs.test/a?q=1')).toEqual(['more', 'docs'])
    // A slash at the end may lead to another page.
    expect(await sourcesOf('https://docs.test/a/?q=1')).toEqual(['docs'])
    expect(await sourcesOf('HTTPS://DOCS.test:443/a?q=1#part')).toEqual(['more', 'docs'])
    expect(await sourcesOf(A('/b'))).toEqual(['more'])
    expect(await sourcesOf(A('/c'))).toEqual([])
    expect(await sourcesOf('no address')).toEqual([])
  })

  test('failures of the same kind are grouped, the most frequent first', async () => {
    for (let i = 1; i <= 5; i++) await fail(A(`/${i}`), i, 404)
    await fail('https://more.test/1', 6, 404, 'elsewhere', 'more')
    await fail(A('/slow'), 7, null, 'too slow')
    await fail(A('/slower'), 8, null, 'too slow')
    const groups = await addresses.groupErrors(100)
    expect(groups.map(({ status, reason, host, count, lastAt }) => [status, reason, host, count, lastAt])).toEqual([
      [404, 'not-found', 'docs.test', 5, 5],
      [null, 'timeout', 'docs.test', 2, 8],
      [404, 'not-found', 'more.test', 1, 6],
    ])
    expect(groups[0]?.examples).toEqual(
      [5, 4, 3].map((i) => ({ url: A(`/${i}`), at: i, detail: `detail of ${A(`/${i}`)}` })),
    )
    // Only the latest failures are grouped, and addresses that work again are left out.
    expect((await addresses.groupErrors(3)).map(({ count }) => count)).toEqual([2, 1])
    await write(A('/slow'), 20, 5)
    expect((await addresses.groupErrors(2)).map(({ host }) => host)).toEqual(['docs.test', 'more.test'])
  })

  test('there are at most fifty groups of failures', async () => {
    for (let i = 0; i < 55; i++) await fail(`https://h${i}.test/`, i, 404)
    expect(await addresses.groupErrors(100)).toHaveLength(50)
  })

  describe('hosts', () => {
    test('are described by the facts about their addresses, in all sources', async () => {
      await write(A('/page'), 10, 5)
      await write(A('/other'), 11, 5, 'more')
      await fail(A('/lost'), 12, 404)
      await find([{ url: A('/found') }], 99)
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

    test('follow every change', async () => {
      await write(A('/page'), 10, 5)
      await settle(A('/page'), 20, { state: 'unchanged', status: 304 })
      expect(await addresses.describeHost('docs.test')).toMatchObject({
        pages: 1,
        lastAt: 20,
        states: { unchanged: 1 },
      })
      await settle(A('/page'), 30, { state: 'failed', reason: 'removed', status: 410, isProvenGone: true })
      await store.removeProven('docs', 'crawl of docs at 30', false, 31)
      const gone = { addresses: 1, pages: 0, failed: 0, lastAt: 30, states: { failed: 0, gone: 1, unchanged: 0 } }
      expect(await addresses.describeHost('docs.test')).toMatchObject(gone)
      await store.removeSource('docs')
      expect(await addresses.describeHost('docs.test')).toBeUndefined()
      expect(await addresses.listHosts(9)).toEqual([])
    })

    test('count leased and pending addresses separately', async () => {
      await find([{ url: A('/1') }, { url: A('/2') }, { url: 'https://other.test/' }], 10)
      await setPause(store, 'docs.test', 1, 0)
      const statesOf = async (host: string) => (await addresses.describeHost(host))?.states
      const visits = await store.lease({
        sourceId: 'docs',
        limit: 2,
        now: 11,
        until: 99,
        horizon: 99,
        isLevelled: false,
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
function A(path: string): string {
  return `https://docs.test${path}`
}

function toFind({ url, ...more }: Partial<Find> & Pick<Find, 'url'>): Find {
  const host = new URL(url).host
  return { key: url, url, host, depth: 1, foundOn: null, discovery: 'link', refusal: null, ...more }
}
