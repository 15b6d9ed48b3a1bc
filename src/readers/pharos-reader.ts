import { PharosError } from '../core/errors.ts'
import { hideCredentials } from '../core/url/credentials.ts'
import { RENDERINGS } from '../crawl/ports.ts'
import { createUrlFetcher, type FetchUrlOptions } from '../library/crawl/fetch-url.ts'
import type { Library } from '../library/library.ts'
import { findSource } from '../library/sources/find-source.ts'
import { type LibraryOptions, openLibrary } from '../open-library.ts'
import { VERSION } from '../version.ts'
import { checkOptions, checkUrls, createClosedError, kindOfAll, type OptionKind } from './check-options.ts'
import type { ReaderDocument, ReadFailure } from './document.ts'
import type { DocumentReader } from './document-reader.ts'
import { loadBatch } from './load-batch.ts'
import { createPageDocument } from './page-document.ts'

/** Options for reading URLs, as opposed to opening the library. */
interface ReadingOptions extends Pick<FetchUrlOptions, 'headers' | 'obeysRobots' | 'render'> {
  /** Whether the first failed URL rejects the whole call. @default false */
  readonly failOnError?: boolean
  /** URLs read at the same time, from 1 to 20; the request rate per host still applies. @default 5 */
  readonly maxConcurrentRequests?: number
}

/** Options for reading without any service. */
export interface PharosReaderOptions extends ReadingOptions, Partial<Omit<LibraryOptions, 'path'>> {
  /** Library whose request rate, robots rules and browser are used; the reader does not close it. @default its own in-memory library */
  readonly library?: Library
}

/** Reads web pages without any service: from public addresses only, at the rate that hosts allow, obeying robots.txt. */
export interface PharosReader extends DocumentReader {
  readonly className: 'PharosReader'
}

const KINDS: Readonly<Record<keyof PharosReaderOptions, OptionKind>> = {
  ...kindOfAll('a text', 'version', 'contactUrl', 'proxy', 'importFolder'),
  ...kindOfAll('a list of texts', 'allowPrivate', 'exclude'),
  ...kindOfAll('true or false', 'failOnError', 'obeysRobots', 'embed'),
  ...kindOfAll('a number', 'maxPageBytes', 'firstByteTimeoutMs', 'answerTimeoutMs', 'maxHeaderBytes', 'maxFileBytes'),
  ...kindOfAll('a number', 'maxArchiveBytes', 'embedThreads', 'patienceMs', 'busyMs', 'connections'),
  ...kindOfAll('an object', 'headers', 'library', 'limits', 'git', 'browser', 'crawl4ai', 'embedding', 'reranking'),
  ...kindOfAll('a function', 'registryToken', 'openGrammars', 'notice'),
  ...kindOfAll('anything', 'maxConcurrentRequests', 'registries', 'siteHeaders'),
  qdrant: 'an object',
  render: RENDERINGS,
}

/** Opens a reader, which must be closed. It sends no request before the first read. */
export async function openPharosReader(options: PharosReaderOptions = {}): Promise<PharosReader> {
  checkOptions(options, KINDS)
  const { library, failOnError, maxConcurrentRequests = 5, headers, obeysRobots, render, ...libraryOptions } = options
  checkConcurrency(maxConcurrentRequests)
  const fetching = { headers: headers ?? {}, obeysRobots: obeysRobots ?? true, render: render ?? 'http' }
  checkHeaders(fetching)
  const reading = { failOnError: failOnError ?? false, maxConcurrentRequests, fetching }
  if (library !== undefined) return createReader(library, reading, async () => {})
  const opened = await openLibrary({ version: VERSION, ...libraryOptions, path: ':memory:' })
  return createReader(opened, reading, () => opened.close())
}

interface ReadConfig extends Required<Pick<ReadingOptions, 'failOnError' | 'maxConcurrentRequests'>> {
  readonly fetching: Omit<FetchUrlOptions, 'signal'>
}

function createReader(library: Library, reading: ReadConfig, closeLibrary: () => Promise<void>): PharosReader {
  const { failOnError, maxConcurrentRequests: concurrency, fetching } = reading
  const { limits, clock } = library
  const fetchPage = createUrlFetcher(library)
  const closing = new AbortController()
  let lastFailures: readonly ReadFailure[] = []

  const readUrl = async (url: string, signal: AbortSignal): Promise<ReaderDocument> => {
    try {
      const { page, status } = await fetchPage(url, { ...fetching, attempts: limits.attempts, signal })
      return createPageDocument(page, { url, status, readAt: clock.now() })
    } catch (error) {
      signal.throwIfAborted()
      throw error instanceof PharosError ? createReadError(url, error) : error
    }
  }
  const loadAll: PharosReader['loadAll'] = async (urls, signal) => {
    closing.signal.throwIfAborted()
    checkUrls(urls)
    lastFailures = []
    const combinedSignal = AbortSignal.any([closing.signal, ...(signal === undefined ? [] : [signal])])
    const options = { concurrency, failOnError, signal: combinedSignal }
    const { documents, failures } = await loadBatch(urls, options, readUrl)
    lastFailures = failures
    const [first] = failures
    if (failOnError && first !== undefined) throw first.error
    return documents
  }
  return {
    className: 'PharosReader',
    isRemote: true,
    failOnError,
    maxConcurrentRequests: concurrency,
    get lastFailures() {
      return lastFailures
    },
    loadAll,
    loadData: async (urls, signal) => (await loadAll(urls, signal)).filter((document) => document !== null),
    async close() {
      closing.abort(createClosedError())
      await closeLibrary()
    },
  }
}

/** The stored pages of a source as documents, ordered by key. Sends no request. */
export async function* loadSource(
  library: Pick<Library, 'store' | 'trees'>,
  source: string,
): AsyncGenerator<ReaderDocument, void, undefined> {
  const { store } = library
  const { id } = await findSource(library, source)
  for await (const { key, page, checkedAt } of store.listPages(id)) {
    const status = (await store.findRow(id, key))?.status ?? 0
    // 304 means that the stored page is unchanged, so its status is 200.
    yield createPageDocument(page, { url: page.url, status: status === 304 ? 200 : status, readAt: checkedAt })
  }
}

const MAX_CONCURRENCY = 20

function checkConcurrency(value: number): void {
  if (Number.isInteger(value) && value >= 1 && value <= MAX_CONCURRENCY) return
  const problem = `expected maxConcurrentRequests to be a whole number from 1 to ${MAX_CONCURRENCY}, got ${value}`
  throw new PharosError('OPTION_INVALID', { problem })
}

/** Refuses headers that would not be sent. */
function checkHeaders({ headers = {}, render }: Pick<FetchUrlOptions, 'headers' | 'render'>): void {
  if (render !== 'crawl4ai' || Object.keys(headers).length === 0) return
  throw new PharosError('OPTION_INVALID', {
    problem: 'headers are not sent with render crawl4ai: give one or the other',
  })
}

/** Advice by failure reason; for other reasons the advice of the cause is used. */
const ADVICE: Readonly<Record<string, string>> = {
  'address-refused': 'if the address is yours, name its host or network in allowPrivate',
  'robots-disallow': 'if you have permission to read it, set obeysRobots to false',
  'robots-unreachable': 'try again later, or set obeysRobots to false if you may read it',
  'too-large': 'raise maxPageBytes',
  'needs-rendering':
    'it is empty until its scripts have run: set render to auto, which needs a browser on this machine',
  'http-client-error': 'if it needs a login, give one in headers',
}

/** The error for a URL that could not be read, with advice. */
function createReadError(url: string, cause: PharosError): PharosError {
  const { reason, detail, problem = `${reason}, ${detail}` } = cause.details
  const advice = ADVICE[String(reason)] ?? cause.entry.advice
  return new PharosError('READ_FAILED', { url: hideCredentials(url), problem, advice }, { cause })
}
