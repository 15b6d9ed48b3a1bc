import { countBitsOfThree } from './count-bits.ts'
import { readSigns, SCALE_BYTES } from './quantized-vector.ts'
import { selectTop } from './top.ts'

/** Vectors that are stored together: one larger array would need twice the memory while it grows. */
const VECTORS_PER_BLOCK = 1024
/** In a large index, the best of this share by their signs alone are compared with the numbers of the query. */
const COARSE_SHARE = 1 / 64
/** Sums for a number of 32 signs: 256 for each byte. */
const TABLE_SIZE = 4 * 0x100
/** Numbers of 32 signs whose differences are counted together. */
const WORDS_AT_ONCE = 3

interface SignBlock {
  readonly signs: Int32Array
  readonly keys: Float64Array
  readonly groups: Uint32Array
}

/**
 * Finds the vectors that are roughly nearest to a query by the signs of their components. One bit per dimension is in memory, and a search
 * among hundreds of thousands of vectors takes milliseconds. The caller compares the exact vectors afterwards.
 */
export class SignIndex {
  readonly #wordsPerVector: number
  readonly #blocks: SignBlock[] = []
  #size = 0

  constructor(dimensions: number) {
    this.#wordsPerVector = WORDS_AT_ONCE * Math.ceil(dimensions / (32 * WORDS_AT_ONCE))
  }

  /** Number of vectors. */
  get size(): number {
    return this.#size
  }

  /** Adds a quantized vector under a key, in a group that a query can leave out. */
  add(key: number, group: number, bytes: Uint8Array): void {
    const index = this.#size++ % VECTORS_PER_BLOCK
    if (index === 0) {
      this.#blocks.push({
        signs: new Int32Array(VECTORS_PER_BLOCK * this.#wordsPerVector),
        keys: new Float64Array(VECTORS_PER_BLOCK),
        groups: new Uint32Array(VECTORS_PER_BLOCK),
      })
    }
    const block = this.#blocks.at(-1)
    if (block === undefined) return
    readSigns(bytes, block.signs, index * this.#wordsPerVector)
    block.keys[index] = key
    block.groups[index] = group
  }

  /** The keys of about `count` vectors that are nearest by their signs, in no particular order. */
  nearest(query: Uint8Array, count: number, isRequested: (group: number) => boolean): number[] {
    return this.nearestPositions(query, count, isRequested).map((position) => this.keyAt(position))
  }

  /** The key of the vector at a position in the order of adding. */
  keyAt(position: number): number {
    return this.#blocks[Math.floor(position / VECTORS_PER_BLOCK)]?.keys[position % VECTORS_PER_BLOCK] ?? 0
  }

  /**
   * The same as `nearest`, but returns the positions of the vectors in the order of adding; ascending. In a large index, the vectors
   * that differ least in their signs are compared with the numbers of the query, which tell more than its signs.
   */
  nearestPositions(query: Uint8Array, count: number, isRequested: (group: number) => boolean): number[] {
    const querySigns = new Int32Array(this.#wordsPerVector)
    readSigns(query, querySigns, 0)
    const distances = new Uint16Array(this.#size)
    const histogram = new Uint32Array(32 * this.#wordsPerVector + 1)
    this.#blocks.forEach((block, i) => {
      const from = i * VECTORS_PER_BLOCK
      measureDistances(block, querySigns, isRequested, distances.subarray(from, from + VECTORS_PER_BLOCK), histogram)
    })
    const coarseCount = Math.max(count, this.#size * COARSE_SHARE)
    let maxDistance = 0
    for (let found = 0; maxDistance < histogram.length; maxDistance++) {
      found += histogram[maxDistance] ?? 0
      if (found >= coarseCount) break
    }
    const positions: number[] = []
    for (let i = 0; i < distances.length; i++) if ((distances[i] ?? EXCLUDED_DISTANCE) <= maxDistance) positions.push(i)
    return coarseCount > count ? this.#selectBySums(query, positions, count) : positions
  }

  /** The positions of the vectors with the greatest sums of the numbers of the query, each with the sign of the vector. */
  #selectBySums(query: Uint8Array, positions: number[], count: number): number[] {
    if (positions.length <= count) return positions
    const tables = createSumTables(query, this.#wordsPerVector)
    const sums = Float64Array.from(positions, (position) => {
      const { signs } = this.#blocks[Math.floor(position / VECTORS_PER_BLOCK)] as SignBlock
      const at = (position % VECTORS_PER_BLOCK) * this.#wordsPerVector
      let sum = 0
      for (let w = 0; w < this.#wordsPerVector; w++) {
        const word = signs[at + w] ?? 0
        const table = w * TABLE_SIZE
        sum +=
          (tables[table + (word & 0xff)] ?? 0) +
          (tables[table + 0x100 + ((word >>> 8) & 0xff)] ?? 0) +
          (tables[table + 0x200 + ((word >>> 16) & 0xff)] ?? 0) +
          (tables[table + 0x300 + (word >>> 24)] ?? 0)
      }
      return sum
    })
    const best = selectTop(Uint32Array.from(positions.keys()), sums, count)
    return best.map((i) => positions[i] ?? 0).sort((a, b) => a - b)
  }
}

/** For each eight dimensions, the sum of the numbers of a query by the eight signs of a vector. */
function createSumTables(query: Uint8Array, words: number): Float64Array {
  const tables = new Float64Array(words * TABLE_SIZE)
  for (let byte = 0; byte < 4 * words; byte++) {
    for (let signs = 0; signs < 0x100; signs++) {
      let sum = 0
      for (let bit = 0; bit < 8; bit++) {
        const number = ((query[SCALE_BYTES + 8 * byte + bit] ?? 0) << 24) >> 24
        sum += (signs & (1 << bit)) === 0 ? number : -number
      }
      tables[byte * 0x100 + signs] = sum
    }
  }
  return tables
}

/** Marks a vector of a group that is not requested; larger than every real distance. */
const EXCLUDED_DISTANCE = 0xffff

/** Counts the signs of each vector of a block that differ from those of a query, and the vectors by this number. */
function measureDistances(
  { signs, groups }: SignBlock,
  querySigns: Int32Array,
  isRequested: (group: number) => boolean,
  distances: Uint16Array,
  histogram: Uint32Array,
): void {
  const words = querySigns.length
  let group = Number.NaN
  let isWanted = false
  for (let i = 0, at = 0; i < distances.length; i++, at += words) {
    const ownGroup = groups[i] ?? 0
    // Vectors added one after the other are mostly in the same group, so the last answer is reused.
    if (ownGroup !== group) isWanted = isRequested(ownGroup)
    group = ownGroup
    if (!isWanted) {
      distances[i] = EXCLUDED_DISTANCE
      continue
    }
    let distance = 0
    for (let w = 0; w < words; w += WORDS_AT_ONCE) {
      const a = (signs[at + w] ?? 0) ^ (querySigns[w] ?? 0)
      const b = (signs[at + w + 1] ?? 0) ^ (querySigns[w + 1] ?? 0)
      const c = (signs[at + w + 2] ?? 0) ^ (querySigns[w + 2] ?? 0)
      distance += countBitsOfThree(a, b, c)
    }
    distances[i] = distance
    histogram[distance] = (histogram[distance] ?? 0) + 1
  }
}
