import type { ChunkSizes } from '../core/chunk/piece.ts'
import type { ChunkProfile } from '../core/chunk/profiles.ts'
import type { Focus } from '../core/folder/focus.ts'
import type { ChunkedFile } from '../core/model.ts'
import { isFileUrl } from '../core/url/file-url.ts'
import { dropSlash, keyInScope, parseHttp, toggleSlash, urlKey } from '../core/url/key.ts'
import { readRepositoryPath } from '../core/url/repository-url.ts'
import {
  decodePath,
  encodePath,
  namesVersion,
  readFolder,
  readImportUrl,
  readInnerPath,
  treeKindOf,
  writeInnerUrl,
} from '../core/url/tree-url.ts'
import type { Discovery, LedgerRow, PageRecord, Reason, Refusal } from '../crawl/ledger.ts'
import type { Library } from './library.ts'
import type { Source } from './source.ts'

/**
 * Reads trees of files: folders of this machine, archives, repositories of git, packages. Of this machine nothing is ever opened but what
 * the owner of a library named by hand.
 */
export interface TreeReader {
  /**
   * The address of a path, archive, repository or package in any form that people write it in, whether there is something or not;
   * undefined for web sites.
   */
  addressOf(text: string): string | undefined
  /**
   * Opens a tree by its address, or a single file. Refuses what is not there (`SOURCE_NOT_FOUND`), what may not be read
   * (`SOURCE_UNREADABLE`) and a pack (`SOURCE_IS_PACK`). It is to be closed.
   */
  open(address: string, options?: TreeOptions): Promise<OpenTree>
  /** Says what a tree is, with as little of it read as that takes. Refuses as `open` does. */
  describe(address: string, options?: TreeOptions): Promise<TreeFacts>
  /** Watches a folder of this machine by its address. Refuses as `open` does, and what is no folder. It is to be closed. */
  watch?(address: string, listener: WatchListener): Promise<TreeWatch>
  /** Whether the page of a file has its lines as they are; those of documents are Markdown. */
  keepsLines(key: string): boolean
  /** Cuts the text of a file by the rules of its kind. */
  cut(path: string, text: string, sizes: ChunkSizes): Promise<ChunkedFile>
}

/** How a tree is opened. */
export interface TreeOptions {
  /** How its files are cut. @default library */
  readonly profile?: ChunkProfile
  /** Branch, tag or commit of a repository. @default what it gives by itself */
  readonly ref?: string | null
  /** The folder of it that is read; paths are relative to it. @default all of it */
  readonly path?: string | null
  /** Fields that an archive of the web is asked for with, at its own origin. @default none */
  readonly headers?: Readonly<Record<string, string>>
  /** Gives what the ledger has of it, where it was read to its end: what is the same need not be downloaded again. @default nothing */
  readonly lastRead?: () => Promise<readonly LedgerRow[]>
  readonly signal?: AbortSignal
}

/** What a tree is. */
export interface TreeFacts {
  /** Its address; that of a folder ends in a slash. */
  readonly url: string
  /** Its own name. */
  readonly name: string
  /** Which version of something it holds, where it says so itself. */
  readonly version?: string
}

/** A tree that was there when it was opened. */
export interface OpenTree extends TreeFacts {
  /** What a folder that takes its place, such as one that a disk is mounted on, does not share with it. */
  readonly place: string
  /** How its files became known. @default folder */
  readonly discovery?: Discovery
  /** Where a reader opens a file of it. */
  addressOf(path: string): string
  /**
   * Everything in it, by paths relative to it; of what is passed over with all it holds, only the folder itself. With a focus only what is
   * in that, where the tree can be looked at in part.
   */
  walk(signal: AbortSignal, focus?: Focus): AsyncIterable<TreeEntry>
  /** Reads a file, or one page of it, unless it is as it was known. Rejects when the tree itself is not there any more. */
  read(file: TreeFile, known: KnownFile): Promise<FileReading>
  close(): Promise<void>
}

/** Whoever is told of changes in a folder. */
export interface WatchListener {
  /** Something may have changed at a path relative to the folder; an empty one stands for anything anywhere. */
  readonly onChange: (path: string) => void
  /** Looks at the folder so often, in milliseconds, instead of being told by the system. @default only where the system cannot tell */
  readonly pollMs?: number | undefined
}

/** A folder that is watched. */
export interface TreeWatch {
  /** Which folder it is, as {@link OpenTree.place}. */
  readonly place: string
  /** Folders in it that are watched. */
  readonly folders: number
  /** Why it is looked at in intervals, in words; null while the system tells what changes. */
  readonly polling: { readonly problem: string; readonly everyMs: number } | null
  /**
   * Looks at all of it, or at a part, and from then on watches every folder that was gone through. Rejects with `SOURCE_NOT_FOUND` when
   * the folder is not there any more, or another is in its place.
   */
  look(focus: Focus | undefined, signal: AbortSignal): AsyncIterable<TreeEntry>
  /** What is another after every change of a file; null for one that is not there, or cannot be looked at. */
  readStamp(path: string): Promise<string | null>
  close(): void
}

/** A file of a tree, or one of the pages that it holds. */
export interface TreeFile {
  readonly path: string
  readonly part: string | null
}

/** Something in a folder. Paths have `/` between their parts; that of a folder ends in one. */
export type TreeEntry =
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
      | {
          readonly type: 'page'
          readonly record: PageRecord
          /** Whether it is to be taken in even where its text is as it was: it is cut, or described, in another way. @default false */
          readonly isRecut?: boolean
        }
      /** It holds several pages, each of which is read for itself. */
      | { readonly type: 'container'; readonly parts: readonly string[] }
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

/** Whether a source is a tree of files rather than a web site. */
export function isTree({ url }: Pick<Source, 'url'>): boolean {
  return treeKindOf(url) !== undefined
}

/** The address of a file of a tree that has none of its own for it. A source that is a single file has no other. */
export function writeFileUrl(source: string, path: string): string {
  const kind = treeKindOf(source)
  // What was imported is known by its addresses.
  if (kind === 'import') return path
  if (kind !== 'folder') return writeInnerUrl(source, path)
  return source.endsWith('/') ? source + encodePath(path) : source
}

/** What a page of several that a file holds is known by. */
export function partKey(path: string, part: string): string {
  return `${path}#${part}`
}

/** What a source may know an address by, in itself or relative to where the source starts, the likeliest first. */
function keysIn(source: Source, text: string): string[] {
  const kind = treeKindOf(source.url)
  const key = keyOf(source, text)
  // All of an archive may be in a folder that is not part of what its files are known by.
  const [, top = '', rest = ''] = /^([^/]+)\/(.+)$/s.exec(readInnerPath(source.url, text) ?? '') ?? []
  const below = kind === 'archive' && namesVersion(top) ? keyOf(source, writeInnerUrl(source.url, rest)) : undefined
  // People need not know whether the address of a page ends in a slash.
  const other = kind === undefined && key !== undefined ? toggleSlash(key) : undefined
  return [key, below, other].flatMap((one) => one ?? [])
}

/** What a source knows an address by, in itself or relative to where the source starts. */
function keyOf(source: Source, text: string): string | undefined {
  const { url: start, siteUrl, scope } = source
  const kind = treeKindOf(start)
  if (kind === 'folder') return keyInFolder(start, text)
  if (kind === 'import') return keyInImport(start, text)
  if (kind !== undefined) return keyInTree(source, text)
  const url = URL.parse(text, siteUrl)
  return url === null ? undefined : keyInScope(scope, url)
}

/** The key of an imported page: its whole address without a slash at the end. */
export function importKey(url: URL | string): string | undefined {
  const key = urlKey(url, { keepsQuery: true, keepsSession: true })
  return key && dropSlash(key)
}

function keyInImport(start: string, text: string): string | undefined {
  const url = URL.parse(text, readImportUrl(start))
  return url === null ? undefined : importKey(url)
}

/** A file is known by its path below the folder that is read. What is no address is taken for such a path, or for one from the top. */
function keyInTree({ url, settings }: Source, text: string): string | undefined {
  const inner = treeKindOf(url) === 'repository' ? readRepositoryPath(url, text) : readInnerPath(url, text)
  if (inner === undefined && URL.canParse(text)) return undefined
  const folder = readFolder(settings.tree.path)
  const path = inner ?? text
  if (path.startsWith(folder)) return path.slice(folder.length)
  return inner === undefined ? path : undefined
}

/**
 * A file is known by its path in the folder, so that it is the same wherever the folder lies. Of the folder that a single file is in,
 * nothing else is known.
 */
function keyInFolder(start: string, text: string): string | undefined {
  if (parseHttp(text) !== undefined) return undefined
  const folder = start.slice(0, start.lastIndexOf('/') + 1)
  const base = readPath(folder)
  const path = readPath(text) ?? readPath(writeFileUrl(folder, text))
  if (base === undefined || path === undefined || !path.startsWith(base) || path === base) return undefined
  const key = path.slice(base.length)
  const only = decodePath(start.slice(folder.length))
  return only === '' || key === only || key.startsWith(partKey(only, '')) ? key : undefined
}

/**
 * What a source may know an address by, the likeliest first. A path may begin at a folder that is a source, or where its reader is; and
 * a fragment may name one page of several that a file holds.
 */
export function keysOf({ trees }: Pick<Library, 'trees'>, source: Source, text: string): string[] {
  const address = treeKindOf(source.url) === 'folder' ? trees?.addressOf(text) : undefined
  const keys = [text, ...(address === undefined ? [] : [address])].flatMap((one) => keysIn(source, one))
  const fragment = isTree(source) ? readFragment(text) : ''
  const parts = fragment === '' ? [] : keys.map((key) => partKey(key, fragment))
  return [...new Set([...parts, ...keys])]
}

/** The fragment of an address; that of a text without a scheme stands in its path. */
function readFragment(text: string): string {
  const hash = URL.parse(text)?.hash ?? ''
  return hash === '' ? '' : decodePath(hash.slice(1))
}

/** The path of a `file:` address, or of one that begins at the root; undefined for any other text. */
function readPath(text: string): string | undefined {
  if (text.startsWith('/')) return text
  const url = isFileUrl(text) ? URL.parse(text) : null
  return url === null ? undefined : decodePath(url.pathname)
}

/** Whether two addresses are of one folder or file. */
export function isSamePlace(a: string, b: string): boolean {
  const [one, other] = [readPath(a), readPath(b)].map((path) => path?.replace(/(?<=.)\/$/, ''))
  return one !== undefined && one === other
}
