import { existsSync, readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import satisfies from 'semver/functions/satisfies.js'
import validRange from 'semver/ranges/valid.js'
import { escapeRegExp } from '../core/escape-reg-exp.ts'
import { isJsonObject } from '../core/json/is-json-object.ts'
import { tryParseJson } from '../core/json/try-parse-json.ts'
import { escapeGoPath } from '../core/url/go-path.ts'
import { normalizePypiName } from '../core/url/package-url.ts'
import type { LockedPackage } from './locked-package.ts'
import { readText } from './read-text.ts'

/** Where the package managers of this user keep what they install. */
export interface PackageFolders {
  readonly home: string
  /** @default .cargo in the home folder */
  readonly cargoHome?: string | undefined
  /** The active Python environment. @default none */
  readonly virtualEnv?: string | undefined
  /** Folder in which Go keeps modules. @default go/pkg/mod in the home folder */
  readonly goModules?: string | undefined
  /** Local repository of Maven. @default .m2/repository in the home folder */
  readonly mavenRepository?: string | undefined
}

/** A package in the folder where it is installed. */
export interface InstalledAt {
  readonly folder: string
  readonly version: string
}

/** Returns a function that finds where a package of a project is installed; undefined if it is not. */
export function createInstalledFinder(
  project: string,
  folders: PackageFolders,
): (locked: LockedPackage) => InstalledAt | undefined {
  const { home, virtualEnv } = folders
  const { cargoHome = join(home, '.cargo'), goModules = join(home, 'go', 'pkg', 'mod') } = folders
  const { mavenRepository = join(home, '.m2', 'repository') } = folders
  const environments = [
    join(project, '.venv'),
    join(project, 'venv'),
    ...(virtualEnv === undefined ? [] : [virtualEnv]),
  ]
  let python: ReadonlyMap<string, readonly InstalledAt[]> | undefined
  let crates: readonly string[] | undefined
  let vendored: ReadonlySet<string> | undefined
  let stored: ReadonlyMap<string, readonly string[]> | undefined
  return (locked) => {
    const { type, name, version } = locked
    if (type === 'npm') {
      stored ??= listStored(join(project, 'node_modules'))
      return findNpm(project, stored, locked)
    }
    if (type === 'pypi') {
      python ??= listDistInfos(environments)
      const found = python.get(name) ?? []
      return version === null ? found[0] : found.find((one) => one.version === version)
    }
    if (version === null) return undefined
    if (type === 'golang') {
      vendored ??= new Set(readText(join(project, 'vendor', 'modules.txt'))?.split(/\r?\n/))
      return findGo(project, goModules, vendored, name, version)
    }
    if (type === 'maven') return findMaven(mavenRepository, name, version)
    // Another registry may have another package of this name.
    crates ??= listFolders(join(cargoHome, 'registry', 'src')).filter((path) => PUBLIC_CRATES.test(path))
    const found = crates.map((registry) => join(registry, `${name}-${version}`)).find((path) => existsSync(path))
    const folder = found ?? findVendoredCrate(project, name, version)
    return folder === undefined ? undefined : { folder, version }
  }
}

/** The folders in which Cargo keeps packages of the public registry. */
const PUBLIC_CRATES = /[/\\](?:index\.crates\.io|github\.com)-[^/\\]+$/

/** A module in the module cache, else in `vendor`, for which the lines of `modules.txt` name the versions. */
function findGo(
  project: string,
  modules: string,
  lines: ReadonlySet<string>,
  name: string,
  version: string,
): InstalledAt | undefined {
  const vendored = join(project, 'vendor', name)
  const isVendored = lines.has(`# ${name} ${version}`)
  const cached = join(modules, `${escapeGoPath(name)}@${escapeGoPath(version)}`)
  // The cache comes first: `vendor` has only the packages that the project imports.
  const folder = existsSync(cached) ? cached : isVendored && existsSync(vendored) ? vendored : undefined
  return folder === undefined ? undefined : { folder, version }
}

/** A folder of the local repository with something to read: most artifacts are there as compiled classes only. */
function findMaven(repository: string, name: string, version: string): InstalledAt | undefined {
  const [group = '', artifact = ''] = name.split(':')
  const folder = join(repository, ...group.split('.'), artifact, version)
  const archives = ['sources', 'javadoc'].map((kind) => join(folder, `${artifact}-${version}-${kind}.jar`))
  return archives.some((path) => existsSync(path)) ? { folder, version } : undefined
}

/** A crate that `cargo vendor` copied. The name of its folder has the version only if there are several. */
function findVendoredCrate(project: string, name: string, version: string): string | undefined {
  const folders = [`${name}-${version}`, name].map((folder) => join(project, 'vendor', folder))
  return folders.find((folder) => {
    const manifest = readText(join(folder, 'Cargo.toml')) ?? ''
    return new RegExp(`^version\\s*=\\s*"${escapeRegExp(version)}"`, 'm').test(manifest)
  })
}

function findNpm(
  project: string,
  stored: ReadonlyMap<string, readonly string[]>,
  { name, version, range, folder }: LockedPackage,
): InstalledAt | undefined {
  const own = folder === undefined || folder.split('/').includes('..') ? [] : listUpward(folder)
  const store = stored.get(`${name.replace('/', '+')}@${version?.split('+')[0]}`) ?? []
  const folders = [...own, `node_modules/${name}`].map((path) => join(project, path))
  for (const path of [...folders, ...store.map((one) => join(one, 'node_modules', name))]) {
    const found = readNpmVersion(path, name)
    const isWanted = version === null ? isInRange(found, range) : found === version
    if (found !== undefined && isWanted) return { folder: path, version: found }
  }
  return undefined
}

const MAX_PARENTS = 16

/** `apps/a/node_modules/b` and the same in each folder above it, in the order in which Node looks for a package. */
function listUpward(folder: string): string[] {
  const [, member = '', modules = folder] = /^(?:(.*?)\/)?(node_modules\/.*)$/.exec(folder) ?? []
  const names = member.split('/')
  const parents = names.slice(0, MAX_PARENTS).map((_, index) => names.slice(0, names.length - index).join('/'))
  return [...(member === '' ? [] : parents.map((parent) => `${parent}/${modules}`)), modules]
}

/** The folders in which pnpm and Bun keep each package once, by name and version. The names of some have a suffix for their peers. */
function listStored(modules: string): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>()
  for (const path of ['.pnpm', '.bun'].flatMap((store) => listFolders(join(modules, store)))) {
    const [key] = /^@?[^@]+@[^_+(]+/.exec(basename(path)) ?? []
    if (key !== undefined) found.set(key, [...(found.get(key) ?? []), path])
  }
  return found
}

/** Whether a version is in the range that the project asks for. A tag or an address is no range, and accepts every version. */
function isInRange(version: string | undefined, range: string | undefined): boolean {
  if (version === undefined) return false
  return range === undefined || validRange(range) === null || satisfies(version, range, { includePrerelease: true })
}

/** The version of an installed npm package; undefined if the folder has no package of that name. */
function readNpmVersion(folder: string, name: string): string | undefined {
  const manifest = tryParseJson(readText(join(folder, 'package.json')) ?? '')
  if (!isJsonObject(manifest) || manifest['name'] !== name) return undefined
  return typeof manifest['version'] === 'string' ? manifest['version'] : undefined
}

/** The `.dist-info` folders of Python environments, by the name of the package; those of the first environment first. */
function listDistInfos(environments: readonly string[]): ReadonlyMap<string, readonly InstalledAt[]> {
  const found = new Map<string, InstalledAt[]>()
  for (const environment of environments) {
    const libraries = [...listFolders(join(environment, 'lib')), join(environment, 'Lib')]
    for (const folder of libraries.flatMap((library) => listFolders(join(library, 'site-packages')))) {
      const [, name, version] = /(?<![^/\\])([^/\\]+)-([^-]+)\.dist-info$/.exec(folder) ?? []
      if (name === undefined || version === undefined) continue
      const key = normalizePypiName(name)
      found.set(key, [...(found.get(key) ?? []), { folder, version }])
    }
  }
  return found
}

function listFolders(path: string): string[] {
  try {
    const entries = readdirSync(path, { withFileTypes: true })
    return entries.filter((entry) => entry.isDirectory()).map((entry) => join(path, entry.name))
  } catch {
    // There is no such folder, or it cannot be read.
    return []
  }
}
