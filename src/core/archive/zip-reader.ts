import { Inflate } from 'fflate'
import { ArchiveError } from './archive-error.ts'
import {
  type CentralDirectoryEntry,
  ENCRYPTION_FLAGS,
  findOverlaps,
  locateContent,
  locateDirectory,
  parseDirectory,
  type ZipReading,
} from './zip-directory.ts'
import { Crc32 } from './zip-format.ts'

/** Random access to the bytes of an archive, so that a large one is not loaded into memory. */
export interface ZipSource {
  readonly size: number
  /** The bytes `[start, end)`, which lie within the archive. */
  read(start: number, end: number): Uint8Array
}

/** The source of an archive that is in memory. */
export function memorySource(bytes: Uint8Array): ZipSource {
  return { size: bytes.length, read: (start, end) => bytes.subarray(start, end) }
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
 * @throws {ArchiveError} when the bytes are not an archive, members share bytes, or a member is encrypted or neither stored nor deflated
 */
export function parseZip(source: ZipSource): ZipMember[] {
  const entries = read(source, listEntries(source.size), 'its directory')
  const [shared] = findOverlaps(entries)
  if (shared !== undefined) throw new ArchiveError(`${nameOf(shared)} shares its bytes with other members`)
  return entries.map((entry) => createMember(source, entry))
}

function* listEntries(size: number): ZipReading<CentralDirectoryEntry[]> {
  const directory = yield* locateDirectory(size)
  if (directory === undefined) throw new ArchiveError('it is not a zip archive')
  return parseDirectory(yield [directory.start, directory.start + directory.size], directory.count)
}

function nameOf({ name }: CentralDirectoryEntry): string {
  return new TextDecoder().decode(name)
}

function createMember(source: ZipSource, entry: CentralDirectoryEntry): ZipMember {
  const { size, compressedSize, method } = entry
  const name = nameOf(entry)
  if ((entry.flags & ENCRYPTION_FLAGS) !== 0) throw new ArchiveError(`${name} is encrypted`, { isEncrypted: true })
  if (method !== 0 && method !== 8) {
    throw new ArchiveError(`${name} is compressed with method ${method}, which is not supported`)
  }
  return {
    name,
    size,
    compressedSize,
    *stream() {
      const start = read(source, locateContent(entry, `${name} is damaged: `), name)
      const end = start + compressedSize
      if (end > source.size) throw new ArchiveError(`${name} is cut off`)
      yield* unpackMember(entry, readSlices(source, start, end), `${name} is damaged`)
    },
  }
}

/** Reads at once; `what` names the part of the archive in messages. */
function read<T>(source: ZipSource, reading: ZipReading<T>, what: string): T {
  let step = reading.next()
  while (step.done !== true) {
    const [start, end] = step.value
    if (end > source.size) throw new ArchiveError(`${what} is cut off`)
    step = reading.next(source.read(start, end))
  }
  return step.value
}

const SLICE_BYTES = 1 << 16

/** The bytes `[start, end)` in slices: however well they are compressed, an unpacked slice fits into memory. */
function* readSlices(source: ZipSource, start: number, end: number): Generator<Uint8Array> {
  for (let at = start; at < end; at += SLICE_BYTES) yield source.read(at, Math.min(at + SLICE_BYTES, end))
}

/** Unpacks the content of a member, and throws an error with the message `problem` if it differs from the directory. */
function* unpackMember(
  { method, size, checksum }: CentralDirectoryEntry,
  compressed: Iterable<Uint8Array>,
  problem: string,
): Generator<Uint8Array> {
  const found = new Crc32()
  let length = 0
  for (const piece of method === 0 ? compressed : inflate(compressed, problem)) {
    found.add(piece)
    length += piece.length
    if (length > size) break
    yield piece
  }
  if (length !== size || found.value !== checksum) throw new ArchiveError(problem)
}

/** The decompressor of the platform, for members that are in memory. */
export interface Decompressor {
  /** Inflates, and throws if the data is damaged or unpacks to more than `maxBytes`. */
  inflate(packed: Uint8Array, maxBytes: number): Promise<Uint8Array>
  crc32(content: Uint8Array): number
}

/** Unpacks a member in memory, with the checks of {@link unpackMember}. */
export async function unpackWhole(
  entry: CentralDirectoryEntry,
  packed: Uint8Array,
  problem: string,
  decompressor: Decompressor,
): Promise<Uint8Array> {
  const isPacked = entry.method !== 0 && packed.length > 0
  const content = isPacked
    ? await decompressor.inflate(packed, entry.size).catch((cause: unknown) => {
        throw new ArchiveError(problem, { cause })
      })
    : packed
  const isIntact = content.length === entry.size && decompressor.crc32(content) === entry.checksum
  if (!isIntact) throw new ArchiveError(problem)
  return content
}

function* inflate(compressed: Iterable<Uint8Array>, problem: string): Generator<Uint8Array> {
  const ready: Uint8Array[] = []
  const inflater = new Inflate((piece) => ready.push(piece))
  const push = (piece: Uint8Array, isLast: boolean) => {
    try {
      inflater.push(piece, isLast)
    } catch (cause) {
      throw new ArchiveError(problem, { cause })
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
