import { describe, expect, test } from 'vitest'
import { createAddressCounts } from '../../src/library/sources/source-status.ts'
import type { CrawlItem, SourceItem } from '../../web/dashboard/api.ts'
import { listMatters } from '../../web/dashboard/home/matters.ts'
import { describeAddress } from '../../web/dashboard/sources/describe-address.ts'
import { describeSourceState, findRemedy, shortenProblem } from '../../web/dashboard/sources/source-state.ts'
import { createCounts, createSource } from '../crawl-facts.ts'

function itemOf(overrides: Partial<SourceItem>): SourceItem {
  const { id, name, url } = createSource()
  return {
    ...{ id, name, url, version: null, label: name, kind: 'site', settings: { render: 'http' }, status: 'INDEXED' },
    ...{ pages: 1, chunks: 1, meaning: null, balance: createAddressCounts(createCounts({ indexed: 1 })), reasons: {} },
    ...{ lastCrawledAt: null, refresh: null, isRunning: false, isInterrupted: false, partial: null, widerScope: null },
    ...{ crawl: null, documentation: [], waiting: [] },
    ...overrides,
  }
}

describe('the status of a source in the dashboard', () => {
  test('offers the documentation of a package with one short page', () => {
    expect(describeSourceState(itemOf({ documentation: ['https://react.dev/'] }), [])).toMatchObject({
      tone: 'warn',
      note: 'Add https://react.dev/.',
    })
  })

  test('tells complete, partial, capped and failed sources apart, with the action that completes each', () => {
    const counts = { cap: null, unread: 0, pending: 0, failed: 0, complete: [] }
    const capped = itemOf({ partial: { ...counts, cap: 10, unread: 48 } })
    expect(describeSourceState(capped, [])).toMatchObject({
      word: 'page limit',
      tone: 'limit',
      note: 'The page limit of 10 was reached: 48 known addresses not read.',
    })
    expect(findRemedy(capped)).toMatchObject({
      label: 'Continue without limit',
      verb: 'recrawl',
      body: { scope: { maxPages: null } },
    })
    const shallow = itemOf({ reasons: { 'skipped/max-depth': 125 } })
    expect(describeSourceState(shallow, [])).toMatchObject({
      word: 'depth limit',
      tone: 'limit',
      note: '125 known addresses beyond the depth limit not read. A recrawl with a larger depth limit includes them.',
      needsAttention: false,
    })
    expect(findRemedy(shallow)).toBeUndefined()
    const failed = itemOf({ partial: { ...counts, failed: 2 } })
    expect(describeSourceState(failed, [])).toMatchObject({
      word: 'partial',
      note: '2 addresses could not be read.',
    })
    expect(findRemedy(failed)).toMatchObject({ label: 'Retry', verb: 'retry' })
    const interrupted = itemOf({
      status: 'PENDING',
      isInterrupted: true,
      partial: { ...counts, pending: 7, complete: [{ path: '/api/sources/1/refresh' }] },
    })
    expect(describeSourceState(interrupted, [])).toMatchObject({
      word: 'partial',
      note: 'The last crawl stopped before its end: 7 addresses left.',
    })
    expect(findRemedy(interrupted)).toMatchObject({ label: 'Continue', verb: 'refresh' })
    const summary = { problem: 'x: failed (not-found, answered 404)' }
    const broken = itemOf({ status: 'ERROR', crawl: { state: 'failed', summary } })
    expect(describeSourceState(broken, [])).toMatchObject({
      word: 'failed',
      tone: 'bad',
      note: 'Nothing was read: answered 404.',
    })
    const problem = 'nothing could be indexed: https://a.test/: skipped (robots-disallow, Disallow: /)'
    expect(shortenProblem(problem)).toBe('Nothing was read: robots.txt says “Disallow: /”.')
    expect(describeSourceState(itemOf({}), [])).toMatchObject({ word: 'complete', note: null })
    expect(findRemedy(itemOf({}))).toBeUndefined()
  })

  test('only the version whose crawl waits is queued, although another version has the same address', () => {
    const [crawled, other] = [itemOf({ id: 's1', version: '1.0' }), itemOf({ id: 's2', version: '2.0' })]
    const job: CrawlItem = {
      ...{ id: 'j1', url: crawled.url, startedAt: null, paused: false, status: 'queued', stage: 'queued' },
      ...{ visited: 0, downloaded: 0, errors: 0, queueSize: 0, sourceId: 's1' },
    }
    expect(describeSourceState(crawled, [job]).word).toBe('queued')
    expect(describeSourceState(other, [job]).word).toBe('complete')
    expect(describeSourceState(other, [{ ...job, sourceId: null }]).word).toBe('queued')
  })

  test('nothing needs attention while a source is crawled, except hosts that are paused', () => {
    const now = Date.parse('2026-02-20T10:00:00Z')
    const waiting = [{ host: 'docs.example', until: '2026-02-20T10:05:00Z' }]
    const partial = { cap: 10, unread: 48, pending: 0, failed: 0, complete: [] }
    const words = (overrides: Partial<SourceItem>) => listMatters(itemOf(overrides), [], now).map(({ word }) => word)
    expect(words({})).toEqual([])
    expect(words({ partial })).toEqual(['page limit'])
    expect(words({ partial, waiting })).toEqual(['page limit', 'paused'])
    expect(words({ partial, waiting, isRunning: true })).toEqual(['paused'])
    const textOf = (overrides: Partial<SourceItem>) => listMatters(itemOf(overrides), [], now).at(-1)?.text
    expect(textOf({ partial, waiting })).toMatch(/asked to slow down\.$/)
    expect(textOf({ waiting, isRunning: true })).toMatch(/The crawl goes on by itself then\.$/)
    const actionOf = (overrides: Partial<SourceItem>) => listMatters(itemOf(overrides), [], now).at(-1)?.action
    expect(actionOf({ waiting, isRunning: true })).toMatchObject({ verb: 'resume', label: 'Continue now' })
    expect(actionOf({ partial, waiting })).toMatchObject({ verb: 'retry', label: 'Retry now', endsPauses: true })
    const left = { cap: null, unread: 0, pending: 7, failed: 0, complete: [{ path: '/api/sources/1/refresh' }] }
    expect(actionOf({ partial: left, waiting })).toMatchObject({ verb: 'refresh', endsPauses: true })
    const refresh = { every: '1d', everyMs: 1, nextAt: '2026-02-20T09:00:00Z', attempts: 0, problem: null }
    expect(words({ refresh })).toEqual(['due'])
    expect(words({ refresh: { ...refresh, nextAt: '2026-02-20T09:58:30Z' } })).toEqual([])
    expect(words({ refresh: { ...refresh, nextAt: '2026-02-20T11:00:00Z' } })).toEqual([])
  })
})

describe('the meaning of a typed address', () => {
  test.each([
    ['example.com/docs/intro.html', 'web site example.com, the pages below /docs/'],
    ['https://docs.example', 'web site docs.example'],
    ['npm:react@18', 'package react@18 from npm'],
    ['git@host:o/r.git', 'git repository'],
    ['https://host.example/manual.zip', 'archive of files'],
    ['nothing here', ''],
  ])('%s is understood as %s', (text, words) => {
    expect(describeAddress(text)).toEqual({ isFolder: false, words })
  })

  test.each(['/srv/docs', '~/docs', './docs', 'C:\\docs', 'file:///srv'])('%s is a folder', (text) => {
    expect(describeAddress(text).isFolder).toBe(true)
  })
})
