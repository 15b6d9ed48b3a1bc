import type { ChunkSizes } from '../core/chunk/piece.ts'
import type { ChunkProfile } from '../core/chunk/profiles.ts'
import type { ChunkedFile } from '../core/model.ts'
import { baseName } from '../core/text/path.ts'
import { isFileUrl } from '../core/url/file-url.ts'
import { parseHttp, urlKey } from '../core/url/key.ts'
import type { PageRecord, Reason, Refusal } from '../crawl/ledger.ts'
import type { Library } from './library.ts'
import type { Source } from './source.ts'

/** Reads folders of this machine. Nothing but what the owner of a library named by hand is ever opened. */
export interface FolderReader {
  /** The address of a path or `file:` address, whether there is something or not; undefined for another kind of address. */
  addressOf(text: string): string | undefined
  /**
   * Opens a folder, or a single file, by its address. Refuses what is not there (`SOURCE_NOT_FOUND`), what may not be read
   * (`SOURCE_UNREADABLE`) and a pack (`SOURCE_IS_PACK`). Its files are cut as the profile says, by default as pages of a library.
   */
  open(address: string, profile?: ChunkProfile): Promise<OpenFolder>
  /** Cuts the text of a file by the rules of its kind. */
  cut(path: string, text: string, sizes: ChunkSizes): Promise<ChunkedFile>
}

/** A folder that was there when it was opened. */
export interface OpenFolder {
  /** Its `file:` address; that of a folder ends in a slash. */
  readonly url: string
  /** Its own name. */
  readonly name: string
  /** What a folder that takes its place, such as one that a disk is mounted on, does not share with it. */
  readonly place: string
  /** Everything in it, by paths relative to it; of what is passed over with all it holds, only the folder itself. */
  walk(signal: AbortSignal): AsyncIterable<FolderEntry>
  /** Reads a file, unless it is as it was known. Rejects when the folder itself is not there any more. */
  read(path: string, known: KnownFile): Promise<FileReading>
}

/** Something in a folder. Paths have `/` between their parts; that of a folder ends in one. */
export type FolderEntry =
  | { readonly type: 'file'; readonly path: string }
  | { readonly type: 'refused'; readonly path: string; readonly refusal: Refusal }
  | { readonly type: 'unreadable'; readonly path: string }

/** What was kept of a file when it was last read; null for what is not to be relied on. */
export interface KnownFile {
  /** What its bytes were. */
  readonly version: string | null
  /** By what it can be told unchanged without being read. */
  readonly stamp: string | null
}

/** What a file held. */
export type FileReading =
  | ((
      | { readonly type: 'unchanged' }
      | { readonly type: 'page'; readonly record: PageRecord }
      /** There is nothing to index in it. */
      | { readonly type: 'no-page'; readonly reason: Reason; readonly pattern: string | null }
    ) &
      KnownFile & {
        /** Bytes that were read. */
        readonly bytes: number
        /** What there is to say about it, in words. */
        readonly detail: string | null
      })
  | { readonly type: 'missing' }
  | { readonly type: 'failed'; readonly reason: 'unreadable' | 'page-defect'; readonly detail: string }

/** Whether a source is a folder or file of this machine. */
export function isFolder({ url }: Pick<Source, 'url'>): boolean {
  return isFileUrl(url)
}

/** The address of a file of a folder. A source that is a single file has no other. */
export function writeFileUrl(source: string, path: string): string {
  return source.endsWith('/') ? source + encodeURI(path).replace(/[?#]/g, encodeURIComponent) : source
}

/**
 * What a source knows an address by, in itself or relative to where the source starts: a file by its path in the folder, so that it
 * is the same wherever the folder lies; everything else by the key of its address.
 */
function keyOf({ url: start, siteUrl, scope }: Source, text: string): string | undefined {
  if (!isFolder({ url: start })) {
    const url = URL.parse(text, siteUrl)
    return url === null ? undefined : urlKey(url, { keepsQuery: scope.allowQueryUrls, keepsSession: !scope.trapGuards })
  }
  if (parseHttp(text) !== undefined) return undefined
  const base = readPath(start)
  const path = readPath(text) ?? readPath(writeFileUrl(start, text))
  if (base === undefined || path === undefined) return undefined
  if (!base.endsWith('/')) return path === base || text === baseName(base) ? baseName(base) : undefined
  return path.startsWith(base) && path !== base ? path.slice(base.length) : undefined
}

/** What a source may know an address by, the likeliest first. A path may begin at a folder that is a source, or where its reader is. */
export function keysOf({ folders }: Pick<Library, 'folders'>, source: Source, text: string): string[] {
  const address = isFolder(source) ? folders?.addressOf(text) : undefined
  const keys = [text, ...(address === undefined ? [] : [address])].flatMap((one) => keyOf(source, one) ?? [])
  return [...new Set(keys)]
}

/** The path of a `file:` address, or of one that begins at the root; undefined for any other text. */
function readPath(text: string): string | undefined {
  if (text.startsWith('/')) return text
  const url = text.startsWith('file:') ? URL.parse(text) : null
  if (url === null) return undefined
  try {
    return decodeURIComponent(url.pathname)
  } catch (error) {
    // A percent sign that encodes nothing.
    if (error instanceof URIError) return url.pathname
    throw error
  }
}

/** Whether two addresses are of one folder or file. */
export function isSamePlace(a: string, b: string): boolean {
  const [one, other] = [readPath(a), readPath(b)].map((path) => path?.replace(/(?<=.)\/$/, ''))
  return one !== undefined && one === other
}
