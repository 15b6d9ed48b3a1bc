import type { RankedPages } from './lengths.ts'
import {
  describeMatches,
  type MissingWord,
  type OpenScores,
  pickWords,
  type QueryWord,
  type RankedQuery,
  type ScoreFormula,
  sumFrequencies,
  sumWeights,
  type WeightedPostings,
} from './ranked-query.ts'
import type { Order } from './top.ts'

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
  /** Number of tokens of a document over all fields, weighted by field like occurrences. */
  lengthOf(document: number): number
  /** Tie-breaker between equal scores: the smaller value comes first. Undefined for the document number. */
  readonly order: Order
  /** The pages that the documents are parts of, if they are parts of pages. */
  readonly pages: RankedPages | undefined
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

type PairedDocument = Pick<RankedEntry, 'document' | 'score' | 'pairs'>

/** A page with its score. */
interface ScoredPage {
  /** Whether the page is scored like its documents. */
  readonly isShort: boolean
  score: number
  /** The words of the query that the page has. */
  readonly words: Set<string>
  readonly norm: number
  /** Occurrences of the current word, weighted by field. */
  frequency: number
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

  constructor(collection: RankedCollection, constants: Required<RankingOptions>) {
    this.#collection = collection
    this.#constants = constants
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
    const { words } = query
    const formula = this.#createFormula(query)
    const scores = query.score(words, formula)
    const rarities = Float64Array.from(scores.matches, formula.rarityOf)
    const best = scores.findBest(Math.max(limit, MAX_RERANKED), accept)
    const scored = this.#addPairs(query, formula, scores, best, rarities)
    const ranked = [...scored.slice(0, limit), ...findOthers(scored, limit, also, scores)]
    const maxScore = this.#maxScoreOf(words, rarities)
    const documents = ranked.map(({ document }) => document)
    const postings = query.readPostings(documents)
    const described = describeMatches(words, postings, rarities, documents)
    const pages = this.#scorePages(query, postings, rarities, documents)
    return ranked.map(({ document, score: sum, pairs }, i) => {
      const { terms, missing } = described[i] ?? { terms: [], missing: [] }
      const page = pages[i]
      const score = sum / maxScore
      const pageScore = page?.isShort ? Math.min(1, score) : (page?.score ?? 0)
      const missingOnPage = page === undefined ? missing : missing.filter(({ word }) => !page.words.has(word))
      return { document, score, pairs: pairs / maxScore, pageScore, terms, missing, missingOnPage }
    })
  }

  /** The pages of some documents, in the order of the documents, with their scores as shares of the best possible score. */
  #scorePages(
    { words, averagePageLength }: RankedQuery,
    { offsets, documents: matched, frequencies }: WeightedPostings,
    rarities: Float64Array,
    documents: readonly number[],
  ): ScoredPage[] {
    const { pages } = this.#collection
    if (pages === undefined) return []
    const maxScore = sumWeights(words, rarities) || 1
    const scored = new Map<number, ScoredPage>()
    const ofDocuments = documents.map((document) => {
      const number = pages.pageOf(document)
      const known = scored.get(number)
      if (known) return known
      const { length, documentCount } = pages.measure(number)
      const norm = (PAGE_K1 * length) / (averagePageLength || 1)
      const isShort = documentCount <= MAX_SHORT_PAGE
      const page: ScoredPage = { isShort, score: 0, words: new Set(), norm, frequency: 0 }
      scored.set(number, page)
      return page
    })
    words.forEach(({ word, weight, exact, variants }, i) => {
      for (const term of [...exact, ...variants]) {
        const to = offsets[term + 1] ?? 0
        for (let at = offsets[term] ?? 0; at < to; at++) {
          const page = scored.get(pages.pageOf(matched[at] ?? 0))
          if (page) page.frequency += frequencies[at] ?? 0
        }
      }
      const share = (weight * (rarities[i] ?? 0)) / maxScore
      for (const page of scored.values()) {
        const { frequency, norm } = page
        if (frequency === 0) continue
        page.score += (share * frequency) / (frequency + norm)
        page.words.add(word)
        page.frequency = 0
      }
    })
    return ofDocuments
  }

  /** Contribution of each word to the scores of some documents, by document and word. */
  explain(fullQuery: RankedQuery, documents: readonly number[]): Contribution[][] {
    const query = this.#prepare(fullQuery)
    const { words } = query
    const formula = this.#createFormula(query)
    const contributions = documents.map((): Contribution[] => [])
    const rarities = Float64Array.from(words, (word) => {
      const { matches, scoreOf } = query.score([word], formula)
      const [count = 0] = matches
      documents.forEach((document, i) => {
        const score = scoreOf(document)
        if (score === 0) return
        const frequencies = sumFrequencies(query, [...word.exact, ...word.variants], document)
        contributions[i]?.push({ word, frequencies, matches: count, score })
      })
      return formula.rarityOf(count)
    })
    const maxScore = this.#maxScoreOf(words, rarities)
    return contributions.map((list) => list.map((one) => ({ ...one, score: one.score / maxScore })))
  }

  /** The highest score that the words of a query can reach, without the pair bonus. */
  #maxScoreOf(words: readonly QueryWord[], rarities: Float64Array): number {
    return (sumWeights(words, rarities) || 1) * (1 + this.#constants.exactBonus)
  }

  /** Reduces a long query to its most informative words: the rarest, and the repeated ones. */
  #prepare(query: RankedQuery): RankedQuery {
    const { words } = query
    if (words.length <= MAX_WORDS) return query
    const formula = this.#createFormula(query)
    const { matches } = query.score(words, formula)
    const weighed = words.map((word, i) => {
      const ofWord = matches[i] ?? 0
      return { i, information: ofWord && word.weight * formula.rarityOf(ofWord) }
    })
    const kept = weighed.sort((a, b) => b.information - a.information || a.i - b.i).slice(0, MAX_WORDS)
    return { ...query, words: pickWords(words, new Set(kept.map(({ i }) => i))) }
  }

  #createFormula({ averageLength, count }: RankedQuery): ScoreFormula {
    const { k1, b, exactBonus } = this.#constants
    return {
      normBase: k1 * (1 - b),
      normSlope: averageLength === 0 ? 0 : (k1 * b) / averageLength,
      exactBonus,
      rarityOf: (matches) => Math.log(1 + (count - matches + 0.5) / (matches + 0.5)),
    }
  }

  #normOf(document: number, { normBase, normSlope }: ScoreFormula): number {
    return normBase + normSlope * this.#collection.lengthOf(document)
  }

  /** Adds the pair bonus to the first documents and sorts them. The bonus is never negative, so the others stay behind them. */
  #addPairs(
    { words, findPairs }: RankedQuery,
    formula: ScoreFormula,
    { scoreOf }: OpenScores,
    best: readonly number[],
    rarities: Float64Array,
  ): PairedDocument[] {
    const hasPairs = words.length > 1 && this.#constants.pairBonus > 0
    const found = hasPairs ? findPairs(best.slice(0, MAX_RERANKED), words) : new Float64Array(0)
    const ranked = best.map((document, rank) => {
      const closeness = found.subarray(rank * words.length, (rank + 1) * words.length)
      const pairs = this.#sumPairs(words, closeness, rarities, this.#normOf(document, formula))
      return { document, score: scoreOf(document) + pairs, pairs }
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
    return (order === undefined ? 0 : order(a) - order(b)) || a - b
  }
}

/** The documents of `also` that are not among the first `limit` of the best. Only the best have a pair bonus. */
function findOthers(
  best: readonly PairedDocument[],
  limit: number,
  also: readonly number[],
  { scoreOf }: OpenScores,
): PairedDocument[] {
  if (also.length === 0) return []
  const ranks = new Map(best.map(({ document }, i) => [document, i]))
  return also.flatMap((document) => {
    const rank = ranks.get(document) ?? Number.POSITIVE_INFINITY
    return rank < limit ? [] : [best[rank] ?? { document, score: scoreOf(document), pairs: 0 }]
  })
}
