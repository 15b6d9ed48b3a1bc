import { isFileUrl } from './file-url.ts'
import { parsePackageUrl, writePackageUrl } from './package-url.ts'
import { parseRepositoryUrl } from './repository-url.ts'
import { treeKindOf } from './tree-url.ts'

/**
 * Parses the address of a tree of files in any form that users write: `npm:react@18`, `git@host:owner/name.git`,
 * `https://host/name.tar.gz`. Undefined for web sites, and for trees that are named by a path.
 */
export function parseTreeUrl(text: string): string | undefined {
  const trimmed = text.trim()
  if (isFileUrl(trimmed.toLowerCase())) return undefined
  const packageName = parsePackageUrl(trimmed)
  if (packageName !== undefined) return writePackageUrl(packageName)
  const repository = parseRepositoryUrl(trimmed)
  if (repository !== undefined) return repository.url
  return treeKindOf(trimmed) === 'archive' ? trimmed.replace(/#.*$/s, '') : undefined
}
