import type { LedgerCounts } from '../../crawl/ledger.ts'
import type { Library } from '../library.ts'
import type { Source } from '../source.ts'
import type { Crawl } from '../store.ts'

/** Where a source stands, in the words of its contract. */
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
  readonly crawl: Crawl | null
  /** Whether the last crawl is going on now; one without a sign of life was interrupted. */
  readonly isRunning: boolean
  readonly isInterrupted: boolean
  /** Hosts with addresses to fetch that are left alone for a while. */
  readonly waiting: readonly { readonly host: string; readonly until: number }[]
}

/** What became of the addresses of a source. */
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

/** Reports on one source. */
export async function reportSource(library: Library, source: Source): Promise<SourceReport> {
  const { store, clock, runner, limits } = library
  const [ledger, content, [crawl = null]] = await Promise.all([
    store.countLedger(source.id),
    store.countContent(source.id),
    store.listCrawls(source.id, 1),
  ])
  const isOpen = crawl?.state === 'running'
  const isLeft = isOpen && crawl.runner !== null && runner.isGone(crawl.runner)
  const isRunning = isOpen && !isLeft && hasSignOfLife(crawl, clock.now(), limits.aliveMs)
  const isInterrupted = (isOpen && !isRunning) || crawl?.state === 'cancelled'
  const status = statusOf(crawl, isRunning, content.pages)
  return {
    source,
    status,
    balance: createBalance(ledger),
    reasons: ledger.reasons,
    ...content,
    crawl,
    isRunning,
    isInterrupted,
    waiting: await listWaiting(library, source),
  }
}

async function listWaiting({ store, clock }: Library, source: Source): Promise<SourceReport['waiting']> {
  const now = clock.now()
  const hosts = await store.listHeldHosts(source.id, now, now)
  return Promise.all(hosts.map(async (host) => ({ host, until: (await store.readClock(host, now)).heldUntil })))
}

/** The numbers of a ledger; what is leased is still pending. */
export function createBalance({ total, states }: LedgerCounts): Balance {
  const { leased, pending, indexed, unchanged, skipped, failed, gone } = states
  return { discovered: total, indexed, unchanged, skipped, failed, gone, pending: pending + leased }
}

function statusOf(crawl: Crawl | null, isRunning: boolean, pages: number): SourceStatus {
  if (crawl === null) return 'PENDING'
  if (isRunning) return crawl.kind === 'add' ? 'CRAWLING' : 'UPDATING'
  if (crawl.state === 'failed' || crawl.state === 'gate') return 'ERROR'
  if (pages > 0) return 'INDEXED'
  return crawl.state === 'completed' ? 'INDEXED' : 'PENDING'
}
