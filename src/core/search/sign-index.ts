import { countBits } from './count-bits.ts'
import { readSigns } from './quantized-vector.ts'

/**
 * Finds the vectors that are roughly nearest to a query by the signs of their components. One bit per dimension is in memory, and a search
 * among hundreds of thousands of vectors takes milliseconds. The caller compares the exact vectors afterwards.
 */
export class SignIndex {
  readonly #wordsPerVector: number
  #signs = new Int32Array(0)
  #keys: number[] = []
  #groups: number[] = []

  constructor(dimensions: number) {
    this.#wordsPerVector = Math.ceil(dimensions / 32)
  }

  /** Number of vectors. */
  get size(): number {
    return this.#keys.length
  }

  /** Adds a quantized vector under a key, in a group that a query can leave out. */
  add(key: number, group: number, bytes: Uint8Array): void {
    const start = this.#keys.length * this.#wordsPerVector
    if (start + this.#wordsPerVector > this.#signs.length) {
      const larger = new Int32Array(Math.max(64 * this.#wordsPerVector, 2 * this.#signs.length))
      larger.set(this.#signs)
      this.#signs = larger
    }
    readSigns(bytes, this.#signs, start)
    this.#keys.push(key)
    this.#groups.push(group)
  }

  /** The keys of about `count` vectors that are nearest by their signs, in no particular order. */
  nearest(query: Uint8Array, count: number, isRequested: (group: number) => boolean): number[] {
    return this.nearestPositions(query, count, isRequested).map((position) => this.keyAt(position))
  }

  /** The key of the vector at a position in the order of adding. */
  keyAt(position: number): number {
    return this.#keys[position] ?? 0
  }

  /** The same as `nearest`, but returns the positions of the vectors in the order of adding; ascending. */
  nearestPositions(query: Uint8Array, count: number, isRequested: (group: number) => boolean): number[] {
    const words = this.#wordsPerVector
    const querySigns = new Int32Array(words)
    readSigns(query, querySigns, 0)
    const distances = new Uint16Array(this.size)
    const histogram = new Uint32Array(32 * words + 1)
    const signs = this.#signs
    let group = Number.NaN
    let isWanted = false
    for (let i = 0, at = 0; i < distances.length; i++, at += words) {
      const ownGroup = this.#groups[i] ?? 0
      // Vectors added one after the other are mostly in the same group, so the last answer is reused.
      if (ownGroup !== group) isWanted = isRequested(ownGroup)
      group = ownGroup
      if (!isWanted) {
        distances[i] = EXCLUDED_DISTANCE
        continue
      }
      let distance = 0
      for (let w = 0; w < words; w++) distance += countBits((signs[at + w] ?? 0) ^ (querySigns[w] ?? 0))
      distances[i] = distance
      histogram[distance] = (histogram[distance] ?? 0) + 1
    }
    let maxDistance = 0
    for (let found = 0; maxDistance < histogram.length; maxDistance++) {
      found += histogram[maxDistance] ?? 0
      if (found >= count) break
    }
    const positions: number[] = []
    for (let i = 0; i < distances.length; i++) if ((distances[i] ?? EXCLUDED_DISTANCE) <= maxDistance) positions.push(i)
    return positions
  }
}

/** Marks a vector of a group that is not requested; larger than every real distance. */
const EXCLUDED_DISTANCE = 0xffff
