import { expect, test } from 'vitest'
import { computeSupport, penalizeLinks } from './weigh-hits.ts'

test('a list of links loses most of its score, a text loses nothing', () => {
  expect(penalizeLinks(10, 1)).toBeCloseTo(3, 10)
  expect(penalizeLinks(10, 0)).toBe(10)
})

test('the next three hits of a page support its best one, at any rank', () => {
  const supports = computeSupport([
    { score: 5, page: 'a' },
    { score: 10, page: 'b' },
    { score: 9, page: 'a' },
    { score: 3, page: 'a' },
    { score: 2, page: 'a' },
    { score: 1, page: 'a' },
  ])
  expect(supports).toEqual([0, 0, 1, 0, 0, 0])
})

test('no hits give no support', () => {
  expect(computeSupport([])).toEqual([])
})
