import { randomUUID } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { dirname, join } from 'node:path'
import { type EffectiveConfig, writeEnvironment } from '../config.ts'
import { PharosError } from '../core/errors.ts'
import { systemClock } from '../fetch/clock.ts'
import { createHttp } from '../http/app.ts'
import type { HttpApp, Log } from '../http/ports.ts'
import { openSearchPool } from '../jobs/search-pool.ts'
import { createSpawnRunner } from '../jobs/spawn-crawl.ts'
import type { AnalysisRunner } from '../library/dispatch/analysis-runner.ts'
import { createAnalysisRunner } from '../library/dispatch/create-analysis-runner.ts'
import { createDispatcher } from '../library/dispatch/create-dispatcher.ts'
import { createFeed } from '../library/dispatch/create-feed.ts'
import { createDispatchedJobs } from '../library/dispatch/dispatched-jobs.ts'
import type { Dispatcher } from '../library/dispatch/dispatcher.ts'
import type { CrawlRunner } from '../library/dispatch/runner.ts'
import { createHttpHandler } from '../mcp/http.ts'
import { createMcp } from '../mcp/server.ts'
import type { OpenLibrary } from '../open-library.ts'
import { VERSION } from '../version.ts'
import { createAssets, createLazyAssets, pageFolder } from './assets.ts'
import { exportSource } from './export-source.ts'
import { type Listening, listen, listenAtFirst } from './listen.ts'
import { openPackShelf } from './pack-shelf.ts'
import { type ServedLibrary, serveLibrary } from './serve-library.ts'
import { findServer, readNoteText, removeStale, type ServeNote, writeNote } from './serve-note.ts'
import { checkOrigins, listHosts, readToken } from './serve-token.ts'
import { createSystemProbe } from './system-probe.ts'

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

/** So many of the last crawls of a source are looked through for one whose process was killed. */
const LOOKED_BACK = 10

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
  const other = await findServer(values.library)
  if (other !== undefined) throw runningError(values.library, other)
  const closing: (() => Promise<void> | void)[] = []
  const close = async (): Promise<void> => {
    // The last that was opened first. What one of them fails with must not keep the others open.
    for (const end of closing.splice(0).reverse()) {
      try {
        await end()
      } catch (error) {
        log.warn(`while closing: ${String(error)}`)
      }
    }
  }
  try {
    const library = await serveLibrary(config, log)
    closing.push(library.close)
    const dispatcher = openDispatcher(config, library, log)
    closing.push(dispatcher.close, tendAfterCrawls(dispatcher, library))
    const analysis = openAnalysis(config, library, dispatcher, log)
    closing.push(analysis.close)
    const app = openApp({ config, token, library, dispatcher, analysis, log, closing })
    const server = await listenConfigured(config, app)
    closing.push(server.close, app.close)
    // The first to go when it closes: whoever finds the note finds a server that answers.
    closing.push(await claim(values.library, server, values.tokenFile || null, log))
    const recover = async (): Promise<void> => {
      await Promise.all([dispatcher.recover(), analysis.recover()])
    }
    return { origin: server.origin, token, recover, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** Starts the same program as this one, with another verb. */
function createVerbRunner({ values }: EffectiveConfig, verb: string): CrawlRunner {
  return createSpawnRunner({
    command: process.execPath,
    args: [...process.execArgv, process.argv[1] ?? '', verb],
    env: writeEnvironment(values),
  })
}

function openAnalysis(config: EffectiveConfig, library: ServedLibrary, { feed }: Dispatcher, log: Log): AnalysisRunner {
  return createAnalysisRunner({
    runner: createVerbRunner(config, 'analyze'),
    library: library.open,
    feed,
    clock: systemClock,
    libraryPath: config.values.library,
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
    libraryPath: values.library,
    maxJobs: values.maxCrawls,
    maxRequests: values.maxRequests,
    endCrawl: (sourceId, crawlId) => endKilled(library, sourceId, crawlId),
    log,
  })
}

/** Ends a crawl whose process is gone without having done so. One that another process goes on with is left alone. */
async function endKilled(library: ServedLibrary, sourceId: string, crawlId: string): Promise<void> {
  const { store } = await library.open()
  const found = (await store.listCrawls(sourceId, LOOKED_BACK)).find(({ id }) => id === crawlId)
  if (found?.state === 'running') await store.endCrawl(crawlId, null, Date.now(), found.runner ?? undefined)
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
  readonly closing: (() => Promise<void> | void)[]
}

function openApp({ config, token, library, dispatcher, analysis, log, closing }: Parts): HttpApp {
  const { values } = config
  const packFolder = join(dirname(values.library), 'packs')
  const packs = openPackShelf(library.open, packFolder)
  const mcp = createMcp({
    version: VERSION,
    openLibrary: createLending(library.open),
    isLent: true,
    openJobs: async (opened) => createDispatchedJobs(dispatcher, opened),
    exportPack: (opened, input) => exportSource(opened, input, packFolder),
  })
  const handler = createHttpHandler({
    createServer: mcp.createServer,
    newId: randomUUID,
    now: Date.now,
    isChecked: true,
  })
  const pool = openSearchPool({
    open: library.open,
    program: new URL(import.meta.url.replace(/serve-open(\.\w+)$/, 'search-worker$1')),
    data: { values },
    size: Math.min(MOST_SEARCH_THREADS, availableParallelism()),
    warn: log.warn,
  })
  closing.push(packs.close, mcp.close, handler.close, pool.close)
  return createHttp({
    version: VERSION,
    library: library.open,
    search: pool.search,
    jobLog: library.jobLog,
    dispatcher,
    analysis,
    mcp: handler.fetch,
    readAsset: createAssets(pageFolder('dashboard')),
    readLocal: createLazyAssets(pageFolder('local')),
    system: createSystemProbe(values.library),
    packs,
    log,
    settings: {
      hosts: listHosts(values),
      allowedOrigins: values.allowedOrigins,
      token,
      defaultStartUrl: values.defaultStartUrl || null,
      libraryPath: values.library,
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
async function claim(library: string, { origin }: Listening, tokenFile: string | null, log: Log): Promise<() => void> {
  const note = { origin, tokenFile }
  try {
    return writeNote(library, note) ?? (await takeOver(library, note))
  } catch (error) {
    if (error instanceof PharosError) throw error
    // The place may be one that cannot be written for now, and the server is to run all the same.
    log.warn(`commands will not find this server: ${error instanceof Error ? error.message : String(error)}`)
    return () => undefined
  }
}

/** Takes the place of a server that left its note behind. */
async function takeOver(library: string, note: Parameters<typeof writeNote>[1]): Promise<() => void> {
  const stale = readNoteText(library)
  const other = await findServer(library)
  if (other !== undefined) throw runningError(library, other)
  removeStale(library, stale)
  const release = writeNote(library, note)
  if (release === undefined) throw new Error('another server took its place this very moment')
  return release
}

function runningError(library: string, { origin, pid }: ServeNote): PharosError {
  return new PharosError('SERVER_RUNNING', { library, origin, pid })
}
