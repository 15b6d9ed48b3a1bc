import { createReadStream } from 'node:fs'
import { PharosError } from '../core/errors.ts'
import { writeBytes } from '../core/text/bytes.ts'

/** What a verb was given to read. */
export interface Input {
  /** What to call it in messages. */
  readonly name: string
  readonly bytes: Uint8Array
}

/** Reads a file, or standard input when there is none or it is called `-`. Never more than `maxBytes`. */
export async function readInput(path: string | undefined, maxBytes: number): Promise<Input> {
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
    throw failureOf(error, name)
  }
  if (length > maxBytes) {
    throw new PharosError('INPUT_UNREADABLE', { source: name, problem: `more than ${writeBytes(maxBytes)}` })
  }
  return { name, bytes: Buffer.concat(chunks) }
}

const PROBLEMS: Readonly<Record<string, string>> = {
  EISDIR: 'it is a folder',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
}

function failureOf(error: unknown, name: string): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (code === '') return error
  if (code === 'ENOENT' || code === 'ENOTDIR')
    return new PharosError('SOURCE_NOT_FOUND', { path: name }, { cause: error })
  return new PharosError('INPUT_UNREADABLE', { source: name, problem: PROBLEMS[code] ?? code }, { cause: error })
}
