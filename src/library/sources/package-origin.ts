import { isListed } from '../../core/integrity.ts'
import { PUBLIC_REGISTRIES, parsePackageUrl } from '../../core/url/package-url.ts'
import { normalizeRegistry, registryTypeOf } from '../ports/registries.ts'
import type { Source } from '../source.ts'

/**
 * The registry of a package; undefined if it is not known. Libraries of earlier versions do not have it, but only packages of public
 * registries have a page there.
 */
export function findRegistry({
  url,
  settings: { registry, packagePage },
}: Pick<Source, 'url' | 'settings'>): string | undefined {
  const type = parsePackageUrl(url)?.type
  if (registry !== undefined || packagePage === undefined || type === undefined || type === 'golang') return registry
  return normalizeRegistry(PUBLIC_REGISTRIES[registryTypeOf(type)])
}

/**
 * The registries that a later crawl of a package may ask; undefined for those that are configured now. A package that was read where it is
 * installed may be private, so that without a known registry none is asked for it.
 */
export function listStoredRegistries(source: Pick<Source, 'url' | 'settings'>): readonly string[] | undefined {
  const registry = findRegistry(source)
  if (registry !== undefined) return [registry]
  return source.settings.installedAt === undefined ? undefined : []
}

/** Whether a package was read where it is installed, not from a registry. */
export function isReadInstalled({ settings }: Pick<Source, 'settings'>): boolean {
  const { installedAt, archive, packagePage } = settings
  return installedAt !== undefined && archive === undefined && packagePage === undefined
}

/** Whether the archive of a package has one of several digests; undefined if they cannot be compared. SHA-1 proves nothing. */
export function hasArchive(
  { settings: { archive } }: Pick<Source, 'settings'>,
  hashes: readonly string[],
): boolean | undefined {
  return archive === undefined || archive.startsWith('sha1-') ? undefined : isListed(archive, hashes)
}
