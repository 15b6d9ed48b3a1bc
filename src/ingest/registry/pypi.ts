import { ArchiveError } from '../../core/archive/archive-error.ts'
import { escapeRegExp } from '../../core/escape-reg-exp.ts'
import { parseDigest } from '../../core/integrity.ts'
import { entriesOf, fieldOf, listOf, textOf } from '../../core/json/fields.ts'
import type { PackageName } from '../../core/url/package-url.ts'
import {
  answerError,
  archiveOf,
  fetchJson,
  fetchText,
  isMissing,
  parseJson,
  type RegistryAccess,
  versionError,
} from './answers.ts'
import type { FoundArchive } from './package-archive.ts'
import { comparePythonVersions, isStable, parsePythonVersion } from './python-version.ts'

/** https://docs.pypi.org/api/json/ */
export async function findPypi(name: PackageName, registry: string, access: RegistryAccess): Promise<FoundArchive> {
  const release = name.version === null ? '' : `/${encodeURIComponent(name.version)}`
  const url = `${registry}/pypi/${name.name}${release}/json`
  const answer = await fetchJson(url, access).catch((error: unknown) => {
    throw name.version !== null && isMissing(error) ? versionError(name, null) : error
  })
  const version = textOf(fieldOf(answer, 'info'), 'version') ?? ''
  if (version === '') throw answerError(url)
  const files = listOf(fieldOf(answer, 'urls')).filter((file) => fieldOf(file, 'yanked') !== true)
  const digestOf = (file: unknown) => textOf(fieldOf(file, 'digests'), 'sha256')
  const found = PYPI_KINDS.flatMap(({ kind, type, ending }) =>
    preferLocked(files, digestOf, access)
      .filter((file) => textOf(file, 'packagetype') === type && ending.test(textOf(file, 'filename') ?? ''))
      .map((file) => ({ kind, file })),
  )[0]
  if (found === undefined) throw new ArchiveError(`${name.name} ${version} has no archive that can be read`)
  const { kind, file } = found
  const format = /\.(?:zip|whl)$/i.test(textOf(file, 'filename') ?? '') ? 'zip' : 'tar'
  const integrity = parseDigest('sha256', digestOf(file))
  const readLinks = async () => listPypiLinks(fieldOf(answer, 'info'))
  return archiveOf({ kind, version, format, url: textOf(file, 'url'), integrity, readLinks }, url, name.name)
}

/** The links of a project under the names that packaging tools use (https://packaging.python.org/en/latest/specifications/well-known-project-urls/). */
function listPypiLinks(info: unknown): readonly unknown[] {
  const links = entriesOf(fieldOf(info, 'project_urls'))
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
  const readVersion = createVersionReader(name.name)
  const releases = files.flatMap((file) => {
    const version = readVersion(file.filename)
    return version === undefined ? [] : [{ ...file, version }]
  })
  const version = chooseRelease(releases, name)
  const ofVersion = releases.filter((file) => file.version === version)
  const [found] = PYPI_KINDS.flatMap(({ kind, ending }) => {
    return preferLocked(ofVersion, ({ sha256 }) => sha256, access)
      .filter((file) => ending.test(file.filename))
      .map(({ filename, url: target, sha256 }) => ({ kind, filename, target, sha256 }))
  })
  if (found === undefined) throw new ArchiveError(`${name.name} ${version} has no archive that can be read`)
  const { kind, filename, target, sha256 } = found
  const format = /\.(?:zip|whl)$/i.test(filename) ? 'zip' : 'tar'
  return archiveOf({ kind, version, format, url: target, integrity: parseDigest('sha256', sha256) }, url, name.name)
}

/** The files that a lock file lists, which may have only wheels; all files if it lists none of them. */
function preferLocked<T>(
  files: readonly T[],
  digestOf: (file: T) => string | undefined,
  { hashes }: RegistryAccess,
): readonly T[] {
  const locked = files.filter((file) => hashes.includes(`sha256-${digestOf(file)?.toLowerCase()}`))
  return locked.length === 0 ? files : locked
}

function listJsonFiles(answer: unknown): ListedFile[] {
  return listOf(fieldOf(answer, 'files')).map((file) => ({
    filename: textOf(file, 'filename') ?? '',
    url: textOf(file, 'url') ?? '',
    sha256: textOf(fieldOf(file, 'hashes'), 'sha256'),
    isYanked: ![undefined, false].includes(fieldOf(file, 'yanked') as undefined),
  }))
}

/** Reads the links of a list in HTML: `<a href="…#sha256=…">name-1.0.tar.gz</a>`. */
function listHtmlFiles(html: string): ListedFile[] {
  return Array.from(html.matchAll(/<a\s([^<>]{1,4000})>([^<]{1,500})<\/a>/gi), ([, attributes = '', label = '']) => {
    const [, href = ''] = /\bhref\s*=\s*"([^"]*)"/i.exec(attributes) ?? /\bhref\s*=\s*'([^']*)'/i.exec(attributes) ?? []
    const [url = '', fragment = ''] = href.replaceAll('&amp;', '&').split('#')
    const sha256 = new URLSearchParams(fragment).get('sha256') ?? undefined
    return { filename: label.trim(), url, sha256, isYanked: /\bdata-yanked\b/i.test(attributes) }
  })
}

/**
 * Returns a function that reads the version in the name of a file; undefined if it is no archive of the package. The patterns contain the
 * name of the package, so that they have one way to match: an index may have many long names.
 */
function createVersionReader(name: string): (filename: string) => string | undefined {
  const spelling = name.split('-').map(escapeRegExp).join('[-_.]+')
  const wheel = new RegExp(`^${spelling}-([^-]+)-.+\\.whl$`, 'i')
  // A version begins with a digit, also after a hyphen: `1.0-1`. Otherwise the file belongs to a package with a longer name.
  const sdist = new RegExp(`^${spelling}-(v?\\d(?:[^-]|-(?=\\d))*)\\.(?:tar\\.gz|tgz|zip)$`, 'i')
  return (filename) => (wheel.exec(filename) ?? sdist.exec(filename))?.[1]
}

/** The version as its files spell it: the wanted one, else the newest stable one. */
function chooseRelease(files: readonly (ListedFile & { readonly version: string })[], name: PackageName): string {
  const offered = files.filter(({ isYanked }) => !isYanked).flatMap(({ version }) => parsePythonVersion(version) ?? [])
  const stable = offered.filter(isStable)
  const newest = (stable.length > 0 ? stable : offered).toSorted(comparePythonVersions).at(-1)?.text
  const { version: wanted } = name
  // A yanked version resolves only when it is pinned exactly.
  const found = wanted === null ? newest : findSpelling(new Set(files.map(({ version }) => version)), wanted)
  if (found === undefined) throw versionError(name, newest ?? null)
  return found
}

/** How a list spells a version: `1.0` may be there as `1.0.0`. */
function findSpelling(spellings: ReadonlySet<string>, wanted: string): string | undefined {
  if (spellings.has(wanted)) return wanted
  const parsed = parsePythonVersion(wanted)
  return [...spellings].find((spelling) => {
    const other = parsePythonVersion(spelling)
    return parsed !== undefined && other !== undefined && comparePythonVersions(parsed, other) === 0
  })
}
