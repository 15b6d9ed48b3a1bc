import type { ByteWriter } from './bytes.ts'
import type { WeightedPostings } from './ranked-query.ts'

/**
 * The occurrences of one term in the documents of a segment, as two streams of numbers: by ascending document, the number of occurrences in
 * each field; and the positions of these occurrences among all tokens of the document.
 */
export interface TermPostings {
  readonly term: string
  readonly bytes: Uint8Array
  readonly start: number
  /** Where the positions begin. */
  readonly positionsStart: number
  readonly end: number
}

// Codes in the two low bits of a written document number. The codes 1 and 2 mean one and two occurrences, all in the last field: most
// terms occur once or twice in the last field, the body, and in no other.
const ANY = 0

const LAST_MANY = 3

/** Writes the postings of one term. */
export class PostingsWriter {
  readonly #documents: ByteWriter
  readonly #positions: ByteWriter
  #previous = -1

  constructor(documents: ByteWriter, positions: ByteWriter) {
    this.#documents = documents
    this.#positions = positions
  }

  /** Begins another term. */
  begin(): void {
    this.#documents.clear()
    this.#positions.clear()
    this.#previous = -1
  }

  /** Adds a document, with a higher number than the previous one. Positions must be added in the same order of documents. */
  addDocument(document: number, frequencies: Uint32Array): void {
    const lastField = frequencies.length - 1
    let mask = 0
    for (let field = 0; field <= lastField; field++) if ((frequencies[field] ?? 0) > 0) mask |= 1 << field
    const inLast = frequencies[lastField] ?? 0
    const code = mask === 1 << lastField ? Math.min(inLast, LAST_MANY) : ANY
    this.#documents.writeNumber((document - this.#previous - 1) * 4 + code)
    this.#previous = document
    if (code === LAST_MANY) this.#documents.writeNumber(inLast)
    if (code !== ANY) return
    this.#documents.writeNumber(mask)
    for (const frequency of frequencies) if (frequency > 0) this.#documents.writeNumber(frequency)
  }

  /** Adds a position in the current document, as its distance from the previous one. */
  addPosition(distance: number): void {
    this.#positions.writeNumber(distance)
  }

  get isEmpty(): boolean {
    return this.#documents.length === 0
  }

  /** Writes both streams after their lengths. */
  finish(writer: ByteWriter): void {
    writer.writeNumber(this.#documents.length)
    writer.writeNumber(this.#positions.length)
    writer.writeBytes(this.#documents.buffer.subarray(0, this.#documents.length))
    writer.writeBytes(this.#positions.buffer.subarray(0, this.#positions.length))
  }
}

/** Reads numbers in LEB128, seven bits per byte, one after the other. */
class NumberReader {
  readonly #bytes: Uint8Array
  position: number

  constructor(bytes: Uint8Array, position: number) {
    this.#bytes = bytes
    this.position = position
  }

  read(): number {
    const bytes = this.#bytes
    let byte = bytes[this.position++] ?? 0
    let value = byte & 0x7f
    for (let shift = 7; byte > 0x7f; shift += 7) {
      byte = bytes[this.position++] ?? 0
      value |= (byte & 0x7f) << shift
    }
    return value >>> 0
  }

  skip(count: number): void {
    const bytes = this.#bytes
    const { length } = bytes
    let position = this.position
    for (let left = count; left > 0 && position < length; position++) if ((bytes[position] ?? 0) < 0x80) left--
    this.position = position
  }
}

/**
 * Walks the postings of a term. One reader serves many terms and exposes the current posting in its properties, because a query reads
 * hundreds of thousands of postings. Bytes are trusted: damaged ones give wrong numbers, never an endless loop.
 */
export class PostingsReader {
  document = -1
  /** Number of occurrences in the document, over all fields. */
  total = 0
  /** Whether all occurrences are in the last field. If so, `frequencies` is not valid before `fillFrequencies`. */
  isInLastOnly = false
  readonly frequencies: Uint32Array
  #documents = new NumberReader(new Uint8Array(0), 0)
  #end = 0
  #positions = this.#documents
  /** Positions to skip before the next one is read. */
  #skipped = 0

  constructor(fieldCount: number) {
    this.frequencies = new Uint32Array(fieldCount)
  }

  begin({ bytes, start, positionsStart }: TermPostings): void {
    this.document = -1
    this.#documents = new NumberReader(bytes, start)
    this.#end = positionsStart
    this.#positions = new NumberReader(bytes, positionsStart)
    this.#skipped = 0
  }

  /** Moves to the next document; false when there is none. */
  next(): boolean {
    if (this.#documents.position >= this.#end) return false
    const header = this.#documents.read()
    this.document += (header >>> 2) + 1
    const code = header & 3
    this.isInLastOnly = code !== ANY
    if (code === ANY) this.#readFrequencies()
    else this.total = code === LAST_MANY ? this.#documents.read() : code
    return true
  }

  /** Fills in the frequencies by field if all occurrences are in the last field. */
  fillFrequencies(): void {
    if (!this.isInLastOnly) return
    this.frequencies.fill(0)
    this.frequencies[this.frequencies.length - 1] = this.total
  }

  /** Reads the distance of a position in this document from the previous one. All positions of a document must be read or skipped. */
  readDistance(): number {
    if (this.#skipped > 0) {
      // Skips the positions of several documents at once.
      this.#positions.skip(this.#skipped)
      this.#skipped = 0
    }
    return this.#positions.read()
  }

  /** Skips the positions of this document. */
  skipPositions(): void {
    this.#skipped += this.total
  }

  #readFrequencies(): void {
    const mask = this.#documents.read()
    this.total = 0
    for (let field = 0; field < this.frequencies.length; field++) {
      const frequency = (mask & (1 << field)) === 0 ? 0 : this.#documents.read()
      this.frequencies[field] = frequency
      this.total += frequency
    }
  }
}

/** Reads some of the positions of a term in one segment, in ascending order. */
export class PositionReader {
  readonly #positions: NumberReader
  /** Number of positions that were read or skipped. */
  #count = 0

  constructor({ bytes, positionsStart }: TermPostings) {
    this.#positions = new NumberReader(bytes, positionsStart)
  }

  /** Moves to the position that `count` others precede. */
  skipTo(count: number): void {
    this.#positions.skip(count - this.#count)
    this.#count = count
  }

  /** The distance of the next position from the previous one in the same document. */
  next(): number {
    this.#count++
    return this.#positions.read()
  }
}

/** Postings with the positions of each document. */
export interface PositionalPostings extends WeightedPostings {
  /** Number of positions of the same term and segment before those of the document. */
  readonly before: Uint32Array
  /** Number of positions of the document. */
  readonly totals: Uint32Array
}

/** Largest number of occurrences in one field that counts. */
const MAX_FREQUENCY = 0xffff

function weigh(frequencies: Uint32Array, weights: readonly number[]): number {
  let sum = 0
  for (let field = 0; field < weights.length; field++) {
    sum += (weights[field] ?? 0) * Math.min(frequencies[field] ?? 0, MAX_FREQUENCY)
  }
  return sum
}

/** Postings that are being collected. */
export class PostingsList {
  readonly #offsets: number[] = []
  #documents = new Uint32Array(256)
  #frequencies = new Float32Array(256)
  #before = new Uint32Array(256)
  #totals = new Uint32Array(256)
  #count = 0

  /** Clears the content and keeps the buffers. */
  clear(): void {
    this.#offsets.length = 0
    this.#count = 0
  }

  beginTerm(): void {
    this.#offsets.push(this.#count)
  }

  /** Makes the buffers large enough for `count` more postings. */
  reserve(count: number): void {
    const { length } = this.#documents
    if (this.#count + count <= length) return
    const capacity = Math.max(this.#count + count, length * 2)
    this.#documents = extend(this.#documents, new Uint32Array(capacity))
    this.#frequencies = extend(this.#frequencies, new Float32Array(capacity))
    this.#before = extend(this.#before, new Uint32Array(capacity))
    this.#totals = extend(this.#totals, new Uint32Array(capacity))
  }

  /**
   * Adds the postings of a term in one segment, whose documents are numbered from `base`, without hidden ones. A query spends most of its
   * time in this loop.
   */
  addAll(postings: TermPostings, base: number, hidden: Uint8Array | undefined, weights: readonly number[]): void {
    const documents = this.#documents
    const frequencies = this.#frequencies
    const [before, totals] = [this.#before, this.#totals]
    const lastWeight = weights.at(-1) ?? 0
    const reader = new PostingsReader(weights.length)
    let count = this.#count
    let positionCount = 0
    reader.begin(postings)
    while (reader.next()) {
      const document = base + reader.document
      const { total } = reader
      if (hidden === undefined || hidden[document] !== 1) {
        documents[count] = document
        frequencies[count] = reader.isInLastOnly
          ? lastWeight * Math.min(total, MAX_FREQUENCY)
          : weigh(reader.frequencies, weights)
        before[count] = positionCount
        totals[count] = total
        count++
      }
      positionCount += total
    }
    this.#count = count
  }

  finish(): PositionalPostings {
    const offsets = Uint32Array.from([...this.#offsets, this.#count])
    return {
      offsets,
      documents: this.#documents,
      frequencies: this.#frequencies,
      before: this.#before,
      totals: this.#totals,
    }
  }
}

function extend<T extends Uint32Array | Float32Array>(full: T, larger: T): T {
  larger.set(full)
  return larger
}
