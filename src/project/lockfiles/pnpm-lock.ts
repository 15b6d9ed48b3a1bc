import { posix } from 'node:path'
import { type Integrity, parseSri } from '../../core/integrity.ts'
import { entriesOf, fieldOf, textOf } from '../../core/json/fields.ts'
import type { Lockfile, ProjectFile } from '../locked-package.ts'
import { findReachable } from './find-reachable.ts'
import { moduleFolder } from './npm-manifest.ts'
import { parseNpmSpecifier } from './npm-specifier.ts'
import { FROM_FOLDER, FROM_GIT, FROM_URL } from './origins.ts'
import { createPackageList, type PackageFacts } from './package-list.ts'
import { createLockfileError } from './parse-syntax.ts'
import { parseYaml } from './yaml-syntax.ts'

/** What a project or workspace member asks for. */
interface PnpmDependency {
  readonly name: string
  /** Version, or key of a package; `link:` with a path for members of the workspace and other folders. */
  readonly reference: string
  readonly specifier: string | undefined
  readonly isDev: boolean
}

/** Parses `pnpm-lock.yaml` of the versions 5 to 9. */
export function parsePnpmLock(lock: ProjectFile): Lockfile {
  // pnpm 11 writes what it needs for itself as a document before that of the project.
  const value = parseYaml(lock).at(-1)
  const format = Number.parseFloat(textOf(value, 'lockfileVersion') ?? '')
  if (!(format >= 5)) throw createLockfileError(lock, 'it has no lockfileVersion of 5 or more')
  const list = createPackageList('npm')
  const packages = new Map(entriesOf(fieldOf(value, 'packages')))
  // From version 9 on, what packages depend on is in a section of its own.
  const nodes = format >= 9 ? new Map(entriesOf(fieldOf(value, 'snapshots'))) : packages
  const importers = readImporters(value)

  const asked = new Map<string, Pick<PackageFacts, 'range' | 'folder'>>()
  const productionRoots: string[] = []
  for (const [folder, dependencies] of importers) {
    for (const { name, reference, specifier, isDev } of dependencies) {
      if (reference.startsWith('link:')) {
        if (!importers.has(posix.join(folder, reference.slice('link:'.length)))) list.skip(name, FROM_FOLDER)
        continue
      }
      const key = findKey(nodes, name, reference)
      if (key === undefined) continue
      const known = asked.get(key)
      asked.set(key, {
        range: known?.range ?? findRange(value, name, specifier),
        folder: known?.folder ?? moduleFolder(folder, name),
      })
      if (!isDev) productionRoots.push(key)
    }
  }
  const inProduction = findReachable(productionRoots, (key) => findNext(nodes, key))
  for (const key of nodes.keys()) {
    const { name, version, reason, hashes } = describePackage(key, packages, format)
    if (reason !== undefined) list.skip(name, reason)
    else {
      const isDirect = asked.has(key)
      list.add({ name, version, isDirect, isDev: !inProduction.has(key), hashes, ...asked.get(key) })
    }
  }
  return list.finish()
}

/** The dependencies of the project and of the members of its workspace, by folder. */
function readImporters(value: unknown): ReadonlyMap<string, readonly PnpmDependency[]> {
  const importers = fieldOf(value, 'importers')
  const entries = importers === undefined ? [['.', value] as const] : entriesOf(importers)
  return new Map(entries.map(([folder, entry]) => [folder, readDependencies(entry)]))
}

function readDependencies(importer: unknown): PnpmDependency[] {
  // Before version 6, the specifiers of all dependencies are in one section.
  const specifiers = fieldOf(importer, 'specifiers')
  return ['dependencies', 'optionalDependencies', 'devDependencies'].flatMap((section) =>
    entriesOf(fieldOf(importer, section)).map(([name, entry]) => ({
      name,
      reference: typeof entry === 'string' ? entry : (textOf(entry, 'version') ?? ''),
      specifier: typeof entry === 'string' ? textOf(specifiers, name) : textOf(entry, 'specifier'),
      isDev: section === 'devDependencies',
    })),
  )
}

/** The key of the package that a reference means. It is the key itself, or a version to combine with the name. */
function findKey(nodes: ReadonlyMap<string, unknown>, name: string, reference: string): string | undefined {
  return [reference, `${name}@${reference}`, `/${name}@${reference}`, `/${name}/${reference}`].find((key) =>
    nodes.has(key),
  )
}

function findNext(nodes: ReadonlyMap<string, unknown>, key: string): string[] {
  const node = nodes.get(key)
  return ['dependencies', 'optionalDependencies'].flatMap((section) =>
    entriesOf(fieldOf(node, section)).flatMap(([name, reference]) => {
      const next = typeof reference === 'string' ? findKey(nodes, name, reference) : undefined
      return next === undefined ? [] : [next]
    }),
  )
}

function findRange(lock: unknown, name: string, specifier: string | undefined): string | undefined {
  if (specifier === undefined) return undefined
  if (specifier.startsWith('catalog:')) {
    const catalog = fieldOf(fieldOf(lock, 'catalogs'), specifier.slice('catalog:'.length) || 'default')
    return textOf(fieldOf(catalog, name), 'specifier')
  }
  const asked = parseNpmSpecifier(name, specifier)
  return asked.kind === 'registry' ? asked.range : undefined
}

/** Name and version of a package, or the reason why it has none in a registry. */
function describePackage(
  key: string,
  packages: ReadonlyMap<string, unknown>,
  format: number,
): {
  readonly name: string
  readonly version: string
  readonly reason?: string
  readonly hashes: readonly Integrity[]
} {
  const entry = packages.get(key) ?? packages.get(withoutPeers(key))
  const parsed = format >= 6 ? parseKey(key) : parseOldKey(key)
  const name = textOf(entry, 'name') ?? parsed.name
  const resolution = fieldOf(entry, 'resolution')
  const reason = findReason(resolution, parsed.version)
  const hashes = parseSri(textOf(resolution, 'integrity'))
  return { name, version: parsed.version, hashes, ...(reason !== undefined && { reason }) }
}

/** Why a package is not from a registry; undefined if it is. */
function findReason(resolution: unknown, version: string): string | undefined {
  const type = textOf(resolution, 'type')
  if (type === 'git') return FROM_GIT
  if (type === 'directory') return FROM_FOLDER
  if (/^\d+\.\d+\.\d+/.test(version)) return undefined
  const tarball = textOf(resolution, 'tarball') ?? version
  if (tarball.startsWith('file:')) return FROM_FOLDER
  return /codeload\.github\.com|\/archive\.tar\.gz|\/get\/\w+\.tar\.gz|^git/.test(tarball) ? FROM_GIT : FROM_URL
}

/** `name@1.0.0`, `@scope/name@1.0.0(peer@2.0.0)`, `name@https://…`; in version 6 with a slash before it. */
function parseKey(key: string): { readonly name: string; readonly version: string } {
  const plain = withoutPeers(key).replace(/^\//, '')
  const at = plain.indexOf('@', 1)
  return at < 0 ? { name: plain, version: plain } : { name: plain.slice(0, at), version: plain.slice(at + 1) }
}

/** `/name/1.0.0`, `/@scope/name/1.0.0_peer@2.0.0`, `registry.example.org/name/1.0.0`, `github.com/owner/name/0123abc`. */
function parseOldKey(key: string): { readonly name: string; readonly version: string } {
  const [, name = key, version = key] = /^[^/]*\/((?:@[^/]+\/)?[^/]+)\/(\d+\.\d+\.\d+[^_/(]*)/.exec(key) ?? []
  return { name, version }
}

function withoutPeers(key: string): string {
  const start = key.indexOf('(')
  return start < 0 ? key : key.slice(0, start)
}
