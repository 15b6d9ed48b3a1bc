import { ArchiveError } from '../../core/archive/archive-error.ts'
import { readTar, type TarMember } from '../../core/archive/tar-reader.ts'
import type { Refusal } from '../../crawl/ledger.ts'
import { BufferedWriter, type OpenFile, openTemporaryFile, readAt } from './file.ts'
import { type ArchiveFile, type ArchiveLimits, type FoundMember, MemberError, MemberList, refuse } from './members.ts'
import { type Compression, unpack } from './unpack.ts'
import { readZipDirectory, readZipMember } from './zip-members.ts'

/** The content of an archive, by path. */
export interface ArchiveContent {
  readonly files: ReadonlyMap<string, ContentFile>
  readonly links: ReadonlySet<string>
  readonly refused: ReadonlyMap<string, Refusal>
  /** @throws {MemberError} when the content of the file is damaged or was not stored */
  read(path: string): Promise<Uint8Array>
  close(): Promise<void>
}

/** A file in an archive. */
export interface ContentFile {
  /** Size in bytes; infinite when it is only known to be too large. */
  readonly size: number
  /** Stamp that shows whether the file is unchanged. @default the stamp of the whole archive */
  readonly stamp?: string
}

/** How an archive is opened. */
export interface ContentOptions {
  readonly format: 'zip' | 'tar'
  readonly limits: ArchiveLimits
  /** Larger files are listed, but cannot be read. */
  readonly maxFileBytes: number
  readonly signal?: AbortSignal | undefined
}

/**
 * Opens an archive on disk. For a zip archive it reads the directory. A compressed tar archive is read once, and its members are stored in
 * a private file. Memory never holds more than one file.
 * @throws {ArchiveError} when it cannot be used
 */
export async function openArchiveContent(file: OpenFile, options: ContentOptions): Promise<ArchiveContent> {
  const compression = await detectCompression(file)
  if (options.format === 'zip') return openZip(file, options)
  if (compression === 'zip')
    throw new ArchiveError('its name says tar, but its content is a zip archive', {
      advice: 'give it a name that ends in .zip',
    })
  return compression === 'none' ? openPlainTar(file, options) : openCompressedTar(file, compression, options)
}

async function openZip(file: OpenFile, { limits, maxFileBytes }: ContentOptions): Promise<ArchiveContent> {
  const list = await readZipDirectory(file, limits)
  return contentOf(list, maxFileBytes, (position) => readZipMember(file, position))
}

/** An uncompressed tar archive, whose members are read in place. */
async function openPlainTar(file: OpenFile, options: ContentOptions): Promise<ArchiveContent> {
  const { limits, maxFileBytes, signal } = options
  const list = new MemberList<Extent>(limits)
  for await (const { name, type, size, start } of readTar(readPieces(file, signal), limits.maxBytes)) {
    list.add(name, toFoundMember(type, size, { start, size }))
  }
  return contentOf(list, maxFileBytes, ({ start, size }) => readAt(file, start, size))
}

interface Extent {
  readonly start: number
  readonly size: number
}

async function openCompressedTar(
  file: OpenFile,
  compression: Compression,
  { limits, maxFileBytes, signal }: ContentOptions,
): Promise<ArchiveContent> {
  const spool = await openTemporaryFile()
  try {
    const writer = new BufferedWriter(spool.handle)
    const list = new MemberList<Extent>(limits)
    for await (const { name, type, size, content } of readTar(
      unpack(readPieces(file, signal), compression, limits.maxRatio),
      limits.maxBytes,
    )) {
      list.add(name, toFoundMember(type, size, { start: writer.length, size }))
      if (type === 'file' && size <= maxFileBytes) for await (const piece of content()) await writer.write(piece)
    }
    await writer.flush()
    const unpacked = { handle: spool.handle, size: writer.length }
    const read = ({ start, size }: Extent) => readAt(unpacked, start, size)
    return { ...contentOf(list, maxFileBytes, read), close: spool.close }
  } catch (error) {
    await spool.close()
    throw error
  }
}

function toFoundMember(type: TarMember['type'], size: number, position: Extent): FoundMember<Extent> {
  switch (type) {
    case 'file':
      return { type, size, position }
    case 'folder':
    case 'link':
      return { type }
    case 'hard-link':
      return { type: 'refused', refusal: refuse('excluded', 'hard links') }
    case 'sparse-file':
      return { type: 'refused', refusal: refuse('not-text', 'a file with holes') }
    case 'other':
      return { type: 'refused', refusal: refuse('not-text', 'neither a file nor a folder') }
  }
}

function contentOf<T>(
  { files, links, refused }: MemberList<T>,
  maxFileBytes: number,
  read: (position: ArchiveFile<T>['position']) => Promise<Uint8Array>,
): ArchiveContent {
  return {
    files,
    links,
    refused,
    async read(path) {
      const file = files.get(path)
      if (file === undefined || file.size > maxFileBytes) throw new MemberError('its content was not stored')
      return read(file.position)
    },
    close: () => Promise.resolve(),
  }
}

/** The compression of a file, detected by its first bytes; `none` when they match no known compression. */
async function detectCompression(file: OpenFile): Promise<Compression | 'zip' | 'none'> {
  const [a, b, c, d] = await readAt(file, 0, Math.min(4, file.size))
  if (a === 0x50 && b === 0x4b && c !== undefined && c < 9) return 'zip'
  if (a === 0x1f && b === 0x8b) return 'gzip'
  if (a === 0x28 && b === 0xb5 && c === 0x2f && d === 0xfd) return 'zstd'
  // A skippable frame may precede the first zstd frame.
  return a !== undefined && a >>> 4 === 5 && b === 0x2a && c === 0x4d && d === 0x18 ? 'zstd' : 'none'
}

const PIECE_BYTES = 2 ** 16

/** The bytes of a file from its start. A Node stream would close the file. */
async function* readPieces(file: OpenFile, signal: AbortSignal | undefined): AsyncGenerator<Uint8Array, void, void> {
  for (let offset = 0; offset < file.size; offset += PIECE_BYTES) {
    signal?.throwIfAborted()
    yield await readAt(file, offset, Math.min(PIECE_BYTES, file.size - offset))
  }
}
