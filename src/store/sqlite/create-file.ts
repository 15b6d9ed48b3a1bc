import { closeSync, mkdirSync, openSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/** Makes a file with the folders it lies in, as far as they are not there yet, for their owner alone. */
export function createFile(path: string): void {
  try {
    createFolder(dirname(path))
    closeSync(openSync(path, 'a', 0o600))
  } catch (cause) {
    throw new Error(describeFailure(cause), { cause })
  }
}

/** Makes a folder, and those it lies in. One by one: Node's own way of it never ends where a file system lets nobody make any. */
export function createFolder(folder: string): void {
  if (isFolder(folder)) return
  const parent = dirname(folder)
  if (parent !== folder) createFolder(parent)
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    // Somebody else was faster.
    if (codeOf(error) !== 'EEXIST') throw error
  }
}

function isFolder(path: string): boolean {
  try {
    if (statSync(path).isDirectory()) return true
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return false
    throw error
  }
  throw new Error(`${path} is a file, not a folder`)
}

/** What a failure of the file system says of the place it is about. */
const WORDS: Readonly<Record<string, string>> = {
  EISDIR: ' is a folder',
  ENOTDIR: ' lies below a file',
  ENOENT: ' cannot be made there',
  EACCES: ': permission denied',
  EPERM: ': permission denied',
  EROFS: ': the file system can only be read',
  ENOSPC: ': no space is left',
  ENAMETOOLONG: ': the name is too long',
  ELOOP: ': its links lead in a circle',
}

/** A failure of the file system in words, with the place it is about: the one it names, unless another is given. */
export function describeFailure(error: unknown, place?: string): string {
  if (!(error instanceof Error)) return String(error)
  const words = WORDS[codeOf(error) ?? '']
  const path = place ?? ('path' in error ? String(error.path) : undefined)
  return words === undefined || path === undefined ? error.message : `${path}${words}`
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined
}
