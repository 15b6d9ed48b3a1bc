import { createReadStream } from 'node:fs'
import { codeOf, PharosError, usageError } from '../core/errors.ts'
import { writeBytes } from '../core/text/bytes.ts'

/** The input of a command. */
export interface Input {
  /** The name to use in messages. */
  readonly name: string
  readonly bytes: Uint8Array
}

const READABLE_FILE_ADVICE = 'give a file that this user may read, or pipe the data to standard input'

/** Reads a file, or standard input if the path is missing or `-`. Reads at most `maxBytes`; `advice` is for an input that is larger. */
export async function readInput(
  path: string | undefined,
  maxBytes: number,
  advice: string = 'give a smaller one, or a part of it',
): Promise<Input> {
  if (path === '') throw usageError('expected the name of a file, got an empty one')
  const isStdin = path === undefined || path === '-'
  const name = isStdin ? 'standard input' : path
  const chunks: Uint8Array[] = []
  let length = 0
  try {
    for await (const chunk of isStdin ? process.stdin : createReadStream(path)) {
      chunks.push(chunk)
      length += chunk.length
      // Leaving the loop closes the stream.
      if (length > maxBytes) break
    }
  } catch (error) {
    throw toInputError(error, name)
  }
  if (length > maxBytes) {
    const problem = `more than ${writeBytes(maxBytes)}`
    throw new PharosError('INPUT_UNREADABLE', { source: name, problem, advice })
  }
  return { name, bytes: Buffer.concat(chunks) }
}

/** Messages and advice for errors of the system. */
const FAILURES: Readonly<Record<string, { problem: string; advice: string }>> = {
  EISDIR: { problem: 'it is a folder', advice: 'name a file in it' },
  EACCES: { problem: 'permission denied', advice: READABLE_FILE_ADVICE },
  EPERM: { problem: 'permission denied', advice: READABLE_FILE_ADVICE },
}

function toInputError(error: unknown, name: string): unknown {
  const code = codeOf(error)
  if (code === '') return error
  if (code === 'ENOENT' || code === 'ENOTDIR') {
    return new PharosError('INPUT_NOT_FOUND', { path: name }, { cause: error })
  }
  const failure = FAILURES[code] ?? { problem: code, advice: READABLE_FILE_ADVICE }
  return new PharosError('INPUT_UNREADABLE', { source: name, ...failure }, { cause: error })
}
