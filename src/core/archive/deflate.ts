import { BitWriter } from './bit-writer.ts'
import { type Codes, fixedCodes, HuffmanCode } from './huffman-code.ts'

/*
 * DEFLATE (RFC 1951), implemented here because a pack needs three things together: the same bytes in every runtime (zlib and
 * CompressionStream differ between versions), no cost per call (a pack may have 100,000 small files, and the available library sets up 170
 * kB of tables for each), and speed on postings, which are mostly hexadecimal ids that match nothing. The deflater compares every four
 * bytes with one earlier position, skips faster where nothing matches, and writes each block in the cheapest of the three forms.
 */

const WINDOW = 1 << 15
/** The largest size of a stored block. */
const BLOCK_BYTES = 0xffff
const HASH_BITS = 15
const MIN_MATCH = 4
const MAX_MATCH = 258
const END_OF_BLOCK = 256
/**
 * After this many hexadecimal digits in a row, the rest is treated as an id and not matched: a repeated id would have matched from its
 * beginning.
 */
const ID_DIGITS = 12
const LITERAL_COUNT = 286
const DISTANCE_COUNT = 30

/** Compresses one stream after another, and reuses its tables. */
export class Deflater {
  /** The last 32 KiB of the stream, then the bytes of the block being collected. */
  readonly #buffer = new Uint8Array(WINDOW + BLOCK_BYTES)
  /** The last position of four bytes, by their hash. Positions are counted over all streams, modulo 2³². */
  readonly #heads = new Uint32Array(1 << HASH_BITS)
  /** Triples: number of literal bytes since the last match, length of the match, its distance. */
  readonly #matches = new Uint16Array(3 * Math.ceil(BLOCK_BYTES / MIN_MATCH))
  readonly #literals = new HuffmanCode(LITERAL_COUNT, 15)
  readonly #distances = new HuffmanCode(DISTANCE_COUNT, 15)
  readonly #header = new BlockHeader()
  readonly #bits = new BitWriter()
  /** How many bytes of this stream before the current block a match may refer back to. */
  #history = 0
  #length = 0
  /** Position of the block's first byte in the count over all streams. */
  #position = 0

  /** Takes bytes in and returns the compressed bytes that are ready. */
  push(bytes: Uint8Array): Uint8Array {
    for (let at = 0; at < bytes.length; ) {
      if (this.#length === BLOCK_BYTES) this.#writeBlock(false)
      const taken = Math.min(BLOCK_BYTES - this.#length, bytes.length - at)
      this.#buffer.set(bytes.subarray(at, at + taken), WINDOW + this.#length)
      this.#length += taken
      at += taken
    }
    return this.#bits.take()
  }

  /** Ends the stream and returns the rest of it. The next bytes begin another stream. */
  finish(): Uint8Array {
    this.#writeBlock(true)
    this.#bits.align()
    // Moves the position so far that no match can reach back into this stream.
    this.#position = (this.#position + WINDOW + 1) >>> 0
    this.#history = 0
    return this.#bits.take()
  }

  #writeBlock(isLast: boolean): void {
    const literals = this.#literals
    const distances = this.#distances
    const header = this.#header
    const count = this.#findMatches()
    literals.build()
    distances.build()
    header.build(literals, distances)
    const extra = countExtraBits(literals.counts, distances.counts)
    const dynamicBits = header.bits + extra + literals.countBits(literals) + distances.countBits(distances)
    const fixedBits = extra + literals.countBits(FIXED_LITERALS) + distances.countBits(FIXED_DISTANCES)
    const storedBits = 8 * this.#length + 40

    const bits = this.#bits
    bits.write(isLast ? 1 : 0, 1)
    if (storedBits <= dynamicBits && storedBits <= fixedBits) {
      bits.write(0, 2)
      bits.writeStored(this.#buffer.subarray(WINDOW, WINDOW + this.#length))
    } else if (fixedBits <= dynamicBits) {
      bits.write(1, 2)
      this.#writeSymbols(count, FIXED_LITERALS, FIXED_DISTANCES)
    } else {
      bits.write(2, 2)
      header.write(bits)
      this.#writeSymbols(count, literals, distances)
    }
    literals.counts.fill(0)
    distances.counts.fill(0)
    // The next stream has no history, so the last block is not kept.
    if (!isLast) this.#buffer.copyWithin(0, this.#length, this.#length + WINDOW)
    this.#history = Math.min(WINDOW, this.#history + this.#length)
    this.#position = (this.#position + this.#length) >>> 0
    this.#length = 0
  }

  /** Finds repetitions in the block and counts its symbols. Returns how many entries of `#matches` are used. */
  #findMatches(): number {
    const buffer = this.#buffer
    const heads = this.#heads
    const matches = this.#matches
    const { counts } = this.#literals
    const { counts: distanceCounts } = this.#distances
    const end = WINDOW + this.#length
    const lowest = WINDOW - this.#history
    const offset = this.#position - WINDOW
    let count = 0
    let misses = 0
    let digits = 0
    let at = WINDOW
    let literalsFrom = at
    while (at < end) {
      if (digits < ID_DIGITS && at + MIN_MATCH <= end) {
        const hash = hashAt(buffer, at)
        const from = at - ((at + offset - (heads[hash] ?? 0)) >>> 0)
        heads[hash] = at + offset
        const isNear = from >= lowest && from < at && at - from <= WINDOW
        const length = isNear ? matchLength(buffer, from, at, end) : 0
        if (length >= MIN_MATCH) {
          const code = LENGTH_CODES[length] ?? 0
          const distanceCode = distanceCodeOf(at - from)
          counts[code] = (counts[code] ?? 0) + 1
          distanceCounts[distanceCode] = (distanceCounts[distanceCode] ?? 0) + 1
          matches[count] = at - literalsFrom
          matches[count + 1] = length
          matches[count + 2] = at - from
          count += 3
          at += length
          literalsFrom = at
          misses = 0
          digits = 0
          // Positions inside a match are not hashed, except the one two bytes before its end, because later repetitions often begin there.
          if (at + 2 <= end) heads[hashAt(buffer, at - 2)] = at - 2 + offset
          continue
        }
      }
      for (const stop = Math.min(end, at + 1 + (misses++ >> 3)); at < stop; at++) {
        const byte = buffer[at] ?? 0
        counts[byte] = (counts[byte] ?? 0) + 1
        digits = (digits + 1) * (HEX_DIGITS[byte] ?? 0)
      }
    }
    counts[END_OF_BLOCK] = 1
    return count
  }

  #writeSymbols(count: number, literals: Codes, distances: Codes): void {
    const matches = this.#matches
    const bits = this.#bits
    let at = WINDOW
    for (let i = 0; i < count; i += 3) {
      const matchAt = at + (matches[i] ?? 0)
      const length = matches[i + 1] ?? 0
      const distance = matches[i + 2] ?? 0
      bits.writeBytes(this.#buffer, at, matchAt, literals)
      const code = LENGTH_CODES[length] ?? 0
      bits.writeCode(literals, code)
      bits.write(length - (LENGTH_BASES[code - 257] ?? 0), LENGTH_EXTRA[code - 257] ?? 0)
      const distanceCode = distanceCodeOf(distance)
      bits.writeCode(distances, distanceCode)
      bits.write(distance - (DISTANCE_BASES[distanceCode] ?? 0), DISTANCE_EXTRA[distanceCode] ?? 0)
      at = matchAt + length
    }
    bits.writeBytes(this.#buffer, at, WINDOW + this.#length, literals)
    bits.writeCode(literals, END_OF_BLOCK)
  }
}

function hashAt(buffer: Uint8Array, at: number): number {
  const four =
    (buffer[at] ?? 0) | ((buffer[at + 1] ?? 0) << 8) | ((buffer[at + 2] ?? 0) << 16) | ((buffer[at + 3] ?? 0) << 24)
  return Math.imul(four, 0x9e3779b1) >>> (32 - HASH_BITS)
}

function matchLength(buffer: Uint8Array, from: number, at: number, end: number): number {
  const maxLength = Math.min(MAX_MATCH, end - at)
  let length = 0
  while (length < maxLength && buffer[from + length] === buffer[at + length]) length++
  return length
}

function countExtraBits(literalCounts: Uint32Array, distanceCounts: Uint32Array): number {
  let bits = 0
  for (let i = 0; i < LENGTH_EXTRA.length; i++) bits += (literalCounts[257 + i] ?? 0) * (LENGTH_EXTRA[i] ?? 0)
  for (let i = 0; i < DISTANCE_COUNT; i++) bits += (distanceCounts[i] ?? 0) * (DISTANCE_EXTRA[i] ?? 0)
  return bits
}

const LENGTH_ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]

/** The two code length tables of a dynamic block, themselves run-length and Huffman coded (section 3.2.7). */
class BlockHeader {
  /** Size in bits. */
  bits = 0
  readonly #code = new HuffmanCode(19, 7)
  readonly #lengths = new Uint8Array(LITERAL_COUNT + DISTANCE_COUNT)
  /** Pairs: a symbol, and the value of its extra bits. */
  readonly #runs = new Uint8Array(2 * (LITERAL_COUNT + DISTANCE_COUNT))
  #runsEnd = 0
  #literalCount = 0
  #distanceCount = 0
  #codeLengthCount = 0

  build({ lengths: literals }: HuffmanCode, { lengths: distances }: HuffmanCode): void {
    const code = this.#code
    this.#literalCount = countUpToLastUsed(literals, 257)
    this.#distanceCount = countUpToLastUsed(distances, 1)
    const all = this.#lengths
    all.set(literals)
    // The distance lengths overwrite the literal lengths that are not sent.
    all.set(distances, this.#literalCount)
    code.counts.fill(0)
    this.#encodeRuns(this.#literalCount + this.#distanceCount)
    code.build()
    let codeLengthCount = LENGTH_ORDER.length
    while (codeLengthCount > 4 && code.lengths[LENGTH_ORDER[codeLengthCount - 1] ?? 0] === 0) codeLengthCount--
    this.#codeLengthCount = codeLengthCount
    let extra = 0
    for (let symbol = 16; symbol < 19; symbol++) extra += (code.counts[symbol] ?? 0) * runBits(symbol)
    this.bits = 14 + 3 * codeLengthCount + extra + code.countBits(code)
  }

  write(bits: BitWriter): void {
    bits.write(this.#literalCount - 257, 5)
    bits.write(this.#distanceCount - 1, 5)
    bits.write(this.#codeLengthCount - 4, 4)
    for (let i = 0; i < this.#codeLengthCount; i++) bits.write(this.#code.lengths[LENGTH_ORDER[i] ?? 0] ?? 0, 3)
    for (let i = 0; i < this.#runsEnd; i += 2) {
      const symbol = this.#runs[i] ?? 0
      bits.writeCode(this.#code, symbol)
      bits.write(this.#runs[i + 1] ?? 0, runBits(symbol))
    }
  }

  #encodeRuns(count: number): void {
    this.#runsEnd = 0
    for (let at = 0; at < count; ) {
      const length = this.#lengths[at] ?? 0
      let end = at + 1
      while (end < count && this.#lengths[end] === length) end++
      let left = end - at
      at = end
      if (length > 0) {
        this.#addRun(length, 0)
        left--
      }
      while (left >= 3) {
        const taken = Math.min(left, length > 0 ? 6 : 138)
        if (length > 0) this.#addRun(16, taken - 3)
        else if (taken > 10) this.#addRun(18, taken - 11)
        else this.#addRun(17, taken - 3)
        left -= taken
      }
      for (; left > 0; left--) this.#addRun(length, 0)
    }
  }

  #addRun(symbol: number, extra: number): void {
    const { counts } = this.#code
    counts[symbol] = (counts[symbol] ?? 0) + 1
    this.#runs[this.#runsEnd++] = symbol
    this.#runs[this.#runsEnd++] = extra
  }
}

/** How many extra bits follow a symbol of the header. */
function runBits(symbol: number): number {
  return symbol < 16 ? 0 : symbol === 16 ? 2 : symbol === 17 ? 3 : 7
}

function countUpToLastUsed(lengths: Uint8Array, minCount: number): number {
  let count = lengths.length
  while (count > minCount && lengths[count - 1] === 0) count--
  return count
}

const HEX_DIGITS = Uint8Array.from({ length: 256 }, (_, byte) => (/[0-9a-f]/.test(String.fromCharCode(byte)) ? 1 : 0))
const LENGTH_EXTRA = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0]
const DISTANCE_EXTRA = [
  0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13,
]
const LENGTH_BASES = [...computeBases(LENGTH_EXTRA.slice(0, 28), 3), MAX_MATCH]
const DISTANCE_BASES = computeBases(DISTANCE_EXTRA, 1)
/** Code of each match length among the literals. */
const LENGTH_CODES = createLengthCodes()
/** Distance codes: the first 256 entries by distance − 1, the entries after them by (distance − 1) >> 7. */
const DISTANCE_CODES = createDistanceCodes()
const FIXED_LITERALS = fixedCodes(288, (symbol) => (symbol < 144 ? 8 : symbol < 256 ? 9 : symbol < 280 ? 7 : 8))
const FIXED_DISTANCES = fixedCodes(DISTANCE_COUNT, () => 5)

function distanceCodeOf(distance: number): number {
  return (distance <= 256 ? DISTANCE_CODES[distance - 1] : DISTANCE_CODES[256 + ((distance - 1) >> 7)]) ?? 0
}

/** First value of each code, when a code with `bits` extra bits covers 2^bits values. */
function computeBases(extraBits: readonly number[], start: number): number[] {
  let base = start
  return extraBits.map((bits) => {
    const first = base
    base += 1 << bits
    return first
  })
}

function createLengthCodes(): Uint16Array {
  const codes = new Uint16Array(MAX_MATCH + 1)
  for (let length = 3; length <= MAX_MATCH; length++) {
    codes[length] = 257 + LENGTH_BASES.findLastIndex((base) => base <= length)
  }
  return codes
}

function createDistanceCodes(): Uint8Array {
  const codes = new Uint8Array(512)
  for (let i = 0; i < 256; i++) codes[i] = DISTANCE_BASES.findLastIndex((base) => base <= i + 1)
  for (let i = 2; i < 256; i++) codes[256 + i] = DISTANCE_BASES.findLastIndex((base) => base <= (i << 7) + 1)
  return codes
}
