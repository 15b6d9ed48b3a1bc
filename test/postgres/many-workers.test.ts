import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { addSource } from '../../src/library/crawl/add-source.ts'
import { openLibrary } from '../../src/open-library.ts'
import { closeLater } from '../close-later.ts'
import { PROGRAM, ProgramSandbox } from '../e2e/program.ts'
import { type ServerProcess, startServer } from '../e2e/server.ts'
import { isLong, report } from '../faults/bounded.ts'
import { createRandom } from '../seeded.ts'
import { runCrawl } from '../sites/crawl.ts'
import { withFastClock } from '../sites/fast-clock.ts'
import { type Dump, readSourceContent, toComparable } from '../sites/file-fixture.ts'
import { messySite, sitemapOf } from '../sites/messy-site.ts'
import { arrivalTimes, expectPaced, gapsOf } from '../sites/polite.ts'
import { type Answer, openSite, page, redirect, type Site, text } from '../sites/site.ts'
import { Fleet, type KillTarget } from './fleet.ts'
import { DURABLE_SETTINGS, type PostgresServer, startPostgres } from './server.ts'
import { until } from './until.ts'

/* Many sites crawled at once by workers that are killed or frozen at random moments, on a database that is killed too. */

const WORKERS = isLong ? 4 : 3
const SITES = isLong ? 12 : 3
/** Concurrent crawls per worker, enough to take over the jobs of workers that are gone. */
const SLOTS = isLong ? 4 : 2
/** In each round, each fault happens once. */
const ROUNDS = isLong ? 4 : 1
/** The Crawl-delay of each site. */
const PAUSE_MS = 1000
/**
 * How late a request may arrive at a site on a machine with so many processes. A new process has to connect first. The value is small
 * enough to tell two requests within one interval from a late one.
 */
const TOLERANCE_MS = isLong ? 300 : 900
/** Response time, so that requests are under way when a fault happens. */
const ANSWER_MS = 60
/** Concurrent visits of a crawl. The crawl leases as many more visits ahead. */
const CONCURRENCY = 2
/** Minimum duration of a freeze: in a long run, longer than the lease of a host. */
const FREEZE_MS = isLong ? 32_000 : 0
const PATIENCE_MS = isLong ? 900_000 : 150_000

const seed = Number(process.env['TEST_SEED'] ?? Math.floor(Math.random() * 1e6))

interface ReferenceCrawl {
  readonly site: Site
  /** Comparable content of a library that a single process crawled. */
  readonly dump: Dump
  /** Requested paths of that crawl, sorted. */
  readonly requestedPaths: readonly string[]
}

let sandbox: ProgramSandbox
let referenceCrawls: readonly ReferenceCrawl[] = []

beforeAll(async () => {
  if (!existsSync(PROGRAM)) throw new Error(`${PROGRAM} is missing; run \`npm run build\``)
  sandbox = new ProgramSandbox(2 * PATIENCE_MS)
  const sites = await Promise.all(Array.from({ length: SITES }, (_, at) => openPacedSite(`127.0.0.${at + 1}`)))
  referenceCrawls = await readAlone(sites)
}, PATIENCE_MS)

afterAll(async () => {
  await idleCluster?.close()
  for (const { site } of referenceCrawls) await site.close()
  sandbox?.remove()
})

beforeEach(() => {
  for (const { site } of referenceCrawls) site.clearRequests()
})

async function openPacedSite(address: string): Promise<Site> {
  const site = await openSite({}, { address })
  const pages: Record<string, Answer> = {
    ...(isLong ? largeSite() : smallSite()),
    '/robots.txt': text(`User-agent: *\nDisallow: /forbidden\nCrawl-delay: ${PAUSE_MS / 1000}\n`),
    '/sitemap.xml': sitemapOf(site.origin),
  }
  for (const [path, answer] of Object.entries(pages)) site.pages.set(path, withDelay(answer))
  return site
}

function largeSite(): Record<string, Answer> {
  // Temporary failures would be retried after long pauses.
  const { '/broken': _, ...pages } = messySite(60)
  return pages
}

/** A site with redirects, duplicates, and missing and forbidden pages. */
function smallSite(): Record<string, Answer> {
  return {
    '/': page('Home heron', ['/guide/6', '/moved', '/missing', '/twin/b', '/forbidden/1']),
    '/guide/6': page('Guide grebe', ['/', '/twin/deep/c']),
    '/mapped': page('Mapped merlin', ['/moved/here', '/guide/6?utm_source=map']),
    '/moved': redirect('/moved/here'),
    '/moved/here': page('Moved magpie'),
    '/twin/b': page('Twin tern'),
    '/twin/deep/c': page('Twin tern'),
  }
}

function withDelay(answer: Answer): Answer {
  return (request) => {
    const response = typeof answer === 'function' ? answer(request) : answer
    return { ...(typeof response === 'string' ? { body: response } : response), delayMs: ANSWER_MS }
  }
}

/** Reads all sites in one process, into one library in a file. */
async function readAlone(sites: readonly Site[]): Promise<ReferenceCrawl[]> {
  const path = sandbox.path('alone.db')
  const allowPrivate = ['127.0.0.0/8']
  const opened = await openLibrary({ path, version: '0', allowPrivate, limits: { memoryBytes: 4 * 2 ** 30 } })
  try {
    const library = withFastClock(opened, 25)
    const read = async (site: Site): Promise<ReferenceCrawl> => {
      const source = await addSource(library, { url: `${site.origin}/` })
      const { summary } = await runCrawl(library, source, { kind: 'add' }, site.origin)
      expect(summary).toMatchObject({ end: 'completed', problem: null })
      const dump = toComparable(await readSourceContent(path, library, source, site.origin), site.origin, false)
      return { site, dump, requestedPaths: site.requestedPaths() }
    }
    return await Promise.all(sites.map(read))
  } finally {
    await opened.close()
  }
}

/** A database, a server that runs no crawls itself, and workers. */
interface Cluster {
  readonly postgres: PostgresServer
  readonly address: string
  readonly server: ServerProcess
  readonly fleet: Fleet
  close(): Promise<void>
}

/** A database, a server and workers, with a job for each site in the order of the sites. */
interface BusyCluster extends Cluster {
  readonly jobs: readonly string[]
  /** Log output of the workers before this test. */
  readonly logBefore: string
}

/** A cluster that a test left to the next test, because starting all its processes takes long. */
let idleCluster: Cluster | undefined

/** Starts a crawl of each site. The processes close with the test, unless it leaves them to the next one. */
async function startCrawls(): Promise<BusyCluster> {
  const cluster = idleCluster ?? (await startCluster())
  idleCluster = undefined
  closeLater(() => (idleCluster === undefined ? cluster.close() : undefined))
  const logBefore = cluster.fleet.log
  const jobs: string[] = []
  for (const { site } of referenceCrawls) {
    // The type is that of the response of the route.
    const { jobId } = (await cluster.server.post('/api/sources', { url: `${site.origin}/` })) as { jobId: string }
    jobs.push(jobId)
  }
  return { ...cluster, jobs, logBefore }
}

async function startCluster(): Promise<Cluster> {
  const postgres = startPostgres([...DURABLE_SETTINGS, 'max_connections=400'])
  const address = postgres.addressOf('postgres')
  const environment = {
    PHAROS_LIBRARY: address,
    PHAROS_ALLOW_PRIVATE: '127.0.0.0/8',
    PHAROS_CONCURRENCY: String(CONCURRENCY),
  }
  const starting = startServer(sandbox, ['--library', address, '--workers', '0', '--quiet'], environment)
  const server = await starting.catch((error: unknown) => {
    postgres.stop()
    throw error
  })
  const fleet = new Fleet(sandbox, ['--max-crawls', String(SLOTS)], environment)
  for (let i = 0; i < WORKERS; i++) fleet.start()
  const close = async () => {
    await fleet.close('SIGKILL')
    server.kill('SIGTERM')
    await server.ended
    postgres.stop()
  }
  return { postgres, address, server, fleet, close }
}

/** Leaves the workers to the next test, and removes their sources. */
async function leaveIdle({ jobs: _, logBefore: __, ...cluster }: BusyCluster): Promise<void> {
  const library = await openLibrary({ path: cluster.address, version: '0' })
  try {
    for (const { id } of await library.store.listSources()) await library.store.removeSource(id)
  } finally {
    await library.close()
  }
  idleCluster = cluster
}

interface Job {
  readonly id: string
  readonly status: string
  readonly problem: string | null
}

/** The state of a job, or undefined while the database is down. */
function jobOf({ server }: Cluster, id: string): Promise<Job | undefined> {
  // The type is that of the response of the route.
  return server.get(`/api/crawls/${id}`).then(
    (job) => ({ id, status: String(job['status']), problem: job['problem'] as string | null }),
    () => undefined,
  )
}

function isOver(job: Job | undefined): boolean {
  return job !== undefined && job.status !== 'queued' && job.status !== 'running'
}

async function untilDone(cluster: BusyCluster): Promise<void> {
  for (const id of cluster.jobs) {
    const job = await until(() => jobOf(cluster, id), isOver, PATIENCE_MS)
    expect(job).toMatchObject({ status: 'done', problem: null })
  }
}

/** Expects that the library holds the same content as after a crawl by one process, without duplicates. */
async function expectSameContent({ address }: Cluster): Promise<void> {
  const library = await openLibrary({ path: address, version: '0' })
  try {
    const sources = await library.store.listSources()
    expect(sources).toHaveLength(SITES)
    for (const { site, dump } of referenceCrawls) {
      const source = sources.find(({ url }) => url === `${site.origin}/`)
      if (source === undefined) throw new Error(`there is no source of ${site.origin}`)
      const found = toComparable(await readSourceContent(address, library, source, site.origin), site.origin, false)
      expect(found.pages).toEqual(dump.pages)
      expect(found.rows).toEqual(dump.rows)
      expect((await library.store.countContent(source.id)).pages).toBe(dump.pages.length)
      const crawls = await library.store.listCrawls(source.id, 10)
      expect(crawls.map(({ state, summary }) => ({ state, end: summary?.end }))).toEqual([
        { state: 'completed', end: 'completed' },
      ])
    }
  } finally {
    await library.close()
  }
}

/** Expects that all processes together kept the pace of each site. */
function expectPolite(): void {
  for (const { site } of referenceCrawls) expectPaced(arrivalTimes(site), PAUSE_MS, 25, TOLERANCE_MS)
}

/** Logs the number of requests and the gaps between them. */
function reportRequests(): void {
  const gaps = referenceCrawls.flatMap(({ site }) => gapsOf(arrivalTimes(site)))
  const repeated = referenceCrawls.flatMap(repeatedAt)
  report([`${SITES} sites`, `${gaps.length + SITES} requests`, `${repeated.length} repeated`])
  report([`shortest pause ${Math.min(...gaps)} ms of ${PAUSE_MS}`])
}

/** Requests of a site beyond those of an undisturbed crawl by one process. */
function repeatedAt({ site, requestedPaths }: ReferenceCrawl): string[] {
  const left = [...requestedPaths]
  return site.requestedPaths().filter((path) => {
    const at = left.indexOf(path)
    if (at >= 0) left.splice(at, 1)
    return at < 0
  })
}

test(`${WORKERS} workers crawl ${SITES} sites concurrently: every page once, each site at its own pace`, {
  timeout: PATIENCE_MS,
}, async () => {
  const cluster = await startCrawls()
  await untilDone(cluster)
  reportRequests()
  expectPolite()
  for (const { site, requestedPaths } of referenceCrawls) expect(site.requestedPaths()).toEqual(requestedPaths)
  await expectSameContent(cluster)
  await leaveIdle(cluster)
})

/** Kills in each round, in order. `worker.test.ts` tests the kill of a worker alone. */
const KILL_TARGETS: readonly KillTarget[] = isLong ? ['both', 'worker', 'crawls'] : ['both', 'crawls']

/** Causes all kinds of faults. */
class FaultInjector {
  readonly #cluster: BusyCluster
  readonly #random: () => number
  readonly #began = performance.now()
  /** The faults so far, with their times. */
  readonly faults: string[] = []

  constructor(cluster: BusyCluster, random: () => number) {
    this.#cluster = cluster
    this.#random = random
  }

  /** Causes each fault once, at random moments that are independent of each other. */
  async injectAll(): Promise<void> {
    await Promise.all([this.#freeze(), this.#kill(), this.#killDatabase()])
  }

  async #kill(): Promise<void> {
    for (const target of KILL_TARGETS) {
      await this.#wait(2500)
      const pid = await this.#chooseBusy()
      if (pid === undefined) return
      this.#record(`kill ${target} ${pid}`)
      await this.#cluster.fleet.kill(pid, target)
    }
  }

  async #killDatabase(): Promise<void> {
    await this.#wait(5000)
    this.#record('kill the database')
    await this.#cluster.postgres.killAndStart()
    this.#record('the database is back')
  }

  /** Freezes a worker and its crawls until other workers have taken over its jobs. */
  async #freeze(): Promise<void> {
    await this.#wait(1500)
    const pid = await this.#chooseBusy()
    if (pid === undefined) return
    const { fleet } = this.#cluster
    const resume = fleet.freeze(pid)
    const jobs = fleet.jobsOf(pid)
    this.#record(`freeze ${pid} with ${jobs.length} jobs`)
    await sleep(FREEZE_MS)
    for (const id of jobs) await until(() => this.#isElsewhere(id, pid), Boolean, PATIENCE_MS)
    await this.#wait(2000)
    this.#record(`wake ${pid}`)
    resume()
  }

  /** A worker that crawls; undefined if all jobs end before there is one. */
  async #chooseBusy(): Promise<number | undefined> {
    const { fleet, jobs } = this.#cluster
    const isAllOver = async () => (await Promise.all(jobs.map((id) => jobOf(this.#cluster, id)))).every(isOver)
    const choose = async () => (fleet.busy.length > 0 || (await isAllOver()) ? fleet.busy : undefined)
    const busy = (await until(choose, (found) => found !== undefined)) ?? []
    return busy[Math.floor(this.#random() * busy.length)]
  }

  async #isElsewhere(id: string, pid: number): Promise<boolean> {
    const others = (await listWorkers(this.#cluster)).filter(({ name }) => !name.endsWith(`/${pid}`))
    return others.some(({ jobs }) => jobs.some((job) => job.id === id)) || isOver(await jobOf(this.#cluster, id))
  }

  #wait(maxMs: number): Promise<void> {
    return sleep(this.#random() * maxMs)
  }

  #record(what: string): void {
    this.faults.push(`${((performance.now() - this.#began) / 1000).toFixed(1)} s: ${what}`)
  }
}

interface WorkerItem {
  readonly name: string
  readonly jobs: readonly { readonly id: string }[]
}

/** Workers as listed by the server, or none while the database is down. */
function listWorkers({ server }: Cluster): Promise<readonly WorkerItem[]> {
  // The type is that of the response of the route.
  return server.get('/api/workers').then(
    ({ items }) => items as readonly WorkerItem[],
    () => [],
  )
}

/** Expects that only visits of lost processes are repeated: those under way, and none that was settled. */
function expectFewRepeats({ fleet, logBefore }: BusyCluster): void {
  for (const one of referenceCrawls) {
    const { origin } = one.site
    const processes = fleet.log.slice(logBefore.length).split(`the crawl of ${origin}/ was started`).length - 1
    // A repeated visit also repeats its request for a Markdown variant.
    const repeated = repeatedAt(one).filter((path) => !path.endsWith('.md'))
    expect(repeated.length, `${origin} in ${processes} processes: ${repeated}`).toBeLessThanOrEqual(
      2 * CONCURRENCY * (processes - 1),
    )
  }
}

test(`faults of ${WORKERS} workers and their database lose no page, and no site is requested too often`, {
  timeout: PATIENCE_MS,
}, async () => {
  const cluster = await startCrawls()
  const injector = new FaultInjector(cluster, createRandom(seed))
  const isUnderWay = async () => referenceCrawls.every(({ site }) => site.requests.length > 2)
  await until(isUnderWay, Boolean)
  try {
    for (let round = 0; round < ROUNDS; round++) await injector.injectAll()
    await untilDone(cluster)
    reportRequests()
    // Without these faults the test would prove nothing.
    expect(injector.faults.join()).toMatch(/(?=.*freeze \d+ with [1-9])(?=.*kill both)(?=.*kill the database)/)
    expectPolite()
    expectFewRepeats(cluster)
    await expectSameContent(cluster)
    await cluster.fleet.close('SIGTERM')
  } catch (cause) {
    throw new Error(`with TEST_SEED=${seed}: ${injector.faults.join(', ')}\n${cluster.fleet.log}`, { cause })
  }
})

test('a crawl that starts while its database is down waits for it', { timeout: PATIENCE_MS }, async () => {
  const postgres = startPostgres(DURABLE_SETTINGS)
  closeLater(() => postgres.stop())
  postgres.crash()
  const args = [
    'crawl-job',
    `${referenceCrawls[0]?.site.origin}/`,
    '--max-pages',
    '1',
    '--library',
    postgres.addressOf('postgres'),
  ]
  // The process stops when its stdin closes.
  const child = spawn(process.execPath, [PROGRAM, ...args, '--allow-private=127.0.0.0/8'], { env: sandbox.environment })
  closeLater(() => child.kill('SIGKILL'))
  const ended = once(child, 'exit')
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (words: string) => {
    stderr += words
  })
  await until(
    async () => stderr,
    (words) => words.includes('retrying every 2 s'),
  )
  postgres.start()
  expect(await ended, stderr).toEqual([0, null])
})
