import { ArchiveError } from '../archive/archive-error.ts'
import { memorySource, parseZip, type ZipSource } from '../archive/zip-reader.ts'
import { PharosError } from '../errors.ts'
import type { PackReader } from './open-pack.ts'

/** Reads a pack from a zip archive, in memory or from any source. */
export function openZipReader(archive: Uint8Array | ZipSource, name: string): PackReader {
  const refuse = (error: unknown): never => {
    if (!(error instanceof ArchiveError)) throw error
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
