import { expect, test } from 'vitest'
import { createRow, createSource } from '../../test/crawl-facts.ts'
import type { Explanation } from '../library/operations/explain.ts'
import { explanationRecord, writeExplanation } from './explanation-text.ts'

const NOW = Date.UTC(2026, 1, 20, 10, 30)

function explain(given: Partial<Explanation>): string {
  const url = 'https://docs.example/a'
  const explanation: Explanation = { url, key: url, row: null, target: null, aliases: [], refusal: null, ...given }
  return writeExplanation(explanation, createSource(), NOW)
}

test('an address that was never seen is told so, with what the scope says of it', () => {
  expect(explain({})).toBe(
    'https://docs.example/a\nNever seen in docs.\nThe scope would let it through: nothing that was read leads to it.',
  )
  expect(explain({ refusal: { reason: 'blocked', pattern: '/a*', target: null } })).toBe(
    'https://docs.example/a\nNever seen in docs.\nThe scope would refuse it as blocked: a block pattern matches its path (rule: /a*).',
  )
})

test('an address that failed has its whole story', () => {
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
      'Last answer: 503, answered 503',
      'Checked: 2026-02-20T10:29:59Z (just now)',
      'Changed: 2026-02-20T08:30:00Z (2h ago)',
      'Due: in 1m',
      'Library: holds its content',
    ].join('\n'),
  )
})

test('an alias names where its content is, and the other addresses', () => {
  const row = createRow({ state: 'skipped', reason: 'canonical', pattern: null, target: 'https://docs.example/b' })
  const target = createRow({ url: 'https://docs.example/b', state: 'indexed' })
  const aliases = [
    { url: 'https://docs.example/a', aliasUrl: 'https://docs.example/b', classification: 'canonical', reason: null },
  ] as const
  const lines = explain({ row, target, aliases }).split('\n')
  expect(lines).toContain('Why: it names another address as its proper one')
  expect(lines).toContain('Content: held by https://docs.example/b (indexed)')
  expect(lines).toContain('Alias: https://docs.example/b (canonical)')
})

test('a rule that holds today and is not what was recorded is told', () => {
  const row = createRow({ state: 'indexed', discovery: 'sitemap' })
  expect(explain({ row, refusal: { reason: 'blocked', pattern: '/a', target: null } })).toContain(
    '\nNow: The scope would refuse it as blocked: a block pattern matches its path (rule: /a).',
  )
  const same = createRow({ state: 'skipped', reason: 'blocked', pattern: '/a' })
  expect(explain({ row: same, refusal: { reason: 'blocked', pattern: '/a', target: null } })).not.toContain('Now:')
})

test('nothing steers the terminal', () => {
  const row = createRow({ state: 'failed', detail: '\x1b[2J\n', pattern: '\x07', foundOn: 'https://x/\u202e' })
  expect(explain({ url: 'https://x/\x1b', row }).match(/(?!\n)[\p{Cc}\u202e]/gu)).toBeNull()
})

test('as JSON everything is there', () => {
  const row = createRow({ state: 'indexed', checkedAt: NOW })
  const url = 'https://docs.example/a'
  expect(explanationRecord({ url, key: url, row, target: null, aliases: [], refusal: null })).toMatchObject({
    url,
    is_known: true,
    row: { state: 'indexed', found_on: 'https://docs.example/', checked_at: '2026-02-20T10:30:00.000Z' },
    refusal: null,
  })
})
