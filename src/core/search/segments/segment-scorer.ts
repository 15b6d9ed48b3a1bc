import type { OpenScores, QueryWord, ScoreFormula } from '../ranked-query.ts'
import { BestDocuments, type Order } from '../top.ts'
import { SLACK, SPAN_SHIFT, SpanSums } from './span-sums.ts'
import type { Occurrences, SearchedDocuments, WordPostings } from './word-postings.ts'

/** A segment with the words of a query, by the text of the word. */
export interface SearchedSegment extends SearchedDocuments {
  /** The number of its first document among those of all segments. */
  readonly base: number
  readonly words: ReadonlyMap<string, WordPostings>
}

/** A span of a segment. */
interface Span {
  readonly segment: SearchedSegment
  /** Its number within the segment. */
  readonly number: number
  /** The words that occur in it. */
  readonly words: readonly SpanWord[]
  /** No document of the span has a higher score. */
  readonly bound: number
}

/** A word in a span. */
interface SpanWord {
  /** Its place in the query. */
  readonly index: number
  readonly postings: WordPostings
  /** Weight and rarity. */
  readonly factor: number
  /** The most that it adds to a score. */
  readonly bound: number
}

/** How many more documents are ranked if a filter leaves too few. */
const GROWTH = 8

/**
 * Finds the best documents of segments without scoring them all. Spans are visited in the order of the scores that they can contain. In a
 * span, the words that matter least are read only if documents with the others can reach the best (MaxScore: Turtle and Flood, 1995).
 */
export class SegmentScorer {
  readonly #segments: readonly SearchedSegment[]
  readonly #order: Order
  readonly #weights: readonly number[]

  /** `weights` are those of the fields. */
  constructor(segments: readonly SearchedSegment[], order: Order, weights: readonly number[]) {
    this.#segments = segments
    this.#order = order
    this.#weights = weights
  }

  score(words: readonly QueryWord[], formula: ScoreFormula): OpenScores {
    const matches = words.map(({ word }) =>
      this.#segments.reduce((sum, segment) => sum + (segment.words.get(word)?.count ?? 0), 0),
    )
    const factors = words.map(({ weight }, i) => weight * formula.rarityOf(matches[i] ?? 0))
    const scoring = new Scoring(formula)
    let spans: readonly Span[] | undefined
    const scores = new Map<number, number>()
    const collect = (limit: number): number[] => {
      // Each time, because another query may have used it since.
      spanSums.begin(formula, this.#weights)
      spans ??= this.#listSpans(words, factors, formula)
      const best = new BestDocuments(limit, this.#order)
      for (const span of spans) {
        if (span.bound < best.threshold) break
        scoring.visit(span, best)
      }
      return best.list(scores)
    }
    return {
      matches,
      findBest: (limit, accept) => (accept ? findAccepted(collect, limit, accept) : collect(limit)),
      scoreOf: (document) => scores.get(document) ?? this.#scoreOf(document, words, factors, scoring),
    }
  }

  /** All spans with a word, those with the highest bounds first. */
  #listSpans(words: readonly QueryWord[], factors: readonly number[], formula: ScoreFormula): Span[] {
    const spans: Span[] = []
    for (const segment of this.#segments) {
      const found = words.flatMap(({ word }, index) => {
        const postings = segment.words.get(word)
        return postings ? [{ index, postings, factor: factors[index] ?? 0, bounds: postings.boundSpans(formula) }] : []
      })
      for (let number = 0; number << SPAN_SHIFT < segment.count; number++) {
        const spanWords: SpanWord[] = []
        let bound = 0
        for (const { index, postings, factor, bounds } of found) {
          const ofWord = factor * (bounds[number] ?? 0) * (1 + SLACK)
          if (ofWord === 0) continue
          spanWords.push({ index, postings, factor, bound: ofWord })
          bound += ofWord
        }
        if (spanWords.length > 0) spans.push({ segment, number, words: spanWords, bound: bound * (1 + SLACK) })
      }
    }
    return spans.sort((a, b) => b.bound - a.bound)
  }

  #scoreOf(document: number, words: readonly QueryWord[], factors: readonly number[], scoring: Scoring): number {
    const segment = this.#segments.find(({ base, count }) => document >= base && document < base + count)
    if (!segment || segment.hidden?.[document - segment.base] === 1) return 0
    const spanWords = words.flatMap(({ word }, index): SpanWord[] => {
      const postings = segment.words.get(word)
      return postings ? [{ index, postings, factor: factors[index] ?? 0, bound: 0 }] : []
    })
    return scoring.scoreOf(segment, spanWords, document - segment.base)
  }
}

/** Ranks more and more documents until enough of them are accepted; each is tested once. */
function findAccepted(
  collect: (limit: number) => number[],
  limit: number,
  accept: (document: number) => boolean,
): number[] {
  const accepted: number[] = []
  let tested = 0
  for (let size = limit; ; size *= GROWTH) {
    const best = collect(size)
    for (; tested < best.length && accepted.length < limit; tested++) {
      const candidate = best[tested] ?? 0
      if (accept(candidate)) accepted.push(candidate)
    }
    if (accepted.length >= limit || best.length < size) return accepted
  }
}

/** Reused by every query. */
const spanSums = new SpanSums()
const found: Occurrences = { frequency: 0, exact: 0 }

/** Scores the documents of a query span by span. */
class Scoring {
  readonly #formula: ScoreFormula

  constructor(formula: ScoreFormula) {
    this.#formula = formula
  }

  /** Offers the documents of a span that may be among the best. */
  visit(span: Span, best: BestDocuments): void {
    const { segment, number, words, bound } = span
    const from = number << SPAN_SHIFT
    const ascending = words.toSorted((a, b) => a.bound - b.bound)
    // The first words can be left out until documents with the others are known: they alone cannot reach the threshold.
    let optionalBound = 0
    let optional = 0
    for (const { bound } of ascending) {
      if (optionalBound + bound >= best.threshold) break
      optionalBound += bound
      optional++
    }
    for (let i = ascending.length - 1; i >= 0 && (i >= optional || spanSums.count > 0); i--) {
      const { postings, factor, bound } = ascending[i] as SpanWord
      if (i < optional) optionalBound -= bound
      postings.addSpan(number, factor, this.#formula, spanSums, i < optional)
      if (i === optional) spanSums.listCandidates(best.threshold - optionalBound, segment, from)
      else if (i < optional) spanSums.keep(best.threshold - optionalBound)
    }
    // The highest sums first: their documents raise the threshold, so that most others need no score.
    const high = spanSums.count > best.limit ? spanSums.findHigh(best.limit, bound) : Number.NEGATIVE_INFINITY
    this.#offer(segment, words, from, high, Number.POSITIVE_INFINITY, best)
    if (high > best.threshold) this.#offer(segment, words, from, Number.NEGATIVE_INFINITY, high, best)
    spanSums.clear()
  }

  /** Offers the candidates with a sum of at least `low` and less than `high`. */
  #offer(
    segment: SearchedSegment,
    words: readonly SpanWord[],
    first: number,
    low: number,
    high: number,
    best: BestDocuments,
  ): void {
    const { sums, documents, count } = spanSums
    for (let i = 0; i < count; i++) {
      const document = documents[i] ?? 0
      const sum = sums[document] ?? 0
      if (sum < best.threshold || sum < low || sum >= high) continue
      best.offer(segment.base + first + document, this.scoreOf(segment, words, first + document))
    }
  }

  /** The score of a document of a segment, added up in the order of the words. */
  scoreOf({ lengths }: SearchedSegment, words: readonly SpanWord[], document: number): number {
    const { normBase, normSlope, exactBonus } = this.#formula
    const norm = normBase + normSlope * (lengths[document] ?? 0)
    let score = 0
    for (const { postings, factor } of words) {
      postings.find(document, found)
      const { frequency, exact } = found
      if (frequency > 0) score += factor * (frequency / (frequency + norm) + (exactBonus * exact) / (exact + norm))
    }
    return score
  }
}
