const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Copying so few bytes in a loop takes less time than the object for a part of an array. */
const MAX_LOOPED_BYTES = 64

/** A buffer that grows as numbers are written to it, seven bits a byte, lowest first (LEB128). */
export class ByteWriter {
  #bytes: Uint8Array<ArrayBuffer>
  #length = 0

  constructor(capacity = 1024) {
    this.#bytes = new Uint8Array(capacity)
  }

  get length(): number {
    return this.#length
  }

  /** The buffer itself, valid up to `length` and until the next write. */
  get buffer(): Uint8Array {
    return this.#bytes
  }

  /** Clears the content and keeps the buffer. */
  clear(): void {
    this.#length = 0
  }

  writeNumber(value: number): void {
    if (this.#length + 8 > this.#bytes.length) this.#reserve(8)
    const bytes = this.#bytes
    let rest = value
    while (rest > 0x7f) {
      bytes[this.#length++] = (rest & 0x7f) | 0x80
      rest = rest > 0x7fffffff ? Math.floor(rest / 128) : rest >>> 7
    }
    bytes[this.#length++] = rest
  }

  /** Copies some numbers from where another writer wrote them, and returns where the next one is. */
  copyNumbers(source: Uint8Array, from: number, count: number): number {
    let position = from
    for (let left = count; left > 0; ) {
      if (this.#length === this.#bytes.length) this.#reserve(1)
      const byte = source[position++] ?? 0
      this.#bytes[this.#length++] = byte
      if (byte < 0x80) left--
    }
    return position
  }

  writeBytes(source: Uint8Array, start = 0, end: number = source.length): void {
    this.#reserve(end - start)
    if (end - start > MAX_LOOPED_BYTES) {
      this.#bytes.set(source.subarray(start, end), this.#length)
      this.#length += end - start
      return
    }
    const bytes = this.#bytes
    let at = this.#length
    for (let i = start; i < end; i++) bytes[at++] = source[i] ?? 0
    this.#length = at
  }

  writeText(text: string): void {
    const encoded = encoder.encode(text)
    this.writeNumber(encoded.length)
    this.writeBytes(encoded)
  }

  /** A copy of the written bytes, in an array of its own. */
  toBytes(): Uint8Array<ArrayBuffer> {
    return this.#bytes.slice(0, this.#length)
  }

  #reserve(count: number): void {
    if (this.#length + count <= this.#bytes.length) return
    const grown = new Uint8Array(Math.max(this.#length + count, Math.ceil(this.#bytes.length * 1.5)))
    grown.set(this.#bytes.subarray(0, this.#length))
    this.#bytes = grown
  }
}

/** Stored bytes that cannot be read. */
export class DecodeError extends RangeError {
  override readonly name = 'DecodeError'
}

/** Reads the output of a `ByteWriter`. Throws a `DecodeError` when the bytes end too early. */
export class ByteReader {
  readonly #bytes: Uint8Array
  #position = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  get remaining(): number {
    return this.#bytes.length - this.#position
  }

  readNumber(): number {
    let value = 0
    let scale = 1
    for (;;) {
      const byte = this.#bytes[this.#position++]
      if (byte === undefined || scale > 2 ** 49) throw new DecodeError('unexpected end of bytes')
      value += (byte & 0x7f) * scale
      if (byte < 0x80) return value
      scale *= 128
    }
  }

  /**
   * Reads the number of items that follow. Each item takes at least one byte, so a count above the remaining bytes is rejected before
   * memory is allocated for it.
   */
  readCount(): number {
    const count = this.readNumber()
    if (count > this.remaining) throw new DecodeError('unexpected end of bytes')
    return count
  }

  /** Fills an array with the next numbers. */
  readNumbers(target: Float64Array | Uint32Array): void {
    const bytes = this.#bytes
    let position = this.#position
    for (let i = 0; i < target.length; i++) {
      let byte = bytes[position++] ?? 0
      let value = byte & 0x7f
      for (let scale = 128; byte > 0x7f; scale *= 128) {
        byte = bytes[position++] ?? 0
        value += (byte & 0x7f) * scale
      }
      target[i] = value
    }
    if (position > bytes.length) throw new DecodeError('unexpected end of bytes')
    this.#position = position
  }

  readBytes(count: number): Uint8Array {
    if (count > this.remaining) throw new DecodeError('unexpected end of bytes')
    this.#position += count
    return this.#bytes.subarray(this.#position - count, this.#position)
  }

  /** Skips `count` bytes and returns their start. */
  skip(count: number): number {
    if (count > this.remaining) throw new DecodeError('unexpected end of bytes')
    this.#position += count
    return this.#position - count
  }

  readText(): string {
    return decoder.decode(this.readBytes(this.readNumber()))
  }
}

/** A copy of an array with another length. */
export function resize(array: Uint32Array<ArrayBuffer>, length: number): Uint32Array<ArrayBuffer> {
  const resized = new Uint32Array(length)
  resized.set(array.subarray(0, length))
  return resized
}
