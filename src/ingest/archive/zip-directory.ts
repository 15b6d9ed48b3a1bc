import { promisify } from 'node:util'
import { crc32, inflateRaw } from 'node:zlib'
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
} from '../../core/pack/zip-directory.ts'
import { LOCAL_HEADER_SIGNATURE } from '../../core/pack/zip-format.ts'
import type { Refusal } from '../../crawl/ledger.ts'
import { type OpenFile, readAt } from './file.ts'
import {
  ArchiveError,
  type ArchiveLimits,
  createTooLargeError,
  createTruncatedError,
  FORMAT_ADVICE,
  type FoundMember,
  MemberError,
  MemberList,
  refuse,
  UNSUSPICIOUS_BYTES,
} from './members.ts'

/** Allowed directory bytes per member on average, including the name of the member. A larger directory would consist of comments. */
const MEAN_ENTRY_BYTES = 256

const inflate = promisify<Uint8Array, { maxOutputLength: number }, Buffer>(inflateRaw)

/** Lists the members of a zip archive. @throws {ArchiveError} when it is invalid, cut off, damaged or larger than allowed */
export async function readZipDirectory(
  file: OpenFile,
  limits: ArchiveLimits,
): Promise<MemberList<CentralDirectoryEntry>> {
  const directory = await locateDirectory(file)
  const list = new MemberList<CentralDirectoryEntry>(limits)
  // Checked before reading, because a directory can declare any number of members.
  new MemberList<CentralDirectoryEntry>(limits).count(directory.count)
  if (directory.size > limits.maxEntries * MEAN_ENTRY_BYTES) throw new ArchiveError('its directory is too large')
  const bytes = await readAt(file, directory.start, directory.size)
  const entries = withArchiveErrors(() => parseDirectory(bytes, directory.count))
  const total = entries.reduce((sum, { size }) => sum + size, 0)
  if (total > limits.maxBytes) throw createTooLargeError(limits.maxBytes)
  const overlapping = findOverlaps(entries)
  for (const entry of entries) {
    const found = overlapping.has(entry)
      ? ({ type: 'refused', refusal: refuse('damaged', 'shares its bytes with other members') } as const)
      : judgeMember(entry, limits)
    list.add(entry.name, found)
  }
  return list
}

/** The verified content of a member. @throws {MemberError} when it differs from the directory */
export async function readZipMember(file: OpenFile, entry: CentralDirectoryEntry): Promise<Uint8Array> {
  const { name, method, compressedSize, size, checksum, offset } = entry
  const header = await readAt(file, offset, LOCAL_HEADER_BYTES + name.length).catch(throwMemberError)
  const start = locateContent(header, entry)
  const bytes = await readAt(file, start, compressedSize).catch(throwMemberError)
  const content = method === 0 ? bytes : await unpack(bytes, size)
  if (content.length !== size || crc32(content) !== checksum) throw new MemberError('its content is damaged')
  return content
}

function locateContent(header: Uint8Array, entry: CentralDirectoryEntry): number {
  try {
    return findContent(header, entry)
  } catch (error) {
    throw error instanceof ZipError ? new MemberError(error.message, { cause: error }) : error
  }
}

async function unpack(bytes: Uint8Array, size: number): Promise<Uint8Array> {
  try {
    return await inflate(bytes, { maxOutputLength: Math.max(size, 1) })
  } catch (cause) {
    throw new MemberError('its content is damaged', { cause })
  }
}

function throwMemberError(error: unknown): never {
  throw error instanceof ArchiveError ? new MemberError(error.message, { cause: error }) : error
}

async function locateDirectory(file: OpenFile): Promise<ZipDirectory> {
  const tailStart = Math.max(0, file.size - TAIL_BYTES)
  const found = findDirectory(await readAt(file, tailStart, file.size - tailStart))
  if (found === undefined) {
    // A truncated archive lacks its end record.
    const isZip = file.size >= 4 && Buffer.from(await readAt(file, 0, 4)).readUInt32LE() === LOCAL_HEADER_SIGNATURE
    throw isZip ? createTruncatedError() : new ArchiveError('it is not a zip archive', { advice: FORMAT_ADVICE })
  }
  if (!('end64' in found)) return found
  const end = await readAt(file, found.end64, ZIP64_END_BYTES)
  return withArchiveErrors(() => parseZip64End(end))
}

function withArchiveErrors<T>(parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    throw error instanceof ZipError ? new ArchiveError(error.message, { cause: error }) : error
  }
}

const FILE_TYPE_MASK = 0o170000
const LINK_TYPE = 0o120000
const PLAIN_TYPES: ReadonlySet<number> = new Set([0, 0o100000, 0o040000])

function judgeMember(entry: CentralDirectoryEntry, limits: ArchiveLimits): FoundMember<CentralDirectoryEntry> {
  const refused = (refusal: Refusal): FoundMember<CentralDirectoryEntry> => ({ type: 'refused', refusal })
  const { flags, method, compressedSize, size, mode } = entry
  const type = mode & FILE_TYPE_MASK
  if (type === LINK_TYPE) return { type: 'link' }
  if (!PLAIN_TYPES.has(type)) return refused(refuse('not-text', 'neither a file nor a folder'))
  if (entry.name.at(-1) === 0x2f) return { type: 'folder' }
  if ((flags & ENCRYPTION_FLAGS) !== 0) return refused(refuse('encrypted', 'a password'))
  if (method !== 0 && method !== 8) return refused(refuse('damaged', `packed by method ${method}, which is not read`))
  if (size > UNSUSPICIOUS_BYTES && size > compressedSize * limits.maxRatio) {
    return refused(refuse('too-large', `more than ${limits.maxRatio} times its packed size`))
  }
  // Deflate adds five bytes per 64 kB of incompressible data.
  if (compressedSize > size + size / 1000 + 1024) return refused(refuse('damaged', 'larger packed than unpacked'))
  return { type: 'file', size, position: entry }
}
