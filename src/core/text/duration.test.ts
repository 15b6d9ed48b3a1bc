import { expect, test } from 'vitest'
import { parseDuration, writeDuration } from './duration.ts'

test.each([
  ['200ms', 200],
  ['90s', 90_000],
  ['90', 90_000],
  ['0', 0],
  ['15m', 900_000],
  ['1.5 h', 5_400_000],
  ['7D', 604_800_000],
  [' 2s ', 2000],
  ['0.1s', 100],
])('%j is %d milliseconds', (text, ms) => {
  expect(parseDuration(text)).toBe(ms)
})

test.each(['', 's', '-1s', '1 week', '1h30m', '1,5s', '1e3', '9999999999999', '١s'])('%j is not a duration', (text) => {
  expect(parseDuration(text)).toBeUndefined()
})

test.each([
  [0, '0s'],
  [0.4, '0s'],
  [200, '200ms'],
  [999.6, '1s'],
  [1000, '1s'],
  [4230, '4.2s'],
  [59_449, '59.4s'],
  [59_500, '1m'],
  [60_000, '1m'],
  [192_000, '3m 12s'],
  [3_569_000, '59m 29s'],
  [3_570_000, '1h'],
  [7_500_000, '2h 5m'],
  [86_399_999, '1d'],
  [604_800_000, '7d'],
  [-5, '0s'],
])('%d milliseconds are %s', (ms, text) => {
  expect(writeDuration(ms)).toBe(text)
})
