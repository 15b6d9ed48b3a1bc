import { type ChunkOptions, chunkFile } from '../chunk/chunk-file.ts'
import { kindOf } from '../chunk/kind.ts'
import { sha256 as portableSha256 } from '../hash.ts'
import { DEFAULT_LIMITS } from '../limits.ts'
import type { ChunkedFile, Sha256, WarningCode } from '../model.ts'
import { ByteBudget, type ByteLimits } from './byte-budget.ts'
import { MAX_IGNORE_BYTES, type WalkEntry } from './walk-tree.ts'

/** Options for cutting the files of a folder, and limits for them. */
export interface CutOptions extends ChunkOptions {
  /** A larger file is left out with a warning. @default 10 MiB */
  readonly maxFileBytes?: number
  /** Files beyond this sum are left out with a warning each. @default 50 MiB */
  readonly maxTotalBytes?: number
  /** Files beyond this many chunks in all are left out with a warning each. @default 250,000 */
  readonly maxTotalChunks?: number
}

/** What is known about a file before it is cut. */
export type FileState =
  /** `isStable` says that the file did not change while it was read. */
  | { readonly type: 'bytes'; readonly bytes: Uint8Array; readonly isStable: boolean }
  /** The file is unchanged since it was cut. */
  | { readonly type: 'known'; readonly chunked: ChunkedFile }
  | SkippedFile

interface SkippedFile {
  readonly type: 'left-out'
  readonly code: WarningCode
  readonly message: string
  readonly size: number
}

/** The result of cutting a file. */
export interface CutFile {
  readonly chunked: ChunkedFile
  /** The chunks that can be reused as long as the bytes stay the same; undefined if none can. */
  readonly reusable: ChunkedFile | undefined
}

/** Cuts the files of a folder one after another, and leaves out files that exceed the limits. */
export class FileCutter {
  readonly counts: { filesCut: number; filesUnchanged: number } = { filesCut: 0, filesUnchanged: 0 }
  readonly #options: CutOptions
  readonly #sha256: Sha256
  readonly #limits: ByteLimits
  readonly #budget: ByteBudget
  readonly #maxTotalChunks: number
  #totalChunks = 0

  constructor(options: CutOptions) {
    this.#options = options
    this.#sha256 = options.sha256 ?? portableSha256
    const { maxFileBytes = DEFAULT_LIMITS.maxFileBytes, maxTotalBytes = DEFAULT_LIMITS.maxTotalBytes } = options
    this.#limits = { maxFileBytes, maxTotalBytes }
    this.#budget = new ByteBudget(this.#limits)
    this.#maxTotalChunks = options.maxTotalChunks ?? DEFAULT_LIMITS.maxTotalChunks
  }

  /** The reason why a file of this size need not be read. The total only grows, so a file that exceeds a limit now always will. */
  findExceededLimit(size: number): SkippedFile | undefined {
    const code = this.#budget.findExceededLimit(size)
    if (code === undefined) return undefined
    const { maxFileBytes, maxTotalBytes } = this.#limits
    const message =
      code === 'max_file_bytes'
        ? `left out: ${size} bytes, more than ${maxFileBytes} (max_file_bytes)`
        : `left out: with its ${size} bytes the sum would exceed ${maxTotalBytes} (max_total_bytes)`
    return { type: 'left-out', code, message, size }
  }

  /** The largest file that would be accepted now. */
  get maxAcceptedBytes(): number {
    return this.#budget.maxAcceptedBytes
  }

  /**
   * Cuts the next file in path order. Only accepted files count towards the limits, so the result does not depend on which files were read
   * ahead. `before` is the last result for this path; it is reused if the bytes are the same.
   */
  cut(path: string, found: FileState, before?: ChunkedFile): CutFile {
    if (found.type === 'left-out') return { chunked: createSkippedFile(path, found), reusable: undefined }
    const size = found.type === 'bytes' ? found.bytes.length : found.chunked.file.bytes
    const refusal = this.findExceededLimit(size)
    if (refusal !== undefined) return { chunked: createSkippedFile(path, refusal), reusable: undefined }
    this.#budget.add(size)
    const cut = this.#cutOrReuse(path, found, before)
    const isStable = found.type === 'known' || found.isStable
    return {
      chunked: this.#withinTotalChunks(isStable ? cut : withChangedWarning(cut)),
      reusable: isStable && isReproducible(cut) ? cut : undefined,
    }
  }

  #cutOrReuse(path: string, found: Exclude<FileState, SkippedFile>, before: ChunkedFile | undefined): ChunkedFile {
    if (found.type === 'known' || before?.file.sha256 === this.#sha256(found.bytes)) {
      this.counts.filesUnchanged++
      // `before` is defined here: the digest of its file equals that of the bytes.
      return found.type === 'known' ? found.chunked : (before as ChunkedFile)
    }
    this.counts.filesCut++
    return chunkFile({ path, bytes: found.bytes }, { ...this.#options, sha256: this.#sha256 })
  }

  /** The chunk count is known only after the cut, so the bytes of a refused file still count towards the byte limit. */
  #withinTotalChunks(chunked: ChunkedFile): ChunkedFile {
    const { file, chunks } = chunked
    if (this.#totalChunks + chunks.length <= this.#maxTotalChunks) {
      this.#totalChunks += chunks.length
      return chunked
    }
    const sum = `with its ${chunks.length} chunks the sum would exceed ${this.#maxTotalChunks}`
    const message = `left out: ${sum} (max_total_chunks)`
    return createSkippedFile(file.path, { type: 'left-out', code: 'max_total_chunks', message, size: file.bytes })
  }
}

/** Whether the same bytes always give this result. A result of a failed parser can differ from that of the next run. */
export function isReproducible({ warnings }: ChunkedFile): boolean {
  return !warnings.some(({ code }) => code === 'parser')
}

/** Yields files in the given order, and reads up to `ahead` of them at the same time. */
export async function* readAhead<T>(
  paths: readonly string[],
  read: (path: string) => Promise<T>,
  { ahead, signal }: { readonly ahead: number; readonly signal: AbortSignal | undefined },
): AsyncGenerator<readonly [path: string, found: T], void, void> {
  const pending: Promise<T>[] = []
  let started = 0
  for (const path of paths) {
    while (started < paths.length && pending.length < ahead) {
      const found = read(paths[started++] ?? '')
      // The `await` below handles a rejection when the turn of its file comes; until then it must not count as unhandled.
      found.catch(() => undefined)
      pending.push(found)
    }
    const found = await pending.shift()
    signal?.throwIfAborted()
    if (found === undefined) return
    yield [path, found]
  }
}

/** Returns a warning for an entry that cannot be read or named, and for an ignore file that is only partly obeyed. */
export function createSkipWarnings(entry: Exclude<WalkEntry, { type: 'file' }>): ChunkedFile[] {
  const warn = (code: WarningCode, message: string) => {
    return [createSkippedFile(entry.path, { type: 'left-out', code, message, size: 0 })]
  }
  if (entry.type === 'half-obeyed') {
    return warn('ignore_rules', `only the first ${MAX_IGNORE_BYTES} bytes of its rules are obeyed`)
  }
  if (entry.reason === 'name') return warn('unreadable', 'left out: its name is not valid UTF-8')
  return entry.reason === 'unreadable' ? warn('unreadable', 'left out: the folder cannot be read') : []
}

function withChangedWarning(cut: ChunkedFile): ChunkedFile {
  const { path } = cut.file
  const message = 'changed while it was read; this is the last state that was read'
  return { ...cut, warnings: [...cut.warnings, { path, code: 'changed', message }] }
}

function createSkippedFile(path: string, { code, message, size }: SkippedFile): ChunkedFile {
  const file = { path, kind: kindOf(path), bytes: size, sha256: '', lineCount: 1 }
  return { file, chunks: [], warnings: [{ path, code, message }] }
}
