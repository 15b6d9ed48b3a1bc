import {
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

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

/** What stands in the way of writing until somebody does something about it. */
export interface Obstacle {
  readonly type: 'full' | 'read-only'
  /** In words. */
  readonly problem: string
}

/** What stands in the way of writing to a file and of making it longer; undefined where nothing does. */
export function findObstacle(path: string): Obstacle | undefined {
  const probe = `${path}-probe`
  try {
    closeSync(openSync(path, 'r+'))
    writeFileSync(probe, Buffer.alloc(PROBE_BYTES), { mode: 0o600 })
  } catch (error) {
    const obstacle = obstacleOf(error)
    // A file that was made for its owner alone and is not theirs any more.
    return isDenied(error) ? { type: 'read-only', problem: describeFailure(error) } : obstacle
  } finally {
    rmSync(probe, { force: true })
  }
  return undefined
}

/** Whether a failure of the file system says that this user may not. */
export function isDenied(error: unknown): boolean {
  return codeOf(error) === 'EACCES' || codeOf(error) === 'EPERM'
}

/** Copies a file, and those beside it that have one of these endings, to a place of its own; undefined where that cannot be done. */
export function copyAside(
  path: string,
  endings: readonly string[],
): { readonly path: string; remove(): void } | undefined {
  let folder: string | undefined
  const remove = (): void => {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
  }
  try {
    folder = mkdtempSync(join(tmpdir(), 'pharos-copy-'))
    const copy = join(folder, 'library.db')
    for (const ending of endings) {
      if (existsSync(path + ending)) copyFileSync(path + ending, copy + ending)
    }
    return { path: copy, remove }
  } catch {
    remove()
    return undefined
  }
}

/** More than the smallest file that SQLite keeps beside a library, so that room for it is room for those. */
const PROBE_BYTES = 65_536

/** What a failure of the file system says stands in the way of everything that is written. */
export function obstacleOf(error: unknown): Obstacle | undefined {
  const code = codeOf(error)
  if (code === 'ENOSPC') return { type: 'full', problem: 'the disk is full' }
  if (code === 'EDQUOT') return { type: 'full', problem: 'the quota of the disk is used up' }
  if (code === 'EROFS') return { type: 'read-only', problem: describeFailure(error) }
  return undefined
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
