import { constants } from 'node:fs'
import { access, lstat, realpath, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { codeLanguageOf } from '../core/chunk/languages.ts'
import { PharosError } from '../core/errors.ts'
import { type CutOptions, createSkipWarnings, FileCutter, type FileState, readAhead } from '../core/folder/cut-files.ts'
import type { SkipReason } from '../core/folder/walk-tree.ts'
import { DEFAULT_LIMITS } from '../core/limits.ts'
import type { ChunkedFile } from '../core/model.ts'
import { compareUtf8 } from '../core/text/order.ts'
import { BUILD_DIGEST, type CachedFile, readFolderCache, writeFolderCache } from './folder-cache.ts'
import { type FileStamp, isSameStamp, readStable } from './read-stable.ts'
import { nodeSha256 } from './sha256.ts'
import { ignoreSystemError, isSystemError, looksLikePack, walkFolder } from './walk-folder.ts'

/** How a folder is read and chunked. */
export interface FolderOptions extends Omit<CutOptions, 'sha256'> {
  /** Folder of the cache that skips unchanged files next time. Without it all files are read. */
  readonly cacheFolder?: string | undefined
  /**
   * Identifies the program, because chunks of another build must not be reused. Without it, such as when running from sources, nothing is
   * cached. @default the digest that the build left
   */
  readonly build?: string | undefined
  /** Absolute paths that are skipped, such as the output. */
  readonly exclude?: readonly string[]
  /** Number of files read ahead; the result does not depend on it. @default 8 */
  readonly concurrency?: number
  readonly signal?: AbortSignal | undefined
  /** Current time in milliseconds; a file changed less than two seconds earlier is not cached. @default Date.now */
  readonly now?: () => number
  /** Called after every file. */
  readonly onProgress?: (progress: FolderProgress) => void
}

/** Progress of reading a folder. */
export interface FolderProgress {
  readonly done: number
  readonly total: number
  readonly chunks: number
  readonly path: string
}

/** Result of reading a folder. */
export interface ChunkedFolder {
  readonly files: readonly ChunkedFile[]
  /** Skipped paths, in order. */
  readonly skipped: readonly { readonly path: string; readonly reason: SkipReason }[]
  /** Number of files whose bytes were read. */
  readonly filesRead: number
  /** Number of files that were chunked. */
  readonly filesCut: number
  /** Number of unchanged files that were taken from the cache. */
  readonly filesUnchanged: number
}

const DEFAULT_CONCURRENCY = 8

/** Larger files are not cached, because their line could exceed the maximum string length. */
const MAX_CACHED_BYTES = 2 ** 26

/** Coarsest resolution of file times in current file systems. */
const FILE_TIME_RESOLUTION_MS = 2000

/** Reads a folder and chunks its files. Files that are unchanged since the last run are neither read nor chunked. */
export async function chunkFolder(folder: string, options: FolderOptions = {}): Promise<ChunkedFolder> {
  checkOptions(options)
  const root = await resolveRoot(folder)
  const skipped: { path: string; reason: SkipReason }[] = []
  const leftOut: ChunkedFile[] = []
  const paths: string[] = []
  const { signal } = options
  const exclude = await Promise.all((options.exclude ?? []).map(resolveParents))
  for await (const entry of walkFolder(root, { signal, exclude })) {
    if (entry.type === 'file') paths.push(entry.path)
    else if (entry.type === 'skipped') skipped.push({ path: entry.path, reason: entry.reason })
    if (entry.type !== 'file') leftOut.push(...createSkipWarnings(entry))
  }
  paths.sort(compareUtf8)
  skipped.sort((a, b) => compareUtf8(a.path, b.path))
  await options.grammars?.prepare(paths.flatMap((path) => codeLanguageOf(path)?.grammar ?? []))

  const reader = new FolderReader(root, options)
  await reader.openCache()
  const files: ChunkedFile[] = []
  let chunks = 0
  for await (const chunked of reader.readAll(paths)) {
    files.push(chunked)
    chunks += chunked.chunks.length
    options.onProgress?.({ done: files.length, total: paths.length, chunks, path: chunked.file.path })
  }
  await reader.closeCache()
  return { files: [...files, ...leftOut], skipped, ...reader.counts }
}

const NUMBER_OPTIONS = [
  'concurrency',
  'maxFileBytes',
  'maxTotalBytes',
  'maxChunksPerFile',
  'maxTotalChunks',
  'targetChars',
  'maxChars',
] as const

/** Checks each number on its own. Whether the chunk sizes fit together is checked where files are chunked. */
function checkOptions(options: FolderOptions): void {
  for (const name of NUMBER_OPTIONS) {
    const value = options[name]
    if (value === undefined || (Number.isSafeInteger(value) && value >= 1)) continue
    throw new TypeError(`Expected \`${name}\` to be a whole number from 1 up, got \`${value}\` (${typeof value})`)
  }
}

/** The real path of a folder to read. */
async function resolveRoot(folder: string): Promise<string> {
  const refuse = (problem: string, cause?: unknown) => {
    return new PharosError(
      'SOURCE_UNREADABLE',
      { path: folder, problem, advice: 'name a folder that this user may read' },
      { cause },
    )
  }
  try {
    const root = await realpath(folder)
    if (!(await stat(root)).isDirectory()) throw refuse('it is a file, not a folder')
    if (looksLikePack(root, [{ name: 'manifest.llm.tsv' }])) throw new PharosError('SOURCE_IS_PACK', { path: folder })
    await access(root, constants.R_OK | constants.X_OK)
    return root
  } catch (cause) {
    if (!isSystemError(cause)) throw cause
    if (cause.code === 'ENOENT') throw new PharosError('SOURCE_NOT_FOUND', { path: folder }, { cause })
    throw refuse(`it cannot be read (${cause.code})`, cause)
  }
}

/** The path of a file or folder, with links in its parent folders resolved. The file or folder itself need not exist yet. */
async function resolveParents(path: string): Promise<string> {
  const folder = await realpath(dirname(path)).catch(ignoreSystemError)
  // A missing folder cannot be part of the walk.
  return folder === undefined ? path : join(folder, basename(path))
}

/** A file at a path, and the stamp that identifies it next time. */
interface FoundFile {
  readonly found: FileState
  readonly stamp?: FileStamp
}

class FolderReader {
  readonly #root: string
  readonly #options: FolderOptions
  readonly #cutter: FileCutter
  readonly #maxFileBytes: number
  readonly #openedAt: number
  readonly #build: string | undefined
  #filesRead = 0
  #cache = new Map<string, CachedFile>()
  readonly #newCache: CachedFile[] = []

  constructor(root: string, options: FolderOptions) {
    this.#root = root
    this.#options = options
    this.#cutter = new FileCutter({ ...options, sha256: nodeSha256 })
    this.#maxFileBytes = options.maxFileBytes ?? DEFAULT_LIMITS.maxFileBytes
    this.#build = options.build ?? BUILD_DIGEST
    this.#openedAt = (options.now ?? Date.now)()
  }

  get counts(): Pick<ChunkedFolder, 'filesRead' | 'filesCut' | 'filesUnchanged'> {
    return { filesRead: this.#filesRead, ...this.#cutter.counts }
  }

  async openCache(): Promise<void> {
    const file = this.#cacheFile
    if (file !== undefined) this.#cache = await readFolderCache(file, this.#cacheKey)
  }

  async closeCache(): Promise<void> {
    const file = this.#cacheFile
    if (file !== undefined) await writeFolderCache(file, this.#cacheKey, this.#newCache)
  }

  /** Yields the files in path order, and reads some ahead. */
  async *readAll(paths: readonly string[]): AsyncGenerator<ChunkedFile, void, void> {
    const { concurrency: ahead = DEFAULT_CONCURRENCY, signal } = this.#options
    for await (const [path, { found, stamp }] of readAhead(paths, (name) => this.#find(name), { ahead, signal })) {
      const { chunked, reusable } = this.#cutter.cut(path, found, this.#cache.get(path)?.chunked)
      if (reusable !== undefined && stamp !== undefined && this.#isCacheable(found, stamp)) {
        this.#newCache.push({ stamp, chunked: reusable })
      }
      yield chunked
    }
  }

  async #find(path: string): Promise<FoundFile> {
    const fullPath = join(this.#root, path)
    try {
      const cached = this.#cache.get(path)
      const isAllowed = cached !== undefined && cached.stamp.size <= this.#maxFileBytes
      if (isAllowed && isSameStamp(cached.stamp, await lstat(fullPath))) {
        return { found: { type: 'known', chunked: cached.chunked }, stamp: cached.stamp }
      }
      const outcome = await readStable(fullPath, this.#cutter.maxAcceptedBytes)
      switch (outcome.type) {
        case 'read':
          this.#filesRead++
          return { found: { ...outcome, type: 'bytes' }, stamp: outcome.stamp }
        case 'too-large':
          return {
            found: this.#cutter.findExceededLimit(outcome.size) ?? unreadable('left out: it grew while it was read'),
          }
        case 'not-a-file':
          return { found: unreadable('left out: no longer a regular file') }
      }
    } catch (error) {
      if (!isSystemError(error)) throw error
      return { found: unreadable(`left out: cannot be read (${error.code})`) }
    }
  }

  /** A file written just now could change again within the clock's resolution and look unchanged. */
  #isCacheable({ type }: FileState, { mtimeMs, ctimeMs, size }: FileStamp): boolean {
    const isSettled = Math.max(mtimeMs, ctimeMs) < this.#openedAt - FILE_TIME_RESOLUTION_MS
    return type === 'known' || (isSettled && size <= MAX_CACHED_BYTES)
  }

  get #cacheFile(): string | undefined {
    const { cacheFolder } = this.#options
    if (cacheFolder === undefined || this.#build === undefined) return undefined
    return join(cacheFolder, `${nodeSha256(this.#root).slice(0, 24)}.jsonl`)
  }

  /** Everything besides the bytes that determines chunks: the program and its options. */
  get #cacheKey(): string {
    const { targetChars, maxChars, maxChunksPerFile, grammars } = this.#options
    return JSON.stringify([this.#build, targetChars, maxChars, maxChunksPerFile, grammars !== undefined])
  }
}

function unreadable(message: string): FileState {
  return { type: 'left-out', code: 'unreadable', message, size: 0 }
}
