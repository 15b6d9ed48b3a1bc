import type { ScoreFormula } from '../ranked-query.ts'
import {
  ANY,
  CODE_BITS,
  CODE_MASK,
  FrequencyDecoder,
  MAX_WINDOW_SHIFT,
  type TermPostings,
  type TermWindows,
} from './term-postings.ts'
import type { SearchedDocuments } from './word-postings.ts'

/** Documents that are scored together: as many as the largest window has. */
export const SPAN_SHIFT: number = MAX_WINDOW_SHIFT
export const SPAN_SIZE: number = 1 << SPAN_SHIFT

/** Bounds are raised by this share, so that rounding never excludes a document. */
export const SLACK = 1e-9

/** Lengths are rounded down to levels: whole numbers below 64, then 32 levels for each doubling. The last level has no upper end. */
const LEVEL_COUNT = 256
const OCTAVE_BITS = 5

/** The level of each length. */
export function levelLengths(lengths: Float64Array): Uint8Array {
  const levels = new Uint8Array(lengths.length)
  for (let i = 0; i < lengths.length; i++) {
    const whole = Math.floor(lengths[i] ?? 0)
    const shift = Math.max(0, 31 - OCTAVE_BITS - Math.clz32(whole))
    levels[i] = Math.min(LEVEL_COUNT - 1, (shift << OCTAVE_BITS) + (whole >> shift))
  }
  return levels
}

/** The smallest length of a level. */
function lengthAt(level: number): number {
  const shift = Math.max(0, (level >> OCTAVE_BITS) - 1)
  return (level - (shift << OCTAVE_BITS)) * 2 ** shift
}

/**
 * Limits of the scores of the documents of a span, added up word by word. They are computed from levels of lengths, so that a table replaces
 * divisions: a query spends most of its time here.
 */
export class SpanSums {
  /** By document, relative to the first one of the span. */
  readonly sums: Float64Array = new Float64Array(SPAN_SIZE)
  /** The candidates: documents that can be among the best. */
  readonly documents: Uint16Array = new Uint16Array(SPAN_SIZE)
  count = 0
  /** By level. */
  readonly #norms = new Float64Array(LEVEL_COUNT)
  /** The saturated frequency by level and code of a posting. */
  readonly #saturations = new Float64Array(LEVEL_COUNT << CODE_BITS)
  /** The number of candidates by step of their sums. */
  readonly #counts = new Uint16Array(128)
  /** The documents of a window whose occurrences are written apart. */
  readonly #rests = new Uint16Array(SPAN_SIZE)
  #decoder = new FrequencyDecoder([])

  /** Prepares for a query. */
  begin({ normBase, normSlope }: ScoreFormula, weights: readonly number[]): void {
    this.#decoder = new FrequencyDecoder(weights)
    for (let level = 0; level < LEVEL_COUNT; level++) {
      const norm = normBase + normSlope * lengthAt(level)
      this.#norms[level] = norm
      for (let code = 1; code <= CODE_MASK; code++) {
        const frequency = this.#decoder.frequencyOf(code)
        this.#saturations[(level << CODE_BITS) | code] = frequency / (frequency + norm)
      }
    }
  }

  /** Lists the documents with at least this sum as candidates. `from` is the first document of the span. */
  listCandidates(minSum: number, { count, hidden }: Pick<SearchedDocuments, 'count' | 'hidden'>, from: number): void {
    const { sums, documents } = this
    const size = Math.min(SPAN_SIZE, count - from)
    const atLeast = Math.max(Number.MIN_VALUE, minSum)
    let found = 0
    for (let document = 0; document < size; document++) {
      documents[found] = document
      // Not a branch, which would be hard to predict.
      found += Number((sums[document] ?? 0) >= atLeast)
    }
    this.count = found
    if (hidden === undefined) return
    this.count = 0
    for (let i = 0; i < found; i++) {
      const document = documents[i] ?? 0
      if (hidden[from + document] !== 1) documents[this.count++] = document
    }
  }

  /** Drops candidates with a lower sum. */
  keep(minSum: number): void {
    const { sums, documents, count } = this
    let kept = 0
    for (let i = 0; i < count; i++) {
      const document = documents[i] ?? 0
      if ((sums[document] ?? 0) >= minSum) documents[kept++] = document
    }
    this.count = kept
  }

  /** A sum that at least this many candidates reach, and not many more. No sum is above `bound`. */
  findHigh(wanted: number, bound: number): number {
    const { sums, documents, count } = this
    const counts = this.#counts.fill(0)
    const scale = counts.length / bound
    for (let i = 0; i < count; i++) {
      const step = Math.min(counts.length - 1, Math.floor((sums[documents[i] ?? 0] ?? 0) * scale))
      counts[step] = (counts[step] ?? 0) + 1
    }
    let step = counts.length - 1
    for (let found = counts[step] ?? 0; found < wanted && step > 0; found += counts[step] ?? 0) step--
    return step / scale
  }

  clear(): void {
    this.sums.fill(0)
    this.count = 0
  }

  /** Adds a term with windows in the span that begins with document `from`. `levels` are those of the segment. */
  addTerm(
    { bytes, start }: TermPostings,
    { shift, count: windowCount, rows, stride, column }: TermWindows,
    from: number,
    levels: Uint8Array,
    factor: number,
  ): void {
    const { sums } = this
    const saturations = this.#saturations
    const rests = this.#rests
    const last = Math.min((from + SPAN_SIZE - 1) >> shift, windowCount - 1)
    for (let window = from >> shift; window <= last; window++) {
      const row = window * stride + column
      if (rows[row] === rows[row + stride]) continue
      const first = start + (rows[row] ?? 0)
      const size = bytes[first] ?? 0
      // The number of postings takes one or two bytes.
      const begin = size < 0x80 ? first + 1 : first + 2
      const end = begin + 2 * (size < 0x80 ? size : (size & 0x7f) | ((bytes[first + 1] ?? 0) << 7))
      const offset = (window << shift) - from
      let restCount = 0
      // This loop calls no function and has no branch that is hard to predict: either would double its time.
      for (let at = begin; at < end; at += 2) {
        const posting = (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8)
        const code = posting & CODE_MASK
        const document = offset + (posting >> CODE_BITS)
        if (code === ANY) rests[restCount++] = document
        const level = levels[from + document] ?? 0
        sums[document] = (sums[document] ?? 0) + factor * (saturations[(level << CODE_BITS) | code] ?? 0)
      }
      if (restCount > 0) this.#addRests(bytes, end, restCount, from, levels, factor)
    }
  }

  /** Adds the postings of a window whose occurrences are at `position`. */
  #addRests(
    bytes: Uint8Array,
    position: number,
    restCount: number,
    from: number,
    levels: Uint8Array,
    factor: number,
  ): void {
    this.#decoder.position = position
    for (let i = 0; i < restCount; i++) {
      const frequency = this.#decoder.read(bytes)
      const document = this.#rests[i] ?? 0
      const norm = this.#norms[levels[from + document] ?? 0] ?? 0
      this.sums[document] = (this.sums[document] ?? 0) + (factor * frequency) / (frequency + norm)
    }
  }

  /** Adds a term with windows to the candidates, by finding each of them. */
  addToCandidates(
    postings: TermPostings,
    windows: TermWindows,
    from: number,
    levels: Uint8Array,
    factor: number,
  ): void {
    const { sums, documents, count } = this
    for (let i = 0; i < count; i++) {
      const document = documents[i] ?? 0
      const frequency = this.#decoder.find(postings, windows, from + document)
      const norm = this.#norms[levels[from + document] ?? 0] ?? 0
      if (frequency > 0) sums[document] = (sums[document] ?? 0) + (factor * frequency) / (frequency + norm)
    }
  }
}
