import type { ChunkSizes } from '../../core/chunk/piece.ts'
import type { ChunkProfile } from '../../core/chunk/profiles.ts'
import type { PathSelection } from '../../core/folder/path-selection.ts'
import type { ChunkedFile } from '../../core/model.ts'
import { decodePart } from '../../core/url/decode-part.ts'
import { isFileUrl } from '../../core/url/file-url.ts'
import { dropSlash, keyInScope, parseHttp, toggleSlash, urlKey } from '../../core/url/key.ts'
import { readRepositoryPath } from '../../core/url/repository-url.ts'
import {
  encodePath,
  mayContainVersion,
  normalizeFolder,
  readImportUrl,
  readInnerPath,
  treeKindOf,
  writeInnerUrl,
} from '../../core/url/tree-url.ts'
import type { LedgerRow, Refusal } from '../../crawl/ledger.ts'
import type { Discovery, Reason } from '../../crawl/ledger-reasons.ts'
import type { PageRecord } from '../../crawl/settlement.ts'
import type { Library } from '../library.ts'
import type { InstalledTypes, Source } from '../source.ts'

/** Reads trees of files: local folders, archives, Git repositories, packages. It opens only local paths that the library owner named. */
export interface TreeReader {
  /** Returns the address of a path, archive, repository or package in any notation, whether it exists or not; undefined for web sites. */
  addressOf(text: string): string | undefined
  /**
   * Opens a tree or single file by its address. Throws `SOURCE_NOT_FOUND`, `SOURCE_UNREADABLE`, or `SOURCE_IS_PACK` for a pack. The caller
   * must close it.
   */
  open(address: string, options?: TreeOptions): Promise<OpenTree>
  /** Describes a tree, reading as little as possible. Throws as `open` does. */
  describe(address: string, options?: TreeOptions): Promise<TreeFacts>
  /** The configured registries of a package, in the order in which they are asked; none if their settings are broken. */
  listRegistries(address: string): Promise<readonly string[]>
  /** Watches a local folder by its address. Throws as `open` does, and for anything but a folder. The caller must close it. */
  watch?(address: string, listener: WatchListener): Promise<TreeWatch>
  /** Whether the page of a file has the lines of the file; documents are converted to Markdown. */
  keepsLines(key: string): boolean
  /** Chunks the text of a file by the rules of its kind. */
  chunkText(path: string, text: string, sizes: ChunkSizes): Promise<ChunkedFile>
}

/** Options for opening a tree. */
export interface TreeOptions {
  /** Chunk profile of its files. @default library */
  readonly profile?: ChunkProfile
  /** Branch, tag or commit of a repository. @default the default branch */
  readonly ref?: string | null
  /** Folder to read; paths are relative to it. @default all */
  readonly path?: string | null
  /**
   * Folder of this machine in which a package is installed. Its files are read instead of the archive of the registry if they are those of
   * the package at its version. @default none
   */
  readonly installedAt?: string | undefined
  /** The `@types` package with declarations for the installed package. @default none */
  readonly types?: InstalledTypes | undefined
  /** Registries that are asked for a package, in this order. @default those that are configured */
  readonly registries?: readonly string[] | undefined
  /** Digests of a lock file, one of which the archive of a package must have: `sha512-<hexadecimal>`. @default none */
  readonly hashes?: readonly string[] | undefined
  /** Headers for downloading an archive, sent only to its own origin. @default none */
  readonly headers?: Readonly<Record<string, string>>
  /** Reads the ledger rows of a complete earlier run, so that unchanged content is not downloaded again. @default none */
  readonly readLastRows?: () => Promise<readonly LedgerRow[]>
  readonly signal?: AbortSignal
}

/** Description of a tree. */
export interface TreeFacts {
  /** Its address; a folder ends with a slash. */
  readonly url: string
  /** Its own name. */
  readonly name: string
  /** Version of its content, if it declares one. */
  readonly version?: string
  /** Address of the registry from which a package comes, without a user name and password; undefined if it is read where it is installed. */
  readonly registry?: string
  /** Digest of the archive from which a package is read: `sha512-<hexadecimal>`. */
  readonly archive?: string
}

/** An open tree. */
export interface OpenTree extends TreeFacts {
  /** Identity of the folder, which differs for another folder at the same path, such as after mounting a disk. */
  readonly folderId: string
  /** How its files were found. @default folder */
  readonly discovery?: Discovery
  /** Web page of the package version that is read, if it comes from a public registry. */
  readonly packagePage?: string
  /** Addresses of documentation that the metadata of a package name; undefined if they were not read. */
  readonly documentation?: readonly string[]
  /** Returns the address at which a user can open a file. */
  addressOf(path: string): string
  /**
   * Walks all entries by relative path; a skipped folder is reported without its content. With a focus, only the entries in the
   * focus are walked, if the tree supports that.
   */
  walk(signal: AbortSignal, focus?: PathSelection): AsyncIterable<TreeEntry>
  /** Reads a file, or one page of it, unless it is unchanged. Rejects if the tree itself no longer exists. */
  read(file: TreeFile, known: KnownFile): Promise<FileReading>
  close(): Promise<void>
}

/** Receiver of changes in a folder. */
export interface WatchListener {
  /** Called with the relative path of a possible change; an empty path means anywhere. */
  readonly onChange: (path: string) => void
  /** Poll interval in milliseconds, instead of notifications of the system. @default polls only if the system sends no notifications */
  readonly pollMs?: number | undefined
}

/** A watched folder. */
export interface TreeWatch {
  /** Identity of the folder, as in {@link OpenTree.folderId}. */
  readonly folderId: string
  /** Number of watched folders. */
  readonly folders: number
  /** Why the folder is polled; null while the system sends notifications. */
  readonly polling: { readonly problem: string; readonly everyMs: number } | null
  /**
   * Walks the folder or a part of it, and watches every folder on the way. Rejects with `SOURCE_NOT_FOUND` if the folder no longer exists
   * or another one is at its path.
   */
  walk(focus: PathSelection | undefined, signal: AbortSignal): AsyncIterable<TreeEntry>
  /** Reads a stamp that changes with every change of a file; null if the file is missing or cannot be inspected. */
  readStamp(path: string): Promise<string | null>
  close(): void
}

/** A file of a tree, or one of its pages. */
export interface TreeFile {
  readonly path: string
  readonly part: string | null
}

/** An entry of a folder. Paths use `/`; the path of a folder ends with `/`. */
export type TreeEntry =
  | { readonly type: 'file'; readonly path: string }
  | { readonly type: 'refused'; readonly path: string; readonly refusal: Refusal }
  | { readonly type: 'unreadable'; readonly path: string }

/** Stored facts of a file from the last read; null where they cannot be trusted. */
export interface KnownFile {
  /** Identifies its bytes. */
  readonly version: string | null
  /** Shows without a read whether the file is unchanged. */
  readonly stamp: string | null
}

/** Result of reading a file. */
export type FileReading =
  | ((
      | { readonly type: 'unchanged' }
      | {
          readonly type: 'page'
          readonly record: PageRecord
          /** Stores the page even if its text is unchanged, because its chunks or metadata differ. @default false */
          readonly isRecut?: boolean
        }
      /** The file has several pages, each read separately. */
      | { readonly type: 'container'; readonly parts: readonly string[] }
      /** The file has nothing to index. */
      | { readonly type: 'no-page'; readonly reason: Reason; readonly pattern: string | null }
    ) &
      KnownFile & {
        /** Number of bytes read. */
        readonly bytes: number
        /** Additional explanation. */
        readonly detail: string | null
      })
  | { readonly type: 'missing' }
  | { readonly type: 'failed'; readonly reason: 'unreadable' | 'page-defect'; readonly detail: string }

/** Whether a source is a tree of files rather than a web site. */
export function isTree({ url }: Pick<Source, 'url'>): boolean {
  return treeKindOf(url) !== undefined
}

/** Returns the address of a file in a tree whose files have no web addresses. A source that is a single file has only its own address. */
export function writeFileUrl(source: string, path: string): string {
  const kind = treeKindOf(source)
  // Imported pages have their addresses as keys.
  if (kind === 'import') return path
  if (kind !== 'folder') return writeInnerUrl(source, path)
  return source.endsWith('/') ? source + encodePath(path) : source
}

/** Key of one page in a file with several pages. */
export function partKey(path: string, part: string): string {
  return `${path}#${part}`
}

/** Lists possible keys of an absolute or relative address in a source, likeliest first. */
function keysIn(source: Source, text: string): string[] {
  const kind = treeKindOf(source.url)
  const key = keyOf(source, text)
  // An archive may have a top folder that is not part of its keys.
  const [, top = '', rest = ''] = /^([^/]+)\/(.+)$/s.exec(readInnerPath(source.url, text) ?? '') ?? []
  const below =
    kind === 'archive' && mayContainVersion(top) ? keyOf(source, writeInnerUrl(source.url, rest)) : undefined
  // A user need not know whether the address ends with a slash.
  const other = kind === undefined && key !== undefined ? toggleSlash(key) : undefined
  return [key, below, other].flatMap((one) => one ?? [])
}

/** Returns the key of an absolute or relative address in a source. */
function keyOf(source: Source, text: string): string | undefined {
  const { url: start, siteUrl, scope } = source
  const kind = treeKindOf(start)
  if (kind === 'folder') return keyInFolder(start, text)
  if (kind === 'import') return keyInImport(start, text)
  if (kind !== undefined) return keyInTree(source, text)
  const url = URL.parse(text, siteUrl)
  return url === null ? undefined : keyInScope(scope, url)
}

/** Returns the key of an imported page: its whole address without a trailing slash. */
export function importKey(url: URL | string): string | undefined {
  const key = urlKey(url, { keepsQuery: true, keepsSession: true })
  return key && dropSlash(key)
}

function keyInImport(start: string, text: string): string | undefined {
  const url = URL.parse(text, readImportUrl(start))
  return url === null ? undefined : importKey(url)
}

/**
 * The key of a file is its path below the folder that is read. A text that is not an address is such a path, or a path from the top of
 * the tree.
 */
function keyInTree({ url, settings }: Source, text: string): string | undefined {
  const inner = treeKindOf(url) === 'repository' ? readRepositoryPath(url, text) : readInnerPath(url, text)
  if (inner === undefined && URL.canParse(text)) return undefined
  const folder = normalizeFolder(settings.tree.path)
  const path = inner ?? text
  if (path.startsWith(folder)) return path.slice(folder.length)
  return inner === undefined ? path : undefined
}

/**
 * The key of a file is its path in the folder, so that it does not depend on where the folder is. A source of a single file has only that
 * key.
 */
function keyInFolder(start: string, text: string): string | undefined {
  if (parseHttp(text) !== undefined) return undefined
  const folder = start.slice(0, start.lastIndexOf('/') + 1)
  const base = readPath(folder)
  const path = readPath(text) ?? readPath(writeFileUrl(folder, text))
  if (base === undefined || path === undefined || !path.startsWith(base) || path === base) return undefined
  const key = path.slice(base.length)
  const fileName = decodePart(start.slice(folder.length))
  return fileName === '' || key === fileName || key.startsWith(partKey(fileName, '')) ? key : undefined
}

/**
 * Lists possible keys of an address in a source, likeliest first. A path may start at a source folder or at the current directory; a
 * fragment may name one page of a file.
 */
export function keysOf({ trees }: Pick<Library, 'trees'>, source: Source, text: string): string[] {
  const address = treeKindOf(source.url) === 'folder' ? trees?.addressOf(text) : undefined
  const keys = [text, ...(address === undefined ? [] : [address])].flatMap((one) => keysIn(source, one))
  const fragment = isTree(source) ? readFragment(text) : ''
  const parts = fragment === '' ? [] : keys.map((key) => partKey(key, fragment))
  return [...new Set([...parts, ...keys])]
}

/** Returns the fragment of an address; empty for a text without a scheme, where `#` is part of the path. */
function readFragment(text: string): string {
  const hash = URL.parse(text)?.hash ?? ''
  return hash === '' ? '' : decodePart(hash.slice(1))
}

/** Returns the path of a `file:` address or of an absolute path; undefined for any other text. */
function readPath(text: string): string | undefined {
  if (text.startsWith('/')) return text
  const url = isFileUrl(text) ? URL.parse(text) : null
  return url === null ? undefined : decodePart(url.pathname)
}

/** Whether two addresses are the same folder or file. */
export function isSamePath(a: string, b: string): boolean {
  const [one, other] = [readPath(a), readPath(b)].map((path) => path?.replace(/(?<=.)\/$/, ''))
  return one !== undefined && one === other
}
