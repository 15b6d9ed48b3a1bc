import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { messageOf } from '../../src/core/errors.ts'
import { addSource } from '../../src/library/crawl/add-source.ts'
import { crawlSource } from '../../src/library/crawl/crawl-source.ts'
import type { CrawlRequest } from '../../src/library/jobs/dispatcher.ts'
import { noteRefreshProblem } from '../../src/library/refresh/claim-due.ts'
import { type RefreshDispatcher, startDue } from '../../src/library/refresh/keep-refreshing.ts'
import { setRefreshInterval } from '../../src/library/refresh/set-interval.ts'
import { type OpenLibrary, openLibrary } from '../../src/open-library.ts'
import { closeLater } from '../close-later.ts'
import { chooseRepetitions, locateLibrary } from '../library-location.ts'
import { createLibraryPath } from '../sites/file-fixture.ts'

const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000]
const TICK = 30 * MINUTE
const DAYS = chooseRepetitions(90, 28, 8)

/** A clock that the test moves, shared by all servers. */
const time = { now: Date.UTC(2026, 0, 1) }

/** A folder with one page. */
function createFolder(): string {
  const folder = fs.mkdtempSync(join(tmpdir(), 'pharos-refresh-'))
  closeLater(async () => fs.rmSync(folder, { recursive: true, force: true }))
  fs.writeFileSync(join(folder, 'page.md'), '# Lantern\n\nThe keeper lights the lantern.\n')
  return folder
}

async function openSimulated(path: string): Promise<OpenLibrary> {
  const library = await openLibrary({ path: await locateLibrary(path), version: '0.0.0', embed: false })
  let isClosed = false
  const close = async () => {
    if (isClosed) return
    isClosed = true
    await library.close()
  }
  closeLater(close)
  const clock = {
    now: () => time.now,
    sleep: (ms: number, signal?: AbortSignal) => library.clock.sleep(Math.min(ms, 5), signal),
  }
  return { ...library, clock, close }
}

/** Adds a folder that is crawled and has an interval. */
async function addFolder(library: OpenLibrary, everyMs: number): Promise<{ id: string; folder: string }> {
  const folder = createFolder()
  const source = await addSource(library, { url: pathToFileURL(`${folder}/`).href, isOwnFolder: true })
  await crawl(library, source.id, 'add')
  await setRefreshInterval(library, source, everyMs)
  return { id: source.id, folder }
}

async function crawl(library: OpenLibrary, id: string, kind: 'add' | 'recrawl'): Promise<void> {
  const source = (await library.store.listSources()).find((one) => one.id === id)
  if (source === undefined) throw new Error(`there is no source ${id}`)
  for await (const _ of crawlSource(library, source, { kind }, new AbortController().signal));
}

/** An attempt to refresh a source. */
interface Attempt {
  readonly id: string
  readonly at: number
  readonly end: 'completed' | 'failed' | 'killed'
}

/** A server whose jobs run one tick after they were queued, unless it is killed before. */
class SimulatedServer {
  readonly #path: string
  #library: OpenLibrary
  #jobs: (CrawlRequest & { readonly sourceId: string; readonly endedAt: null })[] = []
  readonly attempts: Attempt[]
  readonly #dispatcher: RefreshDispatcher

  private constructor(path: string, library: OpenLibrary, attempts: Attempt[], slots: number) {
    this.#path = path
    this.#library = library
    this.attempts = attempts
    this.#dispatcher = {
      slots,
      list: () => this.#jobs,
      enqueue: async (request) => {
        this.#jobs.push({ ...request, sourceId: request.sourceId ?? '', endedAt: null })
        expect(this.#jobs.length).toBeLessThanOrEqual(Math.max(1, slots - 1))
      },
    }
  }

  static async open(path: string, attempts: Attempt[], slots = 4): Promise<SimulatedServer> {
    return new SimulatedServer(path, await openSimulated(path), attempts, slots)
  }

  get hasJobs(): boolean {
    return this.#jobs.length > 0
  }

  async runJobs(): Promise<void> {
    for (const { sourceId: id } of this.#jobs.splice(0)) {
      const at = time.now
      // Records a failure as the process of the crawl does.
      const end = await crawl(this.#library, id, 'recrawl').then(
        () => 'completed' as const,
        async (error: unknown) => {
          await noteRefreshProblem(this.#library, id, messageOf(error))
          return 'failed' as const
        },
      )
      this.attempts.push({ id, at, end })
    }
  }

  startDue(): Promise<number> {
    return startDue(this.#library, this.#dispatcher)
  }

  /** Loses the queued jobs, and begins again with what is stored. */
  async killAndRestart(): Promise<void> {
    for (const { sourceId: id } of this.#jobs.splice(0)) this.attempts.push({ id, at: time.now, end: 'killed' })
    await this.#library.close()
    this.#library = await openSimulated(this.#path)
  }
}

/** Lets servers run for some days. */
async function simulate(
  servers: readonly SimulatedServer[],
  days: number,
  onTick: (tick: number) => Promise<void> = async () => undefined,
): Promise<void> {
  for (let tick = 0; tick < (days * DAY) / TICK; tick++) {
    time.now += TICK
    await onTick(tick)
    for (const server of servers) await server.runJobs()
    await Promise.all(servers.map((server) => server.startDue()))
  }
}

/** Pauses between the completed refreshes of a source. */
function pausesOf(attempts: readonly Attempt[], id: string): number[] {
  const times = attempts.filter((one) => one.id === id && one.end === 'completed').map(({ at }) => at)
  return times.slice(1).map((at, i) => at - (times[i] ?? 0))
}

test('two servers refresh every source once per interval for weeks, through kills and restarts', async () => {
  const path = await createLibraryPath()
  const library = await openSimulated(path)
  const often = await addFolder(library, 6 * HOUR)
  const daily = await addFolder(library, DAY)
  const weekly = await addFolder(library, 7 * DAY)
  const never = await addFolder(library, DAY)
  await library.store.updateSource(never.id, { refresh: null })
  const attempts: Attempt[] = []
  const servers = [await SimulatedServer.open(path, attempts), await SimulatedServer.open(path, attempts)]
  const begin = time.now
  let batches = 0
  await simulate(servers, DAYS, async (tick) => {
    // Every fifth batch of jobs is lost with its server.
    for (const server of servers) if (server.hasJobs && ++batches % 5 === 0) await server.killAndRestart()
    if (tick % 61 === 60) for (const server of servers) await server.killAndRestart()
  })
  expect(attempts.some(({ end }) => end === 'killed')).toBe(true)
  expect(attempts.filter(({ end }) => end === 'failed')).toEqual([])
  expect(attempts.filter(({ id }) => id === never.id)).toEqual([])
  for (const [{ id }, everyMs] of [
    [often, 6 * HOUR],
    [daily, DAY],
    [weekly, 7 * DAY],
  ] as const) {
    const pauses = pausesOf(attempts, id)
    expect(Math.min(...pauses)).toBeGreaterThanOrEqual(everyMs)
    // An hour of spread, the ticks, and the delays after two killed attempts.
    expect(Math.max(...pauses)).toBeLessThan(everyMs + HOUR + 4 * TICK + 4 * HOUR)
    // Every refresh is recorded, and nothing else.
    const crawls = (await library.store.listCrawls(id, 1000)).filter(({ kind }) => kind === 'recrawl')
    expect(crawls.map(({ startedAt }) => startedAt).reverse()).toEqual(
      attempts.filter((one) => one.id === id && one.end === 'completed').map(({ at }) => at),
    )
    expect(crawls.every(({ state }) => state === 'completed')).toBe(true)
    expect(pauses.length).toBeGreaterThanOrEqual(Math.floor((time.now - begin) / (everyMs + 7 * HOUR)) - 1)
  }
})

test('a source that fails is tried again after growing delays, and is refreshed as before when it is back', async () => {
  const path = await createLibraryPath()
  const library = await openSimulated(path)
  const { id, folder } = await addFolder(library, DAY)
  const attempts: Attempt[] = []
  const servers = [await SimulatedServer.open(path, attempts)]
  await simulate(servers, 3)
  fs.renameSync(folder, `${folder}.away`)
  closeLater(async () => fs.rmSync(`${folder}.away`, { recursive: true, force: true }))
  await simulate(servers, 5)
  const failed = attempts.filter(({ end }) => end === 'failed').map(({ at }) => at)
  const delays = failed.slice(1).map((at, i) => Math.round((at - (failed[i] ?? 0)) / HOUR))
  expect(delays.length).toBeGreaterThanOrEqual(6)
  expect(delays).toEqual([...delays].sort((a, b) => a - b))
  expect(delays[0]).toBeLessThanOrEqual(2)
  expect(delays.at(-1)).toBeGreaterThanOrEqual(24)
  const [source] = await library.store.listSources()
  expect(source?.refresh).toMatchObject({ attempts: failed.length })
  expect(source?.refresh?.problem).toContain(folder)
  // Errors never delete.
  expect(await library.store.countContent(id)).toMatchObject({ pages: 1 })
  fs.renameSync(`${folder}.away`, folder)
  await simulate(servers, 4)
  expect((await library.store.listSources())[0]?.refresh).toMatchObject({ attempts: 0, problem: null })
  const later = pausesOf(attempts, id).at(-1) ?? 0
  expect(later).toBeGreaterThanOrEqual(DAY)
  expect(later).toBeLessThan(DAY + HOUR + 3 * TICK)
})

test('a clock that is set back by a month causes one refresh at most, and none is forgotten', async () => {
  const path = await createLibraryPath()
  const library = await openSimulated(path)
  const { id } = await addFolder(library, 6 * HOUR)
  const attempts: Attempt[] = []
  const servers = [await SimulatedServer.open(path, attempts)]
  await simulate(servers, 2)
  attempts.length = 0
  time.now -= 30 * DAY
  await simulate(servers, 2)
  const pauses = pausesOf(attempts, id)
  expect(attempts.length).toBeGreaterThanOrEqual(6)
  expect(attempts.length).toBeLessThanOrEqual(9)
  expect(Math.min(...pauses)).toBeGreaterThanOrEqual(6 * HOUR)
  time.now += 60 * DAY
  attempts.length = 0
  await simulate(servers, 1)
  expect(attempts.length).toBeGreaterThanOrEqual(3)
  expect(attempts.length).toBeLessThanOrEqual(5)
})

test('many sources that are due at once are refreshed a few at a time, until none is due', async () => {
  const path = await createLibraryPath()
  const library = await openSimulated(path)
  const all = []
  for (let i = 0; i < 12; i++) all.push(await addFolder(library, DAY))
  time.now += 10 * DAY
  const attempts: Attempt[] = []
  // The dispatcher of the server checks how many run at once.
  const servers = [await SimulatedServer.open(path, attempts)]
  await simulate(servers, 0.5)
  expect(attempts).toHaveLength(all.length)
  expect(new Set(attempts.map(({ id }) => id))).toEqual(new Set(all.map(({ id }) => id)))
})

test('a source that is being crawled is not started', async () => {
  const path = await createLibraryPath()
  const library = await openSimulated(path)
  const { id } = await addFolder(library, DAY)
  const [last] = await library.store.listCrawls(id, 1)
  if (last === undefined) throw new Error('there is no crawl')
  time.now += 2 * DAY
  const running = { ...last, id: 'by hand', state: 'running', startedAt: time.now, heartbeatAt: time.now } as const
  await library.store.beginCrawl({ ...running, endedAt: null, summary: null }, 1000)
  const attempts: Attempt[] = []
  const server = await SimulatedServer.open(path, attempts)
  await server.startDue()
  await server.runJobs()
  expect(attempts).toEqual([])
  await library.store.endCrawl('by hand', null, time.now)
  await server.startDue()
  await server.runJobs()
  expect(attempts).toMatchObject([{ id, end: 'completed' }])
})
