import { folderOf, resolvePath } from '../text/path.ts'
import { decodePart } from './decode-part.ts'
import { readRepositoryPath } from './repository-url.ts'
import { encodePath, readInnerPath, treeKindOf } from './tree-url.ts'

/** A file of a tree of files. */
export interface FileInTree {
  /** The address of the tree. */
  readonly source: string
  /** Where a reader opens the file. */
  readonly url: string
  /** The key of the file: its path below the folder that is read. */
  readonly key: string
}

const HAS_SCHEME = /^[a-z][a-z\d+.-]*:/i

/**
 * The target of a link in a file: another file of the same tree, at the same commit or version. In a repository a leading slash means the
 * root, as on code hosting sites. Undefined for any other link.
 */
export function resolveInTree({ source, url, key }: FileInTree, href: string): string | undefined {
  const kind = treeKindOf(source)
  if (kind === undefined || kind === 'import' || HAS_SCHEME.test(href) || href.startsWith('//')) return undefined
  const address = url.replace(/#.*$/s, '')
  const [, path = '', hash = ''] = /^([^?#]*)(?:\?[^#]*)?(#.*)?$/s.exec(href) ?? []
  if (path === '') return hash === '' || address !== url ? undefined : address + hash
  if (path.startsWith('/') && kind !== 'repository') return undefined
  const inner = kind === 'repository' ? readRepositoryPath(source, address) : readInnerPath(source, address)
  const ownPath = encodePath(inner ?? key)
  if (!address.endsWith(ownPath)) return undefined
  const decoded = decodePart(path)
  const target = resolvePath(path.startsWith('/') ? '' : folderOf(inner ?? key), decoded)
  if (target === undefined) return undefined
  const end = /(?:^|\/)\.{0,2}$/.test(decoded) && target !== '' ? '/' : ''
  return address.slice(0, address.length - ownPath.length) + encodePath(target) + end + hash
}
