import { PharosError } from '../core/errors.ts'
import { hideCredentials } from '../core/url/credentials.ts'
import type { Library } from '../library/library.ts'
import { createUrlFetcher, type FetchUrlOptions } from '../library/operations/fetch-url.ts'
import { findSource } from '../library/operations/find-source.ts'
import { type LibraryOptions, openLibrary } from '../open-library.ts'
import { VERSION } from '../version.ts'
import type { ReaderDocument, ReadFailure } from './document.ts'
import type { DocumentReader } from './document-reader.ts'
import { loadSlots } from './load-slots.ts'
import { createPageDocument } from './page-document.ts'

/** How pages are read, whatever fetches them. */
interface ReadingOptions extends Pick<FetchUrlOptions, 'headers' | 'obeysRobots' | 'render'> {
  /** Whether the first address that cannot be read rejects the whole. @default false */
  readonly failOnError?: boolean
  /** Addresses that are read at once, from 1 to 20; the pace of each host holds all the same. @default 5 */
  readonly maxConcurrentRequests?: number
}

/** How pages are read without any service. */
export interface PharosReaderOptions extends ReadingOptions, Partial<Omit<LibraryOptions, 'path'>> {
  /** Library whose pace, rules and browser are used; the reader does not close it. @default one of its own, kept in memory */
  readonly library?: Library
}

/** Reads pages of the web without any service: to public addresses only, at the pace that hosts allow, obeying their robots.txt. */
export interface PharosReader extends DocumentReader {
  readonly className: 'PharosReader'
}

/** Opens a reader. Nothing is fetched until it is asked for; it must be closed. */
export async function openPharosReader(options: PharosReaderOptions = {}): Promise<PharosReader> {
  const { library, failOnError, maxConcurrentRequests = 5, headers, obeysRobots, render, ...own } = options
  checkConcurrency(maxConcurrentRequests)
  const fetching = { headers: headers ?? {}, obeysRobots: obeysRobots ?? true, render: render ?? 'http' }
  checkHeaders(fetching)
  const reading = { failOnError: failOnError ?? false, maxConcurrentRequests, fetching }
  if (library !== undefined) return createReader(library, reading, async () => {})
  const opened = await openLibrary({ version: VERSION, ...own, path: ':memory:' })
  return createReader(opened, reading, () => opened.close())
}

interface Reading extends Required<Pick<ReadingOptions, 'failOnError' | 'maxConcurrentRequests'>> {
  readonly fetching: Omit<FetchUrlOptions, 'signal'>
}

function createReader(library: Library, reading: Reading, closeLibrary: () => Promise<void>): PharosReader {
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
      throw error instanceof PharosError ? readFailed(url, error) : error
    }
  }
  const loadAll: PharosReader['loadAll'] = async (urls, signal) => {
    closing.signal.throwIfAborted()
    lastFailures = []
    const either = AbortSignal.any([closing.signal, ...(signal === undefined ? [] : [signal])])
    const { documents, failures } = await loadSlots(urls, { concurrency, failOnError, signal: either }, readUrl)
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
      closing.abort(new TypeError('the reader is closed'))
      await closeLibrary()
    },
  }
}

/** The pages that a library has of a source, as documents, in the order of their keys. Nothing is fetched. */
export async function* loadSource(library: Library, source: string): AsyncGenerator<ReaderDocument, void, undefined> {
  const { store } = library
  const { id } = await findSource(library, source)
  for await (const { key, page, checkedAt } of store.listPages(id)) {
    const status = (await store.findRow(id, key))?.status ?? 0
    // What has not changed is as it was when it came.
    yield createPageDocument(page, { url: page.url, status: status === 304 ? 200 : status, readAt: checkedAt })
  }
}

const MOST_CONCURRENCY = 20

function checkConcurrency(given: number): void {
  if (Number.isInteger(given) && given >= 1 && given <= MOST_CONCURRENCY) return
  const problem = `expected maxConcurrentRequests to be a whole number from 1 to ${MOST_CONCURRENCY}, got ${given}`
  throw new PharosError('OPTION_INVALID', { problem })
}

/** Fields that nobody would send. */
function checkHeaders({ headers = {}, render }: Pick<FetchUrlOptions, 'headers' | 'render'>): void {
  if (render !== 'crawl4ai' || Object.keys(headers).length === 0) return
  throw new PharosError('OPTION_INVALID', {
    problem: 'headers are not sent with render crawl4ai: give one or the other',
  })
}

/** What a program can do about a few of the reasons. */
const ADVICE: Readonly<Record<string, string>> = {
  'address-refused': 'if it is yours, name its host or network in allowPrivate',
  'robots-disallow': 'if you may read it all the same, set obeysRobots to false',
  'robots-unreachable': 'try again later, or set obeysRobots to false if you may read it',
  'too-large': 'raise maxPageBytes',
  'needs-rendering':
    'it is empty until its scripts have run: set render to auto, which needs a browser on this machine',
  'http-client-error': 'if it needs a login, give one in headers',
}

/** Why an address could not be read, with what can be done about it. */
function readFailed(url: string, cause: PharosError): PharosError {
  const { reason, detail, problem = `${reason}, ${detail}` } = cause.details
  const advice = ADVICE[String(reason)] ?? cause.entry.advice
  return new PharosError('READ_FAILED', { url: hideCredentials(url), problem, advice }, { cause })
}
