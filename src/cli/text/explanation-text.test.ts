import { expect, test } from 'vitest'
import { createRow, createSource } from '../../../test/crawl-facts.ts'
import type { Explanation } from '../../library/sources/explain.ts'
import type { Hint } from '../library.ts'
import { explanationRecord, writeExplanation } from './explanation-text.ts'

const NOW = Date.UTC(2026, 1, 20, 10, 30)
const hint: Hint = (verb, ...words) => ['pharos', verb, ...words].join(' ')

function explain(given: Partial<Explanation>): string {
  const url = 'https://docs.example/a'
  const explanation: Explanation = {
    url,
    key: url,
    row: null,
    target: null,
    other: null,
    aliases: [],
    refusal: null,
    lastRefusal: null,
    lastProblem: null,
    overflow: 0,
    incomplete: null,
    robotsReadAt: null,
    heldUntil: null,
    ...given,
  }
  return writeExplanation(explanation, createSource(), hint, NOW)
}

test('the explanation of an address that was never seen shows the decision of the scope', () => {
  expect(explain({})).toBe(
    'https://docs.example/a\nNever seen in docs.\nThe scope would let it through: no crawled page links to it.',
  )
  expect(explain({ refusal: { reason: 'blocked', pattern: '/a*', target: null } })).toBe(
    'https://docs.example/a\nNever seen in docs.\nThe scope would refuse it as blocked: a block pattern matches its path (rule: /a*).',
  )
})

test('the explanation of a failed address shows its full history', () => {
  const row = createRow({
    state: 'failed',
    reason: 'http-server-error',
    attempts: 3,
    status: 503,
    detail: 'answered 503',
    firstSeenAt: NOW - 90_000,
    checkedAt: NOW - 500,
    changedAt: NOW - 7_200_000,
    dueAt: NOW + 60_000,
    hasPage: true,
  })
  expect(explain({ row })).toBe(
    [
      'https://docs.example/a',
      'State: failed (http-server-error), could not be fetched or read',
      'Why: the server failed',
      'Found: as a link on https://docs.example/, 1 link from the start, 2026-02-20T10:28:30Z (1m 30s ago)',
      'Attempts: 3 since its last good answer',
      'Last answer: 503',
      'Content checked: 2026-02-20T10:29:59Z (just now)',
      'Last request: after that, without success',
      'Changed: 2026-02-20T08:30:00Z (2h ago)',
      'Due: in 1m',
      'Library: holds its content',
    ].join('\n'),
  )
})

test('the explanation of an alias shows where its content is stored, and its other addresses', () => {
  const row = createRow({ state: 'skipped', reason: 'canonical', pattern: null, target: 'https://docs.example/b' })
  const target = createRow({ url: 'https://docs.example/b', state: 'indexed', hasPage: true })
  const aliases = [
    { url: 'https://docs.example/a', aliasUrl: 'https://docs.example/b', classification: 'canonical', reason: null },
  ] as const
  const lines = explain({ row, target, aliases }).split('\n')
  expect(lines).toContain('Why: it names another address as its canonical URL')
  expect(lines).toContain('Content: held by https://docs.example/b (indexed)')
  expect(lines).toContain('Alias: https://docs.example/b (canonical)')
  for (const [exists, words] of [
    [true, 'exists'],
    [false, 'does not exist'],
    [null, 'not checked'],
  ] as const) {
    const text = explain({ row, target, aliases: aliases.map((alias) => ({ ...alias, exists })) })
    expect(text).toContain(`\nAlias: https://docs.example/b (canonical; ${words})`)
  }
})

test('a redirect to an address without content shows the target and no content', () => {
  const row = createRow({ state: 'skipped', reason: 'redirect', target: 'https://other.example/' })
  const target = createRow({ url: 'https://other.example/', state: 'skipped', reason: 'off-site' })
  const text = explain({ row, target })
  expect(text).toContain('\nLeads to: https://other.example/ (skipped (off-site))')
  expect(text).not.toContain('held by')
})

test('the explanation of an unlinked page does not claim that the page is gone from its server', () => {
  const text = explain({ row: createRow({ state: 'gone', reason: 'unlinked' }) })
  expect(text).toContain('\nWhy: a complete recrawl found no page that links to it\n')
  expect(text).not.toContain('proven')
  expect(explain({ row: createRow({ state: 'gone', reason: 'not-found' }) })).toContain('confirmed as removed')
})

test('the explanation of a container file does not say that the file is left out', () => {
  const text = explain({ row: createRow({ state: 'skipped', reason: 'container', pattern: null }) })
  expect(text).toContain('its pages are indexed separately')
  expect(text).not.toContain('left out')
})

test('an address with an ignored query is explained by the address without the query', () => {
  const url = 'https://docs.example/a?utm_source=x'
  const refusal = { reason: 'query-skip', pattern: '?utm_source=x', target: 'https://docs.example/a' } as const
  const text = explain({ url, row: createRow({ state: 'indexed', hasPage: true }), refusal })
  expect(text).toMatch(/^\S+\?utm_source=x\nKnown without its query as https:\/\/docs\.example\/a\nState: indexed, /)
  expect(text).not.toContain('refuse')
  expect(explain({ url, refusal })).toBe(
    `${url}\nKnown without its query as https://docs.example/a\nNever seen in docs.\nThe scope would let it through: no crawled page links to it.`,
  )
})

test('an address with a session id is explained by the address without the id', () => {
  const url = 'https://docs.example/a;jsessionid=1'
  const refusal = { reason: 'session-id', pattern: 'jsessionid', target: 'https://docs.example/a' } as const
  const text = explain({ url, row: createRow({ state: 'indexed', hasPage: true }), refusal })
  expect(text).toContain('\nKnown without its session as https://docs.example/a\nState: indexed, ')
  expect(text).not.toContain('refuse')
})

test('a trap is explained with the rule that detected it', () => {
  const refusal = { reason: 'calendar-trap', pattern: '2030-05 is more than a year ahead', target: null } as const
  expect(explain({ refusal })).toContain(
    'The scope would refuse it as calendar-trap: it is a date page of an endless calendar (rule: 2030-05 is more than a year ahead).',
  )
  const row = createRow({ state: 'skipped', reason: 'same-content', pattern: 'docs.example/list?page=*' })
  expect(explain({ row })).toContain(
    '\nWhy: addresses of the same pattern kept returning the same content\nRule: docs.example/list?page=*\n',
  )
})

test('the time of the last request is shown only for addresses without content that were requested', () => {
  expect(explain({ row: createRow({ state: 'failed', checkedAt: NOW }) })).toContain(
    '\nLast requested: 2026-02-20T10:30:00Z',
  )
  expect(explain({ row: createRow() })).not.toContain('Last requested')
  const refused = createRow({ state: 'skipped', reason: 'robots-disallow', checkedAt: NOW })
  expect(explain({ row: refused })).not.toContain('Last requested')
  const row = createRow({ state: 'unchanged', checkedAt: NOW, hasPage: true })
  expect(explain({ row })).not.toContain('Last requested')
})

test('the explanation of a page that is empty without a browser says so, and how the page was read', () => {
  const row = createRow({ state: 'indexed', status: 200, hasPage: true, isShell: true, detail: 'read in a browser' })
  expect(explain({ row })).toContain('\nLast answer: 200, read in a browser\nNeeds a browser: ')
  expect(explain({ row: createRow({ state: 'indexed', hasPage: true }) })).not.toContain('browser')
})

test('the explanation of a failed page that needs a browser advises rendering', () => {
  const row = createRow({ state: 'failed', reason: 'needs-rendering' })
  expect(explain({ row })).toContain('\nTry: let a browser read its pages: pharos recrawl docs --render auto')
})

test('the decision of the current scope is shown only if it differs from the recorded one', () => {
  const row = createRow({ state: 'indexed', discovery: 'sitemap' })
  expect(explain({ row, refusal: { reason: 'blocked', pattern: '/a', target: null } })).toContain(
    '\nNow: The scope would refuse it as blocked: a block pattern matches its path (rule: /a).',
  )
  const same = createRow({ state: 'skipped', reason: 'blocked', pattern: '/a' })
  expect(explain({ row: same, refusal: { reason: 'blocked', pattern: '/a', target: null } })).not.toContain('Now:')
})

test('control characters in an explanation are replaced', () => {
  const row = createRow({ state: 'failed', detail: '\x1b[2J\n', pattern: '\x07', foundOn: 'https://x/\u202e' })
  expect(explain({ url: 'https://x/\x1b', row }).match(/(?!\n)[\p{Cc}\u202e]/gu)).toBeNull()
})

test('the JSON record has the row, and why the last crawl refused or failed', () => {
  const row = createRow({ state: 'indexed', checkedAt: NOW })
  const url = 'https://docs.example/a'
  const known = {
    url,
    key: url,
    row,
    target: null,
    other: null,
    aliases: [],
    refusal: null,
    overflow: 0,
    incomplete: null,
    robotsReadAt: null,
    heldUntil: null,
  }
  const lastRefusal = { reason: 'blocked', pattern: '/a', target: null } as const
  expect(explanationRecord({ ...known, lastRefusal, lastProblem: 'refused' })).toMatchObject({
    last_crawl_refusal: lastRefusal,
    last_crawl_problem: 'refused',
    url,
    is_known: true,
    row: {
      state: 'indexed',
      found_on: 'https://docs.example/',
      checked_at: '2026-02-20T10:30:00.000Z',
      is_shell: false,
    },
    refusal: null,
  })
})

test('an explanation shows why the last crawl could not start', () => {
  const row = createRow({ state: 'unchanged', hasPage: true })
  expect(explain({ row, lastProblem: 'https://docs.example/: address-refused\n' })).toContain(
    '\nLast crawl: failed, https://docs.example/: address-refused\ufffd',
  )
  expect(explain({ row })).not.toContain('Last crawl')
})

test('an unknown address is explained by an incomplete last crawl or by the address limit', () => {
  expect(explain({ incomplete: 'the sitemaps list more addresses than are read' })).toContain(
    'The scope would let it through: the last crawl did not see everything: the sitemaps list more addresses than are read',
  )
  expect(explain({ overflow: 55 })).toContain('one of 55 addresses that the last crawl had no room for (maxAddresses)')
})

test('the explanation of a pending address says that its host is paused', () => {
  const heldUntil = NOW + 60_000
  const waits = 'Waits: its host is paused until 2026-02-20T10:31:00Z'
  expect(explain({ row: createRow({ state: 'pending' }), heldUntil })).toContain(waits)
  expect(explain({ row: createRow({ state: 'indexed' }), heldUntil })).not.toContain(waits)
})
