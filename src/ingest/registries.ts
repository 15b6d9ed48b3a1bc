import compare from 'semver/functions/compare.js'
import prerelease from 'semver/functions/prerelease.js'
import satisfies from 'semver/functions/satisfies.js'
import valid from 'semver/functions/valid.js'
import maxSatisfying from 'semver/ranges/max-satisfying.js'
import { ArchiveError } from '../core/archive/archive-error.ts'
import { type Integrity, parseDigest, parseSri } from '../core/integrity.ts'
import { entriesOf, fieldOf, textOf } from '../core/json/fields.ts'
import { type PackageName, PUBLIC_REGISTRIES, packageTitle, type Registries } from '../core/url/package-url.ts'
import type { Download } from '../library/ports/download.ts'
import {
  normalizeRegistry,
  type PackageRegistries,
  registryTypeOf,
  registryUrlOf,
  SIMPLE_INDEX,
} from '../library/ports/registries.ts'
import { readPomLinks } from './package-links.ts'
import {
  answerError,
  archiveOf,
  fetchJson,
  fetchText,
  isMissing,
  parseJson,
  type RegistryAccess,
  readText,
  VersionMissingError,
  versionError,
} from './registry/answers.ts'
import type { FoundArchive, PackageArchive } from './registry/package-archive.ts'
import { findInSimpleIndex, findPypi } from './registry/pypi.ts'

/**
 * Finds the archive of a package through its registries: the first one that has it. A registry without a usable answer ends the search,
 * because the next one may have another package of the same name.
 */
export async function findPackage(
  name: PackageName,
  registries: readonly string[],
  access: RegistryAccess,
): Promise<PackageArchive> {
  if (name.type === 'golang') {
    throw new ArchiveError('it is not in the module cache of Go: run `go mod download` in its project', {
      advice: 'then run `pharos deps --add` there',
    })
  }
  const type = registryTypeOf(name.type)
  let missing: unknown = new ArchiveError('it is not installed there any more, and its registry is not known', {
    advice: 'its pages stay in the library; to read it from a registry, remove it and add it again',
  })
  for (const registry of registries) {
    try {
      const found = await FINDERS[type](name, registry, access)
      return { ...found, registry, isPublic: isPublicRegistry(registry, type) }
    } catch (error) {
      if (!isMissing(error) && !(error instanceof VersionMissingError)) throw error
      // A registry that has other versions says more than one that does not know the package.
      if (!(missing instanceof VersionMissingError)) missing = error
    }
  }
  throw missing
}

const FINDERS: Readonly<
  Record<keyof Registries, (name: PackageName, registry: string, access: RegistryAccess) => Promise<FoundArchive>>
> = {
  npm: findNpm,
  pypi: (name, registry, access) => {
    const find = registry.startsWith(SIMPLE_INDEX) ? findInSimpleIndex : findPypi
    return find(name, registryUrlOf(registry), access)
  },
  crates: findCrate,
  maven: findMaven,
}

/** The origins of registries that are configured instead of the public ones. */
export function customRegistryOrigins(registries: PackageRegistries): string[] {
  const types = Object.keys(PUBLIC_REGISTRIES) as (keyof Registries)[]
  const custom = types.flatMap((type) => {
    const all = [registries[type], ...(registries.further?.[type] ?? [])]
    return all.filter((registry) => !isPublicRegistry(registry, type))
  })
  return [...custom, ...(registries.npmScopes?.values() ?? [])].map((registry) => {
    return new URL(registryUrlOf(normalizeRegistry(registry))).origin
  })
}

/** Downloads with the tokens for the registries of a package. */
export function withTokens(download: Download, { type }: PackageName): Download {
  return type === 'golang' ? download : (request) => download({ ...request, registryType: registryTypeOf(type) })
}

function isPublicRegistry(registry: string, type: keyof Registries): boolean {
  return normalizeRegistry(registry) === normalizeRegistry(PUBLIC_REGISTRIES[type])
}

/** https://github.com/npm/registry/blob/main/docs/responses/package-metadata.md */
async function findNpm(name: PackageName, registry: string, access: RegistryAccess): Promise<FoundArchive> {
  const title = packageTitle(name)
  const url = `${registry}/${title.replace('/', '%2f')}`
  const accept = 'application/vnd.npm.install-v1+json; q=1.0, application/json; q=0.8'
  const answer = await fetchJson(url, access, accept)
  const versions = fieldOf(answer, 'versions')
  const version = chooseNpm(
    entriesOf(versions).map(([key]) => key),
    new Map(entriesOf(fieldOf(answer, 'dist-tags'))),
    name,
  )
  const dist = fieldOf(fieldOf(versions, version), 'dist')
  const integrity = parseSri(textOf(dist, 'integrity'))[0] ?? parseDigest('sha1', textOf(dist, 'shasum'))
  return archiveOf({ kind: 'npm', version, format: 'tar', url: textOf(dist, 'tarball'), integrity }, url, title)
}

/** Chooses as npm does: a version, a tag, otherwise the newest in a range, with `latest` preferred. */
function chooseNpm(versions: readonly string[], tags: ReadonlyMap<string, unknown>, name: PackageName): string {
  const wanted = name.version ?? 'latest'
  const tagged = tags.get(wanted)
  const latest = tags.get('latest')
  const isLatest = typeof latest === 'string' && versions.includes(latest) && satisfies(latest, wanted)
  const range = isLatest ? latest : maxSatisfying(versions, wanted)
  const found = versions.includes(wanted) ? wanted : typeof tagged === 'string' ? tagged : range
  if (found === null || !versions.includes(found)) throw versionError(name, typeof latest === 'string' ? latest : null)
  return found
}

/** https://doc.rust-lang.org/cargo/reference/registry-index.html */
async function findCrate(name: PackageName, registry: string, access: RegistryAccess): Promise<FoundArchive> {
  const config = await fetchJson(`${registry}/config.json`, access)
  const dl = textOf(config, 'dl') ?? ''
  if (dl === '') throw answerError(`${registry}/config.json`)
  const url = `${registry}/${cratePrefix(name.name).toLowerCase()}/${name.name.toLowerCase()}`
  const lines = (await fetchText(url, access)).split('\n').filter((line) => line.trim() !== '')
  const releases = lines.map((line) => parseJson(line, url))
  const release = chooseCrate(releases, name)
  const version = textOf(release, 'vers') ?? ''
  const integrity = parseDigest('sha256', textOf(release, 'cksum'))
  const target = writeCrateUrl(dl, textOf(release, 'name') ?? name.name, version, integrity?.digest ?? '')
  return archiveOf({ kind: 'crate', version, format: 'tar', url: target, integrity }, url, name.name)
}

function chooseCrate(releases: readonly unknown[], name: PackageName): unknown {
  const versionOf = (release: unknown) => textOf(release, 'vers') ?? ''
  // A yanked version resolves only when it is pinned exactly.
  const usable = releases.filter((release) => fieldOf(release, 'yanked') !== true && valid(versionOf(release)) !== null)
  const stable = usable.filter((release) => prerelease(versionOf(release)) === null)
  const [newest] = (stable.length > 0 ? stable : usable).toSorted((a, b) => compare(versionOf(b), versionOf(a)))
  const found = name.version === null ? newest : releases.find((release) => versionOf(release) === name.version)
  if (found === undefined) throw versionError(name, newest === undefined ? null : versionOf(newest))
  return found
}

/** `serde` → `se/rd`, `syn` → `3/s` */
function cratePrefix(name: string): string {
  if (name.length <= 2) return String(name.length)
  return name.length === 3 ? `3/${name.slice(0, 1)}` : `${name.slice(0, 2)}/${name.slice(2, 4)}`
}

function writeCrateUrl(dl: string, crate: string, version: string, checksum: string): string {
  const prefix = cratePrefix(crate)
  const placeholders: Readonly<Record<string, string>> = {
    crate,
    version: encodeURIComponent(version),
    prefix,
    lowerprefix: prefix.toLowerCase(),
    'sha256-checksum': checksum,
  }
  const filled = dl.replace(/\{([a-z0-9-]+)\}/g, (placeholder, key: string) =>
    Object.hasOwn(placeholders, key) ? (placeholders[key] ?? placeholder) : placeholder,
  )
  return filled === dl ? `${dl}/${crate}/${encodeURIComponent(version)}/download` : filled
}

/**
 * https://maven.apache.org/repository/layout.html. Sources come first: every class has one file with its comments, while the Javadoc
 * archive is often only a formality.
 */
async function findMaven(name: PackageName, registry: string, access: RegistryAccess): Promise<FoundArchive> {
  const title = packageTitle(name)
  const folder = `${registry}/${(name.namespace ?? '').replaceAll('.', '/')}/${name.name}`
  const version = name.version ?? (await findNewestMaven(name, `${folder}/maven-metadata.xml`, access))
  const release = encodeURIComponent(version)
  const pom = `${folder}/${release}/${name.name}-${release}.pom`
  for (const kind of ['sources', 'javadoc'] as const) {
    const url = `${folder}/${release}/${name.name}-${release}-${kind}.jar`
    const integrity = await readChecksum(url, access)
    const readLinks = async () => readPomLinks(await readText(pom, access))
    if (integrity !== undefined) return { kind, version, format: 'zip', url, integrity, readLinks }
  }
  // The artifact comes from the first repository that has it, so the sources of another repository may be those of another artifact.
  await fetchText(pom, access).catch((error: unknown) => {
    throw isMissing(error) ? versionError(name, null) : error
  })
  throw new ArchiveError(`${title} ${version} has neither sources nor Javadoc with a checksum`)
}

async function findNewestMaven(name: PackageName, url: string, access: RegistryAccess): Promise<string> {
  const text = await fetchText(url, access)
  const findTags = (tag: string) => [...text.matchAll(new RegExp(`<${tag}>\\s*([^<\\s]{1,128})\\s*</${tag}>`, 'g'))]
  const [release] = [...findTags('release'), ...findTags('version').reverse(), ...findTags('latest')].flatMap(
    ([, version = '']) => {
      return version.endsWith('-SNAPSHOT') ? [] : [version]
    },
  )
  if (release === undefined) throw versionError(name, null)
  return release
}

/** The checksum file of an archive: a digest, often followed by the file name. */
async function readChecksum(url: string, access: RegistryAccess): Promise<Integrity | undefined> {
  for (const algorithm of ['sha256', 'sha1'] as const) {
    const text = await fetchText(`${url}.${algorithm}`, access).catch((error: unknown) => {
      if (isMissing(error)) return ''
      throw error
    })
    const integrity = parseDigest(algorithm, /^\s*([0-9a-f]+)\b/i.exec(text)?.[1])
    if (integrity !== undefined) return integrity
  }
  return undefined
}
