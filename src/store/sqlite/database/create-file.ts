import { execFileSync } from 'node:child_process'
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { codeOf } from '../../../core/errors.ts'

// Closing any descriptor of a file drops all locks that this process has on it, also those of SQLite. Without them another program deletes
// the write-ahead log on closing the file. So nothing here opens a library that exists.

/** Creates a missing file and its parent folders, accessible only to their owner. Throws if an existing one cannot be written. */
export function createFile(path: string): void {
  try {
    createFolder(dirname(path))
    // Another thread may have created and opened the file since. A link to a missing file is followed.
    const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true
    if (statSync(path, { throwIfNoEntry: false }) !== undefined) accessSync(path, constants.W_OK)
    else closeSync(openSync(path, isLink ? 'a' : 'ax', 0o600))
  } catch (cause) {
    if (codeOf(cause) === 'EEXIST') return
    throw new Error(describeFailure(cause), { cause })
  }
}

/**
 * Creates a folder and its parents, one by one, because the recursive mkdir of Node never returns on a file system that allows no new
 * folders.
 */
export function createFolder(folder: string): void {
  if (isFolder(folder)) return
  const parent = dirname(folder)
  if (parent !== folder) createFolder(parent)
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    // Another process created the folder first.
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

/** A condition that prevents writing until the user resolves it. */
export interface Obstacle {
  readonly type: 'full' | 'read-only'
  /** A description for people. */
  readonly problem: string
}

/** The condition that prevents writing to a file or extending it; undefined when there is none. */
export function findObstacle(path: string): Obstacle | undefined {
  const probe = `${path}-probe`
  try {
    accessSync(path, constants.R_OK | constants.W_OK)
    writeFileSync(probe, Buffer.alloc(PROBE_BYTES), { mode: 0o600 })
  } catch (error) {
    const obstacle = obstacleOf(error)
    // The library file belongs to another user, and only its owner may access it.
    return isDenied(error) ? { type: 'read-only', problem: describeFailure(error) } : obstacle
  } finally {
    rmSync(probe, { force: true })
  }
  return undefined
}

/** Whether a file system error means missing permission. */
export function isDenied(error: unknown): boolean {
  return codeOf(error) === 'EACCES' || codeOf(error) === 'EPERM'
}

/** A copy of files in a folder of its own, or why it could not be made. */
type TempCopy =
  | { readonly type: 'made'; readonly path: string; remove(): void }
  | { readonly type: 'no-room'; readonly problem: string }
  | { readonly type: 'changing' }
  | { readonly type: 'impossible' }

/** Makes a consistent copy of a file and its companions with these suffixes; retries when another process writes meanwhile. */
export function copyToTemp(path: string, suffixes: readonly string[]): TempCopy {
  const originals = suffixes.map((suffix) => path + suffix)
  const folder = join(tmpdir(), 'pharos-copy-')
  try {
    for (let tries = 0; tries < MAX_COPY_ATTEMPTS; tries++) {
      const before = originals.map(stampOf)
      const bytes = before.reduce((sum, stamp) => sum + (stamp?.bytes ?? 0), 0)
      const { bavail, bsize } = statfsSync(tmpdir())
      if (bytes > bavail * bsize) return { type: 'no-room', problem: describeNoSpace(bytes) }
      const copy = copyInto(mkdtempSync(folder), path, suffixes)
      if (isDeepStrictEqual(originals.map(stampOf), before)) return copy
      copy.remove()
    }
    return { type: 'changing' }
  } catch (error) {
    const isFull = obstacleOf(error)?.type === 'full'
    return isFull ? { type: 'no-room', problem: describeNoSpace() } : { type: 'impossible' }
  }
}

/** Maximum number of attempts to copy. */
const MAX_COPY_ATTEMPTS = 5

function copyInto(folder: string, path: string, suffixes: readonly string[]): Extract<TempCopy, { type: 'made' }> {
  const copy = join(folder, 'library.db')
  const remove = (): void => rmSync(folder, { recursive: true, force: true })
  try {
    const existing = suffixes.filter((suffix) => existsSync(path + suffix))
    const pairs = JSON.stringify(existing.map((suffix) => [path + suffix, copy + suffix]))
    const failure = execFileSync(process.execPath, ['--eval', COPY_PROGRAM, '--', pairs], {
      encoding: 'utf8',
      stdio: 'pipe',
    })
    if (failure !== '') throw Object.assign(new Error(failure), { code: failure })
    return { type: 'made', path: copy, remove }
  } catch (error) {
    remove()
    throw error
  }
}

/** Copies files in a process of its own, because this one may have them open with SQLite. Prints the code of a failure. */
const COPY_PROGRAM = `try { for (const [from, to] of JSON.parse(process.argv[1])) require('node:fs').copyFileSync(from, to) }
  catch (error) { process.stdout.write(error.code) }`

/** A stamp that changes with every write to a file; undefined when the file does not exist. */
function stampOf(path: string): { readonly bytes: number; readonly at: bigint; readonly node: bigint } | undefined {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false })
  return found && { bytes: Number(found.size), at: found.mtimeNs, node: found.ino }
}

function describeNoSpace(bytes?: number): string {
  const size = bytes === undefined ? 'a copy' : `a copy of ${Math.ceil(bytes / 1e6)} MB`
  return `it can only be read from ${size}, and ${tmpdir()} has no space for it`
}

/** Larger than the smallest companion file of SQLite, so that a successful probe means enough room for it. */
const PROBE_BYTES = 65_536

/** The obstacle that a file system error reveals, if it affects every write. */
export function obstacleOf(error: unknown): Obstacle | undefined {
  const code = codeOf(error)
  if (code === 'ENOSPC') return { type: 'full', problem: 'the disk is full' }
  if (code === 'EDQUOT') return { type: 'full', problem: 'the disk quota is used up' }
  if (code === 'EROFS') return { type: 'read-only', problem: describeFailure(error) }
  return undefined
}

/** Descriptions of file system errors. */
const ERROR_DESCRIPTIONS: Readonly<Record<string, string>> = {
  EISDIR: ' is a folder',
  ENOTDIR: ' lies below a file',
  ENOENT: ' cannot be created there',
  EACCES: ': permission denied',
  EPERM: ': permission denied',
  EROFS: ': the file system is read-only',
  ENOSPC: ': no space is left',
  ENAMETOOLONG: ': the name is too long',
  ELOOP: ': its symbolic links form a loop',
}

/** Describes a file system error with its path, or with the given one. */
export function describeFailure(error: unknown, givenPath?: string): string {
  if (!(error instanceof Error)) return String(error)
  const description = ERROR_DESCRIPTIONS[codeOf(error)]
  const path = givenPath ?? ('path' in error ? String(error.path) : undefined)
  return description === undefined || path === undefined ? error.message : `${path}${description}`
}
