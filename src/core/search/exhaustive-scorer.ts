import type { OpenScores, QueryWord, ScoreFormula, WeightedPostings } from './ranked-query.ts'
import { type Order, selectTop } from './top.ts'

/** Scores all documents that match a query, by reading all postings of its words. */
export class ExhaustiveScorer {
  readonly #lengths: Float64Array
  readonly #order: Order
  // The last search: the score of each document, the documents that have a score, and their number.
  readonly #scores: Float64Array
  readonly #touched: Uint32Array
  #count = 0
  // Scratch space of one word: the matching documents, and by document the frequencies of all its terms and of the exact ones.
  readonly #matched: Uint32Array
  readonly #frequencies: Float64Array
  readonly #exactFrequencies: Float64Array

  /** `lengths` are those of the documents; `order` breaks ties. */
  constructor(lengths: Float64Array, order: Order) {
    const { length } = lengths
    this.#lengths = lengths
    this.#order = order
    this.#scores = new Float64Array(length)
    this.#touched = new Uint32Array(length)
    this.#matched = new Uint32Array(length)
    this.#frequencies = new Float64Array(length)
    this.#exactFrequencies = new Float64Array(length)
  }

  /** Scores the documents with these postings. */
  score(postings: WeightedPostings, words: readonly QueryWord[], formula: ScoreFormula): OpenScores {
    const scores = this.#scores
    for (let i = 0; i < this.#count; i++) scores[this.#touched[i] ?? 0] = 0
    this.#count = 0
    const matches = words.map((word) => {
      const count = this.#gather(postings, word)
      this.#addScores(word.weight * formula.rarityOf(count), count, formula)
      return count
    })
    const candidates = this.#touched.subarray(0, this.#count)
    return {
      matches,
      findBest: (limit, accept) => selectTop(candidates, scores, limit, accept, this.#order),
      scoreOf: (document) => scores[document] ?? 0,
    }
  }

  /** Collects the documents that match a word with their frequencies, and returns how many there are. */
  #gather({ offsets, documents, frequencies }: WeightedPostings, { exact, variants }: QueryWord): number {
    const sums = this.#frequencies
    const exactSums = this.#exactFrequencies
    const matched = this.#matched
    let count = 0
    for (const term of [...exact, ...variants]) {
      const isExact = exact.includes(term)
      const to = offsets[term + 1] ?? 0
      for (let i = offsets[term] ?? 0; i < to; i++) {
        const document = documents[i] ?? 0
        const frequency = frequencies[i] ?? 0
        const sum = sums[document] ?? 0
        if (sum === 0) matched[count++] = document
        sums[document] = sum + frequency
        if (isExact) exactSums[document] = (exactSums[document] ?? 0) + frequency
      }
    }
    return count
  }

  /** Adds the score of a word to the gathered documents, and clears their frequencies. */
  #addScores(factor: number, matches: number, { normBase, normSlope, exactBonus }: ScoreFormula): void {
    const scores = this.#scores
    const matched = this.#matched
    for (let i = 0; i < matches; i++) {
      const document = matched[i] ?? 0
      const score = scores[document] ?? 0
      // A match always adds to the score, so a score of zero means a new document.
      if (score === 0) this.#touched[this.#count++] = document
      const norm = normBase + normSlope * (this.#lengths[document] ?? 0)
      const frequency = this.#frequencies[document] ?? 0
      const exact = this.#exactFrequencies[document] ?? 0
      scores[document] = score + factor * (frequency / (frequency + norm) + (exactBonus * exact) / (exact + norm))
      this.#frequencies[document] = 0
      this.#exactFrequencies[document] = 0
    }
  }
}
