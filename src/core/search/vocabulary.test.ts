import { expect, test } from 'vitest'
import { cpuMsOf } from '../../../test/cpu-time.ts'
import { Vocabulary } from './vocabulary.ts'

test('numbers terms in the order of first occurrence, once each, even as the table grows', () => {
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

test('does not find terms that were never interned', () => {
  const vocabulary = new Vocabulary()
  vocabulary.intern('abc', 0, 3)
  expect(['', 'ab', 'abcd', 'cba'].map((term) => vocabulary.find(term))).toEqual([-1, -1, -1, -1])
})

test('finds the terms that begin with a word, and not the word itself', () => {
  const vocabulary = new Vocabulary()
  for (const term of ['re', 'retry', 'ret', 'tree', '東京都', 'retries']) vocabulary.intern(term, 0, term.length)
  const find = (beginning: string) => vocabulary.findByPrefix(beginning).map((id) => vocabulary.term(id))
  expect(find('ret')).toEqual(['retry', 'retries'])
  expect(find('東京')).toEqual(['東京都'])
  expect([find('retryx'), find('x')]).toEqual([[], []])
})

test('words with the same FNV-1a hash do not slow the vocabulary down', () => {
  const words = createCollisions(14)
  const vocabulary = new Vocabulary()
  const ms = cpuMsOf(() => {
    for (const word of words) vocabulary.intern(word, 0, word.length)
  })
  expect(vocabulary.size).toBe(words.length)
  expect(ms).toBeLessThan(1000)
})

/**
 * Returns 2^`blocks` words with the same FNV-1a hash, for the usual start constant. For each block it finds two texts that lead from one
 * hash state to the same next state, and every word contains one of the two (Joux, CRYPTO 2004).
 */
function createCollisions(blocks: number): string[] {
  let words = ['']
  let state = 0x811c9dc5
  for (let block = 0; block < blocks; block++) {
    const [a, b, next] = findCollision(state)
    words = words.flatMap((word) => [word + a, word + b])
    state = next
  }
  return words
}

function findCollision(state: number): [string, string, number] {
  const seen = new Map<number, string>()
  for (let n = 1; ; n++) {
    const text = (Math.imul(n, 0x9e3779b1) >>> 0).toString(36)
    let hash = state
    for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
    const other = seen.get(hash)
    if (other !== undefined) return [other, text, hash]
    seen.set(hash, text)
  }
}
