import { afterAll, expect } from 'vitest'
import { dropSlash } from '../../src/core/url/key.ts'
import type { CrawlEvent, CrawlSummary } from '../../src/crawl/events.ts'
import type { LedgerRow } from '../../src/crawl/ledger.ts'
import type { CrawlLimits } from '../../src/crawl/run.ts'
import { addSource, type SourceInput } from '../../src/library/crawl/add-source.ts'
import { type CrawlInput, crawlSource } from '../../src/library/crawl/crawl-source.ts'
import type { Source } from '../../src/library/source.ts'
import { createAddressCounts } from '../../src/library/sources/source-status.ts'
import { type OpenLibrary, openLibrary } from '../../src/open-library.ts'
import { closeLater } from '../close-later.ts'
import { locateLibrary } from '../library-location.ts'
import { type Answer, openSite, type Site, type SiteOptions } from './site.ts'

/** The result of one crawl: its events, its summary and the ledger afterwards. */
export interface Crawled {
  readonly events: readonly CrawlEvent[]
  readonly summary: CrawlSummary
  /** Rows by path on the first site, or by address elsewhere; without a final slash, unless another row differs only in it. */
  readonly rows: ReadonlyMap<string, LedgerRow>
}

/** A site with a library and one source on it. */
export interface CrawlFixture {
  readonly site: Site
  readonly library: OpenLibrary
  readonly source: Source
  crawl(input?: Partial<CrawlInput>, signal?: AbortSignal): Promise<Crawled>
}

/** Input for a crawl fixture. Values that need the address of the site are functions of that address. */
export interface CrawlFixtureInput extends Partial<Omit<SourceInput, 'url' | 'settings'>> {
  readonly start?: string
  readonly siteOptions?: SiteOptions
  readonly limits?: Partial<CrawlLimits>
  readonly settings?: SourceInput['settings'] | ((origin: string) => SourceInput['settings'])
}

interface Closable {
  close(): Promise<void>
}

/** Objects to close with the fixture that {@link shareFixture} is opening; undefined while it opens none. */
let sharedClosables: Closable[] | undefined

/** Closes an object after the current test, or after the last test that shares it. */
export function closeWithTest(closable: Closable): void {
  if (sharedClosables === undefined) closeLater(() => closable.close())
  else sharedClosables.push(closable)
}

/**
 * Opens a fixture when the first test needs it, and shares it with all tests of the surrounding file or group. It closes after the last of
 * these tests.
 */
export function shareFixture<T>(open: () => Promise<T>): () => Promise<T> {
  const closables: Closable[] = []
  afterAll(async () => {
    for (const closable of closables.splice(0).reverse()) await closable.close()
  })
  let opened: { readonly value: T } | undefined
  return async () => {
    if (opened !== undefined) return opened.value
    sharedClosables = closables
    try {
      opened = { value: await open() }
      return opened.value
    } finally {
      sharedClosables = undefined
    }
  }
}

/** Opens a site that closes with the test. */
export async function openTestSite(pages: Readonly<Record<string, Answer>>, options?: SiteOptions): Promise<Site> {
  const site = await openSite(pages, options)
  closeWithTest(site)
  return site
}

/** More memory than earlier tests in the same process can have used, because a crawl pauses when memory is short. */
const AMPLE_BYTES = 4 * 2 ** 30

/** Short back-off: hosts that keep failing are held for seconds instead of minutes. */
export const SHORT_BACKOFF: Partial<CrawlLimits> = { holdsMs: [1000, 2000, 3000], memoryBytes: AMPLE_BYTES }

/** No pacing: the crawl sends the next request as soon as the site answers. */
export const UNPACED: Partial<CrawlLimits> = {
  intervalMs: 1,
  startIntervalMs: 1,
  jitterMs: [0, 0],
  memoryBytes: AMPLE_BYTES,
}

/** Opens a library that closes with the test. */
export async function openTestLibrary(path = ':memory:', limits: Partial<CrawlLimits> = {}): Promise<OpenLibrary> {
  const library = await openLibrary({
    path: await locateLibrary(path),
    version: '0.0.0',
    allowPrivate: ['127.0.0.0/8'],
    limits: { ...SHORT_BACKOFF, ...limits },
  })
  closeWithTest(library)
  return library
}

/** Sets up a site, a library and a source that starts at `start`. */
export async function createCrawlFixture(
  pages: Readonly<Record<string, Answer>> | ((origin: string) => Readonly<Record<string, Answer>>),
  input: CrawlFixtureInput = {},
): Promise<CrawlFixture> {
  const { start = '/', siteOptions, limits, settings, ...sourceInput } = input
  const site = await openTestSite(typeof pages === 'function' ? {} : pages, siteOptions)
  const { origin } = site
  if (typeof pages === 'function')
    for (const [path, answer] of Object.entries(pages(origin))) site.pages.set(path, answer)
  const library = await openTestLibrary(':memory:', limits)
  const resolved = typeof settings === 'function' ? settings(origin) : settings
  const source = await addSource(library, { url: `${origin}${start}`, settings: resolved ?? {}, ...sourceInput })
  return {
    site,
    library,
    source,
    async crawl(overrides = {}, signal = new AbortController().signal) {
      const [current = source] = (await library.store.listSources()).filter(({ id }) => id === source.id)
      return runCrawl(library, current, { kind: 'add', ...overrides }, site.origin, signal)
    },
  }
}

/** A library whose fetcher sends requests for the given host names to sites of this machine. */
export function withNames(library: OpenLibrary, names: Readonly<Record<string, Site>>): OpenLibrary {
  const fetch: OpenLibrary['fetcher']['fetch'] = async (request) => {
    const url = new URL(request.url)
    const site = names[url.host]
    if (site === undefined) throw new Error(`unexpected request to ${url.host}`)
    const outcome = await library.fetcher.fetch({ ...request, url: request.url.replace(url.origin, site.origin) })
    return outcome.type === 'fetched' ? { ...outcome, snapshot: { ...outcome.snapshot, url: request.url } } : outcome
  }
  return { ...library, fetcher: { ...library.fetcher, fetch } }
}

/** Runs a crawl to its end. Every test crawl goes through here, so that the balance of each one is checked. */
export async function runCrawl(
  library: OpenLibrary,
  source: Source,
  input: CrawlInput,
  origin: string,
  signal: AbortSignal = new AbortController().signal,
  onEvent: (event: CrawlEvent) => void = () => undefined,
): Promise<Crawled> {
  const events: CrawlEvent[] = []
  for await (const event of crawlSource(library, source, input, signal)) {
    events.push(event)
    onEvent(event)
  }
  const last = events.at(-1)
  if (last?.type !== 'ended') throw new Error(`the crawl ended with ${JSON.stringify(last)}`)
  const rows = await listRows(library, source)
  expectBalance(last.summary, rows)
  // After the clock was set back, addresses settled by an interrupted run cannot be told apart from those of this run.
  const now = library.clock.now()
  if (rows.every(({ checkedAt }) => (checkedAt ?? 0) <= now)) expectRunCounts(last.summary, events, rows)
  const keys = new Set(rows.map(({ key }) => key))
  const namedRows = rows.map((row) => {
    const bare = dropSlash(row.key)
    const key = keys.has(bare) ? row.key : bare
    return [key.startsWith(`${origin}/`) ? key.slice(origin.length) : key, row] as const
  })
  return { events, summary: last.summary, rows: new Map(namedRows) }
}

/** Expects that every address is in exactly one state, the counts add up, and a completed crawl leaves nothing pending. */
function expectBalance(summary: CrawlSummary, rows: readonly LedgerRow[]): void {
  const { discovered, ...parts } = createAddressCounts(summary.ledger)
  expect(Object.values(parts).reduce((sum, count) => sum + count, 0)).toBe(discovered)
  expect(rows.length).toBe(discovered)
  for (const state of ['indexed', 'unchanged', 'skipped', 'failed', 'gone'] as const) {
    expect(rows.filter((row) => row.state === state).length).toBe(parts[state])
  }
  if (summary.end === 'completed') expect(parts.pending).toBe(0)
  // A source can have very many rows, so a single expectation checks them all.
  const needsReason = ({ state }: LedgerRow) => state === 'skipped' || state === 'failed' || state === 'gone'
  const unexplained = rows.filter((row) => needsReason(row) && row.reason === null)
  expect(unexplained.map(({ url, state }) => `${url} is ${state} without a reason`)).toEqual([])
}

/** Expects that the counts of a run equal the final states of the addresses that it settled, with each address counted once. */
function expectRunCounts(summary: CrawlSummary, events: readonly CrawlEvent[], rows: readonly LedgerRow[]): void {
  const { indexed, unchanged, skipped, failed, cappedAt, kind, unread = 0 } = summary
  const outcomes = events.flatMap((event) => (event.type === 'settled' ? [[event.url, event.state] as const] : []))
  const lastStateByUrl = new Map(outcomes)
  // The address of a file changes with the folder of its archive and with the commit of its repository; its path does not.
  const paths = rows.map(({ key }) => key).filter((key) => !key.includes('://'))
  paths.sort((a, b) => b.length - a.length)
  const lastStateByPath = new Map(
    outcomes.map(([url, state]) => [paths.find((path) => url.endsWith(`/${path}`)), state]),
  )
  const lastStateOf = ({ url, key }: LedgerRow) => lastStateByUrl.get(url) ?? lastStateByPath.get(key)
  // A duplicate whose target loses the content is queued again. If the page cap then leaves the duplicate out, it counts as unread. The
  // state `unchanged` only means that its earlier page stays.
  const isLeftByCap = (row: LedgerRow) =>
    cappedAt !== null && (row.reason === 'page-cap' || (row.state === 'unchanged' && lastStateOf(row) === 'skipped'))
  const isSettled = (row: LedgerRow) => lastStateOf(row) !== undefined && !isLeftByCap(row)
  // Addresses of a parked host fail without a visit.
  const rowsOfRun = rows.filter(
    (row) => row.crawlId === summary.crawlId && (row.reason === 'host-parked' || isSettled(row)),
  )
  const counts = { indexed, unchanged, skipped, failed }
  const countIn = (wanted: string) => rowsOfRun.filter(({ state }) => state === wanted).length
  expect(counts).toEqual(Object.fromEntries(Object.keys(counts).map((state) => [state, countIn(state)])))
  if (cappedAt === null || kind === 'retry') return
  const isUnread = (row: LedgerRow) => row.reason === 'page-cap' || (row.hasPage && !isSettled(row))
  expect(unread).toBe(rows.filter(isUnread).length)
}

async function listRows(library: OpenLibrary, source: Source): Promise<LedgerRow[]> {
  const rows: LedgerRow[] = []
  for (;;) {
    const after = rows.at(-1)?.key
    const more = await library.store.listRows(source.id, { limit: 1000, ...(after === undefined ? {} : { after }) })
    rows.push(...more)
    if (more.length < 1000) return rows
  }
}

/** State and reason of each row by path: `{ '/a': 'indexed', '/b': 'skipped blocked' }`. */
export function statesOf({ rows }: Crawled): Record<string, string> {
  return Object.fromEntries(
    [...rows].map(([path, { state, reason }]) => [path, reason === null ? state : `${state} ${reason}`]),
  )
}
