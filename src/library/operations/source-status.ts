import type { Scope } from '../../core/url/scope.ts'
import type { LedgerCounts } from '../../crawl/ledger.ts'
import type { WiderScope } from '../../crawl/wider-scope.ts'
import type { Library } from '../library.ts'
import { findShortfall, type Shortfall } from '../shortfall.ts'
import type { Source } from '../source.ts'
import type { Crawl } from '../store.ts'

/**
 * Where a source stands, in the words of its contract. CRAWLING: the first crawl runs, or another one before any has come to its
 * end. UPDATING: a later one runs. Without one that runs, the last one that came to its end decides: INDEXED, or ERROR where it
 * failed or stopped at the gate. One that was stopped before changes nothing of that; what it has read makes INDEXED of PENDING.
 */
export type SourceStatus = 'PENDING' | 'CRAWLING' | 'INDEXED' | 'UPDATING' | 'ERROR'

/** Everything there is to say about one source. */
export interface SourceReport {
  readonly source: Source
  readonly status: SourceStatus
  /** Numbers of addresses; `discovered` is the sum of the others. */
  readonly balance: Balance
  readonly reasons: Readonly<Record<string, number>>
  readonly pages: number
  readonly chunks: number
  /** The share of its chunks that have a vector, of those that can get one, from 0 to 1; null where none can, or the library has no vectors. */
  readonly meaning: number | null
  readonly crawl: Crawl | null
  /** When it was last crawled, before a crawl that runs; null for what is PENDING or CRAWLING. */
  readonly lastCrawledAt: number | null
  /** Whether the last crawl is going on now; one without a sign of life was interrupted. */
  readonly isRunning: boolean
  readonly isInterrupted: boolean
  /** Missing pages of the source; null where none are known. */
  readonly shortfall: Shortfall | null
  /** The scope that it probably needs instead of its own; null where its own fits. */
  readonly wider: WiderScope | null
  /** Hosts with addresses to fetch that are left alone for a while. */
  readonly waiting: readonly { readonly host: string; readonly until: number }[]
}

/** Counts of the addresses of a source by state. */
export interface Balance {
  readonly discovered: number
  readonly indexed: number
  readonly unchanged: number
  readonly skipped: number
  readonly failed: number
  readonly gone: number
  readonly pending: number
}

/**
 * Whether the last sign of life of a running crawl is young enough. One from the future was given by a clock that was wrong, and says
 * as little as one from long ago.
 */
export function hasSignOfLife({ heartbeatAt }: Crawl, now: number, aliveMs: number): boolean {
  return Math.abs(now - heartbeatAt) < aliveMs
}

/** Whether a process works on a crawl that is recorded as running. */
function isAlive({ clock, runner, limits }: Library, crawl: Crawl): boolean {
  const isLeft = crawl.runner !== null && runner.isGone(crawl.runner)
  return !isLeft && hasSignOfLife(crawl, clock.now(), limits.aliveMs)
}

/** Whether a source is being crawled, by this process or another one. */
export async function isCrawled(library: Library, sourceId: string): Promise<boolean> {
  const [crawl] = await library.store.listCrawls(sourceId, 1)
  return crawl?.state === 'running' && isAlive(library, crawl)
}

/** Reports on one source. */
export async function reportSource(library: Library, source: Source): Promise<SourceReport> {
  const { store } = library
  const [ledger, content, [crawl = null]] = await Promise.all([
    store.countLedger(source.id),
    store.countContent(source.id),
    store.listCrawls(source.id, 1),
  ])
  const { isRunning, isInterrupted } = standOf(library, crawl)
  const before = await listBefore(library, source.id, crawl, isRunning)
  const status = isRunning ? runningStatus(before) : restingStatus(before, content.pages)
  const [last] = before
  const balance = createBalance(ledger)
  const { reasons } = ledger
  const { pages } = content
  const isCrawled = last !== undefined && status !== 'PENDING' && status !== 'CRAWLING'
  return {
    source,
    status,
    balance,
    reasons,
    ...content,
    meaning: await readMeaning(library, source.id, content.chunks),
    crawl,
    lastCrawledAt: isCrawled ? (last.endedAt ?? last.heartbeatAt) : null,
    isRunning,
    isInterrupted,
    shortfall: findShortfall({ source, reasons, pending: balance.pending, pages, crawl, isRunning, isInterrupted }),
    wider: crawl?.summary?.wider ?? null,
    waiting: await listWaiting(library, source),
  }
}

/** Whether a crawl is going on now, or ended before it was complete. */
function standOf(
  library: Library,
  crawl: Crawl | null,
): { readonly isRunning: boolean; readonly isInterrupted: boolean } {
  const isOpen = crawl?.state === 'running'
  const isRunning = isOpen && isAlive(library, crawl)
  return { isRunning, isInterrupted: (isOpen && !isRunning) || crawl?.state === 'cancelled' }
}

/** Finds the missing pages of a source; null where none are known. */
export async function readShortfall(library: Library, source: Source): Promise<Shortfall | null> {
  const { store } = library
  const [ledger, [crawl = null]] = await Promise.all([store.countLedger(source.id), store.listCrawls(source.id, 1)])
  const { pending, indexed, unchanged } = createBalance(ledger)
  // Every search asks this, and counting the pages themselves takes longer than the search.
  const pages = indexed + unchanged
  return findShortfall({ source, reasons: ledger.reasons, pending, pages, crawl, ...standOf(library, crawl) })
}

async function readMeaning({ vectors }: Library, sourceId: string, chunks: number): Promise<number | null> {
  if (vectors === undefined || chunks === 0 || (await vectors.readSpace()) === undefined) return null
  const { embedded, refused } = await vectors.count([sourceId])
  return chunks <= refused ? null : Math.min(1, embedded / (chunks - refused))
}

async function listWaiting({ store, clock }: Library, source: Source): Promise<SourceReport['waiting']> {
  const now = clock.now()
  const hosts = await store.listHeldHosts(source.id, now, now)
  return Promise.all(hosts.map(async (host) => ({ host, until: (await store.readClock(host, now)).heldUntil })))
}

/** The counts of a ledger; leased addresses count as pending. */
export function createBalance({ total, states }: LedgerCounts): Balance {
  const { leased, pending, indexed, unchanged, skipped, failed, gone } = states
  return { discovered: total, indexed, unchanged, skipped, failed, gone, pending: pending + leased }
}

/**
 * Pages that the last crawl took in or found unchanged, as far as the ledger tells. A crawl with a scope of its own, or one that stopped
 * at a page limit, did not read all pages of the ledger, so that its own counts are taken.
 */
export function countRead({
  balance,
  crawl,
}: Pick<SourceReport, 'balance' | 'crawl'>): Pick<Balance, 'indexed' | 'unchanged'> {
  const summary = crawl?.summary ?? null
  const isPart = crawl !== null && summary !== null && (summary.cappedAt !== null || hasOwnScope(crawl))
  const { indexed, unchanged } = isPart ? summary : balance
  return { indexed, unchanged }
}

/** Whether a crawl had a scope of its own, besides a page limit. */
export function hasOwnScope({ options }: Pick<Crawl, 'options'>): boolean {
  return Object.keys(options.scope).some((name) => name !== 'maxPages')
}

/** Page limit of a crawl of a source; null for no limit. */
export function capOf({ scope }: Source, asked: Partial<Scope> | undefined): number | null {
  return { ...scope, ...asked }.maxPages
}

/** Pages that a crawl has processed or will process, as far as known, without those beyond the page limit. */
export function totalPages(done: number, left: number, cap: number | null): number {
  return Math.max(done, Math.min(done + left, cap ?? Number.POSITIVE_INFINITY))
}

/** At most this many crawls are searched for one that ended. */
const MAX_LOOKED_BACK = 100

/** What is said of a source while a crawl of it runs. That one may be recorded as completed a moment before it has ended. */
export async function readRunningStatus({ store }: Library, sourceId: string, crawlId: string): Promise<SourceStatus> {
  const crawls = await store.listCrawls(sourceId, MAX_LOOKED_BACK)
  return runningStatus(crawls.filter(({ id }) => id !== crawlId))
}

/** The crawls of a source without the one that runs, newest first; only the last one where that decides. */
async function listBefore(
  { store }: Library,
  sourceId: string,
  crawl: Crawl | null,
  isRunning: boolean,
): Promise<readonly Crawl[]> {
  if (crawl === null) return []
  if (isOver(crawl)) return [crawl]
  const crawls = await store.listCrawls(sourceId, MAX_LOOKED_BACK)
  return isRunning ? crawls.filter(({ id }) => id !== crawl.id) : crawls
}

/** Whether a crawl came to its end by itself. */
function isOver({ state }: Crawl): boolean {
  return state === 'completed' || state === 'gate' || state === 'failed'
}

function runningStatus(crawls: readonly Crawl[]): SourceStatus {
  return crawls.some(({ state }) => state === 'completed' || state === 'gate') ? 'UPDATING' : 'CRAWLING'
}

function restingStatus(crawls: readonly Crawl[], pages: number): SourceStatus {
  const decisive = crawls.find(isOver)
  if (decisive === undefined) return pages > 0 ? 'INDEXED' : 'PENDING'
  return decisive.state === 'completed' ? 'INDEXED' : 'ERROR'
}
