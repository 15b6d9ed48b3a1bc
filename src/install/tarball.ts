import { createReadStream } from 'node:fs'
import { mkdir, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { createGunzip } from 'node:zlib'
import { readTar } from '../core/archive/tar-reader.ts'

/**
 * Extracts files of an npm tarball. `targetOf` returns the target of a path in the tarball (`package/…`). Entries without a target are
 * skipped, and links are never created.
 */
export async function extractTarball(file: string, targetOf: (path: string) => string | undefined): Promise<void> {
  const input = createReadStream(file)
  const unpacked = createGunzip()
  // A failure of the input must reach the reader of the unpacked stream.
  input.on('error', (error) => unpacked.destroy(error))
  for await (const { name, type, content } of readTar(input.pipe(unpacked))) {
    const target = type === 'file' ? targetOf(new TextDecoder().decode(name)) : undefined
    if (target !== undefined) await writeFile(target, content())
  }
}

async function writeFile(target: string, content: AsyncIterable<Uint8Array>): Promise<void> {
  await mkdir(dirname(target), { recursive: true })
  const file = await open(target, 'w')
  try {
    for await (const piece of content) await file.write(piece)
    await file.sync()
  } finally {
    await file.close()
  }
}
