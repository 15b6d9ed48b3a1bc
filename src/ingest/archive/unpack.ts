import { pipeline, Readable } from 'node:stream'
import { createGunzip, createZstdDecompress, type Gunzip, type ZstdDecompress } from 'node:zlib'
import { ArchiveError, createDamagedError, createTruncatedError } from '../../core/archive/archive-error.ts'
import { ByteSource } from '../../core/archive/byte-source.ts'
import { codeOf } from '../../core/errors.ts'
import { UNPACK_ADVICE, UNSUSPICIOUS_BYTES } from './members.ts'

/** Compression of a whole archive. */
export type Compression = 'gzip' | 'zstd'

const PIECE_BYTES = 2 ** 16

/** Decompresses a file, and stops when the ratio is too large. @throws {ArchiveError} when it is cut off or damaged */
export async function* unpack(
  packed: AsyncIterable<Uint8Array>,
  compression: Compression,
  maxRatio: number,
): AsyncGenerator<Uint8Array, void, void> {
  const counted = new CountedBytes(packed)
  const unpacked =
    compression === 'gzip' ? decompress(createGunzip({ chunkSize: PIECE_BYTES }), counted) : unpackZstd(counted)
  let length = 0
  for await (const piece of unpacked) {
    length += piece.length
    if (length > SUSPICIOUS_BYTES && length > counted.length * maxRatio) {
      throw new ArchiveError(`it is more than ${maxRatio} times as large when unpacked`, { advice: UNPACK_ADVICE })
    }
    yield piece
  }
}

/** Unpacked size from which the compression ratio is checked. */
const SUSPICIOUS_BYTES = 16 * UNSUSPICIOUS_BYTES

/** Counts the bytes that were read. */
class CountedBytes implements AsyncIterable<Uint8Array> {
  length = 0
  readonly #bytes: AsyncIterable<Uint8Array>

  constructor(bytes: AsyncIterable<Uint8Array>) {
    this.#bytes = bytes
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, void> {
    for await (const piece of this.#bytes) {
      this.length += piece.length
      yield piece
    }
  }
}

async function* decompress(
  unpacker: Gunzip | ZstdDecompress,
  packed: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, void> {
  // The callback is empty, because a failure of the input also fails the unpacker, which is read below.
  pipeline(Readable.from(packed, { objectMode: false }), unpacker, () => undefined)
  try {
    yield* unpacker as AsyncIterable<Uint8Array>
  } catch (error) {
    throw toArchiveError(error)
  } finally {
    unpacker.destroy()
  }
}

function toArchiveError(error: unknown): unknown {
  const code = codeOf(error)
  if (code === 'Z_BUF_ERROR') return createTruncatedError(error)
  return code.startsWith('Z_') || code.startsWith('ZSTD_') ? createDamagedError(error) : error
}

/** Limit of frames per file; programs that compress on several processors write one per megabyte. */
const MAX_FRAMES = 10_000

/** Decompresses concatenated frames (RFC 8878, section 3), because Node's decoder stops after the first. */
async function* unpackZstd(packed: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, void> {
  const bytes = new ByteSource(packed)
  try {
    for (let frames = 0; ; frames++) {
      const magic = await bytes.read(4)
      if (magic.length === 0) return
      if (frames === MAX_FRAMES)
        throw new ArchiveError(`it is packed in more than ${MAX_FRAMES} parts`, { advice: UNPACK_ADVICE })
      const kind = magic.length < 4 ? 'none' : frameKindOf(Buffer.from(magic).readUInt32LE())
      if (kind === 'none') throw magic.length < 4 ? createTruncatedError() : createDamagedError()
      if (kind === 'skippable') await bytes.skip(Buffer.from(await readExactly(bytes, 4)).readUInt32LE())
      else yield* decompress(createZstdDecompress(), readFrame(magic, bytes))
    }
  } finally {
    await bytes.close()
  }
}

function frameKindOf(magic: number): 'frame' | 'skippable' | 'none' {
  if (magic === 0xfd2fb528) return 'frame'
  return magic >>> 4 === 0x184d2a5 ? 'skippable' : 'none'
}

/** The bytes of a frame: header, blocks and optional checksum. */
async function* readFrame(magic: Uint8Array, bytes: ByteSource): AsyncGenerator<Uint8Array, void, void> {
  const [descriptor = 0] = await readExactly(bytes, 1)
  const isSingleSegment = (descriptor & 0x20) !== 0
  const dictionaryIdBytes = [0, 1, 2, 4][descriptor & 3] ?? 0
  const contentSizeBytes = [isSingleSegment ? 1 : 0, 2, 4, 8][descriptor >>> 6] ?? 0
  const remainingHeaderBytes = (isSingleSegment ? 0 : 1) + dictionaryIdBytes + contentSizeBytes
  yield Buffer.concat([magic, Uint8Array.of(descriptor), await readExactly(bytes, remainingHeaderBytes)])
  for (let isLast = false; !isLast; ) {
    const header = await readExactly(bytes, 3)
    const block = Buffer.from(header).readUIntLE(0, 3)
    isLast = (block & 1) === 1
    // A run-length block stores a single byte.
    const size = ((block >>> 1) & 3) === 1 ? 1 : block >>> 3
    yield Buffer.concat([header, await readExactly(bytes, size)])
  }
  if ((descriptor & 4) !== 0) yield await readExactly(bytes, 4)
}

async function readExactly(bytes: ByteSource, size: number): Promise<Uint8Array> {
  const found = await bytes.read(size)
  if (found.length < size) throw createTruncatedError()
  return found
}
