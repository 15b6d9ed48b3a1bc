import fc from 'fast-check'
import { expect, test } from 'vitest'
import { measureMarkdown } from './measure.ts'

const count = (text: string) => measureMarkdown(text).wordCount

test.each([
  ['', 0],
  ['one two-three 4th', 4],
  ['**bold**\n\n- item', 2],
  ['Größe, naïve; 漢字 𝒳1', 4],
  ['\ud800 a', 1],
])('%j has %i words', (text, words) => {
  expect(count(text)).toBe(words)
})

test('words are runs of letters and digits of any script', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      expect(count(text)).toBe([...text.matchAll(/[\p{L}\p{N}]+/gu)].length)
    }),
  )
})
