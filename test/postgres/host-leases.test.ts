import { describe, expect, test } from 'vitest'
import { compareUtf8 } from '../../src/core/text/order.ts'
import { setFloor } from '../../src/crawl/hosts/host-clock.ts'
import { CONTESTED_LEASE_MS } from '../../src/crawl/hosts/host-lease.ts'
import { Pacer } from '../../src/crawl/hosts/pacer.ts'
import type { Visit } from '../../src/crawl/ledger.ts'
import { DEFAULT_CRAWL_LIMITS } from '../../src/crawl/run.ts'
import { openPostgresStore } from '../../src/store/postgres/store.ts'
import { isLong } from '../faults/bounded.ts'
import { createLibrary } from './databases.ts'
import { connect, foundAddressOf } from './ledgers.ts'
import { openLossyProxy } from './lossy-proxy.ts'
import {
  addSource,
  crawlOf,
  LIVENESS_TIMEOUT_MS,
  lease,
  NOW,
  openStore,
  type Store,
  settle,
  untilWaiting,
} from './stores.ts'

/** Two processes on one library, with sources of the given names. */
async function openTwo(...sources: readonly string[]) {
  const address = await createLibrary()
  const [one, two] = [await openStore(address, 'one'), await openStore(address, 'two')]
  for (const id of sources) await addSource(one, id)
  return { address, one, two, db: await connect(address) }
}

/** Offers some addresses of each host. */
async function offer(store: Store, source: string, hosts: readonly string[], count = 3): Promise<void> {
  const finds = hosts.flatMap((host) => Array.from({ length: count }, (_, at) => foundAddressOf(`/${at}`, { host })))
  await store.offer(source, `crawl of ${source}`, finds, NOW)
}

const hostsOf = (visits: readonly Visit[]) => [...new Set(visits.map(({ host }) => host))].sort(compareUtf8)

const SIX_HOSTS = ['a.test', 'b.test', 'c.test', 'd.test', 'e.test', 'f.test']

describe('two processes on one library', () => {
  test('never hold the same host, and skip the hosts of the other', async () => {
    const { one, two } = await openTwo('docs')
    await offer(one, 'docs', SIX_HOSTS)
    const first = await lease(one, 'docs', NOW, { maxHosts: 2 })
    const second = await lease(two, 'docs', NOW)
    expect(hostsOf(first)).toEqual(['a.test', 'b.test'])
    expect(hostsOf(second)).toEqual(['c.test', 'd.test', 'e.test', 'f.test'])
    expect(await lease(one, 'docs', NOW + 1)).toEqual([])
    for (const visit of [...first, ...second]) {
      expect(await settle(visit.host < 'c' ? one : two, visit)).toMatchObject({ type: 'settled' })
    }
    expect(await one.countOpen('docs', NOW)).toMatchObject({ pending: 0, leased: 0 })
  })

  test('divide very many hosts between them when they lease concurrently', async () => {
    const { one, two, db } = await openTwo('docs')
    const many = Array.from({ length: 80 }, (_, at) => `h${at}.test`)
    await offer(one, 'docs', many, 2)
    const taken = await Promise.all(
      [one, two, one, two, one, two].map((store) => lease(store, 'docs', NOW, { limit: 20 })),
    )
    const [of1, of2] = [taken.filter((_, at) => at % 2 === 0).flat(), taken.filter((_, at) => at % 2 === 1).flat()]
    expect(hostsOf(of1).filter((host) => hostsOf(of2).includes(host))).toEqual([])
    expect(of1.length + of2.length).toBe(120)
    const held = await db.all<{ holder: string; hosts: number }>(
      `SELECT split_part(holder, '#', 1) AS holder, count(*) AS hosts FROM hosts WHERE leased_until > 0 GROUP BY 1 ORDER BY 1`,
    )
    expect(held).toEqual([
      { holder: 'one', hosts: hostsOf(of1).length },
      { holder: 'two', hosts: hostsOf(of2).length },
    ])
  })

  test('take over the hosts of a dead process when its lease expires, and refuse its late results', async () => {
    const { one, two, db } = await openTwo('docs')
    await one.beginCrawl(crawlOf('docs'), LIVENESS_TIMEOUT_MS)
    await offer(one, 'docs', ['a.test'], 2)
    const visits = await lease(one, 'docs', NOW)
    const [visit] = visits
    if (visit === undefined) throw new Error('nothing was leased')
    expect(visits).toHaveLength(2)
    expect(await lease(two, 'docs', NOW + LIVENESS_TIMEOUT_MS - 1)).toEqual([])
    const again = await lease(two, 'docs', NOW + LIVENESS_TIMEOUT_MS)
    expect(again.map(({ key }) => key)).toEqual(visits.map(({ key }) => key))
    // The first process was only frozen, and resumes.
    const before = await db.all('SELECT * FROM ledger ORDER BY id')
    const late = await settle(one, visit, { finds: [foundAddressOf('/late')] })
    expect(late).toMatchObject({ type: 'lost', finds: [] })
    await one.release(visits)
    expect(await db.all('SELECT * FROM ledger ORDER BY id')).toEqual(before)
    expect(await db.get('SELECT count(*) AS pages FROM pages')).toEqual({ pages: 0 })
    for (const next of again) expect(await settle(two, next)).toMatchObject({ type: 'settled', state: 'indexed' })
  })

  test('refuse late results for a host that another source has leased meanwhile', async () => {
    const { one, two } = await openTwo('docs', 'blog')
    await offer(one, 'docs', ['a.test'], 1)
    await offer(one, 'blog', ['a.test'], 1)
    const [visit] = await lease(one, 'docs', NOW)
    if (visit === undefined) throw new Error('nothing was leased')
    expect(await lease(two, 'blog', NOW + LIVENESS_TIMEOUT_MS)).toHaveLength(1)
    expect(await settle(one, visit)).toMatchObject({ type: 'lost' })
    // The address is pending again, for the next holder of the host.
    expect(await lease(one, 'docs', NOW + LIVENESS_TIMEOUT_MS + 1)).toEqual([])
    expect(await one.countOpen('docs', NOW + LIVENESS_TIMEOUT_MS + 2)).toMatchObject({ pending: 1, leased: 0 })
  })

  test('keep a host as long as they send heartbeats, and lose none with requests under way', async () => {
    const { one, two } = await openTwo('docs', 'blog')
    await one.beginCrawl(crawlOf('docs'), LIVENESS_TIMEOUT_MS)
    await offer(one, 'docs', ['a.test'], 1)
    await offer(one, 'blog', ['a.test'], 1)
    const [visit] = await lease(one, 'docs', NOW)
    if (visit === undefined) throw new Error('nothing was leased')
    for (let now = NOW; now < NOW + 3 * LIVENESS_TIMEOUT_MS; now += LIVENESS_TIMEOUT_MS / 6) {
      expect(await one.touchCrawl('crawl of docs', now, 'one')).toBe(true)
      expect(await lease(two, 'blog', now + 1)).toEqual([])
    }
    expect(await settle(one, visit)).toMatchObject({ type: 'settled' })
    // The next heartbeat releases the host, because no visit is under way there any more.
    await one.touchCrawl('crawl of docs', NOW + 3 * LIVENESS_TIMEOUT_MS, 'one')
    expect(await lease(two, 'blog', NOW + 3 * LIVENESS_TIMEOUT_MS)).toHaveLength(1)
  })

  test('keep a host that a concurrent lease takes during a heartbeat', async () => {
    const { one, two, db } = await openTwo('docs')
    await one.beginCrawl(crawlOf('docs'), LIVENESS_TIMEOUT_MS)
    await offer(one, 'docs', ['a.test'], 4)
    const [first] = await lease(one, 'docs', NOW, { limit: 1 })
    if (first === undefined) throw new Error('nothing was leased')
    await settle(one, first)
    // A row lock on the host makes both wait, the lease before the heartbeat.
    const [leasing, touching] = await db.transaction(async (sql) => {
      await sql.get(`SELECT 1 FROM hosts WHERE host = 'a.test' FOR UPDATE`)
      const leasing = lease(one, 'docs', NOW + 1000, { limit: 1 })
      await untilWaiting(db, 1)
      const touching = one.touchCrawl('crawl of docs', NOW + 1300, 'one')
      await untilWaiting(db, 2)
      return [leasing, touching] as const
    })
    const [visit] = await leasing
    expect(await touching).toBe(true)
    if (visit === undefined) throw new Error('nothing was leased')
    expect(await lease(two, 'docs', NOW + 1400)).toEqual([])
    expect(await settle(one, visit)).toMatchObject({ type: 'settled' })
  })

  test('take turns if both want one host', async () => {
    const { one, two, db } = await openTwo('docs', 'blog')
    await offer(one, 'docs', ['a.test'], 40)
    await offer(one, 'blog', ['a.test'], 40)
    const turns: string[] = []
    for (let now = NOW; now < NOW + 12 * CONTESTED_LEASE_MS; now += 500) {
      for (const [name, store, source] of [
        ['one', one, 'docs'],
        ['two', two, 'blog'],
      ] as const) {
        const visits = await lease(store, source, now, { limit: 1 })
        if (visits.length > 0 && turns.at(-1) !== name) turns.push(name)
        for (const visit of visits) await settle(store, visit, { state: 'skipped', reason: 'noindex' })
      }
    }
    expect(turns.length).toBeGreaterThanOrEqual(6)
    expect(turns.every((name, at) => name !== turns[at - 1])).toBe(true)
    // Each turn has the configured length: no process waits longer, and the host does not change hands at every visit.
    expect(turns.length).toBeLessThanOrEqual(13)
    const [state] = await db.all<{ token: number }>('SELECT token FROM hosts')
    expect(state?.token).toBe(turns.length)
  })

  test('ask each other for hosts even if there are more than one lease can take', async () => {
    const { one, two, db } = await openTwo('docs', 'blog')
    const many = Array.from({ length: 40 }, (_, at) => `h${at}.test`)
    for (const source of ['docs', 'blog']) await offer(one, source, many, 1)
    for (const limit of [32, 32]) await lease(one, 'docs', NOW, { limit })
    expect(await lease(two, 'blog', NOW + 100, { limit: 32 })).toEqual([])
    const wanted = await db.get('SELECT count(*) AS hosts FROM hosts WHERE wanted_at > 0')
    expect(wanted).toEqual({ hosts: 32 })
  })

  test('ignore a lease that ends further in the future than any valid lease', async () => {
    const { one, two, db } = await openTwo('docs')
    await one.beginCrawl(crawlOf('docs'), LIVENESS_TIMEOUT_MS)
    await one.shareCrawl?.('crawl of docs', { siteUrl: 'https://x.test/', isFullKnown: false }, 'one')
    const many = Array.from({ length: 9 }, (_, at) => `h${at}.test`)
    await offer(one, 'docs', many, 2)
    const [visit] = await lease(one, 'docs', NOW, { limit: 1, maxHosts: 1 })
    // The clock of the holder was years ahead.
    await db.run(`UPDATE hosts SET leased_until = $1 WHERE holder IS NOT NULL`, [NOW + 1e11])
    await db.run(
      `INSERT INTO hosts (host, holder, token, leased_until) SELECT unnest($1::text[]), 'gone', 1, $2
       ON CONFLICT DO NOTHING`,
      [many, NOW + 1e11],
    )
    expect(await two.listSharable?.(NOW)).toMatchObject([{ freeHosts: 9 }])
    expect((await two.countOpen('docs', NOW)).nextAt).toBe(NOW)
    const found = await lease(two, 'docs', NOW, { limit: 4 })
    expect(found).toHaveLength(4)
    expect(found[0]?.key).toBe(visit?.key)
  })

  test('start no new visits at a host that others want, and release it when nothing is under way', async () => {
    const { one, two } = await openTwo('docs', 'blog')
    await offer(one, 'docs', ['a.test'], 5)
    await offer(one, 'blog', ['a.test'], 5)
    const [first, second] = await lease(one, 'docs', NOW, { limit: 2 })
    if (first === undefined || second === undefined) throw new Error('nothing was leased')
    const later = NOW + CONTESTED_LEASE_MS
    expect(await lease(two, 'blog', later)).toEqual([])
    expect(await lease(one, 'docs', later)).toEqual([])
    await settle(one, first)
    expect(await lease(one, 'docs', later + 1)).toEqual([])
    expect(await lease(two, 'blog', later + 1)).toEqual([])
    // The first process can still settle its last visit.
    expect(await settle(one, second)).toMatchObject({ type: 'settled' })
    expect(await lease(one, 'docs', later + 2)).toEqual([])
    expect(await lease(two, 'blog', later + 3)).toHaveLength(5)
  })

  test('do not ask each other for hosts if they work on one crawl', async () => {
    const { one, two, db } = await openTwo('docs')
    await offer(one, 'docs', ['a.test'], 5)
    await lease(one, 'docs', NOW, { limit: 1 })
    expect(await lease(two, 'docs', NOW + CONTESTED_LEASE_MS)).toEqual([])
    expect(await db.get('SELECT wanted_at AS "wantedAt" FROM hosts')).toEqual({ wantedAt: 0 })
    // A process that has to wait does not poll without a pause.
    const { nextAt } = await two.countOpen('docs', NOW + CONTESTED_LEASE_MS)
    expect(nextAt).toBe(NOW + CONTESTED_LEASE_MS + 500)
  })
})

describe('a process', () => {
  test('holds no more hosts than its limit, and takes the next when it is done with one', async () => {
    const { one } = await openTwo('docs')
    await offer(one, 'docs', SIX_HOSTS, 2)
    const capped = { maxHosts: 2 }
    const first = await lease(one, 'docs', NOW, capped)
    expect(hostsOf(first)).toEqual(['a.test', 'b.test'])
    expect(await lease(one, 'docs', NOW + 1, capped)).toEqual([])
    // The process has nothing to do until one of its hosts is done.
    expect(await one.countOpen('docs', NOW + 1)).toMatchObject({ nextAt: NOW + 501 })
    for (const visit of first.filter(({ host }) => host === 'a.test')) await settle(one, visit)
    expect(hostsOf(await lease(one, 'docs', NOW + 2, capped))).toEqual(['c.test'])
  })

  test('holds no more hosts than its limit out of very many, and continues with those it holds', async () => {
    const { one, db } = await openTwo('docs')
    const many = Array.from({ length: isLong ? 50 : 15 }, (_, at) => `h${at}.test`)
    await offer(one, 'docs', many, 4)
    const capped = { maxHosts: 3, limit: 6 }
    const first = await lease(one, 'docs', NOW, capped)
    expect(first).toHaveLength(6)
    expect(hostsOf(first).length).toBeLessThanOrEqual(3)
    for (const visit of first) await settle(one, visit)
    const all = 4 * many.length
    for (let left = all - 6; left > 0; left -= 6) {
      const visits = await lease(one, 'docs', NOW + all - left, capped)
      expect(visits.length).toBe(Math.min(left, 6))
      const held = await db.all<{ host: string }>('SELECT host FROM hosts WHERE leased_until > 0')
      expect(held.length).toBeLessThanOrEqual(3)
      expect(held.map(({ host }) => host)).toEqual(expect.arrayContaining(hostsOf(visits)))
      for (const visit of visits) await settle(one, visit)
    }
    expect(await one.countOpen('docs', NOW)).toMatchObject({ pending: 0, leased: 0 })
  })

  test('releases a host that is paused for a long time, and takes another instead', async () => {
    const { one } = await openTwo('docs')
    await offer(one, 'docs', ['a.test', 'b.test'], 2)
    const capped = { maxHosts: 1 }
    const [visit] = await lease(one, 'docs', NOW, { ...capped, limit: 1 })
    if (visit === undefined) throw new Error('nothing was leased')
    await settle(one, visit, { state: 'failed', reason: 'rate-limited' })
    await one.changeClock('a.test', NOW, (clock) => ({ ...clock, heldUntil: NOW + 900_000 }))
    expect(await lease(one, 'docs', NOW + 1, capped)).toEqual([])
    expect(hostsOf(await lease(one, 'docs', NOW + 2, capped))).toEqual(['b.test'])
  })

  test.each(['ends its crawl', 'ends its crawl with a visit under way', 'is closed'])(
    'releases its hosts when it %s',
    async (how) => {
      const { address, two } = await openTwo('docs', 'blog')
      const store = await openPostgresStore(address)
      await store.beginCrawl(crawlOf('docs'), LIVENESS_TIMEOUT_MS)
      await offer(store, 'docs', ['a.test'], 1)
      await offer(store, 'blog', ['a.test'], 1)
      const visits = await lease(store, 'docs', NOW)
      expect(await lease(two, 'blog', NOW + 1)).toEqual([])
      if (how !== 'ends its crawl with a visit under way') await store.release(visits)
      if (how === 'is closed') await store.close()
      else await store.endCrawl('crawl of docs', null, NOW + 2, 'one')
      expect(await lease(two, 'blog', NOW + 3)).toHaveLength(1)
      if (how !== 'is closed') await store.close()
    },
  )

  test('leaves no orphaned lease if the response to its lease is lost', async () => {
    const { address, db } = await openTwo('docs')
    const proxy = await openLossyProxy(address)
    const store = await openStore(proxy.address, 'far')
    await offer(store, 'docs', ['a.test'], 3)
    proxy.loseCommitResponse()
    const visits = await lease(store, 'docs', NOW)
    expect(proxy.lost()).toBe(1)
    expect(visits).toHaveLength(3)
    const leased = await db.all(`SELECT key, lease FROM ledger WHERE state = 'leased' ORDER BY id`)
    expect(leased).toEqual(visits.map(({ key, lease }) => ({ key, lease })))
    for (const visit of visits) expect(await settle(store, visit)).toMatchObject({ type: 'settled' })
  })

  test('gets the same visits for a repeated lease request with the same id', async () => {
    const { one, db } = await openTwo('docs')
    await offer(one, 'docs', ['a.test'], 3)
    const [unanswered] = await lease(one, 'docs', NOW, { id: 'the same' })
    const visits = await lease(one, 'docs', NOW + 5000, { id: 'the same' })
    expect(visits).toHaveLength(3)
    expect(await db.get(`SELECT count(*) AS leased FROM ledger WHERE state = 'leased'`)).toEqual({ leased: 3 })
    if (unanswered === undefined) throw new Error('nothing was leased')
    expect(await settle(one, unanswered)).toMatchObject({ type: 'settled' })
  })

  test('sends no request out of turn when it resumes after a freeze past its lease', async () => {
    const { one, two } = await openTwo('docs')
    await one.changeClock('a.test', NOW, (clock) => setFloor(clock, 1000, 0, NOW))
    const requests: { readonly who: string; readonly at: number }[] = []
    let now = NOW
    let sleepCount = 0
    // Both processes share this time. The first sleep of a frozen process takes `extraSleepMs` longer.
    const clock = (extraSleepMs: number) => ({
      now: () => now,
      sleep: async (ms: number) => {
        now += ms + (sleepCount++ === 0 ? extraSleepMs : 0)
      },
    })
    const limits = { ...DEFAULT_CRAWL_LIMITS, intervalMs: 1000, startIntervalMs: 1000, jitterMs: [0, 0] as const }
    const pacerOf = (ledger: Store, extraSleepMs = 0) =>
      new Pacer({ ledger, clock: clock(extraSleepMs), random: () => 0, limits })
    await offer(one, 'docs', ['a.test'], 10)
    const [visit] = await lease(one, 'docs', now, { limit: 1 })
    if (visit === undefined) throw new Error('nothing was leased')
    const ask = async (who: string, pacer: Pacer, slot: number, lease?: string) => {
      expect(await pacer.enterSlot('a.test', slot, undefined, lease)).toMatchObject({ host: 'a.test' })
      requests.push({ who, at: now })
    }
    // The other process takes over the host and sends a request every second.
    now = NOW + 4 * LIVENESS_TIMEOUT_MS
    const activePacer = pacerOf(two)
    for (const next of await lease(two, 'docs', now, { limit: 3, horizon: now + 3000 })) {
      await ask('two', activePacer, next.notBefore, next.lease)
    }
    // The first process resumes with an old slot. It sends no request for its visit, because another process holds the host.
    const resumedPacer = pacerOf(one, 4 * LIVENESS_TIMEOUT_MS)
    expect(await resumedPacer.enterSlot('a.test', visit.notBefore, undefined, visit.lease)).toBe('later')
    // For a list, which belongs to no lease, it takes another slot. It freezes once more while it waits for that slot.
    sleepCount = 0
    const asking = ask('one', resumedPacer, visit.notBefore)
    await asking
    const [next] = await lease(two, 'docs', now, { limit: 1, horizon: now + 3000 })
    if (next === undefined) throw new Error('nothing was leased')
    await ask('two', activePacer, next.notBefore)
    const gaps = requests.slice(1).map(({ at }, place) => at - (requests[place]?.at ?? 0))
    expect(requests.map(({ who }) => who)).toEqual(['two', 'two', 'two', 'one', 'two'])
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(1000)
    expect(await settle(one, visit)).toMatchObject({ type: 'lost' })
  })
})
