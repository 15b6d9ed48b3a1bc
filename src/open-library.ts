import { randomUUID } from 'node:crypto'
import { PharosError } from './core/errors.ts'
import { type CrawlLimits, DEFAULT_CRAWL_LIMITS } from './crawl/run.ts'
import { parseAllowance } from './fetch/addresses.ts'
import { systemClock } from './fetch/clock.ts'
import { openHttpFetcher, writeUserAgent } from './fetch/http.ts'
import { nodeSha256 } from './ingest/sha256.ts'
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
  /** Most decoded bytes of an answer. @default 20 MB */
  readonly maxPageBytes?: number
  readonly limits?: Partial<CrawlLimits>
}

/** A library that must be closed. */
export interface OpenLibrary extends Library {
  close(): Promise<void>
}

/** Opens a library on this machine. Nothing is fetched until it is asked for. */
export async function openLibrary(options: LibraryOptions): Promise<OpenLibrary> {
  const { path, allowPrivate = [], version, contactUrl, maxPageBytes, limits } = options
  const parsed = parseAllowance(allowPrivate)
  if (parsed.type === 'problem') throw new PharosError('USAGE', { problem: `--allow-private: ${parsed.problem}` })
  const crawlLimits = { ...DEFAULT_CRAWL_LIMITS, ...limits }
  const store = await openSqliteStore(path)
  const fetcher = openHttpFetcher({
    // Every visit may be to one origin.
    connectionsPerOrigin: crawlLimits.concurrency,
    userAgent: contactUrl === undefined ? `Pharos/${version}` : writeUserAgent(version, contactUrl),
    allowance: parsed.allowance,
    ...(maxPageBytes === undefined ? {} : { maxBytes: maxPageBytes }),
  })
  const reader = openPageReader({ sha256: nodeSha256 })
  return {
    store,
    fetcher,
    readPage: reader.readPage,
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
