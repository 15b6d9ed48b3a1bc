import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { PROGRAM } from '../../../test/e2e/program.ts'
import { openTestLibrary, openTestSite } from '../../../test/sites/crawl.ts'
import { page } from '../../../test/sites/site.ts'
import { systemClock } from '../../fetch/clock.ts'
import type { OpenLibrary } from '../../open-library.ts'
import { createSpawnRunner } from '../../processes/spawn-crawl.ts'
import { addSource } from '../crawl/add-source.ts'
import type { JobLog } from '../ports/job-log.ts'
import { parseCrawlRequest } from './crawl-request.ts'
import { createDispatchedJobs } from './dispatched-jobs.ts'
import type { Dispatcher } from './dispatcher.ts'
import { createFeed } from './events/create-feed.ts'
import { LocalDispatcher } from './local-dispatcher.ts'

const UUID = /^[0-9a-f]{8}-[0-9a-f-]{27}$/

const closing: (() => Promise<void> | void)[] = []

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

/** Opens a server with its own library and real crawls. */
async function open(): Promise<{ dispatcher: Dispatcher; library: OpenLibrary; log: JobLog; path: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-'))
  const path = join(folder, 'library.db')
  closing.push(() => rmSync(folder, { recursive: true }))
  const library = await openTestLibrary(path)
  const { jobLog: log } = library
  if (log === undefined) throw new Error('there is no history of jobs')
  const dispatcher = new LocalDispatcher({
    runner: createSpawnRunner({
      command: process.execPath,
      args: [PROGRAM, 'crawl-job'],
      env: { ...process.env, PHAROS_ALLOW_PRIVATE: '127.0.0.0/8' },
    }),
    jobLog: async () => log,
    feed: createFeed({ epoch: 'e1', clock: systemClock }),
    clock: systemClock,
    newId: randomUUID,
    libraryPath: path,
    maxJobs: 1,
    maxRequests: 2,
    restartDelaysMs: [10, 10, 10],
  })
  closing.push(() => dispatcher.close())
  return { dispatcher, library, log, path }
}

/** Opens a site with slow pages. */
function openSlow(count: number, delayMs: number) {
  const paths = Array.from({ length: count }, (_, i) => `/p${i}`)
  return openTestSite({
    '/': page('Start', [...paths, '/missing', 'https://elsewhere.example/']),
    ...Object.fromEntries(paths.map((path) => [path, { body: page(path), delayMs }])),
  })
}

async function until<T>(look: () => T | undefined | false | Promise<T | undefined | false>): Promise<T> {
  const end = Date.now() + 40_000
  for (;;) {
    const found = await look()
    if (found !== undefined && found !== false) return found
    if (Date.now() > end) throw new Error('the expected state was not reached within 40 s')
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

test('a crawl of a source runs as a process, continues after the process is killed, and is reported like a local one', async () => {
  const { dispatcher, library } = await open()
  const site = await openSlow(12, 150)
  const source = await addSource(library, { url: `${site.origin}/` })
  const other = await addSource(library, { url: `${site.origin}/p1`, name: 'other' })
  const jobs = createDispatchedJobs(dispatcher, library)
  await expect(jobs.start(source, { kind: 'add', headers: { cookie: 'x' } })).rejects.toMatchObject({ code: 'USAGE' })
  await expect(jobs.start(source, { kind: 'add', scope: { block: ['https://x/'] } })).rejects.toMatchObject({
    code: 'USAGE',
  })
  expect(dispatcher.list()).toEqual([])

  const crawlId = await jobs.start(source, { kind: 'add' })
  const [view] = dispatcher.list()
  expect(crawlId).toMatch(UUID)
  expect(view).toMatchObject({ crawlId, sourceId: source.id, stage: 'running' })
  expect((await library.store.listCrawls(source.id, 1))[0]).toMatchObject({ id: crawlId, kind: 'add' })
  const job = jobs.find(crawlId)
  expect(jobs.find(view?.id ?? '')).toBe(job)
  expect(job).toMatchObject({ crawlId, sourceId: source.id, endedAt: null, summary: null, error: null })
  await expect(jobs.start(source, { kind: 'recrawl' })).rejects.toMatchObject({ code: 'CRAWL_RUNNING' })

  // A queued crawl is named by its job id.
  const waiting = await jobs.start(other, { kind: 'add' })
  expect(dispatcher.find(waiting)).toMatchObject({ stage: 'queued', sourceId: other.id })
  expect(jobs.find(waiting)).toMatchObject({ crawlId: waiting, sourceId: other.id })
  expect(jobs.list().map((one) => one.crawlId)).toEqual([waiting, crawlId])
  await expect(jobs.start(other, { kind: 'add' })).rejects.toMatchObject({ code: 'CRAWL_RUNNING' })
  expect(await jobs.cancel(waiting)).toBe(true)
  await until(() => typeof jobs.find(waiting)?.endedAt === 'number')
  expect(await jobs.cancel(waiting)).toBe(false)
  expect(await jobs.cancel('nobody')).toBe(false)

  await until(() => (job?.progress.pagesCrawled ?? 0) >= 2)
  process.kill(view?.pid ?? 0, 'SIGKILL')
  const summary = await until(() => job?.summary ?? undefined)
  expect(summary).toMatchObject({ crawlId, end: 'completed' })
  expect(dispatcher.find(view?.id ?? '')).toMatchObject({ status: 'done', crawlId, restarts: 1 })
  expect(await library.store.countContent(source.id)).toMatchObject({ pages: 13 })
  expect(job?.endedAt).not.toBeNull()
  expect(job?.progress).toMatchObject({
    errors: 1,
    errorUrls: [{ url: `${site.origin}/missing`, reason: expect.stringContaining('not-found') }],
    filtered: 1,
    filteredUrls: [{ url: 'https://elsewhere.example/', reason: 'off-domain', pattern: null }],
  })
})

test('a crawl requested over HTTP can be cancelled by its crawl id, and start rejects for a removed source', async () => {
  const { dispatcher, library, log, path } = await open()
  const site = await openSlow(40, 200)
  const jobs = createDispatchedJobs(dispatcher, library)
  const body = { startUrl: `${site.origin}/`, crawlType: 'basic', depth: 1 }
  const request = parseCrawlRequest(body, { libraryPath: path })
  const { id } = await dispatcher.begin(request)
  const crawlId = await until(() => dispatcher.find(id)?.crawlId ?? undefined)
  const job = jobs.find(crawlId)
  expect(job?.sourceId).toBe((await library.store.listSources())[0]?.id)
  await until(() => (job?.progress.pagesTotal ?? 0) > 10)
  expect(await jobs.cancel(crawlId)).toBe(true)
  expect(await dispatcher.wait(id)).toMatchObject({ status: 'cancelled', restarts: 0 })
  const entry = await until(async () => {
    const found = await log.find(id)
    return found?.status === 'cancelled' && found.events > 40 && found
  })
  expect(entry).toMatchObject({ crawlId, sourceId: job?.sourceId })

  await site.close()
  const gone = await addSource(library, { url: `${site.origin}/`, name: 'gone' })
  await library.store.removeSource(gone.id)
  const start = jobs.start(gone, { kind: 'add' })
  await expect(start).rejects.toMatchObject({
    code: 'CRAWL_START_FAILED',
    message: expect.stringContaining('no source'),
  })
  await jobs.close()
  await expect(jobs.start(gone, { kind: 'add' })).rejects.toMatchObject({ code: 'INTERRUPTED' })
})
