import { createColors } from 'picocolors'
import { describe, expect, test } from 'vitest'
import { createCounts, createRow, createSource, createSummary } from '../../../test/crawl-facts.ts'
import type { Hint } from '../library.ts'
import { type CrawlResult, summaryRecord, writeResumeCommand, writeShortSummary, writeSummary } from './summary.ts'

const colors = createColors(false)
const hint: Hint = (verb, ...words) => ['pharos', verb, ...words].join(' ')

function createResult(result: Partial<CrawlResult>): CrawlResult {
  return {
    source: createSource(),
    summary: createSummary(),
    finalStartUrl: 'https://docs.example/',
    failures: [],
    pages: 0,
    chunks: 0,
    documentation: [],
    ...result,
  }
}

function write(result: Partial<CrawlResult>): string {
  return writeSummary(createResult(result), hint, colors)
}

describe('summary of a crawl', () => {
  test('offers the documentation of a package with one short page, ready to paste', () => {
    const documentation = ['https://react.dev/', 'https://github.com/facebook/react']
    expect(write({ source: createSource({ name: 'react' }), pages: 1, documentation }).split('\n')[0]).toBe(
      'react has only one short page, and names its documentation; add it with: pharos add https://react.dev/ or pharos add https://github.com/facebook/react',
    )
    expect(summaryRecord(createResult({ documentation }))).toMatchObject({ documentation })
    expect(summaryRecord(createResult({}))).not.toHaveProperty('documentation')
  })

  test('shows the balance of the ledger with reasons, and the work of the run', () => {
    const reasons = { 'skipped/off-site': 20, 'skipped/redirect': 6, 'skipped/blocked': 6 }
    const summary = createSummary({
      ledger: createCounts({ indexed: 1164, skipped: 32 }, reasons),
      visited: 1170,
      indexed: 1164,
      skipped: 6,
      bytes: 2 ** 21,
      requests: 1180,
      elapsedMs: 12_000,
    })
    expect(write({ summary, pages: 1164, chunks: 9001 })).toBe(
      [
        'docs: 1,164 pages, 9,001 chunks in the library',
        '  discovered  1,196',
        '  indexed     1,164',
        '  unchanged       0',
        '  skipped        32  20 off-site, 6 blocked, 6 redirect',
        '  failed          0',
        '  gone            0',
        '  pending         0',
        'this run: 1,164 indexed, 6 skipped, 2 MB in 1,180 requests, 12s, 97 pages/s',
      ].join('\n'),
    )
  })

  test('counts the unread addresses in the line of the run', () => {
    const ledger = createCounts({ unchanged: 30, skipped: 20 }, { 'skipped/page-cap': 20 })
    const summary = createSummary({ ledger, unchanged: 5, cappedAt: 5, unread: 45, kind: 'recrawl' })
    expect(write({ summary, pages: 30 })).toContain('this run: 5 unchanged, 45 not read, ')
  })

  test('begins with the page limit that was reached', () => {
    const ledger = createCounts({ indexed: 5, skipped: 7 }, { 'skipped/page-cap': 7 })
    const [first] = write({ summary: createSummary({ ledger, cappedAt: 5 }) }).split('\n')
    expect(first).toBe(
      'PARTIAL: the cap of 5 was reached: 7 known addresses not read; complete it with: pharos recrawl docs --max-pages 12',
    )
  })

  test.each([
    [
      'http',
      1,
      '1 page is empty until a browser runs its scripts; let a browser read its pages: pharos recrawl docs --render auto',
    ],
    [
      'auto',
      2,
      '2 pages are empty until a browser runs their scripts; install Chromium, or name a browser in the setting browser; if there is one, open the address in it to see what it shows',
    ],
    [
      'chromium',
      2,
      '2 pages are empty until a browser runs their scripts; open the address in a browser to see what it shows',
    ],
  ] as const)('gives advice for pages that need a browser with --render %s', (render, count, line) => {
    const ledger = createCounts({ indexed: 5, failed: count }, { 'failed/needs-rendering': count })
    const source = createSource({ settings: { ...createSource().settings, render } })
    expect(write({ source, summary: createSummary({ ledger }) }).split('\n')[0]).toBe(line)
  })

  test.each([
    ['http', 2, 'pharos recrawl docs --render auto'],
    ['http', 3, 'pharos retry docs'],
    ['auto', 2, 'pharos retry docs'],
  ] as const)(
    'with --render %s and %i failed pages, of which 2 need a browser, ends with the command that retries them',
    (render, failed, command) => {
      const ledger = createCounts({ indexed: 5, failed }, { 'failed/needs-rendering': 2 })
      const source = createSource({ settings: { ...createSource().settings, render } })
      const failures = [createRow({ state: 'failed', reason: 'needs-rendering' })]
      expect(
        write({ source, summary: createSummary({ ledger }), failures })
          .split('\n')
          .at(-1),
      ).toBe(`again: ${command}`)
    },
  )

  test('begins with the addresses left out as repetitions', () => {
    const first = (same: number) => {
      const ledger = createCounts({ indexed: 50, skipped: 400 }, { 'skipped/same-content': same })
      return write({ summary: createSummary({ ledger, cappedAt: 50, unread: 4 }) }).split('\n')[0]
    }
    const advice = (them: string) =>
      `pharos recrawl docs --no-trap-guards reads ${them}, pharos explain docs <url> explains why`
    expect(first(1312)).toBe(
      `1,312 addresses were left out, because all pages like them were the same; ${advice('them')}`,
    )
    expect(first(1)).toBe(`1 address was left out, because all pages like it were the same; ${advice('it')}`)
    expect(first(0)).toContain('the cap of 50 was reached')
  })

  test('begins with the addresses beyond the limit', () => {
    const ledger = createCounts({ indexed: 1_000_000 })
    const first = (overflow: number) => write({ summary: createSummary({ ledger, overflow }) }).split('\n')[0]
    const advice = 'raise that, or narrow the scope with --allow, --block or --max-depth'
    expect(first(12_345)).toBe(
      `12,345 more addresses were found than the 1,000,000 a source may have (maxAddresses); ${advice}`,
    )
    expect(first(1)).toBe(`1 more address was found than the 1,000,000 a source may have (maxAddresses); ${advice}`)
    expect(first(0)).not.toContain('more')
  })

  test('counts pending and leased addresses as left after an interruption', () => {
    const ledger = createCounts({ indexed: 5, pending: 7, leased: 2 })
    const lines = write({ summary: createSummary({ ledger, end: 'cancelled' }) }).split('\n')
    expect(lines[0]).toBe('stopped with 9 addresses left')
    expect(lines).toContain('  pending      9')
  })

  test('shows how many removals were withheld, and why missing pages were kept', () => {
    const summary = createSummary({
      kind: 'recrawl',
      end: 'gate',
      withheld: 30,
      incomplete: 'https://docs.example/err could not be read (http-server-error)\x1b',
    })
    expect(write({ summary }).split('\n').slice(0, 2)).toEqual([
      '30 pages no longer found, but kept because there are so many; --accept-loss removes them',
      'missing pages were kept, because https://docs.example/err could not be read (http-server-error)�',
    ])
  })

  test('shows only the cause if no request was sent', () => {
    const summary = createSummary({
      kind: 'recrawl',
      end: 'failed',
      problem: 'http://127.0.0.1/: address-refused, 127.0.0.1 is not a public address',
      uselessReason: 'address-refused',
      incomplete: 'http://127.0.0.1/llms.txt could not be read (address-refused)',
      ledger: createCounts({ indexed: 1, unchanged: 1 }),
    })
    expect(write({ summary, pages: 2, chunks: 3 }).split('\n')).toEqual([
      'no request was sent to the site: http://127.0.0.1/: address-refused, 127.0.0.1 is not a public address',
      'docs: 2 pages, 3 chunks in the library, unchanged',
    ])
    expect(write({ summary: { ...summary, requests: 1 } })).toContain('this run:')
  })

  test('the short form is one line', () => {
    const short = (summary: CrawlResult['summary']) => writeShortSummary(createResult({ pages: 2, chunks: 3, summary }))
    expect(short(createSummary({ cappedAt: 5 }))).toBe('docs: 2 pages, 3 chunks in the library')
    expect(short(createSummary({ kind: 'retry' }))).toBe('docs: nothing to retry')
  })

  test('lists examples of failures, with advice', () => {
    const ledger = createCounts({ indexed: 1, failed: 3 }, { 'failed/timeout': 2, 'failed/tls': 1 })
    const failures = [
      createRow({ url: 'https://docs.example/a', state: 'failed', reason: 'timeout', detail: 'no answer in 30s' }),
      createRow({ url: 'https://docs.example/\u202eb', state: 'failed', reason: 'tls' }),
    ]
    const lines = write({ source: createSource({ version: '2' }), summary: createSummary({ ledger }), failures })
    expect(lines).toContain('  failed      3  2 timeout, 1 tls\n')
    expect(lines.split('\n').slice(-5)).toEqual([
      'failed:',
      '  https://docs.example/a: timeout: no answer in 30s',
      '  https://docs.example/�b: tls',
      '  and 1 more',
      'why: pharos explain docs@2 <url>',
    ])
  })

  test('a crawl that partly failed is PARTIAL, in the short summary too', () => {
    const ledger = createCounts({ indexed: 1, failed: 2 }, { 'failed/timeout': 2 })
    const result = createResult({ summary: createSummary({ ledger }), pages: 1, chunks: 4 })
    const [first] = writeSummary(result, hint, colors).split('\n')
    expect(first).toBe('PARTIAL: 2 addresses could not be read; complete it with: pharos retry docs')
    expect(writeShortSummary(result)).toBe(
      'docs: 1 page, 4 chunks in the library, PARTIAL: 2 addresses could not be read',
    )
  })

  test('does not suggest a retry after the loss gate', () => {
    const summary = createSummary({ kind: 'recrawl', end: 'gate', withheld: 30, ledger: createCounts({ failed: 1 }) })
    const text = write({ summary, failures: [createRow({ state: 'failed', reason: 'not-found' })] })
    expect(text).toContain('why: pharos explain docs <url>')
    expect(text).not.toContain('retry')
  })

  test('a retry without failed addresses is one line', () => {
    const ledger = createCounts({ indexed: 3 })
    expect(write({ summary: createSummary({ kind: 'retry', ledger }) })).toBe('docs: nothing to retry')
    expect(write({ summary: createSummary({ kind: 'retry', ledger, visited: 1 }) })).toContain('this run: ')
  })

  test('an interrupted run is resumed with the same command, a first crawl with a recrawl', () => {
    expect(writeResumeCommand(createSource(), 'refresh', hint)).toBe('pharos refresh docs')
    expect(writeResumeCommand(createSource(), 'add', hint)).toBe('pharos recrawl docs')
  })

  test.each([
    ['https://docs.example/', 'https://docs.example/en/', true],
    ['https://docs.example/', 'https://www.docs.example/', true],
    ['https://docs.example/a/b', 'https://docs.example/c/b', true],
    ['http://docs.example/', 'https://docs.example/', false],
    ['https://docs.example/docs', 'https://docs.example/docs/', false],
    ['https://docs.example/docs/', 'https://docs.example/docs/index.html', false],
    ['https://docs.example/docs', 'https://docs.example/docs/index.html', false],
  ])('reports that a start at %s redirects to %s: %s', (url, startedAt, isReported) => {
    const [first] = write({ source: createSource({ url }), finalStartUrl: startedAt }).split('\n')
    expect(first === `the start redirects to ${startedAt}; that address was crawled`).toBe(isReported)
  })

  test('formats sizes readably', () => {
    const row = createRow({ state: 'failed', reason: 'too-large', detail: 'more than 20971520 bytes' })
    expect(write({ failures: [row] })).toContain('https://docs.example/a: too-large: more than 20 MB')
  })

  test('counts the new addresses that a refresh saw and did not fetch', () => {
    expect(
      write({ summary: createSummary({ kind: 'refresh', newInRefresh: 1 }) })
        .split('\n')
        .at(-1),
    ).toBe('1 new address found but not fetched; fetch it with: pharos refresh docs --discover')
  })

  test('the JSON record has counts at the top level, and they balance', () => {
    const ledger = createCounts({ indexed: 2, unchanged: 3, skipped: 4, failed: 5, gone: 6, pending: 7, leased: 8 })
    const record = summaryRecord(createResult({ summary: createSummary({ ledger }), pages: 5, chunks: 9 }))
    expect(record).toMatchObject({
      source: { name: 'docs', version: null, url: 'https://docs.example/' },
      end: 'completed',
      discovered: 35,
      indexed: 2,
      unchanged: 3,
      skipped: 4,
      failed: 5,
      gone: 6,
      pending: 15,
      pages: 5,
      chunks: 9,
      run: { visited: 0, removed: 0, elapsed_ms: 0 },
    })
  })
})
