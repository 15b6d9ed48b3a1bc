import { type Integrity, parseSri } from '../../core/integrity.ts'
import { entriesOf, fieldOf, listOf, textOf } from '../../core/json/fields.ts'
import { isJsonObject } from '../../core/json/is-json-object.ts'
import type { Lockfile, ProjectFile } from '../locked-package.ts'
import { findReachable } from './find-reachable.ts'
import { moduleFolder, readNpmDependencies } from './npm-manifest.ts'
import { parseNpmSpecifier } from './npm-specifier.ts'
import { createPackageList, type PackageFacts } from './package-list.ts'
import { createLockfileError, parseJson } from './parse-syntax.ts'

/** A package of a `bun.lock`. Its key is the path of names under which it is installed: `b`, or `a/b` if `a` has a `b` of its own. */
interface BunPackage {
  readonly name: string
  /** Version of the registry, or where else the package comes from. */
  readonly origin: string
  /** The part that lists what the package depends on. */
  readonly details: unknown
  readonly hashes: readonly Integrity[]
}

/** Parses `bun.lock`, which is JSON with comments and trailing commas. */
export function parseBunLock(lock: ProjectFile): Lockfile {
  const value = parseJson(lock)
  const workspaces = entriesOf(fieldOf(value, 'workspaces'))
  if (workspaces.length === 0) throw createLockfileError(lock, 'it has no workspaces')
  const packages = readPackages(fieldOf(value, 'packages'))
  const asked = new Map<string, Pick<PackageFacts, 'range' | 'folder'>>()
  const productionRoots: string[] = []
  for (const [folder, member] of workspaces) {
    // What only a member uses is installed below its name.
    const from = folder === '' ? '' : (textOf(member, 'name') ?? '')
    for (const { name, specifier, isDev } of readNpmDependencies(member)) {
      const key = findInstalled(packages, from, name)
      if (key === undefined) continue
      const known = asked.get(key)
      asked.set(key, {
        range: known?.range ?? findRange(value, name, specifier),
        folder: known?.folder ?? moduleFolder(folder, name),
      })
      if (!isDev) productionRoots.push(key)
    }
  }
  const inProduction = findReachable(productionRoots, (key) =>
    readNpmDependencies(packages.get(key)?.details).flatMap(({ name }) => findInstalled(packages, key, name) ?? []),
  )
  const list = createPackageList('npm')
  for (const [key, { name, origin, hashes }] of packages) {
    const parsed = parseNpmSpecifier(name, origin)
    if (parsed.kind === 'workspace') continue
    if (parsed.kind === 'elsewhere') list.skip(name, parsed.reason)
    else {
      const isDirect = asked.has(key)
      const found = asked.get(key) ?? { folder: folderOf(key) }
      list.add({ name, version: origin, isDirect, isDev: !inProduction.has(key), hashes, ...found })
    }
  }
  return list.finish()
}

function readPackages(value: unknown): ReadonlyMap<string, BunPackage> {
  return new Map(
    entriesOf(value).map(([key, entry]) => {
      const parts = listOf(entry)
      const identity = typeof parts[0] === 'string' ? parts[0] : key
      const at = identity.indexOf('@', 1)
      const name = at < 0 ? identity : identity.slice(0, at)
      const origin = at < 0 ? '' : identity.slice(at + 1)
      // Packages of a registry end with their integrity.
      const last = parts.at(-1)
      const hashes = parseSri(typeof last === 'string' ? last : undefined)
      return [key, { name, origin, details: parts.find(isJsonObject), hashes }]
    }),
  )
}

/** The key under which a package finds another one: below itself, or below one of those that contain it. */
function findInstalled(packages: ReadonlyMap<string, BunPackage>, from: string, name: string): string | undefined {
  for (let parent = from; parent !== ''; parent = parentOf(parent)) {
    if (packages.has(`${parent}/${name}`)) return `${parent}/${name}`
  }
  return packages.has(name) ? name : undefined
}

/** `a/@scope/b` → `node_modules/a/node_modules/@scope/b`. That is where it is if nothing else in the path is a member. */
function folderOf(key: string): string {
  const parent = parentOf(key)
  const name = parent === '' ? key : key.slice(parent.length + 1)
  return moduleFolder(parent === '' ? '' : folderOf(parent), name)
}

/** `a/@scope/b` → `a`, `@scope/b` → `` */
function parentOf(key: string): string {
  return key.replace(/(?:^|\/)(?:@[^/]*\/)?[^/]*$/, '')
}

function findRange(lock: unknown, name: string, specifier: string): string | undefined {
  if (specifier.startsWith('catalog:')) {
    const catalog = specifier.slice('catalog:'.length)
    return textOf(catalog === '' ? fieldOf(lock, 'catalog') : fieldOf(fieldOf(lock, 'catalogs'), catalog), name)
  }
  const asked = parseNpmSpecifier(name, specifier)
  return asked.kind === 'registry' ? asked.range : undefined
}
