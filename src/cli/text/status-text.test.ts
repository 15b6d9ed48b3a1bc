import { describe, expect, test } from 'vitest'
import { createCounts, createRow, createSource, createSummary } from '../../../test/crawl-facts.ts'
import { DEFAULT_SCOPE } from '../../core/url/scope.ts'
import { NOTHING_SETTLED } from '../../crawl/ledger.ts'
import type { Crawl } from '../../library/ports/store.ts'
import type { SourceDescription } from '../../library/sources/describe-source.ts'
import { findShortfall } from '../../library/sources/shortfall.ts'
import { createAddressCounts } from '../../library/sources/source-status.ts'
import type { Hint } from '../library.ts'
import { statusRecord, writeSourceLines, writeStatus } from './status-text.ts'

const NOW = Date.UTC(2026, 1, 20, 10, 30)
const hint: Hint = (verb, ...words) => ['pharos', verb, ...words].join(' ')

const CRAWL: Crawl = {
  id: '00000000-0000-4000-8000-000000000002',
  sourceId: '00000000-0000-4000-8000-000000000001',
  kind: 'add',
  state: 'running',
  options: { full: false, acceptLoss: false, discover: false, maxAgeMs: 0, maxAgeMsOf: {}, scope: {} },
  runner: null,
  startedAt: NOW - 225_000,
  heartbeatAt: NOW - 1000,
  endedAt: null,
  summary: null,
}

const ENDED: Crawl = {
  ...CRAWL,
  state: 'completed',
  endedAt: NOW - 180_000,
  summary: createSummary({ elapsedMs: 4200 }),
}

function describeSource(given: Partial<SourceDescription> = {}): SourceDescription {
  const description = {
    source: createSource(),
    status: 'INDEXED',
    balance: createAddressCounts(createCounts({})),
    reasons: {},
    pages: 0,
    chunks: 0,
    meaning: null,
    crawl: ENDED,
    lastCrawledAt: NOW - 180_000,
    isRunning: false,
    isInterrupted: false,
    wider: null,
    documentation: [],
    waiting: [],
    commit: null,
    settled: given.balance ?? NOTHING_SETTLED,
    errors: [],
    kept: 0,
    filtered: [],
    leftOut: [],
    ...given,
  } as const
  return { ...description, shortfall: findShortfall({ ...description, pending: description.balance.pending }) }
}

describe('status of a source', () => {
  test('does not count a container file as left out', () => {
    const description = describeSource({
      balance: createAddressCounts(createCounts({ indexed: 3, skipped: 3 })),
      reasons: { 'skipped/container': 2, 'skipped/not-text': 1 },
      leftOut: [
        createRow({ url: 'file:///a.epub', reason: 'container' }),
        createRow({ url: 'file:///b', reason: 'not-text' }),
      ],
    })
    expect(writeStatus(description, hint, NOW).split('\n').slice(-3)).toEqual([
      'Split: 2 files, whose pages are indexed separately',
      'Skipped: 1 URL left out for other reasons',
      '  - file:///b: not-text',
    ])
  })

  test('shows progress while a crawl runs', () => {
    const description = describeSource({
      status: 'CRAWLING',
      balance: createAddressCounts(createCounts({ indexed: 42, unchanged: 2, skipped: 18, failed: 2, pending: 76 })),
      reasons: { 'skipped/redirect': 13, 'skipped/blocked': 5, 'failed/timeout': 2 },
      crawl: CRAWL,
      isRunning: true,
      errors: [createRow({ state: 'failed', reason: 'timeout', detail: 'no answer' })],
      filtered: [createRow({ url: 'https://docs.example/old/x', reason: 'blocked', pattern: '/old/**' })],
      leftOut: [createRow({ url: 'https://docs.example/r', reason: 'redirect', target: 'https://docs.example/s' })],
    })
    expect(writeStatus(description, hint, NOW)).toBe(
      [
        'Source: docs (https://docs.example/)',
        'Status: CRAWLING',
        'Progress: 44/122 pages crawled (36%)',
        'Skipped: 15 pages (2 unchanged, 13 redirect)',
        '  - https://docs.example/r: redirect → https://docs.example/s',
        '  and 12 more; --all lists them',
        'Errors: 2 pages failed',
        '  - https://docs.example/a: timeout: no answer',
        '  and 1 more; --all lists them',
        'Filtered: 5 URLs excluded by scope',
        '  - https://docs.example/old/x: blocked by /old/**',
        '  and 4 more; --all lists them',
        'Started: 2026-02-20T10:26:15Z',
        'Elapsed: 3m 45s',
      ].join('\n'),
    )
  })

  test('shows the balance after a crawl', () => {
    const description = describeSource({
      balance: createAddressCounts(createCounts({ indexed: 103, unchanged: 15, skipped: 9, failed: 2, gone: 1 })),
      reasons: { 'skipped/redirect': 9, 'failed/network': 2 },
      chunks: 1247,
      errors: [
        createRow({ state: 'failed', reason: 'network' }),
        createRow({ url: 'https://docs.example/b', reason: 'network' }),
      ],
      leftOut: [createRow({ url: 'https://docs.example/r', reason: 'redirect', target: 'https://docs.example/s' })],
    })
    expect(writeStatus(description, hint, NOW)).toBe(
      [
        'PARTIAL: 2 addresses could not be read; complete it with: pharos retry docs',
        'Source: docs (https://docs.example/)',
        'Status: INDEXED',
        'Last crawl: 2026-02-20T10:27:00Z (3m ago), add, completed in 4.2s',
        'Pages: 103 crawled, 15 skipped (unchanged), 2 errors',
        'Chunks: 1,247 total',
        'Ledger: 130 discovered = 103 indexed + 15 unchanged + 9 skipped + 2 failed + 1 gone + 0 pending',
        'Errors: 2 pages failed',
        '  - https://docs.example/a: network',
        '  - https://docs.example/b: network',
        'Skipped: 9 URLs left out for other reasons',
        '  - https://docs.example/r: redirect → https://docs.example/s',
        '  and 8 more; --all lists them',
      ].join('\n'),
    )
  })

  test('counts progress up to the page limit', () => {
    const balance = createAddressCounts(createCounts({ indexed: 17, pending: 180 }))
    const description = describeSource({ balance, crawl: CRAWL, isRunning: true })
    const progress = (maxPages: number | null, given = description) =>
      writeStatus({ ...given, source: createSource({ scope: { ...DEFAULT_SCOPE, maxPages } }) }, hint, NOW)
    expect(progress(null)).toContain('Progress: 17/197 pages crawled (8%)')
    expect(progress(40)).toContain('Progress: 17/40 pages crawled (42%)')
    const run = { ...CRAWL, options: { ...CRAWL.options, scope: { maxPages: 20 } } }
    expect(progress(40, { ...description, crawl: run })).toContain('Progress: 17/20 pages crawled (85%)')
    expect(progress(10)).toContain('Progress: 17/17 pages crawled (100%)')
  })

  test('begins with the page limit that was reached, during and after a crawl', () => {
    const reasons = { 'skipped/page-cap': 3, 'failed/needs-rendering': 1 }
    const summary = createSummary({ cappedAt: 10 })
    expect(writeStatus(describeSource({ reasons, crawl: { ...ENDED, summary } }), hint, NOW).split('\n')[0]).toBe(
      'PARTIAL: the cap of 10 was reached: 3 known addresses not read; complete it with: pharos recrawl docs --max-pages 20',
    )
    expect(writeStatus(describeSource({ reasons, crawl: CRAWL, isRunning: true }), hint, NOW).split('\n')[0]).toBe(
      'PARTIAL: a page limit was reached: 3 known addresses not read; complete it with: pharos recrawl docs --max-pages 3',
    )
  })

  test('says how to resume an interrupted crawl', () => {
    const balance = createAddressCounts(createCounts({ indexed: 1, pending: 7 }))
    const crawl: Crawl = {
      ...ENDED,
      state: 'cancelled',
      summary: createSummary({ end: 'cancelled', elapsedMs: 2000, problem: 'interrupted' }),
    }
    const lines = writeStatus(describeSource({ balance, crawl, isInterrupted: true }), hint, NOW).split('\n')
    expect(lines[0]).toBe('PARTIAL: interrupted: 7 addresses not read; complete it with: pharos recrawl docs')
    expect(lines[3]).toBe('Last crawl: 2026-02-20T10:27:00Z (3m ago), add, stopped after 2s: interrupted')
  })

  test('shows that a killed crawl is not finished', () => {
    expect(writeStatus(describeSource({ crawl: CRAWL, isInterrupted: true }), hint, NOW)).toContain(
      'Last crawl: 2026-02-20T10:29:59Z (just now), add, not finished\n',
    )
  })

  test('says that a source was never crawled', () => {
    const description = describeSource({ status: 'PENDING', crawl: null, lastCrawledAt: null })
    expect(writeStatus(description, hint, NOW)).toContain('Status: PENDING\nLast crawl: never\n')
    expect(writeSourceLines([description], NOW)).toEqual([
      'docs  PENDING  0 pages, 0 chunks, never crawled  https://docs.example/',
    ])
  })

  test('replaces control characters', () => {
    const evil = createRow({ url: 'https://x/\x1b[2J', reason: 'blocked', pattern: '\n\x07', detail: '\u202e' })
    const description = describeSource({
      source: createSource({ name: 'a\x1b]0;b\x07' }),
      balance: createAddressCounts(createCounts({ failed: 1, skipped: 1 })),
      reasons: { 'skipped/blocked': 1 },
      errors: [evil],
      filtered: [evil],
    })
    const text = `${writeStatus(description, hint, NOW)}\n${writeSourceLines([description], NOW)}`
    expect(text.match(/(?!\n)[\p{Cc}\u202e]/gu)).toBeNull()
    expect(text.split('\n')).toHaveLength(11)
  })

  test('the short form shows what needs attention', () => {
    const balance = createAddressCounts(createCounts({ indexed: 9, failed: 1, pending: 1200 }))
    const description = describeSource({ balance, pages: 9, chunks: 30, isInterrupted: true })
    expect(writeSourceLines([description], NOW)).toEqual([
      'docs  INDEXED  9 pages, 30 chunks, 1 error, 1,200 pending, PARTIAL: interrupted: 1,200 addresses not read, crawled 3m ago  https://docs.example/',
    ])
  })

  test('the list of several sources is aligned in columns', () => {
    const [wide, other] = [createSource({ name: '文档', version: '2' }), createSource({ name: 'a' })]
    const lines = writeSourceLines(
      [describeSource({ source: wide }), describeSource({ source: other, status: 'UPDATING', pages: 1000 })],
      NOW,
    )
    expect(lines).toEqual([
      '文档@2  INDEXED   0 pages, 0 chunks, crawled 3m ago      https://docs.example/',
      'a       UPDATING  1,000 pages, 0 chunks, crawled 3m ago  https://docs.example/',
    ])
  })

  test('the JSON record has the counts, the reasons and the last crawl', () => {
    const balance = createAddressCounts(createCounts({ indexed: 1, failed: 1 }))
    expect(
      statusRecord(describeSource({ balance, errors: [createRow({ reason: 'tls', status: 525 })] }), NOW),
    ).toMatchObject({
      name: 'docs',
      status: 'INDEXED',
      discovered: 2,
      indexed: 1,
      unchanged: 0,
      skipped: 0,
      failed: 1,
      gone: 0,
      pending: 0,
      is_running: false,
      capped_at: null,
      last_crawl: { kind: 'add', state: 'completed', ended_at: '2026-02-20T10:27:00.000Z', elapsed_ms: 4200 },
      errors: [{ url: 'https://docs.example/a', reason: 'tls', status: 525, detail: null }],
    })
  })

  test('the JSON record has the totals of lists that are truncated', () => {
    const balance = createAddressCounts(createCounts({ failed: 7, skipped: 9 }))
    const reasons = { 'skipped/off-site': 5, 'skipped/page-cap': 1, 'skipped/robots-disallow': 3 }
    const leftOut = [createRow({ reason: 'page-cap', pattern: '10' })]
    expect(statusRecord(describeSource({ balance, reasons, leftOut }), NOW)).toMatchObject({
      skipped: 9,
      errors_total: 7,
      filtered_total: 5,
      left_out_total: 4,
      left_out: [{ url: 'https://docs.example/a', reason: 'page-cap', pattern: '10', target: null }],
    })
  })

  test('the JSON record has the elapsed time of a running crawl, and none of a killed one', () => {
    const elapsed = (isRunning: boolean) => statusRecord(describeSource({ crawl: CRAWL, isRunning }), NOW)
    expect(elapsed(true)).toMatchObject({ last_crawl: { elapsed_ms: 225_000 } })
    expect(elapsed(false)).toMatchObject({ last_crawl: { elapsed_ms: null } })
  })

  test('an interrupted refresh is resumed with a refresh', () => {
    const crawl: Crawl = { ...CRAWL, kind: 'refresh' }
    expect(writeStatus(describeSource({ crawl, isInterrupted: true }), hint, NOW)).toContain(
      'complete it with: pharos refresh docs\n',
    )
  })
})

test('a paused host is listed with the end and the cause of its pause', () => {
  const cause = 'network, the connection was refused'
  const waiting = [{ host: 'docs.example', until: NOW + 90_000, leftMs: 90_000, cause }]
  const line = `Waiting: docs.example is paused until 2026-02-20T10:31:30Z, for 1m 30s (${cause})`
  for (const isRunning of [true, false]) {
    const description = describeSource({ waiting, isRunning })
    expect(writeStatus(description, hint, NOW).split('\n')).toContain(line)
    expect(statusRecord(description, NOW)).toMatchObject({
      waiting: [{ host: 'docs.example', until: '2026-02-20T10:31:30.000Z', cause }],
    })
  }
})

test('the result of a crawl has its own counts, not those of the ledger, and tells why missing pages were kept', () => {
  const balance = createAddressCounts(createCounts({ indexed: 4, unchanged: 50, failed: 3, pending: 12 }))
  const summary = createSummary({ kind: 'recrawl', incomplete: 'https://docs.example/sitemap.xml could not be read' })
  const crawl: Crawl = { ...ENDED, kind: 'recrawl', summary }
  const settled = { indexed: 1, unchanged: 2, failed: 0 }
  const lines = writeStatus(describeSource({ balance, crawl, settled }), hint, NOW).split('\n')
  expect(lines).toContain('missing pages were kept, because https://docs.example/sitemap.xml could not be read')
  expect(lines).toContain('Pages: 1 crawled, 2 skipped (unchanged), 0 errors, 12 not read')
})

test('the parked hosts and dropped addresses of the last crawl are listed', () => {
  const parked = [{ host: 'docs.example', detail: 'Retry-After 3600' }]
  const description = describeSource({ crawl: { ...ENDED, summary: createSummary({ parked, overflow: 3 }) } })
  expect(writeStatus(description, hint, NOW).split('\n')).toEqual(
    expect.arrayContaining([
      'Host skipped: docs.example, Retry-After 3600',
      'Not recorded: 3 addresses beyond maxAddresses',
    ]),
  )
})

test('pages that need a browser come first, with the command that renders them', () => {
  const reasons = { 'failed/needs-rendering': 2 }
  const advice = 'let a browser read its pages: pharos recrawl docs --render auto'
  expect(writeStatus(describeSource({ reasons }), hint, NOW).split('\n')[0]).toBe(
    `2 pages are empty until a browser runs their scripts; ${advice}`,
  )
})

test('rendering and chunking are shown if they differ from the defaults', () => {
  const { settings } = createSource()
  const other = createSource({ settings: { ...settings, render: 'auto', chunks: 'tokens' } })
  const linesOf = (source: typeof other) => writeStatus(describeSource({ source }), hint, NOW).split('\n')
  expect(linesOf(other)).toContain('Reading: render auto, chunks tokens')
  expect(linesOf(createSource()).filter((line) => line.startsWith('Reading'))).toEqual([])
  expect(writeSourceLines([describeSource({ source: other })], NOW)[0]).toContain(', render auto, chunks tokens, ')
  expect(writeSourceLines([describeSource({})], NOW)[0]).not.toContain('render')
  expect(statusRecord(describeSource({ source: other }), NOW)).toMatchObject({
    render: 'auto',
    chunk_profile: 'tokens',
  })
})

test('an address that the scope refused is listed with the limit or scope that refused it', () => {
  const filtered = [
    createRow({ url: 'https://docs.example/deep', state: 'skipped', reason: 'max-depth', pattern: '0' }),
    createRow({ url: 'https://docs.example/other', state: 'skipped', reason: 'out-of-scope', pattern: 'subpages' }),
    createRow({ url: 'https://docs.example/old', state: 'skipped', reason: 'blocked', pattern: '/old/**' }),
  ]
  const reasons = { 'skipped/max-depth': 1, 'skipped/out-of-scope': 1, 'skipped/blocked': 1 }
  expect(writeStatus(describeSource({ filtered, reasons }), hint, NOW).split('\n')).toEqual(
    expect.arrayContaining([
      '  - https://docs.example/deep: max-depth (limit 0)',
      '  - https://docs.example/other: out-of-scope (scope subpages)',
      '  - https://docs.example/old: blocked by /old/**',
    ]),
  )
})
