import { expect, test } from 'vitest'
import type { CompletedVisit } from '../../crawl/planning/planner.ts'
import { countLinks, judgeHub } from './judge-hub.ts'

const READ = { state: 'indexed', reason: null, target: null, kind: 'unknown' } as const

const cases: readonly (readonly [Partial<CompletedVisit>, links: number, string])[] = [
  [{ kind: 'hub' }, 0, 'confirmed'],
  [{}, 10, 'confirmed'],
  [{}, 9, 'rejected'],
  [{ kind: 'article' }, 50, 'rejected'],
  [{ state: 'unchanged', kind: 'hub' }, 0, 'confirmed'],
  [{ state: 'skipped', reason: 'noindex', kind: 'hub' }, 0, 'confirmed'],
  [{ state: 'skipped', reason: 'duplicate', kind: 'hub' }, 50, 'rejected'],
  [{ state: 'skipped', reason: 'guess-missed' }, 0, 'missing'],
  [{ state: 'failed', reason: 'not-found' }, 0, 'missing'],
  [{ state: 'failed', reason: 'soft-404' }, 0, 'missing'],
  [{ state: 'failed', reason: 'http-server-error' }, 0, 'open'],
  [{ state: 'skipped', reason: 'robots-disallow' }, 0, 'open'],
  [{ state: 'skipped', reason: 'redirect', target: 'a' }, 0, 'moved'],
]

test.each(cases)('judgeHub judges a visit %j with %i links as %s', (visit, links, expected) => {
  expect(judgeHub({ ...READ, ...visit }, links).type).toBe(expected)
})

test('countLinks ignores links that leave the site', () => {
  const links = [
    'https://news.example/world',
    'https://news.example/world/2024/05/03/a-vote',
    'https://news.example.org/world',
    'https://other.example/',
  ]
  expect(countLinks(links, 'news.example')).toEqual({ nav: 1, articles: 1 })
})
