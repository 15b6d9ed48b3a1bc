import type { OpenScores, QueryWord, ScoreFormula } from '../ranked-query.ts'
import { BestDocuments, type Order } from '../top.ts'
import { type SearchedDocuments, SPAN_SHIFT, SPAN_SIZE, SpanRow, type WordPostings } from './word-postings.ts'

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

/** Bounds are raised by this share, so that rounding never excludes a document. */
const SLACK = 1e-9
/** How many more documents are ranked if a filter leaves too few. */
const GROWTH = 8

/**
 * Finds the best documents of segments without scoring them all. Spans are visited in the order of the scores that they can contain. In a
 * span, the words that matter least are read only if documents with the others can reach the best (MaxScore: Turtle and Flood, 1995).
 */
export class SegmentScorer {
  readonly #segments: readonly SearchedSegment[]
  readonly #order: Order

  constructor(segments: readonly SearchedSegment[], order: Order) {
    this.#segments = segments
    this.#order = order
  }

  score(words: readonly QueryWord[], formula: ScoreFormula): OpenScores {
    const matches = words.map(({ word }) =>
      this.#segments.reduce((sum, segment) => sum + (segment.words.get(word)?.count ?? 0), 0),
    )
    const factors = words.map(({ weight }, i) => weight * formula.rarityOf(matches[i] ?? 0))
    const scoring = new Scoring(words, factors, formula)
    let spans: readonly Span[] | undefined
    const scores = new Map<number, number>()
    const collect = (limit: number): number[] => {
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
    const number = (document - segment.base) >> SPAN_SHIFT
    const spanWords = words.flatMap(({ word }, index): SpanWord[] => {
      const postings = segment.words.get(word)
      return postings ? [{ index, postings, factor: factors[index] ?? 0, bound: 0 }] : []
    })
    return scoring.scoreOf({ segment, number, words: spanWords, bound: 0 }, document)
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

// Scratch space of a span: the sum of the words read so far by document, zero between two spans; and the documents that have one.
const sums = new Float64Array(SPAN_SIZE)
const touched = new Uint16Array(SPAN_SIZE)
/** A row for each word of a query. */
const rows: SpanRow[] = []

/** Scores the documents of a query span by span. */
class Scoring {
  readonly #formula: ScoreFormula
  readonly #factors: readonly number[]

  constructor(words: readonly QueryWord[], factors: readonly number[], formula: ScoreFormula) {
    this.#formula = formula
    this.#factors = factors
    while (rows.length < words.length) rows.push(new SpanRow())
  }

  /** Offers the documents of a span that may be among the best. */
  visit({ segment, number, words }: Span, best: BestDocuments): void {
    const { threshold } = best
    const ascending = words.toSorted((a, b) => a.bound - b.bound)
    // The first words can be left out until documents with the others are known: they alone cannot reach the threshold.
    let optionalBound = 0
    let optional = 0
    for (const { bound } of ascending) {
      if (optionalBound + bound >= threshold) break
      optionalBound += bound
      optional++
    }
    const from = number << SPAN_SHIFT
    let count = 0
    for (let i = ascending.length - 1; i >= optional; i--) {
      const word = ascending[i]
      if (word) count = this.#addWord(word, segment, number, count)
    }
    count = this.#keepPromising(segment, from, count, threshold - optionalBound)
    let read = optional
    while (read > 0 && count > 0) {
      const word = ascending[--read]
      if (!word) continue
      optionalBound -= word.bound
      word.postings.fillSome(number, rowOf(word.index), touched, count)
      count = this.#addToCandidates(word, segment, from, count, threshold - optionalBound)
    }
    for (let i = 0; i < count; i++) {
      const document = touched[i] ?? 0
      sums[document] = 0
      best.offer(segment.base + from + document, this.#sumUp(document, segment.lengths[from + document] ?? 0))
    }
    for (let i = read; i < ascending.length; i++) rowOf(ascending[i]?.index ?? 0).clear()
  }

  /** The score of one document. */
  scoreOf({ segment, number, words }: Span, document: number): number {
    const index = document - segment.base
    const relative = index - (number << SPAN_SHIFT)
    touched[0] = relative
    for (const word of words) word.postings.fillSome(number, rowOf(word.index), touched, 1)
    const score = this.#sumUp(relative, segment.lengths[index] ?? 0)
    for (const word of words) rowOf(word.index).clear()
    return score
  }

  /** Adds a word to the sums of all documents that have it. */
  #addWord(
    { index, postings, factor }: SpanWord,
    { lengths }: SearchedSegment,
    number: number,
    before: number,
  ): number {
    const { normBase, normSlope, exactBonus } = this.#formula
    const row = rowOf(index)
    postings.fill(number, row)
    const { frequencies, exact, documents, count: found } = row
    const from = number << SPAN_SHIFT
    let count = before
    for (let i = 0; i < found; i++) {
      const document = documents[i] ?? 0
      const norm = normBase + normSlope * (lengths[from + document] ?? 0)
      const frequency = frequencies[document] ?? 0
      const exactFrequency = exact[document] ?? 0
      const sum = sums[document] ?? 0
      if (sum === 0) touched[count++] = document
      const saturated = frequency / (frequency + norm)
      // Most documents have only the forms of the query, or only others.
      const bonus =
        exactFrequency === frequency ? saturated : exactFrequency === 0 ? 0 : exactFrequency / (exactFrequency + norm)
      sums[document] = sum + factor * (saturated + exactBonus * bonus) * (1 + SLACK)
    }
    return count
  }

  /** Drops the documents that cannot be found, and those whose sum is below a limit. */
  #keepPromising({ hidden }: SearchedSegment, from: number, count: number, minSum: number): number {
    let kept = 0
    for (let i = 0; i < count; i++) {
      const document = touched[i] ?? 0
      if ((sums[document] ?? 0) >= minSum && hidden?.[from + document] !== 1) touched[kept++] = document
      else sums[document] = 0
    }
    return kept
  }

  /** Adds a word to the documents that remain, and drops those whose sum is below a limit. */
  #addToCandidates(word: SpanWord, { lengths }: SearchedSegment, from: number, count: number, minSum: number): number {
    const { normBase, normSlope, exactBonus } = this.#formula
    const { frequencies, exact } = rowOf(word.index)
    let kept = 0
    for (let i = 0; i < count; i++) {
      const document = touched[i] ?? 0
      const frequency = frequencies[document] ?? 0
      let sum = sums[document] ?? 0
      if (frequency > 0) {
        const norm = normBase + normSlope * (lengths[from + document] ?? 0)
        const exactFrequency = exact[document] ?? 0
        const saturated = frequency / (frequency + norm) + (exactBonus * exactFrequency) / (exactFrequency + norm)
        sum += word.factor * saturated * (1 + SLACK)
      }
      if (sum >= minSum) {
        sums[document] = sum
        touched[kept++] = document
      } else {
        sums[document] = 0
      }
    }
    return kept
  }

  /** The exact score of a document, added up in the order of the words. All words that it may have must be in their rows. */
  #sumUp(document: number, length: number): number {
    const { normBase, normSlope, exactBonus } = this.#formula
    const norm = normBase + normSlope * length
    let score = 0
    for (let index = 0; index < this.#factors.length; index++) {
      const { frequencies, exact } = rowOf(index)
      const frequency = frequencies[document] ?? 0
      if (frequency === 0) continue
      const exactFrequency = exact[document] ?? 0
      score +=
        (this.#factors[index] ?? 0) *
        (frequency / (frequency + norm) + (exactBonus * exactFrequency) / (exactFrequency + norm))
    }
    return score
  }
}

function rowOf(index: number): SpanRow {
  const row = rows[index]
  if (row === undefined) throw new RangeError(`Expected the place of a word, got ${index}`)
  return row
}
