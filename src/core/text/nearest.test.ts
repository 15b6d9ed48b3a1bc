import { expect, test } from 'vitest'
import { findNearest } from './nearest.ts'

test.each([
  ['serach', 'search'],
  ['SEARCH', 'search'],
  ['pac', 'pack'],
  ['outlin', 'outline'],
  ['xyz', undefined],
  ['', undefined],
  ['searching everything', undefined],
])('nearest to %j is %j', (word, expected) => {
  expect(findNearest(word, ['search', 'pack', 'outline'])).toBe(expected)
})

test('of two that are equally near the first is taken', () => {
  expect(findNearest('bat', ['cat', 'hat'])).toBe('cat')
  expect(findNearest('bat', [])).toBeUndefined()
})
