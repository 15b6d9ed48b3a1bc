import type { FileReading, KnownFile } from '../library/tree.ts'
import type { FilePage, FilePages, PageFile } from './read-file-page.ts'

/** Files that are kept in mind: the pages of one are asked for one after the other, several files at a time. */
const KEPT = 64

/** What was seen of a file when its bytes were read. */
export interface SeenFile {
  /** By what it can be told that it is the same now. */
  readonly stamp: string
  /** What is recorded of it. */
  readonly known: KnownFile
}

/** Which bytes files had that hold several pages: they are read once for all of these. */
export class SeenVersions {
  readonly #files = new Map<string, SeenFile>()

  /** What a file was when it was last read; undefined where it is another now, or was not read. */
  find(path: string, stamp: string): KnownFile | undefined {
    const seen = this.#files.get(path)
    return seen?.stamp === stamp ? seen.known : undefined
  }

  note(path: string, seen: SeenFile): void {
    this.#files.delete(path)
    this.#files.set(path, seen)
    const [oldest] = this.#files.keys()
    if (this.#files.size > KEPT && oldest !== undefined) this.#files.delete(oldest)
  }
}

/** One page of several, where its file was read a moment ago; undefined where it has to be read. */
export async function recallPart(
  file: Omit<PageFile, 'bytes' | 'version' | 'readOther'>,
  now: KnownFile | undefined,
  known: KnownFile,
  pages: FilePages,
): Promise<FileReading | undefined> {
  if (file.part === null || now === undefined || now.version === null) return undefined
  if (now.version === known.version) return { type: 'unchanged', ...now, bytes: 0, detail: null }
  const read = await pages.recall({ ...file, version: now.version })
  if (read === undefined || read.type === 'failed' || read.type === 'missing') return read
  return readingOf(read, now, 0)
}

/** What a file became, with what is recorded of it. */
export function readingOf(
  read: Exclude<FilePage, { readonly type: 'failed' | 'missing' }>,
  now: KnownFile,
  bytes: number,
): Exclude<FileReading, { readonly type: 'failed' | 'missing' }> {
  if (read.type !== 'page') return { ...read, ...now, bytes }
  const { record, isFinal, detail } = read
  return { type: 'page', record, ...(isFinal ? now : UNKNOWN), bytes, detail }
}

export const UNKNOWN: KnownFile = { version: null, stamp: null }
