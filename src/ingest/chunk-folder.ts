import { constants } from 'node:fs'
import { access, lstat, realpath, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { type ChunkOptions, chunkFile } from '../core/chunk/chunk-file.ts'
import { kindOf } from '../core/chunk/kind.ts'
import { codeLanguageOf } from '../core/chunk/languages.ts'
import { PharosError } from '../core/errors.ts'
import { DEFAULT_LIMITS } from '../core/limits.ts'
import type { ChunkedFile, WarningCode } from '../core/model.ts'
import { compareUtf8 } from '../core/text/order.ts'
import { BUILD, type CachedFile, readFolderCache, writeFolderCache } from './folder-cache.ts'
import { type FileStamp, readStable, sameStamp } from './read-stable.ts'
import { nodeSha256 } from './sha256.ts'
import {
  isSystemError,
  looksLikePack,
  MAX_IGNORE_BYTES,
  type SkipReason,
  type WalkEntry,
  walkFolder,
} from './walk-folder.ts'

/** How a folder is read and cut. */
export interface FolderOptions extends Omit<ChunkOptions, 'sha256'> {
  /** A larger file is left out with a warning. @default 10 MiB */
  readonly maxFileBytes?: number
  /** Files beyond this sum are left out with a warning each. @default 50 MiB */
  readonly maxTotalBytes?: number
  /** Files beyond this many chunks in all are left out with a warning each. @default 250,000 */
  readonly maxTotalChunks?: number
  /** Where to remember what was read, so that unchanged files are left alone next time. Without it all are read. */
  readonly cacheFolder?: string | undefined
  /**
   * Names the program that cuts, for nothing that another one cut may be taken over. A program without a name, such as
   * one that runs from its sources, remembers nothing. @default the digest that the build left
   */
  readonly build?: string | undefined
  /** Absolute paths that are passed over: where the output goes. */
  readonly exclude?: readonly string[]
  /** Files read ahead at once; the result does not depend on it. @default 8 */
  readonly concurrency?: number
  readonly signal?: AbortSignal | undefined
  /** The time in milliseconds; a file changed less than two seconds before is not remembered. @default Date.now */
  readonly now?: () => number
  /** Told after every file. */
  readonly onProgress?: (progress: FolderProgress) => void
}

/** How far the reading of a folder has come. */
export interface FolderProgress {
  readonly done: number
  readonly total: number
  readonly chunks: number
  readonly path: string
}

/** What a folder gave. */
export interface ChunkedFolder {
  readonly files: readonly ChunkedFile[]
  /** What was passed over, in order of path. */
  readonly skipped: readonly { readonly path: string; readonly reason: SkipReason }[]
  /** Files whose bytes were read. */
  readonly filesRead: number
  /** Files that were cut. */
  readonly filesCut: number
  /** Files that were not cut because they are as they were last time. */
  readonly filesUnchanged: number
}

const DEFAULT_CONCURRENCY = 8

/** What is larger is cut anew each time: its line in the cache could be longer than text can be. */
const MAX_CACHED_BYTES = 2 ** 26

/** The coarsest clock of a file system in use ticks every two seconds. */
const SETTLE_MS = 2000

/** Reads a folder and cuts its files. Files that did not change since last time are neither read nor cut. */
export async function chunkFolder(folder: string, options: FolderOptions = {}): Promise<ChunkedFolder> {
  checkOptions(options)
  const root = await resolveRoot(folder)
  const skipped: { path: string; reason: SkipReason }[] = []
  const losses: ChunkedFile[] = []
  const paths: string[] = []
  const { signal } = options
  const exclude = await Promise.all((options.exclude ?? []).map(resolveReal))
  for await (const entry of walkFolder(root, { signal, exclude })) {
    if (entry.type === 'file') paths.push(entry.path)
    else if (entry.type === 'skipped') skipped.push({ path: entry.path, reason: entry.reason })
    if (entry.type !== 'file') losses.push(...describeLoss(entry))
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
  return { files: [...files, ...losses], skipped, ...reader.counts }
}

const NUMBERS = [
  'concurrency',
  'maxFileBytes',
  'maxTotalBytes',
  'maxChunksPerFile',
  'maxTotalChunks',
  'targetChars',
  'maxChars',
] as const

/** How sizes of chunks go together is checked where files are cut. */
function checkOptions(options: FolderOptions): void {
  for (const name of NUMBERS) {
    const value = options[name]
    if (value === undefined || (Number.isSafeInteger(value) && value >= 1)) continue
    throw new TypeError(`Expected \`${name}\` to be a whole number from 1 up, got \`${value}\` (${typeof value})`)
  }
}

/** The real path of a folder to read. */
async function resolveRoot(folder: string): Promise<string> {
  const refuse = (problem: string, cause?: unknown) => {
    return new PharosError('SOURCE_UNREADABLE', { path: folder, problem }, { cause })
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

/** The real path of something, also of what is yet to be made in a folder that is there. */
async function resolveReal(path: string): Promise<string> {
  try {
    return join(await realpath(dirname(path)), basename(path))
  } catch (error) {
    // In a folder that is not there nothing can be met on the way.
    if (isSystemError(error)) return path
    throw error
  }
}

/** Most of what is passed over is so by a rule; what the system or a name kept from us is worth a warning. */
function describeLoss(entry: Exclude<WalkEntry, { type: 'file' }>): ChunkedFile[] {
  const warn = (code: WarningCode, message: string) => {
    return [leftOut(entry.path, { type: 'left-out', code, message, size: 0 })]
  }
  if (entry.type === 'half-obeyed') {
    return warn('ignore_rules', `only the first ${MAX_IGNORE_BYTES} bytes of its rules are obeyed`)
  }
  if (entry.reason === 'name') return warn('unreadable', 'left out: its name is not valid UTF-8')
  return entry.reason === 'unreadable' ? warn('unreadable', 'left out: the folder cannot be read') : []
}

/** What was found at a path before it is cut. */
type Found =
  | { readonly type: 'bytes'; readonly bytes: Uint8Array; readonly stamp: FileStamp; readonly isStable: boolean }
  | { readonly type: 'cached'; readonly cached: CachedFile }
  | { readonly type: 'left-out'; readonly code: WarningCode; readonly message: string; readonly size: number }

class FolderReader {
  readonly counts = { filesRead: 0, filesCut: 0, filesUnchanged: 0 }
  readonly #root: string
  readonly #options: FolderOptions
  readonly #maxFileBytes: number
  readonly #maxTotalBytes: number
  readonly #openedAt: number
  readonly #build: string | undefined
  readonly #maxTotalChunks: number
  #total = 0
  #totalChunks = 0
  #cache = new Map<string, CachedFile>()
  readonly #next: CachedFile[] = []

  constructor(root: string, options: FolderOptions) {
    this.#root = root
    this.#options = options
    this.#build = options.build ?? BUILD
    this.#openedAt = (options.now ?? Date.now)()
    this.#maxFileBytes = options.maxFileBytes ?? DEFAULT_LIMITS.maxFileBytes
    this.#maxTotalBytes = options.maxTotalBytes ?? DEFAULT_LIMITS.maxTotalBytes
    this.#maxTotalChunks = options.maxTotalChunks ?? DEFAULT_LIMITS.maxTotalChunks
  }

  async openCache(): Promise<void> {
    const file = this.#cacheFile
    if (file !== undefined) this.#cache = await readFolderCache(file, this.#cacheKey)
  }

  async closeCache(): Promise<void> {
    const file = this.#cacheFile
    if (file !== undefined) await writeFolderCache(file, this.#cacheKey, this.#next)
  }

  /** The files in the order of their paths; some are read ahead. */
  async *readAll(paths: readonly string[]): AsyncGenerator<ChunkedFile, void, void> {
    const ahead = this.#options.concurrency ?? DEFAULT_CONCURRENCY
    const pending: Promise<Found>[] = []
    let started = 0
    for (const path of paths) {
      while (started < paths.length && pending.length < ahead) {
        const found = this.#find(paths[started++] ?? '')
        // A rejection is met below, when its turn comes; until then it must not count as unhandled.
        found.catch(() => undefined)
        pending.push(found)
      }
      const found = await pending.shift()
      this.#options.signal?.throwIfAborted()
      if (found === undefined) return
      yield this.#withinTotalChunks(this.#chunk(path, this.#withinTotal(found)))
    }
  }

  /** Only what is taken counts, in the order of paths, so the answer does not depend on what was read ahead. */
  #withinTotal(found: Found): Found {
    if (found.type === 'left-out') return found
    const size = found.type === 'bytes' ? found.bytes.length : found.cached.chunked.file.bytes
    if (this.#total + size > this.#maxTotalBytes) return this.#beyondTotal(size)
    this.#total += size
    return found
  }

  #beyondTotal(size: number): Found {
    const message = `left out: with its ${size} bytes the sum would exceed ${this.#maxTotalBytes} (max_total_bytes)`
    return { type: 'left-out', code: 'max_total_bytes', message, size }
  }

  /** What a file has too much is known only once it is cut; then its bytes stay in the other sum. */
  #withinTotalChunks(chunked: ChunkedFile): ChunkedFile {
    const { file, chunks } = chunked
    if (this.#totalChunks + chunks.length <= this.#maxTotalChunks) {
      this.#totalChunks += chunks.length
      return chunked
    }
    const sum = `with its ${chunks.length} chunks the sum would exceed ${this.#maxTotalChunks}`
    const message = `left out: ${sum} (max_total_chunks)`
    return leftOut(file.path, { type: 'left-out', code: 'max_total_chunks', message, size: file.bytes })
  }

  async #find(path: string): Promise<Found> {
    const place = join(this.#root, path)
    try {
      const cached = this.#cache.get(path)
      const isAllowed = cached !== undefined && cached.stamp.size <= this.#maxFileBytes
      if (isAllowed && sameStamp(cached.stamp, await lstat(place))) return { type: 'cached', cached }
      // The sum only grows, so what is too much for it now need not be read.
      const outcome = await readStable(place, Math.min(this.#maxFileBytes, this.#maxTotalBytes - this.#total))
      switch (outcome.type) {
        case 'read':
          this.counts.filesRead++
          return { ...outcome, type: 'bytes' }
        case 'too-large': {
          if (outcome.size <= this.#maxFileBytes) return this.#beyondTotal(outcome.size)
          const message = `left out: ${outcome.size} bytes, more than ${this.#maxFileBytes} (max_file_bytes)`
          return { type: 'left-out', code: 'max_file_bytes', message, size: outcome.size }
        }
        case 'not-a-file':
          return { type: 'left-out', code: 'unreadable', message: 'left out: no longer a regular file', size: 0 }
      }
    } catch (error) {
      if (!isSystemError(error)) throw error
      return { type: 'left-out', code: 'unreadable', message: `left out: cannot be read (${error.code})`, size: 0 }
    }
  }

  #chunk(path: string, found: Found): ChunkedFile {
    if (found.type === 'left-out') return leftOut(path, found)
    if (found.type === 'cached') {
      this.counts.filesUnchanged++
      this.#next.push(found.cached)
      return found.cached.chunked
    }
    const known = this.#cache.get(path)?.chunked
    const isKnown = known !== undefined && known.file.sha256 === nodeSha256(found.bytes)
    const cut = isKnown ? known : chunkFile({ path, bytes: found.bytes }, { ...this.#options, sha256: nodeSha256 })
    this.counts[isKnown ? 'filesUnchanged' : 'filesCut']++
    if (!found.isStable) {
      const message = 'changed while it was read; this is its last state seen'
      return { ...cut, warnings: [...cut.warnings, { path, code: 'changed', message }] }
    }
    // A file written in the last moments could change again within the clock's step and look the same.
    const { mtimeMs, ctimeMs, size } = found.stamp
    const isSettled = Math.max(mtimeMs, ctimeMs) < this.#openedAt - SETTLE_MS
    if (isSettled && size <= MAX_CACHED_BYTES) this.#next.push({ stamp: found.stamp, chunked: cut })
    return cut
  }

  get #cacheFile(): string | undefined {
    const { cacheFolder } = this.#options
    if (cacheFolder === undefined || this.#build === undefined) return undefined
    return join(cacheFolder, `${nodeSha256(this.#root).slice(0, 24)}.jsonl`)
  }

  /** Everything besides the bytes that decides about chunks: the program and its options. */
  get #cacheKey(): string {
    const { targetChars, maxChars, maxChunksPerFile, grammars } = this.#options
    return JSON.stringify([this.#build, targetChars, maxChars, maxChunksPerFile, grammars !== undefined])
  }
}

function leftOut(path: string, found: Extract<Found, { type: 'left-out' }>): ChunkedFile {
  const file = { path, kind: kindOf(path), bytes: found.size, sha256: '', lineCount: 1 }
  return { file, chunks: [], warnings: [{ path, code: found.code, message: found.message }] }
}
