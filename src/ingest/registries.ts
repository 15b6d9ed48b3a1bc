import compare from 'semver/functions/compare.js'
import prerelease from 'semver/functions/prerelease.js'
import satisfies from 'semver/functions/satisfies.js'
import valid from 'semver/functions/valid.js'
import maxSatisfying from 'semver/ranges/max-satisfying.js'
import { ArchiveError } from '../core/archive/archive-error.ts'
import { asList } from '../core/json/is-json-object.ts'
import { type PackageName, PUBLIC_REGISTRIES, packageTitle, type Registries } from '../core/url/package-url.ts'
import { type Download, DownloadError } from '../library/ports/download.ts'
import type { Integrity } from './archive/source.ts'
import { retryDownload } from './retry-download.ts'

/** The kind of a package's archive, which determines what is worth reading. */
export type PackageKind = 'npm' | 'sdist' | 'wheel' | 'crate' | 'sources' | 'javadoc'

/** An archive with one version of a package. */
export interface PackageArchive {
  readonly kind: PackageKind
  readonly version: string
  readonly url: string
  readonly format: 'zip' | 'tar'
  readonly integrity: Integrity
  /** Reads the links that the metadata of the registry have, documentation first. @default the manifest in the archive has them */
  readonly readLinks?: () => Promise<readonly unknown[]>
}

/** Size limit of a package's metadata; the largest packages have tens of megabytes. */
const MAX_METADATA_BYTES = 64 * 2 ** 20

/** How registries are queried. */
interface RegistryAccess {
  readonly download: Download
  readonly signal: AbortSignal | undefined
}

/**
 * Finds the archive of a package through its registry. Rejects with an {@link ArchiveError} when the registry does not have it, or with a
 * {@link DownloadError} when it does not respond.
 */
export async function findPackage(
  name: PackageName,
  registries: Registries,
  download: Download,
  signal?: AbortSignal,
): Promise<PackageArchive> {
  const access = { download, signal }
  switch (name.type) {
    case 'npm':
      return findNpm(name, registries.npm, access)
    case 'pypi':
      return findPypi(name, registries.pypi, access)
    case 'cargo':
      return findCrate(name, registries.crates, access)
    case 'maven':
      return findMaven(name, registries.maven, access)
  }
}

/** The origins of registries that the owner configured instead of the public ones; they may be private. */
export function customRegistryOrigins(registries: Registries): string[] {
  const types = Object.keys(PUBLIC_REGISTRIES) as (keyof Registries)[]
  const custom = types.filter((type) => !isPublicRegistry(registries, type))
  return custom.map((type) => new URL(baseOf(registries[type])).origin)
}

/** The registry of a package, by its name among the registries. */
export function registryOf({ type }: PackageName): keyof Registries {
  return type === 'cargo' ? 'crates' : type
}

/** The host of a package's registry. */
export function registryHost(name: PackageName, registries: Registries): string {
  return new URL(baseOf(registries[registryOf(name)])).host
}

/** Whether packages of a type come from the public registry. */
export function isPublicRegistry(registries: Registries, type: keyof Registries): boolean {
  return baseOf(registries[type]) === baseOf(PUBLIC_REGISTRIES[type])
}

/** https://github.com/npm/registry/blob/main/docs/responses/package-metadata.md */
async function findNpm(name: PackageName, registry: string, access: RegistryAccess): Promise<PackageArchive> {
  const title = packageTitle(name)
  const url = `${baseOf(registry)}/${title.replace('/', '%2f')}`
  const accept = 'application/vnd.npm.install-v1+json; q=1.0, application/json; q=0.8'
  const answer = await fetchJson(url, access, accept)
  const versions = fieldOf(answer, 'versions')
  const version = chooseNpm(Object.keys(asRecord(versions)), asRecord(fieldOf(answer, 'dist-tags')), name)
  const dist = fieldOf(fieldOf(versions, version), 'dist')
  const integrity = readSri(textOf(dist, 'integrity')) ?? readHex('sha1', textOf(dist, 'shasum'))
  return archiveOf({ kind: 'npm', version, format: 'tar', url: textOf(dist, 'tarball'), integrity }, url, title)
}

/** Chooses as npm does: a version, a tag, otherwise the newest in a range, with `latest` preferred. */
function chooseNpm(versions: readonly string[], tags: Readonly<Record<string, unknown>>, name: PackageName): string {
  const wanted = name.version ?? 'latest'
  const tagged = tags[wanted]
  const latest = tags['latest']
  const isLatest = typeof latest === 'string' && versions.includes(latest) && satisfies(latest, wanted)
  const range = isLatest ? latest : maxSatisfying(versions, wanted)
  const found = versions.includes(wanted) ? wanted : typeof tagged === 'string' ? tagged : range
  if (found === null || !versions.includes(found)) throw versionError(name, typeof latest === 'string' ? latest : null)
  return found
}

/** https://docs.pypi.org/api/json/ */
async function findPypi(name: PackageName, registry: string, access: RegistryAccess): Promise<PackageArchive> {
  const release = name.version === null ? '' : `/${encodeURIComponent(name.version)}`
  const url = `${baseOf(registry)}/pypi/${name.name}${release}/json`
  const answer = await fetchJson(url, access).catch((error: unknown) => {
    throw name.version !== null && isMissing(error) ? versionError(name, null) : error
  })
  const version = textOf(fieldOf(answer, 'info'), 'version')
  if (version === undefined) throw answerError(url)
  const files = asList(fieldOf(answer, 'urls')).filter((file) => fieldOf(file, 'yanked') !== true)
  const found = PYPI_KINDS.flatMap(({ kind, type, ending }) =>
    files
      .filter((file) => textOf(file, 'packagetype') === type && ending.test(textOf(file, 'filename') ?? ''))
      .map((file) => ({ kind, file })),
  )[0]
  if (found === undefined) throw new ArchiveError(`${name.name} ${version} has no archive that can be read`)
  const { kind, file } = found
  const format = /\.(?:zip|whl)$/i.test(textOf(file, 'filename') ?? '') ? 'zip' : 'tar'
  const integrity = readHex('sha256', textOf(fieldOf(file, 'digests'), 'sha256'))
  const readLinks = async () => listPypiLinks(fieldOf(answer, 'info'))
  return archiveOf({ kind, version, format, url: textOf(file, 'url'), integrity, readLinks }, url, name.name)
}

/** The links of a project under the names that packaging tools use (https://packaging.python.org/en/latest/specifications/well-known-project-urls/). */
function listPypiLinks(info: unknown): readonly unknown[] {
  const links = Object.entries(asRecord(fieldOf(info, 'project_urls')))
  const linksNamed = (pattern: RegExp) => links.flatMap(([label, link]) => (pattern.test(label) ? [link] : []))
  return [...linksNamed(/\bdoc(?:s|umentation)?\b/i), ...linksNamed(/^home[ -]?page$/i), fieldOf(info, 'home_page')]
}

/** Source distributions include documentation; a universal wheel is preferred to one with binaries. */
const PYPI_KINDS = [
  { kind: 'sdist', type: 'sdist', ending: /\.(?:tar\.gz|tgz|zip)$/i },
  { kind: 'wheel', type: 'bdist_wheel', ending: /-none-any\.whl$/i },
  { kind: 'wheel', type: 'bdist_wheel', ending: /\.whl$/i },
] as const

/** https://doc.rust-lang.org/cargo/reference/registry-index.html */
async function findCrate(name: PackageName, registry: string, access: RegistryAccess): Promise<PackageArchive> {
  const index = baseOf(registry)
  const config = await fetchJson(`${index}/config.json`, access)
  const dl = textOf(config, 'dl')
  if (dl === undefined) throw answerError(`${index}/config.json`)
  const url = `${index}/${cratePrefix(name.name).toLowerCase()}/${name.name.toLowerCase()}`
  const lines = (await fetchText(url, access)).split('\n').filter((line) => line.trim() !== '')
  const releases = lines.map((line) => parseJson(line, url))
  const release = chooseCrate(releases, name)
  const version = textOf(release, 'vers') ?? ''
  const integrity = readHex('sha256', textOf(release, 'cksum'))
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
async function findMaven(name: PackageName, registry: string, access: RegistryAccess): Promise<PackageArchive> {
  const title = packageTitle(name)
  const folder = `${baseOf(registry)}/${(name.namespace ?? '').replaceAll('.', '/')}/${name.name}`
  const version = name.version ?? (await findNewestMaven(name, `${folder}/maven-metadata.xml`, access))
  for (const kind of ['sources', 'javadoc'] as const) {
    const release = encodeURIComponent(version)
    const url = `${folder}/${release}/${name.name}-${release}-${kind}.jar`
    const integrity = await readChecksum(url, access)
    const readLinks = () => readPomLinks(`${folder}/${release}/${name.name}-${release}.pom`, access)
    if (integrity !== undefined) return { kind, version, format: 'zip', url, integrity, readLinks }
  }
  throw new ArchiveError(`${title} ${version} has neither sources nor Javadoc with a checksum`)
}

/** The address of the project itself; deeper elements such as licences have addresses of their own. */
async function readPomLinks(url: string, access: RegistryAccess): Promise<readonly unknown[]> {
  const pom = (await readText(url, access)).replaceAll(/<!--.*?-->/gs, '')
  let depth = 0
  for (const [, close = '', tag, attributes = '', text] of pom.matchAll(/<(\/?)([\w.:-]+)([^<>]*)>([^<]*)/g)) {
    if (close === '' && depth === 1 && tag === 'url') return [text]
    if (close === '' && !attributes.endsWith('/')) depth++
    if (close !== '') depth--
  }
  return []
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
    const integrity = readHex(algorithm, /^\s*([0-9a-f]+)\b/i.exec(text)?.[1])
    if (integrity !== undefined) return integrity
  }
  return undefined
}

/** Validates that a registry's response has everything needed for an archive. */
function archiveOf(
  found: Omit<PackageArchive, 'url' | 'integrity'> & {
    readonly url: string | undefined
    readonly integrity: Integrity | undefined
  },
  metadata: string,
  title: string,
): PackageArchive {
  const { url, integrity, version } = found
  const target = url === undefined ? null : URL.parse(url, metadata)
  if (target === null) throw answerError(metadata)
  if (integrity === undefined) throw new ArchiveError(`the registry states no checksum of ${title} ${version}`)
  return { ...found, url: target.href, integrity }
}

/** Digest algorithms, strongest first. */
const ALGORITHMS = ['sha512', 'sha384', 'sha256', 'sha1'] as const

/** The strongest of several digests: `sha512-<base64>`, separated by spaces (https://www.w3.org/TR/SRI/). */
function readSri(text: string | undefined): Integrity | undefined {
  const parts = (text ?? '').split(/\s+/)
  for (const algorithm of ALGORITHMS) {
    const found = parts.find((part) => part.startsWith(`${algorithm}-`))?.slice(algorithm.length + 1)
    if (found !== undefined)
      return readHex(algorithm, Buffer.from(found.replace(/\?.*$/, ''), 'base64').toString('hex'))
  }
  return undefined
}

/** Number of hexadecimal digits of each digest. */
const DIGEST_LENGTHS = { sha512: 128, sha384: 96, sha256: 64, sha1: 40 } as const

function readHex(algorithm: Integrity['algorithm'], text: string | undefined): Integrity | undefined {
  const digest = text?.toLowerCase() ?? ''
  return new RegExp(`^[0-9a-f]{${DIGEST_LENGTHS[algorithm]}}$`).test(digest) ? { algorithm, digest } : undefined
}

/** The base URL of a registry without a trailing slash. Cargo writes `sparse+` before that of an index. */
function baseOf(registry: string): string {
  return registry.replace(/^sparse\+/, '').replace(/\/+$/, '')
}

async function fetchText(url: string, access: RegistryAccess, accept?: string): Promise<string> {
  return retryDownload(() => readText(url, access, accept), access.signal)
}

async function readText(url: string, { download, signal }: RegistryAccess, accept?: string): Promise<string> {
  const request = { url, maxBytes: MAX_METADATA_BYTES, signal, ...(accept === undefined ? {} : { accept }) }
  const pieces: Uint8Array[] = []
  for await (const piece of await download(request)) pieces.push(piece)
  return Buffer.concat(pieces).toString('utf8')
}

async function fetchJson(url: string, access: RegistryAccess, accept = 'application/json'): Promise<unknown> {
  return parseJson(await fetchText(url, access, accept), url)
}

function parseJson(text: string, url: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw answerError(url, cause)
  }
}

function answerError(url: string, cause?: unknown): ArchiveError {
  return new ArchiveError(`${new URL(url).host} gave an invalid answer about it`, { cause })
}

function versionError(name: PackageName, newest: string | null): ArchiveError {
  const hint = newest === null ? '' : `; the newest is ${newest}`
  const advice = newest === null ? 'name another package' : 'name a version that it has'
  return new ArchiveError(`its registry has no version ${name.version ?? 'of it'}${hint}`, { advice })
}

function isMissing(error: unknown): boolean {
  return error instanceof DownloadError && error.problem === 'missing'
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {}
}

/** An own property of foreign JSON. */
function fieldOf(value: unknown, key: string): unknown {
  const record = asRecord(value)
  return Object.hasOwn(record, key) ? record[key] : undefined
}

function textOf(value: unknown, key: string): string | undefined {
  const found = fieldOf(value, key)
  return typeof found === 'string' && found !== '' ? found : undefined
}
