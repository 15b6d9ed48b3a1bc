import { type Integrity, parseSri } from '../../core/integrity.ts'
import { entriesOf, fieldOf, textEntriesOf, textOf } from '../../core/json/fields.ts'
import type { Lockfile, ProjectFile } from '../locked-package.ts'
import { findReachable } from './find-reachable.ts'
import { moduleFolder, type NpmDependency, parseNpmManifest } from './npm-manifest.ts'
import { parseNpmSpecifier } from './npm-specifier.ts'
import { createPackageList, type PackageFacts, type PackageList } from './package-list.ts'
import { createLockfileError } from './parse-syntax.ts'
import { parseYaml } from './yaml-syntax.ts'
import { parseYarnSyntax } from './yarn-syntax.ts'

/** A resolved package of a `yarn.lock`. */
interface YarnEntry {
  readonly name: string
  readonly version: string
  /** Where it comes from, as a specifier: a version of the registry, a folder, a repository. */
  readonly origin: string
  readonly dependencies: readonly (readonly [name: string, specifier: string])[]
  readonly hashes: readonly Integrity[]
}

/** The entries of a `yarn.lock`, found by name and specifier. */
interface YarnIndex {
  readonly entries: readonly YarnEntry[]
  find(name: string, specifier: string): readonly YarnEntry[]
}

/**
 * Parses `yarn.lock` of Yarn 1 and of Yarn 2 and later. Yarn 1 does not say what the project asks for, and no version says what is for
 * development, so this needs the `package.json` of the project and of its workspace members.
 */
export function parseYarnLock(lock: ProjectFile, manifests: readonly ProjectFile[]): Lockfile {
  const isBerry = /^__metadata:/m.test(lock.text)
  const rows = isBerry ? entriesOf(parseYaml(lock)[0]) : [...parseYarnSyntax(lock)]
  const index = createIndex(
    lock,
    rows.filter(([key]) => key !== '__metadata'),
  )
  const list = createPackageList('npm')
  addEntries(list, index, findAsked(index, manifests))
  return list.finish()
}

function createIndex(lock: ProjectFile, rows: readonly (readonly [key: string, value: unknown])[]): YarnIndex {
  const byDescriptor = new Map<string, YarnEntry>()
  const byName = new Map<string, YarnEntry[]>()
  const entries = rows.map(([key, value]) => {
    const descriptors = key.split(/, */).map(parseDescriptor)
    const entry = readEntry(lock, key, value, descriptors[0]?.specifier ?? '')
    for (const { name, specifier } of descriptors) {
      byDescriptor.set(`${name}@${specifier}`, entry)
      const sameName = byName.get(name) ?? []
      if (sameName.at(-1) !== entry) sameName.push(entry)
      byName.set(name, sameName)
    }
    return entry
  })
  return {
    entries,
    find(name, specifier) {
      const entry = byDescriptor.get(`${name}@${specifier}`) ?? byDescriptor.get(`${name}@npm:${specifier}`)
      // Resolutions and catalogs replace the specifier, so that only the name is left to find the package.
      return entry === undefined ? (byName.get(name) ?? []) : [entry]
    },
  }
}

/** `@scope/name@^1.0.0` → name and specifier. */
function parseDescriptor(text: string): { readonly name: string; readonly specifier: string } {
  const at = text.indexOf('@', 1)
  return at < 0 ? { name: text, specifier: '' } : { name: text.slice(0, at), specifier: text.slice(at + 1) }
}

function readEntry(lock: ProjectFile, key: string, value: unknown, specifier: string): YarnEntry {
  const version = textOf(value, 'version')
  if (version === undefined) throw createLockfileError(lock, `there is no version of ${key.slice(0, 100)}`)
  const resolution = textOf(value, 'resolution')
  const dependencies = ['dependencies', 'optionalDependencies'].flatMap((section) =>
    textEntriesOf(fieldOf(value, section)),
  )
  if (resolution !== undefined) {
    const { name, specifier: origin } = parseDescriptor(resolution)
    // The checksum is that of an archive which Yarn made itself.
    return { name, version, origin, dependencies, hashes: [] }
  }
  const { name } = parseDescriptor(key.split(/, */)[0] ?? '')
  const asked = parseNpmSpecifier(name, specifier)
  const hashes = parseSri(textOf(value, 'integrity'))
  return { name: asked.kind === 'registry' ? asked.name : name, version, origin: specifier, dependencies, hashes }
}

/** What the project and its members ask for: range and folder by entry, and the entries that are not only for development. */
interface Asked {
  readonly facts: ReadonlyMap<YarnEntry, Pick<PackageFacts, 'range' | 'folder'>>
  readonly productionRoots: readonly YarnEntry[]
}

function findAsked(index: YarnIndex, manifests: readonly ProjectFile[]): Asked {
  const facts = new Map<YarnEntry, Pick<PackageFacts, 'range' | 'folder'>>()
  const productionRoots: YarnEntry[] = []
  const dependencies: (NpmDependency & { readonly member: string })[] = manifests.flatMap((file) => {
    const { dependencies: asked, folder: member } = parseNpmManifest(file)
    return asked.map((one) => ({ ...one, member }))
  })
  // Later versions of Yarn list the members. Without the manifests, nothing counts as for development.
  if (manifests.length === 0) {
    for (const { origin, dependencies: asked } of index.entries) {
      if (!origin.startsWith('workspace:')) continue
      const member = origin.slice('workspace:'.length)
      for (const [name, specifier] of asked) dependencies.push({ name, specifier, isDev: false, member })
    }
  }
  for (const { name, specifier, isDev, member } of dependencies) {
    const asked = parseNpmSpecifier(name, specifier)
    for (const entry of index.find(name, specifier)) {
      const known = facts.get(entry)
      facts.set(entry, {
        range: known?.range ?? (asked.kind === 'registry' ? asked.range : undefined),
        folder: known?.folder ?? moduleFolder(member, name),
      })
      if (!isDev) productionRoots.push(entry)
    }
  }
  return { facts, productionRoots }
}

function addEntries(list: PackageList, index: YarnIndex, { facts, productionRoots }: Asked): void {
  const inProduction = findReachable(productionRoots, ({ dependencies, origin }) =>
    // What a member asks for is known already. Its entry does not tell what is for development.
    origin.startsWith('workspace:') ? [] : dependencies.flatMap(([name, specifier]) => index.find(name, specifier)),
  )
  // Without manifests of Yarn 1, it is unknown what is for development.
  const isKnown = facts.size > 0
  for (const entry of index.entries) {
    const origin = parseNpmSpecifier(entry.name, entry.origin)
    if (origin.kind === 'workspace') continue
    if (origin.kind === 'elsewhere') list.skip(entry.name, origin.reason)
    else {
      list.add({
        name: entry.name,
        version: entry.version,
        isDirect: facts.has(entry),
        isDev: isKnown && !inProduction.has(entry),
        hashes: entry.hashes,
        ...facts.get(entry),
      })
    }
  }
}
