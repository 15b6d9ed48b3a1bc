import type { FileReading, KnownFile } from '../library/ports/tree.ts'
import type { FilePage, FilePages, PageFile } from './read-file-page.ts'

/** Number of remembered files: the pages of a file are read one after the other, for several files at a time. */
const MAX_FILES = 64

/** A file at the time its bytes were read. */
export interface SeenFile {
  /** Stamp that shows whether the file is still the same. */
  readonly stamp: string
  /** The recorded state of the file. */
  readonly known: KnownFile
}

/** Remembers the versions of files with several pages, so that each file is read once for all its pages. */
export class SeenVersions {
  readonly #files = new Map<string, SeenFile>()

  /** The state of a file when it was last read; undefined when it has changed or was not read. */
  find(path: string, stamp: string): KnownFile | undefined {
    const seen = this.#files.get(path)
    return seen?.stamp === stamp ? seen.known : undefined
  }

  note(path: string, seen: SeenFile): void {
    this.#files.delete(path)
    this.#files.set(path, seen)
    const [oldest] = this.#files.keys()
    if (this.#files.size > MAX_FILES && oldest !== undefined) this.#files.delete(oldest)
  }
}

/** One page of a file that was read just now; undefined when the file must be read. */
export async function recallPart(
  file: Omit<PageFile, 'bytes' | 'version' | 'readOther'>,
  current: KnownFile | undefined,
  known: KnownFile,
  pages: FilePages,
): Promise<FileReading | undefined> {
  if (file.part === null || current === undefined || current.version === null) return undefined
  if (current.version === known.version) return { type: 'unchanged', ...current, bytes: 0, detail: null }
  const read = await pages.recall({ ...file, version: current.version })
  if (read === undefined || read.type === 'failed' || read.type === 'missing') return read
  return readingOf(read, current, 0)
}

/** The result of reading a file, with its recorded state. */
export function readingOf(
  read: Exclude<FilePage, { readonly type: 'failed' | 'missing' }>,
  current: KnownFile,
  bytes: number,
): Exclude<FileReading, { readonly type: 'failed' | 'missing' }> {
  if (read.type !== 'page') return { ...read, ...current, bytes }
  const { record, isFinal, detail } = read
  return { type: 'page', record, ...(isFinal ? current : UNKNOWN_VERSION), bytes, detail }
}

export const UNKNOWN_VERSION: KnownFile = { version: null, stamp: null }
