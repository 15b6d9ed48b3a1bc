import { createTooLargeError, createTruncatedError } from './archive-error.ts'

/** Reads a stream in chunks of requested sizes. */
export class ByteSource {
  /** Number of bytes read. */
  position = 0
  readonly #chunks: AsyncIterator<Uint8Array>
  readonly #maxBytes: number
  #rest: Uint8Array = new Uint8Array()
  #received = 0

  /** A stream with more than `maxBytes` makes a read fail. */
  constructor(stream: AsyncIterable<Uint8Array>, maxBytes: number = Number.POSITIVE_INFINITY) {
    this.#chunks = stream[Symbol.asyncIterator]()
    this.#maxBytes = maxBytes
  }

  /** Reads the next `size` bytes; fewer only at the end of the stream. */
  async read(size: number): Promise<Uint8Array> {
    const bytes = new Uint8Array(size)
    let length = 0
    while (length < size && (await this.#fill())) {
      const some = this.#take(size - length)
      bytes.set(some, length)
      length += some.length
    }
    return bytes.subarray(0, length)
  }

  /** Reads at least one byte, and at most `maxSize`. */
  async readSome(maxSize: number): Promise<Uint8Array> {
    if (!(await this.#fill())) throw createTruncatedError()
    return this.#take(maxSize)
  }

  async skip(size: number): Promise<void> {
    const end = this.position + size
    while (this.position < end) await this.readSome(end - this.position)
  }

  async drain(): Promise<void> {
    while (await this.#fill()) this.#take(this.#rest.length)
  }

  /** Closes the stream without reading the rest. */
  async close(): Promise<void> {
    await this.#chunks.return?.()
  }

  #take(maxSize: number): Uint8Array {
    const some = this.#rest.subarray(0, maxSize)
    this.#rest = this.#rest.subarray(some.length)
    this.position += some.length
    return some
  }

  async #fill(): Promise<boolean> {
    while (this.#rest.length === 0) {
      const next = await this.#chunks.next()
      if (next.done === true) return false
      this.#rest = next.value
      this.#received += next.value.length
      if (this.#received > this.#maxBytes) throw createTooLargeError(this.#maxBytes)
    }
    return true
  }
}
