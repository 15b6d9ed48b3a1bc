import { DEFAULT_SCOPE } from '../src/core/url/scope.ts'
import type { CrawlSummary } from '../src/crawl/events.ts'
import type { LedgerCounts, LedgerRow } from '../src/crawl/ledger.ts'
import type { LedgerState } from '../src/crawl/ledger-reasons.ts'
import { DEFAULT_SETTINGS, type Source } from '../src/library/source.ts'

/** A source called `docs`. */
export function createSource(overrides: Partial<Source> = {}): Source {
  return {
    id: '00000000-0000-4000-8000-000000000001',
    name: 'docs',
    version: null,
    url: 'https://docs.example/',
    siteUrl: 'https://docs.example/',
    scope: DEFAULT_SCOPE,
    settings: DEFAULT_SETTINGS,
    createdAt: 0,
    ...overrides,
  }
}

/** A ledger row right after the address was found. */
export function createRow(overrides: Partial<LedgerRow> = {}): LedgerRow {
  return {
    sourceId: '00000000-0000-4000-8000-000000000001',
    key: 'https://docs.example/a',
    url: 'https://docs.example/a',
    host: 'docs.example',
    state: 'pending',
    reason: null,
    pattern: null,
    target: null,
    depth: 1,
    foundOn: 'https://docs.example/',
    discovery: 'link',
    etag: null,
    lastModified: null,
    contentHash: null,
    attempts: 0,
    status: null,
    detail: null,
    firstSeenAt: 0,
    checkedAt: null,
    changedAt: null,
    dueAt: null,
    crawlId: null,
    hasPage: false,
    isShell: false,
    ...overrides,
  }
}

/** Counts with a consistent sum. */
export function createCounts(
  states: Partial<Record<LedgerState, number>>,
  reasons: Readonly<Record<string, number>> = {},
): LedgerCounts {
  const all = { pending: 0, leased: 0, indexed: 0, unchanged: 0, skipped: 0, failed: 0, gone: 0, ...states }
  return { total: Object.values(all).reduce((sum, count) => sum + count, 0), states: all, reasons }
}

/** The summary of a crawl that found nothing. */
export function createSummary(overrides: Partial<CrawlSummary> = {}): CrawlSummary {
  return {
    crawlId: '00000000-0000-4000-8000-000000000002',
    kind: 'add',
    end: 'completed',
    ledger: createCounts({}),
    visited: 0,
    indexed: 0,
    unchanged: 0,
    skipped: 0,
    failed: 0,
    removed: 0,
    withheld: 0,
    cappedAt: null,
    parked: [],
    incomplete: null,
    overflow: 0,
    newInRefresh: 0,
    bytes: 0,
    requests: 0,
    elapsedMs: 0,
    problem: null,
    uselessReason: null,
    ...overrides,
  }
}
