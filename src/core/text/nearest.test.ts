import fc from 'fast-check'
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
])('the candidate nearest to %j is %j', (word, expected) => {
  expect(findNearest(word, ['search', 'pack', 'outline'])).toBe(expected)
})

test('takes the first of two equally near candidates', () => {
  expect(findNearest('bat', ['cat', 'hat'])).toBe('cat')
  expect(findNearest('bat', [])).toBeUndefined()
})

/** The edit distance by its definition, without shortcuts. */
function distanceOf(a: string, b: string): number {
  const rows = Array.from({ length: a.length + 1 }, (_, i) => Array.from({ length: b.length + 1 }, (_, j) => i + j))
  const at = (i: number, j: number) => rows[i]?.[j] ?? Number.POSITIVE_INFINITY
  for (let i = 1; i <= a.length; i++) {
    for (let j = 1; j <= b.length; j++) {
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      const same = at(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1)
      const row = rows[i] ?? []
      row[j] = Math.min(same, at(i - 1, j) + 1, at(i, j - 1) + 1, isSwap ? at(i - 2, j - 2) + 1 : Infinity)
    }
  }
  return at(a.length, b.length)
}

test('skipping candidates early does not change the result', () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '/', 'é'), maxLength: 14 })
  fc.assert(
    fc.property(word, fc.array(word, { maxLength: 6 }), (wanted, candidates) => {
      const maxDistance = Math.max(1, Math.floor(Math.max(wanted.length, 3) / 3))
      const distances = candidates.map((candidate) => distanceOf(wanted, candidate))
      const minDistance = Math.min(...distances)
      const nearest = minDistance <= maxDistance ? candidates[distances.indexOf(minDistance)] : undefined
      expect(findNearest(wanted, candidates)).toBe(nearest)
    }),
    { numRuns: 2000 },
  )
})
