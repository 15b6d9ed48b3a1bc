import { usageError } from '../../core/errors.ts'
import { escapeRegExp } from '../../core/escape-reg-exp.ts'
import { writeList } from '../../core/text/list.ts'
import { packageTitle, parsePackageUrl, typesPackageOf } from '../../core/url/package-url.ts'
import { withoutUndefined } from '../../core/without-undefined.ts'
import type { ProjectPackage, ProjectPackages } from '../ports/projects.ts'
import type { Source } from '../source.ts'
import type { WantedPackage } from './plan-project.ts'

/** Which packages of a project are taken in. */
export interface PackageFilter {
  /** Also packages that only other packages ask for. @default false */
  readonly all?: boolean | undefined
  /** Also packages for development. @default false */
  readonly dev?: boolean | undefined
  /** Names to leave out; a `*` stands for any characters. @default none */
  readonly exclude?: readonly string[] | undefined
}

/**
 * Chooses the packages of a project that a filter asks for. `@types/x` is left out if an installed `x` is chosen, whose pages show the
 * declarations if it has none itself.
 */
export function choosePackages(
  packages: readonly ProjectPackage[],
  { all = false, dev = false, exclude = [] }: PackageFilter,
): ProjectPackage[] {
  const patterns = exclude.map((text) => new RegExp(`^${text.split(/\*+/).map(escapeRegExp).join('[^]*?')}$`))
  const chosen = packages.filter(({ name, isDirect, isDev }) => {
    return (all || isDirect) && (dev || !isDev) && !patterns.some((pattern) => pattern.test(name))
  })
  const shown = new Set(chosen.flatMap(({ name, types }) => (types === undefined ? [] : [typesPackageOf(name)])))
  return chosen.filter(({ type, name }) => type !== 'npm' || !shown.has(name))
}

/**
 * Returns a function that tells whether the project uses a source. A package whose version is not known, because it is neither locked nor
 * installed, counts as used in every version.
 */
export function createUseCheck(packages: readonly ProjectPackage[]): (source: Pick<Source, 'url'>) => boolean {
  const addresses = new Set(packages.map(({ address }) => address))
  const unknown = new Set(packages.filter(({ version }) => version === null).map(({ type, name }) => `${type} ${name}`))
  return ({ url }) => {
    const name = parsePackageUrl(url)
    return addresses.has(url) || (name !== undefined && unknown.has(`${name.type} ${packageTitle(name)}`))
  }
}

/** Throws if a project has no lock file or manifest, because then nothing is known about its packages. */
export function requireFiles({ files, folder }: Pick<ProjectPackages, 'files' | 'folder'>): void {
  if (files.length > 0) return
  throw usageError(`${folder} has no lock file or manifest that can be read: name the folder of a project`)
}

/** What a user can do about packages that cannot be read because no exact version is known; undefined if there are none. */
export function adviseUnlocked(packages: readonly ProjectPackage[]): string | undefined {
  const names = packages.flatMap(({ name, version }) => (version === null ? [name] : []))
  if (names.length === 0) return undefined
  const shown = names.length > MAX_NAMES ? [...names.slice(0, MAX_NAMES), `${names.length - MAX_NAMES} more`] : names
  return `no exact version is known of ${writeList(shown)}: write a lock file or install the packages, then run this again`
}

const MAX_NAMES = 5

/** The packages that can be read. */
export function listWanted(packages: readonly ProjectPackage[]): WantedPackage[] {
  return packages.flatMap(({ address, installedAt, types, registries, hashes }) => {
    return address === null ? [] : [{ address, ...withoutUndefined({ installedAt, types, registries, hashes }) }]
  })
}
