import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import satisfies from 'semver/functions/satisfies.js'
import validRange from 'semver/ranges/valid.js'
import { isJsonObject } from '../core/json/is-json-object.ts'
import { tryParseJson } from '../core/json/try-parse-json.ts'
import type { LockedPackage } from './locked-package.ts'

/** Where the package managers of this user keep what they install. */
export interface PackageFolders {
  readonly home: string
  /** @default .cargo in the home folder */
  readonly cargoHome?: string | undefined
  /** The active Python environment. @default none */
  readonly virtualEnv?: string | undefined
}

/** A package in the folder where it is installed. */
export interface InstalledAt {
  readonly folder: string
  readonly version: string
}

/** Returns a function that finds where a package of a project is installed; undefined if it is not. */
export function createInstalledFinder(
  project: string,
  { home, cargoHome = join(home, '.cargo'), virtualEnv }: PackageFolders,
): (locked: LockedPackage) => InstalledAt | undefined {
  const environments = [
    join(project, '.venv'),
    join(project, 'venv'),
    ...(virtualEnv === undefined ? [] : [virtualEnv]),
  ]
  let python: ReadonlyMap<string, readonly InstalledAt[]> | undefined
  let crates: readonly string[] | undefined
  return (locked) => {
    const { type, name, version } = locked
    if (type === 'npm') return findNpm(project, locked)
    if (type === 'pypi') {
      python ??= listDistInfos(environments)
      const found = python.get(name) ?? []
      return version === null ? found[0] : found.find((one) => one.version === version)
    }
    if (type !== 'cargo' || version === null) return undefined
    // Another registry may have another package of this name.
    crates ??= listFolders(join(cargoHome, 'registry', 'src')).filter((path) => PUBLIC_CRATES.test(path))
    const folder = crates.map((registry) => join(registry, `${name}-${version}`)).find((path) => existsSync(path))
    return folder === undefined ? undefined : { folder, version }
  }
}

/** The folders in which Cargo keeps packages of the public registry. */
const PUBLIC_CRATES = /[/\\](?:index\.crates\.io|github\.com)-[^/\\]+$/

function findNpm(project: string, { name, version, range, folder }: LockedPackage): InstalledAt | undefined {
  const modules = join(project, 'node_modules')
  const folders = [
    ...(folder === undefined || folder.split('/').includes('..') ? [] : [join(project, folder)]),
    join(modules, name),
    // pnpm keeps packages that only other packages use here.
    join(modules, '.pnpm', `${name.replace('/', '+')}@${version}`, 'node_modules', name),
  ]
  for (const path of folders) {
    const found = readNpmVersion(path, name)
    const isWanted = version === null ? isInRange(found, range) : found === version
    if (found !== undefined && isWanted) return { folder: path, version: found }
  }
  return undefined
}

/** Whether a version is in the range that the project asks for. A tag or an address is no range, and accepts every version. */
function isInRange(version: string | undefined, range: string | undefined): boolean {
  if (version === undefined) return false
  return range === undefined || validRange(range) === null || satisfies(version, range, { includePrerelease: true })
}

/** The version of an installed npm package; undefined if the folder has no package of that name. */
function readNpmVersion(folder: string, name: string): string | undefined {
  try {
    const manifest = tryParseJson(readFileSync(join(folder, 'package.json'), 'utf8'))
    if (!isJsonObject(manifest) || manifest['name'] !== name) return undefined
    return typeof manifest['version'] === 'string' ? manifest['version'] : undefined
  } catch {
    // It is not installed here, or cannot be read.
    return undefined
  }
}

/** The `.dist-info` folders of Python environments, by the name of the package; those of the first environment first. */
function listDistInfos(environments: readonly string[]): ReadonlyMap<string, readonly InstalledAt[]> {
  const found = new Map<string, InstalledAt[]>()
  for (const environment of environments) {
    const libraries = [...listFolders(join(environment, 'lib')), join(environment, 'Lib')]
    for (const folder of libraries.flatMap((library) => listFolders(join(library, 'site-packages')))) {
      const [, name, version] = /([^/\\]+)-([^-]+)\.dist-info$/.exec(folder) ?? []
      if (name === undefined || version === undefined) continue
      // One spelling of a name, as PyPI compares them.
      const key = name.toLowerCase().replace(/[-_.]+/g, '-')
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
