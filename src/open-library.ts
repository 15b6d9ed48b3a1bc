import { randomUUID } from 'node:crypto'
import { resolve } from 'node:path'
import { NO_PLACES, type PlaceMatcher } from './analysis/matcher.ts'
import type { Grammars } from './core/chunk/code-grammars.ts'
import { PharosError } from './core/errors.ts'
import { DEFAULT_LIMITS } from './core/limits.ts'
import type { PageClass } from './core/model.ts'
import { PUBLIC_REGISTRIES, type Registries } from './core/url/package-url.ts'
import { findMistaken, isPostgres } from './core/url/postgres-address.ts'
import type { GitAccess } from './core/url/repository-url.ts'
import type { Clock, PageKind } from './crawl/ports.ts'
import { type CrawlLimits, DEFAULT_CRAWL_LIMITS } from './crawl/run.ts'
import { createOrdinaryWords } from './embed/ordinary-words.ts'
import { parseAllowance } from './fetch/addresses.ts'
import { createClock, systemClock } from './fetch/clock.ts'
import type { HttpFetcher, HttpFetcherOptions } from './fetch/http.ts'
import { parseProxy } from './fetch/parse-proxy.ts'
import { writeUserAgent } from './fetch/user-agent.ts'
import { openKeptImports } from './ingest/kept-imports.ts'
import { nodeSha256 } from './ingest/sha256.ts'
import { openTreeReader } from './ingest/trees.ts'
import { createLoad } from './jobs/load.ts'
import { createMemory } from './jobs/memory.ts'
import { openPageReader } from './jobs/page-reader.ts'
import { thisRunner } from './jobs/runner.ts'
import type { Addresses } from './library/addresses.ts'
import type { Gazetteer } from './library/gazetteer.ts'
import type { JobLog } from './library/job-log.ts'
import type { Library } from './library/library.ts'
import type { LibraryStore, UnderstandingStore } from './library/library-store.ts'
import type { Embedder } from './library/vectors.ts'
import { type ConnectionOptions, openConnections, refusePasswords } from './open-connections.ts'
import { openSqliteStore } from './store/sqlite/store.ts'

/** Where a library is and how it reaches the world. */
export interface LibraryOptions extends ConnectionOptions {
  /**
   * Path of the SQLite file, which is made when it is absent, or address of a PostgreSQL database that is there, such as
   * `postgres://user:password@host:5432/database`. `:memory:` keeps nothing.
   */
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
  /** Files of folders that are larger are left out. @default 10 MiB */
  readonly maxFileBytes?: number
  /** Absolute paths that are passed over in folders, besides those of the library itself. @default none */
  readonly exclude?: readonly string[]
  /** Most bytes of an archive when it is unpacked, a fourth of that when it is downloaded; most bytes of a repository. @default 1 GB */
  readonly maxArchiveBytes?: number
  /** Where packages come from; the owner's own registries may be private. @default the public ones */
  readonly registries?: Registries
  /** The token for a registry, by its host. @default none */
  readonly registryToken?: (host: string) => string | undefined
  /** What git is lent of this machine: where its programs and keys are, and tokens by host. @default nothing */
  readonly git?: GitAccess
  /** Opens the grammars that code in folders is cut with. @default those that the build put beside the program */
  readonly openGrammars?: () => Promise<Grammars>
  /** Whether what crawls and servers read is embedded by itself, so that it is found by meaning too; programs that crawl by themselves embed with `embedLibrary`. @default no */
  readonly embed?: boolean
  /** Processors that the built-in embedding model may use at once. @default all of them */
  readonly embedThreads?: number
  /** How long a write waits for those of other processes, in milliseconds. @default 30 s */
  readonly patienceMs?: number
  /** How much of that this whole process stands still for before others of its work go on meanwhile. @default 250 ms */
  readonly busyMs?: number
  /**
   * Folder in which imports are kept while they are written; only this user can read it. @default beside the file; for a library in
   * PostgreSQL none are kept
   */
  readonly importFolder?: string
  /** Connections at once to a library in PostgreSQL. @default 8 */
  readonly connections?: number
  /** Told of what whoever uses the library has to know: that it is brought up to date, or read from a copy. */
  readonly notice?: (text: string) => void
}

/** Time to find the addresses of a host before a crawl of it begins. */
const RESOLVE_MS = 10_000

/** A library that must be closed. */
export interface OpenLibrary extends Omit<Library, keyof UnderstandingStore>, UnderstandingStore {
  readonly openPlaces: () => Promise<PlaceMatcher>
  readonly jobLog: JobLog
  readonly addresses: Addresses
  close(): Promise<void>
}

/** Opens a library on this machine. Nothing is fetched until it is asked for. */
export async function openLibrary(options: LibraryOptions): Promise<OpenLibrary> {
  const { path, allowPrivate = [], version, contactUrl, proxy, limits } = options
  const { importFolder = findImportFolder(path) } = options
  const parsed = parseAllowance(allowPrivate)
  if (parsed.type === 'problem') throw new PharosError('USAGE', { problem: `--allow-private: ${parsed.problem}` })
  if (proxy !== undefined && parseProxy(proxy) === undefined) {
    // Not repeated: it may hold a password.
    const problem = '--proxy: expected an address such as http://user:password@proxy.example:3128'
    throw new PharosError('USAGE', { problem })
  }
  refusePasswords(options)
  const crawlLimits = { ...DEFAULT_CRAWL_LIMITS, ...limits }
  const userAgent = writeUserAgent(version, contactUrl)
  const store = await openStore(options)
  const fetcher = createLateFetcher(async () => {
    const { openHttpFetcher } = await import('./fetch/http.ts')
    return openHttpFetcher({
      // Every visit may be to one origin.
      connectionsPerOrigin: crawlLimits.concurrency,
      userAgent,
      allowance: parsed.allowance,
      ...(proxy === undefined ? {} : { proxy }),
      ...fetchLimitsOf(options),
    })
  })
  const reader = openPageReader({ sha256: nodeSha256 })
  const embedders = createEmbedders(options)
  const services = openConnections({
    options,
    userAgent,
    allowance: parsed.allowance,
    proxy,
    maxPageBytes: options.maxPageBytes,
    clock: systemClock,
  })
  const { vectors, copy } = await services.withCopy(store.vectors, store)
  const trees = openTreeReader({
    readPage: reader.readPage,
    readDocument: reader.readDocument,
    openGrammars: options.openGrammars ?? openBundledGrammars,
    maxFileBytes: options.maxFileBytes ?? DEFAULT_LIMITS.maxFileBytes,
    exclude: [...listLibraryFiles(path), ...(options.exclude ?? [])],
    ...(options.maxArchiveBytes === undefined ? {} : { maxArchiveBytes: options.maxArchiveBytes }),
    ...(options.registries === undefined ? {} : { registries: options.registries }),
    ...(options.git === undefined ? {} : { git: options.git }),
    // Loaded with the first archive, package or repository that is downloaded.
    openDownloads: async () => {
      const { openDownloads } = await import('./fetch/download.ts')
      const { ownOrigins } = await import('./ingest/registries.ts')
      const origins = ownOrigins(options.registries ?? PUBLIC_REGISTRIES)
      const { registryToken: tokenFor } = options
      const tokens = tokenFor === undefined ? {} : { tokenFor }
      return openDownloads({ userAgent, allowance: parsed.allowance, origins, proxy, ...tokens })
    },
  })
  return {
    store,
    fetcher,
    checkAddress: async (url) => {
      const { createAddressCheck, systemResolve } = await import('./fetch/address-check.ts')
      return createAddressCheck({ allowance: parsed.allowance, resolve: systemResolve, timeoutMs: RESOLVE_MS })(url)
    },
    readPage: reader.readPage,
    memory: createMemory(reader),
    load: createLoad(),
    clock: clockOf(store),
    kindOf: async ({ sourceId, key }) => KINDS[(await store.analyses.readClass(sourceId, key)) ?? 'other'],
    sha256: nodeSha256,
    random: Math.random,
    newId: randomUUID,
    runner: thisRunner,
    limits: crawlLimits,
    trees,
    ...(importFolder === undefined ? {} : { imports: openKeptImports(importFolder) }),
    vectors,
    ...(copy === undefined ? {} : { vectorCopy: copy }),
    jobLog: store.jobLog,
    ...(store.workers === undefined ? {} : { workers: store.workers }),
    addresses: store.addresses,
    gazetteer: store.gazetteer,
    analyses: store.analyses,
    placeHubs: store.placeHubs,
    planMemory: store.planMemory,
    holdings: store.holdings,
    openPlaces: createPlaces(store.gazetteer),
    readOrdinaryWords: createOrdinaryWords(),
    openEmbedder: services.openEmbedder ?? embedders.open,
    wantsVectors: services.openEmbedder !== undefined,
    ...(options.embed === undefined ? {} : { embedsNew: options.embed }),
    openReranker: services.openReranker,
    openRenderer: services.openRenderer,
    openCrawl4AI: services.openCrawl4AI,
    async close() {
      await Promise.all([fetcher.close(), reader.close(), trees.close(), embedders.close(), services.close()])
      await store.close()
    },
  }
}

/** Opens the store of a library where it is kept. */
async function openStore(options: LibraryOptions): Promise<LibraryStore & UnderstandingStore> {
  const { path, patienceMs, connections } = options
  const mistaken = findMistaken(path)
  if (mistaken !== undefined) {
    // Not repeated: it may hold a password.
    throw new PharosError('LIBRARY_UNUSABLE', { library: 'that was named', problem: `expected ${mistaken}` })
  }
  if (!isPostgres(path)) return openSqliteStore(path, patienceMs, options.notice, options.busyMs)
  // Loaded when it is needed: most libraries are files.
  const { openPostgresStore } = await import('./store/postgres/store.ts')
  return openPostgresStore(path, { patienceMs, connections, runner: thisRunner.id })
}

/** The clock that crawls go by: of a library that several machines use it is its own, because theirs may differ. */
function clockOf({ clockOffset }: LibraryStore): Clock {
  if (clockOffset === undefined) return systemClock
  return createClock({ wall: () => Date.now() + clockOffset(), steady: () => performance.now() })
}

/** How pages of a class age. */
const KINDS: Readonly<Record<PageClass, PageKind>> = { article: 'article', nav: 'hub', other: 'unknown' }

/**
 * Reads the names of the gazetteer when they are first needed, and again when they have changed. A form of another version, or a
 * damaged one, is written anew; where that cannot be, nothing is found, which is not tried again before the gazetteer changes.
 */
function createPlaces(gazetteer: Gazetteer): () => Promise<PlaceMatcher> {
  let opened: { readonly of: string; readonly places: PlaceMatcher } = { of: '', places: NO_PLACES }
  return async () => {
    const revision = await gazetteer.revision()
    if (opened.of === revision) return opened.places
    let places = await readNames(gazetteer)
    if (places === undefined) {
      // A library that can only be read stays as it is.
      await gazetteer.indexNames().catch(() => undefined)
      places = await readNames(gazetteer)
    }
    opened = { of: await gazetteer.revision(), places: places ?? NO_PLACES }
    return opened.places
  }
}

/** The names as they are kept; undefined where they cannot be read. */
async function readNames(gazetteer: Gazetteer): Promise<PlaceMatcher | undefined> {
  const index = await gazetteer.readIndex()
  if (index === undefined) return undefined
  // Loaded with the first names: whoever has none, or only searches, has no use for what finds them in texts.
  const { openPlaceMatcher } = await import('./analysis/open-matcher.ts')
  try {
    const places = openPlaceMatcher(index)
    return places.revision === '' ? undefined : places
  } catch {
    return undefined
  }
}

/** A fetcher that is opened with its first request: whoever only searches has no use for an HTTP client. */
function createLateFetcher(open: () => Promise<HttpFetcher>): HttpFetcher {
  const late = openLate(open)
  return { fetch: async (request) => (await late.open()).fetch(request), close: late.close }
}

/** Something that is opened when it is first needed. */
interface Late<T> {
  /** The same for all who ask. Where opening failed it is tried again. Refused with `INTERRUPTED` once it is closed. */
  open(): Promise<T>
  /** Closes it, also what is still being opened. */
  close(): Promise<void>
}

function openLate<T extends { close(): Promise<void> }>(open: () => Promise<T>): Late<T> {
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
      // What fails to open needs no end.
      await (await opening?.catch(() => undefined))?.close()
    },
  }
}

/** The grammars that the build put beside the program, loaded when they are needed. */
async function openBundledGrammars(): Promise<Grammars> {
  const { openBundledGrammars: open } = await import('./ingest/grammars.ts')
  return open()
}

/** Where a library in a file keeps what is being imported. */
function findImportFolder(path: string): string | undefined {
  return isPostgres(path) || path === ':memory:' ? undefined : `${resolve(path)}.imports`
}

/** The files that a library is kept in: a folder that is indexed may hold them. */
function listLibraryFiles(path: string): string[] {
  if (isPostgres(path)) return []
  return ['', '-wal', '-shm', '-journal', '.failed.jsonl', '.failed.jsonl.1', '.imports'].map(
    (ending) => resolve(path) + ending,
  )
}

/** The limits of the fetcher that were given. */
function fetchLimitsOf(options: LibraryOptions): Partial<HttpFetcherOptions> {
  const { maxPageBytes: maxBytes, firstByteTimeoutMs, answerTimeoutMs, maxHeaderBytes } = options
  const limits = { maxBytes, firstByteTimeoutMs, answerTimeoutMs, maxHeaderBytes }
  return Object.fromEntries(Object.entries(limits).filter(([, limit]) => limit !== undefined))
}

/** The built-in embedding model, whose code is loaded when it is first asked for. */
function createEmbedders({ embedThreads: threads }: LibraryOptions): Late<Embedder> {
  return openLate(async () => {
    const { openBuiltInEmbedder } = await import('./embed/built-in-embedder.ts')
    return openBuiltInEmbedder(threads === undefined ? {} : { threads })
  })
}
