import { closeSync, openSync, readSync, realpathSync, statSync } from 'node:fs'
import { join, sep } from 'node:path'
import type { ZipSource } from '../core/archive/zip-reader.ts'
import { PharosError } from '../core/errors.ts'
import { openPack, type PackReader } from '../core/pack/open-pack.ts'
import type { Pack } from '../core/pack/pack.ts'
import { openZipReader } from '../core/pack/zip-pack-reader.ts'
import { isSystemError } from './walk-folder.ts'

/** Opens a pack by its path: a zip archive, a folder, or an `index.json` alone. */
export function readPack(path: string): Pack {
  try {
    const found = statSync(path)
    if (found.isDirectory()) return openPack(folderReader(path))
    if (!found.isFile()) throw new PharosError('PACK_INVALID', { path, problem: 'it is neither a file nor a folder' })
    if (path.endsWith('.json')) return openPack(fileReader(path))
    return openPack(openZipReader(fileSource(path, found.size), path))
  } catch (cause) {
    if (!isSystemError(cause)) throw cause
    if (cause.code === 'ENOENT') throw new PharosError('PACK_NOT_FOUND', { path }, { cause })
    throw new PharosError('PACK_INVALID', { path, problem: cause.message }, { cause })
  }
}

/** Names come from the manifest of a possibly foreign pack, so neither they nor links may lead out of its folder. */
function folderReader(folder: string): PackReader {
  const root = realpathSync(folder)
  return {
    name: folder,
    has: (file) => isFileWithin(root, join(root, file)),
    read: (file) => readPieces(join(root, file)),
  }
}

function isFileWithin(root: string, path: string): boolean {
  try {
    return realpathSync(path).startsWith(root + sep) && statSync(path).isFile()
  } catch (error) {
    // A path that cannot be reached counts as missing.
    if (isSystemError(error)) return false
    throw error
  }
}

function fileReader(path: string): PackReader {
  return { name: path, has: (file) => file === 'index.json', read: () => readPieces(path) }
}

/** An archive on disk, of which only the requested parts are read. */
function fileSource(path: string, size: number): ZipSource {
  return {
    size,
    read(start, end) {
      const file = openSync(path, 'r')
      try {
        const bytes = new Uint8Array(end - start)
        return bytes.subarray(0, readSync(file, bytes, 0, bytes.length, start))
      } finally {
        closeSync(file)
      }
    },
  }
}

const PIECE_BYTES = 1 << 20

/** Reads a file in pieces; the rest stays unread when the caller stops. */
function* readPieces(path: string): Generator<Uint8Array, void, void> {
  const file = openSync(path, 'r')
  try {
    for (;;) {
      const piece = new Uint8Array(PIECE_BYTES)
      const length = readSync(file, piece)
      if (length === 0) return
      yield piece.subarray(0, length)
    }
  } finally {
    closeSync(file)
  }
}
