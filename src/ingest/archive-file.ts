import { constants } from 'node:fs'
import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { cutOff } from './archive-members.ts'

/** A file on a disk that is open. */
export interface OpenFile {
  readonly handle: FileHandle
  readonly size: number
}

/** Bytes of a file. @throws {ArchiveError} when it does not have so many */
export async function readAt({ handle, size }: OpenFile, start: number, length: number): Promise<Uint8Array> {
  if (!(start >= 0 && length >= 0 && start + length <= size)) throw cutOff()
  const bytes = new Uint8Array(length)
  let done = 0
  while (done < length) {
    const { bytesRead } = await handle.read(bytes, done, length - done, start + done)
    if (bytesRead === 0) throw cutOff()
    done += bytesRead
  }
  return bytes
}

/** A file for what is only needed for a while. */
export interface PrivateFile {
  readonly handle: FileHandle
  close(): Promise<void>
}

/**
 * Makes a file that nobody else can look into, in the place of the system for what is temporary. Where the system allows it, it has no
 * name from then on: nothing is left behind, not even by a process that is killed.
 */
export async function openPrivateFile(): Promise<PrivateFile> {
  // Made with mode 0700 and a name that nobody can guess.
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

/** Writes pieces one after another, many small ones at once. */
export class PieceWriter {
  /** Bytes that were taken. */
  length = 0
  readonly #handle: FileHandle
  #waiting: Uint8Array[] = []
  #waitingBytes = 0

  constructor(handle: FileHandle) {
    this.#handle = handle
  }

  async write(piece: Uint8Array): Promise<void> {
    this.#waiting.push(piece)
    this.#waitingBytes += piece.length
    this.length += piece.length
    if (this.#waitingBytes >= BUFFERED_BYTES) await this.flush()
  }

  async flush(): Promise<void> {
    const bytes = Buffer.concat(this.#waiting)
    this.#waiting = []
    this.#waitingBytes = 0
    for (let done = 0; done < bytes.length; ) done += (await this.#handle.write(bytes, done)).bytesWritten
  }
}
