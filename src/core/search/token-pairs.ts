import { countTokens, type Documents, TermReader } from './postings.ts'
import { measureCloseness, type PairFinder, type QueryWord } from './ranking.ts'

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
    const found = new Float64Array(asked.length * words.length)
    mark(words, true)
    asked.forEach((document, i) => {
      const reader = new TermReader(documents.tokens, documents.starts[document])
      const places = words.map((): number[] => [])
      // A loop instead of visitDocument with its callback: most of the time of a query is spent here.
      for (let place = 0, end = countTokens(documents, document); place < end; place++) {
        const word = wordOfTerm[reader.next()] ?? 0
        if (word > 0) places[word - 1]?.push(place)
      }
      words.forEach(({ phraseGap }, word) => {
        found[i * words.length + word] = measureCloseness(places[word - 1], places[word], phraseGap)
      })
    })
    mark(words, false)
    return found
  }
}
