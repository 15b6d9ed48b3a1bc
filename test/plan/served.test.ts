import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { compareUtf8 } from '../../src/core/text/order.ts'
import { openStream, openTestServer, type StreamEvent, type TestServer } from '../http/server.ts'
import * as shapes from '../http/shapes.ts'
import { openWorld, type World } from './fixture.ts'
import { openNewsSite, type ServedNews, type SiteArticle } from './news-site.ts'
import { createContinental, type MadeSite } from './sites.ts'

/** Number of countries that the site is made from. A small number keeps the site small. */
const COUNTRY_COUNT = 45

let world: World
let server: TestServer
let made: MadeSite

/** A crawl started through a server, and its observable effects. */
interface CrawlResult {
  readonly jobId: string
  readonly status: string
  readonly site: ServedNews
  readonly problems: readonly StreamEvent[]
  readonly milestones: readonly StreamEvent[]
  /** The log lines of the plan. */
  readonly lines: readonly string[]
}

beforeAll(async () => {
  world = await openWorld()
  made = createContinental(world.countries.slice(0, COUNTRY_COUNT), { articlesPerHub: [1, 2], articlesPerSection: 2 })
  const folder = mkdtempSync(join(tmpdir(), 'pharos-plan-'))
  world.copyTo(join(folder, 'library.db'))
  server = await openTestServer({ folder, isShared: true, maxJobs: 2 })
})

afterAll(async () => {
  await server?.dispose()
})

/** Requests a crawl of a separate site in a separate library, and waits for its end. */
async function crawlThroughServer(name: string, body: object, news: MadeSite = made): Promise<CrawlResult> {
  const site = await openNewsSite(news)
  try {
    world.copyTo(join(server.folder, `${name}.db`))
    const stream = await openStream(`${server.origin}/events`)
    const request = { startUrl: `${site.origin}/`, crawlType: 'intelligent', depth: 20, dbPath: `${name}.db`, ...body }
    const { status, body: answer } = await server.post('/api/crawl', request)
    expect([status, answer]).toMatchObject([202, { jobId: expect.any(String) }])
    const { jobId } = answer
    const done = await stream.until((event) => event.name === 'done' && event.data.jobId === jobId)
    const eventsOf = (kind: string) =>
      stream.events.filter((event) => event.name === kind && event.data.jobId === jobId)
    const lines = eventsOf('log').map(({ data }) => String(data.line))
    stream.close()
    return {
      jobId,
      status: done.data.status,
      site,
      problems: eventsOf('problem'),
      milestones: eventsOf('milestone'),
      lines: lines.filter((line) => line.includes('[plan]')),
    }
  } finally {
    await site.close()
  }
}

/** Paths of a site that were requested. */
function requestedPathsOf({ site }: CrawlResult): Set<string> {
  return new Set(site.requests.map(({ path }) => path))
}

/** Paths that were only guessed: the site neither has them nor links to them. */
function guessesOf(result: CrawlResult): string[] {
  const linked = new Set(made.missing)
  return [...requestedPathsOf(result)].filter(
    (path) => !(path.replace(/\?ref=.*/, '') in made.pages) && !linked.has(path) && !/llms|sitemap|robots/.test(path),
  )
}

function requestedArticles(result: CrawlResult): SiteArticle[] {
  const requested = requestedPathsOf(result)
  return made.truth.articles.filter(({ path }) => requested.has(path))
}

describe('a planned crawl started through a server', () => {
  let plain: CrawlResult

  test('reports problems and milestones live, stores them, and shows them', async () => {
    plain = await crawlThroughServer('plain', { plannerVerbosity: 0 })
    expect(plain.status).toBe('done')
    const { origin, truth } = plain.site
    const paths = [...made.missing].sort(compareUtf8)
    const targets = plain.problems.filter(({ data }) => data.kind === 'missing-hub')
    expect(targets.map(({ data }) => data.target.replace(origin, '')).sort(compareUtf8)).toEqual(paths)
    expect(new Set(targets.map(({ data }) => data.severity))).toEqual(new Set(['warn']))
    for (const { name, data } of [...plain.problems, ...plain.milestones]) {
      expect([name, shapes.events[name]?.safeParse(data).error]).toEqual([name, undefined])
    }
    const kinds = plain.milestones.map(({ data }) => data.kind).sort(compareUtf8)
    expect(kinds).toEqual(['cache-primed', 'depth2-coverage', 'hubs-seeded', 'patterns-learned', 'seeds-prepared'])
    expect([...truth.hubs.values()].filter((path) => !requestedPathsOf(plain).has(path))).toEqual([])

    const problems = await server.ask(`/api/problems?job=${plain.jobId}&kind=missing-hub&limit=500`)
    expect(
      problems.body.items.map((item: { target: string }) => item.target.replace(origin, '')).sort(compareUtf8),
    ).toEqual(paths)
    const milestones = await server.ask(`/api/milestones?job=${plain.jobId}&limit=500`)
    expect(milestones.body.items.map((item: { kind: string }) => item.kind).sort(compareUtf8)).toEqual(kinds)
    const page = await server.ask(`/problems/ssr?job=${plain.jobId}`)
    expect(page.status).toBe(200)
    for (const path of paths) expect(page.text).toContain(path)
    expect(plain.lines).toEqual([])
    // Tests below expect fewer articles or fewer guesses with other options.
    expect(requestedArticles(plain)).toHaveLength(made.truth.articles.length)
    expect(guessesOf(plain).length).toBeGreaterThan(2)
  })

  test('respects the page limit of hubs, and logs its reasoning', async () => {
    // Each hub has more articles than other articles link to: an article links only to the three newest others about its country.
    const countries = world.countries.slice(0, COUNTRY_COUNT)
    const many = createContinental(countries, { articlesPerHub: [8, 8], articlesPerSection: 2 })
    const few = await crawlThroughServer('few', { hubMaxPages: 1, plannerVerbosity: 3 }, many)
    expect(few.status).toBe('done')
    const requested = requestedPathsOf(few)
    expect([...many.truth.hubs.values()].filter((path) => !requested.has(path))).toEqual([])
    const articles = many.truth.articles.filter(({ path }) => requested.has(path)).length
    expect(articles).toBeGreaterThan(many.truth.hubs.size)
    expect(articles).toBeLessThan(many.truth.articles.length - many.truth.hubs.size)
    expect(few.lines.length).toBeGreaterThan(20)
  })

  test('skips old articles, and respects the limit of guesses', async () => {
    const recent = await crawlThroughServer('recent', { hubMaxDays: 20, intMaxSeeds: 2, plannerVerbosity: 1 })
    expect(recent.status).toBe('done')
    const limit = Date.now() - 21 * 86_400_000
    expect(requestedArticles(recent).filter(({ date }) => date.getTime() < limit)).toEqual([])
    const recentArticles = made.truth.articles.filter(({ date }) => date.getTime() > limit + 2 * 86_400_000)
    expect(requestedArticles(recent).length).toBeGreaterThanOrEqual(recentArticles.length)
    expect(recentArticles.length).toBeLessThan(made.truth.articles.length)
    expect(guessesOf(recent).length).toBeLessThanOrEqual(2)
    expect(recent.lines.length).toBeGreaterThan(0)
  })

  test('plans only for the given hosts', async () => {
    const other = await crawlThroughServer('other', { intTargetHosts: ['news.example'], maxPages: 40 })
    expect(other.problems.map(({ data }) => data.kind)).toContain('planner-skipped-host')
    expect(other.problems.map(({ data }) => data.kind)).not.toContain('missing-hub')
    expect(other.milestones.filter(({ data }) => data.kind !== 'depth2-coverage')).toEqual([])
    expect(guessesOf(other)).toEqual([])
  })

  test('fails if it is a history crawl of a site that is not understood, unless it is forced', async () => {
    const refused = await crawlThroughServer('history', { crawlType: 'history' })
    expect(refused.status).toBe('failed')
    const detail = await server.ask(`/api/crawls/${refused.jobId}`)
    for (const kind of ['full-understanding', 'depth2-coverage', 'articles-identified-1k']) {
      expect(detail.body.problem).toContain(kind)
    }
    expect(requestedPathsOf(refused).size).toBe(0)
    const forced = await crawlThroughServer('forced', { crawlType: 'history', force: true })
    expect(forced.status).toBe('done')
    expect(requestedArticles(forced)).toHaveLength(made.truth.articles.length)
  })
})
