import { buildPostings, countTokens, type Documents, type Postings, TermReader, visitDocument } from './postings.ts'
import { selectTop } from './top.ts'

/** Constants of the ranking. The defaults were chosen by measurement; change them only by measurement. */
export interface RankingOptions {
  /** How soon repeating a word stops adding to the score. @default 1.2 */
  readonly k1?: number
  /** How much long documents are held back, from 0 to 1. @default 0.75 */
  readonly b?: number
  /**
   * What a term with the same stem counts beside the exact one, from 0 (nothing) to 1. Without the exact one such terms
   * count less than it once, however many they are. @default 0.7
   */
  readonly variantWeight?: number
  /** What two neighbouring query words add where they stand together, as a share of their rarity. @default 0.1 */
  readonly pairBonus?: number
}

/** The defaults of `RankingOptions`. */
export const DEFAULT_RANKING: Required<RankingOptions> = { k1: 1.2, b: 0.75, variantWeight: 0.7, pairBonus: 0.1 }

/** A word of a query with the numbers of the terms it stands for. */
export interface QueryWord {
  readonly word: string
  /** Terms the query says itself: the word, and other forms of it. */
  readonly exact: readonly number[]
  /** Terms that only share the stem. */
  readonly variants: readonly number[]
  /** Share of its score that counts. */
  readonly weight: number
}

/** A document with its score. */
export interface RankedDocument {
  readonly document: number
  readonly score: number
  /** The part of the score that comes from neighbouring words. */
  readonly pairs: number
  /** Its terms that stand for a word of the query, word by word, those the query says first. */
  readonly terms: readonly number[]
}

/** What one word adds to the score of a document through one field. */
export interface Contribution {
  readonly word: QueryWord
  readonly field: number
  readonly frequency: number
  readonly matches: number
  readonly score: number
}

/** The pair bonus is worked out for this many best documents only. */
const RERANKED = 200

/**
 * Ranks a fixed set of documents by BM25, each field scored on its own and the scores added. A word is as rare as in the
 * field where it is most common, so that a common word does not gain from being seldom in titles.
 */
export class Ranking {
  readonly postings: readonly Postings[]
  readonly #documents: Documents
  readonly #weights: readonly number[]
  readonly #constants: Required<RankingOptions>
  /** By field, what length does to a score: `k1 · (1 − b + b · length / average)`. */
  readonly #norms: readonly Float64Array[]
  // Scratch space of one search, zero between searches: by document …
  readonly #scores: Float64Array
  readonly #touched: Uint32Array
  readonly #places: Uint32Array
  /** … by term, the place in the query of the word it stands for, plus one … */
  readonly #wordOfTerm: Uint16Array
  /** … and the matches of one word, those of field `f` from `f · documentCount` on. */
  readonly #matched: Uint32Array
  readonly #frequencies: Float64Array
  readonly #variantFrequencies: Uint32Array
  readonly #matchCounts: Uint32Array

  constructor(
    documents: Documents,
    termCount: number,
    weights: readonly number[],
    constants: Required<RankingOptions>,
  ) {
    const { length } = documents.starts
    this.#documents = documents
    this.#weights = weights
    this.#constants = constants
    this.postings = buildPostings(documents, termCount)
    this.#norms = weights.map((_, field) => createNorms(documents, field, constants))
    this.#scores = new Float64Array(length)
    this.#touched = new Uint32Array(length)
    this.#places = new Uint32Array(length)
    this.#wordOfTerm = new Uint16Array(termCount)
    this.#matched = new Uint32Array(length * weights.length)
    this.#frequencies = new Float64Array(length * weights.length)
    this.#variantFrequencies = new Uint32Array(length)
    this.#matchCounts = new Uint32Array(weights.length)
  }

  /** The best documents for a query, best first; equal scores in ascending order of their numbers. */
  rank(words: readonly QueryWord[], limit: number, accept?: (document: number) => boolean): RankedDocument[] {
    const rarities = new Float64Array(words.length)
    let count = 0
    words.forEach((word, i) => {
      const rarity = this.#gather(word)
      rarities[i] = rarity
      count = this.#addScores(word, rarity, count)
    })
    const candidates = this.#touched.subarray(0, count)
    this.#markTerms(words)
    try {
      const best = selectTop(candidates, this.#scores, Math.max(limit, RERANKED), accept)
      const ranked = this.#addPairs(best, rarities).slice(0, limit)
      return ranked.map((hit) => ({ ...hit, terms: this.#matchedTerms(words, hit.document) }))
    } finally {
      // `accept` is not ours and may throw; the scratch space must be clean for the next search all the same.
      for (const document of candidates) this.#scores[document] = 0
      this.#unmarkTerms(words)
    }
  }

  /** What each word adds to the score of a document, field by field. */
  explain(words: readonly QueryWord[], document: number): Contribution[] {
    return words.flatMap((word) => {
      const rarity = this.#gather(word)
      return this.#weights.flatMap((_, field) => {
        const from = field * this.#scores.length
        const matches = this.#matchCounts[field] ?? 0
        const place = this.#matched.subarray(from, from + matches).indexOf(document)
        if (place < 0) return []
        const frequency = this.#frequencies[from + place] ?? 0
        const norm = this.#norms[field]?.[document] ?? 0
        const score = (this.#factor(word, field, rarity) * frequency) / (frequency + norm)
        return [{ word, field, frequency, matches, score }]
      })
    })
  }

  #matchedTerms(words: readonly QueryWord[], document: number): number[] {
    const present = new Set<number>()
    visitDocument(this.#documents, document, (term) => {
      if (this.#wordOfTerm[term] !== 0) present.add(term)
    })
    return words.flatMap(({ exact, variants }) => [...exact, ...variants].filter((term) => present.delete(term)))
  }

  /** Collects the matches of a word in every field and returns its rarity. */
  #gather(word: QueryWord): number {
    let most = 0
    for (let field = 0; field < this.#weights.length; field++) {
      const matches = this.#gatherField(word, field)
      this.#matchCounts[field] = matches
      if (matches > most) most = matches
    }
    return Math.log(1 + (this.#scores.length - most + 0.5) / (most + 0.5))
  }

  /**
   * Collects the documents that match a word in one field, each with the frequency that counts: that of the exact terms
   * plus the weighted frequency `v` of the variants. Where there are variants only it is `v / (1 + v)`, which stays below
   * one exact occurrence however often they stand there. Returns how many documents there are.
   */
  #gatherField(word: QueryWord, field: number): number {
    const postings = this.postings[field]
    if (!postings) return 0
    const base = field * this.#scores.length
    const matched = this.#matched
    const frequencies = this.#frequencies
    const terms = word.exact.length + word.variants.length
    const [only] = word.exact
    let count = 0
    if (terms === 1 && only !== undefined) {
      const to = postings.offsets[only + 1] ?? 0
      for (let i = postings.offsets[only] ?? 0; i < to; i++) {
        matched[base + count] = postings.documents[i] ?? 0
        frequencies[base + count++] = postings.frequencies[i] ?? 0
      }
      return count
    }
    for (const term of word.exact) count = this.#gatherTerm(postings, term, base, count, true)
    for (const term of word.variants) count = this.#gatherTerm(postings, term, base, count, false)
    // Whole numbers are summed first and weighted once, so that the result does not depend on the order of terms.
    for (let i = 0; i < count; i++) {
      const exact = frequencies[base + i] ?? 0
      const variants = this.#constants.variantWeight * (this.#variantFrequencies[i] ?? 0)
      frequencies[base + i] = exact > 0 ? exact + variants : variants / (1 + variants)
      this.#variantFrequencies[i] = 0
      this.#places[matched[base + i] ?? 0] = 0
    }
    return count
  }

  #gatherTerm(postings: Postings, term: number, base: number, before: number, isExact: boolean): number {
    const places = this.#places
    const to = postings.offsets[term + 1] ?? 0
    let count = before
    for (let i = postings.offsets[term] ?? 0; i < to; i++) {
      const document = postings.documents[i] ?? 0
      const frequency = postings.frequencies[i] ?? 0
      let place = (places[document] ?? 0) - 1
      if (place < 0) {
        place = count++
        places[document] = count
        this.#matched[base + place] = document
        this.#frequencies[base + place] = 0
      }
      if (isExact) this.#frequencies[base + place] = (this.#frequencies[base + place] ?? 0) + frequency
      else this.#variantFrequencies[place] = (this.#variantFrequencies[place] ?? 0) + frequency
    }
    return count
  }

  #addScores(word: QueryWord, rarity: number, before: number): number {
    const scores = this.#scores
    const matched = this.#matched
    const frequencies = this.#frequencies
    let count = before
    for (let field = 0; field < this.#weights.length; field++) {
      const norms = this.#norms[field]
      if (!norms) continue
      const factor = this.#factor(word, field, rarity)
      const from = field * scores.length
      const to = from + (this.#matchCounts[field] ?? 0)
      for (let i = from; i < to; i++) {
        const document = matched[i] ?? 0
        const frequency = frequencies[i] ?? 0
        const score = scores[document] ?? 0
        // A match always adds something, so a score of zero means a document not met before.
        if (score === 0) this.#touched[count++] = document
        scores[document] = score + (factor * frequency) / (frequency + (norms[document] ?? 0))
      }
    }
    return count
  }

  #factor(word: QueryWord, field: number, rarity: number): number {
    return word.weight * (this.#weights[field] ?? 0) * rarity * (this.#constants.k1 + 1)
  }

  /** Adds the pair bonus to the first documents and puts them in order. It only adds, so the others stay behind them. */
  #addPairs(best: readonly number[], rarities: Float64Array): Omit<RankedDocument, 'terms'>[] {
    const { pairBonus } = this.#constants
    const isOn = rarities.length > 1 && pairBonus > 0
    const ranked = best.map((document, rank) => {
      const pairs = isOn && rank < RERANKED ? pairBonus * this.#sumPairs(document, rarities) : 0
      return { document, score: (this.#scores[document] ?? 0) + pairs, pairs }
    })
    return ranked.sort((a, b) => b.score - a.score || a.document - b.document)
  }

  /** Adds up the rarities of query words that stand side by side in a document, each pair once. */
  #sumPairs(document: number, rarities: Float64Array): number {
    const wordOfTerm = this.#wordOfTerm
    const reader = new TermReader(this.#documents.tokens, this.#documents.starts[document])
    const found = new Uint8Array(rarities.length + 1)
    let previous = 0
    // A loop instead of visitDocument with its callback: most of the time of a query is spent here.
    for (let left = countTokens(this.#documents, document); left > 0; left--) {
      const word = wordOfTerm[reader.next()] ?? 0
      if (word > 1 && word === previous + 1) found[word] = 1
      previous = word
    }
    let sum = 0
    for (let word = 2; word < found.length; word++) {
      if (found[word] === 1) sum += (rarities[word - 2] ?? 0) + (rarities[word - 1] ?? 0)
    }
    return sum
  }

  #markTerms(words: readonly QueryWord[]): void {
    words.forEach(({ exact, variants }, i) => {
      for (const term of exact) this.#wordOfTerm[term] = i + 1
      for (const term of variants) this.#wordOfTerm[term] = i + 1
    })
  }

  #unmarkTerms(words: readonly QueryWord[]): void {
    for (const { exact, variants } of words) {
      for (const term of exact) this.#wordOfTerm[term] = 0
      for (const term of variants) this.#wordOfTerm[term] = 0
    }
  }
}

/** How many documents have a field, and how many tokens it holds in all of them. */
export function sumLengths(documents: Documents, field: number): { documents: number; tokens: number } {
  let count = 0
  let tokens = 0
  for (let i = field; i < documents.lengths.length; i += documents.fieldCount) {
    const length = documents.lengths[i] ?? 0
    if (length > 0) count++
    tokens += length
  }
  return { documents: count, tokens }
}

/** Length norms of one field. The average is over the documents that have the field, so that a rare one is not skewed. */
function createNorms(documents: Documents, field: number, { k1, b }: Required<RankingOptions>): Float64Array {
  const { documents: count, tokens } = sumLengths(documents, field)
  const average = count === 0 ? 1 : tokens / count
  const norms = new Float64Array(documents.starts.length)
  for (let i = 0; i < norms.length; i++) {
    norms[i] = k1 * (1 - b + (b * (documents.lengths[i * documents.fieldCount + field] ?? 0)) / average)
  }
  return norms
}
