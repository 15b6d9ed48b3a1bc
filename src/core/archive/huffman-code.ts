/** Codes of a Huffman alphabet. */
export interface Codes {
  /** The code of each symbol: its bits in writing order, and from bit `CODE_BITS` on the number of bits; 0 for an unused symbol. */
  readonly codes: Uint32Array
}

/** Number of bits that hold a code in `Codes`; the length of the code is above them. */
export const CODE_BITS = 16

/** A Huffman code that is rebuilt for every block in the same memory: a pack has 100,000 blocks and more. */
export class HuffmanCode implements Codes {
  /** How often each symbol occurs; counts are below 2¹⁷. */
  readonly counts: Uint32Array<ArrayBuffer>
  readonly codes: Uint32Array<ArrayBuffer>
  readonly lengths: Uint8Array
  readonly #maxLength: number
  readonly #sorted: Uint32Array<ArrayBuffer>
  readonly #weights: Uint32Array<ArrayBuffer>
  readonly #perLength = new Uint32Array(33)

  /** Takes the number of symbols and the maximum length of a code. */
  constructor(symbols: number, maxLength: number) {
    this.counts = new Uint32Array(symbols)
    this.codes = new Uint32Array(symbols)
    this.lengths = new Uint8Array(symbols)
    this.#maxLength = maxLength
    this.#sorted = new Uint32Array(symbols)
    this.#weights = new Uint32Array(symbols)
  }

  /** Computes the code lengths from the counts, and the canonical codes from the lengths. */
  build(): void {
    const { counts, lengths } = this
    const sorted = this.#sorted
    // Symbols are below 2⁹, so count and symbol fit into one number that sorts by count, then by symbol.
    let used = 0
    for (let symbol = 0; symbol < counts.length; symbol++) {
      const count = counts[symbol] ?? 0
      if (count > 0) sorted[used++] = (count << 9) | symbol
    }
    lengths.fill(0)
    if (used === 1) lengths[(sorted[0] ?? 0) & 511] = 1
    if (used > 1) this.#assignLengths(used)
    assignCodes(lengths, this.codes)
  }

  /** Number of bits that the counted symbols take with the given codes. */
  countBits({ codes }: Codes): number {
    const { counts } = this
    let bits = 0
    for (let symbol = 0; symbol < counts.length; symbol++) {
      bits += (counts[symbol] ?? 0) * ((codes[symbol] ?? 0) >>> CODE_BITS)
    }
    return bits
  }

  #assignLengths(used: number): void {
    const { lengths } = this
    const sorted = this.#sorted
    const weights = this.#weights
    const perLength = this.#perLength.fill(0)
    sorted.subarray(0, used).sort()
    for (let i = 0; i < used; i++) weights[i] = (sorted[i] ?? 0) >>> 9
    countLengths(weights, used, perLength, this.#maxLength)
    let rank = used - 1
    for (let length = 1; length <= this.#maxLength; length++) {
      for (let left = perLength[length] ?? 0; left > 0; left--) lengths[(sorted[rank--] ?? 0) & 511] = length
    }
  }
}

/**
 * Counts how many symbols get each code length, from `n` counts in ascending order: the in-place method of Moffat and Katajainen (1995).
 * Lengths above `maxLength` are then shortened until the code is complete again.
 */
function countLengths(weights: Uint32Array, n: number, perLength: Uint32Array, maxLength: number): void {
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
  // The indexes of parents are replaced by depths, from the root down.
  weights[n - 2] = 0
  for (let next = n - 3; next >= 0; next--) weights[next] = (weights[weights[next] ?? 0] ?? 0) + 1
  let available = 1
  let depth = 0
  for (let next = n - 2; available > 0; depth++) {
    let inner = 0
    while (next >= 0 && weights[next] === depth) {
      inner++
      next--
    }
    const length = Math.min(depth, maxLength)
    perLength[length] = (perLength[length] ?? 0) + available - inner
    available = 2 * inner
  }
  limitLengths(perLength, maxLength)
}

/** Turns lengths that were cut to `maxLength` into a complete code: the Kraft sum must be exactly 1. */
function limitLengths(perLength: Uint32Array, maxLength: number): void {
  let sum = 0
  for (let length = 1; length <= maxLength; length++) sum += (perLength[length] ?? 0) << (maxLength - length)
  for (; sum > 1 << maxLength; sum--) {
    let length = maxLength - 1
    while (perLength[length] === 0) length--
    perLength[maxLength] = (perLength[maxLength] ?? 0) - 1
    perLength[length] = (perLength[length] ?? 0) - 1
    perLength[length + 1] = (perLength[length + 1] ?? 0) + 2
  }
}

/** Next code of each length during assignment, in the same memory for every block. */
const NEXT_CODES = new Uint16Array(17)

/** Canonical codes of RFC 1951 section 3.2.2, their bits reversed because a stream takes the lowest bit first. */
function assignCodes(lengths: Uint8Array, codes: Uint32Array): void {
  const next = NEXT_CODES.fill(0)
  for (let symbol = 0; symbol < lengths.length; symbol++) {
    const length = lengths[symbol] ?? 0
    if (length > 0) next[length + 1] = (next[length + 1] ?? 0) + 1
  }
  for (let length = 1; length <= 16; length++) next[length] = ((next[length] ?? 0) + (next[length - 1] ?? 0)) << 1
  // `next[length]` is now the first code of `length`: twice the sum of the first code of `length - 1` and the number of its symbols.
  for (let symbol = 0; symbol < lengths.length; symbol++) {
    const length = lengths[symbol] ?? 0
    const code = next[length] ?? 0
    codes[symbol] = length === 0 ? 0 : (length << CODE_BITS) | reverseBits(code, length)
    if (length > 0) next[length] = code + 1
  }
}

function reverseBits(code: number, length: number): number {
  const reversed = ((REVERSED[code & 0xff] ?? 0) << 8) | (REVERSED[code >>> 8] ?? 0)
  return reversed >>> (16 - length)
}

/** Bytes with their bits reversed. */
const REVERSED = Uint8Array.from({ length: 256 }, (_, byte) =>
  Number.parseInt(byte.toString(2).padStart(8, '0').split('').reverse().join(''), 2),
)

/** Codes whose lengths never change. */
export function fixedCodes(count: number, lengthOf: (symbol: number) => number): Codes {
  const codes = new Uint32Array(count)
  assignCodes(
    Uint8Array.from({ length: count }, (_, symbol) => lengthOf(symbol)),
    codes,
  )
  return { codes }
}
