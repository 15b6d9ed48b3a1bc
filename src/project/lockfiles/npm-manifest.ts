import { posix } from 'node:path'
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

/** The folder in which a member of a workspace has a package by the name of its dependency, if no folder above it has the package. */
export function moduleFolder(member: string, name: string): string {
  return member === '' || member === '.' ? `node_modules/${name}` : `${member}/node_modules/${name}`
}

/** What a `package.json` says. */
export interface NpmManifest {
  readonly name: string | undefined
  readonly dependencies: readonly NpmDependency[]
  /** Folder of the file, relative to the project. */
  readonly folder: string
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
  for (const { dependencies, folder: member } of manifests) {
    for (const { name, specifier, isDev } of dependencies) {
      const asked = parseNpmSpecifier(name, specifier)
      if (members.has(name) || asked.kind === 'workspace') continue
      if (asked.kind === 'elsewhere') list.skip(name, asked.reason)
      else {
        const folder = moduleFolder(member, name)
        list.add({ ...asked, version: exactNpmVersion(asked.range), isDirect: true, isDev, folder })
      }
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
    folder: posix.dirname(file.path),
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
