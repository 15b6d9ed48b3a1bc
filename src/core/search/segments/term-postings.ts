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
  /** Four numbers for each window, from which `boundWindow` limits the scores of its documents. */
  readonly limits: Uint32Array
}

/** The windows of one term: where they begin in both streams, with the ends of the streams as last numbers. */
export interface TermWindows extends StemWindows {
  readonly documentStarts: Uint32Array
  readonly positionStarts: Uint32Array
}

// Codes in the low bits of a written document number, two outside of windows and four in them. All codes but the first and the last one are
// the number of occurrences, all in the last field: most terms occur once or twice in the last field, the body, and in no other.

/** The occurrences of each field follow. */
export const ANY = 0
/** Outside of windows: all occurrences are in the last field, and their number follows. */
export const LAST_MANY = 3
/** In windows: the bits of the code, and those of a document number. */
export const CODE_BITS = 4
export const MAX_WINDOW_SHIFT: number = 16 - CODE_BITS

const CODE_MASK: number = (1 << CODE_BITS) - 1

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
    while (this.document < document) if (!this.next()) return false
    return this.document === document
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
    this.#positions = positionsStart + (windows.positionStarts[window] ?? 0)
    this.#skipped = 0
    this.#unread = 0
    this.#position = start + (windows.documentStarts[window] ?? 0)
    const isEmpty = windows.documentStarts[window] === windows.documentStarts[window + 1]
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

/** Decoded postings, valid up to the returned count. */
export interface DecodedPostings {
  /** Documents, relative to the first one of the range. */
  readonly documents: Uint32Array
  readonly frequencies: Float64Array
}

/** Decodes the postings of a term with windows in the documents from `from` to before `to`, and returns how many there are. */
export function decodePostings(
  postings: TermPostings,
  windows: TermWindows,
  from: number,
  to: number,
  weights: readonly number[],
  out: DecodedPostings,
): number {
  const lastWindow = Math.min((to - 1) >> windows.shift, windows.count - 1)
  let count = 0
  for (let window = from >> windows.shift; window <= lastWindow; window++) {
    if (windows.documentStarts[window] !== windows.documentStarts[window + 1]) {
      count = decodeWindow(postings, windows, window, from, to, weights, out, count)
    }
  }
  return count
}

/** Decodes the postings of a window. A query spends much of its time in this loop. */
function decodeWindow(
  { bytes, start }: TermPostings,
  { shift, documentStarts }: TermWindows,
  window: number,
  from: number,
  to: number,
  weights: readonly number[],
  { documents, frequencies }: DecodedPostings,
  before: number,
): number {
  const lastWeight = weights[weights.length - 1] ?? 0
  const first = start + (documentStarts[window] ?? 0)
  const size = bytes[first] ?? 0
  // The number of postings takes one or two bytes.
  const postingCount = size < 0x80 ? size : (size & 0x7f) | ((bytes[first + 1] ?? 0) << 7)
  const begin = size < 0x80 ? first + 1 : first + 2
  const end = begin + 2 * postingCount
  const offset = (window << shift) - from
  const length = to - from
  let rest = end
  let count = before
  for (let at = begin; at < end; at += 2) {
    const posting = (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8)
    const code = posting & CODE_MASK
    let frequency = Math.fround(lastWeight * code)
    if (code === ANY) {
      decodeRest(bytes, rest, weights)
      frequency = restFrequency
      rest = restEnd
    }
    const document = offset + (posting >> CODE_BITS)
    documents[count] = document
    frequencies[count] = frequency
    if (document >= 0 && document < length) count++
  }
  return count
}

/** About how many postings the windows from a document to before another have. */
export function estimateCount({ shift, count, documentStarts }: TermWindows, from: number, to: number): number {
  const first = documentStarts[from >> shift] ?? 0
  return ((documentStarts[Math.min(count, ((to - 1) >> shift) + 1)] ?? 0) - first) >> 1
}

/** The weighted occurrences of a term with windows in a document, 0 if there are none. */
export function findFrequency(
  { bytes, start }: TermPostings,
  { shift, documentStarts }: TermWindows,
  document: number,
  weights: readonly number[],
): number {
  const window = document >> shift
  const first = start + (documentStarts[window] ?? 0)
  if (first === start + (documentStarts[window + 1] ?? 0)) return 0
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
  const code = posting & CODE_MASK
  if (code !== ANY) return Math.fround((weights[weights.length - 1] ?? 0) * code)
  restEnd = begin + 2 * postingCount
  for (let i = 0; i <= low; i++)
    if (((bytes[begin + 2 * i] ?? 0) & CODE_MASK) === ANY) decodeRest(bytes, restEnd, weights)
  return restFrequency
}

let restFrequency = 0
let restEnd = 0

/** Decodes the occurrences by field at a position of the bytes, into the two variables above. */
function decodeRest(bytes: Uint8Array, at: number, weights: readonly number[]): void {
  let position = at
  let mask = -1
  let sum = 0
  // The first number is the mask; the number of each of its fields follows.
  for (let field = -1; field < weights.length; field++) {
    if (field >= 0 && (mask & (1 << field)) === 0) continue
    let byte = bytes[position++] ?? 0
    let value = byte & 0x7f
    for (let shift = 7; byte > 0x7f; shift += 7) {
      byte = bytes[position++] ?? 0
      value |= (byte & 0x7f) << shift
    }
    if (field < 0) mask = value
    else sum += (weights[field] ?? 0) * Math.min(value >>> 0, MAX_FREQUENCY)
  }
  restFrequency = Math.fround(sum)
  restEnd = position
}
