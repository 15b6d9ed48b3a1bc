/*
 * DEFLATE (RFC 1951), written here because a pack needs three things together: the same bytes in every runtime (zlib
 * and CompressionStream differ between versions), no cost per call (a pack may have 100,000 small files, and the
 * library at hand sets up 170 kB of tables for each), and speed on postings, which are mostly hexadecimal ids that
 * match nothing. It looks at one earlier place for each four bytes, walks faster where nothing matches, and writes each
 * block in the cheapest of the three forms.
 */

const WINDOW = 1 << 15
/** As much as a stored block can hold. */
const BLOCK_BYTES = 0xffff
const HASH_BITS = 15
const LEAST_MATCH = 4
const MOST_MATCH = 258
const END_OF_BLOCK = 256
/** Hexadecimal digits in a row after which the rest is taken for an id: it would have matched from its beginning. */
const LONG_NUMBER = 12
const LITERALS = 286
const DISTANCES = 30

/** Compresses one stream after another; its tables are made once. */
export class Deflater {
  /** The last 32 KiB of the stream, then the bytes of the block being collected. */
  readonly #buffer = new Uint8Array(WINDOW + BLOCK_BYTES)
  /** By hash of four bytes, where they were last seen, counted over all streams, modulo 2³². */
  readonly #heads = new Uint32Array(1 << HASH_BITS)
  /** Literals as their byte; matches as 256 + length, each followed by its distance. */
  readonly #symbols = new Uint16Array(2 * BLOCK_BYTES)
  readonly #literalCounts = new Uint32Array(LITERALS)
  readonly #distanceCounts = new Uint32Array(DISTANCES)
  readonly #bits = new BitWriter()
  /** Bytes of this stream before the block, as far as a match may reach back. */
  #history = 0
  #length = 0
  /** Position of the block's first byte in the count over all streams. */
  #position = 0

  /** Takes bytes in and gives out what is ready. */
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

  /** Ends the stream and gives out the rest of it. The next bytes begin another. */
  finish(): Uint8Array {
    this.#writeBlock(true)
    this.#bits.align()
    // What was seen in this stream is now farther away than any match may reach.
    this.#position = (this.#position + WINDOW + 1) >>> 0
    this.#history = 0
    return this.#bits.take()
  }

  #writeBlock(isLast: boolean): void {
    const count = this.#findMatches()
    const literals = createCodes(this.#literalCounts, 15)
    const distances = createCodes(this.#distanceCounts, 15)
    const header = createHeader(literals.lengths, distances.lengths)
    const extra = countExtraBits(this.#literalCounts, this.#distanceCounts)
    const dynamicBits =
      header.bits + extra + countBits(this.#literalCounts, literals) + countBits(this.#distanceCounts, distances)
    const fixedBits =
      extra + countBits(this.#literalCounts, FIXED_LITERALS) + countBits(this.#distanceCounts, FIXED_DISTANCES)
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
    this.#literalCounts.fill(0)
    this.#distanceCounts.fill(0)
    this.#buffer.copyWithin(0, this.#length, this.#length + WINDOW)
    this.#history = Math.min(WINDOW, this.#history + this.#length)
    this.#position = (this.#position + this.#length) >>> 0
    this.#length = 0
  }

  /** Turns the block into symbols and counts them. Returns how many entries of `#symbols` are used. */
  #findMatches(): number {
    const buffer = this.#buffer
    const heads = this.#heads
    const symbols = this.#symbols
    const literalCounts = this.#literalCounts
    const end = WINDOW + this.#length
    const lowest = WINDOW - this.#history
    const offset = this.#position - WINDOW
    let count = 0
    let misses = 0
    let digits = 0
    let at = WINDOW
    while (at < end) {
      let length = 0
      let from = 0
      if (digits < LONG_NUMBER && at + LEAST_MATCH <= end) {
        const hash = hashAt(buffer, at)
        from = at - ((at + offset - (heads[hash] ?? 0)) >>> 0)
        heads[hash] = at + offset
        if (from >= lowest && from < at && at - from <= WINDOW) length = matchLength(buffer, from, at, end)
      }
      if (length >= LEAST_MATCH) {
        const distance = at - from
        const code = LENGTH_CODES[length] ?? 0
        const distanceCode = distanceCodeOf(distance)
        literalCounts[code] = (literalCounts[code] ?? 0) + 1
        this.#distanceCounts[distanceCode] = (this.#distanceCounts[distanceCode] ?? 0) + 1
        symbols[count++] = 256 + length
        symbols[count++] = distance
        at += length
        misses = 0
        digits = 0
        // The end of a match is where the next one most often begins.
        if (at + 2 <= end) heads[hashAt(buffer, at - 2)] = at - 2 + offset
      } else {
        for (let steps = 1 + (misses++ >> 3); steps > 0 && at < end; steps--) {
          const byte = buffer[at++] ?? 0
          literalCounts[byte] = (literalCounts[byte] ?? 0) + 1
          symbols[count++] = byte
          digits = HEX_DIGITS[byte] === 1 ? digits + 1 : 0
        }
      }
    }
    literalCounts[END_OF_BLOCK] = 1
    return count
  }

  #writeSymbols(count: number, literals: Codes, distances: Codes): void {
    const symbols = this.#symbols
    const bits = this.#bits
    for (let i = 0; i < count; ) {
      i = bits.writeRun(symbols, i, count, literals)
      if (i === count) break
      const length = (symbols[i] ?? 0) - 256
      const code = LENGTH_CODES[length] ?? 0
      bits.write(literals.codes[code] ?? 0, literals.lengths[code] ?? 0)
      bits.write(length - (LENGTH_BASES[code - 257] ?? 0), LENGTH_EXTRA[code - 257] ?? 0)
      const distance = symbols[i + 1] ?? 0
      const distanceCode = distanceCodeOf(distance)
      bits.write(distances.codes[distanceCode] ?? 0, distances.lengths[distanceCode] ?? 0)
      bits.write(distance - (DISTANCE_BASES[distanceCode] ?? 0), DISTANCE_EXTRA[distanceCode] ?? 0)
      i += 2
    }
    bits.write(literals.codes[END_OF_BLOCK] ?? 0, literals.lengths[END_OF_BLOCK] ?? 0)
  }
}

function hashAt(buffer: Uint8Array, at: number): number {
  const four =
    (buffer[at] ?? 0) | ((buffer[at + 1] ?? 0) << 8) | ((buffer[at + 2] ?? 0) << 16) | ((buffer[at + 3] ?? 0) << 24)
  return Math.imul(four, 0x9e3779b1) >>> (32 - HASH_BITS)
}

function matchLength(buffer: Uint8Array, from: number, at: number, end: number): number {
  const most = Math.min(MOST_MATCH, end - at)
  let length = 0
  while (length < most && buffer[from + length] === buffer[at + length]) length++
  return length
}

/** Codes of a Huffman alphabet: bits in the order they are written, and how many. A length of 0 means unused. */
interface Codes {
  readonly codes: Uint16Array
  readonly lengths: Uint8Array
}

/** Code lengths by Huffman, none above `most`, and the canonical codes for them. */
function createCodes(counts: Uint32Array, most: number): Codes {
  const lengths = new Uint8Array(counts.length)
  // Counts are below 2¹⁷ and symbols below 2⁹, so both fit into one number that sorts by count, then by symbol.
  const sorted = new Uint32Array(counts.length)
  let used = 0
  for (let symbol = 0; symbol < counts.length; symbol++) {
    const count = counts[symbol] ?? 0
    if (count > 0) sorted[used++] = (count << 9) | symbol
  }
  if (used === 1) lengths[(sorted[0] ?? 0) & 511] = 1
  if (used > 1) {
    const order = sorted.subarray(0, used).sort()
    const weights = new Uint32Array(used)
    for (let i = 0; i < used; i++) weights[i] = (order[i] ?? 0) >>> 9
    const perLength = countLengths(weights, most)
    let rank = used - 1
    for (let length = 1; length <= most; length++) {
      for (let left = perLength[length] ?? 0; left > 0; left--) lengths[(order[rank--] ?? 0) & 511] = length
    }
  }
  return { codes: assignCodes(lengths), lengths }
}

/**
 * How many symbols get each length, from counts in ascending order: the in-place method of Moffat and Katajainen (1995),
 * then lengths above `most` are folded back until the code is complete again.
 */
function countLengths(weights: Uint32Array, most: number): Uint32Array {
  const n = weights.length
  let leaf = 0
  let root = 0
  const takeLeast = (next: number): number => {
    if (leaf >= n || (root < next && (weights[root] ?? 0) < (weights[leaf] ?? 0))) {
      const weight = weights[root] ?? 0
      weights[root++] = next
      return weight
    }
    return weights[leaf++] ?? 0
  }
  for (let next = 0; next < n - 1; next++) {
    const first = takeLeast(next)
    weights[next] = first + takeLeast(next)
  }
  // Parents become depths, from the root down.
  weights[n - 2] = 0
  for (let next = n - 3; next >= 0; next--) weights[next] = (weights[weights[next] ?? 0] ?? 0) + 1
  const perLength = new Uint32Array(Math.max(most, 32) + 1)
  let available = 1
  let depth = 0
  for (let next = n - 2; available > 0; depth++) {
    let inner = 0
    while (next >= 0 && weights[next] === depth) {
      inner++
      next--
    }
    const length = Math.min(depth, most)
    perLength[length] = (perLength[length] ?? 0) + available - inner
    available = 2 * inner
  }
  return limitLengths(perLength, most)
}

/** Makes lengths that were cut to `most` a complete code: the Kraft sum must be exactly 1. */
function limitLengths(perLength: Uint32Array, most: number): Uint32Array {
  let sum = 0
  for (let length = 1; length <= most; length++) sum += (perLength[length] ?? 0) << (most - length)
  for (; sum > 1 << most; sum--) {
    let length = most - 1
    while (perLength[length] === 0) length--
    perLength[most] = (perLength[most] ?? 0) - 1
    perLength[length] = (perLength[length] ?? 0) - 1
    perLength[length + 1] = (perLength[length + 1] ?? 0) + 2
  }
  return perLength
}

/** Canonical codes of RFC 1951 section 3.2.2, their bits reversed because a stream takes the lowest bit first. */
function assignCodes(lengths: Uint8Array): Uint16Array {
  const next = new Uint16Array(17)
  for (let symbol = 0; symbol < lengths.length; symbol++) {
    const length = lengths[symbol] ?? 0
    if (length > 0) next[length + 1] = (next[length + 1] ?? 0) + 1
  }
  for (let length = 1; length <= 16; length++) next[length] = ((next[length] ?? 0) + (next[length - 1] ?? 0)) << 1
  // `next[length]` now holds twice the first code of `length - 1` plus its symbols: the first code of `length`.
  const codes = new Uint16Array(lengths.length)
  for (let symbol = 0; symbol < lengths.length; symbol++) {
    const length = lengths[symbol] ?? 0
    if (length === 0) continue
    const code = next[length] ?? 0
    next[length] = code + 1
    codes[symbol] = reverseBits(code, length)
  }
  return codes
}

function reverseBits(code: number, length: number): number {
  let reversed = 0
  for (let i = 0; i < length; i++) reversed |= ((code >>> i) & 1) << (length - 1 - i)
  return reversed
}

function countBits(counts: Uint32Array, { lengths }: Codes): number {
  let bits = 0
  for (let symbol = 0; symbol < counts.length; symbol++) bits += (counts[symbol] ?? 0) * (lengths[symbol] ?? 0)
  return bits
}

function countExtraBits(literalCounts: Uint32Array, distanceCounts: Uint32Array): number {
  let bits = 0
  for (let i = 0; i < LENGTH_EXTRA.length; i++) bits += (literalCounts[257 + i] ?? 0) * (LENGTH_EXTRA[i] ?? 0)
  for (let i = 0; i < DISTANCES; i++) bits += (distanceCounts[i] ?? 0) * (DISTANCE_EXTRA[i] ?? 0)
  return bits
}

const LENGTH_ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]

/** The two code length tables of a dynamic block, themselves run-length and Huffman coded (section 3.2.7). */
function createHeader(literals: Uint8Array, distances: Uint8Array): { bits: number; write(bits: BitWriter): void } {
  const literalCount = lastUsed(literals, 257)
  const distanceCount = lastUsed(distances, 1)
  const both = new Uint8Array(literalCount + distanceCount)
  both.set(literals.subarray(0, literalCount))
  both.set(distances.subarray(0, distanceCount), literalCount)
  const runs = encodeRuns(both)
  const counts = new Uint32Array(19)
  for (const { symbol } of runs) counts[symbol] = (counts[symbol] ?? 0) + 1
  const { codes, lengths } = createCodes(counts, 7)
  let sent = LENGTH_ORDER.length
  while (sent > 4 && lengths[LENGTH_ORDER[sent - 1] ?? 0] === 0) sent--
  const runBits = runs.reduce((sum, { symbol, extraBits }) => sum + (lengths[symbol] ?? 0) + extraBits, 0)
  return {
    bits: 14 + 3 * sent + runBits,
    write(bits) {
      bits.write(literalCount - 257, 5)
      bits.write(distanceCount - 1, 5)
      bits.write(sent - 4, 4)
      for (const symbol of LENGTH_ORDER.slice(0, sent)) bits.write(lengths[symbol] ?? 0, 3)
      for (const { symbol, extra, extraBits } of runs) {
        bits.write(codes[symbol] ?? 0, lengths[symbol] ?? 0)
        bits.write(extra, extraBits)
      }
    },
  }
}

function lastUsed(lengths: Uint8Array, least: number): number {
  let count = lengths.length
  while (count > least && lengths[count - 1] === 0) count--
  return count
}

interface Run {
  readonly symbol: number
  readonly extra: number
  readonly extraBits: number
}

function encodeRuns(lengths: Uint8Array): Run[] {
  const runs: Run[] = []
  for (let at = 0; at < lengths.length; ) {
    const length = lengths[at] ?? 0
    let end = at + 1
    while (end < lengths.length && lengths[end] === length) end++
    let left = end - at
    at = end
    if (length > 0) {
      runs.push({ symbol: length, extra: 0, extraBits: 0 })
      left--
    }
    while (left >= 3) {
      const taken = Math.min(left, length > 0 ? 6 : 138)
      if (length > 0) runs.push({ symbol: 16, extra: taken - 3, extraBits: 2 })
      else if (taken > 10) runs.push({ symbol: 18, extra: taken - 11, extraBits: 7 })
      else runs.push({ symbol: 17, extra: taken - 3, extraBits: 3 })
      left -= taken
    }
    for (; left > 0; left--) runs.push({ symbol: length, extra: 0, extraBits: 0 })
  }
  return runs
}

/** Bits in, lowest first; whole bytes out. */
class BitWriter {
  #buffer = new Uint8Array(BLOCK_BYTES)
  #length = 0
  #pending = 0
  #pendingBits = 0

  write(value: number, count: number): void {
    let pending = this.#pending | (value << this.#pendingBits)
    let pendingBits = this.#pendingBits + count
    while (pendingBits >= 8) {
      if (this.#length === this.#buffer.length) this.#grow(2 * this.#length)
      this.#buffer[this.#length++] = pending
      pending >>>= 8
      pendingBits -= 8
    }
    this.#pending = pending
    this.#pendingBits = pendingBits
  }

  /** Writes literals from `start` up to the next match, and gives its place. Most of a stream is such runs. */
  writeRun(symbols: Uint16Array, start: number, end: number, { codes, lengths }: Codes): number {
    // A code has at most 15 bits, and up to 7 are pending.
    if (this.#length + 2 * (end - start) + 2 > this.#buffer.length)
      this.#grow(2 * (this.#length + 2 * (end - start) + 2))
    const buffer = this.#buffer
    let length = this.#length
    let pending = this.#pending
    let pendingBits = this.#pendingBits
    let at = start
    for (; at < end; at++) {
      const symbol = symbols[at] ?? 0
      if (symbol >= 256) break
      pending |= (codes[symbol] ?? 0) << pendingBits
      pendingBits += lengths[symbol] ?? 0
      while (pendingBits >= 8) {
        buffer[length++] = pending
        pending >>>= 8
        pendingBits -= 8
      }
    }
    this.#length = length
    this.#pending = pending
    this.#pendingBits = pendingBits
    return at
  }

  /** Fills up the last byte. */
  align(): void {
    if (this.#pendingBits > 0) this.write(0, 8 - this.#pendingBits)
  }

  /** A stored block's lengths and bytes. */
  writeStored(bytes: Uint8Array): void {
    this.align()
    this.write(bytes.length, 16)
    this.write(~bytes.length & 0xffff, 16)
    if (this.#length + bytes.length > this.#buffer.length) this.#grow(2 * (this.#length + bytes.length))
    this.#buffer.set(bytes, this.#length)
    this.#length += bytes.length
  }

  /** A copy of the whole bytes so far; they are written no more. */
  take(): Uint8Array {
    const taken = this.#buffer.slice(0, this.#length)
    this.#length = 0
    return taken
  }

  #grow(length: number): void {
    const larger = new Uint8Array(length)
    larger.set(this.#buffer.subarray(0, this.#length))
    this.#buffer = larger
  }
}

const HEX_DIGITS = Uint8Array.from({ length: 256 }, (_, byte) => (/[0-9a-f]/.test(String.fromCharCode(byte)) ? 1 : 0))
const LENGTH_EXTRA = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0]
const DISTANCE_EXTRA = [
  0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13,
]
const LENGTH_BASES = [...sumUp(LENGTH_EXTRA.slice(0, 28), 3), MOST_MATCH]
const DISTANCE_BASES = sumUp(DISTANCE_EXTRA, 1)
/** By match length, its code among the literals. */
const LENGTH_CODES = createLengthCodes()
/** By distance − 1 below 256, and by (distance − 1) >> 7 from there on, behind it: the distance code. */
const DISTANCE_CODES = createDistanceCodes()
const FIXED_LITERALS = fixedCodes(288, (symbol) => (symbol < 144 ? 8 : symbol < 256 ? 9 : symbol < 280 ? 7 : 8))
const FIXED_DISTANCES = fixedCodes(DISTANCES, () => 5)

function distanceCodeOf(distance: number): number {
  return (distance <= 256 ? DISTANCE_CODES[distance - 1] : DISTANCE_CODES[256 + ((distance - 1) >> 7)]) ?? 0
}

/** First value of each code, when a code with `bits` extra bits covers 2^bits values. */
function sumUp(extraBits: readonly number[], start: number): number[] {
  let base = start
  return extraBits.map((bits) => {
    const first = base
    base += 1 << bits
    return first
  })
}

function createLengthCodes(): Uint16Array {
  const codes = new Uint16Array(MOST_MATCH + 1)
  for (let length = 3; length <= MOST_MATCH; length++) {
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

function fixedCodes(count: number, lengthOf: (symbol: number) => number): Codes {
  const lengths = Uint8Array.from({ length: count }, (_, symbol) => lengthOf(symbol))
  return { codes: assignCodes(lengths), lengths }
}
