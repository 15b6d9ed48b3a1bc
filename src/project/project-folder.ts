import { readdir, readFile, realpath, stat } from 'node:fs/promises'
import { join, resolve, sep } from 'node:path'
import { codeOf, PharosError } from '../core/errors.ts'
import { writeBytes } from '../core/text/bytes.ts'
import type { ProjectFile } from './locked-package.ts'
import { countLines, createLockfileError } from './lockfiles/parse-syntax.ts'

/** Size limit of a file. The lock files of the largest public projects have a few megabytes. */
export const MAX_FILE_BYTES: number = 16 * 2 ** 20

/** Reads files of a project. */
export interface ProjectFolder {
  readonly path: string
  /** The file at a path relative to the folder; undefined if there is none, or if it is outside the folder. */
  read(path: string): Promise<ProjectFile | undefined>
  /** Names of the files directly in the folder. */
  readonly names: ReadonlySet<string>
  /** When a file was changed, in milliseconds; undefined if there is no such file. */
  changedAt(path: string): Promise<number | undefined>
}

/** Opens the folder of a project. Each file is read once. */
export async function openProjectFolder(path: string): Promise<ProjectFolder> {
  const root = await withAccess(realpath(resolve(path)), path)
  const names = new Set(await withAccess(readdir(root), path))
  const files = new Map<string, Promise<ProjectFile | undefined>>()
  return {
    path: root,
    names,
    read(relative) {
      const known = files.get(relative) ?? readInside(root, relative)
      files.set(relative, known)
      return known
    },
    changedAt: async (relative) => (await statFile(join(root, relative)))?.mtimeMs,
  }
}

async function readInside(root: string, relative: string): Promise<ProjectFile | undefined> {
  const path = join(root, relative)
  const found = await statFile(path)
  if (found === undefined) return undefined
  // A link must not lead to a file of another project.
  const real = await realpath(path)
  if (!real.startsWith(root.endsWith(sep) ? root : root + sep)) return undefined
  refuseLarge(relative, found.size)
  const text = await withAccess(readFile(real, 'utf8'), path)
  const conflict = /^<{7}(?: |$)/m.exec(text)
  if (conflict === null) return { path: relative, text }
  throw createLockfileError({ path: relative }, 'it has conflicts of a merge', {
    line: countLines(text, conflict.index),
  })
}

/** Rejects with `SOURCE_UNREADABLE` if this user may not read a file or folder. */
async function withAccess<T>(result: Promise<T>, path: string): Promise<T> {
  try {
    return await result
  } catch (cause) {
    if (!['EACCES', 'EPERM'].includes(codeOf(cause))) throw cause
    const advice = 'allow this user to read it'
    throw new PharosError('SOURCE_UNREADABLE', { path, problem: 'permission denied', advice }, { cause })
  }
}

function refuseLarge(path: string, bytes: number): void {
  if (bytes <= MAX_FILE_BYTES) return
  throw createLockfileError({ path }, `it has ${writeBytes(bytes)}, and the limit is ${writeBytes(MAX_FILE_BYTES)}`)
}

/** Size and time of a regular file; undefined for anything else, such as a pipe, which would never end. */
async function statFile(path: string): Promise<{ readonly size: number; readonly mtimeMs: number } | undefined> {
  try {
    const found = await stat(path)
    return found.isFile() ? found : undefined
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES', 'ENAMETOOLONG'].includes(codeOf(error))) return undefined
    throw error
  }
}
