import { fieldOf, textEntriesOf, textOf, textsOf } from '../../core/json/fields.ts'
import type { Lockfile, ProjectFile } from '../locked-package.ts'
import { exactNpmVersion, parseNpmSpecifier } from './npm-specifier.ts'
import { createPackageList } from './package-list.ts'
import { parseJson } from './parse-syntax.ts'

/** A dependency as a `package.json` writes it. */
export interface NpmDependency {
  readonly name: string
  readonly specifier: string
  readonly isDev: boolean
}

/** What a `package.json` says. */
export interface NpmManifest {
  readonly name: string | undefined
  readonly dependencies: readonly NpmDependency[]
  /** Globs of the folders of workspace members. */
  readonly workspaces: readonly string[]
}

/** Sections with dependencies; the specifier of a later one counts. */
const SECTIONS = ['peerDependencies', 'devDependencies', 'dependencies', 'optionalDependencies']

/** Parses the `package.json` files of a project that has no lock file: ranges only, except for exact versions. */
export function parseNpmManifests(files: readonly ProjectFile[]): Lockfile {
  const list = createPackageList('npm')
  const manifests = files.map(parseNpmManifest)
  const members = new Set(manifests.map((one) => one.name))
  for (const { dependencies } of manifests) {
    for (const { name, specifier, isDev } of dependencies) {
      const asked = parseNpmSpecifier(name, specifier)
      if (members.has(name) || asked.kind === 'workspace') continue
      if (asked.kind === 'elsewhere') list.skip(name, asked.reason)
      else list.add({ ...asked, version: exactNpmVersion(asked.range), isDirect: true, isDev })
    }
  }
  return list.finish()
}

/** Parses a `package.json`. */
export function parseNpmManifest(file: ProjectFile): NpmManifest {
  const value = parseJson(file)
  const workspaces = fieldOf(value, 'workspaces')
  return {
    name: textOf(value, 'name'),
    dependencies: readNpmDependencies(value),
    workspaces: [...textsOf(workspaces), ...textsOf(fieldOf(workspaces, 'packages'))],
  }
}

/**
 * The dependencies of a `package.json`, or of a part of a lock file with the same fields. Each name occurs once: what is a peer dependency
 * and also for development is installed by the range for development.
 */
export function readNpmDependencies(value: unknown): NpmDependency[] {
  const found = new Map<string, NpmDependency>()
  for (const section of SECTIONS) {
    for (const [name, specifier] of textEntriesOf(fieldOf(value, section))) {
      const isDev = section === 'devDependencies' && !found.has(name)
      found.set(name, { name, specifier, isDev })
    }
  }
  return [...found.values()]
}
