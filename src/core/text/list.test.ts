import { expect, test } from 'vitest'
import { writeList } from './list.ts'

test('joins words as in a sentence', () => {
  expect(writeList([])).toBe('')
  expect(writeList(['words'])).toBe('words')
  expect(writeList(['words', 'vectors'])).toBe('words and vectors')
  expect(writeList(['words', 'vectors', 'reranker'])).toBe('words, vectors and reranker')
})
