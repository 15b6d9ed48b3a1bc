import { expect, test } from 'vitest'
import { countSentences } from './prose.ts'

test('counts sentences of six words or more, up to three', () => {
  const long = 'The keeper of the "old" light waits here'
  expect(countSentences('Only five words are here.')).toBe(0)
  expect(countSentences('Exactly six words are written here.')).toBe(1)
  expect(countSentences(`${long}. ${long}! ${long}? ${long}.`)).toBe(3)
  expect(countSentences(`${long}. ${long}`)).toBe(1)
})

test('a hostile text is counted in time that is proportional to its length', () => {
  expect(countSentences(`0"0\t0"0"0\t0"${'0""'.repeat(100_000)}\t!0"0"0"0"0\t\0!`)).toBeGreaterThan(0)
})
