import { randomUUID } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { type Config, type EffectiveConfig, folderOf } from '../config.ts'
import { messageOf, PharosError } from '../core/errors.ts'
import { isPostgres } from '../core/url/postgres-address.ts'
import type { Clock } from '../crawl/ports.ts'
import { systemClock } from '../fetch/clock.ts'
import { createHttp } from '../http/app.ts'
import type { HttpApp, Log } from '../http/ports.ts'
import { openSearchPool } from '../jobs/search-pool.ts'
import type { AnalysisRunner } from '../library/dispatch/analysis-runner.ts'
import { createAnalysisRunner } from '../library/dispatch/create-analysis-runner.ts'
import { createDispatcher } from '../library/dispatch/create-dispatcher.ts'
import { createFeed } from '../library/dispatch/create-feed.ts'
import { createSharedAnalysis } from '../library/dispatch/create-shared-analysis.ts'
import { createSharedDispatcher } from '../library/dispatch/create-shared-dispatcher.ts'
import { createDispatchedJobs } from '../library/dispatch/dispatched-jobs.ts'
import type { Dispatcher } from '../library/dispatch/dispatcher.ts'
import { recoverImports } from '../library/dispatch/recover-imports.ts'
import { within } from '../library/dispatch/within.ts'
import type { SharedJob } from '../library/workers.ts'
import { createHttpHandler } from '../mcp/http.ts'
import { createMcp } from '../mcp/server.ts'
import type { OpenLibrary } from '../open-library.ts'
import { VERSION } from '../version.ts'
import { createAssets, createLazyAssets, pageFolder } from './assets.ts'
import { exportSource } from './export-source.ts'
import { shownLibrary } from './library.ts'
import { type Listening, listen, listenAtFirst } from './listen.ts'
import { openPackShelf } from './pack-shelf.ts'
import { type ServedLibrary, serveLibrary } from './serve-library.ts'
import { findServer, readNoteText, removeStale, type ServeNote, writeNote } from './serve-note.ts'
import { checkOrigins, listHosts, readToken } from './serve-token.ts'
import { openSystemProbe } from './system-probe.ts'
import { whenReachable } from './when-reachable.ts'
import {
  createConfiguredWorker,
  createVerbRunner,
  endKilled,
  type LateQueue,
  prepareQueue,
  requireWorkers,
} from './work-open.ts'

/** A server that answers. */
export interface OpenServer {
  /** `http://127.0.0.1:41000` */
  readonly origin: string
  /** What requests have to carry; null when they need nothing. */
  readonly token: string | null
  /** Takes up the crawls, and the analysis, that an earlier server left. */
  recover(): Promise<void>
  /** Ends what runs in such a way that it goes on with the next server, then all the rest. */
  close(): Promise<void>
}

/** Each has the library open, and takes about 100 MB while it is busy with the documentation of PostgreSQL. */
const MOST_SEARCH_THREADS = 4

/** Where a server looks for a port when none is given. */
const PORTS = { first: 41_000, last: 61_000 }

/** What is read of the feed at once, by whoever waits for the ends of crawls. */
const MOST_EVENTS = 1000
const NO_LOGS = { logs: false, jobId: null }

/** Opens a server on the library that is configured: HTTP API, events, dashboard and MCP at one port. */
export async function openServer(config: EffectiveConfig, log: Log): Promise<OpenServer> {
  const { values } = config
  const token = readToken(values)
  checkOrigins(values.allowedOrigins)
  refuseIdle(values)
  // A library in a file has one server; any number share one in PostgreSQL.
  const other = isPostgres(values.library) ? undefined : await findServer(values.library)
  if (other !== undefined) throw runningError(shownLibrary(values), other)
  const closing: Closing = []
  const close = () => closeAll(closing, log)
  try {
    const library = await serveLibrary(config, log)
    closing.push(library.close)
    const { dispatcher, analysis } = await (isPostgres(values.library) ? openShared : openOwn)(
      config,
      library,
      log,
      closing,
    )
    closing.push(tendAfterCrawls(dispatcher, library))
    const app = openApp({ config, token, library, dispatcher, analysis, log, closing })
    const server = await listenConfigured(config, app)
    closing.push(server.close, app.close)
    // The first to go when it closes: whoever finds the note finds a server that answers.
    closing.push(await claim(values, server, log))
    const recover = async (): Promise<void> => {
      await Promise.all([dispatcher.recover(), analysis.recover()])
      // Of a database that several machines work for, only the one that was sent an import can go on with it: by hand.
      if (!isPostgres(values.library)) await recoverImports(await library.open(), dispatcher)
    }
    return { origin: server.origin, token, recover, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** What puts crawls into the queue of a library in PostgreSQL without a server: it is asked as one is, and nobody else can. */
export interface OpenAsking {
  ask(request: Request): Promise<Response>
  close(): Promise<void>
}

/** Opens it. What it takes in is run by workers. */
export async function openAsking(config: EffectiveConfig, log: Log): Promise<OpenAsking> {
  const closing: Closing = []
  const idle = { ...config, values: { ...config.values, workers: 0 } }
  try {
    const library = await serveLibrary(idle, log)
    closing.push(library.close)
    // Unlike a server, it has somebody to tell.
    const { workers } = await library.open()
    const { dispatcher, analysis } = await openShared(idle, library, log, closing)
    const app = openApp({ config: idle, token: null, library, dispatcher, analysis, log, closing })
    closing.push(app.close)
    await dispatcher.recover()
    const jobs = (await workers?.listJobs(0)) ?? []
    await untilKnown(dispatcher, jobs)
    return { ask: (request) => app.fetch(request), close: () => closeAll(closing, log) }
  } catch (error) {
    await closeAll(closing, log)
    throw error
  }
}

/** Waits until jobs are known, so that what is under way is refused. One that ends meanwhile may never be. */
async function untilKnown({ find }: Dispatcher, jobs: readonly SharedJob[]): Promise<void> {
  const isMissing = () => jobs.some(({ record }) => find(record.id) === undefined)
  for (let waitedMs = 0; waitedMs < JOINED_MS && isMissing(); waitedMs += LOOK_MS) await systemClock.sleep(LOOK_MS)
}

/** A library in a file has nobody else. */
function refuseIdle(values: Config): void {
  if (values.workers > 0 || isPostgres(values.library)) return
  const problem = `${shownLibrary(values)} is a file, whose crawls no other process can run: --workers 0 is for a library in PostgreSQL`
  throw new PharosError('USAGE', { problem })
}

/** What runs jobs, and analyses. */
interface JobParts {
  readonly dispatcher: Dispatcher
  readonly analysis: AnalysisRunner
}

/** What ends the parts of a server, the last that was opened first. */
type Closing = (() => Promise<void> | void)[]

/** What one of them fails with must not keep the others open. */
async function closeAll(closing: Closing, log: Log): Promise<void> {
  for (const end of closing.splice(0).reverse()) {
    try {
      await end()
    } catch (error) {
      log.warn(`while closing: ${messageOf(error)}`)
    }
  }
}

/** This server runs all jobs of its library. */
async function openOwn(config: EffectiveConfig, library: ServedLibrary, log: Log, closing: Closing): Promise<JobParts> {
  const dispatcher = openDispatcher(config, library, log)
  const analysis = openAnalysis(config, library, dispatcher, log)
  closing.push(dispatcher.close, analysis.close)
  return { dispatcher, analysis }
}

/** Workers run the jobs of its library; this server is one of them, unless it is not to be. */
async function openShared(
  config: EffectiveConfig,
  library: ServedLibrary,
  log: Log,
  closing: Closing,
): Promise<JobParts> {
  const queue = prepareQueue(config, log)
  const feed = createFeed({ epoch: randomUUID().slice(0, 8), clock: systemClock })
  // That of the library, as soon as it can be asked: clocks of machines differ.
  let now = () => systemClock.now()
  const clock: Clock = { now: () => now(), sleep: systemClock.sleep }
  const dispatcher = createSharedDispatcher({
    ...{ queue: queue.open, feed, clock, newId: randomUUID, jobLog: library.jobLog, log },
    workers: async () => {
      const opened = await library.open()
      now = () => opened.clock.now()
      return requireWorkers(opened)
    },
  })
  closing.push(queue.close, dispatcher.close)
  if (config.values.workers > 0) {
    const { started, stop } = startWorker(config, library, queue, log)
    closing.push(stop)
    // The first crawl that is asked for finds room, unless the library cannot be reached yet.
    await within(systemClock, started, JOINED_MS)
  }
  return { dispatcher, analysis: createSharedAnalysis({ library: library.open, queue: queue.open, feed }) }
}

/** How often is looked whether jobs are known. */
const LOOK_MS = 50
/** How long a server waits until it has joined as a worker before it says where it is. */
const JOINED_MS = 5000

/** Works beside what the server answers, from the moment on when the library can be reached; gives what ends that. */
function startWorker(
  config: EffectiveConfig,
  library: ServedLibrary,
  queue: LateQueue,
  log: Log,
): { readonly started: Promise<unknown>; stop(): Promise<void> } {
  const stop = new AbortController()
  const started = whenReachable(log, stop.signal, async () => {
    const worker = createConfiguredWorker(config, await library.open(), await queue.open(), { log, isServer: true })
    await worker.start()
    return worker
  }).catch((error: unknown) => {
    if (!stop.signal.aborted) log.warn(`this server runs no crawls: ${messageOf(error)}`)
    return undefined
  })
  return {
    started,
    async stop() {
      stop.abort(new PharosError('INTERRUPTED'))
      // What runs goes on with another worker, or with this server when it is started again.
      await (await started)?.drain(0)
    },
  }
}

function openAnalysis(config: EffectiveConfig, library: ServedLibrary, { feed }: Dispatcher, log: Log): AnalysisRunner {
  return createAnalysisRunner({
    runner: createVerbRunner(config, 'analyze'),
    library: library.open,
    feed,
    clock: systemClock,
    libraryPath: shownLibrary(config.values),
    log,
  })
}

/** Has new chunks embedded as soon as the crawl that brought them is over; gives what ends that. */
function tendAfterCrawls({ feed }: Dispatcher, { tend }: ServedLibrary): () => void {
  let after = feed.last
  return feed.listen(() => {
    const { events, upTo } = feed.read(after, NO_LOGS, MOST_EVENTS)
    after = upTo
    if (events.some(({ name }) => name === 'done')) tend()
  })
}

function openDispatcher(config: EffectiveConfig, library: ServedLibrary, log: Log): Dispatcher {
  const { values } = config
  return createDispatcher({
    runner: createVerbRunner(config, 'crawl-job'),
    jobLog: library.jobLog,
    feed: createFeed({ epoch: randomUUID().slice(0, 8), clock: systemClock }),
    clock: systemClock,
    newId: randomUUID,
    libraryPath: shownLibrary(values),
    maxJobs: values.maxCrawls,
    maxRequests: values.maxRequests,
    endCrawl: async (...which) => endKilled(await library.open(), ...which),
    log,
  })
}

/** What the parts of a server are opened with. */
interface Parts {
  readonly config: EffectiveConfig
  readonly token: string | null
  readonly library: ServedLibrary
  readonly dispatcher: Dispatcher
  readonly analysis: AnalysisRunner
  readonly log: Log
  /** What ends them is added here. */
  readonly closing: Closing
}

function openApp({ config, token, library, dispatcher, analysis, log, closing }: Parts): HttpApp {
  const { values } = config
  const packFolder = join(folderOf(values.library), 'packs')
  const packs = openPackShelf(library.open, packFolder)
  const mcp = createMcp({
    version: VERSION,
    openLibrary: createLending(library.open),
    isLent: true,
    nameSources: async () => (await library.open()).store.listSources(),
    openJobs: async (opened) => createDispatchedJobs(dispatcher, opened),
    exportPack: (opened, input) => exportSource(opened, input, packFolder),
  })
  const handler = createHttpHandler({
    createServer: mcp.createServer,
    newId: randomUUID,
    now: Date.now,
  })
  const pool = openSearchPool({
    open: library.open,
    program: new URL(import.meta.url.replace(/serve-open(\.\w+)$/, 'search-worker$1')),
    data: { values },
    size: Math.min(MOST_SEARCH_THREADS, availableParallelism()),
    warn: log.warn,
  })
  const system = openSystemProbe(values.library)
  closing.push(packs.close, mcp.close, handler.close, pool.close, system.close)
  return createHttp({
    version: VERSION,
    library: library.open,
    checked: library.checked,
    search: pool.search,
    listDuplicates: pool.listDuplicates,
    jobLog: library.jobLog,
    dispatcher,
    analysis,
    mcp: handler.fetch,
    readAsset: createAssets(pageFolder('dashboard')),
    readLocal: createLazyAssets(pageFolder('local')),
    system,
    packs,
    log,
    settings: {
      hosts: listHosts(values),
      allowedOrigins: values.allowedOrigins,
      token,
      defaultStartUrl: values.defaultStartUrl || null,
      libraryPath: shownLibrary(values),
      traceStart: values.traceStart,
    },
  })
}

/** Gives the library to somebody who is not the one who closes it: the same object for as long as it is the same. */
function createLending(open: () => Promise<OpenLibrary>): () => Promise<OpenLibrary> {
  const lent = new WeakMap<OpenLibrary, OpenLibrary>()
  return async () => {
    const library = await open()
    const known = lent.get(library) ?? { ...library, close: async () => undefined }
    lent.set(library, known)
    return known
  }
}

function listenConfigured({ values }: EffectiveConfig, app: HttpApp): Promise<Listening> {
  const { host, port } = values
  return port === 0 ? listenAtFirst(app.fetch, PORTS, { host }) : listen(app.fetch, port, { host })
}

/** Says where the server is, for commands that leave a crawl to it; gives what takes that back. */
async function claim(values: Config, { origin }: Listening, log: Log): Promise<() => void> {
  const note = { origin, tokenFile: values.tokenFile || null }
  try {
    return writeNote(values.library, note) ?? (await takeOver(values, note))
  } catch (error) {
    if (error instanceof PharosError) throw error
    // The place may be one that cannot be written for now, and the server is to run all the same.
    log.warn(`commands will not find this server: ${messageOf(error)}`)
    return () => undefined
  }
}

/** Takes the place of a server that left its note behind. */
async function takeOver(values: Config, note: Parameters<typeof writeNote>[1]): Promise<() => void> {
  const { library } = values
  const stale = readNoteText(library)
  const other = await findServer(library)
  // Commands that leave a crawl to a server find the one that was there first, which serves them as well.
  if (other !== undefined && isPostgres(library)) return () => undefined
  if (other !== undefined) throw runningError(shownLibrary(values), other)
  removeStale(library, stale)
  const release = writeNote(library, note)
  if (release === undefined) throw new Error('another server took its place this very moment')
  return release
}

function runningError(library: string, { origin, pid }: ServeNote): PharosError {
  return new PharosError('SERVER_RUNNING', { library, origin, pid })
}
