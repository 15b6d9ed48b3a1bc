import { expect, test } from 'vitest'
import { cpuMsOf } from '../../../test/cpu-time.ts'
import { mixUnit, Vocabulary } from './vocabulary.ts'

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

test('words that collide for one seed do not slow a vocabulary with another seed down', () => {
  const seed = 0x811c9dc5
  const words = createCollisions(13, seed)
  const ordinary = words.map((_, i) => `${i}`.padStart(words[0]?.length ?? 0, 'word'))
  const fill = (terms: readonly string[], someSeed: number) => {
    const vocabulary = new Vocabulary(someSeed)
    const ms = cpuMsOf(() => {
      for (const term of terms) vocabulary.intern(term, 0, term.length)
    })
    expect(vocabulary.size).toBe(terms.length)
    return ms
  }
  // The first time is longer, because the code is compiled.
  const limitMs = 50 + 10 * Math.min(...[1, 2, 3].map(() => fill(ordinary, seed)))
  expect(fill(words, seed)).toBeGreaterThan(limitMs)
  // Seeds that differ in a single bit, and share their low bits with it.
  for (const bit of [8, 16, 24, 31]) expect(fill(words, seed ^ (1 << bit)), `bit ${bit}`).toBeLessThan(limitMs)
})

/**
 * Returns 2^`blocks` words with the same hash for a seed. For each block it finds two texts that lead from one hash state to the same next
 * state, and every word contains one of the two (Joux, CRYPTO 2004).
 */
function createCollisions(blocks: number, seed: number): string[] {
  let words = ['']
  let state = seed
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
    for (let i = 0; i < text.length; i++) hash = mixUnit(hash, text.charCodeAt(i))
    const other = seen.get(hash)
    if (other !== undefined) return [other, text, hash]
    seen.set(hash, text)
  }
}
