import { Inflate } from 'fflate'
import {
  type CentralDirectoryEntry,
  ENCRYPTION_FLAGS,
  findContent,
  findDirectory,
  findOverlaps,
  LOCAL_HEADER_BYTES,
  parseDirectory,
  parseZip64End,
  TAIL_BYTES,
  ZIP64_END_BYTES,
  type ZipDirectory,
  ZipError,
} from './zip-directory.ts'
import { Crc32 } from './zip-format.ts'

/** Random access to the bytes of an archive, so that a large one is not loaded into memory. */
export interface ZipSource {
  readonly size: number
  /** The bytes `[start, end)`, which lie within the archive. */
  read(start: number, end: number): Uint8Array
}

/** A file inside an archive. */
export interface ZipMember {
  readonly name: string
  readonly size: number
  /** Size in the archive in bytes. */
  readonly compressedSize: number
  /** The content in pieces, verified at its end. If a reader stops early, the rest is not decompressed. */
  stream(): Iterable<Uint8Array>
}

/**
 * Lists the files of an archive by its central directory.
 * @throws {ZipError} when the bytes are not an archive, members share bytes, or a member is encrypted or neither stored nor deflated
 */
export function parseZip(source: ZipSource): ZipMember[] {
  const directory = locateDirectory(source)
  const bytes = readWithin(source, directory.start, directory.start + directory.size, 'its directory')
  const entries = parseDirectory(bytes, directory.count)
  const [shared] = findOverlaps(entries)
  if (shared !== undefined) throw new ZipError(`${nameOf(shared)} shares its bytes with other members`)
  return entries.map((entry) => createMember(source, entry))
}

function locateDirectory(source: ZipSource): ZipDirectory {
  const found = findDirectory(source.read(Math.max(0, source.size - TAIL_BYTES), source.size))
  if (found === undefined) throw new ZipError('it is not a zip archive')
  if (!('end64' in found)) return found
  return parseZip64End(readWithin(source, found.end64, found.end64 + ZIP64_END_BYTES, 'its directory'))
}

function nameOf({ name }: CentralDirectoryEntry): string {
  return new TextDecoder().decode(name)
}

function createMember(source: ZipSource, entry: CentralDirectoryEntry): ZipMember {
  const { size, compressedSize, method } = entry
  const name = nameOf(entry)
  if ((entry.flags & ENCRYPTION_FLAGS) !== 0) throw new ZipError(`${name} is encrypted`)
  if (method !== 0 && method !== 8) {
    throw new ZipError(`${name} is compressed with method ${method}, which is not supported`)
  }
  return {
    name,
    size,
    compressedSize,
    *stream() {
      const checksum = new Crc32()
      let length = 0
      const pieces = readCompressed(source, entry, name)
      for (const piece of method === 0 ? pieces : inflate(name, pieces)) {
        checksum.add(piece)
        length += piece.length
        if (length > size) break
        yield piece
      }
      if (length !== size || checksum.value !== entry.checksum) throw new ZipError(`${name} is damaged`)
    },
  }
}

const SLICE_BYTES = 1 << 16

/** The content of an entry as it is in the archive, piece by piece. */
function* readCompressed(source: ZipSource, entry: CentralDirectoryEntry, name: string): Generator<Uint8Array> {
  const { offset, compressedSize } = entry
  const start = locateContent(
    readWithin(source, offset, offset + LOCAL_HEADER_BYTES + entry.name.length, name),
    entry,
    name,
  )
  const end = start + compressedSize
  if (end > source.size) throw new ZipError(`${name} is cut off`)
  for (let at = start; at < end; at += SLICE_BYTES) yield source.read(at, Math.min(at + SLICE_BYTES, end))
}

function locateContent(header: Uint8Array, entry: CentralDirectoryEntry, name: string): number {
  try {
    return findContent(header, entry)
  } catch (cause) {
    throw cause instanceof ZipError ? new ZipError(`${name} is damaged: ${cause.message}`, { cause }) : cause
  }
}

function* inflate(name: string, compressed: Iterable<Uint8Array>): Generator<Uint8Array> {
  const ready: Uint8Array[] = []
  const inflater = new Inflate((piece) => ready.push(piece))
  const push = (piece: Uint8Array, isLast: boolean) => {
    try {
      inflater.push(piece, isLast)
    } catch (cause) {
      throw new ZipError(`${name} is damaged`, { cause })
    }
  }
  for (const piece of compressed) {
    push(piece, false)
    yield* ready
    ready.length = 0
  }
  push(new Uint8Array(), true)
  yield* ready
}

function readWithin(source: ZipSource, start: number, end: number, what: string): Uint8Array {
  if (end > source.size) throw new ZipError(`${what} is cut off`)
  return source.read(start, end)
}
