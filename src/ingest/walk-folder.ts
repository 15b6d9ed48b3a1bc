import { type Dirent, existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { basename, dirname, extname, join, resolve } from 'node:path'
import { findIgnoringLine, type IgnoreFile, parseIgnoreFile, withoutRulesFor } from '../core/ignore/ignore-rules.ts'
import { TSV_MAGIC } from '../core/pack/manifests.ts'
import { readBeginning } from './read-stable.ts'

/** Why something in a folder is not read. */
export type SkipReason =
  | 'ignored'
  | 'build-folder'
  | 'binary'
  | 'link'
  | 'special'
  | 'pack'
  /** Not to be read, by the system's answer. */
  | 'unreadable'
  /** A name that is no UTF-8; paths are text. */
  | 'name'

/** A file to read, or something that is passed over and why. */
export type WalkEntry =
  | { readonly type: 'file'; readonly path: string }
  | {
      readonly type: 'skipped'
      readonly path: string
      readonly reason: SkipReason
      readonly isFolder: boolean
      /** The line of an ignore file, the name or the ending that decided; null where nothing of the kind did. */
      readonly rule: string | null
    }
  /** An ignore file so large that only its first lines are obeyed. */
  | { readonly type: 'half-obeyed'; readonly path: string }

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
    let entries: NamedEntry[]
    try {
      entries = await listFolder(join(root, folder.path))
    } catch (error) {
      if (!isSystemError(error)) throw error
      yield { type: 'skipped', path: folder.path, reason: 'unreadable', isFolder: true, rule: null }
      continue
    }
    if (folder.path !== '' && looksLikePack(join(root, folder.path), entries)) {
      yield { type: 'skipped', path: folder.path, reason: 'pack', isFolder: true, rule: null }
      continue
    }
    const names = IGNORE_FILES.filter((file) => entries.some(({ name }) => name === file))
    const own = names.flatMap((name) => readIgnoreFile(join(root, folder.path, name), prefix + folder.path))
    const rules = [...folder.rules, ...own.map(({ file }) => file)]
    for (const { name, isWhole } of own) if (!isWhole) yield { type: 'half-obeyed', path: folder.path + name }
    for (const entry of entries) {
      const path = folder.path + entry.name
      const isFolder = entry.facts.isDirectory()
      const skip = excluded.has(join(root, path)) ? { reason: 'pack' as const } : findSkip(entry, prefix + path, rules)
      if (skip !== undefined) yield { type: 'skipped', path, isFolder, rule: null, ...skip }
      else if (isFolder) open.push({ path: `${path}/`, rules })
      else yield { type: 'file', path }
    }
  }
}

/** Tells whether a folder is not to be read because it is a pack: by its name, or by what it holds. */
export function looksLikePack(folder: string, entries: readonly { readonly name: string }[]): boolean {
  return /\.llmx-[0-9a-f]{8,}$/.test(basename(folder)) || hasPackManifest(folder, entries)
}

/** Tells whether the manifest of a pack stands in a folder, by how that file begins. */
export function hasPackManifest(folder: string, entries: readonly { readonly name: string }[]): boolean {
  if (!entries.some(({ name }) => name === 'manifest.llm.tsv')) return false
  return readTextBeginning(join(folder, 'manifest.llm.tsv'), TSV_MAGIC.length) === TSV_MAGIC
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

/**
 * Extensions that are passed over without a look, for hardly ever a text has them. Of all other files the content
 * decides.
 */
const BINARY_EXTENSIONS = new Set(
  `7z a avi avif bin bz2 class db dll dmg doc docx dylib ear eot exe flac gz heic ico iso jar mkv mov mp3 mp4 msi node
  o odt ogg otf pdb pdf ppt pptx pyc pyo rar rlib so sqlite sqlite3 tar tgz tif tiff ttf war wasm wav webm woff woff2
  xls xlsx xz zip zst`.split(/\s+/),
)

/**
 * What a run leaves beside its output when it is killed, named by a digest of its host, by its process and a count:
 * `.docs.zip.pharos-0a1b2c3d-123-0`, `.docs.pharos-0a1b2c3d-123-0-old`.
 */
export const LEFTOVER: RegExp = /^\.(.+)\.pharos-([0-9a-f]{8})-(\d+)-\d+(-old)?$/

/** Something in a folder, with its name as text. */
interface NamedEntry {
  readonly name: string
  readonly isNamed: boolean
  readonly facts: Dirent<Buffer>
}

/** Names are asked for as bytes: two that are no UTF-8 would look alike as text, and neither could be opened by it. */
async function listFolder(folder: string): Promise<NamedEntry[]> {
  const entries = await readdir(folder, { withFileTypes: true, encoding: 'buffer' })
  return entries.map((facts) => {
    const name = facts.name.toString('utf8')
    return { name, isNamed: Buffer.from(name).equals(facts.name), facts }
  })
}

/** Why something is passed over, and by which rule. */
interface Skip {
  readonly reason: SkipReason
  readonly rule?: string
}

function findSkip({ name, isNamed, facts }: NamedEntry, path: string, rules: readonly IgnoreFile[]): Skip | undefined {
  if (!isNamed) return { reason: 'name' }
  if (facts.isSymbolicLink()) return { reason: 'link' }
  if (LEFTOVER.test(name)) return { reason: 'pack' }
  const isFolder = facts.isDirectory()
  // In a submodule `.git` is a file.
  if (name === '.git' || (isFolder && BUILD_FOLDERS.has(name))) return { reason: 'build-folder', rule: name }
  if (!isFolder && !facts.isFile()) return { reason: 'special' }
  const line = findIgnoringLine(rules, path, isFolder)
  if (line !== undefined) return { reason: 'ignored', rule: line }
  if (isFolder) return undefined
  if (/\.llmx-[0-9a-f]{8,}(?:\.part-\d+)?\.zip$/.test(name)) return { reason: 'pack' }
  const ending = extname(name).toLowerCase()
  return BINARY_EXTENSIONS.has(ending.slice(1)) ? { reason: 'binary', rule: `*${ending}` } : undefined
}

/** More is no list of rules; and every path is held against every rule with a wildcard. */
export const MAX_IGNORE_BYTES: number = 2 ** 18

interface ReadIgnoreFile {
  readonly name: string
  readonly file: IgnoreFile
  readonly isWhole: boolean
}

function readIgnoreFile(path: string, base: string): ReadIgnoreFile[] {
  const text = readTextBeginning(path, MAX_IGNORE_BYTES + 1)
  if (text === undefined) return []
  const isWhole = text.length <= MAX_IGNORE_BYTES
  // Half a line could be a rule that nobody wrote.
  const rules = isWhole ? text : text.slice(0, text.lastIndexOf('\n') + 1)
  return [{ name: basename(path), file: parseIgnoreFile(rules, base), isWhole }]
}

/**
 * The beginning of a small file that belongs to the machinery. Without it there is nothing to obey; one that cannot be
 * read is met again, and reported, by the walk.
 */
function readTextBeginning(file: string, most: number): string | undefined {
  try {
    const bytes = readBeginning(file, most)
    return bytes === undefined ? undefined : new TextDecoder().decode(bytes)
  } catch (error) {
    if (isSystemError(error)) return undefined
    throw error
  }
}

/**
 * Ignore files of the folders above, up to the one that holds `.git`. Paths are then relative to that one. A folder
 * that a rule ignores was asked for by name, so that rule is left out; the others hold.
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
    .map(({ file }) => file)
  const prefix = relative(resolve(root))
  const parts = prefix.split('/').slice(0, -1)
  const asked = parts.map((_, i) => parts.slice(0, i + 1).join('/'))
  return { files: files.map((file) => withoutRulesFor(file, asked)), prefix }
}

function isRepository(folder: string): boolean {
  return existsSync(join(folder, '.git'))
}
