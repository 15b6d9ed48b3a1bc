import { expect, test } from 'vitest'
import { countryScoresOf } from './match-context.ts'

test.each([
  ['https://news.example.fr/a', 1],
  ['https://news.example.la/a', 0],
  ['https://news.example.nu/a', 0],
  ['https://news.example.im/a', 0],
  ['https://news.example.io/a', 0],
])('the top-level domain of %s points to %i countries', (url, count) => {
  expect(countryScoresOf({ url }, () => true).size).toBe(count)
})
