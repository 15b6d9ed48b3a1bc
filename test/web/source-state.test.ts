import { describe, expect, test } from 'vitest'
import { createAddressCounts } from '../../src/library/sources/source-status.ts'
import type { SourceItem } from '../../web/dashboard/api.ts'
import { describeSourceState } from '../../web/dashboard/sources/source-state.ts'
import { createCounts, createSource } from '../crawl-facts.ts'

function itemOf(overrides: Partial<SourceItem>): SourceItem {
  const { id, name, url } = createSource()
  return {
    ...{ id, name, url, version: null, label: name, kind: 'site', settings: { render: 'http' }, status: 'INDEXED' },
    ...{ pages: 1, chunks: 1, meaning: null, balance: createAddressCounts(createCounts({ indexed: 1 })), reasons: {} },
    ...{ lastCrawledAt: null, refresh: null, isRunning: false, isInterrupted: false, partial: null, widerScope: null },
    ...{ crawl: null, documentation: [] },
    ...overrides,
  }
}

describe('the status of a source in the dashboard', () => {
  test('offers the documentation of a package with one short page', () => {
    expect(describeSourceState(itemOf({ documentation: ['https://react.dev/'] }), [])).toMatchObject({
      tone: 'warn',
      note: 'add https://react.dev/',
    })
  })

  test('is PARTIAL when addresses were not read, with the button that completes it', () => {
    const counts = { unread: 0, pending: 0, failed: 0 }
    const capped = {
      ...counts,
      message: 'PARTIAL: the cap of 10 was reached: 48 known addresses not read',
      unread: 48,
      complete: [{ path: '/api/sources/1/recrawl', body: { scope: { maxPages: 58 } } }],
    }
    expect(describeSourceState(itemOf({ partial: capped }), [])).toMatchObject({
      word: 'PARTIAL',
      tone: 'warn',
      note: 'the cap of 10 was reached: 48 known addresses not read – “Read more” reads up to 58 pages',
    })
    const failed = {
      ...counts,
      message: 'PARTIAL: 2 addresses could not be read',
      failed: 2,
      complete: [{ path: '/api/sources/1/retry', body: {} }],
    }
    expect(describeSourceState(itemOf({ partial: failed }), []).note).toBe(
      '2 addresses could not be read – Retry requests them again',
    )
    const interrupted = {
      ...counts,
      message: 'PARTIAL: interrupted: 7 addresses not read',
      pending: 7,
      complete: [{ path: '/api/sources/1/recrawl', body: {} }],
    }
    expect(
      describeSourceState(itemOf({ status: 'PENDING', isInterrupted: true, partial: interrupted }), []),
    ).toMatchObject({
      word: 'PARTIAL',
      note: 'interrupted: 7 addresses not read – press Recrawl to continue',
    })
    expect(describeSourceState(itemOf({}), [])).toMatchObject({ word: 'indexed', note: null })
  })
})
