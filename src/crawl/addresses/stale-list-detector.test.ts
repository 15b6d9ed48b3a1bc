import { describe, expect, test } from 'vitest'
import { listSparedHosts, SpreadSample, StaleListDetector } from './stale-list-detector.ts'

/** Records missing addresses one after the other. Returns the number of each miss that led to a next step, with that step. */
function miss(detector: StaleListDetector, count: number, list = 'a'): [at: number, next: string][] {
  return Array.from({ length: count }, (_, i) => [i + 1, detector.note(list, true)] as const).flatMap(([at, next]) =>
    next === undefined ? [] : [[at, next] as [number, string]],
  )
}

describe('StaleListDetector', () => {
  test('asks for a sample before it sets a list aside', () => {
    expect(miss(new StaleListDetector(), 300)).toEqual([
      [50, 'sample'],
      [300, 'set-aside'],
    ])
  })

  test('waits for twice as many misses after a sample in which an address exists', () => {
    const detector = new StaleListDetector()
    miss(detector, 60)
    detector.note('a', false)
    expect(miss(detector, 350)).toEqual([
      [100, 'sample'],
      [350, 'set-aside'],
    ])
  })

  test('starts counting again with the remaining addresses of a list that was set aside', () => {
    const detector = new StaleListDetector()
    miss(detector, 300)
    expect(miss(detector, 300)).toEqual([
      [50, 'sample'],
      [300, 'set-aside'],
    ])
  })

  test('judges each list by its own addresses', () => {
    const detector = new StaleListDetector()
    miss(detector, 49, 'a')
    expect(miss(detector, 49, 'b')).toEqual([])
    expect(miss(detector, 1, 'a')).toEqual([[1, 'sample']])
  })
})

test('listSparedHosts returns hosts where an address of the sample exists, or where none has a result yet', () => {
  const sample = [
    ['dead.test', 'missing'],
    ['dead.test', undefined],
    ['half.test', 'missing'],
    ['half.test', 'found'],
    ['late.test', undefined],
  ] as const
  expect(listSparedHosts(sample)).toEqual(['half.test', 'late.test'])
  expect(listSparedHosts([])).toEqual([])
})

describe('SpreadSample', () => {
  test.each([0, 7, 200, 201, 399, 400, 12_345])('picks up to 200 items evenly from %i', (count) => {
    const sample = new SpreadSample<number>()
    for (let i = 0; i < count; i++) sample.add(i)
    const { items } = sample
    expect(items).toHaveLength(Math.min(count, 200))
    const gaps = [...items, count].map((item, i) => item - (items[i - 1] ?? 0))
    expect(Math.max(...gaps)).toBeLessThanOrEqual(count / 50 + 1)
  })
})
