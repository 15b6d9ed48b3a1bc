import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test, vi } from 'vitest'
import { systemClock } from '../../fetch/clock.ts'
import { createSpawnRunner } from '../../jobs/spawn-crawl.ts'
import type { JobRecord } from '../job-log.ts'
import type { SharedJob } from '../workers.ts'
import { createHelping, type HelpingOptions } from './create-helping.ts'
import { NO_PROGRESS } from './frames.ts'
import type { LogWriter } from './log-writer.ts'
import type { CrawlRunner } from './runner.ts'
import { createTrackedJob, type TrackedJob } from './tracked-job.ts'

const spawn = createSpawnRunner({
  command: process.execPath,
  args: [fileURLToPath(new URL('../../../test/dispatch/scripted-crawl.ts', import.meta.url))],
  env: { ...process.env, NO_PROGRESS: JSON.stringify(NO_PROGRESS) },
})

/** Processes that go on until they are asked to stop, whatever else they are told. */
const runner: CrawlRunner = { ...spawn, start: (args, tell) => spawn.start(['run', ...args], tell) }

const writer: LogWriter = {
  ...{ add: async () => undefined, change: () => undefined, note: () => undefined },
  ...{ flush: async () => undefined, close: async () => undefined },
}

const RECORD: JobRecord = {
  ...{ id: 'j1', url: 'https://site.example/', args: [], process: null, status: 'running', createdAt: 1 },
  ...{ startedAt: 1, endedAt: null, crawlId: 'c1', sourceId: 's1', restarts: 0, progress: null, problem: null },
}

function open(further: Partial<HelpingOptions> = {}) {
  const running = new Set<TrackedJob>()
  const lines: string[] = []
  const told: string[] = []
  const jobs: SharedJob[] = [{ record: RECORD, worker: 'w1', isPaused: false }]
  const helping = createHelping({
    ...{ runner, writer, clock: systemClock, random: () => 0, libraryPath: '/library.db', slots: 2, share: 3 },
    feed: {
      tell: (name, _, { line }) => {
        told.push(name)
        if (line !== undefined) lines.push(String(line))
      },
    },
    listSharable: async () => [{ crawlId: 'c1', sourceId: 's1', freeHosts: 4, ready: 9 }],
    listJobs: async () => jobs,
    running: () => running,
    ...further,
  })
  onTestFinished(() => helping.close())
  helping.start()
  return { helping, running, lines, told, jobs }
}

const patience = { timeout: 60_000, interval: 20 }

test('takes part once in a crawl that can be shared for long, does as its job is asked, and goes when that is over', async () => {
  const { helping, lines, told, jobs } = open()
  await vi.waitFor(() => expect(helping.jobs).toHaveLength(1), patience)
  await vi.waitFor(() => expect(lines).toContain('told CONCURRENCY 3'), patience)
  await vi.waitFor(() => expect(helping.jobs[0]?.progress?.visited).toBe(2), patience)
  // How far the crawl is, whoever has begun it tells.
  expect(told).not.toContain('progress')
  jobs.splice(0, 1, { record: RECORD, worker: 'w1', isPaused: true })
  await vi.waitFor(() => expect(lines).toContain('told PAUSE'), patience)
  expect(helping.jobs).toHaveLength(1)
  jobs.length = 0
  await vi.waitFor(() => expect(helping.jobs).toEqual([]), patience)
  expect(helping.done).toEqual({ visits: 2, bytes: 0 })
})

test('leaves alone what it runs itself, what is paused, and what can be shared for a moment only', async () => {
  let looks = 0
  const listSharable = async () => {
    looks++
    const mine = { crawlId: 'mine', sourceId: 's2', freeHosts: 1, ready: 9 }
    // The other one comes and goes.
    return looks % 2 === 0 ? [mine] : [mine, { crawlId: 'c1', sourceId: 's1', freeHosts: 4, ready: 9 }]
  }
  const { helping, running } = open({ listSharable })
  const own = createTrackedJob('j2', { url: 'https://other.example/', args: [] }, 0, { ...RECORD, crawlId: 'mine' })
  running.add(own)
  await vi.waitFor(() => expect(looks).toBeGreaterThan(3), patience)
  expect(helping.jobs).toEqual([])
})

test('asks as its job asks, and leaves alone what is to be one process', async () => {
  const told: (readonly string[])[] = []
  const hearing: CrawlRunner = {
    ...runner,
    start: (args, tell) => {
      told.push(args)
      return runner.start(args, tell)
    },
  }
  const manners = ['--slow', '--request-timeout-ms=500', '--pacer-jitter-min-ms=5']
  const args = ['https://site.example/', '--depth=3', ...manners]
  const listSharable = async () => [
    { crawlId: 'c2', sourceId: 's2', freeHosts: 9, ready: 99 },
    { crawlId: 'c1', sourceId: 's1', freeHosts: 4, ready: 20 },
  ]
  const alone: SharedJob = {
    ...{ worker: 'w1', isPaused: false },
    record: { ...RECORD, id: 'j2', crawlId: 'c2', args: ['--concurrency=2'] },
  }
  const listJobs = async () => [alone, { record: { ...RECORD, args }, worker: 'w1', isPaused: false }]
  const { helping } = open({ runner: hearing, listSharable, listJobs, slots: 3 })
  await vi.waitFor(() => expect(helping.jobs).toHaveLength(1), patience)
  expect(told).toEqual([['--join=c1', '--job-id=j1', ...manners, '--library=/library.db']])
})

test('makes room for jobs of its own', async () => {
  const { helping, running } = open()
  await vi.waitFor(() => expect(helping.jobs).toHaveLength(1), patience)
  const job = (id: string) => createTrackedJob(id, { url: `https://site.example/${id}`, args: [] }, 0)
  running.add(job('j2'))
  helping.makeRoom()
  expect(helping.jobs).toHaveLength(1)
  running.add(job('j3'))
  helping.makeRoom()
  await vi.waitFor(() => expect(helping.jobs).toEqual([]), patience)
})

test('comes at the first look where there is much to do, and soon again after it has done something', async () => {
  let looks = 0
  const listSharable = async () => {
    looks++
    return [{ crawlId: 'c1', sourceId: 's1', freeHosts: 4, ready: 20 }]
  }
  const { helping } = open({ listSharable })
  await vi.waitFor(() => expect(helping.jobs).toHaveLength(1), patience)
  expect(looks).toBe(1)
  await vi.waitFor(() => expect(helping.jobs[0]?.own.visits).toBe(2), patience)
  helping.jobs[0]?.child?.kill('SIGTERM')
  await vi.waitFor(() => expect(helping.done.visits).toBe(2), patience)
  await vi.waitFor(() => expect(helping.jobs).toHaveLength(1), { ...patience, timeout: 10_000 })
})

test('comes at once when it hears of a crawl, not when it would have looked anyway', async () => {
  const sleep: typeof systemClock.sleep = (ms, signal) => systemClock.sleep(ms > 1000 ? 600_000 : ms, signal)
  const { helping } = open({ clock: { ...systemClock, sleep } })
  helping.wake()
  await vi.waitFor(() => expect(helping.jobs).toHaveLength(1), patience)
})
