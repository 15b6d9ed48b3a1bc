import { type Integrity, writeIntegrity } from '../../core/integrity.ts'
import { compareUtf8 } from '../../core/text/order.ts'
import { sanitizeText } from '../../core/text/sanitize-text.ts'
import { normalizePypiName, type PackageType, parsePackageTitle } from '../../core/url/package-url.ts'
import type { LockedPackage, Lockfile, SkippedPackage } from '../locked-package.ts'

/** What a file says about one package. */
export interface PackageFacts {
  readonly name: string
  readonly version: string | null
  /** Kept only for what the project itself asks for. */
  readonly range?: string | undefined
  readonly isDirect?: boolean
  readonly isDev?: boolean
  readonly folder?: string
  readonly hashes?: readonly Integrity[]
  readonly registry?: string | undefined
}

/** Collects the packages of one registry. */
export interface PackageList {
  /** Adds a package. A name or version that the registry would not allow is skipped. */
  add(facts: PackageFacts): void
  skip(name: string, reason: string): void
  /** Everything that was added, each package once, sorted by name and version. */
  finish(): Lockfile
}

const MAX_RANGE_CHARS = 200
const MAX_NAME_CHARS = 214
const MAX_INPUT_CHARS = 4096
/** As `parsePackageUrl` accepts it. */
const VERSION = /^[a-z0-9][a-z0-9.+_!-]{0,127}$/i

/** Creates an empty list of packages of a registry. */
export function createPackageList(type: PackageType): PackageList {
  const packages = new Map<string, LockedPackage>()
  const skipped = new Map<string, SkippedPackage>()

  function skip(name: string, reason: string): void {
    const shown = showText(name, MAX_NAME_CHARS)
    skipped.set(`${shown}\n${reason}`, { name: shown, reason })
  }

  return {
    add(facts) {
      if (parsePackageTitle(type, facts.name) === undefined)
        return skip(facts.name, `this is not a valid name of a package (${type})`)
      if (facts.version !== null && !VERSION.test(facts.version)) {
        return skip(facts.name, `${showText(facts.version)} is not a version in a registry`)
      }
      const name = type === 'pypi' ? normalizePypiName(facts.name) : facts.name
      const range = facts.range === undefined || facts.isDirect !== true ? undefined : showText(facts.range)
      const one: LockedPackage = {
        type,
        name,
        version: facts.version,
        ...(range !== undefined && { range }),
        isDirect: facts.isDirect ?? false,
        isDev: facts.isDev ?? false,
        ...(facts.folder !== undefined && { folder: showText(facts.folder, MAX_INPUT_CHARS) }),
        ...(facts.hashes !== undefined &&
          facts.hashes.length > 0 && { hashes: [...new Set(facts.hashes.map(writeIntegrity))] }),
        ...(facts.registry !== undefined && { registry: facts.registry }),
      }
      const key = keyOf(one)
      const other = packages.get(key)
      packages.set(key, other === undefined ? one : mergePackages(other, one))
    },
    skip,
    finish: () => ({
      packages: [...packages.values()].toSorted(comparePackages),
      skipped: [...skipped.values()].toSorted((a, b) => compareUtf8(a.name, b.name) || compareUtf8(a.reason, b.reason)),
    }),
  }
}

/** Two statements about the same package as one. A package is for development only if both say so. */
export function mergePackages(a: LockedPackage, b: LockedPackage): LockedPackage {
  const range = a.range ?? b.range
  const folder = [a.folder, b.folder].filter((one) => one !== undefined).toSorted(compareFolders)[0]
  const hashes = [...new Set([...(a.hashes ?? []), ...(b.hashes ?? [])])]
  const registry = a.registry ?? b.registry
  return {
    type: a.type,
    name: a.name,
    version: a.version,
    ...(range !== undefined && { range }),
    isDirect: a.isDirect || b.isDirect,
    isDev: a.isDev && b.isDev,
    ...(folder !== undefined && { folder }),
    ...(hashes.length > 0 && { hashes }),
    ...(registry !== undefined && { registry }),
  }
}

/** Orders packages by type, name and version. */
export function comparePackages(a: LockedPackage, b: LockedPackage): number {
  return (
    compareUtf8(a.type, b.type) ||
    compareUtf8(a.name, b.name) ||
    compareUtf8(a.version ?? '', b.version ?? '') ||
    compareUtf8(a.range ?? '', b.range ?? '')
  )
}

/** Identifies a package at a version, or at a range if that is all the project gives. */
export function keyOf({ type, name, version, range }: LockedPackage): string {
  return [type, name, version ?? `range ${range ?? ''}`].join('\n')
}

/** The folder nearest to the lock file comes first. */
function compareFolders(a: string, b: string): number {
  return a.length - b.length || compareUtf8(a, b)
}

/** A text of a file as it may be shown: not too long, on one line, and without the password of an address. */
function showText(text: string, maxChars = MAX_RANGE_CHARS): string {
  const start = text
    .slice(0, MAX_INPUT_CHARS)
    .replace(/:\/\/[^/@\s]*@/g, '://')
    .replaceAll(/\s+/g, ' ')
  return sanitizeText(start.length > maxChars ? `${start.slice(0, maxChars)}…` : start)
}
