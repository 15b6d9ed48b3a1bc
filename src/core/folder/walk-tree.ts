import { findIgnoringLine, type IgnoreFile, parseIgnoreFile } from '../ignore/ignore-rules.ts'
import { TSV_MAGIC } from '../pack/manifests.ts'
import { baseName } from '../text/path.ts'
import { isBuildFolder } from './build-folders.ts'
import type { PathSelection } from './path-selection.ts'

/**
 * A folder from any source: on a disk, behind a handle of a browser, in a list of dropped files. Paths are relative to this folder, with
 * slashes. The path of a subfolder ends with a slash; the path of the folder itself is empty.
 */
export interface FolderTree {
  /** The entries of a folder; undefined when it cannot be read. */
  list(folder: string): Promise<readonly TreeEntry[] | undefined>
  /** The first bytes of a file; undefined when it cannot be read. */
  readBeginning(file: string, maxBytes: number): Promise<Uint8Array | undefined>
}

/** Something in a folder. */
export interface TreeEntry {
  readonly name: string
  /** Whether its name is valid UTF-8; otherwise the file cannot be requested by name. */
  readonly hasValidName: boolean
  readonly type: 'file' | 'folder' | 'link' | 'special'
}

/** Why something in a folder is not read. */
export type SkipReason =
  | 'ignored'
  | 'build-folder'
  | 'binary'
  | 'link'
  | 'special'
  | 'pack'
  /** The system refuses to read the entry. */
  | 'unreadable'
  /** The name is not valid UTF-8, but paths are text. */
  | 'name'

/** A file to read, or a skipped entry with the reason. */
export type WalkEntry =
  | { readonly type: 'file'; readonly path: string }
  | {
      readonly type: 'skipped'
      readonly path: string
      readonly reason: SkipReason
      readonly isFolder: boolean
      /** The line of an ignore file, the name or the extension that decided; null if none did. */
      readonly rule: string | null
    }
  /** An ignore file so large that only its first lines are obeyed. */
  | { readonly type: 'half-obeyed'; readonly path: string }

/** How a tree is walked. */
export interface TreeWalkOptions {
  /**
   * Ignore files of parent folders. `prefix` is the path of this folder below the outermost of them, and is put before every path that is
   * matched.
   */
  readonly above?: { readonly files: readonly IgnoreFile[]; readonly prefix: string }
  /** Names of the ignore files that are obeyed. @default {@link IGNORE_FILES} */
  readonly ignoreFiles?: readonly string[]
  /** Whether a path is skipped because the output goes there. */
  readonly isExcluded?: (path: string) => boolean
  /**
   * Limits the walk to this part. Reports the entries inside it, and a parent folder of it if that folder is skipped.
   * @default everything
   */
  readonly focus?: PathSelection | undefined
  /** Called for every folder of the walk, just before it is listed. */
  readonly onFolder?: ((path: string) => void) | undefined
  readonly signal?: AbortSignal | undefined
}

/** Lists the files below a folder. Ignore files are obeyed, links are never followed, and a pack is never read. */
export async function* walkTree(
  tree: FolderTree,
  options: TreeWalkOptions = {},
): AsyncGenerator<WalkEntry, void, void> {
  const {
    above = { files: [], prefix: '' },
    isExcluded = () => false,
    focus,
    onFolder,
    ignoreFiles = IGNORE_FILES,
  } = options
  const { prefix } = above
  // A stack of folders to visit instead of recursion, so that depth costs only memory.
  const foldersToVisit: { path: string; rules: readonly IgnoreFile[] }[] = [{ path: '', rules: above.files }]
  for (let folder = foldersToVisit.pop(); folder !== undefined; folder = foldersToVisit.pop()) {
    options.signal?.throwIfAborted()
    onFolder?.(folder.path)
    const entries = await tree.list(folder.path)
    if (entries === undefined) {
      yield { type: 'skipped', path: folder.path, reason: 'unreadable', isFolder: true, rule: null }
      continue
    }
    if (folder.path !== '' && (await looksLikePack(tree, folder.path, entries))) {
      yield { type: 'skipped', path: folder.path, reason: 'pack', isFolder: true, rule: null }
      continue
    }
    const rules = [...folder.rules]
    for (const name of ignoreFiles) {
      if (!entries.some((entry) => entry.name === name)) continue
      const path = folder.path + name
      const ignoreFile = readIgnoreFile(await tree.readBeginning(path, MAX_IGNORE_BYTES + 1), prefix + folder.path)
      if (ignoreFile !== undefined) rules.push(ignoreFile.file)
      if (ignoreFile?.isWhole === false) yield { type: 'half-obeyed', path }
    }
    for (const entry of entries) {
      const path = folder.path + entry.name
      const isFolder = entry.type === 'folder'
      if (focus !== undefined && !focus.contains(path) && !focus.hasPathBelow(path)) continue
      const skip = isExcluded(path) ? { reason: 'pack' as const } : findSkip(entry, prefix + path, rules)
      if (skip !== undefined) yield { type: 'skipped', path, isFolder, rule: null, ...skip }
      else if (isFolder) foldersToVisit.push({ path: `${path}/`, rules })
      else yield { type: 'file', path }
    }
  }
}

async function looksLikePack(tree: FolderTree, folder: string, entries: readonly TreeEntry[]): Promise<boolean> {
  if (isPackFolder(baseName(folder.slice(0, -1)))) return true
  if (!entries.some(({ name }) => name === PACK_MANIFEST)) return false
  return isPackManifest(await tree.readBeginning(folder + PACK_MANIFEST, TSV_MAGIC.length))
}

/** The file that marks a folder as a pack. */
export const PACK_MANIFEST = 'manifest.llm.tsv'

/** Whether a folder has the name of a pack. */
export function isPackFolder(name: string): boolean {
  return /\.llmx-[0-9a-f]{8,}$/.test(name)
}

/** Whether a file begins like the manifest of a pack. */
export function isPackManifest(beginning: Uint8Array | undefined): boolean {
  return new TextDecoder().decode(beginning?.subarray(0, TSV_MAGIC.length)) === TSV_MAGIC
}

/** Names of ignore files. */
export const IGNORE_FILES: readonly string[] = ['.gitignore', '.pharosignore']

/** Names of ignore files that apply to commits. `.gitignore` does not, because a tracked file was added on purpose. */
export const COMMIT_IGNORE_FILES: readonly string[] = ['.pharosignore']

/** Files that decide which other files of a folder are read. */
export const WALK_RULE_FILES: readonly string[] = [...IGNORE_FILES, PACK_MANIFEST]

/** Largest ignore file that is read in full. It is limited because every path is matched against every rule with a wildcard. */
export const MAX_IGNORE_BYTES: number = 2 ** 18

/** Parses the rules of an ignore file in `base`. A `beginning` longer than the limit means that the file is larger. */
export function readIgnoreFile(
  beginning: Uint8Array | undefined,
  base: string,
): { readonly file: IgnoreFile; readonly isWhole: boolean } | undefined {
  if (beginning === undefined) return undefined
  const isWhole = beginning.length <= MAX_IGNORE_BYTES
  const text = new TextDecoder().decode(beginning)
  // A truncated last line could be a different rule, so it is dropped.
  const rules = isWhole ? text : text.slice(0, text.lastIndexOf('\n') + 1)
  return { file: parseIgnoreFile(rules, base), isWhole }
}

/** Extensions of binary files, which are skipped without reading. For all other files the content decides. */
const BINARY_EXTENSIONS = new Set(
  `7z a avi avif bin bz2 class db dll dmg doc docx dylib ear eot exe flac gz heic ico iso jar mkv mov mp3 mp4 msi node
  o odt ogg otf pdb pdf ppt pptx pyc pyo rar rlib so sqlite sqlite3 tar tgz tif tiff ttf war wasm wav webm woff woff2
  xls xlsx xz zip zst`.split(/\s+/),
)

/**
 * Temporary files that a killed run leaves beside its output, named by a digest of its host, its process and a count:
 * `.docs.zip.pharos-0a1b2c3d-123-0`, `.docs.pharos-0a1b2c3d-123-0-old`.
 */
export const TEMP_OUTPUT_NAME: RegExp = /^\.(.+)\.pharos-([0-9a-f]{8})-(\d+)-\d+(-old)?$/

/** The reason why an entry is skipped, and the rule. */
interface SkipDecision {
  readonly reason: SkipReason
  readonly rule?: string
}

function findSkip(
  { name, hasValidName, type }: TreeEntry,
  path: string,
  rules: readonly IgnoreFile[],
): SkipDecision | undefined {
  if (!hasValidName) return { reason: 'name' }
  if (type === 'link') return { reason: 'link' }
  if (TEMP_OUTPUT_NAME.test(name)) return { reason: 'pack' }
  const isFolder = type === 'folder'
  // In a submodule `.git` is a file.
  if (name === '.git' || (isFolder && isBuildFolder(name))) return { reason: 'build-folder', rule: name }
  if (type === 'special') return { reason: 'special' }
  const line = findIgnoringLine(rules, path, isFolder)
  if (line !== undefined) return { reason: 'ignored', rule: line }
  if (isFolder) return undefined
  if (/\.llmx-[0-9a-f]{8,}(?:\.part-\d+)?\.zip$/.test(name)) return { reason: 'pack' }
  const ending = endingOf(name)
  return BINARY_EXTENSIONS.has(ending.slice(1)) ? { reason: 'binary', rule: `*${ending}` } : undefined
}

/** The extension in lower case with its dot, such as `.zip`; '' for none. A dot at the start of a name begins no extension. */
function endingOf(name: string): string {
  const dot = name.lastIndexOf('.')
  return dot > 0 ? name.slice(dot).toLowerCase() : ''
}
