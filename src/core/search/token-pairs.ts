import { countTokens, type EncodedEntries, TermReader } from './postings.ts'
import type { PairFinder, QueryWord } from './ranked-query.ts'

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

/** Words further apart than this many tokens are not neighbors. */
const PAIR_WINDOW = 3

/** Positions of a word in several documents, each with the row of its document. */
export class PositionList {
  /** `row · ROW_STRIDE + position` each, ascending after `sort`. */
  keys: Float64Array<ArrayBuffer> = new Float64Array(256)
  length: number = 0
  #isSorted = true

  clear(): void {
    this.length = 0
    this.#isSorted = true
  }

  add(row: number, position: number): void {
    if (this.length === this.keys.length) {
      const larger = new Float64Array(2 * this.length)
      larger.set(this.keys)
      this.keys = larger
    }
    const key = row * ROW_STRIDE + position
    if (this.length > 0 && key < (this.keys[this.length - 1] ?? 0)) this.#isSorted = false
    this.keys[this.length++] = key
  }

  /** Sorts the positions, which come term by term. */
  sort(): void {
    if (!this.#isSorted) this.keys.subarray(0, this.length).sort()
    this.#isSorted = true
  }
}

/** More than the positions in a document, so that positions of two documents are never close. */
const ROW_STRIDE = 2 ** 32

/**
 * Reports every position of a word that closely follows another word, in order: its row, and the inverse of the distance to the nearest
 * previous position of the other word. The distance is at most PAIR_WINDOW, and in a phrase exactly `phraseGap`.
 */
export function measureCloseness(
  before: PositionList,
  after: PositionList,
  phraseGap: number | undefined,
  add: (row: number, closeness: number) => void,
): void {
  const { keys: positions, length } = after
  const { keys: earlier, length: count } = before
  if (count === 0) return
  let i = 0
  for (let at = 0; at < length; at++) {
    const position = positions[at] ?? 0
    const wanted = position - (phraseGap ?? 1)
    while (i + 1 < count && (earlier[i + 1] ?? 0) <= wanted) i++
    const distance = position - (earlier[i] ?? 0)
    const isClose = phraseGap === undefined ? distance >= 1 && distance <= PAIR_WINDOW : distance === phraseGap
    if (isClose) add(Math.floor(position / ROW_STRIDE), 1 / distance)
  }
}
