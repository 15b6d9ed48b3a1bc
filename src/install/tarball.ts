import { createReadStream } from 'node:fs'
import { mkdir, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { createGunzip } from 'node:zlib'

const BLOCK_BYTES = 512

/**
 * Extracts files of an npm tarball. `targetOf` returns the target of a path in the tarball (`package/…`). Entries without a target are
 * skipped, and links are never created.
 */
export async function extractTarball(file: string, targetOf: (path: string) => string | undefined): Promise<void> {
  const input = createReadStream(file)
  const unpacked = createGunzip()
  // A failure of the input must reach the reader of the unpacked stream.
  input.on('error', (error) => unpacked.destroy(error))
  const bytes = new ByteSource(input.pipe(unpacked))
  let longPath: string | undefined
  for (;;) {
    const header = await bytes.read(BLOCK_BYTES)
    if (header.length < BLOCK_BYTES || header[0] === 0) return
    const size = Number.parseInt(readText(header, 124, 12), 8)
    if (!Number.isSafeInteger(size)) throw new Error(`${file} is damaged`)
    const padding = (BLOCK_BYTES - (size % BLOCK_BYTES)) % BLOCK_BYTES
    const type = readText(header, 156, 1)
    // A pax record before a file has the path of the file if that is too long for the header (POSIX.1-2001).
    if (type === 'x') {
      longPath = /\d+ path=(.*)\n/.exec((await bytes.read(size)).toString('utf8'))?.[1]
      await bytes.read(padding)
      continue
    }
    const prefix = readText(header, 345, 155)
    const path = longPath ?? (prefix === '' ? '' : `${prefix}/`) + readText(header, 0, 100)
    longPath = undefined
    const target = type === '0' || type === '' ? targetOf(path) : undefined
    if (target === undefined) await bytes.copy(size)
    else await writeFile(target, bytes, size)
    await bytes.read(padding)
  }
}

async function writeFile(target: string, bytes: ByteSource, size: number): Promise<void> {
  await mkdir(dirname(target), { recursive: true })
  const file = await open(target, 'w')
  try {
    await bytes.copy(size, async (chunk) => {
      await file.write(chunk)
    })
    await file.sync()
  } finally {
    await file.close()
  }
}

function readText(header: Buffer, start: number, length: number): string {
  const field = header.subarray(start, start + length)
  const end = field.indexOf(0)
  return field.toString('utf8', 0, end < 0 ? length : end).trim()
}

/** Reads a stream in chunks of requested sizes. */
class ByteSource {
  readonly #chunks: AsyncIterator<Buffer>
  #rest: Buffer = Buffer.alloc(0)

  constructor(stream: AsyncIterable<Buffer>) {
    this.#chunks = stream[Symbol.asyncIterator]()
  }

  /** Reads the next `size` bytes; fewer only at the end of the stream. */
  async read(size: number): Promise<Buffer> {
    const parts: Buffer[] = []
    await this.copy(size, async (chunk) => void parts.push(chunk), true)
    return Buffer.concat(parts)
  }

  /** Passes the next `size` bytes to `take`, or skips them. `mayEnd` allows the stream to end earlier. */
  async copy(size: number, take?: (chunk: Buffer) => Promise<void>, mayEnd = false): Promise<void> {
    for (let left = size; left > 0; ) {
      if (this.#rest.length === 0) {
        const next = await this.#chunks.next()
        if (next.done === true) {
          if (mayEnd) return
          throw new Error('the tarball ends too early')
        }
        this.#rest = next.value
      }
      const chunk = this.#rest.subarray(0, left)
      await take?.(chunk)
      this.#rest = this.#rest.subarray(chunk.length)
      left -= chunk.length
    }
  }
}
