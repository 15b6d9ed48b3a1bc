import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runSteps, type Steps, sortInSteps } from './steps.ts'

function countSteps(steps: Steps<unknown>): number {
  let count = 0
  while (!steps.next().done) count++
  return count
}

test('running all steps returns the result of the last one', () => {
  const done: number[] = []
  const steps = function* (): Steps<string> {
    for (let i = 0; i < 3; i++) {
      done.push(i)
      yield
    }
    return 'end'
  }
  expect(runSteps(steps())).toBe('end')
  expect(done).toEqual([0, 1, 2])
})

describe('sorting in steps', () => {
  const compare = (a: readonly [number, number], b: readonly [number, number]) => a[0] - b[0]

  test('gives the same result as sorting at once, and is stable', () => {
    const lengths = fc.constantFrom(0, 1, 2, 1023, 1024, 1025, 2048, 2049, 3000, 5000)
    fc.assert(
      fc.property(lengths, fc.integer({ min: 1, max: 400 }), (length, kinds) => {
        const items = Array.from({ length }, (_, i) => [(i * 48_271) % kinds, i] as const)
        const before = [...items]
        expect(runSteps(sortInSteps(items, compare))).toEqual(items.toSorted(compare))
        expect(items).toEqual(before)
      }),
    )
  })

  test('yields more than 500 times while it sorts 100,000 items', () => {
    const items = Array.from({ length: 100_000 }, (_, i) => [(i * 48_271) % 65_537, i] as const)
    expect(countSteps(sortInSteps(items, compare))).toBeGreaterThan(500)
  })
})
