import { isFileUrl } from './file-url.ts'
import { parsePackageUrl, writePackageUrl } from './package-url.ts'
import { parseRepositoryUrl } from './repository-url.ts'
import { treeKindOf } from './tree-url.ts'

/**
 * The address of a tree of files that is not named by a path, from any form that people write it in: `npm:react@18`,
 * `git@host:owner/name.git`, `https://host/name.tar.gz`. Undefined for web sites, and for paths.
 */
export function parseTreeUrl(text: string): string | undefined {
  const given = text.trim()
  if (isFileUrl(given.toLowerCase())) return undefined
  const packageName = parsePackageUrl(given)
  if (packageName !== undefined) return writePackageUrl(packageName)
  const repository = parseRepositoryUrl(given)
  if (repository !== undefined) return repository.url
  return treeKindOf(given) === 'archive' ? given.replace(/#.*$/s, '') : undefined
}
