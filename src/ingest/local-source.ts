import { existsSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { PharosError } from '../core/errors.ts'
import { treeKindOf } from '../core/url/tree-url.ts'
import type { Library } from '../library/library.ts'
import { treeSettings } from '../library/source.ts'

/** A local path as an address, with the branch and folder of its repository to read. */
interface LocalSource {
  readonly url: string
  readonly settings?: ReturnType<typeof treeSettings>
}

/** Resolves a local path. With `ref` a folder counts as a repository, or as a subfolder of the repository that contains it. */
export function resolveLocalPath(
  { trees }: Pick<Library, 'trees'>,
  given: string,
  { ref, path }: { readonly ref?: string; readonly path?: string },
): LocalSource {
  const address = trees?.addressOf(given)
  if (address === undefined) {
    throw new PharosError('URL_INVALID', { url: given, problem: 'it is not a path on this machine' })
  }
  if (ref === undefined || treeKindOf(address) !== 'folder') return { url: address }
  const folder = fileURLToPath(address)
  const repository = findRepositoryAbove(folder)
  if (repository === undefined) return { url: `git+${address.replace(/\/$/, '')}` }
  const subfolder = join(relative(repository, folder), path ?? '').replaceAll(sep, '/')
  return { url: `git+${pathToFileURL(repository).href}`, settings: treeSettings({ ref, path: subfolder }) }
}

/** Maximum number of parent folders searched for a repository. */
const MAX_PARENT_FOLDERS = 64

/** Finds the repository that contains a folder; undefined if the folder is a repository itself, or is not in one. */
function findRepositoryAbove(folder: string): string | undefined {
  if (existsSync(join(folder, '.git')) || existsSync(join(folder, 'HEAD'))) return undefined
  let above = dirname(folder)
  for (let step = 0; step < MAX_PARENT_FOLDERS; step++) {
    if (existsSync(join(above, '.git'))) return above
    if (dirname(above) === above) return undefined
    above = dirname(above)
  }
  return undefined
}
