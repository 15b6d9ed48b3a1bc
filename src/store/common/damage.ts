import { messageOf, PharosError } from '../../core/errors.ts'
import { DecodeError } from '../../core/search/bytes.ts'

/** The failure of a library whose stored bytes are damaged. `state` tells it from a library that merely cannot be opened. */
export function createDamageError(library: string, problem: string, cause?: unknown): PharosError {
  const details = { library, problem: `it is damaged: ${problem}`, state: 'damaged', advice: RESTORE_ADVICE }
  return new PharosError('LIBRARY_UNUSABLE', details, { cause })
}

const RESTORE_ADVICE =
  'restore a copy of the library, or move the damaged file away with its -wal and -shm files and add its sources again'

/** Parses JSON that a store wrote. The caller names the written type, which only a damaged record violates. */
export function parseStored<T>(json: string): T {
  return decodeStored(() => JSON.parse(json) as T)
}

/** Decodes stored records (JSON or index blobs), and reports failures as damage. */
export function decodeStored<T>(decode: () => T): T {
  try {
    return decode()
  } catch (cause) {
    if (!(cause instanceof SyntaxError || cause instanceof DecodeError)) throw cause
    throw createDamageError(
      'that is open',
      `a stored record cannot be decoded (${messageOf(cause).slice(0, 100)})`,
      cause,
    )
  }
}
