import { describe, expect, test } from 'vitest'
import { findLastSentences, findLastWords, sliceSentences } from './sentences.ts'

describe('slices of a line', () => {
  test.each([
    ['fits.', 10, ['fits.']],
    ['One is here. Two is here. Three.', 26, ['One is here. Two is here. ', 'Three.']],
    ['He said "stop." Then he went on.', 20, ['He said "stop." ', 'Then he went on.']],
    ['no sentence in all of this', 12, ['no sentence ', 'in all of ', 'this']],
    ['灯台は海を照らす。船は帰る。夜が明ける。', 15, ['灯台は海を照らす。船は帰る。', '夜が明ける。']],
    ['abcdefghij', 4, ['abcd', 'efgh', 'ij']],
    ['ab😀cd', 3, ['ab', '😀c', 'd']],
    ['A. longer than half of it', 20, ['A. longer than half ', 'of it']],
    ['', 5, []],
  ])('are cut from %j at sentences or words, with at most %i code units each', (line, size, slices) => {
    expect(sliceSentences(line, size)).toEqual(slices)
    expect(slices.join('')).toBe(line)
  })
})

describe('the end of a text', () => {
  test('contains as many whole sentences as fit', () => {
    const text = 'One is here. Two is here. Three.'
    expect([6, 8, 20, 31, 32].map((size) => findLastSentences(text, size))).toEqual([26, 26, 13, 13, 0])
    expect(findLastSentences(text, 5)).toBeUndefined()
  })

  test('contains as many whole words as fit', () => {
    const text = 'one two three'
    expect([5, 8, 9, 13].map((size) => findLastWords(text, size))).toEqual([8, 8, 4, 0])
    expect(findLastWords('one two three ', 4)).toBeUndefined()
    expect(findLastWords(text, 4)).toBeUndefined()
  })
})
