import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
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
    ...(virtualEnv === undefined ? [] : [virtualEnv]),
    join(project, '.venv'),
    join(project, 'venv'),
  ]
  let python: ReadonlyMap<string, InstalledAt> | undefined
  let crates: readonly string[] | undefined
  return (locked) => {
    const { type, name, version } = locked
    if (type === 'npm') return findNpm(project, locked)
    if (type === 'pypi') {
      python ??= listDistInfos(environments)
      const found = python.get(name)
      return version === null || found?.version === version ? found : undefined
    }
    if (type !== 'cargo' || version === null) return undefined
    crates ??= listFolders(join(cargoHome, 'registry', 'src'))
    const folder = crates.map((registry) => join(registry, `${name}-${version}`)).find((path) => existsSync(path))
    return folder === undefined ? undefined : { folder, version }
  }
}

function findNpm(project: string, { name, version, folder }: LockedPackage): InstalledAt | undefined {
  const modules = join(project, 'node_modules')
  const folders = [
    ...(folder === undefined ? [] : [join(project, folder)]),
    join(modules, name),
    // pnpm keeps packages that only other packages use here.
    join(modules, '.pnpm', `${name.replace('/', '+')}@${version}`, 'node_modules', name),
  ]
  for (const path of folders) {
    const found = readNpmVersion(path, name)
    if (found !== undefined && (version === null || found === version)) return { folder: path, version: found }
  }
  return undefined
}

/** The version of an installed npm package; undefined if the folder has no package of that name. */
function readNpmVersion(folder: string, name: string): string | undefined {
  try {
    const manifest = tryParseJson(readFileSync(join(folder, 'package.json'), 'utf8'))
    if (!isJsonObject(manifest) || manifest['name'] !== name) return undefined
    return typeof manifest['version'] === 'string' ? manifest['version'] : undefined
  } catch {
    // It is not installed here, or it belongs to somebody else.
    return undefined
  }
}

/** The `.dist-info` folders of Python environments, by the name of the package. The first environment takes precedence. */
function listDistInfos(environments: readonly string[]): ReadonlyMap<string, InstalledAt> {
  const found = new Map<string, InstalledAt>()
  for (const environment of environments) {
    const libraries = [...listFolders(join(environment, 'lib')), join(environment, 'Lib')]
    for (const folder of libraries.flatMap((library) => listFolders(join(library, 'site-packages')))) {
      const [, name, version] = /([^/\\]+)-([^-]+)\.dist-info$/.exec(folder) ?? []
      if (name === undefined || version === undefined) continue
      // One spelling of a name, as PyPI compares them.
      const key = name.toLowerCase().replace(/[-_.]+/g, '-')
      if (!found.has(key)) found.set(key, { folder, version })
    }
  }
  return found
}

function listFolders(path: string): string[] {
  try {
    const entries = readdirSync(path, { withFileTypes: true })
    return entries.filter((entry) => entry.isDirectory()).map((entry) => join(path, entry.name))
  } catch {
    // There is no such folder, or it belongs to somebody else.
    return []
  }
}
