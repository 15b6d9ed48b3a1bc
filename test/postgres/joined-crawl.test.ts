import { describe, expect, test } from 'vitest'
import { PharosError } from '../../src/core/errors.ts'
import type { CrawlEvent, CrawlSummary } from '../../src/crawl/events.ts'
import type { CrawlLimits } from '../../src/crawl/run.ts'
import { systemClock } from '../../src/fetch/clock.ts'
import { addSource } from '../../src/library/crawl/add-source.ts'
import { type CrawlInput, crawlSource } from '../../src/library/crawl/crawl-source.ts'
import { findJoinable, joinCrawl } from '../../src/library/crawl/join-crawl.ts'
import type { Source } from '../../src/library/source.ts'
import { reportSource } from '../../src/library/sources/source-status.ts'
import { type OpenLibrary, openLibrary } from '../../src/open-library.ts'
import { createCrawlCommands } from '../../src/processes/crawl-commands.ts'
import { createSiteHeaderLookup } from '../../src/settings/site-headers.ts'
import { closeLater } from '../close-later.ts'
import { isLong } from '../faults/bounded.ts'
import { startChild } from '../sites/children.ts'
import { openTestSite, shareFixture, withNames } from '../sites/crawl.ts'
import { withFastClock } from '../sites/fast-clock.ts'
import { type Dump, readSourceContent, toComparable } from '../sites/file-fixture.ts'
import { openSite, page, redirect, type Site, sitemap } from '../sites/site.ts'
import { createLibrary } from './databases.ts'
import { foundAddressOf } from './ledgers.ts'

const LIMITS: Partial<CrawlLimits> = { concurrency: 4, memoryBytes: 4 * 2 ** 30 }

/** A short lease, for tests in which a process loses its hosts. */
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

/** A site with pages on many hosts of this machine, all of which belong to one source. */
interface MultiHostSite {
  readonly sites: readonly Site[]
  readonly start: string
  /** Adds the source to a library, with all its addresses. */
  addTo(library: OpenLibrary): Promise<Source>
  /** Every address that was requested more than once, except for lists. */
  repeated(): string[]
  /** How many requests all hosts have got. */
  count(): number
}

const PAGES = Array.from({ length: 10 }, (_, at) => `/${at}`)
/** The pages of each host of a {@link MultiHostSite}. */
const HOST_PATHS = isLong ? PAGES : PAGES.slice(0, 6)

async function openMultiHostSite(hosts: number, delayMs: number): Promise<MultiHostSite> {
  const sites: Site[] = []
  for (let host = 1; host <= hosts; host++) {
    const answer = (path: string) => ({ delayMs, body: page(`Page ${path} of host ${host}`, ['/']) })
    const pages = Object.fromEntries(['/', ...HOST_PATHS].map((path) => [path, answer(path)]))
    sites.push(await openTestSite(pages, { address: `127.0.0.${host}` }))
  }
  const start = `${sites[0]?.origin}/`
  const all = sites.flatMap((site) => HOST_PATHS.map((path) => ({ path, site })))
  return {
    sites,
    start,
    async addTo(library) {
      const source = await addSource(library, { url: start })
      const finds = all.map(({ path, site: { origin } }) => {
        const url = `${origin}${path}`
        return foundAddressOf(path, { key: url, url, host: new URL(origin).host, discovery: 'manual' })
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

/** Comparable content of a source in a library. */
async function dump(path: string, library: OpenLibrary, source: Source, isBreadthFirst = false): Promise<Dump> {
  return toComparable(await readSourceContent(path, library, source, NOWHERE), NOWHERE, isBreadthFirst)
}

/** An origin that does not occur, so that addresses are compared as they are. */
const NOWHERE = 'https://nowhere.test'

/** A crawl by one process into a library of its own. */
async function crawlAlone(multiHost: MultiHostSite): Promise<{ readonly dump: Dump; readonly summary: CrawlSummary }> {
  const path = await createLibrary()
  const library = await open(path)
  const source = await multiHost.addTo(library)
  const { summary } = await run(crawlSource(library, source, { kind: 'add' }, new AbortController().signal))
  return { dump: await dump(path, library, source), summary }
}

/** A site that no test changes, and the content that a single process crawled from it. */
const stageKnown = shareFixture(async () => {
  const multiHost = await openMultiHostSite(6, 80)
  return { multiHost, alone: await crawlAlone(multiHost) }
})

/** The shared site, with its recorded requests cleared. */
async function stageMultiHost(): ReturnType<typeof stageKnown> {
  const staged = await stageKnown()
  for (const site of staged.multiHost.sites) site.clearRequests()
  return staged
}

interface CrawlRun {
  readonly events: readonly CrawlEvent[]
  readonly summary: CrawlSummary
}

async function run(crawling: AsyncIterable<CrawlEvent>, events: CrawlEvent[] = []): Promise<CrawlRun> {
  for await (const event of crawling) events.push(event)
  const last = events.at(-1)
  if (last?.type !== 'ended') throw new Error(`the crawl ended with ${JSON.stringify(last)}`)
  return { events, summary: last.summary }
}

function crawl(library: OpenLibrary, source: Source, input: Partial<CrawlInput> = {}): Promise<CrawlRun> {
  return run(crawlSource(library, source, { kind: 'add', ...input }, new AbortController().signal))
}

/** Crawls a source as soon as its previous crawl sends no heartbeats any more. */
async function crawlWhenFree(library: OpenLibrary, source: Source): Promise<CrawlRun> {
  for (;;) {
    try {
      return await crawl(library, source)
    } catch (error) {
      if (!(error instanceof PharosError) || error.code !== 'CRAWL_RUNNING') throw error
    }
    await library.clock.sleep(100)
  }
}

async function join(library: OpenLibrary, crawlId: string, events?: CrawlEvent[]): Promise<CrawlRun> {
  return run(joinCrawl(library, await findJoinable(library, crawlId), new AbortController().signal), events)
}

/** Waits for a crawl that other processes can join, and returns its id. */
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
function settledBy({ events }: Pick<CrawlRun, 'events'>): string[] {
  return events.flatMap((event) => (event.type === 'settled' ? [event.url] : []))
}

const DELAY_MS = 40

/** A site whose start redirects to another host, with pages on both. */
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

/**
 * A site whose start redirects to a second host. All pages that its sitemap names on the first host are missing, and half of those on the
 * second host.
 */
async function openListed() {
  const dead = Array.from({ length: 400 }, (_, at) => `/dead/${at}`)
  const good = Array.from({ length: 40 }, (_, at) => `/good/${at}`)
  const none = good.map((_, at) => `/none/${at}`)
  const to = await openTestSite({
    '/': page('Home'),
    ...Object.fromEntries(good.map((path) => [path, page(`Good ${path}`)])),
  })
  const from = await openTestSite({ '/': redirect(`${to.origin}/`, 302) })
  const named = [...good, ...none].map((path) => to.origin + path)
  to.pages.set('/sitemap.xml', sitemap([...named, ...dead.map((path) => from.origin + path)]))
  return { from, dead, good, none }
}

const NEVER = new AbortController().signal

/** Pauses a crawl once it has read a sitemap. */
async function* pauseWhenListed(
  crawling: AsyncIterable<CrawlEvent>,
  execute: (line: string) => void,
): AsyncGenerator<CrawlEvent> {
  let isFirst = true
  for await (const event of crawling) {
    if (isFirst && event.type === 'discovery' && event.discovery === 'sitemap') {
      isFirst = false
      execute('PAUSE')
    }
    yield event
  }
}

/** A new library into which a site is crawled, with the help of another process or without. */
async function openCrawler(site: Site, isShared: boolean) {
  const path = await createLibrary()
  const limits = isShared ? { hosts: 1 } : {}
  const beginner = await open(path, limits)
  const helper = await open(path, limits)
  const source = await addSource(beginner, { url: `${site.origin}/`, scope: { reach: 'hostname', maxDepth: 9 } })
  return {
    async crawlAs(kind: CrawlInput['kind']) {
      const begun = crawl(beginner, source, { kind, acceptLoss: true })
      const helped = isShared ? await join(helper, await findSharable(beginner)) : undefined
      const { summary, events } = await begun
      const milestones = events.flatMap((event) => (event.type === 'milestone' ? [event.kind] : []))
      return { helped, summary, milestones, dump: await dump(path, beginner, source, true) }
    },
  }
}

/** A paused crawl that another process has joined and worked on. */
async function helpByChild() {
  const { multiHost, alone } = await stageMultiHost()
  const path = await createLibrary()
  const beginner = await open(path, { ...SHORT_LIVED, hosts: 1 })
  const source = await multiHost.addTo(beginner)
  const { control, execute } = createCrawlCommands()
  const begun = crawl(beginner, source, { control })
  const id = await findSharable(beginner)
  execute('PAUSE')
  const child = startChild('join', path, id, JSON.stringify({ limits: SHORT_LIVED }))
  await child.waitForEvents('settled', 5)
  const resumeAndEnd = (): Promise<CrawlRun> => {
    execute('RESUME')
    return begun
  }
  return { multiHost, alone, path, beginner, source, child, resumeAndEnd }
}

describe('a crawl that further processes join', () => {
  test('gives the same result as one process, counts the work of all, and requests every page once', async () => {
    const { multiHost, alone } = await stageMultiHost()
    const path = await createLibrary()
    const [beginner, ...others] = await Promise.all([1, 2, 3].map(() => open(path, { hosts: 2 })))
    if (beginner === undefined) throw new Error('nothing was opened')
    const source = await multiHost.addTo(beginner)
    const begun = crawl(beginner, source)
    const id = await findSharable(beginner)
    const joined = await Promise.all(others.map((library) => join(library, id)))
    const { summary } = await begun
    expect(summary).toMatchObject({ end: 'completed', problem: null })
    expect(countsOf(summary)).toEqual(countsOf(alone.summary))
    expect(summary.requests).toBe(multiHost.count())
    expect(multiHost.repeated()).toEqual([])
    for (const one of joined) {
      expect(one.summary).toMatchObject({ end: 'completed', problem: null, crawlId: id })
      expect(one.summary.visited).toBeGreaterThan(0)
      expect(settledBy(one)).toHaveLength(one.summary.visited)
    }
    expect(await dump(path, beginner, source)).toEqual(alone.dump)
    const [kept] = await beginner.store.listCrawls(source.id, 1)
    expect(kept?.summary).toEqual(summary)
    // A crawl that has ended cannot be joined.
    expect(await beginner.store.listSharable?.(beginner.clock.now())).toEqual([])
    await expect(join(beginner, id)).rejects.toMatchObject({ code: 'CRAWL_NOT_RUNNING' })
  })

  test('can be joined once its start has answered, and the joined process learns later that all lists were read', async () => {
    const multiHost = await openMultiHostSite(2, 0)
    const [first, second] = multiHost.sites
    first?.pages.set('/llms.txt', { status: 404, delayMs: 1000 })
    // These pages are requested after the first host and answer slowly, so the crawl is still running when another process joins.
    for (const at of HOST_PATHS) second?.pages.set(at, { delayMs: 1000, body: page(`Page ${at}`, []) })
    const path = await createLibrary()
    const [beginner, other] = [await open(path, { hosts: 1 }), await open(path)]
    const source = await multiHost.addTo(beginner)
    const begun = crawl(beginner, source)
    const id = await findSharable(beginner)
    // Lists after the first one have not been requested yet.
    expect(first?.requests.map((request) => request.path)).not.toContain('/llms-full.txt')
    const joined = await other.store.joinCrawl?.(id)
    expect(joined?.shared).toEqual({ siteUrl: multiHost.start, isFullKnown: false })
    const later = { siteUrl: multiHost.start, isFullKnown: true }
    await expect.poll(() => joined?.touch(other.clock.now())).toEqual(later)
    await joined?.leave(other.clock.now())
    expect((await begun).summary).toMatchObject({ end: 'completed', problem: null })
  })

  test('follows a moved site in all processes, and removes missing pages', async () => {
    const { from, to } = await openMoved()
    const first = await Promise.all([false, true].map((isShared) => openCrawler(from, isShared)))
    const [alone, shared] = first
    if (alone === undefined || shared === undefined) throw new Error('nothing was opened')
    const added = { alone: await alone.crawlAs('add'), shared: await shared.crawlAs('add') }
    expect(added.shared.helped?.summary.indexed).toBeGreaterThan(0)
    expect(added.shared.dump).toEqual(added.alone.dump)
    expect(countsOf(added.shared.summary)).toEqual(countsOf(added.alone.summary))
    expect(added.shared.summary.indexed).toBe(1 + 3 * PAGES.length)
    // The milestones do not depend on which process read a page.
    expect(added.alone.milestones).toEqual(['depth2-coverage'])
    expect(added.shared.milestones).toEqual(['depth2-coverage'])

    for (const path of ['/3', '/deep/5']) to.pages.delete(path)
    from.pages.delete('/old/2')
    to.pages.set('/4', { delayMs: DELAY_MS, body: page('Four is another now', ['/deep/4', '/deep/3']) })
    const again = { alone: await alone.crawlAs('recrawl'), shared: await shared.crawlAs('recrawl') }
    expect(again.shared.helped?.summary.visited).toBeGreaterThan(0)
    expect(again.shared.summary).toMatchObject({ end: 'completed', removed: again.alone.summary.removed })
    expect(again.shared.summary.removed).toBe(3)
    expect(again.shared.dump).toEqual(again.alone.dump)
    expect(countsOf(again.shared.summary)).toEqual(countsOf(again.alone.summary))
  })

  test('skips the rest of a list that a helper found stale, except for hosts that the sample says nothing about', async () => {
    const { from, dead, good, none } = await openListed()
    const path = await createLibrary()
    const limits = { hosts: 1, intervalMs: 1, startIntervalMs: 1, jitterMs: [0, 0] } as const
    const [beginner, helper] = [await open(path, limits), await open(path, limits)]
    const source = await addSource(beginner, { url: `${from.origin}/`, scope: { reach: 'hostname' } })
    const { control, execute } = createCrawlCommands()
    const begun = run(pauseWhenListed(crawlSource(beginner, source, { kind: 'add', control }, NEVER), execute))
    await expect.poll(() => control.isPaused, { timeout: 60_000 }).toBe(true)
    const joined = await join(helper, await findSharable(beginner))
    const countDead = () => from.requests.filter(({ path: at }) => dead.includes(at)).length
    const missing = countDead()
    expect(joined.summary.failed).toBeGreaterThanOrEqual(300)
    expect(missing).toBeLessThan(dead.length)
    execute('RESUME')
    const { summary } = await begun
    expect(countDead()).toBe(missing)
    const failed = missing + none.length
    expect(summary).toMatchObject({ end: 'completed', indexed: 1 + good.length, failed })
    const reasons = { 'failed/not-found': failed, 'skipped/stale-list': dead.length - missing }
    expect(summary.ledger.reasons).toMatchObject(reasons)
    const report = await reportSource(beginner, source)
    expect(report.reasons).toEqual(summary.ledger.reasons)
    expect(report.balance).toMatchObject({ indexed: 1 + good.length, failed, pending: 0 })
  })

  test('counts pages as failed if a helper proved them gone and the loss gate keeps them', async () => {
    const multiHost = await openMultiHostSite(2, DELAY_MS)
    const path = await createLibrary()
    const [beginner, helper] = [await open(path, { hosts: 1 }), await open(path, { hosts: 1 })]
    const source = await multiHost.addTo(beginner)
    await crawl(beginner, source)
    for (const { pages } of multiHost.sites) {
      for (const at of HOST_PATHS) pages.set(at, { status: 410, body: 'gone', delayMs: DELAY_MS })
    }
    const gone = 2 * HOST_PATHS.length
    const refresh = async (acceptLoss: boolean) => {
      const begun = crawl(beginner, source, { kind: 'refresh', acceptLoss })
      const joined = await join(helper, await findSharable(beginner))
      expect(joined.summary.visited).toBeGreaterThan(0)
      return (await begun).summary
    }
    expect(await refresh(false)).toMatchObject({ end: 'gate', unchanged: 1, failed: gone, withheld: gone })
    // A run in which every page is gone fails, and a failed run removes nothing.
    multiHost.sites[0]?.pages.set('/', { status: 410, body: 'gone' })
    expect(await refresh(true)).toMatchObject({ end: 'failed', removed: 0, failed: gone + 1, uselessReason: 'removed' })
  })

  test('loses nothing if a joined process is killed, and repeats only requests that were under way', async () => {
    const { multiHost, alone, path, beginner, source, child, resumeAndEnd } = await helpByChild()
    child.process.kill('SIGKILL')
    await child.ended
    const { summary } = await resumeAndEnd()
    expect(summary).toMatchObject({ end: 'completed', problem: null })
    // Only requests under way at the kill are repeated, and reported results are counted.
    expect(countsOf(summary)).toMatchObject({ ...countsOf(alone.summary), bytes: expect.any(Number) })
    expect(multiHost.repeated().length).toBeLessThanOrEqual(4)
    expect(await dump(path, beginner, source)).toEqual(alone.dump)
  })

  test('loses nothing if a joined process is frozen past its lease, and ignores its late results', async () => {
    const { alone, path, beginner, source, child, resumeAndEnd } = await helpByChild()
    child.process.kill('SIGSTOP')
    const { summary } = await resumeAndEnd()
    const after = await dump(path, beginner, source)
    child.process.kill('SIGCONT')
    await expect(child.ended).resolves.toEqual({ code: 0, stderr: '' })
    expect(summary).toMatchObject({ end: 'completed', problem: null })
    expect(countsOf(summary)).toMatchObject({ ...countsOf(alone.summary), bytes: expect.any(Number) })
    expect(after).toEqual(alone.dump)
    // Results that the process sent after it resumed came too late.
    expect(await dump(path, beginner, source)).toEqual(after)
  })

  test('continues if its first process is killed, and ends with the process that resumes it', async () => {
    const { multiHost, alone } = await stageMultiHost()
    const path = await createLibrary()
    const helper = await open(path, { hosts: 2 })
    const source = await multiHost.addTo(helper)
    const limits = { ...LIMITS, hosts: 2, concurrency: 2 }
    const child = startChild('crawl', path, multiHost.start, JSON.stringify({ limits }))
    const helperEvents: CrawlEvent[] = []
    const joined = join(helper, await findSharable(helper), helperEvents)
    await child.waitForEvents('settled', 4)
    while (!helperEvents.some(({ type }) => type === 'begun')) await helper.clock.sleep(10)
    child.process.kill('SIGKILL')
    await child.ended
    const begun = helperEvents.flatMap((event) => (event.type === 'begun' ? [event.url] : []))
    const { events, summary } = await crawl(await open(path, { hosts: 2 }), source)
    expect(events[0]).toMatchObject({ type: 'started', isResumed: true })
    expect(summary).toMatchObject({ end: 'completed', problem: null })
    const { summary: helped, ...ran } = await joined
    expect(helped).toMatchObject({ end: 'completed', problem: null })
    // The helper kept its visits that were under way when the crawl was resumed.
    expect(settledBy(ran)).toHaveLength(helped.visited)
    expect(settledBy(ran)).toEqual(expect.arrayContaining(begun))
    expect(multiHost.repeated().filter((url) => begun.includes(url))).toEqual([])
    expect(multiHost.repeated().length).toBeLessThanOrEqual(4)
    expect(await dump(path, helper, source)).toEqual(alone.dump)
  })

  test('is taken over from a frozen process, which changes nothing when it resumes', async () => {
    const { multiHost, alone } = await stageMultiHost()
    const path = await createLibrary()
    const library = await open(path, SHORT_LIVED)
    const source = await multiHost.addTo(library)
    const child = startChild('crawl', path, multiHost.start, JSON.stringify({ limits: SHORT_LIVED }))
    await child.waitForEvents('settled', 6)
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
    ['a page limit', { scope: { maxPages: 1000 } }],
    ['request headers of its own', { headers: { 'x-key': 'secret' } }],
    ['a plan', { crawlType: 'intelligent' }],
  ] as const)('cannot be joined if it has %s', async (_, input) => {
    const multiHost = await openMultiHostSite(1, 0)
    const path = await createLibrary()
    const library = await open(path)
    const source = await multiHost.addTo(library)
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

  test.each([
    ['the hosts of its domain', 'domain', undefined, 'http://b.docs.localhost', 0],
    ['the host to which it moved', 'hostname', 'http://b.docs.localhost/', 'http://b.docs.localhost', 0],
    ['other sites only', 'domain', undefined, 'http://b.manual.localhost', 1],
  ] as const)(
    'with headers configured for %s, a crawl is offered to other processes only if it cannot reach them',
    async (_, reach, siteUrl, origin, times) => {
      const names = {
        'a.docs.localhost': await openTestSite({ '/': siteUrl === undefined ? page('A') : redirect(siteUrl) }),
        'b.docs.localhost': await openTestSite({ '/': page('B') }),
      }
      const siteHeaders = createSiteHeaderLookup([`${origin} Cookie=DOCS_COOKIE`], { DOCS_COOKIE: 'x' })
      const opened = await open(await createLibrary())
      const offered = new Set<string>()
      const shareCrawl: OpenLibrary['store']['shareCrawl'] = async (id, ...args) => {
        offered.add(id)
        await opened.store.shareCrawl?.(id, ...args)
      }
      const library = { ...withNames(opened, names), siteHeaders, store: { ...opened.store, shareCrawl } }
      const source = await addSource(library, { url: 'http://a.docs.localhost/', scope: { reach } })
      const { summary } = await crawl(library, siteUrl === undefined ? source : { ...source, siteUrl })
      expect(summary).toMatchObject({ end: 'completed', indexed: 1 })
      expect(offered.size).toBe(times)
    },
  )
})

test('two crawls of one host take turns, and both complete', async () => {
  const long = Array.from({ length: 100 }, (_, at) => `/long/${at}`)
  const short = Array.from({ length: 6 }, (_, at) => `/short/${at}`)
  const answer = (path: string, links: readonly string[] = []) => ({ delayMs: DELAY_MS, body: page(path, links) })
  const site = await openSite({ '/long/': answer('/long/', long), '/short/': answer('/short/', short) })
  closeLater(() => site.close())
  for (const path of [...long, ...short]) site.pages.set(path, answer(path))
  const path = await createLibrary()
  const began = Date.now()
  const begin = async (start: string): Promise<CrawlSummary> => {
    // The clock runs five times as fast, so that a turn takes one second.
    const library = withFastClock(await open(path, { concurrency: 2 }), 5, began)
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
