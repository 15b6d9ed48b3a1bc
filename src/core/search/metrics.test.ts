import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  averageMetrics,
  comparePairs,
  findFirstRank,
  judgeResults,
  METRICS,
  type MetricValues,
  measureRanking,
  percentile,
} from './metrics.ts'

/** Measures results of the given grades, 0 for unexpected ones. */
function measure(grades: readonly number[], expected: readonly number[], k: number): MetricValues {
  const judgements = grades.map((gain) => ({ gain, met: gain > 0 ? 1 : 0 }))
  return measureRanking(
    judgements,
    expected.map((grade) => ({ grade })),
    k,
  )
}

describe('the figures of a ranking', () => {
  test('are correct for one expected result in third place', () => {
    // nDCG: 1/log2(4) = 0.5 against 1/log2(2) = 1.
    expect(measure([0, 0, 1, 0, 0], [1], 10)).toEqual({
      recall: 1,
      precision: 0.1,
      mrr: 1 / 3,
      ndcg: 0.5,
      'success@1': 0,
      'success@5': 1,
      'success@10': 1,
    })
  })

  test('are correct for results with several grades', () => {
    // 1/log2(2) + 3/log2(4) + 2/log2(6) = 1 + 1.5 + 0.77371; ideal: 3 + 2/log2(3) + 1/log2(4) = 3 + 1.26186 + 0.5
    const { ndcg, recall, precision, mrr } = measure([1, 0, 3, 0, 2], [1, 2, 3], 5)
    expect(ndcg).toBeCloseTo(3.2737056 / 4.7618595, 6)
    expect({ recall, precision, mrr }).toEqual({ recall: 1, precision: 0.6, mrr: 1 })
  })

  test('count only the first k results, and hit rates the first 1, 5 and 10', () => {
    const figures = measure([0, 0, 0, 1, 0, 0, 1], [1, 1, 1], 3)
    expect(figures).toEqual({
      recall: 0,
      precision: 0,
      mrr: 0,
      ndcg: 0,
      'success@1': 0,
      'success@5': 1,
      'success@10': 1,
    })
    // nDCG: 1/log2(5) against 1 + 1/log2(3) + 1/log2(4), the ideal order of the three expected results.
    expect(measure([0, 0, 0, 1], [1, 1, 1], 4)).toMatchObject({ recall: 1 / 3, precision: 0.25, mrr: 0.25 })
    expect(measure([0, 0, 0, 1], [1, 1, 1], 4).ndcg).toBeCloseTo(0.430677 / 2.13093, 5)
  })

  test('are 0 if nothing was found', () => {
    expect(Object.values(measure([], [1], 10))).toEqual([0, 0, 0, 0, 0, 0, 0])
    expect(Object.values(measure([0, 0], [], 10))).toEqual([0, 0, 0, 0, 0, 0, 0])
  })

  test('are from 0 to 1; nDCG, MRR and success@1 are 1 in the ideal order', () => {
    const grades = fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 8 })
    fc.assert(
      fc.property(grades, fc.integer({ min: 1, max: 12 }), fc.nat(3), (expected, k, misses) => {
        const ideal = measure(
          expected.toSorted((a, b) => b - a),
          expected,
          k,
        )
        expect(ideal.ndcg).toBeCloseTo(1, 9)
        expect([ideal.mrr, ideal['success@1']]).toEqual([1, 1])
        const late = measure([...Array<number>(misses).fill(0), ...expected], expected, k)
        for (const metric of METRICS) {
          expect(late[metric]).toBeGreaterThanOrEqual(0)
          expect(late[metric]).toBeLessThanOrEqual(1 + 1e-9)
        }
      }),
    )
  })
})

describe('results', () => {
  const isFound = (result: string, expected: string) => result.includes(expected)
  const expectations = [
    { expected: 'a', grade: 1 },
    { expected: 'b', grade: 3 },
    { expected: 'c', grade: 2 },
  ]

  test('meet each expectation once', () => {
    const judgements = judgeResults(['x', 'a', 'aa', 'c'], expectations, isFound)
    expect(judgements.map(({ gain, met }) => [gain, met])).toEqual([
      [0, 0],
      [1, 1],
      [0, 0],
      [2, 1],
    ])
    expect(findFirstRank(judgements)).toBe(2)
    expect(findFirstRank(judgeResults(['x'], expectations, isFound))).toBe(null)
    expect(judgeResults([], expectations, isFound)).toEqual([])
  })

  test('may meet several expectations at once, and never exceed the ideal', () => {
    const judgements = judgeResults(['abc', 'x'], expectations, isFound)
    expect(judgements[0]).toEqual({ gain: 6, met: 3 })
    expect(measureRanking(judgements, expectations, 2)).toMatchObject({ recall: 1, precision: 0.5, ndcg: 1, mrr: 1 })
  })
})

test('averages are means of each figure', () => {
  const all = [measure([1], [1], 10), measure([0, 1], [1], 10), measure([0], [1], 10)]
  expect(averageMetrics(all)).toMatchObject({ mrr: 0.5, 'success@1': 1 / 3, 'success@5': 2 / 3, recall: 2 / 3 })
  expect(averageMetrics([]).mrr).toBe(0)
})

test('a percentile is one of the values', () => {
  const values = [5, 1, 4, 2, 3]
  expect([0, 0.2, 0.5, 0.95, 1].map((share) => percentile(values, share))).toEqual([1, 1, 3, 5, 5])
  expect(percentile([7], 0.5)).toBe(7)
  expect(percentile([], 0.5)).toBe(0)
})

describe('two runs', () => {
  const pairs = (wins: number, losses: number, ties = 0) => [
    ...Array<readonly [number, number]>(wins).fill([0, 1]),
    ...Array<readonly [number, number]>(losses).fill([1, 0.5]),
    ...Array<readonly [number, number]>(ties).fill([0.3, 0.1 + 0.2]),
  ]

  test('are compared by wins, losses and ties', () => {
    expect(comparePairs(pairs(3, 1, 4))).toMatchObject({ wins: 3, losses: 1, ties: 4 })
  })

  test('are compared by the two-sided sign test', () => {
    // Two-sided: 2/2^5; 2·(1 + 8 + 28)/2^8; never above 1.
    expect(comparePairs(pairs(5, 0)).chance).toBeCloseTo(0.0625, 12)
    expect(comparePairs(pairs(6, 2)).chance).toBeCloseTo((2 * 37) / 256, 12)
    expect(comparePairs(pairs(2, 6)).chance).toBeCloseTo((2 * 37) / 256, 12)
    expect(comparePairs(pairs(3, 3)).chance).toBe(1)
    expect(comparePairs([]).chance).toBe(1)
  })

  test('may have thousands of questions', () => {
    // The normal approximation: 2·Φ(−(1100 − 1000 − 0.5)/√500) = 8.6e-6.
    const { chance } = comparePairs(pairs(1100, 900))
    expect(chance).toBeGreaterThan(7e-6)
    expect(chance).toBeLessThan(1e-5)
  })
})
