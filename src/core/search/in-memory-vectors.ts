import { multiplyBytes, readStep, SCALE_BYTES } from './quantized-vector.ts'

const VECTORS_PER_BLOCK = 1024

/** Quantized vectors in memory, one after the other, so that thousands are compared in a millisecond. */
export class InMemoryVectors {
  readonly #dimensions: number
  readonly #blocks: Int8Array[] = []
  readonly #steps: Float32Array[] = []
  #size = 0

  constructor(dimensions: number) {
    this.#dimensions = dimensions
  }

  get size(): number {
    return this.#size
  }

  /** Adds a vector as `quantizeVector` wrote it. */
  add(bytes: Uint8Array): void {
    const index = this.#size++ % VECTORS_PER_BLOCK
    if (index === 0) {
      this.#blocks.push(new Int8Array(VECTORS_PER_BLOCK * this.#dimensions))
      this.#steps.push(new Float32Array(VECTORS_PER_BLOCK))
    }
    const [block, steps] = [this.#blocks.at(-1), this.#steps.at(-1)]
    if (block === undefined || steps === undefined) return
    steps[index] = readStep(bytes)
    block.set(bytes.subarray(SCALE_BYTES, SCALE_BYTES + this.#dimensions), index * this.#dimensions)
  }

  /** The cosine of a vector with the stored one at `index`, identical to the last bit to `compareQuantized`. */
  compare(query: Float32Array, index: number): number {
    const block = this.#blocks[Math.floor(index / VECTORS_PER_BLOCK)]
    if (block === undefined) return Number.NaN
    const start = (index % VECTORS_PER_BLOCK) * this.#dimensions
    return (
      multiplyBytes(query, block, start) *
      (this.#steps[Math.floor(index / VECTORS_PER_BLOCK)]?.[index % VECTORS_PER_BLOCK] ?? 0)
    )
  }
}
