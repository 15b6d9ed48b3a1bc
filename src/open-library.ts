import { randomUUID } from 'node:crypto'
import { existsSync, realpathSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Grammars } from './core/chunk/code-grammars.ts'
import { PharosError, usageError } from './core/errors.ts'
import { DEFAULT_LIMITS } from './core/limits.ts'
import { PUBLIC_REGISTRIES, type Registries } from './core/url/package-url.ts'
import { findLibraryProblem, isPostgres } from './core/url/postgres-address.ts'
import type { GitAccess } from './core/url/repository-url.ts'
import { withoutUndefined } from './core/without-undefined.ts'
import type { Clock, SiteHeaders } from './crawl/ports.ts'
import { type CrawlLimits, DEFAULT_CRAWL_LIMITS } from './crawl/run.ts'
import { PAGE_KINDS } from './crawl/visit/settle-visit.ts'
import { createOrdinaryWords } from './embed/ordinary-words.ts'
import { type Allowance, parseAllowance } from './fetch/addresses.ts'
import { createClock, systemClock } from './fetch/clock.ts'
import type { HttpFetcher, HttpFetcherOptions } from './fetch/http.ts'
import { parseProxy } from './fetch/parse-proxy.ts'
import { writeUserAgent } from './fetch/user-agent.ts'
import { openKeptImports } from './ingest/kept-imports.ts'
import { nodeSha256 } from './ingest/sha256.ts'
import { openTreeReader } from './ingest/tree-reader.ts'
import type { Library } from './library/library.ts'
import type { Addresses } from './library/ports/addresses.ts'
import type { JobLog } from './library/ports/job-log.ts'
import type { DiskStore, LibraryStore } from './library/ports/library-store.ts'
import type { PackageRegistries, RegistriesOption } from './library/ports/registries.ts'
import type { Embedder } from './library/ports/vectors.ts'
import { type ConnectionOptions, openConnections, refusePasswords } from './open-connections.ts'
import { openPlaces, type Places } from './places/node.ts'
import { createLoadMeter } from './processes/load.ts'
import { createMemory } from './processes/memory.ts'
import { openPageReader } from './processes/page-reader.ts'
import { thisRunner } from './processes/runner.ts'
import type { PostgresStore } from './store/postgres/store.ts'
import { listLibraryFiles } from './store/sqlite/database/library-files.ts'
import { openSqliteStore, type SqliteStore } from './store/sqlite/store.ts'

/** Location of a library, and its access to the network. */
export interface LibraryOptions extends ConnectionOptions {
  /**
   * Path of the SQLite file, which is created if it does not exist, or address of an existing PostgreSQL database, such as
   * `postgres://user:password@host:5432/database`. `:memory:` keeps the library in memory only.
   */
  readonly path: string
  /** Private hosts, addresses or networks that may be fetched; `*` allows all. @default none */
  readonly allowPrivate?: readonly string[]
  /** Version in the User-Agent header. */
  readonly version: string
  /** Address for site owners who want to know who crawls them; part of the User-Agent header. */
  readonly contactUrl?: string
  /**
   * Address of a proxy for all requests, with user name and password if needed. Hosts are still resolved and checked locally. Variables
   * such as HTTP_PROXY are not read. @default none
   */
  readonly proxy?: string
  /** Maximum decoded size of a response. @default 20 MB */
  readonly maxPageBytes?: number
  /** Timeout until the end of the response header, in milliseconds. @default 10 s */
  readonly firstByteTimeoutMs?: number
  /** Timeout until the end of the response. @default 30 s */
  readonly answerTimeoutMs?: number
  /** Maximum size of the response header. @default 64 kB */
  readonly maxHeaderBytes?: number
  readonly limits?: Partial<CrawlLimits>
  /** Larger files in folders are left out. @default 10 MiB */
  readonly maxFileBytes?: number
  /** Absolute paths that are skipped in folders, in addition to the files of the library. @default none */
  readonly exclude?: readonly string[]
  /** Maximum unpacked size of an archive (a quarter of it for the download), and maximum size of a repository. @default 1 GB */
  readonly maxArchiveBytes?: number
  /** Package registries; a custom one may be on a private network. @default the public ones */
  readonly registries?: RegistriesOption
  /** Returns the token for the host of a registry. @default none */
  readonly registryToken?: (host: string) => string | undefined
  /** Headers for sites behind a login, by origin; read on demand and never stored. @default none */
  readonly siteHeaders?: SiteHeaders
  /** What git may use of this machine: environment for programs and keys, and tokens by host. @default nothing */
  readonly git?: GitAccess
  /** Opens the grammars for cutting code. @default those bundled with the program */
  readonly openGrammars?: () => Promise<Grammars>
  /**
   * Whether crawls and servers embed new chunks, so that search finds them by meaning too. Programs that crawl themselves call
   * `embedLibrary`. @default no
   */
  readonly embed?: boolean
  /** Maximum number of threads of the built-in embedding model. @default all processors */
  readonly embedThreads?: number
  /** How long a write waits for the writes of other processes, in milliseconds. @default 30 s */
  readonly patienceMs?: number
  /** How much of `patienceMs` a write may block the whole process before other work continues. @default 250 ms */
  readonly busyMs?: number
  /**
   * Folder for imports while they are being written; only this user can read it. @default beside the file; none for a library in PostgreSQL
   */
  readonly importFolder?: string
  /** Maximum number of connections to a library in PostgreSQL. @default 8 */
  readonly connections?: number
  /** Receives messages for the user: the library is being migrated, or is read from a copy. */
  readonly notice?: (text: string) => void
}

/** Timeout for resolving a host before its crawl begins. */
const RESOLVE_TIMEOUT_MS = 10_000

/** A library that must be closed. */
export interface OpenLibrary extends Omit<Library, keyof Places | keyof DiskStore>, DiskStore, Places {
  readonly jobLog: JobLog
  readonly addresses: Addresses
  close(): Promise<void>
}

/** Opens a library on this machine. Sends no request before an operation needs it. */
export async function openLibrary(options: LibraryOptions): Promise<OpenLibrary> {
  const { path, allowPrivate = [], version, contactUrl, proxy, limits } = options
  const { importFolder = findImportFolder(path) } = options
  const parsed = parseAllowance(allowPrivate)
  if (parsed.type === 'problem') throw usageError(`--allow-private: ${parsed.problem}`)
  if (proxy !== undefined && parseProxy(proxy) === undefined) {
    // The value is not repeated, because it may hold a password.
    const problem = '--proxy: expected an address such as http://user:password@proxy.example:3128'
    throw usageError(problem)
  }
  const { allowance } = parsed
  refusePasswords(options)
  const crawlLimits = { ...DEFAULT_CRAWL_LIMITS, ...limits }
  const userAgent = writeUserAgent(version, contactUrl)
  const store = await openStore(options)
  const places = await openPlaces(store)
  const fetcher = openFetcher(options, { userAgent, allowance, concurrency: crawlLimits.concurrency })
  const reader = openPageReader({ sha256: nodeSha256 })
  const builtInEmbedder = createLazyEmbedder(options)
  const services = openConnections({
    options,
    userAgent,
    allowance,
    proxy,
    maxPageBytes: options.maxPageBytes,
    clock: systemClock,
  })
  const { vectors, copy } = await services.withVectorCopy(store.vectors, store)
  const trees = openTrees(options, reader, { userAgent, allowance })
  return {
    store,
    fetcher,
    checkAddress: async (url) => {
      const { createAddressCheck, systemResolve } = await import('./fetch/address-check.ts')
      return createAddressCheck({ allowance, resolve: systemResolve, timeoutMs: RESOLVE_TIMEOUT_MS })(url)
    },
    readPage: reader.readPage,
    memory: createMemory(reader),
    load: createLoadMeter(),
    clock: clockOf(store),
    kindOf: async ({ sourceId, key }) => PAGE_KINDS[(await store.readClass(sourceId, key)) ?? 'other'],
    sha256: nodeSha256,
    random: Math.random,
    newId: randomUUID,
    runner: thisRunner,
    limits: crawlLimits,
    ...(options.siteHeaders === undefined ? {} : { siteHeaders: options.siteHeaders }),
    trees,
    ...(importFolder === undefined ? {} : { imports: openKeptImports(importFolder) }),
    vectors,
    ...(copy === undefined ? {} : { vectorCopy: copy }),
    jobLog: store.jobLog,
    ...(store.workers === undefined ? {} : { workers: store.workers }),
    addresses: store.addresses,
    readClass: store.readClass,
    readEarlierPages: store.readEarlierPages,
    readEarlierText: store.readEarlierText,
    ...places,
    libraryCopy: store.libraryCopy,
    readOrdinaryWords: createOrdinaryWords(),
    openEmbedder: services.openEmbedder ?? builtInEmbedder.open,
    hasEmbeddingService: services.openEmbedder !== undefined,
    ...(options.embed === undefined ? {} : { embedsNew: options.embed }),
    openReranker: services.openReranker,
    openRenderer: services.openRenderer,
    openCrawl4AI: services.openCrawl4AI,
    async close() {
      await Promise.all([fetcher.close(), reader.close(), trees.close(), builtInEmbedder.close(), services.close()])
      await store.close()
    },
  }
}

/** How requests identify themselves, and which private hosts they may reach. */
interface NetworkAccess {
  readonly userAgent: string
  readonly allowance: Allowance
}

function openFetcher(
  options: LibraryOptions,
  { userAgent, allowance, concurrency }: NetworkAccess & { readonly concurrency: number },
): HttpFetcher {
  return createLazyFetcher(async () => {
    const { openHttpFetcher } = await import('./fetch/http.ts')
    return openHttpFetcher({
      // All visits may go to one origin.
      connectionsPerOrigin: concurrency,
      userAgent,
      allowance,
      ...(options.proxy === undefined ? {} : { proxy: options.proxy }),
      ...fetchLimitsOf(options),
    })
  })
}

function openTrees(
  options: LibraryOptions,
  reader: ReturnType<typeof openPageReader>,
  { userAgent, allowance }: NetworkAccess,
): ReturnType<typeof openTreeReader> {
  const { registries: given = PUBLIC_REGISTRIES } = options
  let reading: Promise<PackageRegistries> | undefined
  // Read once, so that a crawl uses the same registries for all its packages.
  const registries = () => {
    reading ??= typeof given === 'function' ? given() : Promise.resolve(given)
    return reading
  }
  return openTreeReader({
    readPage: reader.readPage,
    readDocument: reader.readDocument,
    openGrammars: options.openGrammars ?? openBundledGrammars,
    maxFileBytes: options.maxFileBytes ?? DEFAULT_LIMITS.maxFileBytes,
    exclude: [...listOwnFiles(options.path), ...(options.exclude ?? [])],
    registries,
    ...withoutUndefined({ maxArchiveBytes: options.maxArchiveBytes, git: options.git }),
    // Loaded with the first download of an archive, package or repository.
    openDownloads: async () => {
      const { openDownloads } = await import('./fetch/download.ts')
      const { customRegistryOrigins } = await import('./ingest/registries.ts')
      const { writeBasic } = await import('./project/clients/client-settings.ts')
      const known = await registries()
      const origins = customRegistryOrigins(known.ofUser ?? known)
      const { registryToken, proxy } = options
      const authorize = (url: URL, type: keyof Registries | undefined) => {
        const token = registryToken?.(url.host) ?? registryToken?.(url.hostname)
        if (token !== undefined) return token.includes(':') ? writeBasic(token) : `Bearer ${token}`
        return type === undefined ? undefined : known.authorize?.(url, type)
      }
      return openDownloads({ userAgent, allowance, origins, proxy, authorize })
    },
  })
}

async function openStore(options: LibraryOptions): Promise<SqliteStore | PostgresStore> {
  const { path, patienceMs, connections } = options
  const expected = findLibraryProblem(path)
  if (expected !== undefined) {
    // The value is not repeated, because it may hold a password.
    throw new PharosError('LIBRARY_UNUSABLE', { library: 'that was named', problem: `expected ${expected}` })
  }
  if (!isPostgres(path)) return openSqliteStore(path, patienceMs, options.notice, options.busyMs)
  // Loaded on demand, because most libraries are files.
  const { openPostgresStore } = await import('./store/postgres/store.ts')
  return openPostgresStore(path, { lockTimeoutMs: patienceMs, connections, runner: thisRunner.id })
}

/** The clock of crawls. A library shared by several machines has its own clock, because theirs may differ. */
function clockOf({ clockOffset }: LibraryStore): Clock {
  if (clockOffset === undefined) return systemClock
  return createClock({ wall: () => Date.now() + clockOffset(), steady: () => performance.now() })
}

/** A fetcher that is opened with its first request, because a search needs no HTTP client. */
function createLazyFetcher(open: () => Promise<HttpFetcher>): HttpFetcher {
  const fetcher = createLazyResource(open)
  return { fetch: async (request) => (await fetcher.open()).fetch(request), close: fetcher.close }
}

/** Something that is opened on first use. */
interface LazyResource<T> {
  /** Returns the same result to all callers. Tries again after a failure. Throws `INTERRUPTED` once closed. */
  open(): Promise<T>
  /** Closes the resource, even while it is being opened. */
  close(): Promise<void>
}

function createLazyResource<T extends { close(): Promise<void> }>(open: () => Promise<T>): LazyResource<T> {
  let opening: Promise<T> | undefined
  let isClosed = false
  const openOnce = async (): Promise<T> => {
    let opened: T | undefined
    try {
      opened = await open()
      return opened
    } finally {
      if (opened === undefined) opening = undefined
    }
  }
  return {
    async open() {
      if (isClosed) throw new PharosError('INTERRUPTED')
      opening ??= openOnce()
      return opening
    },
    async close() {
      isClosed = true
      // A failed opening needs no close.
      await (await opening?.catch(() => undefined))?.close()
    },
  }
}

/** The grammars bundled with the program, loaded on demand. */
async function openBundledGrammars(): Promise<Grammars> {
  const { openBundledGrammars: open } = await import('./ingest/grammars.ts')
  return open()
}

/** The files of a library in a file, also by their real paths, which readers of folders use. */
function listOwnFiles(path: string): string[] {
  if (isPostgres(path)) return []
  return [path, ...(existsSync(path) ? [realpathSync.native(path)] : [])].flatMap(listLibraryFiles)
}

/** Folder for imports of a library in a file. */
function findImportFolder(path: string): string | undefined {
  return isPostgres(path) || path === ':memory:' ? undefined : `${resolve(path)}.imports`
}

/** The fetch limits that were given. */
function fetchLimitsOf(options: LibraryOptions): Partial<HttpFetcherOptions> {
  const { maxPageBytes: maxBytes, firstByteTimeoutMs, answerTimeoutMs, maxHeaderBytes } = options
  const limits = { maxBytes, firstByteTimeoutMs, answerTimeoutMs, maxHeaderBytes }
  return Object.fromEntries(Object.entries(limits).filter(([, limit]) => limit !== undefined))
}

/** The built-in embedding model, loaded on first use. */
function createLazyEmbedder({ embedThreads: threads }: LibraryOptions): LazyResource<Embedder> {
  return createLazyResource(async () => {
    const { openBuiltInEmbedder } = await import('./embed/built-in-embedder.ts')
    return openBuiltInEmbedder(threads === undefined ? {} : { threads })
  })
}
