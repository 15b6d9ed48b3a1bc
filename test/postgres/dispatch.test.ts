import { randomUUID } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { afterEach, expect, test } from 'vitest'
import { writeWorkerLines } from '../../src/cli/text/worker-text.ts'
import type { Clock } from '../../src/crawl/ports.ts'
import { systemClock } from '../../src/fetch/clock.ts'
import type { CrawlRequest, Dispatcher } from '../../src/library/jobs/dispatcher.ts'
import { createFeed } from '../../src/library/jobs/events/create-feed.ts'
import type { FeedEvent } from '../../src/library/jobs/events/feed.ts'
import { NO_PROGRESS } from '../../src/library/jobs/events/frames.ts'
import type { QueuedWork, WorkQueue } from '../../src/library/jobs/queue.ts'
import { createSharedDispatcher } from '../../src/library/jobs/shared-dispatcher.ts'
import { Worker, type WorkerOptions } from '../../src/library/jobs/worker.ts'
import type { JobNote } from '../../src/library/ports/job-log.ts'
import type { Workers } from '../../src/library/ports/workers.ts'
import type { AnalysisWorker } from '../../src/places/runs/analysis-runner.ts'
import { openQueue } from '../../src/processes/open-queue.ts'
import { isAlive } from '../../src/processes/runner.ts'
import { createSpawnRunner } from '../../src/processes/spawn-crawl.ts'
import { parseConnectionAddress } from '../../src/store/postgres/database/connection-address.ts'
import { openPostgresStore } from '../../src/store/postgres/store.ts'
import { createFilled, createLibrary } from './databases.ts'

const SCRIPT = fileURLToPath(new URL('../dispatch/scripted-crawl.ts', import.meta.url))
const runner = createSpawnRunner({
  command: process.execPath,
  args: [SCRIPT],
  env: { ...process.env, NO_PROGRESS: JSON.stringify(NO_PROGRESS) },
})

/** Creates libraries with a queue by copying, because creating a queue takes longer. */
const createLibraryWithQueue = createFilled(async (address) => (await openQueue(queueOptionsOf(address))).close())

const closing: (() => Promise<void>)[] = []

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

/** A connection of its own to a library, as every process has one. */
async function connect(address: string): Promise<{ workers: Workers; queue: WorkQueue }> {
  const store = await openPostgresStore(address, { connections: 4 })
  closing.push(() => store.close())
  const queue = await openQueue(queueOptionsOf(address))
  closing.push(() => queue.close())
  const { workers } = store
  if (workers === undefined) throw new Error('there are no workers')
  return { workers, queue }
}

/** The location of the queue of a library. */
function queueOptionsOf(address: string): Parameters<typeof openQueue>[0] {
  return { ...parseConnectionAddress(address), warn: () => undefined }
}

interface Server {
  readonly dispatcher: Dispatcher
  /** All events of one name so far, as sent to clients. */
  eventsOf(name: FeedEvent['name']): Record<string, unknown>[]
}

async function openServer(
  address: string,
  { getsNotifications = true, clock = systemClock }: { getsNotifications?: boolean; clock?: Clock } = {},
): Promise<Server> {
  const { workers: all, queue } = await connect(address)
  const workers = getsNotifications ? all : { ...all, ...WITHOUT_NOTIFICATIONS }
  const feed = createFeed({ epoch: 'e1', clock: systemClock })
  const dispatcher = createSharedDispatcher({
    ...{ feed, clock, newId: randomUUID },
    jobLog: async () => workers.logOf('server'),
    workers: async () => workers,
    queue: async () => queue,
  })
  closing.push(() => dispatcher.close())
  await dispatcher.recover()
  const eventsOf = (name: FeedEvent['name']) =>
    feed
      .read(0, { logs: true, jobId: null }, 5000)
      .events.filter((event) => event.name === name)
      .map(({ json }) => JSON.parse(json))
  return { dispatcher, eventsOf }
}

/** Simulates a pooler that drops notifications. */
const WITHOUT_NOTIFICATIONS: Pick<Workers, 'listen'> = { listen: () => async () => undefined }

/** Opens a worker that takes jobs. Returns a function that makes it leave. */
async function openWorker(
  address: string,
  slots = 1,
  further: Partial<WorkerOptions> = {},
): Promise<(patienceMs?: number) => Promise<void>> {
  const { workers, queue } = await connect(address)
  const id = randomUUID()
  const worker = new Worker({
    ...{ workers, queue, runner, clock: systemClock, newId: randomUUID, random: Math.random },
    identity: { id, name: `test/${id.slice(0, 4)}`, version: '0', isServer: false, slots },
    runnerOf: (pid) => `test/${pid}`,
    libraryPath: 'postgres://db/library',
    maxRequests: 8,
    restartDelaysMs: [10, 20, 30],
    ...further,
  })
  let isGone = false
  const leave = async (patienceMs = 0) => {
    if (!isGone) await worker.drain(patienceMs)
    isGone = true
  }
  closing.push(() => leave())
  await worker.start()
  return leave
}

/** Fields of a job that has not started. */
const UNSTARTED = {
  ...{ process: null, createdAt: 1, startedAt: null, endedAt: null, crawlId: null, sourceId: null },
  ...{ restarts: 0, progress: null, problem: null, code: null, signal: null },
} as const

let requestCount = 0

/** A request for a crawl by a scripted process with the given behavior. Each request has a start URL of its own. */
function requestOf(behavior: string, ...args: string[]): CrawlRequest {
  return { url: `https://site.example/${requestCount++}`, args: [behavior, ...args] }
}

async function until<T>(find: () => T | undefined | false | Promise<T | undefined | false>): Promise<T> {
  const end = Date.now() + 30_000
  for (;;) {
    const found = await find()
    if (found !== undefined && found !== false) return found
    if (Date.now() > end) throw new Error('timed out')
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/** Resolves when the process of a job has reported its state. */
function untilRunning({ dispatcher }: Server, id: string) {
  return until(() => dispatcher.find(id)?.stage === 'running' && dispatcher.find(id))
}

function linesOf({ eventsOf }: Server): unknown[] {
  return eventsOf('log').map(({ line }) => line)
}

test('every server reports the events of a worker process until it completes', async () => {
  const address = await createLibraryWithQueue()
  const [server, other] = [await openServer(address), await openServer(address)]
  await openWorker(address)
  const begun = await server.dispatcher.begin(requestOf('finish'))
  // The job runs, or has already ended.
  expect(begun).toMatchObject({ args: ['finish'], status: expect.stringMatching(/^(?:running|done)$/) })
  expect(begun.pid).toBeGreaterThan(0)
  const { id } = begun
  const ended = await server.dispatcher.wait(id)
  expect(ended).toMatchObject({ id, status: 'done', stage: 'ended', problem: null, restarts: 0 })
  expect(ended).toMatchObject({ crawlId: 'crawl-1', sourceId: 'source-1', progress: { visited: 5, saved: 4 } })
  for (const { eventsOf } of [server, other]) {
    await until(() => eventsOf('done').length > 0)
    expect(eventsOf('done')).toMatchObject([{ jobId: id, status: 'done' }])
    expect(eventsOf('queue').map(({ action, reason, jobId }) => [action, reason, jobId])).toEqual([
      ['enqueued', null, id],
      ['drop', 'off-domain', id],
    ])
    expect(eventsOf('milestone')).toMatchObject([{ kind: 'patterns-learned', jobId: id }])
    expect(eventsOf('log')).toContainEqual(expect.objectContaining({ stream: 'stderr', line: 'a word of warning' }))
    expect(eventsOf('progress').at(-1)).toMatchObject({ visited: 5, jobId: id })
  }
})

test('pause, resume and stop reach the process of a worker from every server', async () => {
  const address = await createLibraryWithQueue()
  const [server, other] = [await openServer(address), await openServer(address)]
  await openWorker(address)
  const { id } = await server.dispatcher.begin(requestOf('run'))
  await untilRunning(other, id)
  expect(await other.dispatcher.pause(id)).toBe(true)
  await until(() => linesOf(server).includes('told PAUSE'))
  await until(() => server.dispatcher.find(id)?.progress?.paused)
  expect(server.dispatcher.find(id)).toMatchObject({ paused: true })
  expect(await server.dispatcher.resume(id)).toBe(true)
  await until(() => linesOf(other).includes('told RESUME'))
  expect(await other.dispatcher.stop(id)).toMatchObject({ stopped: true })
  expect(await server.dispatcher.wait(id)).toMatchObject({ status: 'stopped', stage: 'ended' })
  expect(await server.dispatcher.stop(id)).toEqual({ stopped: false, escalatesInMs: 0 })
  expect(await server.dispatcher.pause(id)).toBe(false)
  await expect(server.dispatcher.stop(randomUUID())).rejects.toMatchObject({ code: 'JOB_UNKNOWN' })
})

test('a process that does not stop on request is killed', async () => {
  const address = await createLibraryWithQueue()
  const server = await openServer(address)
  await openWorker(address)
  const { id } = await server.dispatcher.begin(requestOf('stubborn'))
  await untilRunning(server, id)
  await server.dispatcher.stop(id, 'cancelled')
  expect(await server.dispatcher.wait(id)).toMatchObject({ status: 'cancelled' })
})

test('begin is refused without a free slot, and a job for the same start URL waits in the queue', async () => {
  const address = await createLibraryWithQueue()
  const server = await openServer(address)
  const { dispatcher } = server
  await expect(dispatcher.begin(requestOf('finish'))).rejects.toMatchObject({ code: 'WORKERS_MISSING' })
  await openWorker(address)
  await openWorker(address)
  const first = requestOf('run')
  const { id } = await dispatcher.begin(first)
  await expect(dispatcher.begin(first)).rejects.toMatchObject({ code: 'CRAWL_RUNNING' })
  const same = await dispatcher.enqueue({ ...first, args: ['finish'] })
  const another = await dispatcher.begin(requestOf('run'))
  await expect(dispatcher.begin(requestOf('finish'))).rejects.toMatchObject({
    code: 'JOBS_FULL',
    message: expect.stringContaining('2 crawls are under way'),
  })
  await untilRunning(server, another.id)
  expect(dispatcher.find(same.id)).toMatchObject({ status: 'queued', pid: null })
  await dispatcher.stop(id)
  expect(await dispatcher.wait(same.id)).toMatchObject({ status: 'done' })
  const waiting = await dispatcher.enqueue({ ...first, url: another.url })
  expect(await dispatcher.stop(waiting.id)).toEqual({ stopped: true, escalatesInMs: 0 })
  expect(await dispatcher.wait(waiting.id)).toMatchObject({ status: 'cancelled', pid: null })
  await dispatcher.stop(another.id)
  expect(await dispatcher.wait(another.id)).toMatchObject({ status: 'stopped' })
})

test('each job runs once, however many workers take jobs and clients request them concurrently', async () => {
  const address = await createLibrary()
  // The library has no queue yet, so both servers try to create it at the same time.
  const servers = await Promise.all([openServer(address), openServer(address)])
  const leaves = await Promise.all([1, 2, 3].map(() => openWorker(address, 2)))
  const jobs = await Promise.all(
    servers.flatMap(({ dispatcher }) => [1, 2, 3, 4].map(() => dispatcher.enqueue(requestOf('finish')))),
  )
  const [server] = servers
  if (server === undefined) throw new Error('no server')
  const { workers } = await connect(address)
  const log = workers.logOf('nobody')
  for (const { id } of jobs) {
    const ended = await until(async () => (await log.find(id))?.endedAt != null && log.find(id))
    expect(ended).toMatchObject({ status: 'done', restarts: 0 })
  }
  const isStart = ({ line }: Record<string, unknown>) => /was started as process/.test(String(line))
  await until(() => server.eventsOf('log').filter(isStart).length >= jobs.length)
  const starts = server.eventsOf('log').filter(isStart)
  expect(starts.map(({ jobId }) => jobId).sort()).toEqual(jobs.map(({ id }) => id).sort())
  for (const leave of leaves) await leave()
})

test('another worker resumes the jobs of a worker that leaves, and a new server does not disturb them', async () => {
  const address = await createLibraryWithQueue()
  const server = await openServer(address)
  const leave = await openWorker(address)
  const { id } = await server.dispatcher.begin(requestOf('run'))
  const before = await untilRunning(server, id)
  const other = await openServer(address)
  const same = await untilRunning(other, id)
  expect(same).toMatchObject({ pid: before.pid, restarts: 0 })
  await server.dispatcher.pause(id)
  await leave()
  await until(() => other.dispatcher.find(id)?.status === 'queued')
  await until(() => linesOf(other).includes(`the crawl of ${before.url} moves to another worker`))
  await openWorker(address)
  const after = await until(() => {
    const job = other.dispatcher.find(id)
    return job?.stage === 'running' && job.pid !== before.pid && job
  })
  expect(after).toMatchObject({ restarts: 1, paused: true, status: 'running', crawlId: 'crawl-1' })
  await until(() => linesOf(other).includes('told PAUSE'))
  await other.dispatcher.stop(id)
  expect(await server.dispatcher.wait(id)).toMatchObject({ status: 'stopped' })
})

test('a worker that lost a job cannot change it any more', async () => {
  const address = await createLibraryWithQueue()
  const { workers } = await connect(address)
  const server = await openServer(address)
  const { id } = await server.dispatcher.enqueue(requestOf('run'))
  expect(await workers.take(id, 'slow')).toMatchObject({ worker: null, lastHolder: null, end: null })
  await workers.recordHolder(id, 'slow', 'machine/1')
  expect(await workers.take(id, 'quick')).toMatchObject({ worker: 'slow', lastHolder: 'machine/1' })
  await workers.logOf('slow').change(id, { status: 'failed', endedAt: 1, problem: 'late' })
  await workers.recordHolder(id, 'slow', 'machine/2')
  await workers.giveBack(id, 'slow')
  await workers.logOf('quick').change(id, { restarts: 7 })
  const [job] = await workers.listJobs(0)
  expect(job).toMatchObject({ worker: 'quick', record: { status: 'running', restarts: 7, problem: null } })
  const seen = await until(() => server.dispatcher.find(id)?.restarts === 7 && server.dispatcher.find(id))
  const progressEvent = (visited: number) => ['progress', id, { visited }]
  await workers.relay('slow', JSON.stringify({ views: [{ ...seen, restarts: 8 }], events: [progressEvent(88)] }))
  await workers.relay('quick', JSON.stringify({ views: [{ ...seen, pid: 9 }], events: [progressEvent(9)] }))
  await until(() => server.eventsOf('progress').length > 0)
  expect(server.eventsOf('progress')).toMatchObject([{ visited: 9 }])
  expect(server.dispatcher.find(id)).toMatchObject({ restarts: 7, pid: 9 })
  // Neither worker is alive, so stopping the job does not wait for one.
  expect(await server.dispatcher.stop(id)).toEqual({ stopped: true, escalatesInMs: 0 })
  expect(await workers.take(id, 'quick')).toBeUndefined()
})

test('a worker that lost a job does not report the end of its process', async () => {
  const address = await createLibraryWithQueue()
  const { workers } = await connect(address)
  const server = await openServer(address)
  const { id } = await server.dispatcher.enqueue(requestOf('run'))
  const take = await openWithFakeQueue(address)
  const { signal } = new AbortController()
  const run = take({ id, attempt: 0, signal })
  const { pid } = await untilRunning(server, id)
  await workers.take(id, 'quick')
  process.kill(pid ?? 0, 'SIGKILL')
  expect(await run).toBe(false)
  const [job] = await workers.listJobs(0)
  expect(job).toMatchObject({ worker: 'quick', record: { status: 'running', restarts: 0, problem: null } })
  expect(linesOf(server).filter((line) => /ended with|failed|is done/.test(String(line)))).toEqual([])
})

test('a worker that gets its own job again ends the old process first', async () => {
  const address = await createLibraryWithQueue()
  const { workers } = await connect(address)
  const server = await openServer(address)
  const { id } = await server.dispatcher.enqueue(requestOf('run'))
  const take = await openWithFakeQueue(address)
  const { signal } = new AbortController()
  const first = take({ id, attempt: 0, signal })
  const { pid } = await untilRunning(server, id)
  const second = take({ id, attempt: 1, signal })
  const after = await until(() => {
    const job = server.dispatcher.find(id)
    return job?.stage === 'running' && job.pid !== pid && job
  })
  expect(await first).toBe(false)
  expect(isAlive(pid ?? 0)).toBe(false)
  expect(after).toMatchObject({ status: 'running', restarts: 1 })
  await server.dispatcher.stop(id)
  expect(await second).toBe(true)
  expect(await workers.logOf('nobody').find(id)).toMatchObject({ status: 'stopped', problem: null })
})

/** Opens a worker with a fake queue. Returns a function that hands it a crawl. */
async function openWithFakeQueue(
  address: string,
  further: Partial<WorkerOptions> = {},
): Promise<(work: QueuedWork) => Promise<boolean>> {
  const taken: ((work: QueuedWork) => Promise<boolean>)[] = []
  const queue: Partial<WorkQueue> = {
    take: async (_, __, work) => void taken.push(work),
    stopTaking: async () => undefined,
    isOpen: async () => true,
    send: async () => undefined,
    close: async () => undefined,
  }
  await openWorker(address, 1, { queue: queue as WorkQueue, ...further })
  const [take] = taken
  if (take === undefined) throw new Error('the worker takes no crawls')
  return take
}

test('a job whose crawl has ended does not run again', async () => {
  const address = await createLibraryWithQueue()
  const { workers } = await connect(address)
  const summary = { visited: 7, indexed: 6, unchanged: 0, skipped: 1, failed: 0, bytes: 70 }
  const problems: Readonly<Record<string, string | null>> = { c1: null, c2: 'it found nothing' }
  const job = { ...UNSTARTED, sourceId: 's1', status: 'running', startedAt: 2 } as const
  for (const crawlId of Object.keys(problems)) {
    await workers.logOf('copy').add({ ...job, ...requestOf('run'), id: `job-${crawlId}`, crawlId })
  }
  const take = await openWithFakeQueue(address, {
    findEndedCrawl: async (_, crawlId) => ({ summary, problem: problems[crawlId] ?? null }),
  })
  const { signal } = new AbortController()
  const log = workers.logOf('nobody')
  expect(await take({ id: 'job-c1', attempt: 1, signal })).toBe(true)
  expect(await log.find('job-c1')).toMatchObject({ status: 'done', process: null, progress: { visited: 7, saved: 6 } })
  expect(await take({ id: 'job-c2', attempt: 1, signal })).toBe(true)
  expect(await log.find('job-c2')).toMatchObject({ status: 'failed', process: null, problem: 'it found nothing' })
})

test('workers are listed with their jobs until they leave', async () => {
  const address = await createLibraryWithQueue()
  const { workers } = await connect(address)
  const server = await openServer(address)
  const leave = await openWorker(address, 3)
  const { id } = await server.dispatcher.begin(requestOf('shared'))
  await untilRunning(server, id)
  const worker = await until(async () => (await workers.list()).find(({ jobs }) => jobs.includes(id)))
  expect(worker).toMatchObject({ slots: 3, state: 'working', isServer: false, version: '0', leases: 0 })
  expect(worker.holders).toEqual([`test/${server.dispatcher.find(id)?.pid}`])
  const counted = await until(async () => (await workers.list()).find(({ visits }) => visits === 3))
  // Visits that other workers made for the same crawl do not count.
  expect(counted).toMatchObject({ id: worker.id, bytes: 30 })
  expect(server.dispatcher.find(id)?.progress).toMatchObject({ visited: 9, bytes: 90 })
  expect(writeWorkerLines([counted]).at(-1)).toMatch(/^ {2}test\/\w{4} {2}1 of 3 crawls, 0 hosts, .* 3 visits, 30 B$/)
  expect(server.dispatcher.slots).toBe(3)
  await leave()
  expect(await workers.list()).toEqual([])
})

test('jobs and commands are found by polling if notifications are lost', async () => {
  const address = await createLibraryWithQueue()
  const server = await openServer(address, { getsNotifications: false })
  const { workers } = await connect(address)
  await openWorker(address, 1, { workers: { ...workers, ...WITHOUT_NOTIFICATIONS } })
  const { id } = await server.dispatcher.enqueue(requestOf('run'))
  await untilRunning(server, id)
  await server.dispatcher.pause(id)
  await until(() => linesOf(server).includes('told PAUSE'))
  await server.dispatcher.stop(id)
  expect(await server.dispatcher.wait(id)).toMatchObject({ status: 'stopped' })
  await until(() => server.eventsOf('done').length > 0)
})

test('a job missing from the queue is found and run', async () => {
  const address = await createLibraryWithQueue()
  const { workers } = await connect(address)
  const { url, args } = requestOf('finish')
  const id = randomUUID()
  await workers.logOf('copy').add({ ...UNSTARTED, id, url, args, status: 'queued' })
  await openWorker(address)
  const log = workers.logOf('nobody')
  expect(await until(async () => (await log.find(id))?.status === 'done' && log.find(id))).toMatchObject({ id })
})

test('a job that is assigned to a worker that does not know it is found and run', async () => {
  const address = await createLibraryWithQueue()
  const { workers } = await connect(address)
  const about = { id: 'idle', name: 'idle/1', version: '0', isServer: false, slots: 1, state: 'working' } as const
  await workers.report({
    ...about,
    jobs: [],
    helps: [],
    holders: [],
    visits: 0,
    bytes: 0,
    visitsPerSec: 0,
    startedAt: 1,
  })
  const id = randomUUID()
  await workers.logOf('copy').add({ ...UNSTARTED, ...requestOf('finish'), id, status: 'queued' })
  await workers.take(id, 'idle')
  await openWorker(address)
  await until(async () => (await workers.logOf('nobody').find(id))?.status === 'done')
})

test('a worker with an embedder embeds new chunks, once for all pending requests', async () => {
  const address = await createLibraryWithQueue()
  const server = await openServer(address)
  await openWorker(address)
  let embedded = 0
  await openWorker(address, 1, {
    embed: async () => {
      embedded++
    },
  })
  const { id } = await server.dispatcher.begin(requestOf('finish'))
  expect(await server.dispatcher.wait(id)).toMatchObject({ status: 'done' })
  await until(() => embedded > 0)
  expect(embedded).toBe(1)
})

test('a job that was taken nine times without being finished fails, unless it is paused', async () => {
  const address = await createLibraryWithQueue()
  const { workers } = await connect(address)
  const server = await openServer(address)
  const [one, paused] = [
    await server.dispatcher.enqueue(requestOf('run')),
    await server.dispatcher.enqueue(requestOf('silent')),
  ]
  const take = await openWithFakeQueue(address)
  const { signal } = new AbortController()
  expect(await take({ id: one.id, attempt: 8, signal })).toBe(true)
  expect((await workers.logOf('nobody').find(one.id))?.problem).toContain('workers took the job 9 times')
  await workers.take(paused.id, 'slow')
  await server.dispatcher.pause(paused.id)
  const run = take({ id: paused.id, attempt: 8, signal })
  await until(() => server.dispatcher.find(paused.id)?.pid !== null)
  await server.dispatcher.stop(paused.id)
  expect(await run).toBe(true)
  expect(await workers.logOf('nobody').find(paused.id)).toMatchObject({ status: 'stopped' })
})

test('a machine with a wrong clock can end jobs', async () => {
  const address = await createLibraryWithQueue()
  const late = { ...systemClock, now: () => Date.now() - 120_000 }
  const { dispatcher } = await openServer(address, { clock: late })
  const { id } = await dispatcher.enqueue(requestOf('run'))
  expect(await dispatcher.stop(id)).toEqual({ stopped: true, escalatesInMs: 0 })
  expect(await dispatcher.wait(id)).toMatchObject({ status: 'cancelled' })
})

test('a job for the same source waits in the queue, also with another address of that source', async () => {
  const address = await createLibraryWithQueue()
  const server = await openServer(address)
  const { dispatcher } = server
  const { workers } = await connect(address)
  await openWorker(address, 3)
  const first = await dispatcher.begin(requestOf('run'))
  await until(async () => (await workers.listJobs(0))[0]?.record.sourceId === 'source-1')
  const same = await dispatcher.enqueue({ ...requestOf('finish'), sourceId: 'source-1' })
  // The job above would run before this one if its source were free.
  const other = await dispatcher.enqueue(requestOf('finish'))
  expect(await dispatcher.wait(other.id)).toMatchObject({ status: 'done' })
  expect(dispatcher.find(same.id)).toMatchObject({ status: 'queued', pid: null })
  await dispatcher.stop(first.id)
  expect(await dispatcher.wait(same.id)).toMatchObject({ status: 'done' })
})

test('work that the queue considers done is sent again only once, however many servers find it', async () => {
  const address = await createLibraryWithQueue()
  const { workers, queue } = await connect(address)
  const [id, last] = [randomUUID(), randomUUID()]
  const taken: string[] = []
  let sentAgain = Promise.resolve()
  await queue.send('crawl', { id, key: 'k' })
  await queue.take('crawl', 1, async (work) => {
    taken.push(work.id)
    await sentAgain
    return true
  })
  await until(async () => taken.length === 1 && !(await queue.isOpen('crawl', id)))
  sentAgain = Promise.all(
    [1, 2, 3].map(() => workers.runExclusively((run) => queue.sendAgain('crawl', { id, key: 'k' }, run))),
  ).then(() => undefined)
  await sentAgain
  // Work with the same key runs after all of these.
  await queue.send('crawl', { id: last, key: 'k' })
  await until(() => taken.includes(last))
  expect(taken).toEqual([id, id, last])
})

test('an analysis run that was recorded but not sent is found, and a worker that leaves waits until it is done', async () => {
  const address = await createLibraryWithQueue()
  const events: string[] = []
  const abandonedRun = randomUUID()
  const analysis: AnalysisWorker = {
    start: () => Promise.reject(new Error('must not be called')),
    recover: async () => undefined,
    findAbandoned: async () => abandonedRun,
    take: async (runId) => {
      events.push(`takes ${runId === abandonedRun}`)
      await new Promise((resolve) => setTimeout(resolve, 200))
      events.push('is done')
      return true
    },
    close: async () => void events.push('is closed'),
  }
  const leave = await openWorker(address, 1, { openAnalysis: () => analysis })
  await until(() => events.length > 0)
  await leave(10_000)
  expect(events).toEqual(['takes true', 'is done', 'is closed'])
})

test('notes of one job are written while another job is locked', async () => {
  const address = await createLibraryWithQueue()
  const { workers } = await connect(address)
  const log = workers.logOf('nobody')
  const data = { action: 'drop', url: 'https://site.example/x', depth: 1, host: null, reason: null } as const
  const noteOf = (jobId: string): JobNote => ({
    jobId,
    at: 1,
    type: 'queue',
    data: { ...data, queueSize: 1, alias: null },
  })
  for (const id of ['a', 'b']) await log.add({ ...UNSTARTED, ...requestOf('run'), id, status: 'queued' })
  const { default: pg } = await import('pg')
  const client = new pg.Client({ connectionString: parseConnectionAddress(address).address })
  await client.connect()
  await client.query(
    `BEGIN; SELECT 1 FROM ${parseConnectionAddress(address).schema}.crawl_jobs WHERE id = 'a' FOR UPDATE`,
  )
  const blocked = log.append([noteOf('a')])
  await log.append([noteOf('b')])
  expect(await log.listQueueEvents('b', { limit: 9 })).toHaveLength(1)
  await client.query('COMMIT').finally(() => client.end())
  await blocked
  expect(await log.listQueueEvents('a', { limit: 9 })).toHaveLength(1)
})
