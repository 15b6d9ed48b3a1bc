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

/** A word of a query with the numbers of its matching terms. */
export interface QueryWord {
  readonly word: string
  /** Terms in the query itself: the word, and other forms of it. */
  readonly exact: readonly number[]
  /** Terms that only share the stem. */
  readonly variants: readonly number[]
  /** Share of its score that counts. */
  readonly weight: number
  /** Inside a quoted phrase: distance in tokens from the previous word. */
  readonly phraseGap?: number
}

/**
 * Occurrences of the terms of a query. Those of `term` are from `offsets[term]` to `offsets[term + 1]`; a document is listed once for each
 * term.
 */
export interface WeightedPostings {
  readonly offsets: Uint32Array
  /** Document numbers, ascending within a term. */
  readonly documents: Uint32Array
  /** Occurrences in all fields, each counted by the weight of its field. */
  readonly frequencies: Float32Array
}

/** A query, resolved to the terms of one index. */
export interface RankedQuery {
  readonly words: readonly QueryWord[]
  /** Number of documents that can be found. The rarity of a word is measured among them. */
  readonly count: number
  /** The average length of the documents, for the length penalty. */
  readonly averageLength: number
  /** The average length of their pages. Needed only where the collection has pages. */
  readonly averagePageLength?: number
  readonly postings: WeightedPostings
  readonly findPairs: PairFinder
  /** Occurrences of a term in a document, by field. */
  readonly frequenciesOf: (term: number, document: number) => ArrayLike<number>
}

/**
 * Measures how closely each word of a query follows the previous one, by `measureCloseness`. The result for document `d` of the list and
 * word `w` is at `d · words + w`. A term that matches several words counts for the last of them.
 */
export type PairFinder = (documents: readonly number[], words: readonly QueryWord[]) => Float64Array

/** The documents that are ranked. */
export interface RankedCollection {
  /** Number of tokens of each document over all fields, weighted by field like occurrences. */
  readonly lengths: Float64Array
  /** Tie-breaker between equal scores: the smaller value comes first. @default the document number */
  readonly order?: Order
  /** The pages that the documents are parts of. @default documents are not parts of pages */
  readonly pages?: RankedPages
}

/** The pages of a collection, numbered from 0. */
export interface RankedPages {
  /** The page of each document. */
  readonly ofDocuments: Uint32Array
  /** Number of tokens of each page, weighted like those of its documents. */
  readonly lengths: Float64Array
  /** How many documents with text each page has. */
  readonly documentCounts: Uint32Array
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

/** A word of a query that a document lacks. */
export interface MissingWord {
  readonly word: string
  /** Share of the query that the word makes up, by its weight and rarity, from 0 to 1. */
  readonly share: number
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

/** Words further apart than this many tokens are not neighbors. */
const PAIR_WINDOW = 3

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

/** Numbers the pages of documents, which are added in order. */
export class PageNumbering {
  readonly #numbers = new Map<number | string, number>()
  readonly #ofDocuments: Uint32Array
  #count = 0
  #lastPage: number | string | undefined
  #lastNumber = 0

  constructor(documentCount: number) {
    this.#ofDocuments = new Uint32Array(documentCount)
  }

  /** Adds the next document, given its page. */
  add(page: number | string): void {
    // Documents of a page mostly follow each other, and a comparison is faster than a lookup.
    if (page !== this.#lastPage) {
      this.#lastPage = page
      this.#lastNumber = this.#numbers.get(page) ?? this.#numbers.size
      this.#numbers.set(page, this.#lastNumber)
    }
    this.#ofDocuments[this.#count++] = this.#lastNumber
  }

  /** The pages, with the lengths of their documents added up. */
  finish(lengths: Float64Array): RankedPages {
    const pageLengths = new Float64Array(this.#numbers.size)
    const documentCounts = new Uint32Array(this.#numbers.size)
    this.#ofDocuments.forEach((page, i) => {
      const length = lengths[i] ?? 0
      pageLengths[page] = (pageLengths[page] ?? 0) + length
      if (length > 0) documentCounts[page] = (documentCounts[page] ?? 0) + 1
    })
    return { ofDocuments: this.#ofDocuments, lengths: pageLengths, documentCounts }
  }
}

/** Some words of a query, by index. A phrase that loses a word keeps the distances between the others. */
function pickWords(words: readonly QueryWord[], indexes: ReadonlySet<number>): QueryWord[] {
  const picked: QueryWord[] = []
  // Tokens since the last word that was picked, while all words since then are of its phrase.
  let gap: number | undefined
  words.forEach(({ phraseGap, ...word }, index) => {
    gap = gap === undefined || phraseGap === undefined ? undefined : gap + phraseGap
    if (!indexes.has(index)) return
    picked.push(gap === undefined ? word : { ...word, phraseGap: gap })
    gap = 0
  })
  return picked
}

/** Total weight of the words of a query. */
function sumWeights(words: readonly QueryWord[], rarities: Float64Array): number {
  return words.reduce((sum, { weight }, i) => sum + weight * (rarities[i] ?? 0), 0)
}

/** Inverse document frequency of a word. */
function computeIdf(matches: number, count: number): number {
  return Math.log(1 + (count - matches + 0.5) / (matches + 0.5))
}

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

/** The matching terms and the missing words of each document, in the order of `documents`. */
function describeMatches(
  { words, postings }: RankedQuery,
  rarities: Float64Array,
  documents: readonly number[],
): Pick<RankedEntry, 'terms' | 'missing'>[] {
  const all = sumWeights(words, rarities)
  const known = words.map(({ word, exact, variants, weight }, i) => ({
    terms: [...exact, ...variants],
    missing: { word, share: all === 0 ? 0 : (weight * (rarities[i] ?? 0)) / all },
  }))
  const matches = documents.map((document) => ({ document, terms: [] as number[], missing: [] as MissingWord[] }))
  const ascending = matches.toSorted((a, b) => a.document - b.document)
  for (const { terms, missing } of known) {
    const found = new Set<unknown>()
    for (const term of terms) {
      const end = postings.offsets[term + 1] ?? 0
      let at = postings.offsets[term] ?? 0
      for (const match of ascending) {
        at = findLowerBound(postings.documents, at, end, match.document)
        if (at === end) break
        if (postings.documents[at] !== match.document) continue
        found.add(match)
        if (!match.terms.includes(term)) match.terms.push(term)
      }
    }
    if (found.size < matches.length) for (const match of matches) if (!found.has(match)) match.missing.push(missing)
  }
  return matches
}

/** Index of a number in a part of an ascending list, or of the first one above it. */
export function findLowerBound(numbers: Uint32Array, from: number, to: number, wanted: number): number {
  // Begins with doubling steps, because successive searches mostly find nearby positions.
  let step = 1
  let low = from
  while (low + step < to && (numbers[low + step] ?? 0) < wanted) {
    low += step
    step *= 2
  }
  let high = Math.min(low + step, to)
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((numbers[middle] ?? 0) < wanted) low = middle + 1
    else high = middle
  }
  return low
}

/** Occurrences of some terms in a document, by field. */
function sumFrequencies({ frequenciesOf }: RankedQuery, terms: readonly number[], document: number): number[] {
  const sums: number[] = []
  for (const term of terms) {
    const frequencies = frequenciesOf(term, document)
    for (let field = 0; field < frequencies.length; field++)
      sums[field] = (sums[field] ?? 0) + (frequencies[field] ?? 0)
  }
  return sums
}

/** Whether a document contains a term. */
export function hasPosting(
  postings: Pick<WeightedPostings, 'offsets' | 'documents'>,
  term: number,
  document: number,
): boolean {
  return findPosting(postings, term, document) >= 0
}

/** Index of the posting of a term and a document, or -1. */
export function findPosting(
  { offsets, documents }: Pick<WeightedPostings, 'offsets' | 'documents'>,
  term: number,
  document: number,
): number {
  const end = offsets[term + 1] ?? 0
  const at = findLowerBound(documents, offsets[term] ?? 0, end, document)
  return at < end && documents[at] === document ? at : -1
}

/** Number of documents with a field, and total number of its tokens. */
export function sumLengths(
  lengths: Uint32Array,
  fieldCount: number,
  field: number,
): { documents: number; tokens: number } {
  let count = 0
  let tokens = 0
  for (let i = field; i < lengths.length; i += fieldCount) {
    const length = lengths[i] ?? 0
    if (length > 0) count++
    tokens += length
  }
  return { documents: count, tokens }
}

/** Number of tokens of each document over all fields, weighted by field. `lengths` has the counts by document and field. */
export function weighLengths(lengths: Uint32Array, weights: readonly number[]): Float64Array {
  const weighted = new Float64Array(lengths.length / weights.length)
  for (let document = 0; document < weighted.length; document++) {
    let sum = 0
    for (let field = 0; field < weights.length; field++) {
      sum += (weights[field] ?? 0) * (lengths[document * weights.length + field] ?? 0)
    }
    weighted[document] = sum
  }
  return weighted
}
