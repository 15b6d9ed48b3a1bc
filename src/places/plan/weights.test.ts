import { expect, test } from 'vitest'
import { parseAddress } from './address.ts'
import { ShapeIndex } from './shapes.ts'
import { weighAddress } from './weights.ts'

/** Weighs a path on a site that has `count` read pages of the same shape. */
function weigh(
  path: string,
  facts: Partial<Parameters<typeof weighAddress>[0]> = {},
  read: { readonly count?: number; readonly kind?: 'article' | 'hub' } = {},
): number {
  const address = parseAddress(`https://news.example${path}`)
  if (address === undefined) throw new Error(`${path} is not a path`)
  const shapes = new ShapeIndex()
  for (let n = 0; n < (read.count ?? 0); n++) {
    shapes.notePlanned(address)
    shapes.noteRead(address, read.kind ?? 'unknown')
  }
  const defaults = { place: 'none', isSectionFront: false, isHistory: false, isOnHome: false } as const
  return weighAddress({ address, shape: shapes.notePlanned(address), ...defaults, ...facts })
}

const ARTICLE = '/world/2024/05/03/a-vote-that-changes-it-all'

test('addresses that teach most about the site come first', () => {
  const weights = [
    weigh('/world', { isOnHome: true }),
    weigh('/world/france', { place: 'hub' }),
    weigh('/world', { isSectionFront: true }),
    weigh('/world/chad', { place: 'maybe' }),
    weigh('/live/now', {}, { count: 9, kind: 'hub' }),
    weigh(ARTICLE),
    weigh('/live/now', {}, { count: 9 }),
    weigh('/world/france?page=2'),
    weigh(ARTICLE, {}, { count: 9, kind: 'article' }),
    weigh(ARTICLE, {}, { count: 99, kind: 'article' }),
    weigh('/tag/budget/'),
    weigh('/world/france?sort=old'),
  ]
  expect(weights).toEqual(weights.toSorted((a, b) => a - b))
  expect(new Set(weights).size).toBe(weights.length)
})

test('a history crawl visits pagination and archives before sections and articles', () => {
  const article = weigh(ARTICLE, { isHistory: true })
  const section = weigh('/world', { isHistory: true, isSectionFront: true })
  for (const path of ['/world/france?page=2', '/world/france/page/7', '/archive/2024/05/']) {
    expect(weigh(path, { isHistory: true }), path).toBeLessThan(Math.min(article, section))
    expect(weigh(path), path).toBeGreaterThan(section)
  }
})
