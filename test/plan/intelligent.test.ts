import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { compareUtf8 } from '../../src/core/text/order.ts'
import type { CrawlEvent } from '../../src/crawl/events.ts'
import type { OpenLibrary } from '../../src/open-library.ts'
import { startNode } from '../sites/children.ts'
import { type Crawled, openTestLibrary } from '../sites/crawl.ts'
import { createLibraryPath } from '../sites/file-fixture.ts'
import type { SeenRequest } from '../sites/site.ts'
import { createNewsFixture, openWorld, serveNews, type World } from './fixture.ts'
import { OTHER_GRAMMARS } from './grammars.ts'
import type { ServedNews } from './news-site.ts'
import { expectMilestonesInTime, milestonesOf, missingOf, problemsOf } from './replay.ts'
import { createContinental, createMeridian, createOther, createTagesbote, type MadeSite, openManual } from './sites.ts'

const LONG = process.env['TEST_LONG'] !== undefined

let world: World

beforeAll(async () => {
  world = await openWorld()
})

/** Timeout of a test that crawls a hub for every country twice, which takes long on a busy machine. */
const TIMEOUT_MS = 300_000

/** Few articles, for tests that do not need them or have very many hubs. */
const SMALL = { articlesPerHub: [1, 1], articlesPerSection: 2 } as const
const FEW = { articlesPerHub: [0, 1], articlesPerSection: 2 } as const
const NONE = { articlesPerHub: [0, 0], articlesPerSection: 1 } as const

/** A site with thousands of articles. */
const LARGE = { articlesPerHub: [6, 12], articlesPerSection: 60 } as const

/** The milestones that every site with hubs reaches. */
const USUAL_MILESTONES = ['cache-primed', 'depth2-coverage', 'hubs-seeded', 'patterns-learned', 'seeds-prepared']

/** Numbers of pages after which a crawl is killed. */
const KILL_PAGE_COUNTS = LONG ? [10, 35, 50, 60, 75, 90, 110] : [60]

/** The milestones of a site with more than a thousand articles. */
const LARGE_SITE_MILESTONES = LONG ? ['articles-identified-1k', 'downloads-1k'] : []

/** Paths of the hubs that a crawl has read. */
function foundHubs({ rows }: Crawled, { truth }: ServedNews): string[] {
  return [...truth.hubs.values()].filter((path) => ['indexed', 'unchanged'].includes(rows.get(path)?.state ?? ''))
}

/** Paths that a plan guessed and enqueued. */
function guessesOf({ events }: Pick<Crawled, 'events'>, origin: string): string[] {
  return events.flatMap((event) =>
    event.type === 'enqueued' && event.discovery === 'planner' ? [event.url.replace(origin, '')] : [],
  )
}

/** Expects that the plan was complete before half of the articles were read. */
function expectPreparedEarly({ events }: Pick<Crawled, 'events'>, { truth, origin }: ServedNews): void {
  const articles = new Set(truth.articles.map(({ path }) => origin + path))
  const primed = events.findIndex((event) => event.type === 'milestone' && event.kind === 'cache-primed')
  const read = events.slice(0, primed).filter((event) => event.type === 'settled' && articles.has(event.url))
  expect(read.length).toBeLessThan(articles.size / 2)
}

/** Expects the milestone of a thousand articles when about that many articles of the site were read. */
function expectThousandArticles({ events }: Pick<Crawled, 'events'>, { truth, origin }: ServedNews): void {
  const articles = new Set(truth.articles.map(({ path }) => origin + path))
  const reportedAt = events.findIndex((event) => event.type === 'milestone' && event.kind === 'articles-identified-1k')
  const read = events.slice(0, reportedAt).filter((event) => event.type === 'settled' && articles.has(event.url))
  expect(read.length).toBeGreaterThan(950)
  expect(read.length).toBeLessThan(1050)
}

describe('a newspaper with a hub for almost all countries', () => {
  test(
    LONG
      ? 'is understood when twelve hubs are missing, with half the requests that following links takes'
      : 'is understood when twelve hubs are missing',
    async () => {
      const made = createMeridian(world.countries, 12, LONG ? LARGE : FEW)
      expect([world.countries.length, made.truth.hubs.size, made.missing.length]).toEqual([250, 238, 12])
      const site = await serveNews(made)
      const planned = await createNewsFixture(site, world)
      const crawled = await planned.crawl()
      expect(crawled.summary.end).toBe('completed')
      expect(foundHubs(crawled, site)).toHaveLength(238)
      expect(missingOf(crawled, site.origin)).toEqual([...made.missing].sort(compareUtf8))
      expectMilestonesInTime(crawled, `${site.origin}/`, 8)
      expect(
        milestonesOf(crawled)
          .map(({ kind }) => kind)
          .sort(compareUtf8),
      ).toEqual([...USUAL_MILESTONES, ...LARGE_SITE_MILESTONES, 'full-understanding'].sort(compareUtf8))

      expectPreparedEarly(crawled, site)
      if (LONG) expectThousandArticles(crawled, site)
      const { details } = milestonesOf(crawled).find(({ kind }) => kind === 'full-understanding') ?? {}
      expect(details).toMatchObject({ countriesCovered: 238, missing: 12, pattern: '/world/{country}' })
      expect(details?.['missingList']).toHaveLength(12)
      const understoodAt = crawled.events.findIndex(
        (event) => event.type === 'milestone' && event.kind === 'full-understanding',
      )
      const readBefore = new Set(
        crawled.events.slice(0, understoodAt).map((event) => (event.type === 'settled' ? event.url : '')),
      )
      const hubs = [...site.truth.hubs.values()]
      expect(
        hubs.filter((path) => !readBefore.has(site.origin + path)),
        'each hub was read before',
      ).toEqual([])
      const requests = site.requestsUntil(hubs)
      expect(requests, 'all hubs were requested').toBeDefined()

      const patterns = (await planned.library.planMemory.readPatterns(new URL(site.origin).host)).map(
        ({ pattern }) => pattern,
      )
      expect(patterns).toEqual(expect.arrayContaining(['/world/{country}', '/{section}']))
      // Neither single addresses nor synonyms of a pattern were learned.
      expect(patterns.filter((pattern) => !pattern.includes('{') || pattern === '/world/{slug}')).toEqual([])

      // The address of a missing hub fails if the site's own list links to it, and is skipped if it was only guessed.
      const states = made.missing.map((path) => crawled.rows.get(path)).map((row) => `${row?.state}/${row?.reason}`)
      expect([...new Set(states.slice(0, 3))], made.missing.slice(0, 3).join()).toEqual(['failed/not-found'])
      expect([...new Set(states.slice(3))]).toEqual(['skipped/guess-missed'])
      // Each address was requested once.
      const requestedPaths = site.requests.filter(({ path }) => path !== '/robots.txt').map(({ path }) => path)
      expect(requestedPaths.length - new Set(requestedPaths).size).toBe(0)

      // A short run compares with a link-following crawl only on the smaller newspaper below.
      if (!LONG) return
      site.clearRequests()
      const stop = new AbortController()
      const maxRequests = 2 * (requests ?? 0)
      const plain = await createNewsFixture(site, world, { crawlType: 'basic' })
      stopAfter(site, maxRequests, stop)
      await plain.crawl({}, stop.signal)
      // The crawl stops at double the requests of the plan; by then it may have found some hubs, never all.
      const requestsByLinks = site.requestsUntil(site.truth.hubs.values())
      const figures = `${requests} requests by plan, ${requestsByLinks} by links`
      expect(requestsByLinks === undefined || requestsByLinks >= maxRequests, figures).toBe(true)
    },
    TIMEOUT_MS,
  )

  test('is not understood when thirteen hubs are missing, even with one request at a time', async () => {
    const made = createMeridian(world.countries, 13, LONG ? FEW : NONE)
    const site = await serveNews(made)
    const { crawl } = await createNewsFixture(site, world, { concurrency: 1 })
    const crawled = await crawl()
    expect(crawled.summary.end).toBe('completed')
    expect(foundHubs(crawled, site)).toHaveLength(237)
    expect(missingOf(crawled, site.origin)).toEqual([...made.missing].sort(compareUtf8))
    expectMilestonesInTime(crawled, `${site.origin}/`, 1)
    expect(
      milestonesOf(crawled)
        .map(({ kind }) => kind)
        .sort(compareUtf8),
    ).toEqual(USUAL_MILESTONES)
  })
})

describe('a newspaper with hubs for forty countries, whose lists name five more', () => {
  test.each(LONG ? [1, 2, 4, 8, 16] : [1])('is planned with %i requests at once', async (concurrency) => {
    const made = createContinental(world.countries, LONG ? {} : { articlesPerHub: [2, 3], articlesPerSection: 5 })
    const site = await serveNews(made)
    const { crawl } = await createNewsFixture(site, world, { concurrency })
    expectPlanned(await crawl(), site, made, concurrency)
    if (concurrency === 1) await expectHalfTheRequests(site)
  })

  /** Expects that all hubs and all missing ones were found, and that every milestone was reported in time. */
  function expectPlanned(crawled: Crawled, site: ServedNews, made: MadeSite, concurrency: number): void {
    expect([made.truth.hubs.size, made.missing.length]).toEqual([40, 5])
    expect(crawled.summary.end).toBe('completed')
    expect(foundHubs(crawled, site)).toHaveLength(40)
    expect(missingOf(crawled, site.origin)).toEqual([...made.missing].sort(compareUtf8))
    expectMilestonesInTime(crawled, `${site.origin}/`, concurrency)
    expect(
      milestonesOf(crawled)
        .map(({ kind }) => kind)
        .sort(compareUtf8),
    ).toEqual(USUAL_MILESTONES)
    expectPreparedEarly(crawled, site)
  }

  /** Expects that a link-following crawl needs at least double the requests to find all hubs. */
  async function expectHalfTheRequests(site: ServedNews): Promise<void> {
    const requests = site.requestsUntil(site.truth.hubs.values())
    site.clearRequests()
    const plain = await createNewsFixture(site, world, { concurrency: 1, crawlType: 'basic' })
    await plain.crawl()
    const requestsByLinks = site.requestsUntil(site.truth.hubs.values())
    expect(requestsByLinks ?? 0, `${requests} requests by plan`).toBeGreaterThanOrEqual(2 * (requests ?? Number.NaN))
  }

  test('a plan with 8 requests at once is remembered: missing hubs are not requested again, and hubs come first', async () => {
    const made = createContinental(world.countries, SMALL)
    const site = await serveNews(made)
    const { crawl, library } = await createNewsFixture(site, world, { concurrency: 8 })
    const first = await crawl()
    expectPlanned(first, site, made, 8)
    const { host } = new URL(site.origin)
    const verdicts = await library.planMemory.readVerdicts(host)
    const stateOf = (path: string) => verdicts.find(({ url }) => url === site.origin + path)?.state
    expect([...site.truth.hubs.values()].filter((path) => stateOf(path) !== 'confirmed')).toEqual([])
    const missed = guessesOf(first, site.origin).filter((path) => first.rows.get(path)?.reason === 'guess-missed')
    expect(missed.length).toBeGreaterThan(0)
    expect(missed.filter((path) => stateOf(path) !== 'missing')).toEqual([])

    site.clearRequests()
    const second = await crawl({ kind: 'recrawl' })
    expect(second.summary.end).toBe('completed')
    const requestedPaths = new Set(site.requests.map(({ path }) => path))
    expect(missed.filter((path) => requestedPaths.has(path))).toEqual([])
    expect(missingOf(second, site.origin)).toEqual([...made.missing].sort(compareUtf8))
    expectMilestonesInTime(second, `${site.origin}/`, 8, false)
    const hubs = new Set(site.truth.hubs.values())
    const lastHub = site.requests.findLastIndex(({ path }) => hubs.has(path))
    const articles = new Set(site.truth.articles.map(({ path }) => path))
    const articlesBefore = site.requests.slice(0, lastHub).filter(({ path }) => articles.has(path))
    // Requests in flight while the plan was made may come before the hubs.
    expect(articlesBefore.length).toBeLessThanOrEqual(8)
  })

  test('is crawled completely by a library that knows no places', async () => {
    const site = await serveNews(createContinental(world.countries, SMALL))
    const { crawl, library } = await createNewsFixture(site, undefined)
    const crawled = await crawl()
    expect(crawled.summary.end).toBe('completed')
    expect(foundHubs(crawled, site)).toHaveLength(40)
    expect(missingOf(crawled, site.origin)).toEqual([])
    expectMilestonesInTime(crawled, `${site.origin}/`, 8)
    expect(milestonesOf(crawled).map(({ kind }) => kind)).not.toContain('full-understanding')
    expect(problemsOf(crawled, 'intelligent-plan-failed')).toEqual([])
    expect(await library.placeHubs.coverage(new URL(site.origin).host)).toMatchObject({
      countries: 0,
      countriesCovered: 0,
      missing: [],
    })
  })
})

test('the address patterns of a site in another language are learned', async () => {
  const made = createTagesbote(world.countries)
  const site = await serveNews(made)
  const { crawl, library } = await createNewsFixture(site, world)
  const crawled = await crawl()
  expect(crawled.summary.end).toBe('completed')
  expect(missingOf(crawled, site.origin)).toEqual([])
  const { host } = new URL(site.origin)
  const patterns = await library.planMemory.readPatterns(host)
  expect(patterns.find(({ pattern }) => pattern === '/ausland/{country}/')).toMatchObject({ role: 'place-hub' })
  const { countriesCovered } = await library.placeHubs.coverage(host)
  expect(countriesCovered).toBeGreaterThanOrEqual(57)
  expect(milestonesOf(crawled).map(({ kind }) => kind)).not.toContain('full-understanding')
})

test.each(LONG ? Object.keys(OTHER_GRAMMARS) : ['codes'])('hubs are learned with the grammar "%s"', async (name) => {
  const made = createOther(world.countries, name)
  const site = await serveNews(made)
  const { crawl, library } = await createNewsFixture(site, world)
  const crawled = await crawl()
  expect(crawled.summary.end).toBe('completed')
  expect(missingOf(crawled, site.origin)).toEqual([...made.missing].sort(compareUtf8))
  const confirmed = await verdictsOf(library, new URL(site.origin).host, 'confirmed')
  const hubs = [...site.truth.hubs.values()]
  expect(hubs.filter((path) => confirmed.includes(path)).length).toBeGreaterThanOrEqual(0.95 * hubs.length)
})

test('a site without hubs of places gets no guesses', async () => {
  const site = await openManual()
  onTestFinished(() => site.close())
  const { crawl } = await createNewsFixture(site, world)
  const crawled = await crawl()
  expect(crawled.summary.end).toBe('completed')
  expect(missingOf(crawled, site.origin)).toEqual([])
  expect([...crawled.rows.values()].filter(({ reason }) => reason === 'guess-missed')).toEqual([])
  const unknown = site.requests.filter(({ status, path }) => status === 404 && !/robots|sitemap|llms/.test(path))
  expect(unknown).toEqual([])
  expect(milestonesOf(crawled).map(({ kind }) => kind)).not.toContain('full-understanding')
})

describe('a killed crawl', () => {
  test.each(KILL_PAGE_COUNTS)('a crawl killed after %i pages resumes and reports nothing twice', async (pages) => {
    const made = createContinental(world.countries, SMALL)
    const site = await serveNews(made)
    const path = await createLibraryPath()
    world.copyTo(path)
    const script = new URL('./plan-child.ts', import.meta.url).pathname
    const child = startNode([script, path, `${site.origin}/`])
    await child.waitForEvents('settled', pages)
    child.process.kill('SIGKILL')
    await child.ended
    const resumed = startNode([script, path, `${site.origin}/`])
    const { code, stderr } = await resumed.ended
    expect([code, stderr]).toEqual([0, ''])
    const events = [...child.lines, ...resumed.lines] as unknown as CrawlEvent[]
    expect(resumed.lines[0]).toMatchObject({ type: 'started', isResumed: true })
    const kinds = milestonesOf({ events }).map(({ kind }) => kind)
    expect(kinds).toEqual([...new Set(kinds)])
    // Findings that were not yet reported at the kill may never be reported, but they are stored.
    const reported = missingOf({ events }, site.origin)
    expect(reported).toEqual([...new Set(reported)])
    expect(reported.filter((one) => !made.missing.includes(one))).toEqual([])

    const resumedLibrary = await openTestLibrary(path)
    const { host } = new URL(site.origin)
    const crawlId = String(resumed.lines[0]?.['crawlId'])
    expect([...(await resumedLibrary.planMemory.readMilestones(crawlId))].sort(compareUtf8)).toEqual(USUAL_MILESTONES)
    expect(await verdictsOf(resumedLibrary, host, 'confirmed')).toEqual([...site.truth.hubs.values()].sort(compareUtf8))
    expect(await verdictsOf(resumedLibrary, host, 'missing')).toEqual(expect.arrayContaining([...made.missing]))
    expect(await verdictsOf(resumedLibrary, host, 'rejected')).toEqual([])
  })
})

/** Paths of guessed and listed hubs of a host with a given verdict. */
async function verdictsOf({ planMemory }: OpenLibrary, host: string, wanted: string): Promise<string[]> {
  const verdicts = (await planMemory.readVerdicts(host)).filter(({ state }) => state === wanted)
  return verdicts.map(({ url }) => new URL(url).pathname).sort(compareUtf8)
}

/** Aborts a crawl when the site has received the given number of requests. */
function stopAfter(site: ServedNews, requests: number, stop: AbortController): void {
  const push = (...seen: SeenRequest[]) => {
    if (site.requests.length + seen.length >= requests) stop.abort()
    return Array.prototype.push.apply(site.requests, seen)
  }
  Object.assign(site.requests, { push })
}
