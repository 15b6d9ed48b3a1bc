import fc from 'fast-check'
import { expect, test } from 'vitest'
import { selectTop } from './top.ts'

test('selects the same candidates as sorting all of them, with ties in ascending order', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 5 }), { maxLength: 60 }),
      fc.integer({ min: 0, max: 70 }),
      (values, limit) => {
        const scores = Float64Array.from(values)
        const sorted = [...values.keys()].sort((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0) || a - b)
        const shuffled = Uint32Array.from(values.keys()).reverse()
        expect(selectTop(shuffled, scores, limit)).toEqual(sorted.slice(0, limit))
      },
    ),
  )
})

test('calls `accept` only for candidates that would enter the selection', () => {
  const checked: number[] = []
  const accept = (candidate: number) => checked.push(candidate) > 0
  expect(selectTop(Uint32Array.of(0, 1, 2, 3), Float64Array.of(9, 1, 8, 2), 1, accept)).toEqual([0])
  expect(checked).toEqual([0])
})
