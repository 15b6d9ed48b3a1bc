import { ArchiveError, createDamagedError, createTruncatedError, FORMAT_ADVICE } from './archive-error.ts'
import { ByteSource } from './byte-source.ts'

/**
 * Format: POSIX.1-2001, pax (ustar and its extended headers); https://www.gnu.org/software/tar/manual/html_node/Standard.html for long
 * names and large numbers as GNU writes them.
 */

/** A member of a tar archive. Its content must be read before the next member is requested. */
export interface TarMember {
  /** The bytes of the name. */
  readonly name: Uint8Array
  readonly type: 'file' | 'folder' | 'link' | 'hard-link' | 'sparse-file' | 'other'
  readonly size: number
  /** Offset of the content in the archive. */
  readonly start: number
  /** Yields the content in pieces. Unread content is skipped. */
  content(): AsyncGenerator<Uint8Array, void, void>
}

const BLOCK = 512
/** Size limit of an extended header. Real headers take a fraction of it. */
const MAX_RECORD_BYTES = 2 ** 20

/** Lists the members of a tar archive in order. @throws {ArchiveError} when it is cut off, damaged or larger than `maxBytes` */
export async function* readTar(
  stream: AsyncIterable<Uint8Array>,
  maxBytes?: number,
): AsyncGenerator<TarMember, void, void> {
  const bytes = new ByteSource(stream, maxBytes)
  try {
    yield* readMembers(bytes)
    // Reads to the end, because the checksum of a compressed stream is at its end.
    await bytes.drain()
  } finally {
    await bytes.close()
  }
}

async function* readMembers(bytes: ByteSource): AsyncGenerator<TarMember, void, void> {
  let records: Records = {}
  for (let isFirst = true; ; isFirst = false) {
    const block = await bytes.read(BLOCK)
    if (block.length === 0 && isFirst) throw new ArchiveError('it is empty')
    if (block.length < BLOCK) throw createTruncatedError()
    if (block.every((byte) => byte === 0)) return
    const header = parseHeader(block, isFirst)
    if (EXTENDED_HEADER_TYPES.has(header.type)) {
      records = { ...records, ...(await readRecords(bytes, header)) }
      continue
    }
    if (header.isContinued) await skipContinuation(bytes)
    // Links have no content, although some headers have the size of the target.
    const size = header.type === '1' ? 0 : (records.size ?? header.size)
    if (!(Number.isSafeInteger(size) && size >= 0)) throw createDamagedError()
    const start = bytes.position
    const end = start + size
    const name = records.path ?? header.name
    yield {
      name,
      type: records.isSparse === true ? 'sparse-file' : typeOf(header.type, name),
      size,
      start,
      async *content() {
        while (bytes.position < end) yield await bytes.readSome(end - bytes.position)
      },
    }
    await bytes.skip(end - bytes.position + padding(size))
    records = {}
  }
}

interface Header {
  readonly name: Uint8Array
  readonly type: string
  readonly size: number
  /** Whether further GNU blocks with the holes of a sparse file follow. */
  readonly isContinued: boolean
}

function parseHeader(block: Uint8Array, isFirst: boolean): Header {
  const declaredSum = parseNumber(block.subarray(148, 156))
  // Old programs summed bytes as signed numbers.
  if (declaredSum !== sum(block, 0) && declaredSum !== sum(block, 128)) {
    throw isFirst ? new ArchiveError('it is not a tar archive', { advice: FORMAT_ADVICE }) : createDamagedError()
  }
  const isUstar = decode(block.subarray(257, 263)) === 'ustar\0'
  const prefix = isUstar ? upToZero(block.subarray(345, 500)) : []
  const name = upToZero(block.subarray(0, 100))
  const type = String.fromCharCode(block[156] ?? 0)
  return {
    name: prefix.length === 0 ? name : Uint8Array.of(...prefix, 0x2f, ...name),
    type,
    size: parseNumber(block.subarray(124, 136)),
    isContinued: type === 'S' && block[482] === 1,
  }
}

/** Skips blocks that list the holes of a sparse file; each says whether another follows. */
async function skipContinuation(bytes: ByteSource): Promise<void> {
  for (let isContinued = true; isContinued; ) {
    const block = await bytes.read(BLOCK)
    if (block.length < BLOCK) throw createTruncatedError()
    isContinued = block[504] === 1
  }
}

/** The checksum of a header, with its own field counted as spaces. With `signBit` 128, bytes from 128 up count as negative. */
function sum(block: Uint8Array, signBit: number): number {
  let total = 8 * 32
  for (let i = 0; i < BLOCK; i++) {
    const byte = block[i] ?? 0
    if (i < 148 || i >= 156) total += signBit > 0 && byte >= signBit ? byte - 256 : byte
  }
  return total
}

/** Parses octal digits, or GNU's binary form for large numbers, which has the first bit set. NaN for anything else. */
function parseNumber(field: Uint8Array): number {
  const [first = 0, ...rest] = field
  if (first === 0x80) return rest.reduce((value, byte) => value * 256 + byte, 0)
  const digits = decode(upToZero(field)).trim()
  if (digits === '') return 0
  return /^[0-7]+$/.test(digits) ? Number.parseInt(digits, 8) : Number.NaN
}

function upToZero(field: Uint8Array): Uint8Array {
  const end = field.indexOf(0)
  return Uint8Array.from(end < 0 ? field : field.subarray(0, end))
}

function typeOf(type: string, name: Uint8Array): TarMember['type'] {
  switch (type) {
    case '0':
    case '\0':
    case '7':
      // Old archives have no type for folders, only a trailing slash in the name.
      return name.at(-1) === 0x2f ? 'folder' : 'file'
    case '1':
      return 'hard-link'
    case '2':
      return 'link'
    case '5':
      return 'folder'
    case 'S':
      return 'sparse-file'
    default:
      return 'other'
  }
}

/** Extended header records that apply to a member. */
interface Records {
  readonly path?: Uint8Array
  readonly size?: number
  readonly isSparse?: boolean
}

/** Extended headers of a member (`x`) and of all that follow (`g`); GNU's long names (`L`) and long link targets (`K`). */
const EXTENDED_HEADER_TYPES: ReadonlySet<string> = new Set(['x', 'g', 'L', 'K'])

async function readRecords(bytes: ByteSource, { type, size }: Header): Promise<Records> {
  if (!(size >= 0 && size <= MAX_RECORD_BYTES)) throw createDamagedError()
  const content = await bytes.read(size)
  if (content.length < size) throw createTruncatedError()
  await bytes.skip(padding(size))
  if (type === 'L') return { path: upToZero(content) }
  // Global headers have only times and comments, and link targets are not used.
  return type === 'x' ? parsePax(content) : {}
}

/** `27 path=some/long/name.md\n`: the length of the record, a key and a value. */
function parsePax(content: Uint8Array): Records {
  let records: Records = {}
  for (let offset = 0; offset < content.length; ) {
    const space = content.indexOf(0x20, offset)
    const length = Number(decode(content.subarray(offset, Math.max(offset, space))))
    const end = offset + length
    if (!(Number.isSafeInteger(length) && length > 0 && end <= content.length)) throw createDamagedError()
    const equals = content.indexOf(0x3d, space)
    if (equals < 0 || equals >= end) throw createDamagedError()
    const key = decode(content.subarray(space + 1, equals))
    const value = content.slice(equals + 1, end - 1)
    if (key === 'path') records = { ...records, path: value }
    else if (key === 'size') records = { ...records, size: parseDecimal(value) }
    else if (key.startsWith('GNU.sparse.')) records = { ...records, isSparse: true }
    offset = end
  }
  return records
}

function parseDecimal(value: Uint8Array): number {
  const digits = decode(value)
  return /^\d+$/.test(digits) ? Number(digits) : Number.NaN
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
}

function padding(size: number): number {
  return (BLOCK - (size % BLOCK)) % BLOCK
}
