import type { RankedPages } from './lengths.ts'
import {
  describeMatches,
  type MissingWord,
  pickWords,
  type QueryWord,
  type RankedQuery,
  sumFrequencies,
  sumWeights,
  type WeightedPostings,
} from './ranked-query.ts'
import { type Order, selectTop } from './top.ts'

/** Constants of the ranking. The defaults were chosen by measurement; change them only by measurement. */
export interface RankingOptions {
  /** How soon repeating a word stops adding to the score. @default 2.05 */
  readonly k1?: number
  /** How strongly long documents are penalized, from 0 to 1. @default 0.58 */
  readonly b?: number
  /**
   * Bonus for a match of the exact form in the query, as a share of the score of its stem. 0 ranks all forms of a word alike.
   * @default 0.5
   */
  readonly exactBonus?: number
  /** Bonus for two neighboring query words that are close together, as a share of their own scores. @default 0.4 */
  readonly pairBonus?: number
  /** Whether other forms of a word match at all. @default true */
  readonly matchesVariants?: boolean
}

/** The defaults of `RankingOptions`. */
export const DEFAULT_RANKING: Required<RankingOptions> = {
  k1: 2.05,
  b: 0.58,
  exactBonus: 0.5,
  pairBonus: 0.4,
  matchesVariants: true,
}

/** The documents that are ranked. */
export interface RankedCollection {
  /** Number of tokens of each document over all fields, weighted by field like occurrences. */
  readonly lengths: Float64Array
  /** Tie-breaker between equal scores: the smaller value comes first. @default the document number */
  readonly order?: Order
  /** The pages that the documents are parts of. @default documents are not parts of pages */
  readonly pages?: RankedPages
}

/** A document with its score. */
export interface RankedEntry {
  readonly document: number
  /**
   * The share of the highest score that the words of the query could reach, without pairs: close to 1 for a text about all of them, and
   * comparable between queries.
   */
  readonly score: number
  /** The part of the score that comes from neighboring words. */
  readonly pairs: number
  /** The score of its whole page by the same words, from 0 to 1; on a short page that of the document. 0 if the collection has no pages. */
  readonly pageScore: number
  /** The terms of the document that match the query, word by word, with the exact forms first. */
  readonly terms: readonly number[]
  /** The words that the document lacks, in the order of the query. */
  readonly missing: readonly MissingWord[]
  /** The words that its whole page lacks. The same as `missing` if the collection has no pages. */
  readonly missingOnPage: readonly MissingWord[]
}

/** A page with its score. */
interface ScoredPage {
  score: number
  /** The words of the query that the page has. */
  readonly words: Set<string>
}

/** Contribution of one word to the score of a document. */
export interface Contribution {
  readonly word: QueryWord
  /** Occurrences by field. */
  readonly frequencies: readonly number[]
  /** How many documents match the word. */
  readonly matches: number
  readonly score: number
}

/** How soon repeating a word on a page of average length stops adding to the score of the page. It grows with the length of the page. */
const PAGE_K1 = 4

/** A page of at most this many documents is scored like its documents: its whole says little more than they do. */
const MAX_SHORT_PAGE = 2

/** The pair bonus is computed only for this many of the best documents. */
const MAX_RERANKED = 200

/** A query is ranked by at most this many words. */
const MAX_WORDS = 64

/** Bonus for a quoted phrase that occurs verbatim, as a share of the best possible score of its words. */
const PHRASE_BONUS = 1

/**
 * Ranks a fixed set of documents by BM25 over weighted occurrences: those in all fields are added before they saturate, so that a word
 * in title and body counts as one word that occurs often, not as two (Robertson, Zaragoza and Taylor, 2004).
 */
export class Ranking {
  readonly #collection: RankedCollection
  readonly #constants: Required<RankingOptions>
  /** Length normalization of a document is `#normBase + #normSlope · length`; both depend on the average length that the query gives. */
  #normBase = 0
  #normSlope = 0
  // Scratch space of one search: the score of each document, zero between searches, and the documents that have a score.
  readonly #scores: Float64Array
  readonly #touched: Uint32Array
  // Scratch space of one word: the matching documents, and by document the frequencies of all its terms and of the exact ones.
  readonly #matched: Uint32Array
  readonly #frequencies: Float64Array
  readonly #exactFrequencies: Float64Array
  // Scratch space of one search: by page, its index among the pages that are scored, from 1; zero between searches.
  readonly #pageSlots: Uint32Array

  constructor(collection: RankedCollection, constants: Required<RankingOptions>) {
    const { length } = collection.lengths
    this.#collection = collection
    this.#constants = constants
    this.#scores = new Float64Array(length)
    this.#touched = new Uint32Array(length)
    this.#matched = new Uint32Array(length)
    this.#frequencies = new Float64Array(length)
    this.#exactFrequencies = new Float64Array(length)
    this.#pageSlots = new Uint32Array(collection.pages?.lengths.length ?? 0)
  }

  /**
   * The best documents for a query, best first; equal scores in the order of the collection. Documents of `also` follow with any score if
   * they are not among the best.
   */
  rank(
    fullQuery: RankedQuery,
    limit: number,
    accept?: (document: number) => boolean,
    also: readonly number[] = [],
  ): RankedEntry[] {
    const query = this.#prepare(fullQuery)
    const { words, postings } = query
    const rarities = new Float64Array(words.length)
    let count = 0
    words.forEach((word, i) => {
      const matches = this.#gather(postings, word)
      const rarity = computeIdf(matches, query.count)
      rarities[i] = rarity
      count = this.#addScores(word.weight * rarity, matches, count)
    })
    const candidates = this.#touched.subarray(0, count)
    try {
      const { order } = this.#collection
      const best = selectTop(candidates, this.#scores, Math.max(limit, MAX_RERANKED), accept, order)
      const scored = this.#addPairs(query, best, rarities)
      const ranked = [...scored.slice(0, limit), ...this.#findOthers(scored, limit, also)]
      const maxScore = this.#maxScoreOf(words, rarities)
      const documents = ranked.map(({ document }) => document)
      const described = describeMatches(query, rarities, documents)
      const pages = this.#scorePages(query, rarities, documents)
      return ranked.map(({ document, score: sum, pairs }, i) => {
        const { terms, missing } = described[i] ?? { terms: [], missing: [] }
        const page = pages[i]
        const score = sum / maxScore
        const pageScore = this.#isOnShortPage(document) ? Math.min(1, score) : (page?.score ?? 0)
        const missingOnPage = page === undefined ? missing : missing.filter(({ word }) => !page.words.has(word))
        return { document, score, pairs: pairs / maxScore, pageScore, terms, missing, missingOnPage }
      })
    } finally {
      // `accept` comes from the caller and may throw, but the scratch space must still be clean for the next search.
      for (let i = 0; i < count; i++) this.#scores[candidates[i] ?? 0] = 0
    }
  }

  /** The documents of `also` that are not among the first `limit` of the best. Only the best have a pair bonus. */
  #findOthers<S extends { readonly document: number }>(
    best: readonly S[],
    limit: number,
    also: readonly number[],
  ): (S | { document: number; score: number; pairs: number })[] {
    if (also.length === 0) return []
    const ranks = new Map(best.map(({ document }, i) => [document, i]))
    return also.flatMap((document) => {
      const rank = ranks.get(document) ?? Number.POSITIVE_INFINITY
      return rank < limit ? [] : [best[rank] ?? { document, score: this.#scores[document] ?? 0, pairs: 0 }]
    })
  }

  /** The pages of some documents, in the order of the documents, with their scores as shares of the best possible score. */
  #scorePages(query: RankedQuery, rarities: Float64Array, documents: readonly number[]): ScoredPage[] {
    const { pages } = this.#collection
    if (pages === undefined || documents.length === 0) return []
    const { words, averagePageLength = 0 } = query
    const pageNumbers = [...new Set(documents.map((document) => pages.ofDocuments[document] ?? 0))]
    const norms = pageNumbers.map((page) => (PAGE_K1 * (pages.lengths[page] ?? 0)) / (averagePageLength || 1))
    const maxScore = sumWeights(words, rarities) || 1
    const scored = pageNumbers.map((): ScoredPage => ({ score: 0, words: new Set() }))
    const slots = this.#pageSlots
    try {
      pageNumbers.forEach((page, i) => {
        slots[page] = i + 1
      })
      words.forEach((word, i) => {
        const share = (word.weight * (rarities[i] ?? 0)) / maxScore
        const frequencies = this.#countOnPages(query.postings, word, pages, pageNumbers.length)
        scored.forEach((page, slot) => {
          const frequency = frequencies[slot] ?? 0
          if (frequency === 0) return
          page.score += (share * frequency) / (frequency + (norms[slot] ?? 0))
          page.words.add(word.word)
        })
      })
      const found = documents.map((document) => scored[(slots[pages.ofDocuments[document] ?? 0] ?? 0) - 1])
      return found.map((page) => page ?? { score: 0, words: new Set() })
    } finally {
      for (const page of pageNumbers) slots[page] = 0
    }
  }

  #isOnShortPage(document: number): boolean {
    const { pages } = this.#collection
    return pages !== undefined && (pages.documentCounts[pages.ofDocuments[document] ?? 0] ?? 0) <= MAX_SHORT_PAGE
  }

  /** Occurrences of a word on each of the pages that are scored. */
  #countOnPages(
    { offsets, documents, frequencies }: WeightedPostings,
    word: QueryWord,
    { ofDocuments }: RankedPages,
    count: number,
  ): Float64Array {
    const slots = this.#pageSlots
    const sums = new Float64Array(count)
    for (const term of [...word.exact, ...word.variants]) {
      const to = offsets[term + 1] ?? 0
      for (let i = offsets[term] ?? 0; i < to; i++) {
        const slot = slots[ofDocuments[documents[i] ?? 0] ?? 0] ?? 0
        if (slot > 0) sums[slot - 1] = (sums[slot - 1] ?? 0) + (frequencies[i] ?? 0)
      }
    }
    return sums
  }

  /** Contribution of each word to the scores of some documents, by document and word. */
  explain(fullQuery: RankedQuery, documents: readonly number[]): Contribution[][] {
    const query = this.#prepare(fullQuery)
    const { words } = query
    const contributions = documents.map((): Contribution[] => [])
    const rarities = new Float64Array(words.length)
    words.forEach((word, wordIndex) => {
      const matches = this.#gather(query.postings, word)
      rarities[wordIndex] = computeIdf(matches, query.count)
      documents.forEach((document, i) => {
        if ((this.#frequencies[document] ?? 0) === 0) return
        const frequencies = sumFrequencies(query, [...word.exact, ...word.variants], document)
        const score = word.weight * (rarities[wordIndex] ?? 0) * this.#saturate(document)
        contributions[i]?.push({ word, frequencies, matches, score })
      })
      this.#clearMatches(matches)
    })
    const maxScore = this.#maxScoreOf(words, rarities)
    return contributions.map((list) => list.map((one) => ({ ...one, score: one.score / maxScore })))
  }

  /** The highest score that the words of a query can reach, without the pair bonus. */
  #maxScoreOf(words: readonly QueryWord[], rarities: Float64Array): number {
    return (sumWeights(words, rarities) || 1) * (1 + this.#constants.exactBonus)
  }

  /**
   * Sets the norms for a query and returns it; a long query is reduced to its most informative words: the rarest, and the repeated ones.
   */
  #prepare(query: RankedQuery): RankedQuery {
    const { words, postings, averageLength } = query
    const { k1, b } = this.#constants
    this.#normBase = k1 * (1 - b)
    this.#normSlope = averageLength === 0 ? 0 : (k1 * b) / averageLength
    if (words.length <= MAX_WORDS) return query
    const weighed = words.map((word, i) => {
      const matches = this.#gather(postings, word)
      this.#clearMatches(matches)
      return { i, information: matches === 0 ? 0 : word.weight * computeIdf(matches, query.count) }
    })
    const kept = weighed.sort((a, b) => b.information - a.information || a.i - b.i).slice(0, MAX_WORDS)
    return { ...query, words: pickWords(words, new Set(kept.map(({ i }) => i))) }
  }

  /** Collects the documents that match a word with their frequencies, and returns how many there are. */
  #gather(postings: WeightedPostings, { exact, variants }: QueryWord): number {
    let count = 0
    for (const term of exact) count = this.#gatherTerm(postings, term, count, true)
    for (const term of variants) count = this.#gatherTerm(postings, term, count, false)
    return count
  }

  #gatherTerm({ offsets, documents, frequencies }: WeightedPostings, term: number, before: number, isExact: boolean) {
    const sums = this.#frequencies
    const exactSums = this.#exactFrequencies
    const matched = this.#matched
    const to = offsets[term + 1] ?? 0
    let count = before
    for (let i = offsets[term] ?? 0; i < to; i++) {
      const document = documents[i] ?? 0
      const frequency = frequencies[i] ?? 0
      const sum = sums[document] ?? 0
      if (sum === 0) matched[count++] = document
      sums[document] = sum + frequency
      if (isExact) exactSums[document] = (exactSums[document] ?? 0) + frequency
    }
    return count
  }

  /** Adds the score of a word to the gathered documents, and clears their frequencies. */
  #addScores(factor: number, matches: number, before: number): number {
    const scores = this.#scores
    const matched = this.#matched
    let count = before
    for (let i = 0; i < matches; i++) {
      const document = matched[i] ?? 0
      const score = scores[document] ?? 0
      // A match always adds to the score, so a score of zero means a new document.
      if (score === 0) this.#touched[count++] = document
      scores[document] = score + factor * this.#saturate(document)
    }
    this.#clearMatches(matches)
    return count
  }

  /** Saturated score of the gathered frequencies of a document. */
  #saturate(document: number): number {
    const { exactBonus } = this.#constants
    const norm = this.#normOf(document)
    const frequency = this.#frequencies[document] ?? 0
    const exact = this.#exactFrequencies[document] ?? 0
    return frequency / (frequency + norm) + (exactBonus * exact) / (exact + norm)
  }

  #normOf(document: number): number {
    return this.#normBase + this.#normSlope * (this.#collection.lengths[document] ?? 0)
  }

  #clearMatches(matches: number): void {
    for (let i = 0; i < matches; i++) {
      const document = this.#matched[i] ?? 0
      this.#frequencies[document] = 0
      this.#exactFrequencies[document] = 0
    }
  }

  /** Adds the pair bonus to the first documents and sorts them. The bonus is never negative, so the others stay behind them. */
  #addPairs(
    { words, findPairs }: RankedQuery,
    best: readonly number[],
    rarities: Float64Array,
  ): Pick<RankedEntry, 'document' | 'score' | 'pairs'>[] {
    const hasPairs = words.length > 1 && this.#constants.pairBonus > 0
    const found = hasPairs ? findPairs(best.slice(0, MAX_RERANKED), words) : new Float64Array(0)
    const ranked = best.map((document, rank) => {
      const closeness = found.subarray(rank * words.length, (rank + 1) * words.length)
      const pairs = this.#sumPairs(words, closeness, rarities, this.#normOf(document))
      return { document, score: (this.#scores[document] ?? 0) + pairs, pairs }
    })
    return ranked.sort((a, b) => b.score - a.score || this.#compare(a.document, b.document))
  }

  /** Sums the bonus of query words that closely follow the previous query word, each pair once. */
  #sumPairs(words: readonly QueryWord[], closeness: Float64Array, rarities: Float64Array, norm: number): number {
    const { pairBonus } = this.#constants
    let sum = 0
    for (let i = 1; i < closeness.length; i++) {
      const close = closeness[i] ?? 0
      if (close === 0) continue
      const share = words[i]?.phraseGap === undefined ? (pairBonus * close) / (close + norm) : PHRASE_BONUS
      const weight = (words[i - 1]?.weight ?? 0) * (rarities[i - 1] ?? 0) + (words[i]?.weight ?? 0) * (rarities[i] ?? 0)
      sum += share * weight
    }
    return sum
  }

  #compare(a: number, b: number): number {
    const { order } = this.#collection
    return (order === undefined ? 0 : (order[a] ?? 0) - (order[b] ?? 0)) || a - b
  }
}

/** Inverse document frequency of a word. */
function computeIdf(matches: number, count: number): number {
  return Math.log(1 + (count - matches + 0.5) / (matches + 0.5))
}
