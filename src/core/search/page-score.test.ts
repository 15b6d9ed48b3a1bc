import { describe, expect, test } from 'vitest'
import { textAnalyzer } from '../text/analyzer.ts'
import { SearchIndex, type SearchIndexOptions } from './search-index.ts'

/** The key of a document is its page and a number: `guide 2`. */
const OPTIONS: SearchIndexOptions = {
  fields: { head: 2, body: 1 },
  analyzer: textAnalyzer,
  pageOf: (key) => key.split(' ')[0] ?? '',
}

function createIndex(documents: Readonly<Record<string, string>>, options = OPTIONS): SearchIndex {
  const index = new SearchIndex(options)
  for (const [key, body] of Object.entries(documents)) index.add(key, { body })
  return index
}

/** Three documents of 6 + 4 + 2 words on one page, and one page of 12 words on its own: pages of average length. */
const PAGES = {
  'guide 1': 'retry after timeout of worker queue',
  'guide 2': 'retry again and again',
  'guide 3': 'other text',
  'notes 1': 'one two three four five six seven eight nine ten eleven twelve',
}

describe('the score of a page', () => {
  test('is BM25 over the words of all its documents, with k1 4 and the whole length', () => {
    const [best, next] = createIndex(PAGES).search('retry')
    // Two occurrences on a page of average length.
    expect(best?.pageScore).toBeCloseTo(2 / (2 + 4), 10)
    expect(next?.pageScore).toBe(best?.pageScore)
  })

  test('weighs words by their rarity among documents, and counts missing ones as nothing', () => {
    const [best] = createIndex(PAGES).search('retry timeout')
    const rarityOf = (matches: number) => Math.log(1 + (4 - matches + 0.5) / (matches + 0.5))
    const [retry, timeout] = [rarityOf(2), rarityOf(1)]
    expect(best?.pageScore).toBeCloseTo((retry * (2 / 6) + timeout * (1 / 5)) / (retry + timeout), 10)
  })

  test('weighs occurrences by field', () => {
    const index = createIndex(PAGES)
    index.add('guide 3', { head: 'retry', body: '' })
    // Weighted lengths: 6 + 4 + 2 for the guide and 12 for the notes.
    expect(index.search('retry')[0]?.pageScore).toBeCloseTo(4 / (4 + 4), 10)
  })

  test('is lower on a longer page with as many occurrences', () => {
    const index = createIndex({
      ...PAGES,
      'guide 4': 'more words that are not about it at all, and still more of them',
    })
    expect(index.search('retry')[0]?.pageScore).toBeLessThan(2 / 6)
  })

  test('is that of the document on a page of at most two documents, but not more than 1', () => {
    const { 'guide 3': _, ...short } = PAGES
    const [best] = createIndex(short).search('retry')
    expect(best?.pageScore).toBe(best?.score)
    const [phrase] = createIndex({ 'a 1': 'worker queue timeout', 'b 1': 'other' }).search('"worker queue timeout"')
    expect(phrase?.score).toBeGreaterThan(1)
    expect(phrase?.pageScore).toBe(1)
  })

  test('is 0 if documents are not parts of pages', () => {
    const { pageOf: _, ...options } = OPTIONS
    expect(createIndex(PAGES, options).search('retry')[0]?.pageScore).toBe(0)
  })

  test('does not depend on earlier searches', () => {
    const index = createIndex(PAGES)
    const first = index.search('retry')
    index.search('one two queue')
    expect(index.search('retry')).toEqual(first)
  })
})

describe('missing words', () => {
  test('of a document may be on its page', () => {
    const [best, next] = createIndex(PAGES).search('retry queue lamp')
    const wordsOf = (words: readonly { readonly word: string }[] = []) => words.map(({ word }) => word)
    expect([best?.key, next?.key]).toEqual(['guide 1', 'guide 2'])
    expect(wordsOf(next?.missing)).toEqual(['queue', 'lamp'])
    expect(wordsOf(next?.missingOnPage)).toEqual(['lamp'])
  })

  test('are missing on the page too if there are no pages', () => {
    const { pageOf: _, ...options } = OPTIONS
    const [hit] = createIndex(PAGES, options).search('again lamp')
    expect(hit?.missingOnPage).toEqual(hit?.missing)
  })
})
