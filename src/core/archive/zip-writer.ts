import { BlockWriter } from '../text/block-writer.ts'
import { Deflater } from './deflate.ts'
import {
  CENTRAL_HEADER_SIGNATURE,
  Crc32,
  DATA_DESCRIPTOR_SIGNATURE,
  DOS_EPOCH_DATE,
  END_SIGNATURE,
  ENTRY_FLAGS,
  LOCAL_HEADER_SIGNATURE,
  MAX_16,
  MAX_32,
  ZIP64_END_SIGNATURE,
  ZIP64_LOCATOR_SIGNATURE,
} from './zip-format.ts'

/** A file to put into an archive. Its content may come in pieces, so that a large one is never in memory as a whole. */
export interface ZipEntry {
  readonly name: string
  readonly content: Uint8Array | Iterable<Uint8Array>
  /** Whether the content is stored without compression, because it is compressed already. @default false */
  readonly isStored?: boolean
}

/*
 * No library writes archives as a pack needs them: the same bytes in every runtime and time zone, entries that stream, and more than 65,535
 * entries (zip64) for many small chunks.
 */

const utf8 = new TextEncoder()

/** Writes an archive piece by piece, for any number of small entries. The same entries give the same bytes. */
export async function* writeZip(
  entries: AsyncIterable<ZipEntry> | Iterable<ZipEntry>,
): AsyncGenerator<Uint8Array, void, void> {
  const out = new BlockWriter()
  const central = new BlockWriter()
  const centralBlocks: Uint8Array[] = []
  const deflater = new Deflater()
  let entryCount = 0
  let offset = 0
  for await (const entry of entries) {
    const name = utf8.encode(entry.name)
    const method = entry.isStored ? 0 : 8
    const start = offset
    const localHeader = writeLocalHeader(name, method)
    out.append(localHeader)
    out.append(name)
    offset += localHeader.length + name.length
    const checksum = new Crc32()
    let size = 0
    let compressedSize = 0
    for (const piece of compress(entry, deflater, (raw) => {
      checksum.add(raw)
      size += raw.length
    })) {
      compressedSize += piece.length
      out.append(piece)
      if (out.isFull) yield out.take()
    }
    const isLarge = size >= MAX_32 || compressedSize >= MAX_32
    if (isLarge) throw new RangeError(`Expected ${entry.name} to be below 4 GiB, got ${size} bytes`)
    out.append(record([DATA_DESCRIPTOR_SIGNATURE, 4], [checksum.value, 4], [compressedSize, 4], [size, 4]))
    offset += compressedSize + 16
    const crc = checksum.value
    for (const part of writeCentralHeader({ name, method, crc, compressedSize, size, start })) central.append(part)
    if (central.isFull) centralBlocks.push(central.take())
    entryCount++
  }
  yield out.take()
  const centralStart = offset
  for (const block of [...centralBlocks, central.take()]) {
    yield block
    offset += block.length
  }
  yield* writeEnd(entryCount, centralStart, offset)
}

function writeLocalHeader(name: Uint8Array, method: number): Uint8Array {
  return record(
    [LOCAL_HEADER_SIGNATURE, 4],
    [20, 2],
    [ENTRY_FLAGS, 2],
    [method, 2],
    [0, 2],
    [DOS_EPOCH_DATE, 2],
    [0, 4],
    [0, 4],
    [0, 4],
    [name.length, 2],
    [0, 2],
  )
}

/** An entry of the central directory. */
interface CentralEntry {
  readonly name: Uint8Array
  readonly method: number
  readonly crc: number
  readonly compressedSize: number
  readonly size: number
  /** Offset of the entry in the archive. */
  readonly start: number
}

function writeCentralHeader({ name, method, crc, compressedSize, size, start }: CentralEntry): Uint8Array[] {
  const extra = start >= MAX_32 ? record([1, 2], [8, 2], [start, 8]) : new Uint8Array()
  const centralHeader = record(
    [CENTRAL_HEADER_SIGNATURE, 4],
    [45, 2],
    [extra.length === 0 ? 20 : 45, 2],
    [ENTRY_FLAGS, 2],
    [method, 2],
    [0, 2],
    [DOS_EPOCH_DATE, 2],
    [crc, 4],
    [compressedSize, 4],
    [size, 4],
    [name.length, 2],
    [extra.length, 2],
    [0, 2],
    [0, 2],
    [0, 2],
    [0, 4],
    [Math.min(start, MAX_32), 4],
  )
  return [centralHeader, name, extra]
}

/** Writes the end of the archive after the central directory, which ends at `offset`. */
function* writeEnd(entryCount: number, centralStart: number, offset: number): Generator<Uint8Array> {
  const centralSize = offset - centralStart
  if (entryCount >= MAX_16 || centralStart >= MAX_32 || centralSize >= MAX_32) {
    yield record(
      [ZIP64_END_SIGNATURE, 4],
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
    yield record([ZIP64_LOCATOR_SIGNATURE, 4], [0, 4], [offset, 8], [1, 4])
  }
  const count = Math.min(entryCount, MAX_16)
  yield record(
    [END_SIGNATURE, 4],
    [0, 2],
    [0, 2],
    [count, 2],
    [count, 2],
    [Math.min(centralSize, MAX_32), 4],
    [Math.min(centralStart, MAX_32), 4],
    [0, 2],
  )
}

/** The compressed content of an entry; `onPiece` receives each piece before it is compressed. */
function* compress(entry: ZipEntry, deflater: Deflater, onPiece: (raw: Uint8Array) => void): Generator<Uint8Array> {
  for (const raw of entry.content instanceof Uint8Array ? [entry.content] : entry.content) {
    onPiece(raw)
    yield entry.isStored ? raw : deflater.push(raw)
  }
  if (!entry.isStored) yield deflater.finish()
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
