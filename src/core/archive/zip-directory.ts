import { ArchiveError } from './archive-error.ts'
import {
  CENTRAL_HEADER_SIGNATURE,
  END_SIGNATURE,
  LOCAL_HEADER_SIGNATURE,
  MAX_16,
  MAX_32,
  ZIP64_END_SIGNATURE,
  ZIP64_LOCATOR_SIGNATURE,
} from './zip-format.ts'

/*
 * Strict parser of the zip format, used for every archive: APPNOTE.TXT 6.3.10, sections 4.3 to 4.5. The directory at the end lists the
 * members; the header before the content of a member must agree with the directory. Callers read the bytes, from memory or from a disk.
 */

/** A member as the directory lists it. `offset` is the position of its local header. */
export interface CentralDirectoryEntry {
  readonly name: Uint8Array
  readonly flags: number
  readonly method: number
  readonly checksum: number
  readonly compressedSize: number
  readonly size: number
  readonly offset: number
  /** Unix file type and permissions; 0 if the archive was written on another system. */
  readonly mode: number
}

/** Where the directory of an archive is. */
export interface ZipDirectory {
  readonly start: number
  readonly size: number
  readonly count: number
}

/** A step of reading an archive: it requests the bytes `[start, end)` that it needs next. */
export type ZipReading<T> = Generator<readonly [start: number, end: number], T, Uint8Array>

/** The end mark with the longest comment, and the zip64 locator that may precede it. */
const TAIL_BYTES: number = 42 + MAX_16
/** Size of the record that ends a zip64 directory. */
const ZIP64_END_BYTES = 56
/** Size of a local header without its name. */
const LOCAL_HEADER_BYTES = 30
const CENTRAL_HEADER_BYTES = 46

/** Finds the directory of an archive of `size` bytes. Undefined if there is no end mark. */
export function* locateDirectory(size: number): ZipReading<ZipDirectory | undefined> {
  const found = findDirectory(yield [Math.max(0, size - TAIL_BYTES), size])
  if (found === undefined || !('end64' in found)) return found
  return parseZip64End(yield [found.end64, found.end64 + ZIP64_END_BYTES])
}

/**
 * Finds the directory from the last bytes of an archive, before an optional comment. For a zip64 archive it returns the position of the
 * record for {@link parseZip64End} instead.
 */
function findDirectory(tail: Uint8Array): ZipDirectory | { readonly end64: number } | undefined {
  const view = viewOf(tail)
  for (let at = tail.length - 22; at >= 0; at--) {
    // A comment may contain the mark too; the real mark is followed by a comment of the stated length.
    if (view.getUint32(at, true) !== END_SIGNATURE || at + 22 + view.getUint16(at + 20, true) !== tail.length) continue
    const count = view.getUint16(at + 10, true)
    const size = view.getUint32(at + 12, true)
    const start = view.getUint32(at + 16, true)
    const mayBeZip64 = count === MAX_16 || size === MAX_32 || start === MAX_32
    if (!mayBeZip64 || at < 20 || view.getUint32(at - 20, true) !== ZIP64_LOCATOR_SIGNATURE)
      return { start, size, count }
    return { end64: Number(view.getBigUint64(at - 12, true)) }
  }
  return undefined
}

/** Where the directory of a zip64 archive is. */
function parseZip64End(bytes: Uint8Array): ZipDirectory {
  const view = viewOf(bytes)
  if (view.getUint32(0, true) !== ZIP64_END_SIGNATURE) throw new ArchiveError('its directory is damaged')
  const read = (field: number) => Number(view.getBigUint64(field, true))
  return { count: read(32), size: read(40), start: read(48) }
}

/** The members in a directory. @throws {ArchiveError} when it is damaged or does not have `count` members */
export function parseDirectory(bytes: Uint8Array, count: number): CentralDirectoryEntry[] {
  const view = viewOf(bytes)
  const entries: CentralDirectoryEntry[] = []
  let at = 0
  try {
    for (let left = count; left > 0; left--) {
      if (view.getUint32(at, true) !== CENTRAL_HEADER_SIGNATURE) throw new ArchiveError('its directory is damaged')
      const nameEnd = at + CENTRAL_HEADER_BYTES + view.getUint16(at + 28, true)
      const extraEnd = nameEnd + view.getUint16(at + 30, true)
      const end = extraEnd + view.getUint16(at + 32, true)
      if (end > bytes.length) throw new ArchiveError('its directory is cut off')
      entries.push(parseDirectoryEntry(bytes.subarray(at, extraEnd), nameEnd - at))
      at = end
    }
  } catch (error) {
    if (error instanceof RangeError) throw new ArchiveError('its directory is cut off', { cause: error })
    throw error
  }
  // A directory that counts fewer entries than it has would silently lose the others.
  if (at !== bytes.length && !isSigned(view, at)) throw new ArchiveError('its directory is damaged')
  return entries
}

/** Whether only a digital signature follows, APPNOTE.TXT 4.3.13. */
function isSigned(view: DataView, at: number): boolean {
  if (at + 6 > view.byteLength || view.getUint32(at, true) !== DIGITAL_SIGNATURE) return false
  return at + 6 + view.getUint16(at + 4, true) === view.byteLength
}

const DIGITAL_SIGNATURE = 0x05054b50

/** Parses an entry of the directory. Numbers too large for their fields follow the name, in the order in which they are read here. */
function parseDirectoryEntry(entry: Uint8Array, nameEnd: number): CentralDirectoryEntry {
  const view = viewOf(entry)
  const zip64Numbers = largeNumbers(entry.subarray(nameEnd))
  const read = (field: number): number => {
    const value = view.getUint32(field, true)
    return value === MAX_32 ? (zip64Numbers.next().value ?? value) : value
  }
  const size = read(24)
  const compressedSize = read(20)
  const offset = read(42)
  const isUnix = view.getUint8(5) === 3
  return {
    name: entry.slice(CENTRAL_HEADER_BYTES, nameEnd),
    flags: view.getUint16(8, true),
    method: view.getUint16(10, true),
    checksum: view.getUint32(16, true),
    compressedSize,
    size,
    offset,
    mode: isUnix ? view.getUint16(40, true) : 0,
  }
}

function* largeNumbers(extra: Uint8Array): Generator<number, undefined, void> {
  const view = viewOf(extra)
  for (let at = 0; at + 4 <= extra.length; at += 4 + view.getUint16(at + 2, true)) {
    if (view.getUint16(at, true) !== 1) continue
    const end = Math.min(at + 4 + view.getUint16(at + 2, true), extra.length)
    for (let field = at + 4; field + 8 <= end; field += 8) yield Number(view.getBigUint64(field, true))
  }
  return undefined
}

/**
 * Members that share bytes. No ordinary program writes such archives, but a zip bomb turns a few bytes into many files this way
 * (https://www.bamsoftware.com/hacks/zipbomb/).
 */
export function findOverlaps(entries: readonly CentralDirectoryEntry[]): ReadonlySet<CentralDirectoryEntry> {
  const overlapping = new Set<CentralDirectoryEntry>()
  const sorted = entries.toSorted((a, b) => a.offset - b.offset)
  let last: CentralDirectoryEntry | undefined
  for (const entry of sorted) {
    if (last !== undefined && entry.offset < earliestEnd(last)) overlapping.add(last).add(entry)
    if (last === undefined || earliestEnd(entry) >= earliestEnd(last)) last = entry
  }
  return overlapping
}

/** The lowest offset at which a member can end: its local header may have more fields than the directory shows. */
function earliestEnd({ offset, name, compressedSize }: CentralDirectoryEntry): number {
  return offset + LOCAL_HEADER_BYTES + name.length + compressedSize
}

/** Content (bits 0 and 6) or headers (bit 13) are encrypted. */
export const ENCRYPTION_FLAGS = 0x2041

/**
 * Finds the start of the content of a member, by its local header and name. `context` begins the message of an error.
 * @throws {ArchiveError} when the header describes another member than the directory
 */
export function* locateContent(entry: CentralDirectoryEntry, context = ''): ZipReading<number> {
  const header = yield [entry.offset, entry.offset + LOCAL_HEADER_BYTES + entry.name.length]
  const local = viewOf(header)
  if (local.getUint32(0, true) !== LOCAL_HEADER_SIGNATURE || !isSameMember(header, entry)) {
    throw new ArchiveError(`${context}its header and the directory of the archive differ`)
  }
  return entry.offset + LOCAL_HEADER_BYTES + entry.name.length + local.getUint16(28, true)
}

/** Whether the header before a member agrees with the directory. If sizes follow the content (bit 3), the header has none. */
function isSameMember(
  header: Uint8Array,
  { name, flags, method, checksum, compressedSize, size }: CentralDirectoryEntry,
): boolean {
  const local = viewOf(header)
  const localFlags = local.getUint16(6, true)
  const isSame =
    ((localFlags ^ flags) & ENCRYPTION_FLAGS) === 0 &&
    local.getUint16(8, true) === method &&
    local.getUint16(26, true) === name.length &&
    name.every((byte, i) => byte === header[LOCAL_HEADER_BYTES + i])
  if ((localFlags & 8) !== 0) return isSame
  const agrees = (field: number, value: number) => [value, MAX_32].includes(local.getUint32(field, true))
  return isSame && local.getUint32(14, true) === checksum && agrees(18, compressedSize) && agrees(22, size)
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
