import { countBits } from './count-bits.ts'
import { readSigns } from './quantized-vector.ts'

/**
 * Finds roughly which of many vectors are nearest to a query, by the signs of their numbers: one bit a dimension in memory, and
 * milliseconds for hundreds of thousands. Whoever asks compares the vectors themselves afterwards.
 */
export class SignIndex {
  readonly #words: number
  #signs = new Int32Array(0)
  #keys: number[] = []
  #groups: number[] = []

  constructor(dimensions: number) {
    this.#words = Math.ceil(dimensions / 32)
  }

  /** Number of vectors. */
  get size(): number {
    return this.#keys.length
  }

  /** Adds a quantized vector under a key that it is asked for by, in a group that can be left out. */
  add(key: number, group: number, bytes: Uint8Array): void {
    const start = this.#keys.length * this.#words
    if (start + this.#words > this.#signs.length) {
      const larger = new Int32Array(Math.max(64 * this.#words, 2 * this.#signs.length))
      larger.set(this.#signs)
      this.#signs = larger
    }
    readSigns(bytes, this.#signs, start)
    this.#keys.push(key)
    this.#groups.push(group)
  }

  /** The keys of about so many vectors that are nearest by their signs, in no particular order. */
  nearest(query: Uint8Array, count: number, isAsked: (group: number) => boolean): number[] {
    const words = this.#words
    const asked = new Int32Array(words)
    readSigns(query, asked, 0)
    const distances = new Uint16Array(this.size)
    const histogram = new Uint32Array(32 * words + 1)
    for (let i = 0, at = 0; i < distances.length; i++, at += words) {
      let distance = 0
      for (let w = 0; w < words; w++) distance += countBits((this.#signs[at + w] ?? 0) ^ (asked[w] ?? 0))
      distances[i] = distance
      if (isAsked(this.#groups[i] ?? 0)) histogram[distance] = (histogram[distance] ?? 0) + 1
      else distances[i] = FAR
    }
    let limit = 0
    for (let found = 0; limit < histogram.length; limit++) {
      found += histogram[limit] ?? 0
      if (found >= count) break
    }
    return this.#keys.filter((_, i) => (distances[i] ?? FAR) <= limit)
  }
}

/** Farther than any vector can be. */
const FAR = 0xffff
