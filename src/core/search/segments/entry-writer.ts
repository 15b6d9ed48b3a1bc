import { ByteWriter, resize } from '../bytes.ts'
import { type StemEntry, writeFrontCoded, writeLongForms } from './term-blocks.ts'
import { ANY, CODE_BITS, LAST_MANY, MAX_WINDOW_SHIFT, weigh } from './term-postings.ts'

/** Stems in fewer documents than this have no windows: a query reads all their postings. */
const MIN_WINDOWED = 256
/** Postings of a window on average, at least. */
const MIN_PER_WINDOW = 128
const MIN_SHIFT = 6

/** Lengths of documents are written in units of this many tokens. */
export const LENGTH_UNIT = 8

/** A term of the current entry: its postings are numbered from `from` to before `to`. */
interface TermRange {
  readonly term: string
  readonly from: number
  to: number
}

/** Writes the entry of one stem after the other: its terms with their postings. */
export class EntryWriter {
  readonly #weights: readonly number[]
  /** Weighted lengths of the documents of the segment. */
  readonly #lengths: Float64Array
  #stem = ''
  #terms: TermRange[] = []
  #count = 0
  #documents = new Uint32Array(256)
  /** Occurrences by posting and field. */
  #frequencies: Uint32Array<ArrayBuffer>
  /** Ends of the positions of each posting. */
  #positionEnds = new Uint32Array(256)
  /** The positions in all documents of the entry so far, each as its distance from the previous one in the document. */
  readonly positions: ByteWriter = new ByteWriter()
  readonly #streams = new ByteWriter()
  readonly #entry = new ByteWriter()
  /** Occurrences of all terms by document, zero between entries. */
  readonly #sums: Float64Array

  constructor(weights: readonly number[], lengths: Float64Array) {
    this.#weights = weights
    this.#lengths = lengths
    this.#sums = new Float64Array(lengths.length)
    this.#frequencies = new Uint32Array(256 * weights.length)
  }

  begin(stem: string): void {
    this.#stem = stem
    this.#terms = []
    this.#count = 0
    this.positions.clear()
  }

  beginTerm(term: string): void {
    this.#terms.push({ term, from: this.#count, to: this.#count })
  }

  /** Adds a document, with a higher number than the previous one of the term, after its positions were written. */
  addDocument(document: number, frequencies: Uint32Array): void {
    const at = this.#count++
    if (at === this.#documents.length) {
      this.#documents = resize(this.#documents, 2 * this.#documents.length)
      this.#frequencies = resize(this.#frequencies, 2 * this.#frequencies.length)
      this.#positionEnds = resize(this.#positionEnds, 2 * this.#positionEnds.length)
    }
    this.#documents[at] = document
    const row = at * frequencies.length
    for (let field = 0; field < frequencies.length; field++) this.#frequencies[row + field] = frequencies[field] ?? 0
    this.#positionEnds[at] = this.positions.length
    const term = this.#terms.at(-1)
    if (term) term.to = this.#count
  }

  /** The bytes of the entry, valid until the next one; undefined if it has neither postings nor long forms. */
  finish(longForms: StemEntry['longForms']): ByteWriter | undefined {
    const terms = this.#terms.filter(({ from, to }) => to > from)
    if (terms.length + longForms.length === 0) return undefined
    const entry = this.#entry
    entry.clear()
    const union = terms.length > 1 ? this.#sumUp() : this.#count
    const isWindowed = union >= MIN_WINDOWED
    entry.writeNumber(terms.length * 2 + (isWindowed ? 1 : 0))
    if (terms.length > 1) entry.writeNumber(union)
    if (isWindowed) {
      if (terms.length === 1) this.#sumUp()
      this.#writeWindowed(terms, union)
    } else {
      for (const term of terms) this.#writeTerm(term)
    }
    if (terms.length > 1 || isWindowed) this.#clearSums()
    writeLongForms(entry, longForms)
    return entry
  }

  /** Adds up the occurrences of all terms by document, and returns how many documents there are. */
  #sumUp(): number {
    const { length: fieldCount } = this.#weights
    const sums = this.#sums
    let count = 0
    for (let at = 0; at < this.#count; at++) {
      const document = this.#documents[at] ?? 0
      const sum = sums[document] ?? 0
      if (sum === 0) count++
      sums[document] = sum + weigh(this.#frequencies, this.#weights, at * fieldCount)
    }
    return count
  }

  #clearSums(): void {
    for (let at = 0; at < this.#count; at++) this.#sums[this.#documents[at] ?? 0] = 0
  }

  #writeTerm({ term, from, to }: TermRange): void {
    const streams = this.#streams
    streams.clear()
    this.#writeDocuments(from, to)
    const start = this.#positionStart(from)
    const end = this.#positionStart(to)
    writeFrontCoded(this.#entry, this.#stem, term)
    this.#entry.writeNumber(to - from)
    this.#entry.writeNumber(streams.length)
    this.#entry.writeNumber(end - start)
    this.#entry.writeBytes(streams.buffer, 0, streams.length)
    this.#entry.writeBytes(this.positions.buffer, start, end)
  }

  /** Writes all terms in windows: first the names, then a table with a row for each window, then the streams. */
  #writeWindowed(terms: readonly TermRange[], union: number): void {
    const entry = this.#entry
    const { length } = this.#lengths
    let shift = MIN_SHIFT
    while (shift < MAX_WINDOW_SHIFT && union * 2 ** shift < MIN_PER_WINDOW * length) shift++
    const windowCount = Math.ceil(length / 2 ** shift)
    entry.writeNumber(shift)
    entry.writeNumber(windowCount)
    for (const { term, from, to } of terms) {
      writeFrontCoded(entry, this.#stem, term)
      entry.writeNumber(to - from)
    }
    const streams = this.#streams
    streams.clear()
    const ranges = terms.map(({ from, to }) => this.#cutIntoWindows(from, to, shift, windowCount))
    for (let window = 0; window < windowCount; window++) {
      this.#writeLimits(ranges, window)
      for (const { ends, sizes } of ranges) {
        entry.writeNumber(sizes[window] ?? 0)
        entry.writeNumber(this.#positionStart(ends[window + 1] ?? 0) - this.#positionStart(ends[window] ?? 0))
      }
    }
    entry.writeBytes(streams.buffer, 0, streams.length)
    entry.writeBytes(this.positions.buffer, 0, this.positions.length)
  }

  /** Writes the documents of a term window by window; returns the postings before each window, and its number of bytes. */
  #cutIntoWindows(from: number, to: number, shift: number, windowCount: number) {
    const ends = new Uint32Array(windowCount + 1)
    const sizes = new Uint32Array(windowCount)
    let at = from
    for (let window = 0; window < windowCount; window++) {
      ends[window] = at
      while (at < to && (this.#documents[at] ?? 0) >> shift === window) at++
      const before = this.#streams.length
      this.#writeWindow(ends[window] ?? 0, at, window << shift)
      sizes[window] = this.#streams.length - before
    }
    ends[windowCount] = at
    return { ends, sizes }
  }

  /**
   * Writes what limits the scores in a window. Every document has at most `frequency` occurrences and at least `length` tokens, or at most
   * `shortFrequency` and `shortLength`.
   */
  #writeLimits(ranges: readonly { readonly ends: Uint32Array }[], window: number): void {
    const sums = this.#sums
    const lengths = this.#lengths
    const documents = this.#documents
    let frequency = 0
    let length = 0
    let shortLength = Number.POSITIVE_INFINITY
    // Only the documents with postings are visited: a large segment has many more.
    for (const { ends } of ranges) {
      for (let at = ends[window] ?? 0; at < (ends[window + 1] ?? 0); at++) {
        const document = documents[at] ?? 0
        const sum = sums[document] ?? 0
        const ofDocument = lengths[document] ?? 0
        if (sum > frequency || (sum === frequency && ofDocument < length)) {
          frequency = sum
          length = ofDocument
        }
        shortLength = Math.min(shortLength, ofDocument)
      }
    }
    this.#entry.writeNumber(Math.ceil(frequency))
    if (frequency === 0) return
    let shortFrequency = 0
    for (const { ends } of ranges) {
      for (let at = ends[window] ?? 0; at < (ends[window + 1] ?? 0); at++) {
        const document = documents[at] ?? 0
        if ((lengths[document] ?? 0) < length) shortFrequency = Math.max(shortFrequency, sums[document] ?? 0)
      }
    }
    const shortUnits = Math.floor(shortLength / LENGTH_UNIT)
    this.#entry.writeNumber(Math.floor(length / LENGTH_UNIT) - shortUnits)
    this.#entry.writeNumber(Math.ceil(shortFrequency))
    this.#entry.writeNumber(shortUnits)
  }

  #writeDocuments(from: number, to: number): void {
    const writer = this.#streams
    let previous = -1
    for (let at = from; at < to; at++) {
      const document = this.#documents[at] ?? 0
      const inLast = this.#countInLast(at)
      const code = Math.min(inLast, LAST_MANY)
      writer.writeNumber((document - previous - 1) * 4 + code)
      previous = document
      if (code === LAST_MANY) writer.writeNumber(inLast)
      if (code === ANY) this.#writeFrequencies(at)
    }
  }

  #writeWindow(from: number, to: number, first: number): void {
    if (from === to) return
    const writer = this.#streams
    writer.writeNumber(to - from)
    const shorts = new Uint8Array(2 * (to - from))
    for (let at = from; at < to; at++) {
      const inLast = this.#countInLast(at)
      const code = inLast >> CODE_BITS === 0 ? inLast : ANY
      const posting = (((this.#documents[at] ?? 0) - first) << CODE_BITS) | code
      shorts[2 * (at - from)] = posting
      shorts[2 * (at - from) + 1] = posting >> 8
    }
    writer.writeBytes(shorts)
    for (let at = from; at < to; at++) {
      const inLast = this.#countInLast(at)
      if (inLast === 0 || inLast >> CODE_BITS !== 0) this.#writeFrequencies(at)
    }
  }

  /** The number of occurrences of a posting if all of them are in the last field, 0 otherwise. */
  #countInLast(posting: number): number {
    const { length: fieldCount } = this.#weights
    const frequencies = this.#frequencies
    const row = posting * fieldCount
    for (let field = 0; field < fieldCount - 1; field++) if ((frequencies[row + field] ?? 0) > 0) return 0
    return frequencies[row + fieldCount - 1] ?? 0
  }

  /** Writes the fields of a posting as bits of a mask, and the occurrences in each. */
  #writeFrequencies(posting: number): void {
    const { length: fieldCount } = this.#weights
    const row = posting * fieldCount
    let mask = 0
    for (let field = 0; field < fieldCount; field++) if ((this.#frequencies[row + field] ?? 0) > 0) mask |= 1 << field
    this.#streams.writeNumber(mask)
    for (let field = 0; field < fieldCount; field++) {
      const frequency = this.#frequencies[row + field] ?? 0
      if (frequency > 0) this.#streams.writeNumber(frequency)
    }
  }

  #positionStart(posting: number): number {
    return posting === 0 ? 0 : (this.#positionEnds[posting - 1] ?? 0)
  }
}
