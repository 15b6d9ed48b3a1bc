import { Deflate, deflateSync, Inflate } from 'fflate'
import { BlockWriter } from './block-writer.ts'

/** A file to put into an archive. Its content may come in pieces, so that a large one is never held whole. */
export interface ZipEntry {
  readonly name: string
  readonly content: Uint8Array | Iterable<Uint8Array>
  /** Effort of compression, 0 (store) to 9. */
  readonly level: 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9
}

/*
 * Archives are written here, on fflate's deflate, for three reasons together: the same bytes in every runtime and time
 * zone, entries that stream, and more than 65,535 of them (zip64), which a pack of many small chunks needs.
 * Format: APPNOTE.TXT 6.3.10, sections 4.3.7 to 4.3.16.
 */

const LOCAL = 0x04034b50
const DESCRIPTOR = 0x08074b50
const CENTRAL = 0x02014b50
const END = 0x06054b50
const END_64 = 0x06064b50
const LOCATOR_64 = 0x07064b50
/** Sizes follow the content (bit 3); names are UTF-8 (bit 11). */
const FLAGS = 0x0808
/** 1 January 1980, midnight: the earliest time the format can hold, and always the same. */
const DATE = 0x0021
const MAX_16 = 0xffff
const MAX_32 = 0xffffffff

const utf8 = new TextEncoder()

/** Writes an archive piece by piece. The same entries give the same bytes. */
export async function* writeZip(
  entries: AsyncIterable<ZipEntry> | Iterable<ZipEntry>,
): AsyncGenerator<Uint8Array, void, void> {
  const central = new BlockWriter()
  const centralBlocks: Uint8Array[] = []
  let entryCount = 0
  let offset = 0
  for await (const entry of entries) {
    const name = utf8.encode(entry.name)
    const method = entry.level === 0 ? 0 : 8
    const start = offset
    const local = record(
      [LOCAL, 4],
      [20, 2],
      [FLAGS, 2],
      [method, 2],
      [0, 2],
      [DATE, 2],
      [0, 4],
      [0, 4],
      [0, 4],
      [name.length, 2],
      [0, 2],
    )
    yield concat([local, name])
    offset += local.length + name.length
    const checksum = new Crc32()
    let size = 0
    let packed = 0
    for (const piece of compress(entry, (raw) => {
      checksum.add(raw)
      size += raw.length
    })) {
      packed += piece.length
      yield piece
    }
    const isLarge = size >= MAX_32 || packed >= MAX_32
    if (isLarge) throw new RangeError(`Expected ${entry.name} to be below 4 GiB, got ${size} bytes`)
    yield record([DESCRIPTOR, 4], [checksum.value, 4], [packed, 4], [size, 4])
    offset += packed + 16
    const extra = start >= MAX_32 ? record([1, 2], [8, 2], [start, 8]) : new Uint8Array()
    for (const part of [
      record(
        [CENTRAL, 4],
        [45, 2],
        [extra.length === 0 ? 20 : 45, 2],
        [FLAGS, 2],
        [method, 2],
        [0, 2],
        [DATE, 2],
        [checksum.value, 4],
        [packed, 4],
        [size, 4],
        [name.length, 2],
        [extra.length, 2],
        [0, 2],
        [0, 2],
        [0, 2],
        [0, 4],
        [Math.min(start, MAX_32), 4],
      ),
      name,
      extra,
    ]) {
      central.writeBytes(part, 0, part.length)
    }
    if (central.isFull) centralBlocks.push(central.take())
    entryCount++
  }
  const centralStart = offset
  for (const block of [...centralBlocks, central.take()]) {
    yield block
    offset += block.length
  }
  const centralSize = offset - centralStart
  if (entryCount >= MAX_16 || centralStart >= MAX_32 || centralSize >= MAX_32) {
    yield record(
      [END_64, 4],
      [44, 8],
      [45, 2],
      [45, 2],
      [0, 4],
      [0, 4],
      [entryCount, 8],
      [entryCount, 8],
      [centralSize, 8],
      [centralStart, 8],
    )
    yield record([LOCATOR_64, 4], [0, 4], [offset, 8], [1, 4])
  }
  const count = Math.min(entryCount, MAX_16)
  yield record(
    [END, 4],
    [0, 2],
    [0, 2],
    [count, 2],
    [count, 2],
    [Math.min(centralSize, MAX_32), 4],
    [Math.min(centralStart, MAX_32), 4],
    [0, 2],
  )
}

/** A file inside an archive that is being read. */
export interface ZipMember {
  readonly name: string
  readonly size: number
  /** The content in pieces, checked at its end; a reader who stops early leaves the rest packed. */
  stream(): Iterable<Uint8Array>
}

/** Says that bytes are no archive that can be read. */
export class ZipError extends Error {
  override readonly name = 'ZipError'
}

/**
 * Lists the files of an archive by its central directory.
 * @throws {ZipError} when the bytes are no archive, or use encryption or a method other than store and deflate
 */
export function parseZip(bytes: Uint8Array): ZipMember[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  try {
    let { at, count } = findDirectory(view)
    const members: ZipMember[] = []
    for (; count > 0; count--) {
      if (view.getUint32(at, true) !== CENTRAL) throw new ZipError('its directory is damaged')
      const nameLength = view.getUint16(at + 28, true)
      const extraLength = view.getUint16(at + 30, true)
      const name = new TextDecoder().decode(bytes.subarray(at + 46, at + 46 + nameLength))
      const extra = new DataView(bytes.buffer, bytes.byteOffset + at + 46 + nameLength, extraLength)
      members.push(
        createMember(view, bytes, {
          name,
          flags: view.getUint16(at + 8, true),
          method: view.getUint16(at + 10, true),
          checksum: view.getUint32(at + 16, true),
          packed: view.getUint32(at + 20, true),
          size: view.getUint32(at + 24, true),
          offset: readOffset(extra, view.getUint32(at + 42, true)),
        }),
      )
      at += 46 + nameLength + extraLength + view.getUint16(at + 32, true)
    }
    return members
  } catch (error) {
    if (error instanceof RangeError) throw new ZipError('it is cut off or damaged', { cause: error })
    throw error
  }
}

interface Header {
  readonly name: string
  readonly flags: number
  readonly method: number
  readonly checksum: number
  readonly packed: number
  readonly size: number
  readonly offset: number
}

function createMember(view: DataView, bytes: Uint8Array, header: Header): ZipMember {
  const { name, size, method } = header
  if ((header.flags & 1) !== 0) throw new ZipError(`${name} is encrypted`)
  if (method !== 0 && method !== 8) throw new ZipError(`${name} is packed with method ${method}`)
  const packed = () => {
    const { offset } = header
    if (offset + 30 > bytes.length) throw new ZipError(`${name} is cut off`)
    const start = offset + 30 + view.getUint16(offset + 26, true) + view.getUint16(offset + 28, true)
    if (start + header.packed > bytes.length) throw new ZipError(`${name} is cut off`)
    return bytes.subarray(start, start + header.packed)
  }
  return {
    name,
    size,
    stream,
  }

  function* stream(): Generator<Uint8Array> {
    const checksum = new Crc32()
    let length = 0
    for (const piece of method === 0 ? [packed()] : inflate(name, packed())) {
      checksum.add(piece)
      length += piece.length
      if (length > size) break
      yield piece
    }
    if (length !== size || checksum.value !== header.checksum) throw new ZipError(`${name} is damaged`)
  }
}

function* inflate(name: string, packed: Uint8Array): Generator<Uint8Array> {
  const ready: Uint8Array[] = []
  const inflater = new Inflate((piece) => ready.push(piece))
  for (let at = 0; at < packed.length; at += SLICE) {
    try {
      inflater.push(packed.subarray(at, at + SLICE), at + SLICE >= packed.length)
    } catch (cause) {
      throw new ZipError(`${name} is damaged`, { cause })
    }
    yield* ready
    ready.length = 0
  }
}

const SLICE = 1 << 16

function findDirectory(view: DataView): { at: number; count: number } {
  const lowest = Math.max(0, view.byteLength - 22 - MAX_16)
  for (let at = view.byteLength - 22; at >= lowest; at--) {
    if (view.getUint32(at, true) !== END) continue
    const count = view.getUint16(at + 10, true)
    const start = view.getUint32(at + 16, true)
    const isPlain = at < 20 || view.getUint32(at - 20, true) !== LOCATOR_64
    if (isPlain || (count !== MAX_16 && start !== MAX_32)) return { at: start, count }
    const end64 = Number(view.getBigUint64(at - 12, true))
    if (view.getUint32(end64, true) !== END_64) throw new ZipError('its directory is damaged')
    return { at: Number(view.getBigUint64(end64 + 48, true)), count: Number(view.getBigUint64(end64 + 32, true)) }
  }
  throw new ZipError('it is not a zip archive')
}

/** The offset of an entry, from the zip64 field when the plain one is full. */
function readOffset(extra: DataView, offset: number): number {
  if (offset !== MAX_32) return offset
  for (let at = 0; at + 4 <= extra.byteLength; at += 4 + extra.getUint16(at + 2, true)) {
    if (extra.getUint16(at, true) === 1) return Number(extra.getBigUint64(at + 4, true))
  }
  throw new ZipError('its directory is damaged')
}

/** The packed content of an entry; `seen` is told of the content as it goes in. */
function* compress(entry: ZipEntry, seen: (raw: Uint8Array) => void): Generator<Uint8Array> {
  if (entry.content instanceof Uint8Array) {
    seen(entry.content)
    yield entry.level === 0 ? entry.content : deflateSync(entry.content, { level: entry.level })
    return
  }
  if (entry.level === 0) {
    for (const raw of entry.content) {
      seen(raw)
      yield raw
    }
    return
  }
  const ready: Uint8Array[] = []
  const deflater = new Deflate({ level: entry.level }, (piece) => ready.push(piece))
  for (const raw of entry.content) {
    seen(raw)
    deflater.push(raw)
    yield* ready
    ready.length = 0
  }
  deflater.push(new Uint8Array(), true)
  yield* ready
}

/** Little-endian numbers of the given widths, one after another. */
function record(...fields: readonly (readonly [value: number, bytes: number])[]): Uint8Array {
  const bytes = new Uint8Array(fields.reduce((sum, [, width]) => sum + width, 0))
  let at = 0
  for (const [value, width] of fields) {
    let rest = value
    for (let i = 0; i < width; i++) {
      bytes[at++] = rest % 256
      rest = Math.floor(rest / 256)
    }
  }
  return bytes
}

function concat(parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}

/** CRC-32 four bytes at a time (Kounavis and Berry, 2005): archives run to hundreds of megabytes. */
class Crc32 {
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

/** Table `n` takes a byte past `n` more bytes. */
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
