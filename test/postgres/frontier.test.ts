import { describe, expect, test } from 'vitest'
import { setFloor } from '../../src/crawl/hosts/host-clock.ts'
import type { FoundAddress } from '../../src/crawl/ledger.ts'
import type { Database, Sql } from '../../src/store/postgres/database/database.ts'
import { lockSource } from '../../src/store/postgres/database/lock-source.ts'
import { recordFoundAddresses } from '../../src/store/postgres/ledger/found-addresses.ts'
import { countOpen, failPending, lease, listHeldHosts, release } from '../../src/store/postgres/ledger/frontier.ts'
import { HostHolder, type LeaseResult } from '../../src/store/postgres/ledger/host-holder.ts'
import { lockHosts, readHosts, writeHosts } from '../../src/store/postgres/ledger/hosts.ts'
import { adopt, settle } from '../../src/store/postgres/ledger/settle.ts'
import { isLong } from '../faults/bounded.ts'
import { createMemoryStore } from '../memory-store/memory-store.ts'
import { createLibrary } from './databases.ts'
import {
  addLedger,
  connect,
  foundAddressOf,
  holderRequestOf,
  ledgerOver,
  listMiscounts,
  recordOf,
  type TestLedger,
} from './ledgers.ts'
import { recordPlans } from './query-plans.ts'
import { addSource, crawlOf, LIVENESS_TIMEOUT_MS, NOW, openStore, untilWaiting } from './stores.ts'

/** Maximum number of statements of each operation, however many hosts, addresses and links there are. */
const MAX_STATEMENTS = {
  lease: 6,
  'lease breadth-first': 7,
  'lease from many hosts': 8,
  'lease breadth-first from many hosts': 9,
  'lease with all hosts free': 7,
  'lease breadth-first with all hosts free': 8,
  offer: 3,
  settle: 9,
  'settle as a helper': 9,
  'settle duplicate content': 6,
  'settle a failure': 2,
  adopt: 9,
  release: 1,
  'count open rows': 1,
  'list held hosts': 1,
  'fail pending rows': 1,
}

const INDEXES = [
  'hosts_pkey',
  'ledger_by_content',
  'ledger_by_key',
  'ledger_by_weight',
  'ledger_leased',
  'ledger_pkey',
  'ledger_ready',
  'ledger_waiting',
  'links_pkey',
  'open_hosts_pkey',
]

const PATHS = Array.from({ length: 40 }, (_, number) => `/${number}`)

test('a crawl does not end during a concurrent write to its source', async () => {
  const address = await createLibrary()
  const [db, store] = [await connect(address), await openStore(address, 'one')]
  await addSource(store, 'docs')
  await store.beginCrawl(crawlOf('docs'), LIVENESS_TIMEOUT_MS)
  const ending = await db.transaction(async (sql) => {
    await lockSource(sql, 1)
    const end = store.endCrawl('crawl of docs', null, NOW, 'one').then(() => 'ended')
    expect(await Promise.race([end, untilWaiting(db, 1)])).not.toBe('ended')
    expect(await store.listCrawls('docs', 1)).toMatchObject([{ state: 'running' }])
    return { end }
  })
  await ending.end
  expect(await store.listCrawls('docs', 1)).toMatchObject([{ state: 'cancelled' }])
})

describe('two connections', () => {
  test('concurrent leases from one source never get the same row', async () => {
    const { one, two } = await open()
    await one.offer(PATHS)
    const visits = (
      await Promise.all([one, two, one, two, one, two].map((ledger) => ledger.lease({ limit: 8 })))
    ).flat()
    expect(new Set(visits.map(({ key }) => key)).size).toBe(PATHS.length)
    expect(visits).toHaveLength(PATHS.length)
  })

  test('one of two concurrent settlements of a visit succeeds, and the other is lost', async () => {
    const { db, one, two } = await open()
    await one.offer(['/a'])
    const [visit] = await one.lease()
    if (visit === undefined) throw new Error('nothing was leased')
    const record = recordOf(visit.url, 'words')
    const settled = await Promise.all([one, two].map((ledger) => ledger.settle(visit, { state: 'indexed', record })))
    expect(settled.map(({ type }) => type).sort()).toEqual(['lost', 'settled'])
    expect(await db.get('SELECT count(*) AS n FROM chunks')).toEqual({ n: 1 })
  })

  test('concurrent settlements of the same content store it once, under the better address', async () => {
    const { db, one, two } = await open()
    await one.offer(['/b', '/a?q=1', '/longer/path', '/c/d/e'])
    const visits = await one.lease()
    await Promise.all(
      visits.map((visit, place) =>
        [one, two][place % 2]?.settle(visit, { state: 'indexed', record: recordOf(visit.url, 'the same') }),
      ),
    )
    const rows = await db.all(`SELECT key, state, target, page_hash IS NOT NULL AS "hasPage" FROM ledger ORDER BY key`)
    const repeated = { state: 'skipped', target: 'https://x.test/b', hasPage: false }
    expect(rows).toEqual([
      { key: 'https://x.test/a?q=1', ...repeated },
      { key: 'https://x.test/b', state: 'indexed', target: null, hasPage: true },
      { key: 'https://x.test/c/d/e', ...repeated },
      { key: 'https://x.test/longer/path', ...repeated },
    ])
    expect(await db.get('SELECT count(*) AS n FROM pages')).toEqual({ n: 1 })
    expect(await listMiscounts(db)).toEqual([])
  })

  test('concurrent offers of the same addresses create one row each', async () => {
    const { db, one, two } = await open()
    const offered = await Promise.all([one, two, one, two].map((ledger) => ledger.offer(PATHS)))
    expect(offered.flat().filter((result) => result === 'admitted')).toHaveLength(PATHS.length)
    expect(await db.get('SELECT count(*) AS n FROM ledger')).toEqual({ n: PATHS.length })
  })

  test('writes to one source do not wait for writes to another', async () => {
    const { db, one } = await open()
    const other = await addLedger(db, 'other')
    await one.offer(['/a'])
    await one.write(async () => {
      await other.offer(['/b'])
      const [visit] = await other.lease()
      if (visit === undefined) throw new Error('nothing was leased')
      expect(await other.settle(visit, { state: 'failed', reason: 'not-found' })).toMatchObject({ type: 'settled' })
    })
  })

  test('a slot of a host that two sources share is never given twice', async () => {
    const { db, one } = await open()
    const other = await addLedger(db, 'other')
    await changeClock(db, 'x.test', 50)
    await Promise.all([one.offer(PATHS), other.offer(PATHS)])
    const leased = await Promise.all([one, other, one, other, one, other].map((ledger) => ledger.lease({ limit: 5 })))
    const slots = leased.flat().map(({ notBefore }) => notBefore)
    expect(slots.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 30 }, (_, number) => 200 + number * 50))
    expect((await readHosts(db, ['x.test'], 200)).get('x.test')?.clock.nextAt).toBe(200 + 30 * 50)
  })
})

test('eight concurrent writers to three sources with common hosts cause no deadlock', async () => {
  const address = await createLibrary()
  const db = await connect(address)
  const ledgers = await Promise.all(['a', 'b', 'c'].map((name) => addLedger(db, name)))
  const hosts = Array.from({ length: isLong ? 12 : 6 }, (_, number) => `h${number}.test`)
  for (const host of hosts.slice(0, hosts.length / 2)) await changeClock(db, host, 1)
  await Promise.all(ledgers.map((ledger) => ledger.write((sql) => offerAll(sql, ledger, hosts, 0))))
  const work = async (writer: number) => {
    const own = await connect(address)
    const mine = ledgers.map(({ source, crawl }) => ledgerOver(own, source, crawl))
    for (let round = 0; round < (isLong ? 60 : 25); round++) {
      const ledger = mine[(writer + round) % mine.length]
      if (ledger === undefined) continue
      // The random order would cause a deadlock if clocks were locked one by one in that order.
      const visits = await ledger.lease({ limit: 4, jitter: () => Math.random() })
      await changeClock(own, hosts[(writer * 5 + round) % hosts.length] ?? '', 1)
      for (const [place, visit] of visits.entries()) {
        if (place === 3) await ledger.release([visit])
        else await ledger.settle(visit, settlementOf(visit.url, place))
      }
    }
    return mine.map(({ runs }) => runs)
  }
  const runs = (await Promise.all(Array.from({ length: 8 }, (_, writer) => work(writer)))).flat()
  // No transaction had to be repeated.
  expect(runs.reduce((sum, { begun }) => sum + begun, 0)).toBe(runs.reduce((sum, { done }) => sum + done, 0))
  expect(await listMiscounts(db)).toEqual([])
  expect(await Promise.all(ledgers.map((ledger) => ledger.isDone()))).toEqual([true, true, true])
  const pages = await db.get(
    `SELECT count(*) AS pages, count(DISTINCT (source, page_hash)) AS contents FROM ledger WHERE page_hash IS NOT NULL`,
  )
  const stored = await db.get('SELECT count(*) AS pages, count(DISTINCT first_chunk) AS contents FROM pages')
  expect(stored).toEqual(pages)
})

test('a settlement whose connection is killed writes nothing', async () => {
  const { db, one, two } = await open()
  await one.offer(['/a', '/b'])
  const [first, visit] = await one.lease()
  if (first === undefined || visit === undefined) throw new Error('nothing was leased')
  await one.settle(first, { state: 'indexed', record: recordOf(first.url, 'the same') })
  const before = await dump(db)
  const settlement = {
    visit,
    crawlId: one.crawl.id,
    now: 400,
    state: 'indexed',
    record: recordOf(visit.url, 'new words', ['https://x.test/l']),
    aliases: [{ url: visit.url, aliasUrl: 'https://x.test/z', classification: 'redirect', reason: null }],
    finds: [foundAddressOf('/c'), foundAddressOf('/a')],
  } as const
  const killed = two.write(async (sql) => {
    const { pid } = (await sql.get<{ pid: number }>('SELECT pg_backend_pid() AS pid')) ?? { pid: 0 }
    const settled = await settle(sql, two.source, two.crawl, settlement)
    await db.run('SELECT pg_terminate_backend($1, 5000)', [pid])
    return settled
  })
  await expect(killed).rejects.toMatchObject({ code: 'LIBRARY_UNREACHABLE' })
  expect(await dump(db)).toEqual(before)
  // The lock is free again, and the lease is still valid.
  expect(await two.settle(visit, settlement)).toMatchObject({ type: 'settled', finds: ['admitted', 'known'] })
  expect(await listMiscounts(db)).toEqual([])
})

test('a NUL character from a site is stored as the replacement character', async () => {
  const { db, one } = await open()
  await one.offer(['/a'])
  const [visit] = await one.lease()
  if (visit === undefined) throw new Error('nothing was leased')
  const record = recordOf(visit.url, 'a\0b', ['https://x.test/\0'])
  expect(await one.settle(visit, { state: 'indexed', record, detail: '\0' })).toMatchObject({ type: 'settled' })
  expect(await db.get('SELECT l.detail, p.markdown FROM ledger l JOIN pages p ON p.id = l.id')).toEqual({
    detail: '\uFFFD',
    markdown: 'a\uFFFDb',
  })
})

test('several finds of one address in one call have the same effect as in the memory store', async () => {
  const { db, one } = await open()
  const store = createMemoryStore()
  await store.addSource({ id: 's' } as Parameters<typeof store.addSource>[0])
  const refusal = { reason: 'blocked', pattern: '/x', target: null } as const
  const finds: FoundAddress[] = [
    foundAddressOf('/a', { refusal }),
    foundAddressOf('/b', { depth: 5, weight: 7 }),
    foundAddressOf('/a', { discovery: 'sitemap', foundOn: 'https://x.test/map' }),
    foundAddressOf('/b', { depth: 2, weight: 9 }),
    foundAddressOf('/a', { depth: 0 }),
    foundAddressOf('/b', { refusal: { ...refusal, reason: 'covered', target: 'https://x.test/a' } }),
    foundAddressOf('/c', { refusal }),
    foundAddressOf('/c', { refusal: { ...refusal, reason: 'max-depth' } }),
    foundAddressOf('/d'),
    foundAddressOf('/c'),
    foundAddressOf('/b'),
  ]
  const offered = await one.write((sql) => recordFoundAddresses(sql, one.source, one.crawl, finds, 100, 3))
  expect(offered).toEqual(await store.offer('s', one.crawl.id, finds, 100, [], 3))
  const expected = await store.listRows('s', { limit: 10 })
  const rows = await db.all(
    `SELECT key, url, state, reason, pattern, target, depth, discovery, found_on AS "foundOn" FROM ledger ORDER BY key`,
  )
  expect(rows).toEqual(
    expected.map(({ key, url, state, reason, pattern, target, depth, discovery, foundOn }) => ({
      key,
      url,
      state,
      reason,
      pattern,
      target,
      depth,
      discovery,
      foundOn,
    })),
  )
  expect(await listMiscounts(db)).toEqual([])
})

test('leases from many hosts are ordered by weight, depth and age, and skip busy hosts', async () => {
  const { db, one } = await open()
  const hosts = Array.from({ length: 30 }, (_, number) => `h${number}.test`)
  await one.write((sql) => offerAll(sql, one, hosts, 3))
  const keysOf = async (limit: number, isBreadthFirst: boolean, now = 200) => {
    const visits = await one.lease({ limit, isBreadthFirst: isBreadthFirst, now, horizon: now })
    await one.release(visits)
    return visits.map(({ key }) => key.slice('https://'.length))
  }
  const expectedKeys = (from: number, to: number, path: string) => hosts.slice(from, to).map((host) => `${host}${path}`)
  // All hosts are free, and depth counts more than age.
  expect(await keysOf(4, false)).toEqual(expectedKeys(0, 4, '/0'))
  // So many hosts are busy that no row of a free host is among the first rows.
  for (const host of hosts.slice(0, 25)) await changeClock(db, host, 1000, 100_000)
  expect(await keysOf(2, false)).toEqual(expectedKeys(25, 27, '/0'))
  expect(await keysOf(2, true)).toEqual(expectedKeys(25, 27, '/0'))
  // A row is ordered by its own weight as soon as it is due.
  await db.run(`UPDATE ledger SET due_at = 250, weight = -1 WHERE key = 'https://h29.test/2'`)
  expect(await keysOf(2, false)).toEqual(expectedKeys(25, 27, '/0'))
  expect(await keysOf(2, false, 250)).toEqual(['h29.test/2', 'h25.test/0'])
  expect(await keysOf(2, true, 250)).toEqual(expectedKeys(25, 27, '/0'))
  expect(await listMiscounts(db)).toEqual([])
})

test('a process with a low host limit does not scan all hosts', async () => {
  const { db, one } = await open()
  await fill(db, one, 3000)
  const holder = new HostHolder('capped')
  const request = {
    sourceId: 'any',
    limit: 4,
    now: 1000,
    until: 10_000,
    horizon: 1100,
    isBreadthFirst: false,
    maxHosts: 3,
  }
  const texts: string[] = []
  const leaseOnce = (): Promise<LeaseResult> =>
    one.write(async (sql) => {
      const recordingSql: Sql = {
        ...sql,
        all: (text, values) => {
          texts.push(text)
          return sql.all(text, values)
        },
      }
      holder.beginRequest(request)
      const leased = await lease(recordingSql, one.source, holderRequestOf({ ...request }, holder))
      holder.recordResult(leased, undefined)
      holder.endRequest()
      return leased
    })
  for (let i = 0; i < 3; i++) {
    const { visits } = await leaseOnce()
    expect(visits.length).toBeGreaterThan(0)
    holder.endVisits(visits)
  }
  expect(holder.hosts.length).toBeLessThanOrEqual(3)
  expect(texts.filter((text) => /FROM open_hosts .*ORDER BY host/s.test(text))).toEqual([])
})

describe('with many rows', () => {
  test('every operation of a visit uses indexes and few statements', async () => {
    const { db, one } = await open()
    const others = await Promise.all(['2', '3', '4', '5', '6', '7', '8'].map((name) => addLedger(db, name)))
    await fill(db, one, 250)
    for (const ledger of others) await fill(db, ledger, 2500)
    const few = await addLedger(db, 'few')
    await fill(db, few, 20)
    await db.run(`INSERT INTO hosts (host, next_at, interval_ms, floor_ms)
      SELECT 'h' || n || '.test', CASE WHEN n < 200 THEN 5000 ELSE 0 END, 10, 10 FROM generate_series(0, 99999) AS n`)
    await db.run('ANALYZE')
    const now = 1_000
    const request = { sourceId: 'any', limit: 4, now, until: 10_000, horizon: now + 100, isBreadthFirst: false }
    const finds = Array.from({ length: 100 }, (_, number) =>
      foundAddressOf(number < 50 ? `/${number}` : `/new/${number}`),
    )
    await one.write(async (sql) => {
      const plans = recordPlans(sql)
      const counts: Record<string, number> = {}
      const counted = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
        const before = plans.count()
        const result = await work()
        counts[name] = plans.count() - before
        return result
      }
      const free = { ...request, limit: 40, now: 6_000, horizon: 6_100 }
      await counted('lease', () => lease(plans.sql, few.source, holderRequestOf(free)))
      await counted('lease breadth-first', () =>
        lease(plans.sql, few.source, holderRequestOf({ ...free, isBreadthFirst: true })),
      )
      const first = await counted('lease from many hosts', () => lease(plans.sql, one.source, holderRequestOf(request)))
      await counted('lease breadth-first from many hosts', () =>
        lease(plans.sql, one.source, holderRequestOf({ ...request, isBreadthFirst: true })),
      )
      await sql.run('UPDATE ledger SET due_at = NULL WHERE source = $1 AND due_at IS NOT NULL', [one.source])
      await sql.run('UPDATE hosts SET next_at = 0')
      await counted('lease with all hosts free', () => lease(plans.sql, one.source, holderRequestOf(request)))
      await counted('lease breadth-first with all hosts free', () =>
        lease(plans.sql, one.source, holderRequestOf({ ...request, isBreadthFirst: true })),
      )
      await counted('offer', () => recordFoundAddresses(plans.sql, one.source, one.crawl, finds, now, 1_000_000))
      const [visit, second, third, fourth] = first.visits
      if (visit === undefined || second === undefined || third === undefined || fourth === undefined) {
        throw new Error('nothing was leased')
      }
      const settlement = { crawlId: one.crawl.id, now, maxRows: 1_000_000 } as const
      const record = recordOf(visit.url, 'words', ['https://x.test/l'])
      await counted('settle', () =>
        settle(plans.sql, one.source, one.crawl, {
          ...settlement,
          visit,
          state: 'indexed',
          record,
          finds: finds.map((find) => ({ ...find, key: `${find.key}/more` })),
        }),
      )
      const further = finds.map((find) => ({ ...find, key: `${find.key}/and/more` }))
      const helper = { crawl: one.crawl.number, name: 'helper' }
      const own = recordOf(fourth.url, 'other words', ['https://x.test/l'])
      await counted('settle as a helper', () =>
        settle(
          plans.sql,
          one.source,
          one.crawl,
          { ...settlement, visit: fourth, state: 'indexed', record: own, finds: further },
          helper,
        ),
      )
      await counted('settle duplicate content', () =>
        settle(plans.sql, one.source, one.crawl, { ...settlement, visit: second, state: 'indexed', record, finds }),
      )
      await counted('settle a failure', () =>
        settle(plans.sql, one.source, one.crawl, { ...settlement, visit: third, state: 'failed', reason: 'timeout' }),
      )
      await counted('adopt', () =>
        adopt(plans.sql, one.source, one.crawl, {
          sourceId: 'any',
          crawlId: one.crawl.id,
          now,
          find: foundAddressOf('/adopted'),
          record: recordOf('https://x.test/adopted', 'others'),
          finds: [],
          maxRows: 1_000_000,
        }),
      )
      await counted('release', () => release(plans.sql, one.source, first.visits.slice(3)))
      await counted('count open rows', () => countOpen(plans.sql, one.source, now, holderRequestOf(request).holder))
      await counted('list held hosts', () => listHeldHosts(plans.sql, one.source, now, now))
      await counted('fail pending rows', () => failPending(plans.sql, one.source, 'h1.test', 'host-parked', null))
      for (const [name, max] of Object.entries(MAX_STATEMENTS)) expect(counts[name], name).toBeLessThanOrEqual(max)
      expect(await plans.listFullScans()).toEqual([])
      expect(await plans.listIndexes()).toEqual(expect.arrayContaining(INDEXES))
    })
  })
})

/** A library with one source, over two connections. */
async function open(): Promise<{ db: Database; one: TestLedger; two: TestLedger }> {
  const address = await createLibrary()
  const [db, other] = await Promise.all([connect(address), connect(address)])
  const one = await addLedger(db, 'one')
  return { db, one, two: ledgerOver(other, one.source, one.crawl) }
}

/** Sets the interval of a host, and keeps the host busy until `nextAt`. */
async function changeClock(db: Database, host: string, pauseMs: number, nextAt = 0): Promise<void> {
  await db.transaction(async (sql) => {
    const state = (await lockHosts(sql, [host], 0)).get(host)
    if (state === undefined) throw new Error(`${host} has no clock`)
    const clock = { ...setFloor(state.clock, pauseMs, 0, 0), nextAt: Math.max(nextAt, state.clock.nextAt) }
    await writeHosts(sql, new Map([[host, { ...state, clock }]]))
  })
}

/** Offers `perHost` addresses on each host, the first with depth 0, the next with depth 1 and so on. 0 means five with depth 1. */
function offerAll(
  sql: Parameters<typeof recordFoundAddresses>[0],
  { source, crawl }: TestLedger,
  hosts: readonly string[],
  perHost: number,
): Promise<unknown> {
  const paths = Array.from({ length: perHost === 0 ? 5 : perHost }, (_, number) => number)
  const finds = hosts.flatMap((host) =>
    paths.map((number) => foundAddressOf(`/${number}`, { host, depth: perHost === 0 ? 1 : number })),
  )
  return recordFoundAddresses(sql, source, crawl, finds, 100)
}

/** The outcome of a visit: some pages have the content of others, some have further links, and some fail. */
function settlementOf(url: string, place: number) {
  if (place === 0) return { state: 'failed', reason: 'timeout' } as const
  const { host } = new URL(url)
  const finds =
    url.length < 'https://h10.test/0/more/more'.length
      ? [foundAddressOf(`${new URL(url).pathname}/more`, { host })]
      : []
  return { state: 'indexed', record: recordOf(url, `content ${url.length * place}`), finds } as const
}

/** Adds 2,500 rows that are pending, indexed, skipped or failed, on the given number of hosts. */
async function fill(db: Database, { source, crawl }: TestLedger, hosts: number): Promise<void> {
  await db.run(
    `INSERT INTO ledger (source, crawl, key, url, host, discovery, first_seen_at, checked_at, depth, weight, state, reason,
       page_hash, content_hash, due_at, awaits_confirmation, target)
     SELECT $1, $2, 'https://x.test/' || n, 'https://x.test/' || n, 'h' || n % $3 || '.test', 'link', n, n, n % 7, n % 3,
       (ARRAY['pending', 'pending', 'indexed', 'skipped', 'failed'])[n % 5 + 1],
       CASE n % 5 WHEN 3 THEN 'duplicate' WHEN 4 THEN 'timeout' END,
       CASE n % 5 WHEN 2 THEN sha256(convert_to(n::text, 'UTF8')) END, sha256(convert_to((n / 5)::text, 'UTF8')),
       CASE WHEN n % 25 = 1 THEN n END, n % 50 = 0, CASE n % 5 WHEN 3 THEN 'https://x.test/' || n - 1 END
     FROM generate_series(1, 2500) AS n`,
    [source, crawl.number, hosts],
  )
  await db.run('INSERT INTO links SELECT id, $2 FROM ledger WHERE source = $1 AND page_hash IS NOT NULL', [
    source,
    '[]',
  ])
}

/** All rows that settlements write. */
async function dump(db: Database): Promise<unknown> {
  const tables = ['ledger', 'pages', 'chunks', 'links', 'url_aliases', 'ledger_counts', 'open_hosts', 'host_counts']
  return Promise.all(
    [...tables, 'index_stale', 'index_gone'].map((table) => db.all(`SELECT t::text AS row FROM ${table} t ORDER BY 1`)),
  )
}
