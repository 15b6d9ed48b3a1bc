import { findLowerBound, findPosting, type Postings } from './postings.ts'
import type { RankedEntry } from './ranking.ts'

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

/** How the occurrences of a word in a document become a score. */
export interface ScoreFormula {
  /** The norm of a document is `normBase + normSlope · length`. */
  readonly normBase: number
  readonly normSlope: number
  readonly exactBonus: number
  /** The rarity of a word that this many documents match. */
  readonly rarityOf: (matches: number) => number
}

/**
 * Scores documents by some words of a query. The score is the sum over the words in their order, so that every scorer gives the same bits.
 */
export type Scorer = (words: readonly QueryWord[], formula: ScoreFormula) => OpenScores

/** The scores of the documents for some words, valid until the next call of the scorer. */
export interface OpenScores {
  /** How many documents match each word. */
  readonly matches: readonly number[]
  /** The best documents, best first. `accept`, which may be slow, is called in the order of the scores until there are enough. */
  findBest(limit: number, accept: ((document: number) => boolean) | undefined): number[]
  scoreOf(document: number): number
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
  readonly score: Scorer
  /** The postings of some documents and of their whole pages, at least. */
  readonly readPostings: (documents: readonly number[]) => WeightedPostings
  readonly findPairs: PairFinder
  /** Occurrences of a term in a document, by field. */
  readonly frequenciesOf: (term: number, document: number) => ArrayLike<number>
}

/**
 * Measures how closely each word of a query follows the previous one, by `measureCloseness`. The result for document `d` of the list and
 * word `w` is at `d · words + w`. A term that matches several words counts for the last of them.
 */
export type PairFinder = (documents: readonly number[], words: readonly QueryWord[]) => Float64Array

/** A word of a query that a document lacks. */
export interface MissingWord {
  readonly word: string
  /** Share of the query that the word makes up, by its weight and rarity, from 0 to 1. */
  readonly share: number
}

/** Some words of a query, by index. A phrase that loses a word keeps the distances between the others. */
export function pickWords(words: readonly QueryWord[], indexes: ReadonlySet<number>): QueryWord[] {
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
export function sumWeights(words: readonly QueryWord[], rarities: Float64Array): number {
  return words.reduce((sum, { weight }, i) => sum + weight * (rarities[i] ?? 0), 0)
}

/** The matching terms and the missing words of each document, in the order of `documents`. */
export function describeMatches(
  words: readonly QueryWord[],
  postings: WeightedPostings,
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

/** Occurrences of some terms in a document, by field. */
export function sumFrequencies({ frequenciesOf }: RankedQuery, terms: readonly number[], document: number): number[] {
  const sums: number[] = []
  for (const term of terms) {
    const frequencies = frequenciesOf(term, document)
    for (let field = 0; field < frequencies.length; field++)
      sums[field] = (sums[field] ?? 0) + (frequencies[field] ?? 0)
  }
  return sums
}

/** The postings of the terms of a query, summed over all fields by field weight. */
export function weighPostings(
  postings: readonly Postings[],
  weights: readonly number[],
  words: readonly QueryWord[],
): { readonly postings: WeightedPostings } & Pick<RankedQuery, 'readPostings' | 'frequenciesOf'> {
  const terms = new Set(words.flatMap(({ exact, variants }) => [...exact, ...variants]))
  const offsets = new Uint32Array((postings[0]?.offsets.length ?? 1) + 1)
  const documents: number[] = []
  const frequencies: number[] = []
  for (const term of [...terms].sort((a, b) => a - b)) {
    const sums = new Map<number, number>()
    postings.forEach((field, f) => {
      for (let i = field.offsets[term] ?? 0; i < (field.offsets[term + 1] ?? 0); i++) {
        const document = field.documents[i] ?? 0
        sums.set(document, (sums.get(document) ?? 0) + (weights[f] ?? 0) * (field.frequencies[i] ?? 0))
      }
    })
    offsets[term] = documents.length
    for (const [document, frequency] of [...sums].sort(([a], [b]) => a - b)) {
      documents.push(document)
      frequencies.push(frequency)
    }
    offsets[term + 1] = documents.length
  }
  const frequenciesOf = (term: number, document: number): number[] =>
    postings.map((field) => field.frequencies[findPosting(field, term, document)] ?? 0)
  const weighed = { offsets, documents: Uint32Array.from(documents), frequencies: Float32Array.from(frequencies) }
  return { postings: weighed, readPostings: () => weighed, frequenciesOf }
}
