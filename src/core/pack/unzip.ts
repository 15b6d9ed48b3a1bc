import { Inflate } from 'fflate'
import { CENTRAL, Crc32, END, END_64, LOCATOR_64, MAX_16, MAX_32 } from './zip-format.ts'

/** Random access to the bytes of an archive, so that a large one need not be in memory. */
export interface ZipSource {
  readonly size: number
  /** The bytes `[start, end)`, which lie within the archive. */
  read(start: number, end: number): Uint8Array
}

/** A file inside an archive. */
export interface ZipMember {
  readonly name: string
  readonly size: number
  /** Bytes it takes in the archive. */
  readonly packed: number
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
export function parseZip(source: ZipSource): ZipMember[] {
  try {
    const directory = findDirectory(source)
    const bytes = readWithin(source, directory.start, directory.start + directory.size, 'its directory')
    const view = viewOf(bytes)
    const members: ZipMember[] = []
    for (let at = 0, left = directory.count; left > 0; left--) {
      if (view.getUint32(at, true) !== CENTRAL) throw new ZipError('its directory is damaged')
      const nameEnd = at + 46 + view.getUint16(at + 28, true)
      const extraEnd = nameEnd + view.getUint16(at + 30, true)
      members.push(
        createMember(source, {
          name: new TextDecoder().decode(bytes.subarray(at + 46, nameEnd)),
          flags: view.getUint16(at + 8, true),
          method: view.getUint16(at + 10, true),
          checksum: view.getUint32(at + 16, true),
          packed: view.getUint32(at + 20, true),
          size: view.getUint32(at + 24, true),
          offset: readOffset(viewOf(bytes.subarray(nameEnd, extraEnd)), view.getUint32(at + 42, true)),
        }),
      )
      at = extraEnd + view.getUint16(at + 32, true)
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

function createMember(source: ZipSource, header: Header): ZipMember {
  const { name, size, packed, method } = header
  if ((header.flags & 1) !== 0) throw new ZipError(`${name} is encrypted`)
  if (method !== 0 && method !== 8) throw new ZipError(`${name} is packed with method ${method}`)
  return {
    name,
    size,
    packed,
    *stream() {
      const checksum = new Crc32()
      let length = 0
      for (const piece of method === 0 ? readPacked(source, header) : inflate(name, readPacked(source, header))) {
        checksum.add(piece)
        length += piece.length
        if (length > size) break
        yield piece
      }
      if (length !== size || checksum.value !== header.checksum) throw new ZipError(`${name} is damaged`)
    },
  }
}

const SLICE = 1 << 16

/** The content of an entry as it is stored, piece by piece. */
function* readPacked(source: ZipSource, { name, offset, packed }: Header): Generator<Uint8Array> {
  const local = viewOf(readWithin(source, offset, offset + 30, name))
  const start = offset + 30 + local.getUint16(26, true) + local.getUint16(28, true)
  const end = start + packed
  if (end > source.size) throw new ZipError(`${name} is cut off`)
  for (let at = start; at < end; at += SLICE) yield source.read(at, Math.min(at + SLICE, end))
}

function* inflate(name: string, packed: Iterable<Uint8Array>): Generator<Uint8Array> {
  const ready: Uint8Array[] = []
  const inflater = new Inflate((piece) => ready.push(piece))
  const push = (piece: Uint8Array, isLast: boolean) => {
    try {
      inflater.push(piece, isLast)
    } catch (cause) {
      throw new ZipError(`${name} is damaged`, { cause })
    }
  }
  for (const piece of packed) {
    push(piece, false)
    yield* ready
    ready.length = 0
  }
  push(new Uint8Array(), true)
  yield* ready
}

interface Directory {
  readonly start: number
  readonly size: number
  readonly count: number
}

function findDirectory(source: ZipSource): Directory {
  const lowest = Math.max(0, source.size - 42 - MAX_16)
  const view = viewOf(source.read(lowest, source.size))
  for (let at = view.byteLength - 22; at >= 0; at--) {
    if (view.getUint32(at, true) !== END) continue
    const count = view.getUint16(at + 10, true)
    const size = view.getUint32(at + 12, true)
    const start = view.getUint32(at + 16, true)
    const isPlain = at < 20 || view.getUint32(at - 20, true) !== LOCATOR_64
    if (isPlain || (count !== MAX_16 && start !== MAX_32)) return { start, size, count }
    const place = Number(view.getBigUint64(at - 12, true))
    const end64 = viewOf(readWithin(source, place, place + 56, 'its directory'))
    if (end64.getUint32(0, true) !== END_64) throw new ZipError('its directory is damaged')
    const [entries, bytes, first] = [32, 40, 48].map((field) => Number(end64.getBigUint64(field, true)))
    return { start: first ?? 0, size: bytes ?? 0, count: entries ?? 0 }
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

function readWithin(source: ZipSource, start: number, end: number, what: string): Uint8Array {
  if (end > source.size) throw new ZipError(`${what} is cut off`)
  return source.read(start, end)
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
