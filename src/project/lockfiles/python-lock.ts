import { type Integrity, parseNamedDigest } from '../../core/integrity.ts'
import { entriesOf, fieldOf, listOf, textEntriesOf, textOf, textsOf } from '../../core/json/fields.ts'
import { normalizePypiName, PUBLIC_REGISTRIES } from '../../core/url/package-url.ts'
import { normalizeRegistry } from '../../library/ports/registries.ts'
import type { Lockfile, ProjectFile } from '../locked-package.ts'
import { findReachable } from './find-reachable.ts'
import { FROM_FOLDER, FROM_GIT, FROM_URL } from './origins.ts'
import { createPackageList } from './package-list.ts'
import { createLockfileError, parseJson, parseToml } from './parse-syntax.ts'
import { collectAsked, parsePipfile, parsePyproject } from './pyproject.ts'
import { exactPythonVersion } from './python-requirement.ts'

/** A package of a Python lock file. Names are normalised. */
interface PythonPackage {
  readonly name: string
  readonly version: string | undefined
  /** Why it is not from a registry, if it is not. */
  readonly reason: string | undefined
  readonly dependencies: readonly string[]
  /** Whether the file itself says that it is for development; undefined if it does not say. */
  readonly isDev: boolean | undefined
  readonly hashes: readonly Integrity[]
  /** The registry that the file names for it, unless that is the public one. */
  readonly registry?: string | undefined
}

/** Parses `poetry.lock`. What the project asks for is in the `pyproject.toml` beside it. */
export function parsePoetryLock(lock: ProjectFile, manifests: readonly ProjectFile[]): Lockfile {
  const value = parseToml(lock)
  // Poetry 1 writes the files of all packages into one table.
  const allFiles = fieldOf(fieldOf(value, 'metadata'), 'files')
  const packages = readPackages(lock, value, 'package').map((entry): PythonPackage => {
    const groups = textsOf(fieldOf(entry, 'groups'))
    const category = textOf(entry, 'category')
    const isDev = groups.length > 0 ? !groups.includes('main') : category === undefined ? undefined : category === 'dev'
    const source = fieldOf(entry, 'source')
    const kind = textOf(source, 'type')
    const registry = kind === 'legacy' ? findLockedRegistry(textOf(source, 'url')) : undefined
    return {
      ...readIdentity(entry),
      reason: registry === null ? FROM_FOLDER : describeSource(kind),
      hashes: readHashes(listOf(fieldOf(entry, 'files') ?? fieldOf(allFiles, textOf(entry, 'name') ?? ''))),
      registry: registry ?? undefined,
      dependencies: entriesOf(fieldOf(entry, 'dependencies')).map(([name]) => normalizePypiName(name)),
      isDev,
    }
  })
  return listPackages(packages, manifests)
}

/** Parses `pylock.toml` (PEP 751). What the project asks for is in the `pyproject.toml` beside it. */
export function parsePylock(lock: ProjectFile, manifests: readonly ProjectFile[]): Lockfile {
  const packages = readPackages(lock, parseToml(lock), 'packages').map((entry): PythonPackage => {
    const dependencies = listOf(fieldOf(entry, 'dependencies')).flatMap((one) => textOf(one, 'name') ?? [])
    const origin = ['vcs', 'directory', 'archive'].find((key) => fieldOf(entry, key) !== undefined)
    const registry = findLockedRegistry(textOf(entry, 'index'))
    return {
      ...readIdentity(entry),
      reason: registry === null ? FROM_FOLDER : describeSource(origin),
      hashes: readHashes([fieldOf(entry, 'sdist'), ...listOf(fieldOf(entry, 'wheels'))]),
      registry: registry ?? undefined,
      dependencies: dependencies.map(normalizePypiName),
      isDev: undefined,
    }
  })
  // The list of dependencies is optional. Without it, what other packages need cannot be told from what is for development.
  const hasDependencies = packages.some(({ dependencies }) => dependencies.length > 0)
  return listPackages(hasDependencies ? packages : packages.map((one) => ({ ...one, isDev: false })), manifests)
}

/** Parses `Pipfile.lock`. What the project asks for is in the `Pipfile` beside it; without it, entries with an index were asked for. */
export function parsePipfileLock(lock: ProjectFile, manifests: readonly ProjectFile[]): Lockfile {
  const value = parseJson(lock)
  if (fieldOf(value, '_meta') === undefined) throw createLockfileError(lock, 'it has no _meta section')
  const pipfiles = manifests.filter(({ path }) => path === 'Pipfile').map(parsePipfile)
  const { ranges } = collectAsked(pipfiles)
  const indexes = listOf(fieldOf(fieldOf(value, '_meta'), 'sources'))
  const list = createPackageList('pypi')
  for (const [section, table] of entriesOf(value)) {
    if (section === '_meta') continue
    for (const [key, entry] of entriesOf(table)) {
      const name = normalizePypiName(key)
      const origin = ['git', 'hg', 'svn', 'bzr', 'path', 'file', 'url'].find((one) => fieldOf(entry, one) !== undefined)
      const index = textOf(entry, 'index')
      // The first index is that of all packages without one.
      const found = indexes.find((one) => index !== undefined && textOf(one, 'name') === index) ?? indexes[0]
      const registry = findLockedRegistry(textOf(found, 'url'))
      const reason = registry === null ? FROM_FOLDER : describeSource(origin)
      const version = exactPythonVersion(textOf(entry, 'version') ?? '')
      const isDirect = pipfiles.length > 0 ? ranges.has(name) : index !== undefined
      if (reason !== undefined) list.skip(key, reason)
      else if (version === null) list.skip(key, 'the lock file has no version for it')
      else {
        const hashes = textsOf(fieldOf(entry, 'hashes')).flatMap((text) => parseNamedDigest(text) ?? [])
        const use = { range: ranges.get(name), isDirect, isDev: section !== 'default' }
        list.add({ name: key, version, ...use, hashes, registry: registry ?? undefined })
      }
    }
  }
  return list.finish()
}

/** The list of packages of a lock file in TOML. */
export function readPackages(lock: ProjectFile, value: unknown, key: string): readonly unknown[] {
  const packages = fieldOf(value, key)
  // A project without dependencies has no list.
  if (packages !== undefined && !Array.isArray(packages)) throw createLockfileError(lock, `${key} is not a list`)
  return listOf(packages)
}

function readIdentity(entry: unknown): { readonly name: string; readonly version: string | undefined } {
  return { name: normalizePypiName(textOf(entry, 'name') ?? ''), version: textOf(entry, 'version') }
}

/** The digests of the files of a package: `hash = "sha256:…"`, or a table `hashes` with one for each algorithm. */
export function readHashes(files: readonly unknown[]): Integrity[] {
  return files.flatMap((file) => {
    const table = textEntriesOf(fieldOf(file, 'hashes')).map(([name, digest]) => `${name}:${digest}`)
    return [textOf(file, 'hash') ?? '', ...table].flatMap((text) => parseNamedDigest(text) ?? [])
  })
}

/** The registry that a lock file names; undefined for the public one, null if it is no web address. */
export function findLockedRegistry(text: string | undefined): string | null | undefined {
  if (text === undefined) return undefined
  if (text.length > MAX_ADDRESS_CHARS || !/^https?:\/\//i.test(text) || !URL.canParse(text)) return null
  const registry = normalizeRegistry(text)
  return registry === PUBLIC_INDEX ? undefined : registry
}

const MAX_ADDRESS_CHARS = 2000
const PUBLIC_INDEX = normalizeRegistry(`${PUBLIC_REGISTRIES.pypi}simple/`)

/** Why a package with this kind of source is not from a registry. */
export function describeSource(kind: string | undefined): string | undefined {
  switch (kind) {
    case 'git':
    case 'hg':
    case 'svn':
    case 'bzr':
    case 'vcs':
      return FROM_GIT
    case 'directory':
    case 'path':
    case 'file':
    case 'editable':
    case 'virtual':
      return FROM_FOLDER
    case 'archive':
    case 'url':
      return FROM_URL
    default:
      return undefined
  }
}

function listPackages(packages: readonly PythonPackage[], manifests: readonly ProjectFile[]): Lockfile {
  const { ranges, production } = collectAsked(
    manifests.filter(({ path }) => path === 'pyproject.toml').map(parsePyproject),
  )
  const byName = Map.groupBy(packages, ({ name }) => name)
  const inProduction = findReachable(production, (name) =>
    (byName.get(name) ?? []).flatMap(({ dependencies }) => dependencies),
  )
  const list = createPackageList('pypi')
  for (const { name, version, reason, isDev, hashes, registry } of packages) {
    if (reason !== undefined) list.skip(name, reason)
    else if (version === undefined) list.skip(name, 'the lock file has no version for it')
    else {
      list.add({
        name,
        version,
        range: ranges.get(name),
        isDirect: ranges.has(name),
        isDev: isDev ?? (ranges.size > 0 && !inProduction.has(name)),
        hashes,
        registry,
      })
    }
  }
  return list.finish()
}
