import { expect, test } from 'vitest'
import { compareQuantized, quantizeVector } from './quantized-vector.ts'
import { SignIndex } from './sign-index.ts'

/** A vector of length 1 near one of seven centers, because the vectors of texts form clusters. */
function vectorOf(seed: number, dimensions = 384): Float32Array {
  const noise = (i: number) => (((Math.imul(i, 2654435761) ^ Math.imul(i, 40503)) >>> 0) / 2 ** 32) * 2 - 1
  const raw = Float32Array.from(
    { length: dimensions },
    (_, i) => noise((seed % 7) * 1000 + i + 1) + noise(seed * 100_000 + i + 1),
  )
  const length = Math.hypot(...raw)
  return raw.map((value) => value / length)
}

const everything = () => true

test('finds most of the 20 nearest vectors if 200 are requested', () => {
  const index = new SignIndex(384)
  const vectors = Array.from({ length: 3000 }, (_, i) => quantizeVector(vectorOf(i + 1)))
  vectors.forEach((bytes, i) => {
    index.add(i, 0, bytes)
  })
  expect(index.size).toBe(3000)
  let found = 0
  for (let query = 5001; query < 5011; query++) {
    const vector = vectorOf(query)
    const similarities = vectors.map((bytes) => compareQuantized(vector, bytes))
    const nearest = [...vectors.keys()].sort((a, b) => (similarities[b] ?? 0) - (similarities[a] ?? 0)).slice(0, 20)
    const rough = new Set(index.nearest(quantizeVector(vector), 200, everything))
    expect(rough.size).toBeGreaterThanOrEqual(200)
    expect(rough.size).toBeLessThan(400)
    found += nearest.filter((key) => rough.has(key)).length
  }
  // Vectors picked at random would include 13 of these 200 nearest ones.
  expect(found).toBeGreaterThan(150)
})

test('finds the nearest vectors better by the numbers of the query than by its signs alone', () => {
  const index = new SignIndex(384)
  const vectors = Array.from({ length: 3000 }, (_, i) => quantizeVector(vectorOf(i + 1)))
  vectors.forEach((bytes, i) => {
    index.add(i, 0, bytes)
  })
  let found = 0
  let foundBySigns = 0
  for (let query = 5001; query < 5041; query++) {
    const vector = vectorOf(query)
    const similarities = vectors.map((bytes) => compareQuantized(vector, bytes))
    const nearest = [...vectors.keys()].sort((a, b) => (similarities[b] ?? 0) - (similarities[a] ?? 0)).slice(0, 10)
    const chosen = index.nearest(quantizeVector(vector), 10, everything)
    expect(chosen).toHaveLength(10)
    found += nearest.filter((key) => chosen.includes(key)).length
    // A vector whose numbers are all equal tells no more than its signs.
    const signs = vector.map((value) => Math.sign(value) / Math.sqrt(384))
    const bySigns = index.nearest(quantizeVector(signs), 10, everything)
    foundBySigns += nearest.filter((key) => bySigns.includes(key)).length
  }
  expect(found).toBeGreaterThan(foundBySigns)
})

test('returns all vectors of the requested groups when the limit exceeds their number', () => {
  const index = new SignIndex(40)
  for (let i = 0; i < 10; i++) index.add(100 + i, i % 2, quantizeVector(vectorOf(i, 40)))
  const query = quantizeVector(vectorOf(99, 40))
  expect(index.nearest(query, 50, everything)).toHaveLength(10)
  expect(index.nearest(query, 50, (group) => group === 1)).toEqual([101, 103, 105, 107, 109])
  expect(index.nearest(query, 50, () => false)).toEqual([])
})

test('a vector is nearer to itself than its opposite is', () => {
  const index = new SignIndex(384)
  const vector = vectorOf(3)
  index.add(1, 0, quantizeVector(vector))
  index.add(2, 0, quantizeVector(vector.map((value) => -value)))
  expect(index.nearest(quantizeVector(vector), 1, everything)).toEqual([1])
})
