import type { ByteWriter } from '../bytes.ts'

/**
 * The occurrences of one term in the documents of a segment, as two streams of numbers: by ascending document, the number of occurrences in
 * each field; and the positions of these occurrences among all tokens of the document.
 */
export interface TermPostings {
  readonly term: string
  /** Number of documents. */
  readonly count: number
  readonly bytes: Uint8Array
  readonly start: number
  /** Where the positions begin. */
  readonly positionsStart: number
  /** Where the windows begin; undefined if the stem has few documents. */
  readonly windows: TermWindows | undefined
}

/**
 * The postings of a common stem are cut into windows: ranges of as many documents each. A window has the number of its postings, two bytes
 * for each, and the rest of those that need more: branches on the length of a number would take most of the time to decode them.
 */
export interface StemWindows {
  /** A window has `1 << shift` documents. */
  readonly shift: number
  readonly count: number
  /**
   * A row for each window, and one for their end: `LIMIT_COUNT` numbers that limit the scores of its documents, then for each term where the
   * window begins in both streams. One array, because many small ones would take as long to create as to fill.
   */
  readonly rows: Uint32Array
  /** The length of a row. */
  readonly stride: number
}

/** The windows of one term. */
export interface TermWindows extends StemWindows {
  /** The column of the row with the begin in the stream of documents; that in the stream of positions follows. */
  readonly column: number
}

/** The first columns of a row: the limits of `EntryWriter`. */
export const LIMIT_COUNT = 4

// Codes in the low bits of a written document number, two outside of windows and four in them. All codes but the first and the last one are
// the number of occurrences, all in the last field: most terms occur once or twice in the last field, the body, and in no other.

/** The occurrences of each field follow. */
export const ANY = 0
/** Outside of windows: all occurrences are in the last field, and their number follows. */
export const LAST_MANY = 3
/** In windows: the bits of the code, and those of a document number. */
export const CODE_BITS = 4
export const MAX_WINDOW_SHIFT: number = 16 - CODE_BITS

export const CODE_MASK: number = (1 << CODE_BITS) - 1

/** Largest number of occurrences in one field that counts. */
const MAX_FREQUENCY = 0xffff

/** The occurrences of a term in a document, each counted by the weight of its field. */
export function weigh(frequencies: ArrayLike<number>, weights: readonly number[], from = 0): number {
  let sum = 0
  for (let field = 0; field < weights.length; field++) {
    sum += (weights[field] ?? 0) * Math.min(frequencies[from + field] ?? 0, MAX_FREQUENCY)
  }
  return Math.fround(sum)
}

/**
 * Walks the postings of a term. One reader serves many terms and exposes the current posting in its properties, because a query reads many
 * postings. Bytes are trusted: damaged ones give wrong numbers, never an endless loop.
 */
export class PostingsReader {
  document = -1
  /** Number of occurrences in the document, over all fields. */
  total = 0
  readonly frequencies: Uint32Array
  #isInLastOnly = false
  #postings: TermPostings | undefined
  #bytes: Uint8Array = new Uint8Array(0)
  /** Where the next number is: outside of windows the next posting, in a window the rest of postings. */
  #position = 0
  /** In a window: where the next posting is, and where the last one ends. */
  #next = 0
  #end = 0
  #window = -1
  #positions = 0
  /** Positions of earlier documents that were not read. */
  #skipped = 0
  /** Positions of this document that were not read. */
  #unread = 0

  constructor(fieldCount: number) {
    this.frequencies = new Uint32Array(fieldCount)
  }

  begin(postings: TermPostings): void {
    const { bytes, start, positionsStart } = postings
    this.#postings = postings
    this.#bytes = bytes
    this.document = -1
    this.#window = -1
    this.#position = start
    this.#next = 0
    this.#end = 0
    this.#positions = positionsStart
    this.#skipped = 0
    this.#unread = 0
  }

  /** Moves to the next document; false when there is none. */
  next(): boolean {
    const { windows, positionsStart } = this.#postings ?? { windows: undefined, positionsStart: 0 }
    this.#skipped += this.#unread
    this.#unread = 0
    if (windows === undefined) {
      if (this.#position >= positionsStart) return false
      const header = this.#read()
      this.document += (header >>> 2) + 1
      this.#setCode(header & 3, LAST_MANY)
      return true
    }
    while (this.#next >= this.#end) {
      if (this.#openWindow(this.#window + 1)) continue
      this.document = Number.MAX_SAFE_INTEGER
      return false
    }
    const posting = (this.#bytes[this.#next] ?? 0) | ((this.#bytes[this.#next + 1] ?? 0) << 8)
    this.#next += 2
    this.document = (this.#window << windows.shift) + (posting >> CODE_BITS)
    this.#setCode(posting & CODE_MASK, Number.POSITIVE_INFINITY)
    return true
  }

  /** Moves to a document or, if the term is not in it, beyond; whether the term is in the document. Documents must ascend. */
  seek(document: number): boolean {
    const { windows } = this.#postings ?? {}
    const window = windows === undefined ? 0 : document >> windows.shift
    if (windows !== undefined && window > this.#window && !this.#openWindow(window)) return false
    if (windows !== undefined && this.document < document)
      this.#skipTo((document - (window << windows.shift)) << CODE_BITS)
    while (this.document < document) if (!this.next()) return false
    return this.document === document
  }

  /** Skips the postings of the open window that are lower than this one. */
  #skipTo(posting: number): void {
    const bytes = this.#bytes
    let next = this.#next
    let skipped = this.#skipped + this.#unread
    for (; next < this.#end; next += 2) {
      const found = (bytes[next] ?? 0) | ((bytes[next + 1] ?? 0) << 8)
      if (found >= posting) break
      if ((found & CODE_MASK) === ANY) {
        this.#readFrequencies()
        skipped += this.total
      } else {
        skipped += found & CODE_MASK
      }
    }
    this.#next = next
    this.#skipped = skipped
    this.#unread = 0
  }

  /** Fills in the frequencies by field. */
  fillFrequencies(): void {
    if (!this.#isInLastOnly) return
    this.frequencies.fill(0)
    this.frequencies[this.frequencies.length - 1] = this.total
  }

  /** Reads the distance of a position in this document from the previous one. */
  readDistance(): number {
    if (this.#skipped > 0) this.#skipPositions()
    this.#unread--
    const bytes = this.#bytes
    let byte = bytes[this.#positions++] ?? 0
    let value = byte & 0x7f
    for (let shift = 7; byte > 0x7f; shift += 7) {
      byte = bytes[this.#positions++] ?? 0
      value |= (byte & 0x7f) << shift
    }
    return value >>> 0
  }

  /** Copies all positions in this document. */
  copyPositions(writer: ByteWriter): void {
    if (this.#skipped > 0) this.#skipPositions()
    this.#positions = writer.copyNumbers(this.#bytes, this.#positions, this.#unread)
    this.#unread = 0
  }

  #setCode(code: number, many: number): void {
    this.#isInLastOnly = code !== ANY
    if (code === ANY) this.#readFrequencies()
    else this.total = code === many ? this.#read() : code
    this.#unread = this.total
  }

  #openWindow(window: number): boolean {
    const { windows, start, positionsStart } = this.#postings ?? { windows: undefined, start: 0, positionsStart: 0 }
    if (windows === undefined || window >= windows.count) return false
    this.#window = window
    this.document = -1
    const { rows, stride, column } = windows
    const at = window * stride + column
    this.#positions = positionsStart + (rows[at + 1] ?? 0)
    this.#skipped = 0
    this.#unread = 0
    this.#position = start + (rows[at] ?? 0)
    const isEmpty = rows[at] === rows[at + stride]
    const count = isEmpty ? 0 : this.#read()
    this.#next = this.#position
    this.#end = this.#position + 2 * count
    this.#position = this.#end
    return true
  }

  /** Skips the positions of several documents at once. */
  #skipPositions(): void {
    const bytes = this.#bytes
    const { length } = bytes
    let position = this.#positions
    for (let left = this.#skipped; left > 0 && position < length; position++) if ((bytes[position] ?? 0) < 0x80) left--
    this.#positions = position
    this.#skipped = 0
  }

  #readFrequencies(): void {
    const mask = this.#read()
    this.total = 0
    for (let field = 0; field < this.frequencies.length; field++) {
      const frequency = (mask & (1 << field)) === 0 ? 0 : this.#read()
      this.frequencies[field] = frequency
      this.total += frequency
    }
  }

  #read(): number {
    const bytes = this.#bytes
    let byte = bytes[this.#position++] ?? 0
    let value = byte & 0x7f
    for (let shift = 7; byte > 0x7f; shift += 7) {
      byte = bytes[this.#position++] ?? 0
      value |= (byte & 0x7f) << shift
    }
    return value >>> 0
  }
}

/** About how many postings the windows from a document to before another have. */
export function estimateCount({ shift, count, rows, stride, column }: TermWindows, from: number, to: number): number {
  const end = Math.min(count, ((to - 1) >> shift) + 1)
  return ((rows[end * stride + column] ?? 0) - (rows[(from >> shift) * stride + column] ?? 0)) >> 1
}

/** Decodes how often a term with windows occurs in documents, weighted by field. */
export class FrequencyDecoder {
  /** Where the next occurrences by field are. */
  position = 0
  readonly #weights: readonly number[]
  readonly #lastWeight: number

  constructor(weights: readonly number[]) {
    this.#weights = weights
    this.#lastWeight = weights[weights.length - 1] ?? 0
  }

  /** The frequency for a code other than `ANY`. */
  frequencyOf(code: number): number {
    return Math.fround(this.#lastWeight * code)
  }

  /** Reads the occurrences by field. */
  read(bytes: Uint8Array): number {
    const { length } = this.#weights
    let mask = -1
    let sum = 0
    // The first number is the mask; the number of each of its fields follows.
    for (let field = -1; field < length; field++) {
      if (field >= 0 && (mask & (1 << field)) === 0) continue
      let byte = bytes[this.position++] ?? 0
      let value = byte & 0x7f
      for (let shift = 7; byte > 0x7f; shift += 7) {
        byte = bytes[this.position++] ?? 0
        value |= (byte & 0x7f) << shift
      }
      if (field < 0) mask = value
      else sum += (this.#weights[field] ?? 0) * Math.min(value >>> 0, MAX_FREQUENCY)
    }
    return Math.fround(sum)
  }

  /** The occurrences in one document, 0 if there are none. */
  find({ bytes, start }: TermPostings, { shift, rows, stride, column }: TermWindows, document: number): number {
    const window = document >> shift
    const row = window * stride + column
    if (rows[row] === rows[row + stride]) return 0
    const first = start + (rows[row] ?? 0)
    const size = bytes[first] ?? 0
    const postingCount = size < 0x80 ? size : (size & 0x7f) | ((bytes[first + 1] ?? 0) << 7)
    const begin = size < 0x80 ? first + 1 : first + 2
    const wanted = (document - (window << shift)) << CODE_BITS
    let low = 0
    let high = postingCount
    while (low < high) {
      const middle = (low + high) >>> 1
      const at = begin + 2 * middle
      if (((bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8)) < wanted) low = middle + 1
      else high = middle
    }
    if (low === postingCount) return 0
    const posting = (bytes[begin + 2 * low] ?? 0) | ((bytes[begin + 2 * low + 1] ?? 0) << 8)
    if (posting >> CODE_BITS !== wanted >> CODE_BITS) return 0
    if ((posting & CODE_MASK) !== ANY) return this.frequencyOf(posting & CODE_MASK)
    this.position = begin + 2 * postingCount
    let frequency = 0
    for (let i = 0; i <= low; i++) if (((bytes[begin + 2 * i] ?? 0) & CODE_MASK) === ANY) frequency = this.read(bytes)
    return frequency
  }
}
