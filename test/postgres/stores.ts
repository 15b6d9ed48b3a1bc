import { setTimeout as sleep } from 'node:timers/promises'
import { DEFAULT_SCOPE } from '../../src/core/url/scope.ts'
import type { LeaseRequest, Visit } from '../../src/crawl/ledger.ts'
import type { Settlement, SettlementResult } from '../../src/crawl/settlement.ts'
import type { Crawl } from '../../src/library/ports/store.ts'
import { DEFAULT_SETTINGS } from '../../src/library/source.ts'
import type { Sql } from '../../src/store/postgres/database/database.ts'
import { openPostgresStore, type PostgresOptions } from '../../src/store/postgres/store.ts'
import { closeLater } from '../close-later.ts'
import { recordOf } from './ledgers.ts'

/** An open PostgreSQL store. */
export type Store = Awaited<ReturnType<typeof openPostgresStore>>

/** The current time in the tests. */
export const NOW = 1_700_000_000_000
/** Time without a heartbeat after which a process loses its leases. */
export const LIVENESS_TIMEOUT_MS = 30_000

/** Opens a library as a process with this name would. It closes with the test. */
export async function openStore(address: string, runner: string, options: PostgresOptions = {}): Promise<Store> {
  const store = await openPostgresStore(address, { ...options, runner })
  closeLater(() => store.close())
  return store
}

export async function addSource(store: Store, id: string): Promise<void> {
  await store.addSource({
    id,
    name: id,
    version: null,
    url: 'https://x.test/',
    siteUrl: 'https://x.test/',
    scope: DEFAULT_SCOPE,
    settings: DEFAULT_SETTINGS,
    createdAt: NOW,
  })
}

export function crawlOf(sourceId: string, more: Partial<Crawl> = {}): Crawl {
  return {
    id: `crawl of ${sourceId}`,
    sourceId,
    kind: 'add',
    state: 'running',
    options: { full: false, acceptLoss: false, discover: false, maxAgeMs: 0, maxAgeMsOf: {}, scope: {} },
    runner: 'one',
    startedAt: NOW,
    heartbeatAt: NOW,
    endedAt: null,
    summary: null,
    ...more,
  }
}

export function lease(store: Store, source: string, now: number, more: Partial<LeaseRequest> = {}): Promise<Visit[]> {
  return store.lease({
    sourceId: source,
    crawlId: `crawl of ${source}`,
    limit: 100,
    now,
    until: now + 120_000,
    horizon: now + 1000,
    isBreadthFirst: false,
    hostsUntil: now + LIVENESS_TIMEOUT_MS,
    ...more,
  })
}

export function settle(store: Store, visit: Visit, more: Partial<Settlement> = {}): Promise<SettlementResult> {
  const record = recordOf(visit.url, `words of ${visit.url}`)
  return store.settle({
    visit,
    crawlId: `crawl of ${visit.sourceId}`,
    now: NOW,
    state: 'indexed',
    record,
    ...more,
  })
}

/** Waits until the given number of sessions wait for a lock. */
export async function untilWaiting(sql: Sql, count: number): Promise<void> {
  const waiting = `SELECT count(*) AS waiting FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock'`
  while (((await sql.get<{ waiting: number }>(waiting))?.waiting ?? 0) < count) await sleep(5)
}
