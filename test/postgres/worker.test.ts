import { existsSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { addSource } from '../../src/library/operations/add-source.ts'
import { openLibrary } from '../../src/open-library.ts'
import { LocalSite, writePage } from '../e2e/local-site.ts'
import { type Outcome, PROGRAM, Workshop } from '../e2e/program.ts'
import { type ServerProcess, startServer, until as untilLate } from '../e2e/server.ts'
import { openSite, page, type Site } from '../sites/site.ts'
import { createLibrary } from './databases.ts'
import { findOf } from './ledgers.ts'
import { startPostgres } from './server.ts'

const COUNT = 40

/** They start many processes, and two of them wait for signs of life that do not come, which they do together. */
const TIMEOUT = 240_000

/** A start that leads to all pages, and these to nothing. */
function writeSite(count: number): Record<string, string> {
  const names = Array.from({ length: count }, (_, i) => `/docs/p${i}`)
  return {
    '/docs/': writePage('Guide', names),
    ...Object.fromEntries(names.map((name) => [name, writePage(`Page ${name}`, [], `What ${name} is about.`)])),
  }
}

let shop: Workshop

beforeAll(() => {
  if (!existsSync(PROGRAM)) throw new Error(`${PROGRAM} is missing; run \`npm run build\``)
  shop = new Workshop()
})

afterAll(() => shop?.remove())

function killIfThere(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // It has gone by itself.
  }
}

/** Asks until an answer is right; a process may take long to start where many do. */
function until<T>(ask: () => Promise<T>, isRight: (answer: T) => boolean): Promise<T> {
  return untilLate(ask, isRight, 120_000)
}

interface WorkerProcess {
  readonly pid: number
  readonly ended: Promise<Outcome>
  /** What it has said so far. */
  said(): string
}

function settings(address: string): Record<string, string> {
  return { PHAROS_LIBRARY: address, PHAROS_ALLOW_PRIVATE: '127.0.0.0/8', PHAROS_REQUEST_INTERVAL: '0ms' }
}

/** What a test plays with; all of it is gone with the test. */
class Stage {
  readonly #later: (work: () => Promise<void>) => void

  constructor({ onTestFinished }: { onTestFinished(work: () => Promise<void>): void }) {
    this.#later = onTestFinished
  }

  /** A site of so many pages that takes its time. */
  async openSite(count: number, delayMs: number): Promise<LocalSite> {
    const site = await LocalSite.open(writeSite(count))
    site.delayMs = delayMs
    this.#later(() => site.close())
    return site
  }

  /** Several sites at addresses of this machine, with some pages each. */
  async openFarm(hosts: number, paths: readonly string[], delayMs: number): Promise<readonly Site[]> {
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
    const { child, ended } = shop.start(process.execPath, args, settings(address))
    let text = ''
    const hear = (data: string) => {
      text += data
    }
    child.stdout.on('data', hear)
    child.stderr.on('data', hear)
    const pid = child.pid ?? 0
    this.#later(async () => {
      killIfThere(pid, 'SIGKILL')
      await ended
    })
    return { pid, ended, said: () => text }
  }

  /** A server that runs nothing itself, unless it is told to. */
  async serve(address: string, workers: 0 | 1 = 0): Promise<ServerProcess> {
    const server = await startServer(shop, ['--library', address, '--workers', String(workers)], settings(address))
    this.#later(async () => {
      killIfThere(server.pid, 'SIGTERM')
      await server.ended
    })
    return server
  }
}

interface WorkerItem {
  readonly name: string
  readonly state: string
  readonly jobs: readonly { readonly id: string }[]
  readonly visits: number
}

async function workersOf(server: ServerProcess): Promise<readonly WorkerItem[]> {
  return (await server.get('/api/workers'))['items'] as readonly WorkerItem[]
}

const jobOf = (server: ServerProcess, id: unknown) => server.get(`/api/crawls/${String(id)}`)

/** The process that runs a job: that of the worker, not the one it has started for it. */
async function pidOf(server: ServerProcess, id: unknown): Promise<number> {
  const [worker] = await until(
    async () => (await workersOf(server)).filter(({ jobs }) => jobs.some((job) => job.id === id)),
    ({ length }) => length > 0,
  )
  return Number(worker?.name.split('/')[1])
}

async function countPages(address: string): Promise<number> {
  const { store, close } = await openLibrary({ path: address, version: '0' })
  try {
    const [source] = await store.listSources()
    return source === undefined ? 0 : (await store.countContent(source.id)).pages
  } finally {
    await close()
  }
}

test('on a library in a file it says what to do instead', async () => {
  const outcome = await shop.runHere(['worker', '--library', shop.path('library.db')])
  expect(outcome).toMatchObject({ code: 2, stdout: '' })
  expect(outcome.stderr).toContain('workers share a library in PostgreSQL')
  expect(outcome.stderr).toContain('pharos serve')
  expect(outcome.stderr).toContain('pharos copy')
  const served = await shop.runHere(['serve', '--workers', '0', '--library', shop.path('library.db')])
  expect(served).toMatchObject({ code: 2 })
  expect(served.stderr).toContain('--workers 0 is for a library in PostgreSQL')
})

test.concurrent('a worker that is killed is followed by another, and nothing is lost', { timeout: TIMEOUT }, async ({
  expect,
  ...context
}) => {
  const stage = new Stage(context)
  const site = await stage.openSite(COUNT, 100)
  const address = await createLibrary()
  const server = await stage.serve(address)
  // Nobody is there who could begin it at once; whoever comes takes what waits.
  const refused = await server.ask('/api/crawl', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ startUrl: `${site.origin}/docs/` }),
  })
  expect(refused.status).toBe(503)
  const { jobId } = await server.post('/api/crawl', { startUrl: `${site.origin}/docs/`, queue: true, concurrency: 2 })
  const workers = [stage.startWorker(address), stage.startWorker(address)]
  const pid = await pidOf(server, jobId)
  await until(
    () => jobOf(server, jobId),
    ({ visited }) => Number(visited) > 4,
  )
  expect(workers.map((worker) => worker.pid)).toContain(pid)
  process.kill(pid, 'SIGKILL')
  const ended = await until(
    () => jobOf(server, jobId),
    ({ status }) => status !== 'running' && status !== 'queued',
  )
  expect(ended).toMatchObject({ status: 'done', problem: null })
  expect(await pidOfOther(server, pid)).toBeGreaterThan(0)
  expect(await countPages(address)).toBe(COUNT + 1)
  // What was under way when it was killed is asked for once more, and nothing else.
  const twice = site.asked.filter(({ path }, i) => site.asked.findIndex((one) => one.path === path) < i)
  expect(twice.filter(({ path }) => path.startsWith('/docs/p')).length).toBeLessThanOrEqual(4)
  const metrics = await (await server.ask('/metrics')).text()
  expect(metrics).toMatch(/^pharos_workers \d$/m)
  expect(metrics).toMatch(/^pharos_worker_visits_total\{worker="[^"]+"\} \d+$/m)
  const status = await shop.run(['status'], settings(address))
  expect(status.stdout).toMatch(/^ {2}\S+\/\d+ {2}\d of 1 crawl, /m)
})

/** The number of a worker that is there, and is not this one. */
async function pidOfOther(server: ServerProcess, pid: number): Promise<number> {
  const there = (await workersOf(server)).filter(({ state }) => state === 'working')
  return Number(there.map(({ name }) => name.split('/')[1]).find((number) => Number(number) !== pid))
}

test.concurrent('one that stands still for long has lost its job, and disturbs nobody when it goes on', {
  timeout: TIMEOUT,
}, async ({ expect, ...context }) => {
  const stage = new Stage(context)
  const site = await stage.openSite(COUNT, 400)
  const address = await createLibrary()
  const server = await stage.serve(address)
  stage.startWorker(address)
  const { jobId } = await server.post('/api/crawl', { startUrl: `${site.origin}/docs/`, queue: true, concurrency: 1 })
  const pid = await pidOf(server, jobId)
  stage.startWorker(address)
  await until(
    () => jobOf(server, jobId),
    ({ visited }) => Number(visited) > 2,
  )
  process.kill(pid, 'SIGSTOP')
  const next = await until(
    async () => (await workersOf(server)).filter(({ name, jobs }) => !name.endsWith(`/${pid}`) && jobs.length > 0),
    ({ length }) => length > 0,
  )
  process.kill(pid, 'SIGCONT')
  const ended = await until(
    () => jobOf(server, jobId),
    ({ status }) => status !== 'running' && status !== 'queued',
  )
  expect(next[0]?.jobs).toEqual([expect.objectContaining({ id: jobId })])
  expect(ended).toMatchObject({ status: 'done', problem: null })
  expect(await countPages(address)).toBe(COUNT + 1)
})

test('one that is to stop takes nothing new, and leaves what it has not ended to another', {
  timeout: TIMEOUT,
}, async ({ expect, ...context }) => {
  const stage = new Stage(context)
  const site = await stage.openSite(COUNT, 100)
  const address = await createLibrary()
  const server = await stage.serve(address)
  const first = stage.startWorker(address, ['--drain-time', '300ms'])
  const { jobId } = await server.post('/api/crawl', { startUrl: `${site.origin}/docs/`, queue: true, concurrency: 2 })
  await until(
    () => jobOf(server, jobId),
    ({ visited }) => Number(visited) > 4,
  )
  process.kill(first.pid, 'SIGTERM')
  expect(await first.ended).toMatchObject({ code: 0 })
  expect(await jobOf(server, jobId)).toMatchObject({ status: 'queued' })
  stage.startWorker(address)
  const ended = await until(
    () => jobOf(server, jobId),
    ({ status }) => status === 'done' || status === 'failed',
  )
  expect(ended).toMatchObject({ status: 'done', problem: null })
  expect(await countPages(address)).toBe(COUNT + 1)

  // Analysis is for workers, too.
  const { runId } = await server.post('/api/analysis/start')
  const run = await until(
    () => server.get(`/api/analysis/${String(runId)}`),
    (answer) => JSON.stringify(answer).includes('"completed"'),
  )
  expect(JSON.stringify(run)).toContain(`"pages":${COUNT + 1}`)
})

test('two servers that work themselves share the jobs, and what one of them leaves goes on with the other', {
  timeout: TIMEOUT,
}, async ({ expect, ...context }) => {
  const stage = new Stage(context)
  const site = await stage.openSite(COUNT, 100)
  const address = await createLibrary()
  const one = await stage.serve(address, 1)
  const other = await stage.serve(address, 1)
  const { jobId } = await one.post('/api/crawl', { startUrl: `${site.origin}/docs/`, concurrency: 2 })
  const pid = await pidOf(other, jobId)
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
  const [gone, stays] = pid === one.pid ? [one, other] : [other, one]
  gone.kill('SIGTERM')
  await gone.ended
  const ended = await until(
    () => jobOf(stays, jobId),
    ({ status }) => status !== 'running' && status !== 'queued',
  )
  expect(ended).toMatchObject({ status: 'done', problem: null })
  expect(await countPages(address)).toBe(COUNT + 1)
})

test('one that cannot reach its database waits, says so, and goes on when it is there', { timeout: TIMEOUT }, async ({
  expect,
  ...context
}) => {
  const stage = new Stage(context)
  const site = await stage.openSite(COUNT, 200)
  const postgres = startPostgres()
  try {
    const address = postgres.addressOf('postgres')
    postgres.crash()
    const worker = stage.startWorker(address)
    await until(
      async () => worker.said(),
      (said) => said.includes('tried again every 2 s'),
    )
    postgres.start()
    await until(
      async () => worker.said(),
      (said) => said.includes('"maxCrawls":1'),
    )
    const server = await stage.serve(address)
    const asked = { startUrl: `${site.origin}/docs/`, queue: true, concurrency: 1 }
    const { jobId } = await server.post('/api/crawl', asked)
    await until(
      () => jobOf(server, jobId),
      ({ visited }) => Number(visited) > 2,
    )
    await server.post(`/api/crawls/${String(jobId)}/pause`)
    await until(
      () => jobOf(server, jobId),
      ({ lastProgress }) => isAtRest(lastProgress),
    )
    // What it has said to have written is written: this one was told not to wait for the disk.
    await execute(address, 'CHECKPOINT')
    postgres.crash()
    await until(
      async () => worker.said(),
      (said) => said.includes('the library cannot be reached, which is tried again'),
    )
    postgres.start()
    await until(
      async () => (await server.ask(`/api/crawls/${String(jobId)}/resume`, { method: 'POST' })).status,
      (status) => status === 200,
    )
    const ended = await until(
      () => jobOf(server, jobId),
      ({ status }) => status === 'done' || status === 'failed',
    )
    expect(ended).toMatchObject({ status: 'done', problem: null })
    expect(await countPages(address)).toBe(COUNT + 1)
    server.kill('SIGTERM')
    await server.ended
    process.kill(worker.pid, 'SIGTERM')
    expect(await worker.ended).toMatchObject({ code: 0 })
  } finally {
    postgres.stop()
  }
})

/** Whether a crawl has nothing under way. */
function isAtRest(progress: unknown): boolean {
  const { paused, currentDownloadsCount } = progress as { paused: boolean; currentDownloadsCount: number }
  return paused && currentDownloadsCount === 0
}

async function execute(address: string, text: string): Promise<void> {
  const { default: pg } = await import('pg')
  const client = new pg.Client({ connectionString: address })
  await client.connect()
  await client.query(text).finally(() => client.end())
}

test('one that has nothing else to do takes part in a crawl with hosts that nobody asks', { timeout: TIMEOUT }, async ({
  expect,
  ...context
}) => {
  const stage = new Stage(context)
  const paths = Array.from({ length: 20 }, (_, at) => `/${at}`)
  const sites = await stage.openFarm(6, paths, 400)
  const address = await createLibrary()
  const sourceId = await plant(address, sites, paths)
  const server = await stage.serve(address)
  const flags = ['--hosts', '2', '--concurrency', '2']
  const workers = [stage.startWorker(address, flags), stage.startWorker(address, flags)]
  const { jobId } = await server.post(`/api/sources/${sourceId}/recrawl`)
  const ended = await until(
    () => jobOf(server, jobId),
    ({ status }) => status !== 'running' && status !== 'queued',
  )
  expect(ended).toMatchObject({ status: 'done', problem: null })
  expect(await countPages(address)).toBe(sites.length * paths.length + 1)
  expect(workers.map(({ said }) => said()).join('')).toContain('helps with the crawl of')
  const visits = (await workersOf(server)).map((worker) => worker.visits)
  expect(Math.min(...visits)).toBeGreaterThan(0)
  for (const { requests } of sites) {
    const asked = requests.filter(({ status }) => status === 200).map(({ path }) => path)
    expect(asked.length).toBe(new Set(asked).size)
  }
})

/** Records a source that somebody has named addresses of many hosts for; its id. */
async function plant(address: string, sites: readonly Site[], paths: readonly string[]): Promise<string> {
  const library = await openLibrary({ path: address, version: '0' })
  try {
    const source = await addSource(library, { url: `${sites[0]?.origin}/` })
    const finds = sites.flatMap(({ origin }) =>
      paths.map((path) => {
        const url = `${origin}${path}`
        return findOf(path, { key: url, url, host: new URL(origin).host, discovery: 'manual' })
      }),
    )
    await library.store.offer(source.id, 'somebody', finds, library.clock.now())
    return source.id
  } finally {
    await library.close()
  }
}
