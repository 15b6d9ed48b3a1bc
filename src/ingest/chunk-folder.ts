import { createHash } from 'node:crypto'
import { realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type ChunkOptions, chunkFile } from '../core/chunk/chunk-file.ts'
import { kindOf } from '../core/chunk/kind.ts'
import { codeLanguageOf } from '../core/chunk/languages.ts'
import { PharosError } from '../core/errors.ts'
import { DEFAULT_LIMITS } from '../core/limits.ts'
import type { ChunkedFile, Sha256, WarningCode } from '../core/model.ts'
import { compareUtf8 } from '../core/text/order.ts'
import { type CachedFile, readFolderCache, writeFolderCache } from './folder-cache.ts'
import { type FileStamp, readStable } from './read-stable.ts'
import { isPackFolder, isSystemError, type SkipReason, walkFolder } from './walk-folder.ts'

/** How a folder is read and cut. */
export interface FolderOptions extends Omit<ChunkOptions, 'sha256'> {
  /** A larger file is left out with a warning. @default 10 MiB */
  readonly maxFileBytes?: number
  /** Files beyond this sum are left out with a warning each. @default 50 MiB */
  readonly maxTotalBytes?: number
  /** Where to remember what was read, so that unchanged files are left alone next time. Without it all are read. */
  readonly cacheFolder?: string | undefined
  /** Absolute paths that are passed over: where the output goes. */
  readonly exclude?: readonly string[]
  /** Files read ahead at once; the result does not depend on it. @default 8 */
  readonly concurrency?: number
  readonly signal?: AbortSignal | undefined
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
  /** Files whose bytes were read, and files that were cut; the others were known from last time. */
  readonly filesRead: number
  readonly filesCut: number
}

const DEFAULT_CONCURRENCY = 8

/** The platform's SHA-256, several times faster than the portable one. */
export const nodeSha256: Sha256 = (data) => createHash('sha256').update(data).digest('hex')

/** Reads a folder and cuts its files. Files that did not change since last time are neither read nor cut. */
export async function chunkFolder(folder: string, options: FolderOptions = {}): Promise<ChunkedFolder> {
  const root = await resolveRoot(folder)
  const skipped: { path: string; reason: SkipReason }[] = []
  const paths: string[] = []
  const { signal } = options
  for await (const entry of walkFolder(root, { signal, exclude: options.exclude ?? [] })) {
    if (entry.type === 'file') paths.push(entry.path)
    else skipped.push({ path: entry.path, reason: entry.reason })
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
  return { files, skipped, filesRead: reader.filesRead, filesCut: reader.filesCut }
}

/** The real path of a folder to read. */
async function resolveRoot(folder: string): Promise<string> {
  try {
    const root = await realpath(folder)
    if (!(await stat(root)).isDirectory()) throw new PharosError('SOURCE_NOT_FOUND', { path: folder })
    if (isPackFolder(root, [{ name: 'manifest.llm.tsv' }])) throw new PharosError('SOURCE_IS_PACK', { path: folder })
    return root
  } catch (cause) {
    if (isSystemError(cause)) throw new PharosError('SOURCE_NOT_FOUND', { path: folder }, { cause })
    throw cause
  }
}

/** What was found at a path before it is cut. */
type Found =
  | { readonly type: 'bytes'; readonly bytes: Uint8Array; readonly stamp: FileStamp; readonly isStable: boolean }
  | { readonly type: 'cached'; readonly cached: CachedFile }
  | { readonly type: 'left-out'; readonly code: WarningCode; readonly message: string; readonly size: number }

class FolderReader {
  filesRead = 0
  filesCut = 0
  readonly #root: string
  readonly #options: FolderOptions
  readonly #maxFileBytes: number
  readonly #maxTotalBytes: number
  readonly #openedAt = Date.now()
  #cache = new Map<string, CachedFile>()
  readonly #next: CachedFile[] = []

  constructor(root: string, options: FolderOptions) {
    this.#root = root
    this.#options = options
    this.#maxFileBytes = options.maxFileBytes ?? DEFAULT_LIMITS.maxFileBytes
    this.#maxTotalBytes = options.maxTotalBytes ?? DEFAULT_LIMITS.maxTotalBytes
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
    let total = 0
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
      const size = sizeOf(found)
      if (found.type !== 'left-out' && total + size > this.#maxTotalBytes) {
        const message = `left out: with its ${size} bytes the sum would exceed ${this.#maxTotalBytes} (max_total_bytes)`
        yield leftOut(path, { type: 'left-out', code: 'max_total_bytes', message, size })
        continue
      }
      if (found.type !== 'left-out') total += size
      yield this.#chunk(path, found)
    }
  }

  async #find(path: string): Promise<Found> {
    const place = join(this.#root, path)
    try {
      const cached = this.#cache.get(path)
      if (cached !== undefined && sameStamp(cached.stamp, await stat(place))) return { type: 'cached', cached }
      const outcome = await readStable(place, this.#maxFileBytes)
      switch (outcome.type) {
        case 'read':
          this.filesRead++
          return { ...outcome, type: 'bytes' }
        case 'too-large': {
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
      this.#next.push(found.cached)
      return found.cached.chunked
    }
    const known = this.#cache.get(path)?.chunked
    const isKnown = known !== undefined && known.file.sha256 === nodeSha256(found.bytes)
    const cut = isKnown ? known : chunkFile({ path, bytes: found.bytes }, { ...this.#options, sha256: nodeSha256 })
    if (!isKnown) this.filesCut++
    if (!found.isStable) {
      const message = 'changed while it was read; this is its last state seen'
      return { ...cut, warnings: [...cut.warnings, { path, code: 'changed', message }] }
    }
    // A file written in the last moments could change again within the clock's step and look the same.
    if (found.stamp.mtimeMs < this.#openedAt - 2000) this.#next.push({ stamp: found.stamp, chunked: cut })
    return cut
  }

  get #cacheFile(): string | undefined {
    const { cacheFolder } = this.#options
    return cacheFolder === undefined ? undefined : join(cacheFolder, `${nodeSha256(this.#root).slice(0, 24)}.jsonl`)
  }

  /** Everything besides the bytes that decides about chunks. */
  get #cacheKey(): string {
    const { targetChars, maxChars, maxChunksPerFile, grammars } = this.#options
    return JSON.stringify([targetChars, maxChars, maxChunksPerFile, grammars !== undefined])
  }
}

function sizeOf(found: Found): number {
  if (found.type === 'bytes') return found.bytes.length
  return found.type === 'cached' ? found.cached.chunked.file.bytes : found.size
}

function leftOut(path: string, found: Extract<Found, { type: 'left-out' }>): ChunkedFile {
  const file = { path, kind: kindOf(path), bytes: found.size, sha256: '', lineCount: 1 }
  return { file, chunks: [], warnings: [{ path, code: found.code, message: found.message }] }
}

function sameStamp(a: FileStamp, b: FileStamp): boolean {
  return a.size === b.size && a.mtimeMs === b.mtimeMs && a.ctimeMs === b.ctimeMs
}
