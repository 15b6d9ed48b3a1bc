import { PharosError } from '../errors.ts'
import type { PackReader } from './open-pack.ts'
import { parseZip, type ZipSource } from './unzip.ts'
import { ZipError } from './zip-directory.ts'

/** Reads a pack from a zip archive, in memory or from any source. */
export function openZipReader(archive: Uint8Array | ZipSource, name: string): PackReader {
  const refuse = (error: unknown): never => {
    if (!(error instanceof ZipError)) throw error
    throw new PharosError('PACK_INVALID', { path: name, problem: error.message }, { cause: error })
  }
  try {
    const source = archive instanceof Uint8Array ? memorySource(archive) : archive
    const members = new Map(parseZip(source).map((member) => [member.name, member]))
    return {
      name,
      has: (file) => members.has(file),
      *read(file) {
        try {
          yield* members.get(file)?.stream() ?? []
        } catch (error) {
          refuse(error)
        }
      },
    }
  } catch (error) {
    return refuse(error)
  }
}

/** The source of an archive that is in memory. */
export function memorySource(bytes: Uint8Array): ZipSource {
  return { size: bytes.length, read: (start, end) => bytes.subarray(start, end) }
}
