const BLOCK_BYTES = 1 << 16

/** Collects UTF-8 in one buffer and returns it in blocks, without creating a string or an object for every piece. */
export class BlockWriter {
  readonly #encoder = new TextEncoder()
  #buffer = new Uint8Array(2 * BLOCK_BYTES)
  #length = 0

  /** Whether the buffer holds enough to be taken. */
  get isFull(): boolean {
    return this.#length >= BLOCK_BYTES
  }

  write(text: string): void {
    this.#reserve(text.length * 3)
    this.#length += this.#encoder.encodeInto(text, this.#buffer.subarray(this.#length)).written
  }

  /** Writes bytes of a table that are UTF-8 already. Copies in a loop, because a view of so few bytes costs more than the copy. */
  writeBytes(table: Uint8Array, start: number, length: number): void {
    this.#reserve(length)
    const buffer = this.#buffer
    const at = this.#length
    for (let i = 0; i < length; i++) buffer[at + i] = table[start + i] ?? 0
    this.#length = at + length
  }

  /** Writes many bytes. */
  append(bytes: Uint8Array): void {
    this.#reserve(bytes.length)
    this.#buffer.set(bytes, this.#length)
    this.#length += bytes.length
  }

  /** Writes a whole number that is not negative, in decimal digits. */
  writeNumber(value: number): void {
    this.#reserve(16)
    let end = this.#length + 1
    for (let rest = value; rest >= 10; rest = Math.floor(rest / 10)) end++
    this.#length = end
    for (let rest = value, at = end - 1; at >= end - 16; at--) {
      this.#buffer[at] = 0x30 + (rest % 10)
      rest = Math.floor(rest / 10)
      if (rest === 0) break
    }
  }

  /** A copy of the bytes collected since the last call. */
  take(): Uint8Array {
    const taken = this.#buffer.slice(0, this.#length)
    this.#length = 0
    return taken
  }

  #reserve(bytes: number): void {
    if (this.#length + bytes <= this.#buffer.length) return
    const larger = new Uint8Array(Math.max(2 * this.#buffer.length, this.#length + bytes))
    larger.set(this.#buffer.subarray(0, this.#length))
    this.#buffer = larger
  }
}
