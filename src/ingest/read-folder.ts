import type { Stats } from 'node:fs'
import { access, constants, lstat, realpath, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { FORMAT_ADVICE } from '../core/archive/archive-error.ts'
import { kindOf } from '../core/chunk/kind.ts'
import type { ChunkProfile } from '../core/chunk/profiles.ts'
import { PharosError } from '../core/errors.ts'
import { PathSelection } from '../core/folder/path-selection.ts'
import type { WalkEntry } from '../core/folder/walk-tree.ts'
import { isCredentialFile } from '../core/secrets.ts'
import { baseName, extensionOf } from '../core/text/path.ts'
import type { Refusal } from '../crawl/ledger.ts'
import { isDocumentName } from '../documents/formats.ts'
import {
  type FileReading,
  type KnownFile,
  type OpenTree,
  type TreeEntry,
  type TreeFile,
  type TreeOptions,
  writeFileUrl,
} from '../library/ports/tree.ts'
import { refuse } from './archive/members.ts'
import type { FilePageOptions, FilePages, PageFile } from './read-file-page.ts'
import { type FileStamp, readStable } from './read-stable.ts'
import { readingOf, recallPart, SeenVersions, UNKNOWN_VERSION } from './seen-versions.ts'
import { nodeSha256 } from './sha256.ts'
import { isSystemError, looksLikePack, walkFolder } from './walk-folder.ts'

/** How folders of a library are read. */
export interface FolderReaderOptions extends FilePageOptions {
  /** Larger files are left out. */
  readonly maxFileBytes: number
  /** Absolute paths that are skipped, such as those of the library itself. */
  readonly exclude?: readonly string[]
  /** Current time in milliseconds; a file changed less than two seconds before opening is read again next time. @default Date.now */
  readonly now?: () => number
}

/** Opens a local folder, or a single file. */
export async function openFolder(
  address: string,
  pages: FilePages,
  options: FolderReaderOptions,
  { profile = 'library' }: TreeOptions = {},
): Promise<OpenTree> {
  const { path, stats } = await resolveSource(fileURLToPath(address))
  const isFolder = stats.isDirectory()
  const url = pathToFileURL(path).href.replace(/\/?$/, isFolder ? '/' : '')
  const root = isFolder ? path : dirname(path)
  const { maxFileBytes, now = Date.now } = options
  const openedAt = now()
  const seen = new SeenVersions()
  return {
    url,
    name: basename(path) || path,
    folderId: `${stats.dev}:${stats.ino}`,
    addressOf: (file) => writeFileUrl(url, file),
    async *walk(signal, focus) {
      if (!isFolder) {
        const name = basename(path)
        const refusal = refuseByName(name)
        yield refusal === undefined ? { type: 'file', path: name } : { type: 'refused', path: name, refusal }
        return
      }
      for await (const entry of walkFolder(path, { signal, focus, exclude: options.exclude ?? [] })) {
        const found = describeEntry(entry)
        if (found?.type === 'unreadable' && found.path === '')
          throw unreadable(path, 'it cannot be listed', READ_ADVICE)
        if (found !== undefined) yield found
      }
    },
    async read(file, known) {
      try {
        const readOther = (other: string) =>
          // If the source is a single file, the files beside it are not part of the source.
          isFolder ? readListed(path, other, maxFileBytes, options) : Promise.resolve(undefined)
        return await readFile({ ...options, root, url, ...file, profile, openedAt, seen, readOther }, known, pages)
      } catch (error) {
        if (!isSystemError(error)) throw error
        const isMissing = error.code === 'ENOENT' || error.code === 'ENOTDIR'
        if (!isMissing) return { type: 'failed', reason: 'unreadable', detail: `cannot be read (${error.code})` }
        // All files of a removed disk are missing, which does not prove that they were deleted.
        const isReachable = isFolder ? await isSameFolder(path, stats) : await canList(dirname(path))
        if (!isReachable) throw new PharosError('SOURCE_NOT_FOUND', { path }, { cause: error })
        return { type: 'missing' }
      }
    },
    close: async () => pages.clearCache(),
  }
}

/** The real path of a source, and its stats. */
async function resolveSource(source: string): Promise<{ readonly path: string; readonly stats: Stats }> {
  try {
    const path = await realpath(source)
    const stats = await stat(path)
    if (stats.isDirectory()) {
      if (looksLikePack(path, [{ name: 'manifest.llm.tsv' }])) throw new PharosError('SOURCE_IS_PACK', { path: source })
      await access(path, constants.R_OK | constants.X_OK)
    } else {
      if (!stats.isFile()) throw unreadable(source, 'it is neither a folder nor a file', 'name a folder or a file')
      if (UNSUPPORTED_ARCHIVE.test(path)) throw unreadable(source, 'archives of its kind are not read', FORMAT_ADVICE)
      await access(path, constants.R_OK)
    }
    return { path, stats }
  } catch (cause) {
    if (!isSystemError(cause)) throw cause
    if (cause.code === 'ENOENT') throw new PharosError('SOURCE_NOT_FOUND', { path: source }, { cause })
    throw unreadable(source, `it cannot be read (${cause.code})`, READ_ADVICE, cause)
  }
}

const READ_ADVICE = 'let this user read it, or name another source'

/** Archive formats that are not supported. */
const UNSUPPORTED_ARCHIVE = /\.(?:gz|bz2|tbz2?|xz|txz|zst|lz|7z|rar|jar|war|ear|whl|crate)$/i

function unreadable(path: string, problem: string, advice: string, cause?: unknown): PharosError {
  return new PharosError('SOURCE_UNREADABLE', { path, problem, advice }, { cause })
}

/** Whether a path still leads to the same folder. */
async function isSameFolder(path: string, stats: Stats): Promise<boolean> {
  const { dev, ino } = await stat(path).catch(() => ({ dev: -1, ino: -1 }))
  return dev === stats.dev && ino === stats.ino
}

async function canList(folder: string): Promise<boolean> {
  return access(folder, constants.R_OK | constants.X_OK).then(
    () => true,
    () => false,
  )
}

/** The tree entry of a walk entry; undefined when there is none. */
export function describeEntry(entry: WalkEntry): TreeEntry | undefined {
  switch (entry.type) {
    // An ignore file that is too large for all its rules to apply is also listed as a file.
    case 'half-obeyed':
      return undefined
    case 'file': {
      const refusal = refuseByName(entry.path)
      return refusal === undefined ? entry : { type: 'refused', path: entry.path, refusal }
    }
    case 'skipped': {
      if (entry.reason === 'binary' && isDocumentName(entry.path)) return { type: 'file', path: entry.path }
      const path = entry.isFolder ? entry.path.replace(/\/?$/, '/').replace(/^\/$/, '') : entry.path
      if (entry.reason === 'unreadable') return { type: 'unreadable', path }
      return { type: 'refused', path, refusal: REFUSALS[entry.reason](entry.rule) }
    }
  }
}

/** Why a file is left out, judged by its name. */
function refuseByName(path: string): Refusal | undefined {
  if (isCredentialFile(path)) return refuse('secret', baseName(path))
  return kindOf(path) === 'image' ? refuse('not-text', `*.${extensionOf(path)}`) : undefined
}

type Skipped = Extract<WalkEntry, { type: 'skipped' }>

/** The ledger's reasons for what the walk skips. */
const REFUSALS: Readonly<Record<Exclude<Skipped['reason'], 'unreadable'>, (rule: string | null) => Refusal>> = {
  ignored: (rule) => refuse('ignored', rule),
  'build-folder': (rule) => refuse('excluded', rule),
  binary: (rule) => refuse('not-text', rule),
  link: () => refuse('excluded', 'symbolic links'),
  special: () => refuse('not-text', 'neither a file nor a folder'),
  pack: () => refuse('excluded', 'what Pharos wrote'),
  name: () => refuse('bad-url', 'its name is not valid UTF-8'),
}

/** A file and how it is read. */
interface FileToRead extends TreeFile, FolderReaderOptions {
  readonly root: string
  /** Address of the source. */
  readonly url: string
  readonly profile: ChunkProfile
  readonly openedAt: number
  readonly seen: SeenVersions
  readonly readOther: PageFile['readOther']
}

/** Coarsest resolution of file times in current file systems. */
const FILE_TIME_RESOLUTION_MS = 2000

async function readFile(file: FileToRead, known: KnownFile, pages: FilePages): Promise<FileReading> {
  const { root, path, part, maxFileBytes, openedAt, seen, readOther } = file
  // Paths recorded by this program never lead out of the folder, but a foreign library might contain others.
  if (path.split('/').some((name) => name === '' || name === '.' || name === '..')) return { type: 'missing' }
  const fullPath = join(root, path)
  const found = await lstat(fullPath)
  const seenStamp = writeStamp(found)
  if (known.version !== null && known.stamp !== null && known.stamp === seenStamp) {
    return { type: 'unchanged', ...known, bytes: 0, detail: null }
  }
  const url = writeFileUrl(file.url, path)
  const recalled = await recallPart({ ...file, url }, seen.find(path, seenStamp), known, pages)
  if (recalled !== undefined) return recalled
  if (await isOneOf(file.exclude, found)) {
    return { type: 'no-page', reason: 'excluded', pattern: 'the library', ...UNKNOWN_VERSION, bytes: 0, detail: null }
  }
  const outcome = await readStable(fullPath, maxFileBytes)
  if (outcome.type === 'too-large') {
    const detail = `${outcome.size} bytes, more than ${maxFileBytes}`
    return { type: 'no-page', reason: 'too-large', pattern: 'maxFileBytes', ...UNKNOWN_VERSION, bytes: 0, detail }
  }
  if (outcome.type === 'not-a-file') {
    const pattern = 'neither a file nor a folder'
    return { type: 'no-page', reason: 'not-text', pattern, ...UNKNOWN_VERSION, bytes: 0, detail: null }
  }
  const { bytes, stamp, isStable } = outcome
  const version = nodeSha256(bytes)
  const current: KnownFile = isStable ? { version, stamp: settledStamp(stamp, openedAt) } : UNKNOWN_VERSION
  if (isStable) seen.note(path, { stamp: writeStamp(stamp), known: current })
  if (isStable && version === known.version) return { type: 'unchanged', ...current, bytes: bytes.length, detail: null }
  const read = await pages.read({ path, part, bytes, version, url, profile: file.profile, readOther })
  if (read.type === 'failed' || read.type === 'missing') return read
  const detail = isStable ? read.detail : 'changed while it was read; this is the last state that was read'
  return { ...readingOf(read, current, bytes.length), detail }
}

/** Reads another file of a folder; undefined if a walk through the folder would not list it. Follows no links. */
async function readListed(
  root: string,
  path: string,
  maxBytes: number,
  { exclude = [] }: FolderReaderOptions,
): Promise<Uint8Array | undefined> {
  for await (const entry of walkFolder(root, { focus: new PathSelection([path]), exclude })) {
    if (entry.type !== 'file' || entry.path !== path || refuseByName(path) !== undefined) continue
    if (await isOneOf(exclude, await lstat(join(root, path)))) continue
    const outcome = await readStable(join(root, path), maxBytes)
    return outcome.type === 'read' ? outcome.bytes : undefined
  }
  return undefined
}

/** Whether a file is one of others under a second name: closing an open library would drop the locks of SQLite. */
async function isOneOf(files: readonly string[] = [], { nlink, dev, ino }: Stats): Promise<boolean> {
  const others = nlink === 1 ? [] : await Promise.all(files.map((file) => lstat(file).catch(() => undefined)))
  return others.some((other) => other?.ino === ino && other.dev === dev)
}

/** A stamp that shows without reading whether a file is unchanged. */
export function writeStamp({ size, mtimeMs, ctimeMs }: FileStamp): string {
  return `${size} ${mtimeMs} ${ctimeMs}`
}

/** The stamp as text, or null for a file written just now, which could change again within the clock's resolution and look unchanged. */
export function settledStamp(stamp: FileStamp, openedAt: number): string | null {
  return Math.max(stamp.mtimeMs, stamp.ctimeMs) < openedAt - FILE_TIME_RESOLUTION_MS ? writeStamp(stamp) : null
}
