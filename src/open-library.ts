import { randomUUID } from 'node:crypto'
import { PharosError } from './core/errors.ts'
import { type CrawlLimits, DEFAULT_CRAWL_LIMITS } from './crawl/run.ts'
import { parseAllowance } from './fetch/addresses.ts'
import { systemClock } from './fetch/clock.ts'
import { type HttpFetcherOptions, openHttpFetcher, writeUserAgent } from './fetch/http.ts'
import { parseProxy } from './fetch/proxy.ts'
import { nodeSha256 } from './ingest/sha256.ts'
import { createMemory } from './jobs/memory.ts'
import { openPageReader } from './jobs/page-reader.ts'
import { thisRunner } from './jobs/runner.ts'
import type { Library } from './library/library.ts'
import { openSqliteStore } from './store/sqlite/store.ts'

/** Where a library is and how it reaches the world. */
export interface LibraryOptions {
  /** Path of the SQLite file; created when absent. `:memory:` keeps nothing. */
  readonly path: string
  /** Private hosts, addresses or networks that may be fetched; `*` allows all. @default none */
  readonly allowPrivate?: readonly string[]
  /** Version named to the sites that are fetched. */
  readonly version: string
  /** Address where those sites learn who crawls them; named to them too. */
  readonly contactUrl?: string
  /**
   * Address of a proxy that everything is fetched through, with user name and password if it wants them. Hosts are resolved and
   * checked here all the same. Variables such as HTTP_PROXY are not read. @default none
   */
  readonly proxy?: string
  /** Most decoded bytes of an answer. @default 20 MB */
  readonly maxPageBytes?: number
  /** Time to the end of the header of an answer, in milliseconds. @default 10 s */
  readonly firstByteTimeoutMs?: number
  /** Time to its end. @default 30 s */
  readonly answerTimeoutMs?: number
  /** Most bytes of its header. @default 64 kB */
  readonly maxHeaderBytes?: number
  readonly limits?: Partial<CrawlLimits>
  /** How long a write waits for those of other processes, in milliseconds. @default 30 s */
  readonly patienceMs?: number
}

/** A library that must be closed. */
export interface OpenLibrary extends Library {
  close(): Promise<void>
}

/** Opens a library on this machine. Nothing is fetched until it is asked for. */
export async function openLibrary(options: LibraryOptions): Promise<OpenLibrary> {
  const { path, allowPrivate = [], version, contactUrl, proxy, limits } = options
  const parsed = parseAllowance(allowPrivate)
  if (parsed.type === 'problem') throw new PharosError('USAGE', { problem: `--allow-private: ${parsed.problem}` })
  if (proxy !== undefined && parseProxy(proxy) === undefined) {
    // Not repeated: it may hold a password.
    const problem = '--proxy: expected an address such as http://user:password@proxy.example:3128'
    throw new PharosError('USAGE', { problem })
  }
  const crawlLimits = { ...DEFAULT_CRAWL_LIMITS, ...limits }
  const store = await openSqliteStore(path, options.patienceMs)
  const fetcher = openHttpFetcher({
    // Every visit may be to one origin.
    connectionsPerOrigin: crawlLimits.concurrency,
    userAgent: contactUrl === undefined ? `Pharos/${version}` : writeUserAgent(version, contactUrl),
    allowance: parsed.allowance,
    ...(proxy === undefined ? {} : { proxy }),
    ...fetchLimitsOf(options),
  })
  const reader = openPageReader({ sha256: nodeSha256 })
  return {
    store,
    fetcher,
    readPage: reader.readPage,
    memory: createMemory(reader),
    clock: systemClock,
    // Pages are not classified yet.
    kindOf: async () => 'unknown',
    sha256: nodeSha256,
    random: Math.random,
    newId: randomUUID,
    runner: thisRunner,
    limits: crawlLimits,
    async close() {
      await Promise.all([fetcher.close(), reader.close()])
      await store.close()
    },
  }
}

/** The limits of the fetcher that were given. */
function fetchLimitsOf(options: LibraryOptions): Partial<HttpFetcherOptions> {
  const { maxPageBytes: maxBytes, firstByteTimeoutMs, answerTimeoutMs, maxHeaderBytes } = options
  const limits = { maxBytes, firstByteTimeoutMs, answerTimeoutMs, maxHeaderBytes }
  return Object.fromEntries(Object.entries(limits).filter(([, limit]) => limit !== undefined))
}
