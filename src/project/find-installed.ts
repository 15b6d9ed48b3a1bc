import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { LockedPackage } from './locked-package.ts'

/** Where package managers of this user keep what they install. */
export interface PackageFolders {
  readonly home: string
  readonly cargoHome?: string | undefined
  readonly virtualEnv?: string | undefined
}

/** Returns a function that finds the folder in which a package of a project is installed; undefined if it is not installed. */
export function createInstalledFinder(
  project: string,
  { home, cargoHome = join(home, '.cargo'), virtualEnv }: PackageFolders,
): (locked: LockedPackage, lockFolder: string) => string | undefined {
  const environments = [virtualEnv, join(project, '.venv'), join(project, 'venv')]
  const python = memoize(() => listDistInfos(environments.flatMap((path) => (path === undefined ? [] : [path]))))
  const crates = memoize(() => listFolders(join(cargoHome, 'registry', 'src')))
  return ({ type, name, version, folder }, lockFolder) => {
    if (version === null) return undefined
    switch (type) {
      case 'npm':
        return firstWith('package.json', [
          ...(folder === undefined ? [] : [join(lockFolder, folder)]),
          join(lockFolder, 'node_modules', name),
          join(project, 'node_modules', name),
          // pnpm keeps packages that only other packages use here.
          join(project, 'node_modules', '.pnpm', `${name.replace('/', '+')}@${version}`, 'node_modules', name),
        ])
      case 'pypi':
        return python().get(`${name}@${version}`)
      case 'cargo':
        return firstWith(
          'Cargo.toml',
          crates().map((registry) => join(registry, `${name}-${version}`)),
        )
      case 'maven':
      case 'golang':
        return undefined
    }
  }
}

function firstWith(file: string, folders: readonly string[]): string | undefined {
  return folders.find((folder) => existsSync(join(folder, file)))
}

/** The `.dist-info` folders of Python environments, by name and version. */
function listDistInfos(environments: readonly string[]): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  for (const environment of environments) {
    const libraries = [...listFolders(join(environment, 'lib')), join(environment, 'Lib')]
    for (const packages of libraries.map((library) => join(library, 'site-packages'))) {
      for (const folder of listFolders(packages)) {
        const [, name, version] = /([^/\\]+)-([^-]+)\.dist-info$/.exec(folder) ?? []
        if (name === undefined) continue
        // PEP 503: one spelling of a name.
        const key = `${name.toLowerCase().replace(/[-_.]+/g, '-')}@${version}`
        if (!found.has(key)) found.set(key, folder)
      }
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

function memoize<T>(read: () => T): () => T {
  let value: { readonly content: T } | undefined
  return () => {
    value ??= { content: read() }
    return value.content
  }
}
