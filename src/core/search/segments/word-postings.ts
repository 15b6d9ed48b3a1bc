import type { ScoreFormula } from '../ranked-query.ts'
import { LENGTH_UNIT } from './entry-writer.ts'
import { SLACK, SPAN_SHIFT, SPAN_SIZE, type SpanSums } from './span-sums.ts'
import {
  estimateCount,
  FrequencyDecoder,
  PostingsReader,
  type StemWindows,
  type TermPostings,
  weigh,
} from './term-postings.ts'

/** A term of a word in one segment. */
export interface WordTerm {
  readonly postings: TermPostings
  /** Whether the query has this form of the word. */
  readonly isExact: boolean
}

/** The documents of a segment that a query can find. */
export interface SearchedDocuments {
  readonly count: number
  /** Weighted lengths. */
  readonly lengths: Float64Array
  /** The lengths as levels; see `levelLengths`. */
  readonly levels: Uint8Array
  /** 1 for an excluded document; undefined if there is none. */
  readonly hidden: Uint8Array | undefined
  /** Number of excluded documents. */
  readonly hiddenCount: number
}

/** Occurrences of a word in a document. */
export interface Occurrences {
  frequency: number
  /** Those of the forms of the query. */
  exact: number
}

/** Occurrences of a word by document of a segment, zero between two words. */
let sums = new Float64Array(0)
let exactSums = new Float64Array(0)

/** The postings of a word in one segment. */
export interface WordPostings {
  /** Number of documents that are not excluded. */
  readonly count: number
  /** The most that the word can add to the score of a document, by span, for a word of rarity and weight 1. */
  boundSpans(formula: ScoreFormula): Float64Array
  /**
   * Adds limits of the scores by a word of this factor to the sums of a span: those of the candidates at least if `isClosed`, or else all.
   */
  addSpan(span: number, factor: number, formula: ScoreFormula, sums: SpanSums, isClosed: boolean): void
  /** Finds the occurrences in a document of the segment. */
  find(document: number, found: Occurrences): void
}

/**
 * Opens the postings of a word in a segment. `count` is the number of documents of its stem, if the terms are all those of the stem.
 */
export function openWord(
  terms: readonly WordTerm[],
  count: number | undefined,
  documents: SearchedDocuments,
  weights: readonly number[],
): WordPostings {
  const [first] = terms
  const known = terms.length === 1 ? first?.postings.count : count
  const windows = first?.postings.windows
  if (known === undefined || windows === undefined) return new DecodedWord(terms, documents, weights)
  const living = documents.hiddenCount === 0 ? known : known - countHidden(terms, documents, weights.length)
  return new WindowedWord(terms, living, windows, documents, weights)
}

/** Counts the excluded documents that match. */
function countHidden(terms: readonly WordTerm[], { hidden }: SearchedDocuments, fieldCount: number): number {
  const matches = new Set<number>()
  const reader = new PostingsReader(fieldCount)
  for (const { postings } of terms) {
    reader.begin(postings)
    for (let document = hidden?.indexOf(1) ?? -1; document >= 0; document = hidden?.indexOf(1, document + 1) ?? -1) {
      if (reader.seek(document)) matches.add(document)
    }
  }
  return matches.size
}

/** A word in many documents, which are decoded span by span. */
class WindowedWord implements WordPostings {
  readonly count: number
  readonly #terms: readonly WordTerm[]
  readonly #windows: StemWindows
  readonly #documents: SearchedDocuments
  readonly #decoder: FrequencyDecoder

  constructor(
    terms: readonly WordTerm[],
    count: number,
    windows: StemWindows,
    documents: SearchedDocuments,
    weights: readonly number[],
  ) {
    this.#terms = terms
    this.count = count
    this.#windows = windows
    this.#documents = documents
    this.#decoder = new FrequencyDecoder(weights)
  }

  boundSpans({ normBase, normSlope, exactBonus }: ScoreFormula): Float64Array {
    const { shift, count, rows, stride } = this.#windows
    const bounds = new Float64Array((this.#documents.count + SPAN_SIZE - 1) >> SPAN_SHIFT)
    const factor = this.#terms.some(({ isExact }) => isExact) ? 1 + exactBonus : 1
    for (let window = 0; window < count; window++) {
      const row = window * stride
      const frequency = rows[row] ?? 0
      if (frequency === 0) continue
      const shortFrequency = rows[row + 2] ?? 0
      const shortUnits = rows[row + 3] ?? 0
      const shortNorm = normBase + normSlope * LENGTH_UNIT * shortUnits
      const norm = shortNorm + normSlope * LENGTH_UNIT * (rows[row + 1] ?? 0)
      const bound = factor * Math.max(frequency / (frequency + norm), shortFrequency / (shortFrequency + shortNorm))
      const last = (((window + 1) << shift) - 1) >> SPAN_SHIFT
      for (let span = (window << shift) >> SPAN_SHIFT; span <= last && span < bounds.length; span++) {
        if (bound > (bounds[span] ?? 0)) bounds[span] = bound
      }
    }
    return bounds
  }

  addSpan(span: number, factor: number, { exactBonus }: ScoreFormula, sums: SpanSums, isClosed: boolean): void {
    const from = span << SPAN_SHIFT
    const { levels } = this.#documents
    for (const { postings, isExact } of this.#terms) {
      const { windows } = postings
      if (windows === undefined) continue
      // Saturation is subadditive: terms that are added one by one never give less than the whole word.
      const ofTerm = (isExact ? factor * (1 + exactBonus) : factor) * (1 + SLACK)
      if (isClosed && sums.count * FIND_COST < estimateCount(windows, from, from + SPAN_SIZE)) {
        sums.addToCandidates(postings, windows, from, levels, ofTerm)
      } else {
        sums.addTerm(postings, windows, from, levels, ofTerm)
      }
    }
  }

  find(document: number, found: Occurrences): void {
    found.frequency = 0
    found.exact = 0
    for (const { postings, isExact } of this.#terms) {
      const frequency = postings.windows ? this.#decoder.find(postings, postings.windows, document) : 0
      found.frequency += frequency
      if (isExact) found.exact += frequency
    }
  }
}

/** Postings that are decoded in about the time of finding one. */
const FIND_COST = 12

/** A word in few documents, or of many terms: all its postings are decoded at once. */
class DecodedWord implements WordPostings {
  readonly count: number
  readonly #matches: Uint32Array
  readonly #frequencies: Float64Array
  readonly #exact: Float64Array
  readonly #documents: SearchedDocuments

  constructor(terms: readonly WordTerm[], documents: SearchedDocuments, weights: readonly number[]) {
    const { count, hidden } = documents
    const capacity = terms.reduce((sum, { postings }) => sum + postings.count, 0)
    const matches = new Uint32Array(capacity)
    if (sums.length < count) [sums, exactSums] = [new Float64Array(count), new Float64Array(count)]
    let matchCount = 0
    const reader = new PostingsReader(weights.length)
    for (const { postings, isExact } of terms) {
      reader.begin(postings)
      while (reader.next()) {
        const { document } = reader
        if (hidden?.[document] === 1) continue
        reader.fillFrequencies()
        const frequency = weigh(reader.frequencies, weights)
        const sum = sums[document] ?? 0
        if (sum === 0) matches[matchCount++] = document
        sums[document] = sum + frequency
        if (isExact) exactSums[document] = (exactSums[document] ?? 0) + frequency
      }
    }
    this.#documents = documents
    this.count = matchCount
    this.#matches = matches.subarray(0, matchCount)
    if (terms.length > 1) this.#matches.sort()
    this.#frequencies = new Float64Array(matchCount)
    this.#exact = new Float64Array(matchCount)
    for (let i = 0; i < matchCount; i++) {
      const document = this.#matches[i] ?? 0
      this.#frequencies[i] = sums[document] ?? 0
      this.#exact[i] = exactSums[document] ?? 0
      sums[document] = 0
      exactSums[document] = 0
    }
  }

  boundSpans(formula: ScoreFormula): Float64Array {
    const bounds = new Float64Array((this.#documents.count + SPAN_SIZE - 1) >> SPAN_SHIFT)
    this.#matches.forEach((document, i) => {
      const bound = this.#saturate(i, formula)
      const span = document >> SPAN_SHIFT
      if (bound > (bounds[span] ?? 0)) bounds[span] = bound
    })
    return bounds
  }

  addSpan(span: number, factor: number, formula: ScoreFormula, { sums }: SpanSums): void {
    const from = span << SPAN_SHIFT
    const to = from + SPAN_SIZE
    for (let i = this.#findFirst(from); i < this.#matches.length; i++) {
      const document = this.#matches[i] ?? 0
      if (document >= to) return
      sums[document - from] = (sums[document - from] ?? 0) + factor * this.#saturate(i, formula) * (1 + SLACK)
    }
  }

  find(document: number, found: Occurrences): void {
    const i = this.#findFirst(document)
    const isFound = this.#matches[i] === document
    found.frequency = isFound ? (this.#frequencies[i] ?? 0) : 0
    found.exact = isFound ? (this.#exact[i] ?? 0) : 0
  }

  #saturate(match: number, { normBase, normSlope, exactBonus }: ScoreFormula): number {
    const norm = normBase + normSlope * (this.#documents.lengths[this.#matches[match] ?? 0] ?? 0)
    const frequency = this.#frequencies[match] ?? 0
    const exact = this.#exact[match] ?? 0
    return frequency / (frequency + norm) + (exactBonus * exact) / (exact + norm)
  }

  #findFirst(document: number): number {
    let low = 0
    let high = this.#matches.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#matches[middle] ?? 0) < document) low = middle + 1
      else high = middle
    }
    return low
  }
}
