import { decodePart } from './decode-part.ts'
import { isFileUrl } from './file-url.ts'
import { parseHttp } from './key.ts'

/**
 * The kinds of file trees, in contrast to web sites: a local folder or file, an archive, a git repository, a package; or the pages of an
 * import, which cannot be read again.
 */
export type TreeKind = 'folder' | 'archive' | 'repository' | 'package' | 'import'

/** Archives that are opened, by the end of their names. */
export const ARCHIVE_NAME: RegExp = /\.(?:zip|tar|tar\.gz|tgz|tar\.zst)$/i

/** The kind of the tree that an address names; undefined for a web site. */
export function treeKindOf(url: string): TreeKind | undefined {
  if (url.startsWith('git+')) return 'repository'
  if (url.startsWith('pkg:')) return 'package'
  if (url.startsWith(IMPORT_PREFIX)) return 'import'
  const parsed = isFileUrl(url) ? URL.parse(url) : parseHttp(url)
  if (parsed === null || parsed === undefined) return undefined
  if (ARCHIVE_NAME.test(parsed.pathname)) return 'archive'
  return isFileUrl(url) ? 'folder' : undefined
}

/** Prefix that distinguishes an import from a crawl of the same address. */
const IMPORT_PREFIX = 'import+'

/** The import address for a web address. */
export function writeImportUrl(url: string): string {
  return IMPORT_PREFIX + url
}

/** The web address of an import; any other address unchanged. */
export function readImportUrl(url: string): string {
  return url.startsWith(IMPORT_PREFIX) ? url.slice(IMPORT_PREFIX.length) : url
}

/** Normalizes the path of the folder to read within a tree to a path prefix such as `docs/`; empty for the whole tree. */
export function normalizeFolder(path: string | null): string {
  return partsOf(path ?? '')
    .map((part) => `${part}/`)
    .join('')
}

/** The reason why a text does not name a folder of a tree; undefined if it does. */
export function findFolderProblem(path: string): string | undefined {
  if (/[\0\\]/.test(path)) return 'expected a folder with / between its parts'
  return partsOf(path).includes('..') ? 'expected a folder without .. in it' : undefined
}

/**
 * Whether the name of an archive's only top folder may contain a version, and so change with the next version: `manual-1.0`. Files are
 * identified by their paths without this folder.
 */
export function mayContainVersion(folder: string): boolean {
  return /\d/.test(folder)
}

function partsOf(path: string): string[] {
  return path.split('/').filter((part) => part !== '' && part !== '.')
}

/** Separates the address of a tree from the path of a file in it, as in addresses of Java archives. */
const INNER_SEPARATOR = '!/'

/** The address of a file inside a tree whose files have no addresses of their own. */
export function writeInnerUrl(tree: string, path: string): string {
  return innerUrlPrefix(tree) + encodePath(path)
}

/** The beginning of the addresses of files in a tree. The query of an archive's address does not apply to its files. */
function innerUrlPrefix(tree: string): string {
  return tree.replace(/\?.*$/s, '') + INNER_SEPARATOR
}

/** Whether a browser can open an address: http or https, and not that of a file inside an archive. */
export function isWebPageUrl(url: string): boolean {
  if (!/^https?:\/\//i.test(url)) return false
  const [path = ''] = url.split(/[?#]/)
  return !path
    .split(INNER_SEPARATOR)
    .slice(0, -1)
    .some((tree) => ARCHIVE_NAME.test(tree))
}

/** The path of a file inside a tree, from an address of `writeInnerUrl`; undefined for any other address. */
export function readInnerPath(tree: string, url: string): string | undefined {
  const start = innerUrlPrefix(tree)
  if (!url.startsWith(start)) return undefined
  return decodePart(url.slice(start.length).replace(/#.*$/s, ''))
}

/** A path encoded for an address. */
export function encodePath(path: string): string {
  return encodeURI(path).replace(/[?#]/g, encodeURIComponent)
}
