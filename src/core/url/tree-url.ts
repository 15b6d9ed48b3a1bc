import { isFileUrl } from './file-url.ts'
import { parseHttp } from './key.ts'

/**
 * The kinds of file trees, in contrast to web sites: a local folder or file, an archive, a git repository, a package; or the pages of an
 * import, which cannot be read again.
 */
export type TreeKind = 'folder' | 'archive' | 'repository' | 'package' | 'import'

/** Archives that are opened, by the end of their names. */
export const ARCHIVE_NAME: RegExp = /\.(?:zip|tar|tar\.gz|tgz|tar\.zst)$/i

/** Which tree of files an address names; undefined for a web site. */
export function treeKindOf(url: string): TreeKind | undefined {
  if (url.startsWith('git+')) return 'repository'
  if (url.startsWith('pkg:')) return 'package'
  if (url.startsWith(IMPORTED)) return 'import'
  const parsed = isFileUrl(url) ? URL.parse(url) : parseHttp(url)
  if (parsed === null || parsed === undefined) return undefined
  if (ARCHIVE_NAME.test(parsed.pathname)) return 'archive'
  return isFileUrl(url) ? 'folder' : undefined
}

/** Tells what was imported from a crawl of the same address. */
const IMPORTED = 'import+'

/** The address of what was imported for an address of the web. */
export function writeImportUrl(url: string): string {
  return IMPORTED + url
}

/** The address of the web that something was imported for; any other address as it is. */
export function readImportUrl(url: string): string {
  return url.startsWith(IMPORTED) ? url.slice(IMPORTED.length) : url
}

/** The folder of a tree that is read, as paths in it begin: `docs/`; empty for all of it. */
export function readFolder(path: string | null): string {
  return partsOf(path ?? '')
    .map((part) => `${part}/`)
    .join('')
}

/** Why a text names no folder of a tree; undefined where it does. */
export function findFolderProblem(path: string): string | undefined {
  if (/[\0\\]/.test(path)) return 'expected a folder with / between its parts'
  return partsOf(path).includes('..') ? 'expected a folder without .. in it' : undefined
}

/**
 * Whether the name of a folder that all of an archive is in may tell a version, and be another in the next: `manual-1.0`. Files are known by
 * their paths without it.
 */
export function namesVersion(folder: string): boolean {
  return /\d/.test(folder)
}

function partsOf(path: string): string[] {
  return path.split('/').filter((part) => part !== '' && part !== '.')
}

/** Stands between a tree that has no addresses for its files and the path of one, as in addresses of Java archives. */
const INSIDE = '!/'

/** The address of a file inside something that has an address itself. */
export function writeInnerUrl(tree: string, path: string): string {
  return startInside(tree) + encodePath(path)
}

/** The query of an archive's address does not apply to the files in it. */
function startInside(tree: string): string {
  return tree.replace(/\?.*$/s, '') + INSIDE
}

/** The path of a file inside a tree, from the address that `writeInnerUrl` wrote; undefined for any other. */
export function readInnerPath(tree: string, url: string): string | undefined {
  const start = startInside(tree)
  if (!url.startsWith(start)) return undefined
  return decodePath(url.slice(start.length).replace(/#.*$/s, ''))
}

/** A path as it stands in an address. */
export function encodePath(path: string): string {
  return encodeURI(path).replace(/[?#]/g, encodeURIComponent)
}

/** A path out of an address. */
export function decodePath(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch (error) {
    // A percent sign that encodes nothing.
    if (error instanceof URIError) return path
    throw error
  }
}
