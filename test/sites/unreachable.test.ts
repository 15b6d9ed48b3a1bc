import { expect, test } from 'vitest'
import { findFailure } from '../../src/cli/crawl-failure.ts'
import { writeStatus } from '../../src/cli/text/status-text.ts'
import { PharosError } from '../../src/core/errors.ts'
import type { CrawlEvent } from '../../src/crawl/events.ts'
import { joinCrawl } from '../../src/crawl/join.ts'
import { DEFAULT_CRAWL_LIMITS } from '../../src/crawl/run.ts'
import { NO_COUNTS } from '../../src/crawl/sharing.ts'
import { createRun } from '../../src/library/crawl/create-run.ts'
import { createJobs } from '../../src/library/jobs/crawl-jobs.ts'
import { describeCrawl } from '../../src/library/sources/describe-crawl.ts'
import { describeSource } from '../../src/library/sources/describe-source.ts'
import { reportRecord } from '../../src/mcp/records.ts'
import { writeCrawlStatus } from '../../src/mcp/status-text.ts'
import type { OpenLibrary } from '../../src/open-library.ts'
import { type CrawlFixture, createCrawlFixture, runCrawl, UNPACED } from './crawl.ts'
import { withFastClock } from './fast-clock.ts'
import { page } from './site.ts'

/** Wraps a function so that its first call fails because the library is unreachable. */
function failOnce<Args extends unknown[], T>(call: (...args: Args) => Promise<T>, failedCalls: string[], name: string) {
  let isFailing = true
  return async (...args: Args): Promise<T> => {
    if (!isFailing) return call(...args)
    isFailing = false
    failedCalls.push(name)
    throw new PharosError('LIBRARY_UNREACHABLE', { library: 'library', problem: 'it is being restarted' })
  }
}

const BELOW = Array.from({ length: 10 }, (_, at) => `/below/${at}`)

/** A site that was crawled before, and has one more page since. */
async function stageKnown(): Promise<CrawlFixture> {
  const pages = Object.fromEntries(BELOW.map((path) => [path, page(`Page ${path}`)]))
  const staged = await createCrawlFixture(
    { '/': page('Home', ['/list']), '/list': page('List', BELOW.slice(1)), ...pages },
    { limits: UNPACED },
  )
  await staged.crawl()
  staged.site.pages.set('/list', page('List', BELOW))
  return staged
}

test('a crawl survives an outage of its library during kindOf, readHelp, readMilestones and writeMilestones', async () => {
  const { library, source, site } = await stageKnown()
  const { plans, store } = library
  if (plans === undefined) throw new Error('the library has no plans')
  const failedCalls: string[] = []
  const failing: OpenLibrary = {
    ...library,
    kindOf: failOnce(library.kindOf, failedCalls, 'kindOf'),
    plans: {
      ...plans,
      readMilestones: failOnce(plans.readMilestones, failedCalls, 'readMilestones'),
      writeMilestones: failOnce(plans.writeMilestones, failedCalls, 'writeMilestones'),
    },
    store: {
      ...store,
      shareCrawl: async () => undefined,
      readHelperCounts: failOnce(async () => ({ ...NO_COUNTS, visited: 1 }), failedCalls, 'readHelp'),
    },
  }
  const { summary, events } = await runCrawl(failing, source, { kind: 'recrawl' }, site.origin)
  expect(new Set(failedCalls)).toEqual(new Set(['kindOf', 'readHelp', 'readMilestones', 'writeMilestones']))
  expect(summary).toMatchObject({ end: 'completed', indexed: 2, unchanged: 10 })
  expect(events.filter(({ type }) => type === 'milestone')).toHaveLength(1)
})

test('a worker that joined a crawl survives a short outage of the library', async () => {
  const { library, source } = await stageKnown()
  const { store, clock } = library
  const [last] = await store.listCrawls(source.id, 1)
  if (last === undefined) throw new Error('there was no crawl')
  const options = { ...last.options, maxAgeMsOf: { article: 1, hub: 1 } }
  const nextCrawl = { ...last, id: library.newId(), kind: 'refresh', state: 'running', endedAt: null, options } as const
  const crawl = await store.beginCrawl(nextCrawl, 1)
  await store.requeue(source.id, crawl.id, 'pages', clock.now())
  const failedCalls: string[] = []
  const ports = {
    ...library,
    ledger: store,
    kindOf: failOnce(library.kindOf, failedCalls, 'kindOf'),
    moveSite: async () => undefined,
    end: async () => undefined,
  }
  const shared = { siteUrl: source.siteUrl, isFullKnown: true }
  const run = createRun(library, source, crawl, { headers: {}, isResumed: false })
  const events: CrawlEvent[] = []
  const joined = joinCrawl(run, ports, { shared, heartbeat: async () => shared }, new AbortController().signal)
  for await (const event of joined) events.push(event)
  expect(failedCalls).toEqual(['kindOf'])
  expect(events.at(-1)).toMatchObject({ type: 'ended', summary: { end: 'completed', indexed: 1, unchanged: 10 } })
})

test.each([{ kind: 'recrawl' }, { kind: 'recrawl', full: true }, { kind: 'refresh' }] as const)(
  '%j of a site whose server is down gives the host up after the last pause, and keeps the pages',
  async (input) => {
    const paths = ['/list', ...BELOW]
    const pages = Object.fromEntries(paths.map((path) => [path, page(`Page ${path}`)]))
    const { site, library, source, crawl } = await createCrawlFixture(
      { '/': page('Home', paths), ...pages },
      { limits: { ...UNPACED, holdsMs: DEFAULT_CRAWL_LIMITS.holdsMs } },
    )
    await crawl()
    await site.close()
    // The pauses are longer than a failed robots.txt is remembered, so that each attempt begins with a request for it.
    const { summary, events } = await runCrawl(withFastClock(library, 1000), source, input, site.origin)
    expect(summary.parked).toMatchObject([{ host: new URL(site.origin).host }])
    expect(events.filter(({ type }) => type === 'held')).toHaveLength(3)
    const { pages: kept } = await library.store.countContent(source.id)
    expect(kept).toBe(12)
    const streams = { signal: new AbortController().signal, library }
    const failure = findFailure(streams, { source, summary, pages: kept }, undefined, (...words) => words.join(' '))
    expect(failure).toMatchObject({ code: 'CRAWL_PARKED' })
  },
)

test('the status of a crawl shows the pause of a host and its cause, and only the counts of that crawl', async () => {
  const paths = ['/list', ...BELOW]
  const pages = Object.fromEntries(paths.map((path) => [path, page(`Page ${path}`)]))
  const { site, library, source, crawl } = await createCrawlFixture(
    { '/': page('Home', paths), ...pages },
    { limits: { ...UNPACED, holdsMs: [60_000] } },
  )
  await crawl()
  await site.close()
  const stop = new AbortController()
  const { summary } = await runCrawl(library, source, { kind: 'refresh' }, site.origin, stop.signal, ({ type }) => {
    if (type === 'held') stop.abort()
  })
  expect(summary).toMatchObject({ end: 'cancelled', unread: 12 })
  const waiting = `Waiting: ${new URL(site.origin).host} is paused until`
  const cause = '(network, 127.0.0.1 refused the connection)'
  const counts = 'Pages: 0 crawled, 0 skipped (unchanged), 0 errors, 12 not read'
  const description = await describeSource(library, source, 0)
  const report = await describeCrawl(library, createJobs(library), source, 0)
  for (const text of [writeStatus(description, (verb) => verb, library.clock.now()), writeCrawlStatus(report)]) {
    expect(text).toContain(waiting)
    expect(text).toContain(cause)
    expect(text).toContain(counts)
  }
  expect(reportRecord(report)).toMatchObject({ pagesCrawled: 0, pagesSkipped: 0, errors: 0, unread: 12 })
})

test.each([
  [3, 'CRAWL_PARKED'],
  [2, undefined],
] as const)('a first crawl in which %i of 4 pages fail ends with %s', async (failing, code) => {
  const paths = ['/a', '/b', '/c']
  const pages = paths.map((path, i) => [path, i < failing ? { status: 500, body: 'broken' } : page(path)] as const)
  const { library, source, crawl } = await createCrawlFixture(
    { '/': page('Home', paths), ...Object.fromEntries(pages) },
    { limits: { ...UNPACED, attempts: 1 } },
  )
  const { summary } = await crawl()
  const streams = { signal: new AbortController().signal, library }
  const result = { source, summary, pages: 4 - failing }
  expect(findFailure(streams, result, undefined, (...words) => words.join(' '))?.code).toBe(code)
})
