import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, expect, test } from 'vitest'
import { jobOf } from '../../../test/contracts/job-notes.ts'
import { createMemoryJobLog } from '../../../test/memory-store/job-log.ts'
import type { Clock } from '../../crawl/ports.ts'
import { systemClock } from '../../fetch/clock.ts'
import { createSpawnRunner } from '../../processes/spawn-crawl.ts'
import type { JobLog, JobRecord } from '../ports/job-log.ts'
import type { CrawlRequest, Dispatcher } from './dispatcher.ts'
import { createFeed } from './events/create-feed.ts'
import type { FeedEvent } from './events/feed.ts'
import { NO_PROGRESS } from './events/frames.ts'
import { type DispatcherOptions, LocalDispatcher } from './local-dispatcher.ts'

const SCRIPT = fileURLToPath(new URL('../../../test/dispatch/scripted-crawl.ts', import.meta.url))
const runner = createSpawnRunner({
  command: process.execPath,
  args: [SCRIPT],
  env: { ...process.env, NO_PROGRESS: JSON.stringify(NO_PROGRESS) },
})

const opened: Dispatcher[] = []

afterEach(async () => {
  await Promise.all(opened.splice(0).map((dispatcher) => dispatcher.close()))
})

interface Opened {
  readonly dispatcher: Dispatcher
  readonly log: JobLog
  /** Returns all events of one name so far. */
  eventsOf(name: FeedEvent['name']): Record<string, unknown>[]
}

function open(options: Partial<DispatcherOptions> = {}, log = createMemoryJobLog()): Opened {
  const clock = options.clock ?? systemClock
  const feed = createFeed({ epoch: 'e1', clock })
  const dispatcher = new LocalDispatcher({
    runner,
    jobLog: async () => log,
    feed,
    clock,
    newId: randomUUID,
    libraryPath: '/library.db',
    maxJobs: 1,
    maxRequests: 8,
    restartDelaysMs: [10, 20, 30],
    ...options,
  })
  opened.push(dispatcher)
  const eventsOf = (name: FeedEvent['name']) =>
    feed
      .read(0, { logs: true, jobId: null }, 5000)
      .events.filter((event) => event.name === name)
      .map(({ json }) => JSON.parse(json))
  return { dispatcher, log, eventsOf }
}

let requestCount = 0

/** Creates a request for a process with the given behavior; each has its own start address. */
function requestFor(behavior: string, ...args: string[]): CrawlRequest {
  return { url: `https://site.example/${requestCount++}`, args: [behavior, ...args] }
}

/** A job that an earlier server left unfinished. */
const UNFINISHED = jobOf('left', { url: 'https://site.example/', args: ['finish'] })

async function until<T>(look: () => T | undefined | false | Promise<T | undefined | false>): Promise<T> {
  const end = Date.now() + 20_000
  for (;;) {
    const found = await look()
    if (found !== undefined && found !== false) return found
    if (Date.now() > end) throw new Error('the expected state was not reached within 20 s')
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

/** Resolves when the process of a job has reported its progress. */
function untilRunning({ dispatcher }: Opened, id: string) {
  return until(() => dispatcher.find(id)?.stage === 'running' && dispatcher.find(id))
}

function linesOf({ eventsOf }: Opened): unknown[] {
  return eventsOf('log').map(({ line }) => line)
}

test('the output of a process is published and stored until its end', async () => {
  const server = open()
  const { dispatcher, log, eventsOf } = server
  const begun = await dispatcher.begin(requestFor('finish'))
  expect(begun).toMatchObject({ status: 'running', stage: 'preparing', endedAt: null, args: ['finish'] })
  expect(begun.pid).toBeGreaterThan(0)
  const { id } = begun
  const ended = await dispatcher.wait(id)
  expect(ended).toMatchObject({ id, status: 'done', stage: 'ended', code: 0, signal: null, problem: null, restarts: 0 })
  expect(ended).toMatchObject({ crawlId: 'crawl-1', sourceId: 'source-1', progress: { visited: 5, saved: 4 } })
  expect(ended.trouble).toEqual({
    errorUrls: [{ url: 'https://site.example/b', reason: 'http, answered 404' }],
    filtered: 1,
    filteredUrls: [{ url: 'https://site.example/b', reason: 'off-domain' }],
  })
  expect(linesOf(server)).toContain(`finish --job-id=${id} --library=/library.db`)
  expect(eventsOf('log')).toContainEqual(
    expect.objectContaining({ stream: 'stderr', line: 'a word of warning', jobId: id }),
  )
  expect(eventsOf('progress').map(({ visited, stage }) => [visited, stage])).toEqual([
    [1, 'running'],
    [5, 'running'],
  ])
  expect(eventsOf('queue').map(({ action, reason, jobId }) => [action, reason, jobId])).toEqual([
    ['enqueued', null, id],
    ['drop', 'off-domain', id],
  ])
  expect(eventsOf('cache')).toMatchObject([{ ageSeconds: 5, jobId: id }])
  expect(eventsOf('problem').map(({ kind, severity }) => [kind, severity])).toEqual([
    ['missing-hub', 'warn'],
    ['other', 'info'],
  ])
  expect(eventsOf('problem')[0]).toMatchObject({ scope: 'site.example', details: { n: 1 }, ts: expect.any(String) })
  expect(eventsOf('milestone')).toMatchObject([{ kind: 'patterns-learned', jobId: id }])
  const [done] = eventsOf('done')
  expect(done).toEqual({
    code: 0,
    unread: 0,
    signal: null,
    status: 'done',
    jobId: id,
    endedAt: expect.any(String),
    ts: expect.any(String),
  })
  await until(() => eventsOf('jobs').at(-1)?.['count'] === 0)
  expect(eventsOf('jobs')[0]).toMatchObject({ count: 1, items: [{ id, status: 'running', visited: 0 }] })

  const kept = await until(async () => {
    const entry = await log.find(id)
    return entry?.status === 'done' && entry.events === 2 && entry
  })
  expect(kept).toMatchObject({
    url: begun.url,
    args: ['finish'],
    crawlId: 'crawl-1',
    endedAt: ended.endedAt,
  })
  expect(kept).toMatchObject({ process: { pid: begun.pid }, progress: { visited: 5 } })
  expect((await log.listProblems({ jobId: id, limit: 9 })).map(({ kind }) => kind)).toEqual(['other', 'missing-hub'])
  expect(await log.listMilestones({ jobId: id, limit: 9 })).toHaveLength(1)
})

test('further jobs are refused or queued if there is one slot, and a queued one can be cancelled', async () => {
  const { dispatcher, log, eventsOf } = open()
  expect(dispatcher.slots).toBe(1)
  const begun = await Promise.allSettled([dispatcher.begin(requestFor('run')), dispatcher.begin(requestFor('run'))])
  expect(begun.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
  expect(begun[1]).toMatchObject({ reason: { code: 'JOBS_FULL' } })
  const first = dispatcher.list()[0]?.id ?? ''
  const second = await dispatcher.enqueue(requestFor('finish', 'second'))
  const third = await dispatcher.enqueue(requestFor('finish', 'third'))
  const fourth = await dispatcher.enqueue(requestFor('finish', 'fourth'))
  expect(second).toMatchObject({ status: 'queued', stage: 'queued', pid: null, startedAt: null })
  expect(dispatcher.list().map(({ id }) => id)).toEqual([fourth.id, third.id, second.id, first])
  expect(dispatcher.pause(second.id)).toBe(false)
  expect(await dispatcher.stop(third.id)).toEqual({ stopped: true, escalatesInMs: 0 })
  expect(await dispatcher.wait(third.id)).toMatchObject({ status: 'cancelled', startedAt: null, code: null })
  await dispatcher.stop(first)
  await dispatcher.wait(fourth.id)
  expect(eventsOf('done').map(({ jobId }) => jobId)).toEqual([third.id, first, second.id, fourth.id])
  await until(async () => (await log.listOpen()).length === 0)
  const statuses = (await log.list(10)).items.map(({ id, status }) => [id, status] as const)
  expect(new Map(statuses)).toEqual(
    new Map([
      [first, 'stopped'],
      [second.id, 'done'],
      [third.id, 'cancelled'],
      [fourth.id, 'done'],
    ]),
  )
})

test('the queue has a limit, and the jobs event lists at most 50', async () => {
  const { dispatcher, eventsOf } = open({ maxWaiting: 60 })
  const { id } = await dispatcher.begin(requestFor('run'))
  for (let i = 0; i < 60; i++) await dispatcher.enqueue(requestFor('finish'))
  await expect(dispatcher.enqueue(requestFor('finish'))).rejects.toMatchObject({ code: 'JOBS_FULL' })
  expect(dispatcher.list()).toHaveLength(61)
  const last = await until(() => eventsOf('jobs').find(({ count }) => count === 61))
  expect(last['items']).toHaveLength(50)
  expect(last['items']).toMatchObject({ 0: { id, status: 'running' }, 1: { status: 'queued' } })
})

test('running jobs share the maximum number of requests, and each process learns of every change', async () => {
  const server = open({ maxJobs: 2, maxRequests: 7 })
  const { dispatcher, eventsOf } = server
  expect(dispatcher.slots).toBe(2)
  const one = await dispatcher.begin(requestFor('run'))
  const two = await dispatcher.begin(requestFor('run'))
  const sharesOf = (id: string) =>
    eventsOf('log')
      .filter(({ jobId, line }) => jobId === id && String(line).startsWith('told CONCURRENCY'))
      .map(({ line }) => String(line).split(' ')[2])
  await until(() => sharesOf(one.id).length === 2 && sharesOf(two.id).length === 1)
  expect(sharesOf(one.id)).toEqual(['7', '3'])
  expect(sharesOf(two.id)).toEqual(['3'])
  await dispatcher.stop(two.id)
  await until(() => sharesOf(one.id).at(-1) === '7')
})

test('a job can be paused and resumed', async () => {
  const server = open()
  const { dispatcher, eventsOf } = server
  const { id } = await dispatcher.begin(requestFor('run'))
  await untilRunning(server, id)
  expect(dispatcher.pause(id)).toBe(true)
  await until(() => eventsOf('progress').at(-1)?.['paused'] === true)
  expect(dispatcher.find(id)).toMatchObject({ paused: true })
  expect(dispatcher.resume(id)).toBe(true)
  await until(() => eventsOf('progress').at(-1)?.['paused'] === false)
  expect(dispatcher.find(id)).toMatchObject({ paused: false })
  await dispatcher.stop(id)
  await dispatcher.wait(id)
  expect(dispatcher.pause(id)).toBe(false)
  expect(() => dispatcher.pause('nobody')).toThrow(expect.objectContaining({ code: 'JOB_UNKNOWN' }))
})

test('stop ends a cooperative process, and kills a process that ignores the request', async () => {
  const server = open({ maxJobs: 2 })
  const { dispatcher } = server
  const [good, stubborn] = [await dispatcher.begin(requestFor('run')), await dispatcher.begin(requestFor('stubborn'))]
  await Promise.all([untilRunning(server, good.id), untilRunning(server, stubborn.id)])
  expect(await dispatcher.stop(good.id)).toEqual({ stopped: true, escalatesInMs: 800 })
  expect(await dispatcher.stop(stubborn.id, 'cancelled')).toEqual({ stopped: true, escalatesInMs: 800 })
  expect(await dispatcher.wait(good.id)).toMatchObject({ status: 'stopped', code: 130, signal: null, restarts: 0 })
  expect(await dispatcher.wait(stubborn.id)).toMatchObject({ status: 'cancelled', code: null, signal: 'SIGKILL' })
  expect(linesOf(server)).toContain('no')
  expect(await dispatcher.stop(good.id)).toEqual({ stopped: false, escalatesInMs: 0 })
  await expect(dispatcher.stop('nobody')).rejects.toMatchObject({ code: 'JOB_UNKNOWN' })
  await expect(dispatcher.wait('nobody')).rejects.toMatchObject({ code: 'JOB_UNKNOWN' })
})

test('a job whose process is killed restarts as long as it makes progress, and keeps its counts', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-'))
  const { dispatcher, log, eventsOf } = open()
  const begun = await dispatcher.begin(requestFor('stumble', join(folder, 'mark')))
  const ended = await dispatcher.wait(begun.id)
  rmSync(folder, { recursive: true })
  expect(ended).toMatchObject({ id: begun.id, status: 'done', restarts: 5, progress: { visited: 12 } })
  expect(ended.pid).not.toBe(begun.pid)
  expect(eventsOf('done')).toHaveLength(1)
  await until(async () => (await log.find(begun.id))?.status === 'done')
  expect(await log.find(begun.id)).toMatchObject({ restarts: 5, startedAt: begun.startedAt })
})

test('a job whose process dies every time fails in the end', async () => {
  const { dispatcher, eventsOf } = open()
  const { id } = await dispatcher.begin(requestFor('die'))
  const problem = 'the crawl process ended with SIGKILL (attempt 4)'
  expect(await dispatcher.wait(id)).toMatchObject({ status: 'failed', restarts: 3, signal: 'SIGKILL', problem })
  expect(eventsOf('done')).toHaveLength(1)
})

test('a job waiting for its restart can be stopped, and keeps its slot until then', async () => {
  const { dispatcher } = open({ restartDelaysMs: [60_000] })
  const { id } = await dispatcher.begin(requestFor('die'))
  await until(() => dispatcher.find(id)?.restarts === 1)
  await expect(dispatcher.begin(requestFor('run'))).rejects.toMatchObject({ code: 'JOBS_FULL' })
  expect(await dispatcher.stop(id)).toEqual({ stopped: true, escalatesInMs: 0 })
  expect(await dispatcher.wait(id)).toMatchObject({ status: 'stopped', signal: 'SIGKILL' })
})

test('a failed job reports the last error line of its process, or the system error if the process could not start', async () => {
  const { dispatcher } = open()
  const failed = await dispatcher.begin(requestFor('fail'))
  expect(await dispatcher.wait(failed.id)).toMatchObject({
    status: 'failed',
    code: 3,
    problem: 'Error: nothing could be indexed',
    restarts: 0,
  })
  const broken = open({ runner: createSpawnRunner({ command: '/nowhere/at/all', args: [] }) })
  const { id, pid } = await broken.dispatcher.begin(requestFor('run'))
  expect(pid).toBeNull()
  const ended = await broken.dispatcher.wait(id)
  expect(ended).toMatchObject({
    status: 'failed',
    code: null,
    signal: null,
    problem: expect.stringContaining('ENOENT'),
  })
  expect(broken.eventsOf('done')).toMatchObject([{ jobId: id, code: null, signal: null, status: 'failed' }])
})

test('a flood of events is stored completely and published at a limited rate', async () => {
  const { dispatcher, log, eventsOf } = open()
  const { id } = await dispatcher.begin(requestFor('flood'))
  await dispatcher.wait(id)
  const entry = await until(async () => {
    const found = await log.find(id)
    return found?.status === 'done' && found.events >= 20_000 && found
  })
  expect(entry.events).toBe(20_000)
  expect(eventsOf('log').filter(({ stream }) => stream === 'stdout').length).toBeLessThan(5000)
  await until(() => eventsOf('log').some(({ line }) => /^\d+ log lines were dropped/.test(String(line))))
})

test('a silent process is reported after 3 s and 10 s', async () => {
  // This clock runs twenty times as fast as real time.
  const clock: Clock = { now: systemClock.now, sleep: (ms, signal) => systemClock.sleep(ms / 20, signal) }
  const server = open({ clock })
  await server.dispatcher.begin(requestFor('silent'))
  const hints = () => linesOf(server).filter((line) => String(line).includes('has written nothing'))
  await until(() => hints().length === 2)
  expect(hints()).toEqual([expect.stringContaining('for 3 s'), expect.stringContaining('for 10 s')])
})

test('an ended job stays listed for ten seconds', async () => {
  let ahead = 0
  const clock: Clock = { ...systemClock, now: () => systemClock.now() + ahead }
  const { dispatcher } = open({ clock })
  const { id } = await dispatcher.begin(requestFor('fail'))
  await dispatcher.wait(id)
  ahead = 9_000
  expect(dispatcher.list()).toMatchObject([{ id, status: 'failed' }])
  ahead = 11_000
  expect(dispatcher.list()).toEqual([])
  expect(dispatcher.find(id)).toBeUndefined()
})

test('close ends the processes, and the next server resumes all jobs in order', async () => {
  const log = createMemoryJobLog()
  const first = open({}, log)
  const run = await first.dispatcher.begin(requestFor('run'))
  const next = await first.dispatcher.enqueue(requestFor('finish'))
  const { pid } = await untilRunning(first, run.id)
  const waited = first.dispatcher.wait(next.id)
  await first.dispatcher.close()
  expect(() => process.kill(pid ?? 0, 0)).toThrow()
  expect(await waited).toMatchObject({ status: 'queued', endedAt: null })
  await expect(first.dispatcher.begin(requestFor('run'))).rejects.toMatchObject({ code: 'INTERRUPTED' })
  expect((await log.listOpen()).map(({ id, status }) => [id, status])).toEqual([
    [run.id, 'running'],
    [next.id, 'queued'],
  ])
  expect((await log.find(run.id))?.progress).toMatchObject({ visited: 2 })

  const second = open({}, log)
  await second.dispatcher.recover()
  const again = await until(() => {
    const job = second.dispatcher.find(run.id)
    return job?.stage === 'running' && job
  })
  expect(again).toMatchObject({ url: run.url, args: ['run'], startedAt: run.startedAt, progress: { visited: 4 } })
  expect(linesOf(second)).toContain('resuming 1 crawl that was interrupted when an earlier server stopped')
  expect(second.dispatcher.find(next.id)).toMatchObject({ status: 'queued' })
  await second.dispatcher.stop(run.id)
  expect(await second.dispatcher.wait(next.id)).toMatchObject({ status: 'done' })
})

test('an accepted job is stored before the request is answered', async () => {
  const { dispatcher, log } = open()
  const begun = await dispatcher.begin(requestFor('run'))
  expect(await log.find(begun.id)).toMatchObject({ status: 'running', process: { pid: begun.pid } })
  const queued = await dispatcher.enqueue(requestFor('finish'))
  expect(await log.find(queued.id)).toMatchObject({ status: 'queued' })
})

test.each(['closed', 'killed'])(
  'a paused job stays paused after its server was %s, until it is resumed',
  async (end) => {
    const log = createMemoryJobLog()
    // A killed server writes nothing more.
    let isGone = false
    const first = open({ jobLog: async () => (isGone ? Promise.reject(new Error('gone')) : log) }, log)
    const { id } = await first.dispatcher.begin(requestFor('run'))
    await untilRunning(first, id)
    expect(first.dispatcher.pause(id)).toBe(true)
    await until(async () => (await log.find(id))?.progress?.paused === true)
    isGone = end === 'killed'
    await first.dispatcher.close()

    const second = open({}, log)
    await second.dispatcher.recover()
    await until(() => second.eventsOf('progress').at(-1)?.['paused'] === true)
    expect(linesOf(second)).toContain('told PAUSE')
    expect(second.dispatcher.find(id)).toMatchObject({ status: 'running', paused: true })
    expect(second.dispatcher.resume(id)).toBe(true)
    await until(async () => (await log.find(id))?.progress?.paused === false)
  },
)

test('a second crawl of the same start address is refused or queued', async () => {
  const { dispatcher } = open({ maxJobs: 3 })
  const same = { ...requestFor('run'), sourceId: 'source-1' }
  const { id } = await dispatcher.begin(same)
  await expect(dispatcher.begin(same)).rejects.toMatchObject({ code: 'CRAWL_RUNNING' })
  const second = await dispatcher.enqueue({ ...same, args: ['finish'] })
  expect(second).toMatchObject({ status: 'queued' })
  // Other start addresses, and other sources with the same start address, do not wait.
  const others = [requestFor('finish'), { ...same, args: ['finish'], sourceId: 'source-2' }]
  for (const other of others) expect(await dispatcher.enqueue(other)).toMatchObject({ status: 'running' })
  await dispatcher.stop(id)
  expect(await dispatcher.wait(second.id)).toMatchObject({ status: 'done' })
})

test('the error for a full dispatcher names the running crawls, and a request with overlong arguments is refused', async () => {
  const { dispatcher } = open()
  const { url } = await dispatcher.begin(requestFor('run'))
  const message = `1 crawl is under way (${url}), as many as the setting maxCrawls allows`
  await expect(dispatcher.begin(requestFor('run'))).rejects.toMatchObject({ code: 'JOBS_FULL', message })
  await expect(dispatcher.enqueue(requestFor('run', 'x'.repeat(100_000)))).rejects.toMatchObject({ code: 'USAGE' })
})

test('secrets in a start address, the library path and terminal advice are never published', async () => {
  const server = open()
  const { dispatcher, log } = server
  const url = 'https://site.example/?access_token=hidden-1&page=2'
  const words = `Error: ${url} cannot be written to /library.db – run pharos doctor`
  const view = await dispatcher.begin({ url, args: ['complain', words] })
  expect(view.url).toBe('https://site.example/?access_token=***&page=2')
  const ended = await dispatcher.wait(view.id)
  expect(ended.problem).toBe('Error: https://site.example/?access_token=***&page=2 cannot be written to the library')
  expect(JSON.stringify([ended, linesOf(server)])).not.toContain('hidden-1')
  expect((await log.find(view.id))?.args).toEqual(['complain', words])
})

test('a crawl whose process was killed is marked as ended in the library, a crawl whose process exits by itself is not', async () => {
  const ended: unknown[][] = []
  const server = open({ maxJobs: 2, endCrawl: async (...what) => void ended.push(what) })
  const { dispatcher } = server
  const jobs = [await dispatcher.begin(requestFor('run')), await dispatcher.begin(requestFor('stubborn'))]
  for (const { id } of jobs) await untilRunning(server, id)
  for (const { id } of jobs) await dispatcher.stop(id)
  const [, killed] = [await dispatcher.wait(jobs[0]?.id ?? ''), await dispatcher.wait(jobs[1]?.id ?? '')]
  expect(ended).toEqual([['source-1', 'crawl-1', expect.objectContaining({ pid: killed.pid })]])
})

test('a milestone is reported once per job, even across servers', async () => {
  const log = createMemoryJobLog()
  const data = {
    kind: 'patterns-learned',
    scope: 'site.example',
    target: '/x',
    message: 'something',
    details: { n: 1 },
  }
  await log.add({ ...UNFINISHED, status: 'running', startedAt: 2 })
  await log.append([{ jobId: UNFINISHED.id, at: 3, type: 'milestone', data }])
  const { dispatcher, eventsOf } = open({}, log)
  await dispatcher.recover()
  expect(await dispatcher.wait(UNFINISHED.id)).toMatchObject({ status: 'done' })
  expect(eventsOf('milestone')).toEqual([])
  expect(eventsOf('problem')).toHaveLength(2)
})

test('recover ends a process left by an earlier server before its job resumes', async () => {
  const log = createMemoryJobLog()
  const lines: string[] = []
  // The server has ended but its crawl still runs and ignores signals.
  const leftover = runner.start(['stubborn'], (_, line) => lines.push(line))
  await until(() => lines.length > 0)
  const record: JobRecord = {
    ...UNFINISHED,
    process: leftover.identity,
    status: 'running',
    createdAt: 1,
    startedAt: 2,
    crawlId: 'crawl-0',
    restarts: 2,
  }
  await log.add(record)
  // This clock runs ten times as fast as real time.
  const clock: Clock = { now: () => Date.now() * 10, sleep: (ms, signal) => systemClock.sleep(ms / 10, signal) }
  const { dispatcher } = open({ clock }, log)
  const recovery = dispatcher.recover()
  // The job is known while its old process still runs.
  await until(() => dispatcher.find(record.id) !== undefined)
  expect(dispatcher.find(record.id)?.status).toBe('queued')
  await recovery
  expect(await leftover.ended).toMatchObject({ signal: 'SIGKILL' })
  expect(await dispatcher.wait(record.id)).toMatchObject({ status: 'done', restarts: 2, startedAt: 2, createdAt: 1 })
})

test('a wait for a job whose old process has not ended ends with the dispatcher', async () => {
  const log = createMemoryJobLog()
  const lines: string[] = []
  const leftover = runner.start(['stubborn'], (_, line) => lines.push(line))
  await until(() => lines.length > 0)
  await log.add({ ...UNFINISHED, process: leftover.identity, status: 'running', startedAt: 2 })
  const clock: Clock = { now: () => Date.now() * 10, sleep: (ms, signal) => systemClock.sleep(ms / 10, signal) }
  const { dispatcher } = open({ clock }, log)
  const recovery = dispatcher.recover()
  await until(() => dispatcher.find(UNFINISHED.id) !== undefined)
  const waiting = dispatcher.wait(UNFINISHED.id)
  await dispatcher.close()
  expect(await waiting).toMatchObject({ status: 'queued' })
  await recovery
  // The next server resumes it.
  expect(await log.find(UNFINISHED.id)).toMatchObject({ status: 'running' })
})

test('recover removes queue events that are older than 30 days', async () => {
  const log = createMemoryJobLog()
  const day = 86_400_000
  const data = { action: 'enqueued', url: 'u', depth: 0, host: null, reason: null, queueSize: 0, alias: null } as const
  for (const days of [20, 40]) {
    const at = Date.now() - days * day
    await log.add({ ...UNFINISHED, id: `${days}`, status: 'done', createdAt: at, startedAt: at, endedAt: at })
    await log.append([{ jobId: `${days}`, at, type: 'queue', data }])
  }
  const { dispatcher } = open({}, log)
  await dispatcher.recover()
  await until(async () => (await log.listQueueEvents('40', { limit: 9 })).length === 0)
  expect(await log.listQueueEvents('20', { limit: 9 })).toHaveLength(1)
  expect(await log.find('40')).toMatchObject({ status: 'done' })
})

test('crawls run without a job log, which is written once it is available', async () => {
  const log = createMemoryJobLog()
  let isAvailable = false
  const jobLog = () => (isAvailable ? Promise.resolve(log) : Promise.reject(new Error('the library is gone')))
  const clock: Clock = { now: systemClock.now, sleep: (ms, signal) => systemClock.sleep(ms / 10, signal) }
  const server = open({ jobLog, clock, maxJobs: 2 }, log)
  const { dispatcher } = server
  await log.add(UNFINISHED)
  await dispatcher.recover()
  const { id } = await dispatcher.begin(requestFor('finish'))
  expect(await dispatcher.wait(id)).toMatchObject({ status: 'done' })
  expect(linesOf(server)).toContain('the job history cannot be written; retrying: the library is gone')
  expect(await log.find(id)).toBeUndefined()
  isAvailable = true
  await until(async () => (await log.find(id))?.status === 'done' && (await log.find(id))?.events === 2)
  // The job of an earlier server is resumed now.
  await until(async () => (await log.find('left'))?.status === 'done')
})
