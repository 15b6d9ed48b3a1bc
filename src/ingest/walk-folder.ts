import { type Dirent, existsSync, readFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { type IgnoreFile, isIgnored, parseIgnoreFile } from '../core/ignore/ignore-rules.ts'
import { TSV_MAGIC } from '../core/pack/manifests.ts'

/** Why something in a folder is not read. */
export type SkipReason = 'ignored' | 'build-folder' | 'binary' | 'link' | 'special' | 'pack' | 'unreadable'

/** A file to read, or something that is passed over and why. */
export type WalkEntry =
  | { readonly type: 'file'; readonly path: string }
  | { readonly type: 'skipped'; readonly path: string; readonly reason: SkipReason }

/** How a folder is walked. */
export interface WalkOptions {
  /** Absolute paths that are passed over: where the output goes. */
  readonly exclude?: readonly string[]
  readonly signal?: AbortSignal | undefined
}

/**
 * Lists the files below a folder. Ignore files are obeyed, also those between the folder and the top of its git
 * repository. Links are never followed, so the walk cannot leave the folder or run in circles. A pack is never read.
 */
export async function* walkFolder(root: string, options: WalkOptions = {}): AsyncGenerator<WalkEntry, void, void> {
  const above = readIgnoreFilesAbove(root)
  const prefix = above.prefix
  const excluded = new Set(options.exclude ?? [])
  // A list of folders to do, not a call for each: depth costs memory only.
  const open: { path: string; rules: readonly IgnoreFile[] }[] = [{ path: '', rules: above.files }]
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    options.signal?.throwIfAborted()
    let entries: Dirent[]
    try {
      entries = await readdir(join(root, folder.path), { withFileTypes: true })
    } catch (error) {
      if (!isSystemError(error)) throw error
      yield { type: 'skipped', path: folder.path, reason: 'unreadable' }
      continue
    }
    if (folder.path !== '' && isPackFolder(join(root, folder.path), entries)) {
      yield { type: 'skipped', path: folder.path, reason: 'pack' }
      continue
    }
    const rules = [...folder.rules, ...readIgnoreFiles(join(root, folder.path), prefix + folder.path, entries)]
    for (const entry of entries) {
      const path = folder.path + entry.name
      const reason = excluded.has(join(root, path)) ? 'pack' : skipReason(entry, prefix + path, rules)
      if (reason !== undefined) yield { type: 'skipped', path, reason }
      else if (entry.isDirectory()) open.push({ path: `${path}/`, rules })
      else yield { type: 'file', path }
    }
  }
}

/** Tells whether a folder is a pack, by the beginning of its manifest. */
export function isPackFolder(folder: string, entries: readonly { readonly name: string }[]): boolean {
  if (/\.llmx-[0-9a-f]{8,}$/.test(basename(folder))) return true
  if (!entries.some(({ name }) => name === 'manifest.llm.tsv')) return false
  try {
    return readFileSync(join(folder, 'manifest.llm.tsv'), 'utf8').startsWith(TSV_MAGIC)
  } catch (error) {
    // A manifest that cannot be read is no proof of a pack; the walk will say that it is unreadable.
    if (isSystemError(error)) return false
    throw error
  }
}

/** Tells whether an error came from the operating system. */
export function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error
}

const IGNORE_FILES = ['.gitignore', '.pharosignore']

const BUILD_FOLDERS = new Set(
  `.git .hg .svn node_modules bower_components target dist build .cache .next .nuxt .svelte-kit .turbo .parcel-cache
  __pycache__ .venv venv .tox .mypy_cache .pytest_cache .ruff_cache .gradle .terraform`.split(/\s+/),
)

/** Extensions of files that are never text. Others are looked into. */
const BINARY_EXTENSIONS = new Set(
  `7z a avi avif bin bz2 class dat db dll dmg doc docx dylib ear eot exe flac gz heic ico iso jar lib mkv mo mov mp3
  mp4 msi node o obj odt ogg otf pack pdb pdf ppt pptx pyc pyo rar rlib so sqlite sqlite3 tar tgz tif tiff ttf war wasm
  wav webm woff woff2 xls xlsx xz zip zst`.split(/\s+/),
)

function skipReason(entry: Dirent, path: string, rules: readonly IgnoreFile[]): SkipReason | undefined {
  if (entry.isSymbolicLink()) return 'link'
  if (entry.isDirectory()) {
    if (BUILD_FOLDERS.has(entry.name)) return 'build-folder'
    return isIgnored(rules, path, true) ? 'ignored' : undefined
  }
  if (!entry.isFile()) return 'special'
  if (isIgnored(rules, path, false)) return 'ignored'
  if (/\.llmx-[0-9a-f]{8,}(?:\.part-\d+)?\.zip$/.test(entry.name) || /^\..+\.pharos-\d+$/.test(entry.name))
    return 'pack'
  return BINARY_EXTENSIONS.has(entry.name.slice(entry.name.lastIndexOf('.') + 1).toLowerCase()) ? 'binary' : undefined
}

function readIgnoreFiles(folder: string, base: string, entries: readonly { readonly name: string }[]): IgnoreFile[] {
  const names = IGNORE_FILES.filter((file) => entries.some(({ name }) => name === file))
  return names.flatMap((name) => readIgnoreFile(join(folder, name), base))
}

function readIgnoreFile(file: string, base: string): IgnoreFile[] {
  try {
    return [parseIgnoreFile(readFileSync(file, 'utf8'), base)]
  } catch (error) {
    // Without the file there are no rules; one that cannot be read is met again, and reported, by the walk.
    if (isSystemError(error)) return []
    throw error
  }
}

/**
 * Ignore files of the folders above, up to the one that holds `.git`. Paths are then relative to that one. A folder
 * that these rules ignore was asked for by name, so they are left out for it.
 */
function readIgnoreFilesAbove(root: string): { files: IgnoreFile[]; prefix: string } {
  const above: string[] = []
  for (let folder = resolve(root); ; folder = dirname(folder)) {
    above.unshift(folder)
    const isTop = dirname(folder) === folder
    if (isRepository(folder)) break
    if (isTop) return { files: [], prefix: '' }
  }
  const top = above[0] ?? root
  const relative = (folder: string) => (folder === top ? '' : `${folder.slice(top.length + 1).replaceAll('\\', '/')}/`)
  const files = above
    .slice(0, -1)
    .flatMap((folder) => IGNORE_FILES.flatMap((name) => readIgnoreFile(join(folder, name), relative(folder))))
  const prefix = relative(resolve(root))
  const parts = prefix.split('/').slice(0, -1)
  const isAsked = parts.some((_, i) => isIgnored(files, parts.slice(0, i + 1).join('/'), true))
  return isAsked ? { files: [], prefix: '' } : { files, prefix }
}

function isRepository(folder: string): boolean {
  return existsSync(join(folder, '.git'))
}
