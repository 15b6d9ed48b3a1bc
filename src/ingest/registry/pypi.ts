import { ArchiveError } from '../../core/archive/archive-error.ts'
import { asList } from '../../core/json/is-json-object.ts'
import { normalizePypiName, type PackageName } from '../../core/url/package-url.ts'
import { compareVersions, isSameVersion, parseVersion } from '../../core/version/version.ts'
import {
  answerError,
  archiveOf,
  asRecord,
  baseOf,
  fetchJson,
  fetchText,
  fieldOf,
  isMissing,
  parseJson,
  type RegistryAccess,
  readHex,
  textOf,
  versionError,
} from './answers.ts'
import type { FoundArchive } from './package-archive.ts'

/** https://docs.pypi.org/api/json/ */
export async function findPypi(name: PackageName, registry: string, access: RegistryAccess): Promise<FoundArchive> {
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

const SIMPLE_JSON = 'application/vnd.pypi.simple.v1+json'

/** A file of a package in a list of files. */
interface ListedFile {
  readonly filename: string
  readonly url: string
  readonly sha256: string | undefined
  readonly isYanked: boolean
}

/**
 * Finds a package in an index that only lists files, as pip reads it: JSON, or the HTML that older servers give
 * (https://packaging.python.org/en/latest/specifications/simple-repository-api/).
 */
export async function findInSimpleIndex(
  name: PackageName,
  index: string,
  access: RegistryAccess,
): Promise<FoundArchive> {
  const url = `${index}/${name.name}/`
  const text = await fetchText(url, access, `${SIMPLE_JSON}, text/html;q=0.5`)
  const files = text.trimStart().startsWith('{') ? listJsonFiles(parseJson(text, url)) : listHtmlFiles(text)
  const releases = files.flatMap((file) => {
    const version = readFileVersion(name.name, file.filename)
    return version === undefined ? [] : [{ ...file, version }]
  })
  const version = chooseRelease(releases, name)
  const [found] = PYPI_KINDS.flatMap(({ kind, ending }) => {
    return releases
      .filter((file) => file.version === version && ending.test(file.filename))
      .map(({ filename, url: target, sha256 }) => ({ kind, filename, target, sha256 }))
  })
  if (found === undefined) throw new ArchiveError(`${name.name} ${version} has no archive that can be read`)
  const { kind, filename, target, sha256 } = found
  const format = /\.(?:zip|whl)$/i.test(filename) ? 'zip' : 'tar'
  return archiveOf({ kind, version, format, url: target, integrity: readHex('sha256', sha256) }, url, name.name)
}

function listJsonFiles(answer: unknown): ListedFile[] {
  return asList(fieldOf(answer, 'files')).map((file) => ({
    filename: textOf(file, 'filename') ?? '',
    url: textOf(file, 'url') ?? '',
    sha256: textOf(fieldOf(file, 'hashes'), 'sha256'),
    isYanked: ![undefined, false].includes(fieldOf(file, 'yanked') as undefined),
  }))
}

/** Reads the links of a list in HTML: `<a href="…#sha256=…">name-1.0.tar.gz</a>`. */
function listHtmlFiles(html: string): ListedFile[] {
  return Array.from(html.matchAll(/<a\s([^>]{1,4000})>([^<]{1,500})<\/a>/gi), ([, attributes = '', label = '']) => {
    const [, href = ''] = /\bhref\s*=\s*"([^"]*)"/i.exec(attributes) ?? /\bhref\s*=\s*'([^']*)'/i.exec(attributes) ?? []
    const [url = '', fragment = ''] = href.replaceAll('&amp;', '&').split('#')
    const sha256 = new URLSearchParams(fragment).get('sha256') ?? undefined
    return { filename: label.trim(), url, sha256, isYanked: /\bdata-yanked\b/i.test(attributes) }
  })
}

/** The version in the name of a file; undefined if it is no archive of the package. */
function readFileVersion(name: string, filename: string): string | undefined {
  const wheel = /^([^-]+)-([^-]+)-.+\.whl$/i.exec(filename)
  // The name of a package may have hyphens itself, but its version begins with a digit.
  const sdist = /^(.+?)-(v?\d[^-]*(?:-\d[^-]*)*)\.(?:tar\.gz|tgz|zip)$/i.exec(filename)
  const [, found = '', version] = wheel ?? sdist ?? []
  return normalizePypiName(found) === name ? version : undefined
}

/** The version as its files spell it: the wanted one, else the newest stable one. */
function chooseRelease(files: readonly (ListedFile & { readonly version: string })[], name: PackageName): string {
  const offered = files.filter(({ isYanked }) => !isYanked).map(({ version }) => version)
  const stable = offered.filter((version) => parseVersion(version).prerelease.length === 0)
  const newest = (stable.length > 0 ? stable : offered).toSorted(compareVersions).at(-1)
  const { version: wanted } = name
  // A yanked version resolves only when it is pinned exactly.
  const pinned = files.map(({ version }) => version)
  const found =
    wanted === null
      ? newest
      : (pinned.find((version) => version === wanted) ??
        pinned.find((version) => isSameVersion(parseVersion(version), parseVersion(wanted))))
  if (found === undefined) throw versionError(name, newest ?? null)
  return found
}
