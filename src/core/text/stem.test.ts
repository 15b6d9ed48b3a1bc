import { expect, test } from 'vitest'
import { stem } from './stem.ts'

test.each([
  ['consisting consisted consists', 'consist'],
  ['consistently consistent', 'consist'],
  ['hopping hopped', 'hop'],
  ['hoping hoped hope', 'hope'],
  ['flies fly', 'fli'],
  ['ties tied tie tying', 'tie'],
  ['caresses caress', 'caress'],
  ['generating generate generated generates', 'generat'],
  ['relational relate related', 'relat'],
  ['conditional', 'condit'],
  ['vietnamization', 'vietnam'],
  ['biologist', 'biolog'],
  ['hopefulness hopeful', 'hope'],
  ['electricity electrical', 'electr'],
  ['adjustable adjustment', 'adjust'],
  ['controlling controlled', 'control'],
  ['agreed agree', 'agre'],
  ['say', 'say'],
  ['cry cries', 'cri'],
  ['by', 'by'],
  ['youth', 'youth'],
  ['succeed', 'succeed'],
  ['evening', 'evening'],
  ['news', 'news'],
  ['gas', 'gas'],
  ['this', 'this'],
  ['kiwis', 'kiwi'],
  ['egg', 'egg'],
  ['added adding adds', 'add'],
  ['pasting pasted paste', 'paste'],
])('reduces %s to %s', (words, expected) => {
  for (const word of words.split(' ')) expect(stem(word)).toBe(expected)
})

test.each([
  ['internal', 'intern'],
  ['organization', 'organ'],
  ['university', 'universe'],
  ['paste', 'past'],
  ['news', 'new'],
])('keeps %s and %s distinct', (a, b) => {
  expect(stem(a)).not.toBe(stem(b))
})

test.each(['', 'as', '404', 'v2', 'read_files', 'Running', 'études', 'пингвины'])('does not change %j', (word) => {
  expect(stem(word)).toBe(word)
})

test('a stem is at most one letter longer than the word, for words of any length', () => {
  for (const word of ['sss', 'yyy', 'ing', 'eed', 'ied', 'yings', 'e'.repeat(64), 'ing'.repeat(20)]) {
    expect(stem(word).length).toBeLessThanOrEqual(word.length + 1)
  }
})
