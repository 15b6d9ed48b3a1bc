import { promisify } from 'node:util'
import { crc32, inflateRaw } from 'node:zlib'
import { CENTRAL, END, END_64, LOCAL, LOCATOR_64, MAX_16, MAX_32 } from '../core/pack/zip-format.ts'
import type { Refusal } from '../crawl/ledger.ts'
import { type OpenFile, readAt } from './archive-file.ts'
import {
  ArchiveError,
  type ArchiveLimits,
  cutOff,
  type FoundMember,
  MemberError,
  MemberList,
  READ_ARCHIVES,
  refuse,
  tooLarge,
  UNSUSPICIOUS_BYTES,
} from './archive-members.ts'

/*
 * The format: APPNOTE.TXT 6.3.10, sections 4.3 to 4.5. The directory at the end says what there is; the header before the content of a
 * member has to say the same.
 */

/** Where the content of a member is, and what the directory says of it. */
export interface ZipPlace {
  readonly name: Uint8Array
  readonly flags: number
  readonly method: number
  readonly checksum: number
  readonly packed: number
  readonly size: number
  readonly offset: number
  /** Type and rights of a file as Unix has them; 0 where another system wrote the archive. */
  readonly mode: number
}

/** Bytes in the directory for a member, beyond its name: more would be comments. */
const DIRECTORY_BYTES_EACH = 256
const CENTRAL_BYTES = 46
const LOCAL_BYTES = 30

const inflate = promisify<Uint8Array, { maxOutputLength: number }, Buffer>(inflateRaw)

/** Lists the members of a zip archive. @throws {ArchiveError} when it is none, is cut off, damaged or larger than allowed */
export async function readZipDirectory(file: OpenFile, limits: ArchiveLimits): Promise<MemberList<ZipPlace>> {
  const directory = await findDirectory(file)
  const list = new MemberList<ZipPlace>(limits)
  // Before anything is read: a directory may tell of as many as it likes.
  new MemberList<ZipPlace>(limits).count(directory.count)
  if (directory.size > limits.maxEntries * DIRECTORY_BYTES_EACH) throw new ArchiveError('its directory is too large')
  const places = parseDirectory(await readAt(file, directory.start, directory.size), directory.count)
  const total = places.reduce((sum, { size }) => sum + size, 0)
  if (total > limits.maxBytes) throw tooLarge(limits.maxBytes)
  const overlapping = findOverlaps(places)
  for (const place of places) {
    const found = overlapping.has(place)
      ? ({ type: 'refused', refusal: refuse('damaged', 'shares its bytes with other members') } as const)
      : judgeMember(place, limits)
    list.add(place.name, found)
  }
  return list
}

/** The content of a member, checked. @throws {MemberError} when it is not what the directory says */
export async function readZipMember(file: OpenFile, place: ZipPlace): Promise<Uint8Array> {
  const { name, method, packed, size, checksum, offset } = place
  const header = await readAt(file, offset, LOCAL_BYTES + name.length).catch(becomeMemberError)
  const local = viewOf(header)
  if (local.getUint32(0, true) !== LOCAL || !isSameMember(header, place)) {
    throw new MemberError('its header and the directory of the archive differ')
  }
  const start = offset + LOCAL_BYTES + name.length + local.getUint16(28, true)
  const bytes = await readAt(file, start, packed).catch(becomeMemberError)
  const content = method === 0 ? bytes : await unpack(bytes, size)
  if (content.length !== size || crc32(content) !== checksum) throw new MemberError('its content is damaged')
  return content
}

/** Whether the header before a member tells of the same. Where sizes follow the content (bit 3), it has none. */
function isSameMember(header: Uint8Array, { name, flags, method, checksum, packed, size }: ZipPlace): boolean {
  const local = viewOf(header)
  const localFlags = local.getUint16(6, true)
  const isSame =
    ((localFlags ^ flags) & ENCRYPTED) === 0 &&
    local.getUint16(8, true) === method &&
    local.getUint16(26, true) === name.length &&
    Buffer.from(name).equals(header.subarray(LOCAL_BYTES))
  if ((localFlags & 8) !== 0) return isSame
  const told = (field: number, value: number) => [value, MAX_32].includes(local.getUint32(field, true))
  return isSame && local.getUint32(14, true) === checksum && told(18, packed) && told(22, size)
}

async function unpack(bytes: Uint8Array, size: number): Promise<Uint8Array> {
  try {
    return await inflate(bytes, { maxOutputLength: Math.max(size, 1) })
  } catch (cause) {
    throw new MemberError('its content is damaged', { cause })
  }
}

function becomeMemberError(error: unknown): never {
  throw error instanceof ArchiveError ? new MemberError(error.message, { cause: error }) : error
}

interface Directory {
  readonly start: number
  readonly size: number
  readonly count: number
}

/** Where the directory is: told at the end of the archive, before a comment that may be there. */
async function findDirectory(file: OpenFile): Promise<Directory> {
  const lowest = Math.max(0, file.size - 42 - MAX_16)
  const bytes = await readAt(file, lowest, file.size - lowest)
  const view = viewOf(bytes)
  for (let at = bytes.length - 22; at >= 0; at--) {
    // A comment may hold the mark as well; the one that is meant is followed by the comment it tells of.
    if (view.getUint32(at, true) !== END || at + 22 + view.getUint16(at + 20, true) !== bytes.length) continue
    const count = view.getUint16(at + 10, true)
    const size = view.getUint32(at + 12, true)
    const start = view.getUint32(at + 16, true)
    const isFull = count === MAX_16 || size === MAX_32 || start === MAX_32
    if (!isFull || at < 20 || view.getUint32(at - 20, true) !== LOCATOR_64) return { start, size, count }
    return readEnd64(await readAt(file, Number(view.getBigUint64(at - 12, true)), 56))
  }
  // One that is cut off has lost its end.
  const isBegun = file.size >= 4 && viewOf(await readAt(file, 0, 4)).getUint32(0, true) === LOCAL
  throw isBegun ? cutOff() : new ArchiveError('it is no zip archive', { advice: READ_ARCHIVES })
}

function readEnd64(bytes: Uint8Array): Directory {
  const view = viewOf(bytes)
  if (view.getUint32(0, true) !== END_64) throw new ArchiveError('its directory is damaged')
  const read = (field: number) => Number(view.getBigUint64(field, true))
  return { count: read(32), size: read(40), start: read(48) }
}

function parseDirectory(bytes: Uint8Array, count: number): ZipPlace[] {
  const view = viewOf(bytes)
  const places: ZipPlace[] = []
  let at = 0
  try {
    for (let left = count; left > 0; left--) {
      if (view.getUint32(at, true) !== CENTRAL) throw new ArchiveError('its directory is damaged')
      const nameEnd = at + CENTRAL_BYTES + view.getUint16(at + 28, true)
      const extraEnd = nameEnd + view.getUint16(at + 30, true)
      const end = extraEnd + view.getUint16(at + 32, true)
      if (end > bytes.length) throw new ArchiveError('its directory is cut off')
      places.push(parsePlace(bytes.subarray(at, extraEnd), nameEnd - at))
      at = end
    }
  } catch (error) {
    if (error instanceof RangeError) throw new ArchiveError('its directory is cut off', { cause: error })
    throw error
  }
  // What is told to be less than there is would be lost without a word.
  if (at !== bytes.length && !isSigned(view, at)) throw new ArchiveError('its directory is damaged')
  return places
}

/** Whether a digital signature is all that follows, APPNOTE.TXT 4.3.13. */
function isSigned(view: DataView, at: number): boolean {
  if (at + 6 > view.byteLength || view.getUint32(at, true) !== SIGNATURE) return false
  return at + 6 + view.getUint16(at + 4, true) === view.byteLength
}

const SIGNATURE = 0x05054b50

/** Reads an entry of the directory. Numbers too large for it stand behind its name, in this order, each only where it is needed. */
function parsePlace(entry: Uint8Array, nameEnd: number): ZipPlace {
  const view = viewOf(entry)
  const large = largeNumbers(entry.subarray(nameEnd))
  const read = (field: number): number => {
    const value = view.getUint32(field, true)
    return value === MAX_32 ? (large.next().value ?? value) : value
  }
  const size = read(24)
  const packed = read(20)
  const offset = read(42)
  const isUnix = view.getUint8(5) === 3
  return {
    name: entry.slice(CENTRAL_BYTES, nameEnd),
    flags: view.getUint16(8, true),
    method: view.getUint16(10, true),
    checksum: view.getUint32(16, true),
    packed,
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
 * Members that share bytes. No program that packs files writes them so; it is how a few bytes become many files
 * (https://www.bamsoftware.com/hacks/zipbomb/).
 */
function findOverlaps(places: readonly ZipPlace[]): ReadonlySet<ZipPlace> {
  const overlapping = new Set<ZipPlace>()
  const sorted = places.toSorted((a, b) => a.offset - b.offset)
  let last: ZipPlace | undefined
  for (const place of sorted) {
    if (last !== undefined && place.offset < leastEnd(last)) overlapping.add(last).add(place)
    if (last === undefined || leastEnd(place) >= leastEnd(last)) last = place
  }
  return overlapping
}

/** Where a member ends at the earliest. */
function leastEnd({ offset, name, packed }: ZipPlace): number {
  return offset + LOCAL_BYTES + name.length + packed
}

/** Content (bits 0 and 6) or headers (bit 13) are encrypted. */
const ENCRYPTED = 0x2041

const FILE_TYPE = 0o170000
const LINK_TYPE = 0o120000
const PLAIN_TYPES: ReadonlySet<number> = new Set([0, 0o100000, 0o040000])

function judgeMember(place: ZipPlace, limits: ArchiveLimits): FoundMember<ZipPlace> {
  const refused = (refusal: Refusal): FoundMember<ZipPlace> => ({ type: 'refused', refusal })
  const { flags, method, packed, size, mode } = place
  const type = mode & FILE_TYPE
  if (type === LINK_TYPE) return { type: 'link' }
  if (!PLAIN_TYPES.has(type)) return refused(refuse('not-text', 'neither a file nor a folder'))
  if (place.name.at(-1) === 0x2f) return { type: 'folder' }
  if ((flags & ENCRYPTED) !== 0) return refused(refuse('encrypted', 'a password'))
  if (method !== 0 && method !== 8) return refused(refuse('damaged', `packed by method ${method}, which is not read`))
  if (size > UNSUSPICIOUS_BYTES && size > packed * limits.maxRatio) {
    return refused(refuse('too-large', `more than ${limits.maxRatio} times its packed size`))
  }
  // Deflate adds five bytes to 64 kB that it cannot pack.
  if (packed > size + size / 1000 + 1024) return refused(refuse('damaged', 'larger packed than unpacked'))
  return { type: 'file', size, place }
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
