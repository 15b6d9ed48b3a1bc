import fc from 'fast-check'
import { expect, test } from 'vitest'
import { findVectorProblem } from '../core/search/quantized-vector.ts'
import { readVector } from './service-vectors.ts'

test('a vector of a response is scaled to length 1, or refused', () => {
  const number = fc.oneof(fc.double(), fc.integer(), fc.constant(0), fc.constant(null), fc.string())
  fc.assert(
    fc.property(fc.array(number, { minLength: 2, maxLength: 9 }), (list) => {
      const read = readVector(JSON.parse(JSON.stringify(list)))
      if ('problem' in read) expect(read.problem).toMatch(/^its vector (holds|is)/)
      else expect(findVectorProblem(read.vector, list.length) ?? 'all its numbers are the same').toMatch(/the same$/)
    }),
  )
})

test.each([
  [[0, 0], 'its vector is of length 0'],
  [[], 'its vector is of length 0'],
  [[1, null], 'its vector holds null'],
  [[1, 'a long text that stands where a number should'], 'its vector holds "a long text that st'],
  [[1, undefined], 'its vector holds undefined'],
  [{ 0: 1 }, 'its vector is not a list of numbers'],
])('%j is not a vector', (list, problem) => {
  expect(readVector(list)).toEqual({ problem })
})
