import { entriesOf, fieldOf, listOf, textOf, textsOf } from '../../core/json/fields.ts'
import { normalizePypiName } from '../../core/url/package-url.ts'
import type { Lockfile, ProjectFile } from '../locked-package.ts'
import { findReachable } from './find-reachable.ts'
import { FROM_FOLDER } from './origins.ts'
import { createPackageList } from './package-list.ts'
import { parseToml } from './parse-syntax.ts'
import { describeSource, findLockedRegistry, readHashes, readPackages } from './python-lock.ts'

/** Parses `uv.lock`, which lists the project and the members of its workspace as packages. */
export function parseUvLock(lock: ProjectFile): Lockfile {
  const value = parseToml(lock)
  const packages = readPackages(lock, value, 'package')
  const byName = Map.groupBy(packages, (entry) => nameOf(entry) ?? '')
  const members = findMembers(value, packages)
  const asked = new Map<unknown, string | undefined>()
  const productionRoots: unknown[] = []
  const find = (dependency: unknown): readonly unknown[] => {
    const version = textOf(dependency, 'version')
    const sameName = byName.get(nameOf(dependency) ?? '') ?? []
    return version === undefined ? sameName : sameName.filter((entry) => textOf(entry, 'version') === version)
  }
  for (const member of members) {
    const ranges = readRanges(fieldOf(member, 'metadata'))
    for (const { dependency, isDev } of readDependencies(member)) {
      for (const entry of find(dependency)) {
        if (asked.get(entry) === undefined) asked.set(entry, ranges.get(nameOf(entry) ?? ''))
        if (!isDev) productionRoots.push(entry)
      }
    }
  }
  const inProduction = findReachable(productionRoots, (entry) =>
    // A member that another one needs brings only what it needs itself, not what is for its development.
    readDependencies(entry).flatMap(({ dependency, isDev }) => (isDev ? [] : find(dependency))),
  )
  const list = createPackageList('pypi')
  for (const entry of packages) {
    if (members.has(entry)) continue
    const name = textOf(entry, 'name') ?? ''
    const version = textOf(entry, 'version')
    const source = fieldOf(entry, 'source')
    const registry = findLockedRegistry(textOf(source, 'registry'))
    const reason = registry === null ? FROM_FOLDER : describeSource(entriesOf(source)[0]?.[0])
    const hashes = readHashes([fieldOf(entry, 'sdist'), ...listOf(fieldOf(entry, 'wheels'))])
    if (reason !== undefined) list.skip(name, reason)
    else if (version === undefined) list.skip(name, 'the lock file has no version for it')
    else {
      const isDirect = asked.has(entry)
      const use = { range: asked.get(entry), isDirect, isDev: !inProduction.has(entry) }
      list.add({ name, version, ...use, hashes, registry: registry ?? undefined })
    }
  }
  return list.finish()
}

function nameOf(entry: unknown): string | undefined {
  const name = textOf(entry, 'name')
  return name === undefined ? undefined : normalizePypiName(name)
}

/** The project and the members of its workspace. */
function findMembers(value: unknown, packages: readonly unknown[]): ReadonlySet<unknown> {
  const names = new Set(textsOf(fieldOf(fieldOf(value, 'manifest'), 'members')).map(normalizePypiName))
  return new Set(
    packages.filter((entry) => {
      const source = fieldOf(entry, 'source')
      const folder = textOf(source, 'virtual') ?? textOf(source, 'editable')
      if (folder === undefined) return false
      return names.size === 0 ? folder === '.' : names.has(nameOf(entry) ?? '')
    }),
  )
}

function readDependencies(entry: unknown): { readonly dependency: unknown; readonly isDev: boolean }[] {
  const groups = (key: string): unknown[] => entriesOf(fieldOf(entry, key)).flatMap(([, list]) => listOf(list))
  return [
    ...[...listOf(fieldOf(entry, 'dependencies')), ...groups('optional-dependencies')].map((dependency) => ({
      dependency,
      isDev: false,
    })),
    ...groups('dev-dependencies').map((dependency) => ({ dependency, isDev: true })),
  ]
}

/** The ranges that a member asks for, by name. */
function readRanges(metadata: unknown): ReadonlyMap<string, string> {
  const ranges = new Map<string, string>()
  const requirements = [
    ...listOf(fieldOf(metadata, 'requires-dist')),
    ...entriesOf(fieldOf(metadata, 'requires-dev')).flatMap(([, list]) => listOf(list)),
  ]
  for (const requirement of requirements) {
    const name = nameOf(requirement)
    if (name !== undefined) ranges.set(name, textOf(requirement, 'specifier') ?? '*')
  }
  return ranges
}
