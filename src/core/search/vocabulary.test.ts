import { expect, test } from 'vitest'
import { Vocabulary } from './vocabulary.ts'

test('numbers terms in the order they come, once each, through growth', () => {
  const vocabulary = new Vocabulary()
  const terms = Array.from({ length: 5000 }, (_, i) => `term${i}東`)
  for (const [i, term] of terms.entries()) {
    expect(vocabulary.intern(`<${term}>`, 1, term.length + 1)).toBe(i)
    expect(vocabulary.intern(term, 0, term.length)).toBe(i)
  }
  expect(vocabulary.size).toBe(5000)
  expect(terms.map((term) => vocabulary.find(term))).toEqual([...terms.keys()])
  expect(terms.map((_, i) => vocabulary.term(i))).toEqual(terms)
})

test('does not know what was never interned', () => {
  const vocabulary = new Vocabulary()
  vocabulary.intern('abc', 0, 3)
  expect(['', 'ab', 'abcd', 'cba'].map((term) => vocabulary.find(term))).toEqual([-1, -1, -1, -1])
})
