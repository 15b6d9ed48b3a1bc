import { describe, expect, test } from 'vitest'
import { compareQuantized, findVectorProblem, quantizeVector, restoreVector } from './quantized-vector.ts'

/** A pseudo-random vector of length 1. */
function vectorOf(seed: number, dimensions = 384): Float32Array {
  const raw = Float32Array.from(
    { length: dimensions },
    (_, i) => (Math.sin(seed * 12.9898 + i * 78.233) * 43758.5453) % 1,
  )
  const length = Math.hypot(...raw)
  return raw.map((value) => value / length)
}

const cosine = (a: Float32Array, b: Float32Array) => a.reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0)

test('a quantized vector takes one byte per dimension, plus four', () => {
  expect(quantizeVector(vectorOf(1)).length).toBe(388)
})

test('cosines are kept to within a few thousandths', () => {
  for (let seed = 0; seed < 50; seed++) {
    const query = vectorOf(seed)
    for (const other of [vectorOf(seed + 100), query]) {
      expect(Math.abs(compareQuantized(query, quantizeVector(other)) - cosine(query, other))).toBeLessThan(3e-3)
    }
  }
})

test('bytes at any offset in memory are read', () => {
  const bytes = quantizeVector(vectorOf(3))
  const moved = new Uint8Array(bytes.length + 3)
  moved.set(bytes, 3)
  expect(compareQuantized(vectorOf(4), moved.subarray(3))).toBe(compareQuantized(vectorOf(4), bytes))
})

test('a vector is restored to within half a step, from any offset in memory', () => {
  const vector = vectorOf(6)
  const moved = Uint8Array.from([1, 2, 3, ...quantizeVector(vector)]).subarray(3)
  const half = Math.max(...vector.map(Math.abs)) / 254
  const restored = restoreVector(moved)
  expect(restored.length).toBe(vector.length)
  expect(Math.max(...restored.map((value, i) => Math.abs(value - (vector[i] ?? 0))))).toBeLessThan(half * 1.001)
})

describe('the check of a vector', () => {
  const good = vectorOf(5)
  const changed = (i: number, value: number) => good.map((old, at) => (at === i ? value : old))
  const length1 = (values: number[]) => Float32Array.from(values, (value) => value / Math.hypot(...values))

  test.each<[string, Float32Array, string]>([
    ['of another dimension', vectorOf(5, 383), 'it has 383 dimensions instead of 384'],
    ['with NaN in it', changed(7, Number.NaN), 'it holds NaN'],
    ['with an infinite number', changed(7, Number.POSITIVE_INFINITY), 'it holds Infinity'],
    ['of zeros', new Float32Array(384), 'all its numbers are the same'],
    ['of equal numbers', length1(Array.from({ length: 384 }, () => 1)), 'all its numbers are the same'],
    ['that is too long', good.map((value) => value * 1.01), 'its length is 1.010 instead of 1'],
    ['that is too short', good.map((value) => value * 0.5), 'its length is 0.5000 instead of 1'],
  ])('refuses a vector %s', (_what, vector, problem) => {
    expect(findVectorProblem(vector, 384)).toBe(problem)
  })

  test('accepts a valid vector', () => {
    expect(findVectorProblem(good, 384)).toBeUndefined()
  })
})
