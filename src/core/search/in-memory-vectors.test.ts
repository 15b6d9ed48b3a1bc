import fc from 'fast-check'
import { expect, test } from 'vitest'
import { InMemoryVectors } from './in-memory-vectors.ts'
import { compareQuantized, quantizeVector } from './quantized-vector.ts'

const vector = fc.float32Array({ minLength: 5, maxLength: 5, noNaN: true, min: -1, max: 1 })

test('InMemoryVectors returns the same cosines as compareQuantized', () => {
  fc.assert(
    fc.property(vector, fc.array(vector, { minLength: 1 }), (query, vectors) => {
      const stored = new InMemoryVectors(5)
      const written = vectors.map(quantizeVector)
      for (const bytes of written) stored.add(bytes)
      expect(stored.size).toBe(vectors.length)
      expect(written.map((_, index) => stored.compare(query, index))).toEqual(
        written.map((bytes) => compareQuantized(query, bytes)),
      )
    }),
  )
})

test('InMemoryVectors holds more vectors than fit into one block', () => {
  const stored = new InMemoryVectors(2)
  for (let i = 0; i < 2500; i++) stored.add(quantizeVector(Float32Array.of(1, i)))
  expect(stored.compare(Float32Array.of(0, 1), 2400)).toBeCloseTo(2400)
})
