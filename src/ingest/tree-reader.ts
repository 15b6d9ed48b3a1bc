import { realpathSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { kindOf } from '../core/chunk/kind.ts'
import { PharosError, usageError } from '../core/errors.ts'
import type { Kind } from '../core/model.ts'
import { baseName } from '../core/text/path.ts'
import { decodePart } from '../core/url/decode-part.ts'
import { isFileUrl, isLocalUrl } from '../core/url/file-url.ts'
import { PUBLIC_REGISTRIES, parsePackageUrl } from '../core/url/package-url.ts'
import { parseTreeUrl } from '../core/url/parse-tree-url.ts'
import type { GitAccess } from '../core/url/repository-url.ts'
import { type TreeKind, treeKindOf } from '../core/url/tree-url.ts'
import { isDocumentPage } from '../documents/formats.ts'
import type { Downloads, ProxyTarget } from '../library/ports/download.ts'
import { listRegistries, type RegistriesOption } from '../library/ports/registries.ts'
import type { OpenTree, TreeFacts, TreeOptions, TreeReader } from '../library/ports/tree.ts'
import { createLazy } from './lazy-resource.ts'
import type { FilePages } from './read-file-page.ts'
import type { FolderReaderOptions } from './read-folder.ts'
import { isSystemError } from './walk-folder.ts'

/** How trees of files are read. */
export interface TreeReaderOptions extends FolderReaderOptions {
  /** Limit of an archive's unpacked bytes and of a repository's bytes. An archive's download may have a fourth of it. @default 1 GB */
  readonly maxArchiveBytes?: number
  /** The package registries. @default the public ones */
  readonly registries?: RegistriesOption
  /** Opens downloads, when the first web archive, package or repository is read. @default downloads are disabled */
  readonly openDownloads?: () => Promise<Downloads>
  /** Environment and tokens for git. @default none */
  readonly git?: GitAccess
}

/** A reader of trees that must be closed. */
export interface OpenTreeReader extends TreeReader {
  close(): Promise<void>
}

/** Kinds of files whose pages are Markdown, like those of documents. */
const MARKUP: ReadonlySet<Kind> = new Set<Kind>(['markdown', 'html'])

/** Opens a reader of trees. Its dependencies are loaded with the first tree, because most users of a library never need them. */
export function openTreeReader(options: TreeReaderOptions): OpenTreeReader {
  const pages = createLazy(async () => (await import('./read-file-page.ts')).openFilePages(options))
  const downloads = createLazy(async () => {
    if (options.openDownloads === undefined) throw usageError('downloads are disabled')
    return options.openDownloads()
  })
  const openerOptions: OpenerOptions = { ...options, openDownloads: downloads.open }
  const open: TreeReader['open'] = async (address, treeOptions) => {
    const path = isFileUrl(address) ? realPathOf(fileURLToPath(address)) : ''
    if (options.exclude?.includes(path) === true) {
      throw new PharosError('SOURCE_UNREADABLE', {
        path,
        problem: 'it belongs to the library',
        advice: 'name another file',
      })
    }
    return OPENERS[openerOf(address)](address, await pages.open(), openerOptions, treeOptions)
  }
  return {
    addressOf,
    open,
    describe: async (address, treeOptions) => {
      const known = await describeRemote(address, openerOptions, treeOptions)
      if (known !== undefined) return known
      const { url, name, version, close } = await open(address, treeOptions)
      await close()
      return { url, name, ...(version === undefined ? {} : { version }) }
    },
    listRegistries: (address) => listConfigured(address, options.registries ?? PUBLIC_REGISTRIES),
    watch: async (address, listener) => {
      const { watchFolder } = await import('./watch-folder.ts')
      return watchFolder(address, await pages.open(), options, listener)
    },
    keepsLines: (key) => !MARKUP.has(kindOf(key)) && !isDocumentPage(key),
    chunkText: async (path, text, sizes) => (await pages.open()).cut(path, text, sizes),
    async close() {
      await Promise.all([pages.close(), downloads.close()])
    },
  }
}

async function listConfigured(address: string, given: RegistriesOption): Promise<readonly string[]> {
  const name = parsePackageUrl(address)
  return name === undefined ? [] : listRegistries(name, typeof given === 'function' ? await given() : given)
}

/** Options of the openers. */
interface OpenerOptions extends TreeReaderOptions {
  readonly openDownloads: () => Promise<Downloads>
}

type Opener = (
  address: string,
  pages: FilePages,
  options: OpenerOptions,
  treeOptions?: TreeOptions,
) => Promise<OpenTree>

/** The opener of each kind of tree, loaded on first use. An import cannot be opened again. */
const OPENERS: Readonly<Record<Exclude<TreeKind, 'import'>, Opener>> = {
  folder: async (...args) => (await import('./read-folder.ts')).openFolder(...args),
  archive: async (address, pages, options, treeOptions) => {
    const openDownload = async () => (await options.openDownloads()).web
    return (await import('./archive/open-archive.ts')).openArchive(
      address,
      pages,
      { ...options, openDownload },
      treeOptions,
    )
  },
  package: async (address, pages, options, treeOptions) => {
    const openDownload = async () => (await options.openDownloads()).registry
    return (await import('./open-package.ts')).openPackage(address, pages, { ...options, openDownload }, treeOptions)
  },
  repository: async (address, pages, { git = NO_GIT_ACCESS, openDownloads, ...options }, treeOptions) => {
    const resolveHost = async (host: string, port: number) => (await openDownloads()).resolve(host, port)
    const openProxy = async (target: ProxyTarget) => (await openDownloads()).openProxy(target)
    const { openRepository } = await import('./open-repository.ts')
    return openRepository(address, pages, { ...options, git, resolveHost, openProxy }, treeOptions)
  },
}

const NO_GIT_ACCESS: GitAccess = { environment: {}, tokenFor: () => undefined }

/** Describes a web tree without downloading it; undefined for one that must be opened. */
async function describeRemote(
  address: string,
  options: OpenerOptions,
  treeOptions?: TreeOptions,
): Promise<TreeFacts | undefined> {
  const kind = openerOf(address)
  if (kind === 'package') {
    const openDownload = async () => (await options.openDownloads()).registry
    return (await import('./open-package.ts')).describePackage(address, { ...options, openDownload }, treeOptions)
  }
  if (kind === 'repository' && !isLocalUrl(address)) {
    return (await import('./open-repository.ts')).describeRepository(address, treeOptions)
  }
  if (kind !== 'archive' || isFileUrl(address)) return undefined
  return { url: address, name: baseName(decodePart(new URL(address).pathname)) }
}

/** The opener of an address. A folder may have the name of an archive. */
function openerOf(address: string): keyof typeof OPENERS {
  const kind = treeKindOf(address)
  if (kind === undefined || kind === 'import')
    throw new PharosError('URL_INVALID', {
      url: address,
      problem: 'it is not a folder, archive, package or repository',
    })
  return kind === 'archive' && isFileUrl(address) && isFolder(fileURLToPath(address)) ? 'folder' : kind
}

function isFolder(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
  } catch (error) {
    // The opener reports the problem.
    if (isSystemError(error)) return false
    throw error
  }
}

/** Schemes have at least two letters, so that `C:\docs` is a path. */
const SCHEME = /^[a-z][a-z0-9+.-]+:/i

function addressOf(text: string): string | undefined {
  const treeUrl = parseTreeUrl(text)
  if (treeUrl !== undefined && !isLocalUrl(treeUrl)) return treeUrl
  if (treeUrl !== undefined) {
    const folder = fileUrlOf(treeUrl.replace(/^git\+/, ''))
    return folder === undefined ? undefined : `git+${folder}`
  }
  return text === '' || (SCHEME.test(text) && !isFileUrl(text.toLowerCase())) ? undefined : fileUrlOf(text)
}

/** The address of a path or `file:` URL. */
function fileUrlOf(text: string): string | undefined {
  try {
    const path = /^file:/i.test(text) ? fileURLToPath(text) : resolve(text)
    return pathToFileURL(realPathOf(path)).href
  } catch (error) {
    // A `file:` URL with another host or an encoded slash.
    if (error instanceof TypeError) return undefined
    throw error
  }
}

/** The real path of a file or folder; the path itself if nothing exists there. */
function realPathOf(path: string): string {
  try {
    return realpathSync.native(path)
  } catch (error) {
    if (isSystemError(error)) return path
    throw error
  }
}
