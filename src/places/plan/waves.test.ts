import { expect, test } from 'vitest'
import { isExhaustivePattern, sizeNextWave } from './waves.ts'

const INITIAL = { tried: 0, confirmed: 0, waiting: 0, lastSize: 0, left: 200, listedShare: 0.1 }

test('the first wave is small, and each successful wave doubles the next', () => {
  expect(sizeNextWave(INITIAL)).toBe(8)
  expect(sizeNextWave({ ...INITIAL, tried: 8, confirmed: 4, lastSize: 8 })).toBe(16)
  expect(sizeNextWave({ ...INITIAL, tried: 24, confirmed: 20, lastSize: 16 })).toBe(32)
  expect(sizeNextWave({ ...INITIAL, tried: 24, confirmed: 20, lastSize: 16, left: 5 })).toBe(5)
})

test('no wave follows while results are pending, or when most guesses were wrong', () => {
  expect(sizeNextWave({ ...INITIAL, tried: 4, confirmed: 4, waiting: 4, lastSize: 8 })).toBe(0)
  expect(sizeNextWave({ ...INITIAL, tried: 8, confirmed: 3, lastSize: 8 })).toBe(0)
  // Guesses of earlier crawls count too.
  expect(sizeNextWave({ ...INITIAL, tried: 8, confirmed: 0 })).toBe(0)
  // A wave whose pages could not be read does not justify another.
  expect(sizeNextWave({ ...INITIAL, lastSize: 8 })).toBe(0)
})

test('when a site lists nearly all countries, the rest is tried at once', () => {
  expect(sizeNextWave({ ...INITIAL, left: 12, listedShare: 0.95 })).toBe(12)
  expect(sizeNextWave({ ...INITIAL, left: 12, listedShare: 0.95, waiting: 1 })).toBe(0)
})

test('a pattern is exhaustive if at least half of the guesses are right, or nearly all countries are listed', () => {
  expect(isExhaustivePattern({ tried: 8, confirmed: 4, listedShare: 0 })).toBe(true)
  expect(isExhaustivePattern({ tried: 8, confirmed: 3, listedShare: 0.89 })).toBe(false)
  expect(isExhaustivePattern({ tried: 8, confirmed: 0, listedShare: 0.9 })).toBe(true)
  expect(isExhaustivePattern({ tried: 0, confirmed: 0, listedShare: 0.5 })).toBe(false)
})
