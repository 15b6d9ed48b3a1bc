import { describe, expect, test } from 'vitest'
import type { CrawlEnd, CrawlSummary } from '../../crawl/events.ts'
import { findShortfall, type ShortfallFacts, writeShortfall } from './shortfall.ts'

const SUMMARY: CrawlSummary = {
  ...{ crawlId: 'c1', kind: 'add', end: 'completed', problem: null, uselessReason: null, incomplete: null },
  ledger: {
    total: 0,
    states: { pending: 0, leased: 0, indexed: 0, unchanged: 0, skipped: 0, failed: 0, gone: 0 },
    reasons: {},
  },
  ...{ visited: 0, indexed: 0, unchanged: 0, skipped: 0, failed: 0, removed: 0, withheld: 0, overflow: 0 },
  ...{ cappedAt: null, parked: [], newInRefresh: 0, bytes: 0, requests: 0, elapsedMs: 0 },
}

function find(end: CrawlEnd, more: Partial<ShortfallFacts> = {}) {
  return findShortfall({
    source: { url: 'https://docs.test/' },
    ...{ reasons: {}, pending: 0, pages: 1, isRunning: false, isInterrupted: false },
    crawl: { kind: 'add', state: end, summary: { ...SUMMARY, end } },
    ...more,
  })
}

describe('findShortfall', () => {
  test.each<[CrawlEnd, number, string | null]>([
    ['failed', 3, 'PARTIAL: the last crawl failed: 3 addresses not read'],
    ['failed', 0, null],
    ['completed', 3, null],
  ])('a crawl that ended as %s with %i pending addresses has the shortfall %j', (end, pending, words) => {
    const shortfall = find(end, { pending })
    expect(shortfall === null ? null : writeShortfall(shortfall)).toBe(words)
    if (words !== null) expect(shortfall?.gaps[0]?.remedy).toEqual({ verb: 'recrawl', maxPages: null })
  })

  test('lists the page limit first, then the interruption, then failures', () => {
    const reasons = { 'failed/timeout': 1, 'skipped/page-cap': 2 }
    const shortfall = find('cancelled', { reasons, pending: 3, isInterrupted: true })
    expect(shortfall === null ? null : writeShortfall(shortfall)).toBe(
      'PARTIAL: a page limit was reached: 2 known addresses not read; interrupted: 3 addresses not read; 1 address could not be read',
    )
  })

  test('ignores pending addresses while a crawl is running', () => {
    expect(find('failed', { pending: 3, isRunning: true })).toBeNull()
  })
})
