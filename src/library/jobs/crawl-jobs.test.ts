import { expect, test } from 'vitest'
import { type CrawlFixture, createCrawlFixture } from '../../../test/sites/crawl.ts'
import { page } from '../../../test/sites/site.ts'
import { addSource } from '../crawl/add-source.ts'
import type { Library } from '../library.ts'
import type { Job, Jobs } from '../ports/jobs.ts'
import { createJobs } from './crawl-jobs.ts'

/** Opens a site with slow pages. */
function openSlowSite(count = 6, delayMs = 40): Promise<CrawlFixture> {
  const paths = Array.from({ length: count }, (_, i) => `/p${i}`)
  return createCrawlFixture({
    '/': page('Start', [...paths, '/missing', 'https://elsewhere.example/']),
    ...Object.fromEntries(paths.map((path) => [path, { body: page(path), delayMs }])),
  })
}

async function untilEnd(jobs: Jobs, crawlId: string): Promise<Job> {
  const job = jobs.find(crawlId)
  if (job === undefined) throw new Error('there is no such crawl')
  const end = Date.now() + 30_000
  while (job.endedAt === null) {
    if (Date.now() > end) throw new Error('the crawl did not end within 30 s')
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  return job
}

test('start returns while the crawl continues, and its pages are counted', async () => {
  const { library, source } = await openSlowSite()
  let ends = 0
  const jobs = createJobs(library, { onEnd: () => ends++ })
  const crawlId = await jobs.start(source, { kind: 'add' })
  expect(ends).toBe(0)
  expect(jobs.find(crawlId)).toMatchObject({ crawlId, sourceId: source.id, endedAt: null, summary: null })
  await expect(jobs.start(source, { kind: 'add' })).rejects.toMatchObject({ code: 'CRAWL_RUNNING' })
  const job = await untilEnd(jobs, crawlId)
  expect(job.summary).toMatchObject({ end: 'completed', indexed: 7 })
  expect(job.progress).toMatchObject({
    pagesCrawled: 7,
    pagesSkipped: 0,
    pagesTotal: 8,
    errors: 1,
    errorUrls: [{ url: expect.stringContaining('/missing'), reason: 'not-found, answered 404' }],
    filtered: 1,
    filteredUrls: [{ url: 'https://elsewhere.example/', reason: 'off-site' }],
  })
  const { endedAt } = job
  const again = await jobs.start(source, { kind: 'recrawl' })
  expect(await untilEnd(jobs, again)).toMatchObject({ progress: { pagesCrawled: 0, pagesSkipped: 7, pagesTotal: 8 } })
  expect(jobs.list().map((one) => one.crawlId)).toEqual([again, crawlId])
  expect(job.endedAt).toBe(endedAt)
  expect(ends).toBe(2)
})

test('start stores nothing when it is refused', async () => {
  const { library, source } = await openSlowSite()
  const jobs = createJobs(library)
  const scope = { block: ['https://not-a-path/'] }
  await expect(jobs.start(source, { kind: 'add', scope })).rejects.toMatchObject({ code: 'USAGE' })
  expect(jobs.list()).toEqual([])
  expect(await library.store.listCrawls(source.id, 10)).toEqual([])
})

test('start refuses more than the maximum number of jobs', async () => {
  const { library, source } = await openSlowSite(20, 100)
  const others = []
  for (const name of ['two', 'three']) others.push(await addSource(library, { url: source.url, name }))
  const jobs = createJobs(library, { maxRunning: 2 })
  // A start counts toward the limit even before its job is recorded.
  const all = [source, ...others]
  const started = await Promise.allSettled(all.map((one) => jobs.start(one, { kind: 'add' })))
  expect(started.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected'])
  expect(started[2]).toMatchObject({ reason: { code: 'JOBS_FULL', message: expect.stringContaining('2 crawls') } })
  const [first] = jobs.list()
  await jobs.cancel(first?.crawlId ?? '')
  await untilEnd(jobs, first?.crawlId ?? '')
  expect(await jobs.start(all[2] ?? source, { kind: 'add' })).toMatch(/^[0-9a-f-]{36}$/)
  await jobs.close()
})

test('a resumed crawl includes the counts from before its interruption', async () => {
  const { library, source } = await openSlowSite(40, 100)
  const jobs = createJobs(library)
  const crawlId = await jobs.start(source, { kind: 'add' })
  const end = Date.now() + 30_000
  while ((jobs.find(crawlId)?.progress.pagesCrawled ?? 0) < 3 && Date.now() < end) {
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  await jobs.cancel(crawlId)
  await untilEnd(jobs, crawlId)
  expect(await jobs.start(source, { kind: 'add' })).toBe(crawlId)
  expect(jobs.find(crawlId)?.progress.pagesCrawled).toBeGreaterThanOrEqual(3)
  expect((await untilEnd(jobs, crawlId)).progress).toMatchObject({ pagesCrawled: 41, pagesTotal: 42, errors: 1 })
})

test('cancel waits briefly, and close waits for the end', async () => {
  const { library, source } = await openSlowSite(40, 100)
  const jobs = createJobs(library)
  const first = await jobs.start(source, { kind: 'add' })
  expect(await jobs.cancel(first)).toBe(true)
  expect((await untilEnd(jobs, first)).summary?.end).toBe('cancelled')
  expect(await jobs.cancel(first)).toBe(false)
  expect(await jobs.cancel('unknown')).toBe(false)

  // The interrupted crawl resumes under its id.
  expect(await jobs.start(source, { kind: 'add' })).toBe(first)
  await jobs.close()
  expect(jobs.find(first)?.endedAt).not.toBeNull()
  await expect(jobs.start(source, { kind: 'add' })).rejects.toMatchObject({ code: 'INTERRUPTED' })
})

test('an ended job is forgotten after the retention time, a running one is not', async () => {
  const { library, source } = await openSlowSite(2, 300)
  let ahead = 0
  const shifted: Library = { ...library, clock: { ...library.clock, now: () => library.clock.now() + ahead } }
  const jobs = createJobs(shifted, { retentionMs: 3_600_000 })
  const crawlId = await jobs.start(source, { kind: 'add' })
  ahead = 7_200_000
  expect(jobs.find(crawlId)).toBeDefined()
  ahead = 0
  await untilEnd(jobs, crawlId)
  ahead = 3_599_000
  expect(jobs.list()).toHaveLength(1)
  ahead = 3_601_000
  expect(jobs.list()).toEqual([])
  expect(jobs.find(crawlId)).toBeUndefined()
})

test('a crawl that fails reports why', async () => {
  const { library, source } = await openSlowSite()
  const broken: Library = {
    ...library,
    store: { ...library.store, settle: () => Promise.reject(new Error('the ledger is torn')) },
  }
  Object.setPrototypeOf(broken.store, Object.getPrototypeOf(library.store))
  const jobs = createJobs(broken)
  const job = await untilEnd(jobs, await jobs.start(source, { kind: 'add' }))
  expect(job).toMatchObject({ error: 'the ledger is torn', summary: null })
})
