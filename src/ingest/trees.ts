import { realpathSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { kindOf } from '../core/chunk/kind.ts'
import { PharosError } from '../core/errors.ts'
import type { Kind } from '../core/model.ts'
import { baseName } from '../core/text/path.ts'
import { isFileUrl, isOwnPlace } from '../core/url/file-url.ts'
import type { Registries } from '../core/url/package-url.ts'
import { parseTreeUrl } from '../core/url/parse-tree-url.ts'
import type { GitAccess } from '../core/url/repository-url.ts'
import { decodePath, type TreeKind, treeKindOf } from '../core/url/tree-url.ts'
import { isDocumentPage } from '../documents/formats.ts'
import type { Downloads, ProxyWay } from '../library/download.ts'
import type { OpenTree, TreeFacts, TreeOptions, TreeReader } from '../library/tree.ts'
import type { FilePages } from './read-file-page.ts'
import type { FolderReaderOptions } from './read-folder.ts'
import { isSystemError } from './walk-folder.ts'

/** How trees of files are read. */
export interface TreeReaderOptions extends FolderReaderOptions {
  /** Most bytes of an archive when it is unpacked, a fourth of that when it is downloaded; most bytes of a repository. @default 1 GB */
  readonly maxArchiveBytes?: number
  /** Where packages come from. @default the public registries */
  readonly registries?: Registries
  /** Opens ways to download, when the first archive of the web, package or repository is read. @default nothing is downloaded */
  readonly openDownloads?: () => Promise<Downloads>
  /** What git is lent of this machine. @default nothing */
  readonly git?: GitAccess
}

/** A reader of trees that must be closed. */
export interface OpenTreeReader extends TreeReader {
  close(): Promise<void>
}

/** Kinds of files whose pages are Markdown, as those of documents are. */
const MARKUP: ReadonlySet<Kind> = new Set<Kind>(['markdown', 'html'])

/** Opens a reader of trees. What it takes to read one is loaded with the first: most who open a library never need it. */
export function openTreeReader(options: TreeReaderOptions): OpenTreeReader {
  const pages = openOnce(async () => (await import('./read-file-page.ts')).openFilePages(options))
  const downloads = openOnce(async () => {
    if (options.openDownloads === undefined) throw new PharosError('USAGE', { problem: 'nothing is downloaded here' })
    return options.openDownloads()
  })
  const parts: OpenerParts = { ...options, openDownloads: downloads.open }
  const open: TreeReader['open'] = async (address, asked) => {
    return OPENERS[openerOf(address)](address, await pages.open(), parts, asked)
  }
  return {
    addressOf,
    open,
    describe: async (address, asked) => {
      const known = await describeFar(address, parts, asked)
      if (known !== undefined) return known
      const { url, name, version, close } = await open(address, asked)
      await close()
      return { url, name, ...(version === undefined ? {} : { version }) }
    },
    watch: async (address, listener) => {
      const { watchFolder } = await import('./watch-folder.ts')
      return watchFolder(address, await pages.open(), options, listener)
    },
    keepsLines: (key) => !MARKUP.has(kindOf(key)) && !isDocumentPage(key),
    cut: async (path, text, sizes) => (await pages.open()).cut(path, text, sizes),
    async close() {
      await Promise.all([pages.close(), downloads.close()])
    },
  }
}

/** What openers are given. */
interface OpenerParts extends TreeReaderOptions {
  readonly openDownloads: () => Promise<Downloads>
}

type Opener = (address: string, pages: FilePages, parts: OpenerParts, asked?: TreeOptions) => Promise<OpenTree>

/** Who opens which tree; each is loaded with the first of its kind. What was imported cannot be opened again. */
const OPENERS: Readonly<Record<Exclude<TreeKind, 'import'>, Opener>> = {
  folder: async (...given) => (await import('./read-folder.ts')).openFolder(...given),
  archive: async (address, pages, parts, asked) => {
    const openDownload = async () => (await parts.openDownloads()).web
    return (await import('./open-archive.ts')).openArchive(address, pages, { ...parts, openDownload }, asked)
  },
  package: async (address, pages, parts, asked) => {
    const openDownload = async () => (await parts.openDownloads()).registry
    return (await import('./open-package.ts')).openPackage(address, pages, { ...parts, openDownload }, asked)
  },
  repository: async (address, pages, { git = NO_ACCESS, openDownloads, ...parts }, asked) => {
    const resolveHost = async (host: string, port: number) => (await openDownloads()).resolve(host, port)
    const openProxy = async (way: ProxyWay) => (await openDownloads()).openProxy(way)
    const { openRepository } = await import('./open-repository.ts')
    return openRepository(address, pages, { ...parts, git, resolveHost, openProxy }, asked)
  },
}

const NO_ACCESS: GitAccess = { environment: {}, tokenFor: () => undefined }

/** What a tree of the web is, without downloading it; undefined for one that is better opened. */
async function describeFar(address: string, parts: OpenerParts, asked?: TreeOptions): Promise<TreeFacts | undefined> {
  const kind = openerOf(address)
  if (kind === 'package') {
    const openDownload = async () => (await parts.openDownloads()).registry
    return (await import('./open-package.ts')).describePackage(address, { ...parts, openDownload }, asked)
  }
  if (kind === 'repository' && !isOwnPlace(address)) {
    return (await import('./open-repository.ts')).describeRepository(address, asked)
  }
  if (kind !== 'archive' || isFileUrl(address)) return undefined
  return { url: address, name: baseName(decodePath(new URL(address).pathname)) }
}

/** Which opener an address is for. A folder may be called like an archive. */
function openerOf(address: string): keyof typeof OPENERS {
  const kind = treeKindOf(address)
  if (kind === undefined || kind === 'import')
    throw new PharosError('URL_INVALID', { url: address, problem: 'it is no tree of files' })
  return kind === 'archive' && isFileUrl(address) && isFolder(fileURLToPath(address)) ? 'folder' : kind
}

function isFolder(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
  } catch (error) {
    // Whoever opens it says what is wrong.
    if (isSystemError(error)) return false
    throw error
  }
}

/** Something that is opened when it is first needed. */
interface Once<T> {
  open(): Promise<T>
  close(): Promise<void>
}

function openOnce<T extends { close(): Promise<void> }>(open: () => Promise<T>): Once<T> {
  let opening: Promise<T> | undefined
  return {
    open() {
      opening ??= open()
      return opening
    },
    async close() {
      // What failed to open needs no end.
      await (await opening?.catch(() => undefined))?.close()
    },
  }
}

/** Schemes have two letters at least, so that `C:\docs` would be a path. */
const SCHEME = /^[a-z][a-z0-9+.-]+:/i

function addressOf(text: string): string | undefined {
  const far = parseTreeUrl(text)
  if (far !== undefined && !isOwnPlace(far)) return far
  if (far !== undefined) {
    const folder = placeOf(far.replace(/^git\+/, ''))
    return folder === undefined ? undefined : `git+${folder}`
  }
  return text === '' || (SCHEME.test(text) && !isFileUrl(text.toLowerCase())) ? undefined : placeOf(text)
}

/** The address of what a path or `file:` address leads to. */
function placeOf(text: string): string | undefined {
  try {
    const path = /^file:/i.test(text) ? fileURLToPath(text) : resolve(text)
    return pathToFileURL(realPathOf(path)).href
  } catch (error) {
    // A `file:` address that names another machine, or that holds an encoded slash.
    if (error instanceof TypeError) return undefined
    throw error
  }
}

/** The real path of something; of what is not there, the path as it would be. */
function realPathOf(path: string): string {
  try {
    return realpathSync.native(path)
  } catch (error) {
    if (isSystemError(error)) return path
    throw error
  }
}
