import { countTokens, type Documents, TermReader } from './postings.ts'
import type { PairFinder, QueryWord } from './ranking.ts'

/** Finds neighbouring words by reading the documents. */
export function createTokenPairs(documents: Documents, termCount: number): PairFinder {
  /** By term, the place in the query of the word it stands for, plus one; zero between searches. */
  const wordOfTerm = new Uint16Array(termCount)
  const mark = (words: readonly QueryWord[], isOn: boolean): void => {
    words.forEach(({ exact, variants }, i) => {
      for (const term of exact) wordOfTerm[term] = isOn ? i + 1 : 0
      for (const term of variants) wordOfTerm[term] = isOn ? i + 1 : 0
    })
  }
  return (asked, words) => {
    const found = new Uint8Array(asked.length * words.length)
    mark(words, true)
    asked.forEach((document, i) => {
      const reader = new TermReader(documents.tokens, documents.starts[document])
      let previous = 0
      // A loop instead of visitDocument with its callback: most of the time of a query is spent here.
      for (let left = countTokens(documents, document); left > 0; left--) {
        const word = wordOfTerm[reader.next()] ?? 0
        if (word > 1 && word === previous + 1) found[i * words.length + word - 1] = 1
        previous = word
      }
    })
    mark(words, false)
    return found
  }
}
