import { findLowerBound } from '../postings.ts'
import type { QueryWord, WeightedPostings } from '../ranked-query.ts'
import { measureCloseness, PositionList } from '../token-pairs.ts'
import type { TermPart } from './found-terms.ts'
import { PostingsReader, weigh } from './term-postings.ts'

/** The place of a segment among the documents of all segments. */
interface NumberedSegment {
  readonly base: number
  readonly count: number
}

/** Reused by every query. */
const positionLists = [new PositionList(), new PositionList()] as const

/** Reads what is known about single documents from the postings of the terms of a query. */
export class DocumentLookup {
  readonly #parts: readonly (readonly TermPart[])[]
  readonly #segments: readonly NumberedSegment[]
  readonly #weights: readonly number[]
  readonly #reader: PostingsReader

  constructor(
    parts: readonly (readonly TermPart[])[],
    segments: readonly NumberedSegment[],
    weights: readonly number[],
  ) {
    this.#parts = parts
    this.#segments = segments
    this.#weights = weights
    this.#reader = new PostingsReader(weights.length)
  }

  /** The postings of some documents, which ascend. */
  readPostings(wanted: Uint32Array): WeightedPostings {
    const reader = this.#reader
    const offsets = new Uint32Array(this.#parts.length + 1)
    const found: number[] = []
    const frequencies: number[] = []
    this.#parts.forEach((term, id) => {
      let next = 0
      for (const { segment, postings } of term) {
        const { base = 0, count = 0 } = this.#segments[segment] ?? {}
        next = findLowerBound(wanted, next, wanted.length, base)
        if (next === wanted.length) break
        reader.begin(postings)
        for (; next < wanted.length && (wanted[next] ?? 0) < base + count; next++) {
          const document = wanted[next] ?? 0
          if (!reader.seek(document - base)) continue
          reader.fillFrequencies()
          found.push(document)
          frequencies.push(weigh(reader.frequencies, this.#weights))
        }
      }
      offsets[id + 1] = found.length
    })
    return { offsets, documents: Uint32Array.from(found), frequencies: Float32Array.from(frequencies) }
  }

  /** Occurrences of a term in one document, by field. */
  readFrequencies(term: number, document: number): Uint32Array {
    const reader = this.#reader
    for (const { segment, postings } of this.#parts[term] ?? []) {
      const { base = 0, count = 0 } = this.#segments[segment] ?? {}
      if (document < base || document >= base + count) continue
      reader.begin(postings)
      if (!reader.seek(document - base)) continue
      reader.fillFrequencies()
      return reader.frequencies
    }
    return new Uint32Array(this.#weights.length)
  }

  /** Finds query words that closely follow each other, by the positions of their terms. */
  findPairs(documents: readonly number[], words: readonly QueryWord[]): Float64Array {
    const found = new Float64Array(documents.length * words.length)
    const sorted = Uint32Array.from(documents).sort()
    const rows = rowsOf(documents, sorted)
    const wordOfTerm = new Map(
      words.flatMap(({ exact, variants }, i) => [...exact, ...variants].map((term) => [term, i])),
    )
    let [previous, current]: readonly [PositionList, PositionList] = positionLists
    previous.clear()
    words.forEach(({ exact, variants, phraseGap }, word) => {
      current.clear()
      for (const term of [...exact, ...variants]) {
        if (wordOfTerm.get(term) === word) this.#readPositions(term, sorted, current)
      }
      current.sort()
      measureCloseness(previous, current, phraseGap, (row, closeness) => {
        const at = (rows[row] ?? 0) * words.length + word
        found[at] = (found[at] ?? 0) + closeness
      })
      ;[previous, current] = [current, previous]
    })
    return found
  }

  /** Adds the positions of a term in some documents, which are sorted, to a list. */
  #readPositions(term: number, sorted: Uint32Array, list: PositionList): void {
    const reader = this.#reader
    let row = 0
    for (const { segment, postings } of this.#parts[term] ?? []) {
      const { base = 0, count = 0 } = this.#segments[segment] ?? {}
      row = findLowerBound(sorted, row, sorted.length, base)
      if (row === sorted.length) return
      reader.begin(postings)
      for (; row < sorted.length && (sorted[row] ?? 0) < base + count; row++) {
        if (!reader.seek((sorted[row] ?? 0) - base)) continue
        let position = 0
        for (let left = reader.total; left > 0; left--) {
          position += reader.readDistance()
          list.add(row, position)
        }
      }
    }
  }
}

/** Maps the index of a document in `sorted` to its index in `documents`. */
function rowsOf(documents: readonly number[], sorted: Uint32Array): Uint32Array {
  const rows = new Uint32Array(documents.length)
  documents.forEach((document, i) => {
    rows[findLowerBound(sorted, 0, sorted.length, document)] = i
  })
  return rows
}
