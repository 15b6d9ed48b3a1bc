import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test, vi } from 'vitest'
import { systemClock } from '../../fetch/clock.ts'
import { createSpawnRunner } from '../../processes/spawn-crawl.ts'
import type { JobRecord } from '../ports/job-log.ts'
import type { SharedJob } from '../ports/workers.ts'
import { CrawlSharing, type CrawlSharingOptions } from './crawl-sharing.ts'
import { NO_PROGRESS } from './events/frames.ts'
import type { CrawlRunner } from './runner.ts'
import { createTrackedJob, type TrackedJob } from './tracked-job.ts'

const spawn = createSpawnRunner({
  command: process.execPath,
  args: [fileURLToPath(new URL('../../../test/dispatch/scripted-crawl.ts', import.meta.url))],
  env: { ...process.env, NO_PROGRESS: JSON.stringify(NO_PROGRESS) },
})

/** A runner whose processes continue until asked to stop, whatever their arguments. */
const runner: CrawlRunner = { ...spawn, start: (args, tell) => spawn.start(['run', ...args], tell) }

const writer: CrawlSharingOptions['writer'] = { note: () => undefined }

const RECORD: JobRecord = {
  ...{ id: 'j1', url: 'https://site.example/', args: [], process: null, status: 'running', createdAt: 1 },
  ...{
    startedAt: 1,
    endedAt: null,
    crawlId: 'c1',
    sourceId: 's1',
    restarts: 0,
    progress: null,
    problem: null,
    code: null,
    signal: null,
  },
}

function open(further: Partial<CrawlSharingOptions> = {}) {
  const running = new Set<TrackedJob>()
  const lines: string[] = []
  const eventNames: string[] = []
  const jobs: SharedJob[] = [{ record: RECORD, worker: 'w1', isPaused: false }]
  const sharing = new CrawlSharing({
    ...{ runner, writer, clock: systemClock, random: () => 0, libraryPath: '/library.db', slots: 2, share: 3 },
    feed: {
      tell: (name, _, { line }) => {
        eventNames.push(name)
        if (line !== undefined) lines.push(String(line))
      },
    },
    listSharable: async () => [{ crawlId: 'c1', sourceId: 's1', freeHosts: 4, ready: 9 }],
    listJobs: async () => jobs,
    running: () => running,
    ...further,
  })
  onTestFinished(() => sharing.close())
  sharing.start()
  return { sharing, running, lines, eventNames, jobs }
}

const waitOptions = { timeout: 60_000, interval: 20 }

test('a crawl that stays sharable gets one helper, which follows the commands of the job and leaves when the job is over', async () => {
  const { sharing, lines, eventNames, jobs } = open()
  await vi.waitFor(() => expect(sharing.jobs).toHaveLength(1), waitOptions)
  await vi.waitFor(() => expect(lines).toContain('told CONCURRENCY 3'), waitOptions)
  await vi.waitFor(() => expect(sharing.jobs[0]?.progress?.visited).toBe(2), waitOptions)
  // The process that owns the crawl reports its progress.
  expect(eventNames).not.toContain('progress')
  jobs.splice(0, 1, { record: RECORD, worker: 'w1', isPaused: true })
  await vi.waitFor(() => expect(lines).toContain('told PAUSE'), waitOptions)
  expect(sharing.jobs).toHaveLength(1)
  jobs.length = 0
  await vi.waitFor(() => expect(sharing.jobs).toEqual([]), waitOptions)
  expect(sharing.done).toEqual({ visits: 2, bytes: 0 })
})

test('a worker does not join its own crawls, or crawls that are sharable only for a moment', async () => {
  let polls = 0
  const listSharable = async () => {
    polls++
    const mine = { crawlId: 'mine', sourceId: 's2', freeHosts: 1, ready: 9 }
    // The second crawl appears in every other poll.
    return polls % 2 === 0 ? [mine] : [mine, { crawlId: 'c1', sourceId: 's1', freeHosts: 4, ready: 9 }]
  }
  const { sharing, running } = open({ listSharable })
  const own = createTrackedJob('j2', { url: 'https://other.example/', args: [] }, 0, { ...RECORD, crawlId: 'mine' })
  running.add(own)
  await vi.waitFor(() => expect(polls).toBeGreaterThan(3), waitOptions)
  expect(sharing.jobs).toEqual([])
})

test('a helper gets the pacing flags of the job, and a job with an explicit concurrency gets no helper', async () => {
  const startedArgs: (readonly string[])[] = []
  const recordingRunner: CrawlRunner = {
    ...runner,
    start: (args, tell) => {
      startedArgs.push(args)
      return runner.start(args, tell)
    },
  }
  const pacingFlags = ['--slow', '--request-timeout-ms=500', '--pacer-jitter-min-ms=5']
  const args = ['https://site.example/', '--depth=3', ...pacingFlags]
  const listSharable = async () => [
    { crawlId: 'c2', sourceId: 's2', freeHosts: 9, ready: 99 },
    { crawlId: 'c1', sourceId: 's1', freeHosts: 4, ready: 20 },
  ]
  const withConcurrency: SharedJob = {
    ...{ worker: 'w1', isPaused: false },
    record: { ...RECORD, id: 'j2', crawlId: 'c2', args: ['--concurrency=2'] },
  }
  const listJobs = async () => [withConcurrency, { record: { ...RECORD, args }, worker: 'w1', isPaused: false }]
  const { sharing } = open({ runner: recordingRunner, listSharable, listJobs, slots: 3 })
  await vi.waitFor(() => expect(sharing.jobs).toHaveLength(1), waitOptions)
  expect(startedArgs).toEqual([['--join=c1', '--job-id=j1', ...pacingFlags, '--library=/library.db']])
})

test('a worker ends helpers to free slots for its own jobs', async () => {
  const { sharing, running } = open()
  await vi.waitFor(() => expect(sharing.jobs).toHaveLength(1), waitOptions)
  const job = (id: string) => createTrackedJob(id, { url: `https://site.example/${id}`, args: [] }, 0)
  running.add(job('j2'))
  sharing.endSurplusHelpers()
  expect(sharing.jobs).toHaveLength(1)
  running.add(job('j3'))
  sharing.endSurplusHelpers()
  await vi.waitFor(() => expect(sharing.jobs).toEqual([]), waitOptions)
})

test('a worker joins at the first poll if many addresses are ready, and again soon after a useful helper has ended', async () => {
  let polls = 0
  const listSharable = async () => {
    polls++
    return [{ crawlId: 'c1', sourceId: 's1', freeHosts: 4, ready: 20 }]
  }
  const { sharing } = open({ listSharable })
  await vi.waitFor(() => expect(sharing.jobs).toHaveLength(1), waitOptions)
  expect(polls).toBe(1)
  await vi.waitFor(() => expect(sharing.jobs[0]?.ownWork.visits).toBe(2), waitOptions)
  sharing.jobs[0]?.child?.kill('SIGTERM')
  await vi.waitFor(() => expect(sharing.done.visits).toBe(2), waitOptions)
  await vi.waitFor(() => expect(sharing.jobs).toHaveLength(1), { ...waitOptions, timeout: 10_000 })
})

test('a worker joins at once when notified, without waiting for the next poll', async () => {
  const sleep: typeof systemClock.sleep = (ms, signal) => systemClock.sleep(ms > 1000 ? 600_000 : ms, signal)
  const { sharing } = open({ clock: { ...systemClock, sleep } })
  sharing.wake()
  await vi.waitFor(() => expect(sharing.jobs).toHaveLength(1), waitOptions)
})
