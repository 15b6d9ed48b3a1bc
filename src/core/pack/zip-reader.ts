import { PharosError } from '../errors.ts'
import type { PackReader } from './open-pack.ts'
import { parseZip, ZipError } from './zip.ts'

/** Reads a pack that is a zip archive. */
export function openZipReader(bytes: Uint8Array, name: string): PackReader {
  const refuse = (error: unknown): never => {
    if (!(error instanceof ZipError)) throw error
    throw new PharosError('PACK_INVALID', { path: name, problem: error.message }, { cause: error })
  }
  try {
    const members = new Map(parseZip(bytes).map((member) => [member.name, member]))
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
