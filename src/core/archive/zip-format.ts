/* The parts of the format that the writer and the reader of archives share: APPNOTE.TXT 6.3.10, sections 4.3.7 to 4.3.16. */

/** Signature of a local header. */
export const LOCAL_HEADER_SIGNATURE = 0x04034b50
/** Signature of the sizes after an entry. */
export const DATA_DESCRIPTOR_SIGNATURE = 0x08074b50
/** Signature of an entry of the directory. */
export const CENTRAL_HEADER_SIGNATURE = 0x02014b50
/** Signature of the end of the directory. */
export const END_SIGNATURE = 0x06054b50
/** Signature of the end of a zip64 directory. */
export const ZIP64_END_SIGNATURE = 0x06064b50
/** Signature of the locator, which has the position of the end of a zip64 directory. */
export const ZIP64_LOCATOR_SIGNATURE = 0x07064b50
/** Sizes follow the content (bit 3); names are UTF-8 (bit 11). */
export const ENTRY_FLAGS = 0x0808
/** 1 January 1980, midnight: the earliest time of the format. A fixed time gives the same bytes every time. */
export const DOS_EPOCH_DATE = 0x0021
/** The value of a 16-bit field whose real value is elsewhere. */
export const MAX_16 = 0xffff
/** The value of a 32-bit field whose real value is elsewhere. */
export const MAX_32 = 0xffffffff

/** CRC-32 four bytes at a time (Kounavis and Berry, 2005): archives run to hundreds of megabytes. */
export class Crc32 {
  #state = 0xffffffff

  add(bytes: Uint8Array): void {
    const [table0, table1, table2, table3] = CRC_TABLES
    const whole = bytes.length - (bytes.length % 4)
    let state = this.#state
    for (let i = 0; i < whole; i += 4) {
      state ^= (bytes[i] ?? 0) | ((bytes[i + 1] ?? 0) << 8) | ((bytes[i + 2] ?? 0) << 16) | ((bytes[i + 3] ?? 0) << 24)
      state =
        (table3[state & 0xff] ?? 0) ^
        (table2[(state >>> 8) & 0xff] ?? 0) ^
        (table1[(state >>> 16) & 0xff] ?? 0) ^
        (table0[state >>> 24] ?? 0)
    }
    for (let i = whole; i < bytes.length; i++) {
      state = (table0[(state ^ (bytes[i] ?? 0)) & 0xff] ?? 0) ^ (state >>> 8)
    }
    this.#state = state
  }

  get value(): number {
    return (this.#state ^ 0xffffffff) >>> 0
  }
}

/** Table `n` has the effect of a byte on the checksum after `n` more bytes. */
const CRC_TABLES = createCrcTables()

function createCrcTables(): [Int32Array, Int32Array, Int32Array, Int32Array] {
  const first = Int32Array.from({ length: 256 }, (_, byte) => {
    let value = byte
    for (let bit = 0; bit < 8; bit++) value = value & 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1
    return value
  })
  const next = (table: Int32Array) => table.map((value) => (first[value & 0xff] ?? 0) ^ (value >>> 8))
  const second = next(first)
  const third = next(second)
  return [first, second, third, next(third)]
}
