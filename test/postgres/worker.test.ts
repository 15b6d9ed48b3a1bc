import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { hostname } from 'node:os'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { addSource } from '../../src/library/crawl/add-source.ts'
import type { CrawlRequest, Dispatcher } from '../../src/library/jobs/dispatcher.ts'
import { createFeed } from '../../src/library/jobs/events/create-feed.ts'
import { createSharedDispatcher } from '../../src/library/jobs/shared-dispatcher.ts'
import { createSourceRequest } from '../../src/library/jobs/source-request.ts'
import type { JobRecord } from '../../src/library/ports/job-log.ts'
import type { Source } from '../../src/library/source.ts'
import { type OpenLibrary, openLibrary } from '../../src/open-library.ts'
import { openQueue } from '../../src/processes/open-queue.ts'
import { parseConnectionAddress } from '../../src/store/postgres/database/connection-address.ts'
import { LocalSite, writePage } from '../e2e/local-site.ts'
import { type Outcome, PROGRAM, ProgramSandbox } from '../e2e/program.ts'
import { type ServerProcess, startServer } from '../e2e/server.ts'
import { runCrawl } from '../sites/crawl.ts'
import { openSite, page, type Site } from '../sites/site.ts'
import { createLibrary } from './databases.ts'
import { foundAddressOf } from './ledgers.ts'
import { startPostgres } from './server.ts'
import { until as untilWithin } from './until.ts'

const PAGE_COUNT = 16

/** Long, because the tests start many processes, and one test waits until heartbeats are missing. */
const TIMEOUT_MS = 240_000

/** A site whose start page links to all other pages, which have no links. */
function writeSite(count: number): Record<string, string> {
  const names = Array.from({ length: count }, (_, i) => `/docs/p${i}`)
  return {
    '/docs/': writePage('Guide', names),
    ...Object.fromEntries(names.map((name) => [name, writePage(`Page ${name}`, [], `What ${name} is about.`)])),
  }
}

let sandbox: ProgramSandbox

beforeAll(() => {
  if (!existsSync(PROGRAM)) throw new Error(`${PROGRAM} is missing; run \`npm run build\``)
  sandbox = new ProgramSandbox()
})

afterAll(() => sandbox?.remove())

function killIfRunning(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // The process has already ended.
  }
}

/** Polls until a result is right, because processes may start slowly. */
function until<T>(ask: () => Promise<T>, isRight: (answer: T) => boolean): Promise<T> {
  return untilWithin(ask, isRight, 120_000)
}

interface WorkerProcess {
  readonly pid: number
  readonly ended: Promise<Outcome>
  /** Log output of the worker so far. */
  log(): string
}

function settings(address: string): Record<string, string> {
  return { PHAROS_LIBRARY: address, PHAROS_ALLOW_PRIVATE: '127.0.0.0/8', PHAROS_REQUEST_INTERVAL: '0ms' }
}

/** Everything that a test starts. The stage closes it after the test. */
class Stage {
  readonly #later: (work: () => Promise<void>) => void

  constructor({ onTestFinished }: { onTestFinished(work: () => Promise<void>): void }) {
    this.#later = onTestFinished
  }

  /** A slow site with the given number of pages. */
  async openSite(count: number, delayMs: number): Promise<LocalSite> {
    const site = await LocalSite.open(writeSite(count))
    site.delayMs = delayMs
    this.#later(() => site.close())
    return site
  }

  /** Several sites at addresses of this machine, with some pages each. */
  async openSites(hosts: number, paths: readonly string[], delayMs: number): Promise<readonly Site[]> {
    const sites: Site[] = []
    for (let host = 1; host <= hosts; host++) {
      const answer = (path: string) => ({ delayMs, body: page(`Page ${path} of host ${host}`, ['/']) })
      const pages = Object.fromEntries(['/', ...paths].map((path) => [path, answer(path)]))
      const site = await openSite(pages, { address: `127.0.0.${host}` })
      this.#later(() => site.close())
      sites.push(site)
    }
    return sites
  }

  startWorker(address: string, flags: readonly string[] = []): WorkerProcess {
    const args = [PROGRAM, 'worker', '--json', ...flags]
    const { child, ended } = sandbox.start(process.execPath, args, settings(address))
    let text = ''
    const append = (data: string) => {
      text += data
    }
    child.stdout.on('data', append)
    child.stderr.on('data', append)
    const pid = child.pid ?? 0
    this.#later(async () => {
      killIfRunning(pid, 'SIGKILL')
      await ended
    })
    return { pid, ended, log: () => text }
  }

  openClient(address: string): Promise<TestClient> {
    return createClient(address, this.#later)
  }

  async serve(address: string): Promise<ServerProcess> {
    const server = await startServer(sandbox, ['--library', address], settings(address))
    this.#later(async () => {
      killIfRunning(server.pid, 'SIGTERM')
      await server.ended
    })
    return server
  }
}

/** A client that requests crawls as a server does, but inside the test process. */
interface TestClient {
  readonly dispatcher: Dispatcher
  readonly library: OpenLibrary
  /** Waits until a job is in the wanted state, wherever it runs. */
  untilJob(id: string, isRight: (job: JobRecord) => boolean): Promise<JobRecord>
  untilVisited(id: string, count: number): Promise<unknown>
  untilEnded(id: string): Promise<JobRecord>
  /** The process of the worker that runs a job. */
  pidOf(id: string): Promise<number>
  countPages(): Promise<number>
}

async function createClient(address: string, later: (work: () => Promise<void>) => void): Promise<TestClient> {
  const library = await openLibrary({ path: address, version: '0' })
  later(() => library.close())
  const { workers, clock, store } = library
  if (workers === undefined) throw new Error('there are no workers')
  const queue = await openQueue({ ...parseConnectionAddress(address), warn: () => undefined })
  later(() => queue.close())
  const log = workers.logOf('client')
  const dispatcher = createSharedDispatcher({
    ...{ feed: createFeed({ epoch: 'e1', clock }), clock, newId: randomUUID, jobLog: async () => log },
    ...{ workers: async () => workers, queue: async () => queue },
  })
  later(() => dispatcher.close())
  await dispatcher.recover()
  const untilJob = async (id: string, isRight: (job: JobRecord) => boolean) => {
    const found = await until(
      () => log.find(id).catch(() => undefined),
      (job) => job !== undefined && isRight(job),
    )
    if (found === undefined) throw new Error('there is no such job')
    return found
  }
  return {
    ...{ dispatcher, library, untilJob },
    untilVisited: (id, count) =>
      until(
        async () => dispatcher.find(id)?.progress?.visited ?? 0,
        (visited) => visited > count,
      ),
    untilEnded: (id) => untilJob(id, ({ endedAt }) => endedAt !== null),
    async pidOf(id) {
      const [worker] = await until(
        async () => (await workers.list()).filter(({ jobs }) => jobs.includes(id)),
        ({ length }) => length > 0,
      )
      return Number(worker?.name.split('/')[1])
    },
    async countPages() {
      let pages = 0
      for (const { id } of await store.listSources()) pages += (await store.countContent(id)).pages
      return pages
    },
  }
}

/** A request to crawl a site with the given concurrency. */
function crawlRequestOf({ origin }: LocalSite, concurrency: number): CrawlRequest {
  const url = `${origin}/docs/`
  return { url, args: [url, `--concurrency=${concurrency}`] }
}

interface WorkerItem {
  readonly name: string
  readonly jobs: readonly { readonly id: string }[]
}

async function workersOf(server: ServerProcess): Promise<readonly WorkerItem[]> {
  return (await server.get('/api/workers'))['items'] as readonly WorkerItem[]
}

const jobOf = (server: ServerProcess, id: unknown) => server.get(`/api/crawls/${String(id)}`)

test('a worker on a library in a file explains the alternatives', async () => {
  const outcome = await sandbox.runInProcess(['worker', '--library', sandbox.path('library.db')])
  expect(outcome).toMatchObject({ code: 2, stdout: '' })
  expect(outcome.stderr).toContain('workers need a library in PostgreSQL')
  expect(outcome.stderr).toContain('pharos serve')
  expect(outcome.stderr).toContain('pharos copy')
  const served = await sandbox.runInProcess(['serve', '--workers', '0', '--library', sandbox.path('library.db')])
  expect(served).toMatchObject({ code: 2 })
  expect(served.stderr).toContain('--workers 0 needs a library in PostgreSQL')
})

test.concurrent('another worker replaces a killed one, and nothing is lost', { timeout: TIMEOUT_MS }, async ({
  expect,
  ...context
}) => {
  const stage = new Stage(context)
  const site = await stage.openSite(PAGE_COUNT, 300)
  const address = await createLibrary()
  const client = await stage.openClient(address)
  // The next worker takes the waiting job.
  const { id } = await client.dispatcher.enqueue(crawlRequestOf(site, 2))
  const first = stage.startWorker(address)
  await client.untilVisited(id, 2)
  const next = stage.startWorker(address)
  expect(await client.pidOf(id)).toBe(first.pid)
  process.kill(first.pid, 'SIGKILL')
  expect(await client.untilEnded(id)).toMatchObject({ status: 'done', problem: null })
  expect(next.log()).toContain('is done')
  expect(await client.countPages()).toBe(PAGE_COUNT + 1)
  // Only requests under way at the kill are repeated.
  const twice = site.requests.filter(({ path }, i) => site.requests.findIndex((one) => one.path === path) < i)
  expect(twice.filter(({ path }) => path.startsWith('/docs/p')).length).toBeLessThanOrEqual(4)
})

test.concurrent('a frozen worker loses its jobs, and disturbs no other when it resumes', {
  timeout: TIMEOUT_MS,
}, async ({ expect, ...context }) => {
  const stage = new Stage(context)
  // One crawl ends before the next worker takes it over, the other does not.
  const sites = [await stage.openSite(3, 100), await stage.openSite(PAGE_COUNT, 1200)] as const
  const address = await createLibrary()
  const client = await stage.openClient(address)
  const [short, long] = [
    await client.dispatcher.enqueue(crawlRequestOf(sites[0], 1)),
    await client.dispatcher.enqueue(crawlRequestOf(sites[1], 1)),
  ]
  const frozen = stage.startWorker(address, ['--max-crawls', '2'])
  for (const { id } of [short, long]) await client.untilJob(id, ({ crawlId }) => crawlId !== null)
  process.kill(frozen.pid, 'SIGSTOP')
  const next = stage.startWorker(address, ['--max-crawls', '2'])
  for (const { id } of [short, long]) {
    await until(
      async () => next.log(),
      (log) => log.includes(id),
    )
  }
  const before = frozen.log()
  process.kill(frozen.pid, 'SIGCONT')
  for (const { id } of [short, long]) {
    expect(await client.untilEnded(id)).toMatchObject({ status: 'done', problem: null })
  }
  process.kill(frozen.pid, 'SIGTERM')
  await frozen.ended
  expect(frozen.log().slice(before.length)).not.toMatch(/is done|failed/)
  expect(await client.countPages()).toBe(4 + PAGE_COUNT + 1)
  // Neither site was crawled twice.
  for (const source of await client.library.store.listSources()) {
    expect(await client.library.store.listCrawls(source.id, 9)).toMatchObject([{ kind: 'add', state: 'completed' }])
  }
})

test.concurrent('a worker that is told to stop takes nothing new, and leaves its unfinished jobs to another', {
  timeout: TIMEOUT_MS,
}, async ({ expect, ...context }) => {
  const stage = new Stage(context)
  const site = await stage.openSite(PAGE_COUNT, 300)
  const address = await createLibrary()
  const client = await stage.openClient(address)
  const first = stage.startWorker(address, ['--drain-time', '300ms'])
  const { id } = await client.dispatcher.enqueue(crawlRequestOf(site, 2))
  await client.untilVisited(id, 2)
  process.kill(first.pid, 'SIGTERM')
  expect(await first.ended).toMatchObject({ code: 0 })
  expect(await client.untilJob(id, () => true)).toMatchObject({ status: 'queued' })
  stage.startWorker(address)
  expect(await client.untilEnded(id)).toMatchObject({ status: 'done', problem: null })
  expect(await client.countPages()).toBe(PAGE_COUNT + 1)
})

test.concurrent('two servers with workers share the jobs, and one resumes those that the other leaves', {
  timeout: TIMEOUT_MS,
}, async ({ expect, ...context }) => {
  const stage = new Stage(context)
  const site = await stage.openSite(PAGE_COUNT, 300)
  const address = await createLibrary()
  const [one, other] = await Promise.all([stage.serve(address), stage.serve(address)])
  const { jobId } = await one.post('/api/crawl', { startUrl: `${site.origin}/docs/`, concurrency: 2 })
  const [worker] = await until(
    async () => (await workersOf(other)).filter(({ jobs }) => jobs.some((job) => job.id === jobId)),
    ({ length }) => length > 0,
  )
  await until(
    () => jobOf(other, jobId),
    ({ visited }) => Number(visited) > 2,
  )
  await other.post(`/api/crawls/${String(jobId)}/pause`)
  await until(
    () => jobOf(one, jobId),
    ({ lastProgress }) => (lastProgress as { paused: boolean }).paused,
  )
  await one.post(`/api/crawls/${String(jobId)}/resume`)
  const metrics = await (await one.ask('/metrics')).text()
  expect(metrics).toMatch(/^pharos_workers 2$/m)
  expect(metrics).toMatch(/^pharos_worker_visits_total\{worker="[^"]+\/\d+\/[\da-f]{8}"\} \d+$/m)
  const [gone, remaining] = worker?.name.endsWith(`/${one.pid}`) === true ? [one, other] : [other, one]
  gone.kill('SIGTERM')
  await gone.ended
  const ended = await until(
    () => jobOf(remaining, jobId),
    (job) => job['status'] !== 'running' && job['status'] !== 'queued',
  )
  expect(ended).toMatchObject({ status: 'done', problem: null })

  // Workers run analyses too.
  const { runId } = await remaining.post('/api/analysis/start')
  const run = await until(
    () => remaining.get(`/api/analysis/${String(runId)}`),
    (answer) => JSON.stringify(answer).includes('"completed"'),
  )
  expect(JSON.stringify(run)).toContain(`"pages":${PAGE_COUNT + 1}`)
})

test.concurrent('a worker that cannot reach its database waits, reports it, and continues afterwards', {
  timeout: TIMEOUT_MS,
}, async ({ expect, ...context }) => {
  const stage = new Stage(context)
  const site = await stage.openSite(PAGE_COUNT, 300)
  const postgres = startPostgres()
  context.onTestFinished(() => postgres.stop())
  const address = postgres.addressOf('postgres')
  postgres.crash()
  const worker = stage.startWorker(address)
  await until(
    async () => worker.log(),
    (log) => log.includes('retrying every 2 s'),
  )
  postgres.start()
  await until(
    async () => worker.log(),
    (log) => log.includes('"maxCrawls":1'),
  )
  const client = await stage.openClient(address)
  const { id } = await client.dispatcher.enqueue(crawlRequestOf(site, 1))
  await client.untilVisited(id, 1)
  await client.dispatcher.pause(id)
  await until(
    async () => client.dispatcher.find(id)?.progress,
    (progress) => progress?.paused === true && progress.currentDownloadsCount === 0,
  )
  // The checkpoint makes sure that committed data is on disk, because this server does not wait for the disk.
  await execute(address, 'CHECKPOINT')
  postgres.crash()
  await until(
    async () => worker.log(),
    (log) => log.includes('the library cannot be reached; retrying'),
  )
  postgres.start()
  await until(
    () =>
      Promise.resolve(id)
        .then((id) => client.dispatcher.resume(id))
        .catch(() => false),
    (isResumed) => isResumed,
  )
  expect(await client.untilEnded(id)).toMatchObject({ status: 'done', problem: null })
  expect(await client.countPages()).toBe(PAGE_COUNT + 1)
  process.kill(worker.pid, 'SIGTERM')
  expect(await worker.ended).toMatchObject({ code: 0 })
})

async function execute(address: string, text: string): Promise<void> {
  const { default: pg } = await import('pg')
  const client = new pg.Client({ connectionString: address })
  await client.connect()
  await client.query(text).finally(() => client.end())
}

test.concurrent('an idle worker joins a crawl that has free hosts', {
  timeout: TIMEOUT_MS,
}, async ({ expect, ...context }) => {
  const stage = new Stage(context)
  const paths = Array.from({ length: 8 }, (_, at) => `/${at}`)
  const sites = await stage.openSites(6, paths, 600)
  const address = await createLibrary()
  const client = await stage.openClient(address)
  const source = await addWithSeeds(client.library, sites, paths)
  const flags = ['--hosts', '2', '--concurrency', '2']
  const workers = [stage.startWorker(address, flags), stage.startWorker(address, flags)]
  await until(
    async () => workers.every(({ log }) => log().includes('"maxCrawls":1')),
    (areReady) => areReady,
  )
  const { id } = await client.dispatcher.enqueue(await createSourceRequest(client.library, source, { kind: 'recrawl' }))
  expect(await client.untilEnded(id)).toMatchObject({ status: 'done', problem: null })
  const pages = sites.length * paths.length + 1
  expect(await client.countPages()).toBe(pages)
  expect(workers.map(({ log }) => log()).join('')).toContain('joined the crawl of')
  // Each worker has counted its own visits.
  const visits = await until(
    async () => ((await client.library.workers?.list()) ?? []).map((worker) => worker.visits),
    (each) => each.reduce((sum, count) => sum + count, 0) >= pages,
  )
  expect(Math.min(...visits)).toBeGreaterThan(0)
  expect(visits.reduce((sum, count) => sum + count, 0)).toBe(pages)
  for (const { requests } of sites) {
    const requestedPaths = requests.filter(({ status }) => status === 200).map(({ path }) => path)
    expect(requestedPaths.length).toBe(new Set(requestedPaths).size)
  }
})

/** Records a source with addresses of many hosts as seeds. */
async function addWithSeeds(library: OpenLibrary, sites: readonly Site[], paths: readonly string[]): Promise<Source> {
  const source = await addSource(library, { url: `${sites[0]?.origin}/` })
  const finds = sites.flatMap(({ origin }) =>
    paths.map((path) => {
      const url = `${origin}${path}`
      return foundAddressOf(path, { key: url, url, host: new URL(origin).host, discovery: 'manual' })
    }),
  )
  await library.store.offer(source.id, 'somebody', finds, library.clock.now())
  return source
}

test('a folder is stored with its machine, and no other machine reads it', async () => {
  const library = await openLibrary({ path: await createLibrary(), version: '0.0.0' })
  try {
    const source = await addSource(library, { url: 'file:///docs/', isOwnFolder: true })
    expect(source.settings.machine).toBe(hostname())
    expect((await addSource(library, { url: 'https://docs.example/' })).settings).not.toHaveProperty('machine')
    const elsewhere = { ...library, runner: { ...library.runner, id: 'tower-2/boot/1' } }
    await expect(runCrawl(elsewhere, source, { kind: 'add' }, '')).rejects.toMatchObject({
      details: { problem: expect.stringContaining(`it is on the machine ${hostname()}, and this is tower-2`) },
    })
    expect(await library.store.listCrawls(source.id, 1)).toEqual([])
  } finally {
    await library.close()
  }
})
