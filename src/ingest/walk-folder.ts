import type { Dirent } from 'node:fs'
import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import type { PathSelection } from '../core/folder/path-selection.ts'
import {
  type FolderTree,
  IGNORE_FILES,
  isPackFolder,
  isPackManifest,
  MAX_IGNORE_BYTES,
  PACK_MANIFEST,
  readIgnoreFile,
  type TreeEntry,
  type WalkEntry,
  walkTree,
} from '../core/folder/walk-tree.ts'
import { type IgnoreFile, withoutRulesFor } from '../core/ignore/ignore-rules.ts'
import { TSV_MAGIC } from '../core/pack/manifests.ts'
import { readBeginning } from './read-stable.ts'

/** How a folder is walked. */
export interface WalkOptions {
  /** Absolute paths that are skipped, such as the output. */
  readonly exclude?: readonly string[]
  /** The part of the folder to walk. @default all of it */
  readonly focus?: PathSelection | undefined
  /** Called for every folder just before it is listed. */
  readonly onFolder?: ((path: string) => void) | undefined
  readonly signal?: AbortSignal | undefined
}

/**
 * Lists the files below a folder. Ignore files apply, including those between the folder and the top of its git repository. Links are never
 * followed, so the walk cannot leave the folder or loop. Packs are skipped.
 */
export function walkFolder(root: string, options: WalkOptions = {}): AsyncGenerator<WalkEntry, void, void> {
  const excluded = new Set(options.exclude ?? [])
  const isExcluded = (path: string) => excluded.has(join(root, path))
  const { focus, onFolder, signal } = options
  return walkTree(treeOf(root), { above: readIgnoreFilesAbove(root), isExcluded, focus, onFolder, signal })
}

function treeOf(root: string): FolderTree {
  return {
    list: (folder) => listFolder(join(root, folder)).catch(ignoreSystemError),
    readBeginning: async (file, maxBytes) => beginningOf(join(root, file), maxBytes),
  }
}

/** Whether a folder is a pack, by its name or its content. */
export function looksLikePack(folder: string, entries: readonly { readonly name: string }[]): boolean {
  return isPackFolder(basename(folder)) || hasPackManifest(folder, entries)
}

/** Whether a folder contains the manifest of a pack, judged by the start of that file. */
export function hasPackManifest(folder: string, entries: readonly { readonly name: string }[]): boolean {
  if (!entries.some(({ name }) => name === PACK_MANIFEST)) return false
  return isPackManifest(beginningOf(join(folder, PACK_MANIFEST), TSV_MAGIC.length))
}

/** Whether an error came from the operating system. */
export function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error
}

/** For `catch`: undefined instead of an error of the system. */
export function ignoreSystemError(error: unknown): undefined {
  if (!isSystemError(error)) throw error
}

/** Reads names as bytes, because two invalid UTF-8 names would look the same as text, and neither could be opened. */
async function listFolder(folder: string): Promise<TreeEntry[]> {
  const entries = await readdir(folder, { withFileTypes: true, encoding: 'buffer' })
  return entries.map((entry) => {
    const name = entry.name.toString('utf8')
    return { name, hasValidName: Buffer.from(name).equals(entry.name), type: typeOf(entry) }
  })
}

function typeOf(entry: Dirent<Buffer>): TreeEntry['type'] {
  if (entry.isSymbolicLink()) return 'link'
  if (entry.isDirectory()) return 'folder'
  return entry.isFile() ? 'file' : 'special'
}

/** The start of an ignore file or manifest; undefined when it is missing. An unreadable file is reported later by the walk. */
function beginningOf(file: string, maxBytes: number): Uint8Array | undefined {
  try {
    return readBeginning(file, maxBytes)
  } catch (error) {
    return ignoreSystemError(error)
  }
}

/**
 * Ignore files of the parent folders up to the one with `.git`, and the path of the root below that folder as `prefix`. A rule that ignores
 * the requested folder itself is left out; the others apply.
 */
function readIgnoreFilesAbove(root: string): { files: IgnoreFile[]; prefix: string } {
  const folders: string[] = []
  for (let folder = resolve(root); ; folder = dirname(folder)) {
    folders.unshift(folder)
    const isTop = dirname(folder) === folder
    if (isRepository(folder)) break
    if (isTop) return { files: [], prefix: '' }
  }
  const top = folders[0] ?? root
  const relative = (folder: string) => (folder === top ? '' : `${folder.slice(top.length + 1).replaceAll('\\', '/')}/`)
  const files = folders
    .slice(0, -1)
    .flatMap((folder) => IGNORE_FILES.map((name) => ({ path: join(folder, name), base: relative(folder) })))
    .flatMap(({ path, base }) => readIgnoreFile(beginningOf(path, MAX_IGNORE_BYTES + 1), base)?.file ?? [])
  const prefix = relative(resolve(root))
  const parts = prefix.split('/').slice(0, -1)
  const requestedFolders = parts.map((_, i) => parts.slice(0, i + 1).join('/'))
  return { files: files.map((file) => withoutRulesFor(file, requestedFolders)), prefix }
}

function isRepository(folder: string): boolean {
  return existsSync(join(folder, '.git'))
}
