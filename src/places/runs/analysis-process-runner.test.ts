import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { storeNews } from '../../../test/analysis/stored-news.ts'
import { PROGRAM } from '../../../test/e2e/program.ts'
import { systemClock } from '../../fetch/clock.ts'
import { createFeed } from '../../library/jobs/events/create-feed.ts'
import type { Feed } from '../../library/jobs/events/feed.ts'
import type { CrawlRunner } from '../../library/jobs/runner.ts'
import { type OpenLibrary, openLibrary } from '../../open-library.ts'
import { createSpawnRunner } from '../../processes/spawn-crawl.ts'
import type { AnalysisRun, RunStatus } from '../ports/analyses.ts'
import { AnalysisProcessRunner, type AnalysisRunnerOptions } from './analysis-process-runner.ts'
import type { AnalysisRunner } from './analysis-runner.ts'
import { beginRun } from './begin-run.ts'

const spawnRunner = createSpawnRunner({ command: process.execPath, args: [PROGRAM, 'analyze'] })
const PAGES = 45

let folder: string
let library: OpenLibrary
let feed: Feed
const opened: AnalysisRunner[] = []

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'pharos-runner-'))
  library = await openLibrary({ path: join(folder, 'library.db'), version: '0' })
  feed = createFeed({ epoch: 'e1', clock: systemClock })
  await storeNews(library.store, { articles: 30 })
})

afterEach(async () => {
  for (const runner of opened.splice(0)) await runner.close()
  await library.close()
  rmSync(folder, { recursive: true, force: true })
})

function optionsOf(runner: CrawlRunner): AnalysisRunnerOptions {
  return { runner, library: async () => library, feed, clock: systemClock, libraryPath: join(folder, 'library.db') }
}

function open(runner: CrawlRunner = spawnRunner): AnalysisRunner {
  const analysisRunner = new AnalysisProcessRunner(optionsOf(runner))
  opened.push(analysisRunner)
  return analysisRunner
}

/** Returns a runner that kills each process on its first output. */
function createKillingRunner(): CrawlRunner {
  return {
    ...spawnRunner,
    start(args, tell) {
      const child = spawnRunner.start(args, (stream, line) => {
        child.kill('SIGKILL')
        tell(stream, line)
      })
      return child
    },
  }
}

/** Returns a runner that reports the exit of each process 200 ms late. */
function createLingeringRunner(): CrawlRunner {
  return {
    ...spawnRunner,
    start(args, tell) {
      const child = spawnRunner.start(args, tell)
      const ended = child.ended.then(async (end) => {
        await systemClock.sleep(200)
        return end
      })
      return { ...child, ended }
    },
  }
}

function eventsOf(name: 'analysis' | 'milestone'): Record<string, unknown>[] {
  return feed
    .read(0, { logs: true, jobId: null }, 5000)
    .events.filter((event) => event.name === name)
    .map(({ json }) => JSON.parse(json) as Record<string, unknown>)
}

async function waitForStatus(id: string, ...statuses: RunStatus[]): Promise<AnalysisRun> {
  const end = Date.now() + 30_000
  for (;;) {
    const run = await library.analyses.findRun(id)
    if (run !== undefined && statuses.includes(run.status)) return run
    if (Date.now() > end) throw new Error(`the run is ${run?.status}: ${run?.error}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

test('a run is recorded at once, executes in its own process, and is reported to the feed', async () => {
  const runner = open()
  const begun = await runner.start({ skipDomains: true })
  expect(await library.analyses.findRun(begun.id)).toMatchObject({ status: 'running', options: { skipDomains: true } })
  await expect(runner.start({})).rejects.toMatchObject({ code: 'ANALYSIS_RUNNING' })
  // Invalid options are reported even while a run is active.
  await expect(runner.start({ pageLimit: 0 })).rejects.toMatchObject({ code: 'USAGE' })
  // Another runner cannot start a run either.
  await expect(open().start({})).rejects.toMatchObject({ code: 'ANALYSIS_RUNNING' })
  const ended = await waitForStatus(begun.id, 'completed')
  expect(ended.progress).toMatchObject({ pages: PAGES, articles: 30, domains: 0, milestones: 1 })
  await expect
    .poll(() => eventsOf('analysis').at(-1))
    .toMatchObject({
      runId: begun.id,
      status: 'completed',
      stage: 'done',
      lastProgress: ended.progress,
      error: null,
      jobId: null,
    })
  expect(eventsOf('milestone')).toMatchObject([{ jobId: 'analysis-run', kind: 'depth2-coverage' }])
})

test('a run whose process is killed is cancelled, and the same request resumes it', async () => {
  const { id } = await open(createKillingRunner()).start({})
  const broken = await waitForStatus(id, 'cancelled')
  expect(broken.error).toBe('the analysis process was killed by SIGKILL')
  expect(eventsOf('analysis').at(-1)).toMatchObject({ runId: id, status: 'cancelled' })
  const again = await open().start({})
  expect(again.id).toBe(id)
  expect((await waitForStatus(id, 'completed')).progress.pages).toBe(PAGES)
})

test('a run interrupted by the end of a server resumes with the next server', async () => {
  const first = open(createKillingRunner())
  const { id } = await first.start({})
  await first.close()
  // The process was killed while no server could record its end.
  expect(await library.analyses.findRun(id)).toMatchObject({ status: 'running' })
  await open().recover()
  expect((await waitForStatus(id, 'completed')).progress.pages).toBe(PAGES)
})

test('a completed run does not block the next one while its process exits', async () => {
  const runner = open(createLingeringRunner())
  const { id } = await runner.start({ skipDomains: true })
  await waitForStatus(id, 'completed')
  const next = await runner.start({ dryRun: true })
  expect(next.id).not.toBe(id)
  await expect(runner.start({})).rejects.toMatchObject({ code: 'ANALYSIS_RUNNING', details: { run: next.id } })
  await waitForStatus(next.id, 'completed')
})

test('a run whose signal is aborted before it begins is left to other workers', async () => {
  const taker = new AnalysisProcessRunner(optionsOf(spawnRunner))
  opened.push(taker)
  const { run } = await beginRun(library, {}, null)
  // The server that recorded the run may be about to send it to a worker.
  expect(await taker.findAbandoned()).toBeUndefined()
  const stop = new AbortController()
  stop.abort()
  expect(await taker.take(run.id, stop.signal)).toBe(false)
  expect(await library.analyses.findRun(run.id)).toMatchObject({ status: 'running' })
  await expect.poll(() => taker.findAbandoned()).toBe(run.id)
})

test('recover starts nothing without an open run', async () => {
  await open().recover()
  expect((await library.analyses.listRuns({ limit: 1, offset: 0 })).total).toBe(0)
})

test('a run fails with the reason when its process cannot be started', async () => {
  const nothing = createSpawnRunner({ command: join(folder, 'nothing'), args: [] })
  await expect(open(nothing).start({})).rejects.toMatchObject({ code: 'ANALYSIS_START_FAILED' })
  const [run] = (await library.analyses.listRuns({ limit: 1, offset: 0 })).items
  expect(run).toMatchObject({ status: 'failed' })
  expect(run?.error).toContain('could not be started')
  // A runner with a working command can start a new run.
  const begun = await open().start({})
  expect(begun.id).not.toBe(run?.id)
  await waitForStatus(begun.id, 'completed')
})

test('a run fails when its process exits without taking the run up', async () => {
  const other = createSpawnRunner({
    command: process.execPath,
    args: ['-e', 'console.error("no such thing"); process.exit(3)', '--'],
  })
  const { id } = await open(other).start({})
  expect((await waitForStatus(id, 'failed')).error).toBe('the analysis process ended with code 3: no such thing')
})
