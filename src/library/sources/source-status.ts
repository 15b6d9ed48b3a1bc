import type { Scope } from '../../core/url/scope.ts'
import type { WiderScope } from '../../crawl/addresses/wider-scope.ts'
import type { LedgerCounts, SettledCounts } from '../../crawl/ledger.ts'
import type { Library, SourceState } from '../library.ts'
import type { Crawl } from '../ports/store.ts'
import type { Source } from '../source.ts'
import { offerDocumentation } from './offer-documentation.ts'
import { findShortfall, type Shortfall } from './shortfall.ts'

/**
 * Status of a source, as HTTP and MCP clients see it. CRAWLING: a crawl is running, and no earlier one completed or was stopped by the loss
 * gate. UPDATING: a later crawl is running. While no crawl is running, the last crawl that was not cancelled decides: INDEXED if it
 * completed, ERROR if it failed or the loss gate stopped it. Without such a crawl, a source with pages is INDEXED, any other PENDING.
 */
export type SourceStatus = 'PENDING' | 'CRAWLING' | 'INDEXED' | 'UPDATING' | 'ERROR'

/** Report on one source. */
export interface SourceReport {
  readonly source: Source
  readonly status: SourceStatus
  /** Counts of addresses; `discovered` is the sum of the others. */
  readonly balance: AddressCounts
  readonly reasons: Readonly<Record<string, number>>
  readonly pages: number
  readonly chunks: number
  /** Share of embeddable chunks with a vector, from 0 to 1; null if no chunk is embeddable or the library has no vectors. */
  readonly meaning: number | null
  readonly crawl: Crawl | null
  /** End of the last crawl that is not running; null for PENDING or CRAWLING. */
  readonly lastCrawledAt: number | null
  /** Whether the last crawl is running now; a crawl without recent heartbeats counts as interrupted. */
  readonly isRunning: boolean
  readonly isInterrupted: boolean
  /** Missing pages of the source; null if none are known. */
  readonly shortfall: Shortfall | null
  /** A wider scope that the source probably needs; null if its own fits. */
  readonly wider: WiderScope | null
  /** Addresses of documentation that a package with hardly any text names, unless they are sources already. */
  readonly documentation: readonly string[]
  readonly waiting: readonly WaitingHost[]
}

/** A host in back-off with pending addresses. */
export interface WaitingHost {
  readonly host: string
  readonly until: number
  readonly leftMs: number
  /** How its last addresses failed, such as `network, 127.0.0.1 refused the connection`; null if that is unknown. */
  readonly cause: string | null
}

/** Counts of the addresses of a source by state. */
export interface AddressCounts {
  readonly discovered: number
  readonly indexed: number
  readonly unchanged: number
  readonly skipped: number
  readonly failed: number
  readonly gone: number
  readonly pending: number
}

/** Whether the last heartbeat of a running crawl is recent. One far in the future comes from a wrong clock and is not recent. */
export function hasRecentHeartbeat({ heartbeatAt }: Crawl, now: number, aliveMs: number): boolean {
  return Math.abs(now - heartbeatAt) < aliveMs
}

/** Whether a process is working on a crawl recorded as running. */
function isAlive({ clock, runner, limits }: Pick<Library, 'clock' | 'limits' | 'runner'>, crawl: Crawl): boolean {
  const isAbandoned = crawl.runner !== null && runner.isGone(crawl.runner)
  return !isAbandoned && hasRecentHeartbeat(crawl, clock.now(), limits.aliveMs)
}

/** Whether a source is being crawled, by this process or another one. */
export async function isBeingCrawled(library: SourceState, sourceId: string): Promise<boolean> {
  const [crawl] = await library.store.listCrawls(sourceId, 1)
  return crawl?.state === 'running' && isAlive(library, crawl)
}

/** Reports on one source. */
export async function reportSource(
  library: SourceState & Pick<Library, 'vectors'>,
  source: Source,
): Promise<SourceReport> {
  const { store } = library
  const [ledger, content, [crawl = null]] = await Promise.all([
    store.countLedger(source.id),
    store.countContent(source.id),
    store.listCrawls(source.id, 1),
  ])
  const { isRunning, isInterrupted } = activityOf(library, crawl)
  const earlierCrawls = await listEarlierCrawls(library, source.id, crawl, isRunning)
  const status = isRunning ? runningStatus(earlierCrawls) : idleStatus(earlierCrawls, content.pages)
  const [last] = earlierCrawls
  const balance = createAddressCounts(ledger)
  const { reasons } = ledger
  const { pages } = content
  const isCrawled = last !== undefined && status !== 'PENDING' && status !== 'CRAWLING'
  return {
    source,
    status,
    balance,
    reasons,
    ...content,
    meaning: await readEmbeddedShare(library, source.id, content.chunks),
    crawl,
    lastCrawledAt: isCrawled ? (last.endedAt ?? last.heartbeatAt) : null,
    isRunning,
    isInterrupted,
    shortfall: findShortfall({ source, reasons, pending: balance.pending, pages, crawl, isRunning, isInterrupted }),
    wider: crawl?.summary?.wider ?? null,
    documentation: isRunning ? [] : await offerDocumentation(library, source, content),
    waiting: await listWaiting(library, source),
  }
}

/** Whether a crawl is going on now, or ended before it was complete. */
function activityOf(
  library: Pick<Library, 'clock' | 'limits' | 'runner'>,
  crawl: Crawl | null,
): { readonly isRunning: boolean; readonly isInterrupted: boolean } {
  const isOpen = crawl?.state === 'running'
  const isRunning = isOpen && isAlive(library, crawl)
  return { isRunning, isInterrupted: (isOpen && !isRunning) || crawl?.state === 'cancelled' }
}

/** Finds the missing pages of a source; null where none are known. */
export async function readShortfall(library: SourceState, source: Source): Promise<Shortfall | null> {
  const { store } = library
  const [ledger, [crawl = null]] = await Promise.all([store.countLedger(source.id), store.listCrawls(source.id, 1)])
  const { pending, indexed, unchanged } = createAddressCounts(ledger)
  // Counts ledger rows instead of pages, because every search calls this function and counting pages takes longer than the search.
  const pages = indexed + unchanged
  return findShortfall({ source, reasons: ledger.reasons, pending, pages, crawl, ...activityOf(library, crawl) })
}

async function readEmbeddedShare(
  { vectors }: Pick<Library, 'vectors'>,
  sourceId: string,
  chunks: number,
): Promise<number | null> {
  if (vectors === undefined || chunks === 0 || (await vectors.readSpace()) === undefined) return null
  const { embedded, refused } = await vectors.count([sourceId])
  return chunks <= refused ? null : Math.min(1, embedded / (chunks - refused))
}

/** Lists the hosts that a source waits for. */
export async function listWaiting(
  { store, clock }: Pick<Library, 'clock' | 'store'>,
  { id }: Source,
): Promise<WaitingHost[]> {
  const now = clock.now()
  const hosts = await store.listHeldHosts(id, now, now)
  if (hosts.length === 0) return []
  const pending = await store.listRows(id, { state: 'pending', limit: MAX_CAUSES })
  return Promise.all(
    hosts.map(async (host) => {
      const failed = pending.find((row) => row.host === host && row.reason !== null)
      const parts = [failed?.reason, failed?.detail ?? failed?.pattern].filter((part) => part != null)
      const { heldUntil: until } = await store.readClock(host, now)
      return { host, until, leftMs: until - now, cause: parts.length === 0 ? null : parts.join(', ') }
    }),
  )
}

/** At most this many pending addresses are searched for the cause of a wait. */
const MAX_CAUSES = 1000

/** The counts of a ledger; leased addresses count as pending. */
export function createAddressCounts({ total, states }: LedgerCounts): AddressCounts {
  const { leased, pending, indexed, unchanged, skipped, failed, gone } = states
  return { discovered: total, indexed, unchanged, skipped, failed, gone, pending: pending + leased }
}

/** Whether a crawl had a scope of its own, besides a page limit. */
export function hasOwnScope({ options }: Pick<Crawl, 'options'>): boolean {
  return Object.keys(options.scope).some((name) => name !== 'maxPages')
}

/** Page limit of a crawl of a source; null for no limit. */
export function capOf({ scope }: Source, runScope: Partial<Scope> | undefined): number | null {
  return { ...scope, ...runScope }.maxPages
}

/** Pages that a crawl has read, failed to read or will read, as far as known, without those beyond the page limit. */
export function totalPages({ indexed, unchanged, failed }: SettledCounts, left: number, cap: number | null): number {
  const read = indexed + unchanged
  return failed + Math.max(read, Math.min(read + left, cap ?? Number.POSITIVE_INFINITY))
}

/** At most this many crawls are searched for one that ended. */
const MAX_RECENT_CRAWLS = 100

/** Status of a source during a crawl. The running crawl is ignored, because it may be recorded as completed just before it ends. */
export async function readRunningStatus(
  { store }: Pick<Library, 'store'>,
  sourceId: string,
  crawlId: string,
): Promise<SourceStatus> {
  const crawls = await store.listCrawls(sourceId, MAX_RECENT_CRAWLS)
  return runningStatus(crawls.filter(({ id }) => id !== crawlId))
}

/** Lists the crawls of a source without the running one, newest first; only the last one if it decides the status. */
async function listEarlierCrawls(
  { store }: Pick<Library, 'store'>,
  sourceId: string,
  crawl: Crawl | null,
  isRunning: boolean,
): Promise<readonly Crawl[]> {
  if (crawl === null) return []
  if (hasEndedByItself(crawl)) return [crawl]
  const crawls = await store.listCrawls(sourceId, MAX_RECENT_CRAWLS)
  return isRunning ? crawls.filter(({ id }) => id !== crawl.id) : crawls
}

/** Whether a crawl ended without being cancelled or interrupted. */
function hasEndedByItself({ state }: Crawl): boolean {
  return state === 'completed' || state === 'gate' || state === 'failed'
}

function runningStatus(crawls: readonly Crawl[]): SourceStatus {
  return crawls.some(({ state }) => state === 'completed' || state === 'gate') ? 'UPDATING' : 'CRAWLING'
}

function idleStatus(crawls: readonly Crawl[], pages: number): SourceStatus {
  const decisive = crawls.find(hasEndedByItself)
  if (decisive === undefined) return pages > 0 ? 'INDEXED' : 'PENDING'
  return decisive.state === 'completed' ? 'INDEXED' : 'ERROR'
}
