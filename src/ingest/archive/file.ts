import { constants } from 'node:fs'
import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createTruncatedError } from '../../core/archive/archive-error.ts'

/** An open file on disk. */
export interface OpenFile {
  readonly handle: FileHandle
  readonly size: number
}

/** Reads bytes of a file. @throws {ArchiveError} when it is too short */
export async function readAt({ handle, size }: OpenFile, start: number, length: number): Promise<Uint8Array> {
  if (!(start >= 0 && length >= 0 && start + length <= size)) throw createTruncatedError()
  const bytes = new Uint8Array(length)
  let done = 0
  while (done < length) {
    const { bytesRead } = await handle.read(bytes, done, length - done, start + done)
    if (bytesRead === 0) throw createTruncatedError()
    done += bytesRead
  }
  return bytes
}

/** A temporary file. */
export interface TemporaryFile {
  readonly handle: FileHandle
  close(): Promise<void>
}

/**
 * Creates a private file in the system's temporary folder. Where the system allows it, the file is unlinked at once, so that even a killed
 * process leaves nothing behind.
 */
export async function openTemporaryFile(): Promise<TemporaryFile> {
  // Created with mode 0700 and an unpredictable name.
  const folder = await mkdtemp(join(tmpdir(), `pharos-archive-${process.pid}-`))
  const remove = () => rm(folder, { recursive: true, force: true })
  const flags = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL
  const handle = await open(join(folder, 'content'), flags, 0o600).catch(async (error: unknown) => {
    await remove()
    throw error
  })
  const isRemoved = await remove().then(
    () => true,
    () => false,
  )
  return {
    handle,
    async close() {
      await handle.close()
      if (!isRemoved) await remove()
    },
  }
}

const BUFFERED_BYTES = 2 ** 20

/** Writes pieces one after another, and buffers small pieces. */
export class BufferedWriter {
  /** Number of bytes written or buffered. */
  length = 0
  readonly #handle: FileHandle
  #buffered: Uint8Array[] = []
  #bufferedBytes = 0
  #writtenBytes = 0

  constructor(handle: FileHandle) {
    this.#handle = handle
  }

  async write(piece: Uint8Array): Promise<void> {
    this.#buffered.push(piece)
    this.#bufferedBytes += piece.length
    this.length += piece.length
    if (this.#bufferedBytes >= BUFFERED_BYTES) await this.flush()
  }

  async flush(): Promise<void> {
    const bytes = Buffer.concat(this.#buffered)
    this.#buffered = []
    this.#bufferedBytes = 0
    // Each write has its position, because an earlier writer may have left bytes in the file.
    for (let done = 0; done < bytes.length; ) {
      const { bytesWritten } = await this.#handle.write(bytes, done, bytes.length - done, this.#writtenBytes)
      done += bytesWritten
      this.#writtenBytes += bytesWritten
    }
  }
}
