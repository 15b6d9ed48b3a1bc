import type { WeightedPostings } from './ranked-query.ts'
import type { Steps } from './steps.ts'

/** The documents as they were written: term numbers in order, LEB128, field after field. */
export interface EncodedEntries {
  readonly tokens: Uint8Array
  /** Where each document begins in `tokens`. */
  readonly starts: Uint32Array
  /** Tokens by document and field: `lengths[document * fieldCount + field]`. */
  readonly lengths: Uint32Array
  readonly fieldCount: number
}

/** The documents that hold a term in one field. Those of `term` are from `offsets[term]` to `offsets[term + 1]`. */
export interface Postings {
  readonly offsets: Uint32Array
  /** Document numbers, ascending within a term. */
  readonly documents: Uint32Array
  /** Number of occurrences in each of `documents`, at most 65,535. */
  readonly frequencies: Uint16Array
}

/** Reads the term numbers of documents one after the other, without checking for the end: lengths give their number. */
export class TermReader {
  position: number
  readonly #tokens: Uint8Array

  constructor(tokens: Uint8Array, position = 0) {
    this.#tokens = tokens
    this.position = position
  }

  next(): number {
    let byte = this.#tokens[this.position++] ?? 0
    let term = byte & 0x7f
    for (let shift = 7; byte > 0x7f; shift += 7) {
      byte = this.#tokens[this.position++] ?? 0
      term |= (byte & 0x7f) << shift
    }
    return term
  }
}

/** Documents processed in one step. */
const ENTRIES_PER_STEP = 64

/** Inverts documents into postings, one set per field, by counting sort: two passes over the tokens, no comparison. */
export function* buildPostings(documents: EncodedEntries, termCount: number): Steps<Postings[]> {
  const { starts, fieldCount } = documents
  /** Number of documents that contain each term, by field, at `term + 1`. */
  const counts = Array.from({ length: fieldCount }, () => new Uint32Array(termCount + 1))
  const seen = new Uint32Array(termCount)
  for (let from = 0; from < starts.length; from += ENTRIES_PER_STEP) {
    countPostings(documents, from, Math.min(from + ENTRIES_PER_STEP, starts.length), counts, seen)
    yield
  }
  const postings = counts.map((offsets) => {
    for (let term = 0; term < termCount; term++) offsets[term + 1] = (offsets[term + 1] ?? 0) + (offsets[term] ?? 0)
    const total = offsets[termCount] ?? 0
    return { offsets, documents: new Uint32Array(total), frequencies: new Uint16Array(total) }
  })
  const nexts = postings.map(({ offsets }) => offsets.slice(0, termCount))
  seen.fill(0)
  for (let from = 0; from < starts.length; from += ENTRIES_PER_STEP) {
    placePostings(documents, from, Math.min(from + ENTRIES_PER_STEP, starts.length), postings, nexts, seen)
    yield
  }
  return postings
}

function countPostings(
  { tokens, starts, lengths, fieldCount }: EncodedEntries,
  from: number,
  to: number,
  counts: readonly Uint32Array[],
  seen: Uint32Array,
): void {
  const reader = new TermReader(tokens)
  for (let document = from; document < to; document++) {
    reader.position = starts[document] ?? 0
    for (let field = 0; field < fieldCount; field++) {
      const row = document * fieldCount + field
      const count = counts[field]
      if (!count) continue
      for (let left = lengths[row] ?? 0; left > 0; left--) {
        const term = reader.next()
        if (seen[term] === row + 1) continue
        seen[term] = row + 1
        count[term + 1] = (count[term + 1] ?? 0) + 1
      }
    }
  }
}

/** `nexts` has the position of the next posting of each term, by field. */
function placePostings(
  { tokens, starts, lengths, fieldCount }: EncodedEntries,
  from: number,
  to: number,
  postings: readonly Postings[],
  nexts: readonly Uint32Array[],
  seen: Uint32Array,
): void {
  const reader = new TermReader(tokens)
  for (let document = from; document < to; document++) {
    reader.position = starts[document] ?? 0
    for (let field = 0; field < fieldCount; field++) {
      const row = document * fieldCount + field
      const next = nexts[field]
      const posting = postings[field]
      if (!next || !posting) continue
      for (let left = lengths[row] ?? 0; left > 0; left--) {
        const term = reader.next()
        const position = next[term] ?? 0
        if (seen[term] === row + 1) {
          const frequency = posting.frequencies[position - 1] ?? 0
          if (frequency < 0xffff) posting.frequencies[position - 1] = frequency + 1
        } else {
          seen[term] = row + 1
          next[term] = position + 1
          posting.documents[position] = document
          posting.frequencies[position] = 1
        }
      }
    }
  }
}

/** Visits the term numbers of one document in order, all fields. */
export function visitEntryTerms(documents: EncodedEntries, document: number, visit: (term: number) => void): void {
  const reader = new TermReader(documents.tokens, documents.starts[document])
  for (let left = countTokens(documents, document); left > 0; left--) {
    visit(reader.next())
  }
}

/** Number of tokens of one document, all fields. */
export function countTokens({ lengths, fieldCount }: EncodedEntries, document: number): number {
  let count = 0
  for (let field = 0; field < fieldCount; field++) count += lengths[document * fieldCount + field] ?? 0
  return count
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

/** A term of one field with the documents that hold it. */
export interface TermEntry {
  readonly term: string
  /** Number of documents that hold the term in this field. */
  readonly df: number
  /**
   * Calls `visit` for each document in order, or only for those from position `from` to `to` of the list. There may be millions of
   * documents, so no object is created for each.
   */
  readonly visitPostings: (visit: PostingVisitor, from?: number, to?: number) => void
}

/** Receives a document, as its position in `sortedKeys`, its number of occurrences of the term, and its tokens in the field. */
export type PostingVisitor = (document: number, tf: number, docLen: number) => void
