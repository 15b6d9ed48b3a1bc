import fc from 'fast-check'
import { expect, test } from 'vitest'
import { findWords } from './find-words.ts'
import { tokenize } from './tokenize.ts'

test('finds the words that may contain a token', () => {
  const text = 'Call os.path.join, os.pathlib or joined; HTTP/2 is no path.'
  const words = findWords(text, new Set(['path', 'http2']))
  expect(words?.map(([start, end]) => text.slice(start, end))).toEqual([
    'os.path.join,',
    'os.pathlib',
    'HTTP/2',
    'path.',
  ])
})

test('leaves a text with letters beyond ASCII to the tokenizer', () => {
  expect(findWords('Café', new Set(['cafe']))).toBeUndefined()
})

test('loses no token of any ASCII text', () => {
  const word = fc.stringMatching(/^[ -~]{0,12}$/)
  fc.assert(
    fc.property(fc.array(word), fc.nat(), (words, pick) => {
      const text = words.join(' ')
      const all = tokenize(text)
      const token = all[pick % Math.max(1, all.length)] ?? 'none'
      const found = findWords(text, new Set([token])) ?? []
      const foundTokens = found.flatMap(([start, end]) => tokenize(text.slice(start, end)))
      expect(foundTokens.filter((one) => one === token)).toEqual(all.filter((one) => one === token))
    }),
  )
})
