import { describe, expect, test } from 'vitest'
import { createWordMarker } from './mark-words.ts'

const marked = (terms: readonly string[], text: string) =>
  createWordMarker(terms)(text).flatMap((part) => (part.isMarked ? [part.text] : []))

describe('createWordMarker', () => {
  test('marks whole words in any case', () => {
    expect(marked(['wick', 'lamp'], 'Trim the Wick of a lamp, not the lampshade')).toEqual(['Wick', 'lamp'])
  })

  test('marks words with punctuation, and the longest one where several begin', () => {
    expect(marked(['client', 'client-side', 'a.b(c)'], 'a client-side a.b(c)')).toEqual(['client-side', 'a.b(c)'])
  })

  test('marks words with accents by their folded form', () => {
    expect(marked(['grusse'], 'Viele Grüße')).toEqual(['Grüße'])
  })

  test('marks runs of characters in scripts without spaces', () => {
    expect(marked(['検索', '索引'], '全文検索索引を作る')).toEqual(['検索索引'])
  })

  test('keeps the whole text', () => {
    const text = 'a < b && "c" é 検索 wick'
    const parts = createWordMarker(['wick', 'c', '検索'])(text)
    expect(parts.map((part) => part.text).join('')).toBe(text)
    expect(createWordMarker([])(text)).toEqual([{ text, isMarked: false }])
  })
})
