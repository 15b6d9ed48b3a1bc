import { promisify } from 'node:util'
import { crc32, inflateRaw } from 'node:zlib'
import {
  ArchiveError,
  createTooLargeError,
  createTruncatedError,
  FORMAT_ADVICE,
} from '../../core/archive/archive-error.ts'
import {
  type CentralDirectoryEntry,
  ENCRYPTION_FLAGS,
  findOverlaps,
  locateContent,
  locateDirectory,
  parseDirectory,
  type ZipReading,
} from '../../core/archive/zip-directory.ts'
import { LOCAL_HEADER_SIGNATURE } from '../../core/archive/zip-format.ts'
import { type Decompressor, unpackWhole } from '../../core/archive/zip-reader.ts'
import type { Refusal } from '../../crawl/ledger.ts'
import { type OpenFile, readAt } from './file.ts'
import { type ArchiveLimits, type FoundMember, MemberError, MemberList, refuse, UNSUSPICIOUS_BYTES } from './members.ts'

/** Allowed directory bytes per member on average, including the name of the member. A larger directory would consist of comments. */
const MEAN_ENTRY_BYTES = 256

/** Lists the members of a zip archive. @throws {ArchiveError} when it is invalid, cut off, damaged or larger than allowed */
export async function readZipDirectory(
  file: OpenFile,
  limits: ArchiveLimits,
): Promise<MemberList<CentralDirectoryEntry>> {
  const directory = await read(file, locateDirectory(file.size))
  if (directory === undefined) throw await createNotZipError(file)
  const list = new MemberList<CentralDirectoryEntry>(limits)
  // Checked before reading, because a directory can declare any number of members.
  new MemberList<CentralDirectoryEntry>(limits).count(directory.count)
  if (directory.size > limits.maxEntries * MEAN_ENTRY_BYTES) throw new ArchiveError('its directory is too large')
  const entries = parseDirectory(await readAt(file, directory.start, directory.size), directory.count)
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

/** The error for a file without an end mark. A truncated archive lacks it too. */
async function createNotZipError(file: OpenFile): Promise<ArchiveError> {
  const isZip = file.size >= 4 && Buffer.from(await readAt(file, 0, 4)).readUInt32LE() === LOCAL_HEADER_SIGNATURE
  return isZip ? createTruncatedError() : new ArchiveError('it is not a zip archive', { advice: FORMAT_ADVICE })
}

const inflateAsync = promisify(inflateRaw)

/** Inflates in a thread of zlib, so that a large archive does not block the event loop of a server. */
const ZLIB: Decompressor = {
  inflate: (packed, maxBytes) => inflateAsync(packed, { maxOutputLength: Math.max(1, maxBytes) }),
  crc32,
}

/** The verified content of a member. @throws {MemberError} when it differs from the directory */
export async function readZipMember(file: OpenFile, entry: CentralDirectoryEntry): Promise<Uint8Array> {
  try {
    const start = await read(file, locateContent(entry))
    const packed = await readAt(file, start, entry.compressedSize)
    return await unpackWhole(entry, packed, 'its content is damaged', ZLIB)
  } catch (error) {
    throw error instanceof ArchiveError ? new MemberError(error.message, { cause: error }) : error
  }
}

async function read<T>(file: OpenFile, reading: ZipReading<T>): Promise<T> {
  let step = reading.next()
  while (step.done !== true) {
    const [start, end] = step.value
    step = reading.next(await readAt(file, start, end - start))
  }
  return step.value
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
