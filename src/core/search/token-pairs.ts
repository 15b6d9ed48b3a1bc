import { countTokens, type EncodedEntries, TermReader } from './postings.ts'
import { measureCloseness, type PairFinder, PositionList, type QueryWord } from './ranking.ts'

/** Finds query words that closely follow each other, by reading the documents. */
export function createPairFinder(documents: EncodedEntries, termCount: number): PairFinder {
  /** Index plus one of the query word that each term matches; zero between searches. */
  const wordOfTerm = new Uint16Array(termCount)
  const mark = (words: readonly QueryWord[], isSet: boolean): void => {
    words.forEach(({ exact, variants }, i) => {
      for (const term of exact) wordOfTerm[term] = isSet ? i + 1 : 0
      for (const term of variants) wordOfTerm[term] = isSet ? i + 1 : 0
    })
  }
  return (candidates, words) => {
    const found = new Float64Array(candidates.length * words.length)
    const positions = words.map(() => new PositionList())
    mark(words, true)
    candidates.forEach((document, row) => {
      const reader = new TermReader(documents.tokens, documents.starts[document])
      // A loop instead of visitEntryTerms with its callback: most of the time of a query is spent here.
      for (let position = 0, end = countTokens(documents, document); position < end; position++) {
        const word = wordOfTerm[reader.next()] ?? 0
        if (word > 0) positions[word - 1]?.add(row, position)
      }
    })
    mark(words, false)
    words.forEach(({ phraseGap }, word) => {
      const [before, after] = [positions[word - 1], positions[word]]
      if (before === undefined || after === undefined) return
      measureCloseness(before, after, phraseGap, (row, closeness) => {
        const at = row * words.length + word
        found[at] = (found[at] ?? 0) + closeness
      })
    })
    return found
  }
}
