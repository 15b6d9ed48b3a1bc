import type { Postings } from './postings.ts'
import { type Order, selectTop } from './top.ts'

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

/** A query in terms of one index. */
export interface RankedQuery {
  readonly words: readonly QueryWord[]
  /** Where the terms occur, by field; no document stands twice under a term. */
  readonly postings: readonly Postings[]
  readonly findPairs: PairFinder
}

/**
 * Tells which words of a query stand right behind the one before them. The answer for document `d` of the list and word `w`
 * is at `d · words + w`, 1 for yes. A term that stands for several words stands for the last of them.
 */
export type PairFinder = (documents: readonly number[], words: readonly QueryWord[]) => Uint8Array

/** The documents that are ranked. */
export interface RankedCollection {
  /** Tokens by document and field: `lengths[document * fieldCount + field]`. All 0 for a number without a document. */
  readonly lengths: Uint32Array
  readonly fieldCount: number
  /** How many documents there are. */
  readonly count: number
  /** By document, what decides between equal scores; without it the number does. */
  readonly order?: Order
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
  readonly #collection: RankedCollection
  readonly #weights: readonly number[]
  readonly #constants: Required<RankingOptions>
  /** By field, what length does to a score: `k1 · (1 − b + b · length / average)`. */
  readonly #norms: readonly Float64Array[]
  // Scratch space of one search, zero between searches: by document …
  readonly #scores: Float64Array
  readonly #touched: Uint32Array
  readonly #places: Uint32Array
  /** … and the matches of one word, those of field `f` from `f` times the number of documents on. */
  readonly #matched: Uint32Array
  readonly #frequencies: Float64Array
  readonly #variantFrequencies: Uint32Array
  readonly #matchCounts: Uint32Array

  constructor(collection: RankedCollection, weights: readonly number[], constants: Required<RankingOptions>) {
    const length = collection.lengths.length / collection.fieldCount
    this.#collection = collection
    this.#weights = weights
    this.#constants = constants
    this.#norms = weights.map((_, field) => createNorms(collection, field, constants))
    this.#scores = new Float64Array(length)
    this.#touched = new Uint32Array(length)
    this.#places = new Uint32Array(length)
    this.#matched = new Uint32Array(length * weights.length)
    this.#frequencies = new Float64Array(length * weights.length)
    this.#variantFrequencies = new Uint32Array(length)
    this.#matchCounts = new Uint32Array(weights.length)
  }

  /** The best documents for a query, best first; equal scores in the order of the collection. */
  rank(query: RankedQuery, limit: number, accept?: (document: number) => boolean): RankedDocument[] {
    const { words, postings } = query
    const rarities = new Float64Array(words.length)
    let count = 0
    words.forEach((word, i) => {
      const rarity = this.#gather(postings, word)
      rarities[i] = rarity
      count = this.#addScores(word, rarity, count)
    })
    const candidates = this.#touched.subarray(0, count)
    try {
      const { order } = this.#collection
      const best = selectTop(candidates, this.#scores, Math.max(limit, RERANKED), accept, order)
      const ranked = this.#addPairs(query, best, rarities).slice(0, limit)
      const terms = [...new Set(words.flatMap(({ exact, variants }) => [...exact, ...variants]))]
      return ranked.map(({ document, score, pairs }) => {
        const isMatched = (term: number): boolean => postings.some((field) => hasPosting(field, term, document))
        return { document, score, pairs, terms: terms.filter(isMatched) }
      })
    } finally {
      // `accept` is not ours and may throw; the scratch space must be clean for the next search all the same.
      for (let i = 0; i < count; i++) this.#scores[candidates[i] ?? 0] = 0
    }
  }

  /** What each word adds to the scores of some documents, document by document, word by word, field by field. */
  explain({ words, postings }: RankedQuery, documents: readonly number[]): Contribution[][] {
    const contributions = documents.map((): Contribution[] => [])
    for (const word of words) {
      const rarity = this.#gather(postings, word)
      this.#weights.forEach((_, field) => {
        const from = field * this.#scores.length
        const matches = this.#matchCounts[field] ?? 0
        const matched = this.#matched.subarray(from, from + matches)
        const places = new Map<number, number>()
        matched.forEach((document, place) => {
          places.set(document, place)
        })
        documents.forEach((document, i) => {
          const place = places.get(document)
          if (place === undefined) return
          const frequency = this.#frequencies[from + place] ?? 0
          const norm = this.#norms[field]?.[document] ?? 0
          const score = (this.#factor(word, field, rarity) * frequency) / (frequency + norm)
          contributions[i]?.push({ word, field, frequency, matches, score })
        })
      })
    }
    return contributions
  }

  /** Collects the matches of a word in every field and returns its rarity. */
  #gather(postings: readonly Postings[], word: QueryWord): number {
    let most = 0
    for (let field = 0; field < this.#weights.length; field++) {
      const matches = this.#gatherField(postings[field], word, field)
      this.#matchCounts[field] = matches
      if (matches > most) most = matches
    }
    return Math.log(1 + (this.#collection.count - most + 0.5) / (most + 0.5))
  }

  /**
   * Collects the documents that match a word in one field, each with the frequency that counts: that of the exact terms
   * plus the weighted frequency `v` of the variants. Where there are variants only it is `v / (1 + v)`, which stays below
   * one exact occurrence however often they stand there. Returns how many documents there are.
   */
  #gatherField(postings: Postings | undefined, word: QueryWord, field: number): number {
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
  #addPairs(
    { words, findPairs }: RankedQuery,
    best: readonly number[],
    rarities: Float64Array,
  ): Omit<RankedDocument, 'terms'>[] {
    const { pairBonus } = this.#constants
    const isOn = words.length > 1 && pairBonus > 0
    const found = isOn ? findPairs(best.slice(0, RERANKED), words) : new Uint8Array(0)
    const ranked = best.map((document, rank) => {
      const pairs = pairBonus * sumPairs(found.subarray(rank * words.length, (rank + 1) * words.length), rarities)
      return { document, score: (this.#scores[document] ?? 0) + pairs, pairs }
    })
    return ranked.sort((a, b) => b.score - a.score || this.#compare(a.document, b.document))
  }

  #compare(a: number, b: number): number {
    const { order } = this.#collection
    return (order === undefined ? 0 : (order[a] ?? 0) - (order[b] ?? 0)) || a - b
  }
}

/** Adds up the rarities of query words that stand side by side in a document, each pair once. */
function sumPairs(found: Uint8Array, rarities: Float64Array): number {
  let sum = 0
  for (let word = 1; word < found.length; word++) {
    if (found[word] === 1) sum += (rarities[word - 1] ?? 0) + (rarities[word] ?? 0)
  }
  return sum
}

/** Tells whether a document holds a term in a field. */
export function hasPosting({ offsets, documents }: Postings, term: number, document: number): boolean {
  let low = offsets[term] ?? 0
  let high = offsets[term + 1] ?? 0
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((documents[middle] ?? 0) < document) low = middle + 1
    else high = middle
  }
  return low < (offsets[term + 1] ?? 0) && documents[low] === document
}

/** How many documents have a field, and how many tokens it holds in all of them. */
export function sumLengths(
  documents: Pick<RankedCollection, 'lengths' | 'fieldCount'>,
  field: number,
): { documents: number; tokens: number } {
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
function createNorms(documents: RankedCollection, field: number, { k1, b }: Required<RankingOptions>): Float64Array {
  const { documents: count, tokens } = sumLengths(documents, field)
  const average = count === 0 ? 1 : tokens / count
  const norms = new Float64Array(documents.lengths.length / documents.fieldCount)
  for (let i = 0; i < norms.length; i++) {
    norms[i] = k1 * (1 - b + (b * (documents.lengths[i * documents.fieldCount + field] ?? 0)) / average)
  }
  return norms
}
