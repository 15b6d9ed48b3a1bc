import { posix } from 'node:path'
import { entriesOf, fieldOf, textOf, textsOf } from '../../core/json/fields.ts'
import type { Lockfile, ProjectFile } from '../locked-package.ts'
import { FROM_FOLDER, FROM_GIT } from './origins.ts'
import { createPackageList } from './package-list.ts'
import { parseToml } from './parse-syntax.ts'

/** What a `Cargo.toml` asks for. */
export interface CargoDependency {
  /** Name of the crate, which may differ from the name that the code uses. */
  readonly name: string
  readonly range: string | undefined
  readonly isDev: boolean
  /** Why it is not from the registry, if it is not. */
  readonly reason?: string
}

/** What a `Cargo.toml` says. */
export interface CargoManifest {
  readonly name: string | undefined
  readonly dependencies: readonly CargoDependency[]
  readonly isWorkspace: boolean
  /** Globs of the folders of workspace members. */
  readonly members: readonly string[]
  readonly excluded: readonly string[]
  /** Folders of path dependencies, which are members too if they are inside the project. */
  readonly paths: readonly string[]
}

/** Parses the `Cargo.toml` files of a project that has no lock file: ranges only, except for exact versions. */
export function parseCargoManifests(files: readonly ProjectFile[]): Lockfile {
  const list = createPackageList('cargo')
  const manifests = parseCargoWorkspace(files)
  const members = new Set(manifests.map((one) => one.name))
  for (const { name, range, isDev, reason } of manifests.flatMap((one) => one.dependencies)) {
    if (members.has(name)) continue
    if (reason !== undefined) list.skip(name, reason)
    else
      list.add({
        name,
        version: /^=\s*(\d+\.\d+\.\d+(?!\d)[\w.+-]*)$/.exec(range ?? '')?.[1] ?? null,
        range,
        isDirect: true,
        isDev,
      })
  }
  return list.finish()
}

/** Parses the `Cargo.toml` of a project and of its members, which may take dependencies from the workspace. */
export function parseCargoWorkspace(files: readonly ProjectFile[]): CargoManifest[] {
  const values = files.map((file) => parseToml(file))
  const root = files.findIndex(({ path }) => path === 'Cargo.toml')
  const workspace = fieldOf(values[root], 'workspace')
  return values.map((value) => readManifest(value, fieldOf(workspace, 'dependencies')))
}

function readManifest(value: unknown, inherited: unknown): CargoManifest {
  const tables = [value, ...entriesOf(fieldOf(value, 'target')).map(([, target]) => target)]
  const specifications = tables.flatMap((table) => [
    ...entriesOf(fieldOf(table, 'dependencies')).map((entry) => [...entry, false] as const),
    ...entriesOf(fieldOf(table, 'build-dependencies')).map((entry) => [...entry, false] as const),
    ...['dev-dependencies', 'dev_dependencies'].flatMap((key) =>
      entriesOf(fieldOf(table, key)).map((entry) => [...entry, true] as const),
    ),
  ])
  const workspace = fieldOf(value, 'workspace')
  return {
    name: textOf(fieldOf(value, 'package'), 'name'),
    dependencies: specifications.map(([key, specification, isDev]) => {
      const isInherited = fieldOf(specification, 'workspace') === true
      return readDependency(key, isInherited ? fieldOf(inherited, key) : specification, isDev)
    }),
    isWorkspace: workspace !== undefined,
    members: textsOf(fieldOf(workspace, 'members')),
    excluded: textsOf(fieldOf(workspace, 'exclude')),
    paths: [...specifications, ...entriesOf(inherited)].flatMap(([, specification]) => {
      const path = textOf(specification, 'path')
      return path === undefined ? [] : [posix.normalize(path)]
    }),
  }
}

function readDependency(key: string, specification: unknown, isDev: boolean): CargoDependency {
  const name = textOf(specification, 'package') ?? key
  const range = typeof specification === 'string' ? specification : textOf(specification, 'version')
  if (fieldOf(specification, 'git') !== undefined) return { name, range, isDev, reason: FROM_GIT }
  if (fieldOf(specification, 'path') !== undefined) return { name, range, isDev, reason: FROM_FOLDER }
  const registry = textOf(specification, 'registry')
  if (registry !== undefined) return { name, range, isDev, reason: 'it comes from another registry than crates.io' }
  return { name, range, isDev }
}
