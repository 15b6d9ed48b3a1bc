import { expect, test } from 'vitest'
import { easeClock } from '../../src/crawl/hosts/host-clock.ts'
import type { FoundAddress, LeaseRequest, Visit } from '../../src/crawl/ledger.ts'
import type { Crawl } from '../../src/library/ports/store.ts'
import { openPostgresStore } from '../../src/store/postgres/store.ts'
import { closeLater } from '../close-later.ts'
import { addSourceTo } from '../embed/filled-store.ts'
import { COSTS } from '../scale/costs.ts'
import type { Operation } from '../scale/database.ts'
import { countStatements } from './counting-proxy.ts'
import { createLibrary } from './databases.ts'
import { foundAddressOf, recordOf } from './ledgers.ts'

const SOURCE = 'docs'
const CRAWL: Crawl = {
  id: 'run',
  sourceId: SOURCE,
  kind: 'add',
  state: 'running',
  endedAt: null,
  summary: null,
  options: { full: false, acceptLoss: false, discover: false, maxAgeMs: 0, maxAgeMsOf: {}, scope: {} },
  runner: 'one',
  startedAt: 1,
  heartbeatAt: 1,
}
const HOSTS = 40
const TOLERANCE = 1
// The keys of this object are exactly the operations.
const OPERATIONS = Object.keys(COSTS) as Operation[]

// The simulation of docs/scale.md uses these numbers.
test('the ledger needs as many statements for a visit as COSTS says', async () => {
  const library = await countStatements(await createLibrary())
  const store = await openPostgresStore(library.address, { runner: 'one' })
  closeLater(() => store.close())
  await addSourceTo(store, SOURCE)
  await store.beginCrawl(CRAWL, 30_000)
  await store.offer(SOURCE, CRAWL.id, findsOf('start', 20 * HOSTS), 1)
  const visits: Visit[] = []
  const lease = async (now: number): Promise<void> => {
    visits.push(...(await store.lease(requestAt(now))))
  }
  const settle = async (): Promise<void> => {
    const visit = visits.shift()
    if (visit === undefined) throw new Error('there is nothing left to visit')
    const finds = findsOf(visit.key, 20)
    const record = recordOf(
      visit.url,
      `text of ${visit.key}`,
      finds.map(({ url }) => url),
    )
    await store.settle({ visit, crawlId: CRAWL.id, now: 3, state: 'indexed', record, finds })
  }
  // The first call of each operation prepares its statements.
  await lease(2)
  await settle()
  const counts: Readonly<Record<Operation, number>> = {
    settle: await library.count(settle),
    release: await library.count(() => store.release(visits.splice(0, 3))),
    lease: await library.count(() => lease(1000)),
    countOpen: await library.count(() => store.countOpen(SOURCE, 1000)),
    countLedger: await library.count(() => store.countLedger(SOURCE)),
    listHeldHosts: await library.count(() => store.listHeldHosts(SOURCE, 1000, 1000)),
    readClock: await library.count(() => store.readClock('h1.test', 1000)),
    changeClock: await library.count(() => store.changeClock('h1.test', 1000, (clock) => easeClock(clock))),
    robots: await library.count(() => store.readRobots('https://h1.test')),
    touch: await library.count(() => store.touchCrawl(CRAWL.id, 1000, CRAWL.runner ?? undefined)),
  }
  expect(visits.length).toBeGreaterThan(0)
  // A difference of one statement does not change the conclusions of the simulation.
  const expected = (operation: Operation) => COSTS[operation].statements
  const differing = OPERATIONS.filter((operation) => Math.abs(counts[operation] - expected(operation)) > TOLERANCE)
  expect(differing.map((operation) => `${operation}: ${counts[operation]}, not ${expected(operation)}`)).toEqual([])
})

function requestAt(now: number): LeaseRequest {
  const until = now + 120_000
  return {
    sourceId: SOURCE,
    crawlId: CRAWL.id,
    limit: 32,
    now,
    until,
    horizon: now + 1000,
    isBreadthFirst: false,
    maxHosts: 24,
  }
}

/** Addresses of many hosts. */
function findsOf(name: string, count: number): FoundAddress[] {
  return Array.from({ length: count }, (_, i) =>
    foundAddressOf(`/${encodeURIComponent(name)}/${i}`, { host: `h${i % HOSTS}.test` }),
  )
}
