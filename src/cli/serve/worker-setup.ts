import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { type EffectiveConfig, writeEnvironment } from '../../config.ts'
import { PharosError } from '../../core/errors.ts'
import type { Log } from '../../http/ports.ts'
import type { WorkQueue } from '../../library/jobs/queue.ts'
import type { CrawlRunner } from '../../library/jobs/runner.ts'
import { type EndedCrawl, Worker } from '../../library/jobs/worker.ts'
import type { Library } from '../../library/library.ts'
import type { Workers } from '../../library/ports/workers.ts'
import type { OpenLibrary } from '../../open-library.ts'
import { AnalysisProcessRunner } from '../../places/index.ts'
import { endKilledCrawl, MAX_RECENT_CRAWLS } from '../../processes/end-killed-crawl.ts'
import { runnerIdOf } from '../../processes/runner.ts'
import { createSpawnRunner } from '../../processes/spawn-crawl.ts'
import type { Config } from '../../settings/settings.ts'
import { VERSION } from '../../version.ts'
import { findFailure } from '../crawl-failure.ts'
import { createHintFor, shownLibrary } from '../library.ts'

/** Creates a runner that starts this program with another command. */
export function createVerbRunner({ values }: EffectiveConfig, verb: string): CrawlRunner {
  return createSpawnRunner({
    command: process.execPath,
    args: [...process.execArgv, process.argv[1] ?? '', verb],
    env: writeEnvironment(values),
  })
}

/** The result of a crawl; undefined if it is still running or was stopped. */
export async function findCrawlResult(
  config: EffectiveConfig,
  library: Library,
  sourceId: string,
  crawlId: string,
): Promise<EndedCrawl | undefined> {
  const { store } = library
  const found = (await store.listCrawls(sourceId, MAX_RECENT_CRAWLS)).find(({ id }) => id === crawlId)
  const source = (await store.listSources()).find(({ id }) => id === sourceId)
  const summary = found?.summary
  if (summary == null || summary.end === 'cancelled' || found?.state === 'running' || source === undefined)
    return undefined
  const { pages } = await store.countContent(sourceId)
  const hint = await createHintFor(config, source)
  const { signal } = new AbortController()
  const failure = findFailure({ library, signal }, { source, summary, pages }, undefined, hint)
  return { summary, problem: failure?.message ?? null }
}

/** The queue of a library in PostgreSQL. It is opened on first use, and after a failure the next use tries again. */
export interface LazyQueue {
  open(): Promise<WorkQueue>
  close(): Promise<void>
}

/** Prepares the queue without connecting. */
export function createLazyQueue({ values }: EffectiveConfig, log: Log): LazyQueue {
  let opened: Promise<WorkQueue> | undefined
  let isClosed = false
  const connect = async (): Promise<WorkQueue> => {
    // Loaded on demand, because most libraries are files.
    const { openQueue } = await import('../../processes/open-queue.ts')
    const { parseConnectionAddress } = await import('../../store/postgres/database/connection-address.ts')
    const { explainFailure } = await import('../../store/postgres/database/failures.ts')
    const connection = parseConnectionAddress(values.library)
    try {
      return await openQueue({ ...connection, warn: createThrottledWarner(log) })
    } catch (error) {
      throw explainFailure(error, connection.location)
    }
  }
  return {
    open() {
      if (isClosed) throw new PharosError('INTERRUPTED')
      opened ??= connect().catch((error: unknown) => {
        opened = undefined
        throw error
      })
      return opened
    },
    async close() {
      isClosed = true
      await (await opened?.catch(() => undefined))?.close()
    },
  }
}

/** At most one failure of the queue is logged in this time. */
const WARN_INTERVAL_MS = 60_000

function createThrottledWarner(log: Log): (message: string) => void {
  let warnedAt = Number.NEGATIVE_INFINITY
  return (message) => {
    if (performance.now() - warnedAt < WARN_INTERVAL_MS) return
    warnedAt = performance.now()
    log.warn(`the job queue failed; retrying: ${message}`)
  }
}

/** The workers of a shared library; throws for a library file. */
export function requireWorkers({ workers }: Pick<Library, 'workers'>): Workers {
  if (workers === undefined) throw new TypeError('Expected a library that many processes share, got one in a file')
  return workers
}

/** Creates a worker in this process, as configured. */
export function createConfiguredWorker(
  config: EffectiveConfig,
  library: OpenLibrary,
  queue: WorkQueue,
  { log, isServer }: { readonly log: Log; readonly isServer: boolean },
): Worker {
  const { values } = config
  const libraryPath = shownLibrary(values)
  const { clock } = library
  return new Worker({
    workers: requireWorkers(library),
    queue,
    identity: {
      ...{ id: randomUUID(), name: `${hostname()}/${process.pid}`, version: VERSION, isServer },
      slots: values.maxCrawls,
    },
    // The crawls of a worker share its limit of concurrent hosts.
    runner: createVerbRunner({ ...config, values: { ...values, hosts: hostsPerCrawl(values) } }, 'crawl-job'),
    runnerOf: runnerIdOf,
    clock,
    newId: randomUUID,
    libraryPath,
    maxRequests: values.maxRequests,
    endCrawl: (...crawl) => endKilledCrawl(library, ...crawl),
    findEndedCrawl: (...crawl) => findCrawlResult(config, library, ...crawl),
    openAnalysis: (feed) =>
      new AnalysisProcessRunner({
        runner: createVerbRunner(config, 'analyze'),
        library: async () => library,
        ...{ feed, clock, libraryPath, log },
      }),
    listSharable: async () => (await library.store.listSharable?.(clock.now())) ?? [],
    random: Math.random,
    // A server embeds new chunks by itself.
    ...(isServer ? {} : { embed: (signal) => embed(library, signal) }),
    log,
  })
}

/** The number of hosts that each crawl of a worker may request concurrently. */
export function hostsPerCrawl({ hosts, maxCrawls }: Pick<Config, 'hosts' | 'maxCrawls'>): number {
  return Math.max(1, Math.floor(hosts / maxCrawls))
}

async function embed(library: Library, signal: AbortSignal): Promise<void> {
  await library.store.indexMissingChunks(signal)
  const { embedBacklog } = await import('../../library/embed/background-embedding.ts')
  await embedBacklog(library, signal)
}
