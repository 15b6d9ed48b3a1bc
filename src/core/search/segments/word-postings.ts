import type { ScoreFormula } from '../ranked-query.ts'
import { LENGTH_UNIT } from './entry-writer.ts'
import {
  type DecodedPostings,
  decodePostings,
  estimateCount,
  findFrequency,
  PostingsReader,
  type StemWindows,
  type TermPostings,
  weigh,
} from './term-postings.ts'

/** Documents that are scored together. */
export const SPAN_SHIFT = 10
export const SPAN_SIZE: number = 1 << SPAN_SHIFT

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
  /** 1 for an excluded document; undefined if there is none. */
  readonly hidden: Uint8Array | undefined
  /** Number of excluded documents. */
  readonly hiddenCount: number
}

/** Occurrences of a word in the documents of a span, zero between two spans. */
export class SpanRow {
  readonly frequencies: Float64Array = new Float64Array(SPAN_SIZE)
  /** Occurrences of the forms of the query. */
  readonly exact: Float64Array = new Float64Array(SPAN_SIZE)
  /** The documents that have any, relative to the first one of the span. */
  readonly documents: Uint16Array = new Uint16Array(SPAN_SIZE)
  count: number = 0

  add(document: number, frequency: number, isExact: boolean): void {
    const sum = this.frequencies[document] ?? 0
    if (sum === 0) this.documents[this.count++] = document
    this.frequencies[document] = sum + frequency
    if (isExact) this.exact[document] = (this.exact[document] ?? 0) + frequency
  }

  clear(): void {
    for (let i = 0; i < this.count; i++) {
      const document = this.documents[i] ?? 0
      this.frequencies[document] = 0
      this.exact[document] = 0
    }
    this.count = 0
  }
}

/** Space for the postings of a term in a span. */
const decoded: DecodedPostings = {
  // One more than a span has, because a posting beyond the end is written before it is known to be beyond.
  documents: new Uint32Array(SPAN_SIZE + 1),
  frequencies: new Float64Array(SPAN_SIZE + 1),
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
  /** Fills a row with the occurrences in a span. */
  fill(span: number, row: SpanRow): void
  /** Fills a row with the occurrences in some documents of a span at least, given relative to its first one. */
  fillSome(span: number, row: SpanRow, documents: Uint16Array, count: number): void
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
  readonly #weights: readonly number[]

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
    this.#weights = weights
  }

  boundSpans({ normBase, normSlope, exactBonus }: ScoreFormula): Float64Array {
    const { shift, count, limits } = this.#windows
    const bounds = new Float64Array((this.#documents.count + SPAN_SIZE - 1) >> SPAN_SHIFT)
    const factor = this.#terms.some(({ isExact }) => isExact) ? 1 + exactBonus : 1
    for (let window = 0; window < count; window++) {
      const frequency = limits[4 * window] ?? 0
      if (frequency === 0) continue
      const shortFrequency = limits[4 * window + 2] ?? 0
      const shortUnits = limits[4 * window + 3] ?? 0
      const shortNorm = normBase + normSlope * LENGTH_UNIT * shortUnits
      const norm = shortNorm + normSlope * LENGTH_UNIT * (limits[4 * window + 1] ?? 0)
      const bound = factor * Math.max(frequency / (frequency + norm), shortFrequency / (shortFrequency + shortNorm))
      const last = (((window + 1) << shift) - 1) >> SPAN_SHIFT
      for (let span = (window << shift) >> SPAN_SHIFT; span <= last && span < bounds.length; span++) {
        if (bound > (bounds[span] ?? 0)) bounds[span] = bound
      }
    }
    return bounds
  }

  fill(span: number, row: SpanRow): void {
    const from = span << SPAN_SHIFT
    const to = Math.min(from + SPAN_SIZE, this.#documents.count)
    for (const { postings, isExact } of this.#terms) {
      if (postings.windows === undefined) continue
      const found = decodePostings(postings, postings.windows, from, to, this.#weights, decoded)
      for (let i = 0; i < found; i++) row.add(decoded.documents[i] ?? 0, decoded.frequencies[i] ?? 0, isExact)
    }
  }

  fillSome(span: number, row: SpanRow, documents: Uint16Array, count: number): void {
    const from = span << SPAN_SHIFT
    const to = Math.min(from + SPAN_SIZE, this.#documents.count)
    let all = 0
    for (const { postings } of this.#terms) {
      if (postings.windows) all += estimateCount(postings.windows, from, to)
    }
    if (count * this.#terms.length * FIND_COST >= all) {
      this.fill(span, row)
      return
    }
    for (const { postings, isExact } of this.#terms) {
      if (postings.windows === undefined) continue
      for (let i = 0; i < count; i++) {
        const document = documents[i] ?? 0
        const frequency = findFrequency(postings, postings.windows, from + document, this.#weights)
        if (frequency > 0) row.add(document, frequency, isExact)
      }
    }
  }
}

/** Postings that are decoded in about the time of finding one. */
const FIND_COST = 4

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

  boundSpans({ normBase, normSlope, exactBonus }: ScoreFormula): Float64Array {
    const { count, lengths } = this.#documents
    const bounds = new Float64Array((count + SPAN_SIZE - 1) >> SPAN_SHIFT)
    this.#matches.forEach((document, i) => {
      const norm = normBase + normSlope * (lengths[document] ?? 0)
      const frequency = this.#frequencies[i] ?? 0
      const exact = this.#exact[i] ?? 0
      const bound = frequency / (frequency + norm) + (exactBonus * exact) / (exact + norm)
      const span = document >> SPAN_SHIFT
      if (bound > (bounds[span] ?? 0)) bounds[span] = bound
    })
    return bounds
  }

  fill(span: number, row: SpanRow): void {
    const from = span << SPAN_SHIFT
    const to = from + SPAN_SIZE
    for (let i = this.#findFirst(from); i < this.#matches.length; i++) {
      const document = (this.#matches[i] ?? 0) - from
      if (document + from >= to) return
      row.documents[row.count++] = document
      row.frequencies[document] = this.#frequencies[i] ?? 0
      row.exact[document] = this.#exact[i] ?? 0
    }
  }

  fillSome(span: number, row: SpanRow): void {
    this.fill(span, row)
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
