import { randomUUID } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { type EffectiveConfig, libraryDataFolder } from '../../config.ts'
import { messageOf, PharosError, usageError } from '../../core/errors.ts'
import { isPostgres } from '../../core/url/postgres-address.ts'
import type { Clock } from '../../crawl/ports.ts'
import { systemClock } from '../../fetch/clock.ts'
import { createHttp } from '../../http/app.ts'
import type { HttpApp, Log } from '../../http/ports.ts'
import type { BackgroundRuns } from '../../library/jobs/background-runs.ts'
import { createDispatchedJobs } from '../../library/jobs/dispatched-jobs.ts'
import type { Dispatcher } from '../../library/jobs/dispatcher.ts'
import { createFeed } from '../../library/jobs/events/create-feed.ts'
import { LocalDispatcher } from '../../library/jobs/local-dispatcher.ts'
import { recoverImports } from '../../library/jobs/recover-imports.ts'
import { createSharedDispatcher } from '../../library/jobs/shared-dispatcher.ts'
import { waitUpTo } from '../../library/jobs/wait-up-to.ts'
import type { SharedJob } from '../../library/ports/workers.ts'
import { keepRefreshing } from '../../library/refresh/keep-refreshing.ts'
import type { SearchInput } from '../../library/search.ts'
import { createHttpHandler } from '../../mcp/http.ts'
import { createMcp } from '../../mcp/server.ts'
import type { OpenLibrary } from '../../open-library.ts'
import { AnalysisProcessRunner, createSharedAnalysis } from '../../places/index.ts'
import { endKilledCrawl } from '../../processes/end-killed-crawl.ts'
import { openSearchPool } from '../../processes/search-pool.ts'
import type { Config } from '../../settings/settings.ts'
import { VERSION } from '../../version.ts'
import { exportSource } from '../export-source.ts'
import { shownLibrary } from '../library.ts'
import { openPackDownloads } from '../pack-downloads.ts'
import { retryUntilReachable } from '../retry-until-reachable.ts'
import { openSystemProbe } from '../system-probe.ts'
import { createAssets, createLazyAssets, pageFolder } from './assets.ts'
import { listenConfigured } from './listen.ts'
import { type ServedLibrary, serveLibrary } from './serve-library.ts'
import { checkOrigins, listHosts, readToken } from './serve-token.ts'
import { findServer, registerServer, runningError } from './server-registration.ts'
import { warmSearchDuringCrawls } from './warm-search.ts'
import {
  createConfiguredWorker,
  createLazyQueue,
  createVerbRunner,
  type LazyQueue,
  requireWorkers,
} from './worker-setup.ts'

/** A listening server. */
export interface OpenServer {
  /** `http://127.0.0.1:41000` */
  readonly origin: string
  /** The token that requests must carry; null if none is required. */
  readonly token: string | null
  /** Resumes the crawls and the analysis that an earlier server left, and starts the refreshes that are due from then on. */
  start(): Promise<void>
  /** Stops running work so that the next server can resume it, then closes everything else. */
  close(): Promise<void>
}

/** Maximum number of search threads. Each opens the library, and can use about 100 MB with a large one. */
const MAX_SEARCH_THREADS = 4

/** Maximum number of feed events read at once when waiting for crawls to end. */
const MAX_EVENTS = 1000
const NO_LOGS = { logs: false, jobId: null }

/** Opens a server on the configured library: HTTP API, events, dashboard and MCP on one port. */
export async function openServer(config: EffectiveConfig, log: Log): Promise<OpenServer> {
  const { values } = config
  const token = readToken(values)
  checkOrigins(values.allowedOrigins)
  refuseWithoutWorkers(values)
  // A library file has one server; any number can share a library in PostgreSQL.
  const other = isPostgres(values.library) ? undefined : await findServer(values.library)
  if (other !== undefined) throw runningError(shownLibrary(values), other)
  const closers: Closers = []
  const close = () => closeAll(closers, log)
  try {
    const library = await serveLibrary(config, log)
    closers.push(library.close)
    const { dispatcher, analysis } = await (isPostgres(values.library) ? openSharedJobs : openLocalJobs)(
      config,
      library,
      log,
      closers,
    )
    closers.push(embedAfterCrawls(dispatcher, library))
    const app = openApp({ config, token, library, dispatcher, analysis, log, closers })
    const server = await listenConfigured(config, app.fetch, log.warn)
    closers.push(server.close, app.close)
    // Closed first, so that a client that finds the registration also finds a server that responds.
    closers.push(await registerServer(values, server, log))
    const recover = async (): Promise<void> => {
      await Promise.all([dispatcher.recover(), analysis.recover()])
      // In PostgreSQL an interrupted import is not resumed automatically, because only the machine that received the upload has its data.
      if (!isPostgres(values.library)) await recoverImports(await library.open(), dispatcher)
    }
    const start = async (): Promise<void> => {
      await recover()
      // Closed before the dispatcher, so that no refresh is claimed that cannot be started any more.
      closers.push(startRefreshing(dispatcher, library, log))
    }
    return { origin: server.origin, token, start, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** Starts the refreshes that are due, from now on. Returns a function that ends this. */
function startRefreshing(dispatcher: Dispatcher, library: ServedLibrary, log: Log): () => Promise<void> {
  const stop = new AbortController()
  const refreshing = keepRefreshing(
    { library: library.open, dispatcher, clock: systemClock, warn: log.warn },
    stop.signal,
  )
  return () => {
    stop.abort(new PharosError('INTERRUPTED'))
    return refreshing
  }
}

/** Handles API requests in this process, without a server, to queue crawls of a library in PostgreSQL. */
export interface OpenRequestHandler {
  handle(request: Request): Promise<Response>
  close(): Promise<void>
}

/** Opens the request handler. Workers run the crawls that it queues. */
export async function openRequestHandler(config: EffectiveConfig, log: Log): Promise<OpenRequestHandler> {
  const closers: Closers = []
  const configWithoutWorkers = { ...config, values: { ...config.values, workers: 0 } }
  try {
    const library = await serveLibrary(configWithoutWorkers, log)
    closers.push(library.close)
    // Unlike a server, a command can report a failure to open the library.
    const { workers } = await library.open()
    const { dispatcher, analysis } = await openSharedJobs(configWithoutWorkers, library, log, closers)
    const app = openApp({ config: configWithoutWorkers, token: null, library, dispatcher, analysis, log, closers })
    closers.push(app.close)
    await dispatcher.recover()
    const jobs = (await workers?.listJobs(0)) ?? []
    await waitUntilDispatched(dispatcher, jobs)
    return { handle: (request) => app.fetch(request), close: () => closeAll(closers, log) }
  } catch (error) {
    await closeAll(closers, log)
    throw error
  }
}

/**
 * Waits until the dispatcher knows all jobs, so that a second crawl of the same source is refused. Limited in time, because a job that ends
 * meanwhile may never appear.
 */
async function waitUntilDispatched(dispatcher: Dispatcher, jobs: readonly SharedJob[]): Promise<void> {
  const isMissing = () => jobs.some(({ record }) => dispatcher.find(record.id) === undefined)
  for (let waitedMs = 0; waitedMs < JOIN_TIMEOUT_MS && isMissing(); waitedMs += POLL_INTERVAL_MS)
    await systemClock.sleep(POLL_INTERVAL_MS)
}

/** Only the server itself can run the crawls of a library file. */
function refuseWithoutWorkers(values: Config): void {
  if (values.workers > 0 || isPostgres(values.library)) return
  const problem = `${shownLibrary(values)} is a file, and only this server can run its crawls: --workers 0 needs a library in PostgreSQL`
  throw usageError(problem)
}

/** The parts that run jobs and analyses. */
interface JobParts {
  readonly dispatcher: Dispatcher
  readonly analysis: BackgroundRuns
}

/** Functions that close the parts of a server; they run in reverse order. */
type Closers = (() => Promise<void> | void)[]

/** A failure of one part must not keep the others open. */
async function closeAll(closers: Closers, log: Log): Promise<void> {
  for (const end of closers.splice(0).reverse()) {
    try {
      await end()
    } catch (error) {
      log.warn(`while closing: ${messageOf(error)}`)
    }
  }
}

/** For a library file: this server runs all jobs. */
async function openLocalJobs(
  config: EffectiveConfig,
  library: ServedLibrary,
  log: Log,
  closers: Closers,
): Promise<JobParts> {
  const dispatcher = openDispatcher(config, library, log)
  const analysis = openAnalysis(config, library, dispatcher, log)
  closers.push(
    () => dispatcher.close(),
    () => analysis.close(),
  )
  return { dispatcher, analysis }
}

/** For PostgreSQL: workers run the jobs, and this server is one of them unless `workers` is 0. */
async function openSharedJobs(
  config: EffectiveConfig,
  library: ServedLibrary,
  log: Log,
  closers: Closers,
): Promise<JobParts> {
  const queue = createLazyQueue(config, log)
  const feed = createFeed({ epoch: randomUUID().slice(0, 8), clock: systemClock })
  // Uses the clock of the database once it is reachable, because the clocks of machines differ.
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
  closers.push(queue.close, () => dispatcher.close())
  if (config.values.workers > 0) {
    const { started, stop } = startWorker(config, library, queue, log)
    closers.push(stop)
    // Waits until this server has joined as a worker, so that the first crawl finds a free slot, unless the library is unreachable.
    await waitUpTo(systemClock, started, JOIN_TIMEOUT_MS)
  }
  return { dispatcher, analysis: createSharedAnalysis({ library: library.open, queue: queue.open, feed }) }
}

/** Poll interval while waiting for jobs. */
const POLL_INTERVAL_MS = 50
/** Maximum time to wait until this server has joined as a worker, or until the dispatcher knows all jobs. */
const JOIN_TIMEOUT_MS = 5000

/**
 * Starts a worker beside the server as soon as the library is reachable. Returns `started`, which settles when the worker runs or has
 * failed to start, and `stop`.
 */
function startWorker(
  config: EffectiveConfig,
  library: ServedLibrary,
  queue: LazyQueue,
  log: Log,
): { readonly started: Promise<unknown>; stop(): Promise<void> } {
  const stop = new AbortController()
  const started = retryUntilReachable(log, stop.signal, async () => {
    const worker = createConfiguredWorker(config, await library.open(), await queue.open(), { log, isServer: true })
    await worker.start()
    return worker
  }).catch((error: unknown) => {
    if (!stop.signal.aborted) log.warn(`this server cannot run crawls: ${messageOf(error)}`)
    return undefined
  })
  return {
    started,
    async stop() {
      stop.abort(new PharosError('INTERRUPTED'))
      // Running crawls are resumed by another worker, or by this server after a restart.
      await (await started)?.drain(0)
    },
  }
}

function openAnalysis(config: EffectiveConfig, library: ServedLibrary, { feed }: Dispatcher, log: Log): BackgroundRuns {
  return new AnalysisProcessRunner({
    runner: createVerbRunner(config, 'analyze'),
    library: library.open,
    feed,
    clock: systemClock,
    libraryPath: shownLibrary(config.values),
    log,
  })
}

/** Wakes the background work when a crawl ends, so that new chunks are embedded. Returns a function that stops listening. */
function embedAfterCrawls({ feed }: Dispatcher, { wakeBackgroundWork }: ServedLibrary): () => void {
  let after = feed.last
  return feed.listen(() => {
    const { events, upTo } = feed.read(after, NO_LOGS, MAX_EVENTS)
    after = upTo
    if (events.some(({ name }) => name === 'done')) wakeBackgroundWork()
  })
}

function openDispatcher(config: EffectiveConfig, library: ServedLibrary, log: Log): Dispatcher {
  const { values } = config
  return new LocalDispatcher({
    runner: createVerbRunner(config, 'crawl-job'),
    jobLog: library.jobLog,
    feed: createFeed({ epoch: randomUUID().slice(0, 8), clock: systemClock }),
    clock: systemClock,
    newId: randomUUID,
    libraryPath: shownLibrary(values),
    maxJobs: values.maxCrawls,
    maxRequests: values.maxRequests,
    endCrawl: async (...crawl) => endKilledCrawl(await library.open(), ...crawl),
    log,
  })
}

/** The dependencies of the parts of a server. */
interface ServerParts {
  readonly config: EffectiveConfig
  readonly token: string | null
  readonly library: ServedLibrary
  readonly dispatcher: Dispatcher
  readonly analysis: BackgroundRuns
  readonly log: Log
  /** Receives the functions that close the parts. */
  readonly closers: Closers
}

function openApp({ config, token, library, dispatcher, analysis, log, closers }: ServerParts): HttpApp {
  const { values } = config
  const packFolder = join(libraryDataFolder(values.library), 'packs')
  const packs = openPackDownloads(library.open, packFolder)
  const mcp = createMcp({
    version: VERSION,
    openLibrary: createLibraryLender(library.open),
    isLent: true,
    listSourceNames: async () => (await library.open()).store.listSources(),
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
    program: new URL(import.meta.url.replace(/open-server(\.\w+)$/, 'search-worker$1')),
    data: { values },
    size: Math.min(MAX_SEARCH_THREADS, availableParallelism()),
    warn: log.warn,
  })
  const system = openSystemProbe(values.library)
  closers.push(packs.close, mcp.close, handler.close, pool.close, system.close)
  const searchAndRender = async (input: SearchInput) => {
    // Services may be paid for each request.
    const usesServices = values.embedder !== 'built-in' || values.reranker !== 'none'
    const { passages } = await pool.search(usesServices ? { ...input, fusion: 'words' } : input)
    const { renderPassages } = await import('../../http/reader/render-passages.ts')
    await renderPassages(await library.open(), passages)
  }
  closers.push(warmSearchDuringCrawls(dispatcher.feed, searchAndRender))
  return createHttp({
    version: VERSION,
    library: library.open,
    waitForCheck: library.waitForCheck,
    search: pool.search,
    listDuplicates: pool.listDuplicates,
    compareVersions: pool.compareVersions,
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

/** Returns the library with a `close` that does nothing, for callers that must not close it. The same library gives the same object. */
function createLibraryLender(open: () => Promise<OpenLibrary>): () => Promise<OpenLibrary> {
  const lent = new WeakMap<OpenLibrary, OpenLibrary>()
  return async () => {
    const library = await open()
    const lentLibrary = lent.get(library) ?? { ...library, close: async () => undefined }
    lent.set(library, lentLibrary)
    return lentLibrary
  }
}
