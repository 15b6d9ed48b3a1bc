import { describe, expect, test } from 'vitest'
import { PharosError } from '../../src/core/errors.ts'
import type { CrawlEvent, CrawlSummary } from '../../src/crawl/events.ts'
import type { CrawlLimits } from '../../src/crawl/run.ts'
import { systemClock } from '../../src/fetch/clock.ts'
import { createSwitches } from '../../src/jobs/crawl-switches.ts'
import { addSource } from '../../src/library/operations/add-source.ts'
import { type CrawlInput, crawlSource } from '../../src/library/operations/crawl-source.ts'
import { findJoinable, joinCrawl } from '../../src/library/operations/join-crawl.ts'
import type { Source } from '../../src/library/source.ts'
import { type OpenLibrary, openLibrary } from '../../src/open-library.ts'
import { closeLater } from '../close-later.ts'
import { isLong } from '../faults/bounded.ts'
import { startChild } from '../sites/children.ts'
import { stageOnce, stageSite } from '../sites/crawl.ts'
import { comparable, type Dump, readHoldings } from '../sites/library-file.ts'
import { quicken } from '../sites/quicken.ts'
import { openSite, page, redirect, type Site } from '../sites/site.ts'
import { createLibrary } from './databases.ts'
import { findOf } from './ledgers.ts'

const LIMITS: Partial<CrawlLimits> = { concurrency: 4, memoryBytes: 4 * 2 ** 30 }

/** Hosts are lost after so long without a sign of life, where somebody is to lose some. */
const SHORT_LIVED: Partial<CrawlLimits> = { ...LIMITS, aliveMs: 4000 }

async function open(path: string, limits: Partial<CrawlLimits> = {}): Promise<OpenLibrary> {
  const library = await openLibrary({
    path,
    version: '0.0.0',
    allowPrivate: ['127.0.0.0/8'],
    limits: { ...LIMITS, ...limits },
  })
  closeLater(() => library.close())
  return library
}

/** A source whose addresses are on many hosts of this machine: a site, and others that somebody has named. */
interface Farm {
  readonly sites: readonly Site[]
  readonly start: string
  /** Records the source in a library, with all its addresses. */
  plant(library: OpenLibrary): Promise<Source>
  /** Every address that was asked for more than once, but for lists. */
  repeated(): string[]
  /** How many requests all hosts have got. */
  count(): number
}

const PAGES = Array.from({ length: 10 }, (_, at) => `/${at}`)
/** Those of each host of a farm. */
const FARMED = isLong ? PAGES : PAGES.slice(0, 6)

async function openFarm(hosts: number, delayMs: number): Promise<Farm> {
  const sites: Site[] = []
  for (let host = 1; host <= hosts; host++) {
    const answer = (path: string) => ({ delayMs, body: page(`Page ${path} of host ${host}`, ['/']) })
    const pages = Object.fromEntries(['/', ...FARMED].map((path) => [path, answer(path)]))
    sites.push(await stageSite(pages, { address: `127.0.0.${host}` }))
  }
  const start = `${sites[0]?.origin}/`
  const all = sites.flatMap((site) => FARMED.map((path) => ({ path, site })))
  return {
    sites,
    start,
    async plant(library) {
      const source = await addSource(library, { url: start })
      const finds = all.map(({ path, site: { origin } }) => {
        const url = `${origin}${path}`
        return findOf(path, { key: url, url, host: new URL(origin).host, discovery: 'manual' })
      })
      await library.store.offer(source.id, 'somebody', finds, library.clock.now())
      return source
    },
    repeated: () =>
      sites.flatMap(({ origin, requests }) => {
        const paths = requests.filter(({ status }) => status !== 404).map(({ path }) => path)
        return paths.filter((path, at) => paths.indexOf(path) !== at).map((path) => `${origin}${path}`)
      }),
    count: () => sites.reduce((sum, { requests }) => sum + requests.length, 0),
  }
}

/** What a library holds of a source. */
async function dump(path: string, library: OpenLibrary, source: Source, isLevelled = false): Promise<Dump> {
  return comparable(await readHoldings(path, library, source, NOWHERE), NOWHERE, isLevelled)
}

/** Addresses are compared as they are. */
const NOWHERE = 'https://nowhere.test'

/** A crawl by one process into a library of its own. */
async function crawlAlone(farm: Farm): Promise<{ readonly dump: Dump; readonly summary: CrawlSummary }> {
  const path = await createLibrary()
  const library = await open(path)
  const source = await farm.plant(library)
  const { summary } = await run(crawlSource(library, source, { kind: 'add' }, new AbortController().signal))
  return { dump: await dump(path, library, source), summary }
}

/** A farm that no test changes, and what one process has brought of it. */
const stageKnown = stageOnce(async () => {
  const farm = await openFarm(6, 80)
  return { farm, alone: await crawlAlone(farm) }
})

/** The same, and nobody has asked it for anything yet. */
async function stageFarm(): ReturnType<typeof stageKnown> {
  const staged = await stageKnown()
  for (const site of staged.farm.sites) site.forget()
  return staged
}

interface Ran {
  readonly events: readonly CrawlEvent[]
  readonly summary: CrawlSummary
}

async function run(crawling: AsyncIterable<CrawlEvent>, events: CrawlEvent[] = []): Promise<Ran> {
  for await (const event of crawling) events.push(event)
  const last = events.at(-1)
  if (last?.type !== 'ended') throw new Error(`the crawl ended with ${JSON.stringify(last)}`)
  return { events, summary: last.summary }
}

function crawl(library: OpenLibrary, source: Source, input: Partial<CrawlInput> = {}): Promise<Ran> {
  return run(crawlSource(library, source, { kind: 'add', ...input }, new AbortController().signal))
}

/** The same, once whoever has it gives no sign of life any more. */
async function crawlWhenFree(library: OpenLibrary, source: Source): Promise<Ran> {
  for (;;) {
    try {
      return await crawl(library, source)
    } catch (error) {
      if (!(error instanceof PharosError) || error.code !== 'CRAWL_RUNNING') throw error
    }
    await library.clock.sleep(100)
  }
}

async function join(library: OpenLibrary, crawlId: string, events?: CrawlEvent[]): Promise<Ran> {
  return run(joinCrawl(library, await findJoinable(library, crawlId), new AbortController().signal), events)
}

/** The crawl that others may take part in, once there is one. */
async function findSharable({ store, clock }: OpenLibrary): Promise<string> {
  for (;;) {
    const [found] = (await store.listSharable?.(clock.now())) ?? []
    if (found !== undefined) return found.crawlId
    await clock.sleep(10)
  }
}

const COUNTS = ['visited', 'indexed', 'unchanged', 'skipped', 'failed', 'bytes', 'overflow', 'newInRefresh'] as const

function countsOf(summary: CrawlSummary): Record<string, number> {
  return Object.fromEntries(COUNTS.map((name) => [name, summary[name]]))
}

/** Addresses that a process has settled. */
function settledBy({ events }: Pick<Ran, 'events'>): string[] {
  return events.flatMap((event) => (event.type === 'settled' ? [event.url] : []))
}

const DELAY_MS = 40

/** A site whose start leads to another host, with pages at both. */
async function openMoved(): Promise<{ readonly from: Site; readonly to: Site }> {
  const [from, to] = [await openSite({}, { address: '127.0.0.1' }), await openSite({}, { address: '127.0.0.2' })]
  for (const site of [from, to]) closeLater(() => site.close())
  const old = PAGES.map((path) => `/old${path}`)
  from.pages.set('/', redirect(`${to.origin}/`, 302))
  for (const path of old) from.pages.set(path, { delayMs: DELAY_MS, body: page(`Old ${path}`, [`${to.origin}/`]) })
  const links = [...old.map((path) => from.origin + path), ...PAGES]
  to.pages.set('/', page('Home', links))
  for (const path of PAGES) to.pages.set(path, { delayMs: DELAY_MS, body: page(`New ${path}`, [`/deep${path}`]) })
  for (const path of PAGES) to.pages.set(`/deep${path}`, { delayMs: DELAY_MS, body: page(`Deep ${path}`, links) })
  return { from, to }
}

/** A library of its own that reads a site, with the help of another process or without. */
async function openReading(site: Site, isShared: boolean) {
  const path = await createLibrary()
  const limits = isShared ? { hosts: 1 } : {}
  const beginner = await open(path, limits)
  const helper = await open(path, limits)
  const source = await addSource(beginner, { url: `${site.origin}/`, scope: { reach: 'hostname', maxDepth: 9 } })
  return {
    async read(kind: CrawlInput['kind']) {
      const begun = crawl(beginner, source, { kind, acceptLoss: true })
      const helped = isShared ? await join(helper, await findSharable(beginner)) : undefined
      const { summary, events } = await begun
      const milestones = events.flatMap((event) => (event.type === 'milestone' ? [event.kind] : []))
      return { helped, summary, milestones, dump: await dump(path, beginner, source, true) }
    },
  }
}

/** A crawl that waits while another process does some of it. */
async function helpByChild() {
  const { farm, alone } = await stageFarm()
  const path = await createLibrary()
  const beginner = await open(path, { ...SHORT_LIVED, hosts: 1 })
  const source = await farm.plant(beginner)
  const { control, obey } = createSwitches()
  const begun = crawl(beginner, source, { control })
  const id = await findSharable(beginner)
  obey('PAUSE')
  const child = startChild('join', path, id, JSON.stringify({ limits: SHORT_LIVED }))
  await child.told('settled', 5)
  const ending = (): Promise<Ran> => {
    obey('RESUME')
    return begun
  }
  return { farm, alone, path, beginner, source, child, ending }
}

describe('a crawl that further processes take part in', () => {
  test('is the same as that of one, its counts are those of all, and every page is asked for once', async () => {
    const { farm, alone } = await stageFarm()
    const path = await createLibrary()
    const [beginner, ...others] = await Promise.all([1, 2, 3].map(() => open(path, { hosts: 2 })))
    if (beginner === undefined) throw new Error('nothing was opened')
    const source = await farm.plant(beginner)
    const begun = crawl(beginner, source)
    const id = await findSharable(beginner)
    const joined = await Promise.all(others.map((library) => join(library, id)))
    const { summary } = await begun
    expect(summary).toMatchObject({ end: 'completed', problem: null })
    expect(countsOf(summary)).toEqual(countsOf(alone.summary))
    expect(summary.requests).toBe(farm.count())
    expect(farm.repeated()).toEqual([])
    for (const one of joined) {
      expect(one.summary).toMatchObject({ end: 'completed', problem: null, crawlId: id })
      expect(one.summary.visited).toBeGreaterThan(0)
      expect(settledBy(one)).toHaveLength(one.summary.visited)
    }
    expect(await dump(path, beginner, source)).toEqual(alone.dump)
    const [kept] = await beginner.store.listCrawls(source.id, 1)
    expect(kept?.summary).toEqual(summary)
    // Nobody may take part in what is over.
    expect(await beginner.store.listSharable?.(beginner.clock.now())).toEqual([])
    await expect(join(beginner, id)).rejects.toMatchObject({ code: 'CRAWL_NOT_RUNNING' })
  })

  test('is shared when its start has answered, and who takes part learns later what its lists hold', async () => {
    const farm = await openFarm(2, 0)
    const [first, second] = farm.sites
    first?.pages.set('/llms.txt', { status: 404, delayMs: 1000 })
    // It is asked after the first one, and the crawl is not over before somebody has looked.
    for (const at of FARMED) second?.pages.set(at, { delayMs: 1000, body: page(`Page ${at}`, []) })
    const path = await createLibrary()
    const [beginner, other] = [await open(path, { hosts: 1 }), await open(path)]
    const source = await farm.plant(beginner)
    const begun = crawl(beginner, source)
    const id = await findSharable(beginner)
    // What comes after the first of the lists has not been asked for.
    expect(first?.requests.map((request) => request.path)).not.toContain('/llms-full.txt')
    const joined = await other.store.joinCrawl?.(id)
    expect(joined?.shared).toEqual({ siteUrl: farm.start, isFullKnown: false })
    const later = { siteUrl: farm.start, isFullKnown: true }
    await expect.poll(() => joined?.touch(other.clock.now())).toEqual(later)
    await joined?.leave(other.clock.now())
    expect((await begun).summary).toMatchObject({ end: 'completed', problem: null })
  })

  test('of a site that has moved goes on where it is now, for all of them, and removes what is gone', async () => {
    const { from, to } = await openMoved()
    const first = await Promise.all([false, true].map((isShared) => openReading(from, isShared)))
    const [alone, shared] = first
    if (alone === undefined || shared === undefined) throw new Error('nothing was opened')
    const added = { alone: await alone.read('add'), shared: await shared.read('add') }
    expect(added.shared.helped?.summary.indexed).toBeGreaterThan(0)
    expect(added.shared.dump).toEqual(added.alone.dump)
    expect(countsOf(added.shared.summary)).toEqual(countsOf(added.alone.summary))
    expect(added.shared.summary.indexed).toBe(1 + 3 * PAGES.length)
    // Whoever has read what.
    expect(added.alone.milestones).toEqual(['depth2-coverage'])
    expect(added.shared.milestones).toEqual(['depth2-coverage'])

    for (const path of ['/3', '/deep/5']) to.pages.delete(path)
    from.pages.delete('/old/2')
    to.pages.set('/4', { delayMs: DELAY_MS, body: page('Four is another now', ['/deep/4', '/deep/3']) })
    const again = { alone: await alone.read('recrawl'), shared: await shared.read('recrawl') }
    expect(again.shared.helped?.summary.visited).toBeGreaterThan(0)
    expect(again.shared.summary).toMatchObject({ end: 'completed', removed: again.alone.summary.removed })
    expect(again.shared.summary.removed).toBe(3)
    expect(again.shared.dump).toEqual(again.alone.dump)
    expect(countsOf(again.shared.summary)).toEqual(countsOf(again.alone.summary))
  })

  test('loses and repeats nothing of a process that is killed while it takes part', async () => {
    const { farm, alone, path, beginner, source, child, ending } = await helpByChild()
    child.process.kill('SIGKILL')
    await child.ended
    const { summary } = await ending()
    expect(summary).toMatchObject({ end: 'completed', problem: null })
    // Only what it had under way is asked for once more; what it had told is counted.
    expect(countsOf(summary)).toMatchObject({ ...countsOf(alone.summary), bytes: expect.any(Number) })
    expect(farm.repeated().length).toBeLessThanOrEqual(4)
    expect(await dump(path, beginner, source)).toEqual(alone.dump)
  })

  test('loses and repeats nothing of a process that stands still past its lease', async () => {
    const { alone, path, beginner, source, child, ending } = await helpByChild()
    child.process.kill('SIGSTOP')
    const { summary } = await ending()
    const after = await dump(path, beginner, source)
    child.process.kill('SIGCONT')
    await expect(child.ended).resolves.toEqual({ code: 0, stderr: '' })
    expect(summary).toMatchObject({ end: 'completed', problem: null })
    expect(countsOf(summary)).toMatchObject({ ...countsOf(alone.summary), bytes: expect.any(Number) })
    expect(after).toEqual(alone.dump)
    // What it brought when it woke up came too late.
    expect(await dump(path, beginner, source)).toEqual(after)
  })

  test('goes on when whoever began it is killed, and ends with whoever takes it up', async () => {
    const { farm, alone } = await stageFarm()
    const path = await createLibrary()
    const helper = await open(path, { hosts: 2 })
    const source = await farm.plant(helper)
    const limits = { ...LIMITS, hosts: 2, concurrency: 2 }
    const child = startChild('crawl', path, farm.start, JSON.stringify({ limits }))
    const told: CrawlEvent[] = []
    const joined = join(helper, await findSharable(helper), told)
    await child.told('settled', 4)
    while (!told.some(({ type }) => type === 'begun')) await helper.clock.sleep(10)
    child.process.kill('SIGKILL')
    await child.ended
    const begun = told.flatMap((event) => (event.type === 'begun' ? [event.url] : []))
    const { events, summary } = await crawl(await open(path, { hosts: 2 }), source)
    expect(events[0]).toMatchObject({ type: 'started', isResumed: true })
    expect(summary).toMatchObject({ end: 'completed', problem: null })
    const { summary: helped, ...ran } = await joined
    expect(helped).toMatchObject({ end: 'completed', problem: null })
    // What the helper had under way when the crawl was taken up stayed its own.
    expect(settledBy(ran)).toHaveLength(helped.visited)
    expect(settledBy(ran)).toEqual(expect.arrayContaining(begun))
    expect(farm.repeated().filter((url) => begun.includes(url))).toEqual([])
    expect(farm.repeated().length).toBeLessThanOrEqual(4)
    expect(await dump(path, helper, source)).toEqual(alone.dump)
  })

  test('is taken from whoever began it and stands still, who changes nothing when it wakes up', {
    timeout: 120_000,
  }, async () => {
    const { farm, alone } = await stageFarm()
    const path = await createLibrary()
    const library = await open(path, SHORT_LIVED)
    const source = await farm.plant(library)
    const child = startChild('crawl', path, farm.start, JSON.stringify({ limits: SHORT_LIVED }))
    await child.told('settled', 6)
    child.process.kill('SIGSTOP')
    const { events, summary } = await crawlWhenFree(library, source)
    expect(events[0]).toMatchObject({ type: 'started', isResumed: true })
    expect(summary).toMatchObject({ end: 'completed', problem: null })
    const after = await dump(path, library, source)
    expect(after).toEqual(alone.dump)
    child.process.kill('SIGCONT')
    await child.ended
    expect(child.lines.at(-1)).toMatchObject({ type: 'ended', summary: { end: 'cancelled' } })
    expect(await dump(path, library, source)).toEqual(after)
    const [kept] = await library.store.listCrawls(source.id, 1)
    expect(kept?.summary).toEqual(summary)
  })

  test.each([
    ['a cap on pages', { scope: { maxPages: 1000 } }],
    ['fields of its own', { headers: { 'x-key': 'secret' } }],
    ['a plan', { crawlType: 'intelligent' }],
  ] as const)('is none where it has %s', async (_, input) => {
    const farm = await openFarm(1, 0)
    const path = await createLibrary()
    const library = await open(path)
    const source = await farm.plant(library)
    const begun = crawl(library, source, input)
    let isOver = false
    void begun.finally(() => {
      isOver = true
    })
    while (!isOver) {
      expect(await library.store.listSharable?.(library.clock.now())).toEqual([])
      await library.clock.sleep(5)
    }
    expect((await begun).summary.end).toBe('completed')
  })
})

test('two crawls of one host both go on, in turns', async () => {
  const long = Array.from({ length: 100 }, (_, at) => `/long/${at}`)
  const short = Array.from({ length: 6 }, (_, at) => `/short/${at}`)
  const answer = (path: string, links: readonly string[] = []) => ({ delayMs: DELAY_MS, body: page(path, links) })
  const site = await openSite({ '/long/': answer('/long/', long), '/short/': answer('/short/', short) })
  closeLater(() => site.close())
  for (const path of [...long, ...short]) site.pages.set(path, answer(path))
  const path = await createLibrary()
  const began = Date.now()
  const begin = async (start: string): Promise<CrawlSummary> => {
    // A turn is a second of theirs.
    const library = quicken(await open(path, { concurrency: 2 }), 5, began)
    const source = await addSource(library, { url: `${site.origin}${start}`, name: start })
    return (await crawl(library, source)).summary
  }
  let isOver = false
  const first = begin('/long/').finally(() => {
    isOver = true
  })
  while (site.requests.length < 10) await systemClock.sleep(10)
  expect(await begin('/short/')).toMatchObject({ end: 'completed', indexed: short.length + 1 })
  expect(isOver).toBe(false)
  expect(await first).toMatchObject({ end: 'completed', indexed: long.length + 1 })
})
