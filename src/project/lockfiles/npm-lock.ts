import { parseSri } from '../../core/integrity.ts'
import { entriesOf, fieldOf, textOf, textsOf } from '../../core/json/fields.ts'
import { matchesPathGlob, parsePathGlob } from '../../core/url/path-glob.ts'
import type { Lockfile, ProjectFile } from '../locked-package.ts'
import { parseNpmManifest, readNpmDependencies } from './npm-manifest.ts'
import { type NpmSpecifier, parseNpmSpecifier } from './npm-specifier.ts'
import { FROM_FOLDER } from './origins.ts'
import { createPackageList, type PackageList } from './package-list.ts'
import { createLockfileError, parseJson } from './parse-syntax.ts'

/**
 * Parses `package-lock.json` and `npm-shrinkwrap.json`. Version 1 does not say what the project itself asks for, so this needs the
 * `package.json` beside it.
 */
export function parseNpmLock(lock: ProjectFile, manifests: readonly ProjectFile[]): Lockfile {
  const value = parseJson(lock)
  const list = createPackageList('npm')
  const packages = entriesOf(fieldOf(value, 'packages'))
  if (packages.length > 0) addPackages(list, new Map(packages))
  else if (fieldOf(value, 'lockfileVersion') !== undefined || fieldOf(value, 'dependencies') !== undefined) {
    addTree(list, value, manifests)
  } else throw createLockfileError(lock, 'it has no lockfileVersion, packages or dependencies')
  return list.finish()
}

/** Adds the packages of versions 2 and 3, which are listed by folder. */
function addPackages(list: PackageList, packages: ReadonlyMap<string, unknown>): void {
  const isMember = createMemberTest(packages.get(''))
  const asked = findAsked(packages, isMember)
  const urls = findUrls(packages.values())
  for (const [folder, entry] of packages) {
    const start = folder.lastIndexOf('node_modules/')
    // Other folders are the project itself, its members, or the targets of links.
    if (start < 0) continue
    const name = textOf(entry, 'name') ?? folder.slice(start + 'node_modules/'.length)
    const version = textOf(entry, 'version')
    const resolved = textOf(entry, 'resolved')
    if (fieldOf(entry, 'link') === true) {
      if (!isMember(resolved ?? '')) list.skip(name, FROM_FOLDER)
      continue
    }
    const origin = findOrigin(name, resolved, urls)
    if (origin?.kind === 'elsewhere') list.skip(name, origin.reason)
    else if (version === undefined) list.skip(name, 'the lock file has no version for it')
    else list.add({ name, version, folder, ...readFacts(entry, name, asked.get(folder)) })
  }
}

/** Returns a function that tells whether a folder is a member of the workspace. */
function createMemberTest(root: unknown): (folder: string) => boolean {
  const workspaces = fieldOf(root, 'workspaces')
  const globs = [...textsOf(workspaces), ...textsOf(fieldOf(workspaces, 'packages'))].flatMap((pattern) => {
    try {
      return [parsePathGlob(`/${pattern.replace(/^\.?\//, '')}`)]
    } catch (error) {
      // A pattern that is no glob names no member.
      if (error instanceof TypeError) return []
      throw error
    }
  })
  return (folder) => globs.some((glob) => matchesPathGlob(glob, `/${folder}`))
}

/** The specifiers of what the project and its members ask for, by the folder in which it is installed. */
function findAsked(
  packages: ReadonlyMap<string, unknown>,
  isMember: (folder: string) => boolean,
): ReadonlyMap<string, string> {
  const asked = new Map<string, string>()
  for (const [folder, entry] of packages) {
    if (folder !== '' && (folder.includes('node_modules/') || !isMember(folder))) continue
    for (const { name, specifier } of readNpmDependencies(entry)) {
      const installed = findInstalled(packages, folder, name)
      if (installed !== undefined && !asked.has(installed)) asked.set(installed, specifier)
    }
  }
  return asked
}

/** The folder in which Node finds a package from another folder. */
function findInstalled(packages: ReadonlyMap<string, unknown>, from: string, name: string): string | undefined {
  for (let folder = from; ; folder = folder.slice(0, Math.max(folder.lastIndexOf('/'), 0))) {
    const candidate = folder === '' ? `node_modules/${name}` : `${folder}/node_modules/${name}`
    if (packages.has(candidate)) return candidate
    if (folder === '') return undefined
  }
}

/** Web addresses that any package asks for instead of a range. */
function findUrls(entries: Iterable<unknown>): ReadonlySet<string> {
  const urls = new Set<string>()
  for (const entry of entries) {
    for (const { specifier } of readNpmDependencies(entry)) {
      if (/^https?:/i.test(specifier)) urls.add(specifier)
    }
  }
  return urls
}

/** Where a package comes from; undefined for the registry. A registry's address and that of any other archive look alike. */
function findOrigin(name: string, resolved: string | undefined, urls: ReadonlySet<string>): NpmSpecifier | undefined {
  if (resolved === undefined) return undefined
  return urls.has(resolved) || !/^https?:/i.test(resolved) ? parseNpmSpecifier(name, resolved) : undefined
}

/** Adds the packages of version 1, which are nested as they are installed. */
function addTree(list: PackageList, value: unknown, manifests: readonly ProjectFile[]): void {
  const root = manifests.find(({ path }) => path === 'package.json')
  const asked = new Map(
    (root === undefined ? [] : parseNpmManifest(root).dependencies).map(({ name, specifier }) => [name, specifier]),
  )
  const rest: { readonly dependencies: unknown; readonly folder: string }[] = [
    { dependencies: fieldOf(value, 'dependencies'), folder: '' },
  ]
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    const { dependencies, folder: parent } = next
    for (const [name, entry] of entriesOf(dependencies)) {
      const folder = `${parent}node_modules/${name}`
      // A longer path exists on no machine, and ever longer texts would fill the memory.
      if (folder.length <= MAX_FOLDER_CHARS) {
        rest.push({ dependencies: fieldOf(entry, 'dependencies'), folder: `${folder}/` })
      }
      const target = parseNpmSpecifier(name, textOf(entry, 'version') ?? '')
      if (target.kind !== 'registry') list.skip(name, target.kind === 'elsewhere' ? target.reason : FROM_FOLDER)
      else {
        const facts = readFacts(entry, name, parent === '' ? asked.get(name) : undefined)
        list.add({ name: target.name, version: target.range ?? '', folder, ...facts })
      }
    }
  }
}

const MAX_FOLDER_CHARS = 4096

/** What an entry says about its package, and the specifier with which the project asks for it. */
function readFacts(entry: unknown, name: string, specifier: string | undefined) {
  const asked = specifier === undefined ? undefined : parseNpmSpecifier(name, specifier)
  return {
    range: asked?.kind === 'registry' ? asked.range : undefined,
    isDirect: specifier !== undefined,
    isDev: fieldOf(entry, 'dev') === true,
    hashes: parseSri(textOf(entry, 'integrity')),
  }
}
