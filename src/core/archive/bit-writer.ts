import { CODE_BITS, type Codes } from './huffman-code.ts'

const CODE_MASK = (1 << CODE_BITS) - 1

/** Collects bits, lowest first, and returns whole bytes. */
export class BitWriter {
  #buffer = new Uint8Array(1 << 16)
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

  writeCode({ codes }: Codes, symbol: number): void {
    const code = codes[symbol] ?? 0
    this.write(code & CODE_MASK, code >>> CODE_BITS)
  }

  /** Writes the codes of a run of bytes. It is optimized separately from `writeCode`, because such runs make up most of a stream. */
  writeBytes(bytes: Uint8Array, start: number, end: number, { codes }: Codes): void {
    // A code has at most 15 bits, and up to 7 are pending.
    const maxLength = this.#length + 2 * (end - start) + 2
    if (maxLength > this.#buffer.length) this.#grow(2 * maxLength)
    const buffer = this.#buffer
    let length = this.#length
    let pending = this.#pending
    let pendingBits = this.#pendingBits
    for (let at = start; at < end; at++) {
      const code = codes[bytes[at] ?? 0] ?? 0
      pending |= (code & CODE_MASK) << pendingBits
      pendingBits += code >>> CODE_BITS
      if (pendingBits >= 16) {
        buffer[length] = pending
        buffer[length + 1] = pending >>> 8
        length += 2
        pending >>>= 16
        pendingBits -= 16
      }
    }
    if (pendingBits >= 8) {
      buffer[length++] = pending
      pending >>>= 8
      pendingBits -= 8
    }
    this.#length = length
    this.#pending = pending
    this.#pendingBits = pendingBits
  }

  /** Fills up the last byte with zeros. */
  align(): void {
    if (this.#pendingBits > 0) this.write(0, 8 - this.#pendingBits)
  }

  /** Writes the lengths and the bytes of a stored block. */
  writeStored(bytes: Uint8Array): void {
    this.align()
    this.write(bytes.length, 16)
    this.write(~bytes.length & 0xffff, 16)
    if (this.#length + bytes.length > this.#buffer.length) this.#grow(2 * (this.#length + bytes.length))
    this.#buffer.set(bytes, this.#length)
    this.#length += bytes.length
  }

  /** A copy of the complete bytes since the last call. */
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
