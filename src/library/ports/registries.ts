import type { PharosError } from '../../core/errors.ts'
import type { PackageName, PackageType, Registries } from '../../core/url/package-url.ts'

/** Registries, or a function that reads them when the first package needs them. */
export type RegistriesOption = PackageRegistries | (() => Promise<PackageRegistries>)

/** The registries of packages, with what the package managers of the user add to them. */
export interface PackageRegistries extends Registries {
  /** Registries of npm scopes: `@corp` → address. @default none */
  readonly npmScopes?: ReadonlyMap<string, string>
  /** Registries that are asked, in this order, for a package that the first one does not have. @default none */
  readonly further?: Readonly<Partial<Record<keyof Registries, readonly string[]>>>
  /**
   * Returns the Authorization header for an address, among those of a type of packages. A function instead of a list, so that no secret is
   * part of data that is printed or stored. @default none
   */
  readonly authorize?: (url: URL, type: keyof Registries) => string | undefined
  /** Why the registry of a type is not known: its settings file is broken. Its packages are not requested from anywhere else. @default none */
  readonly broken?: Readonly<Partial<Record<keyof Registries, PharosError>>>
  /**
   * The registries without the settings of the project. Only these may be on a private network without consent, because the author of a
   * project could name any address. @default all
   */
  readonly ofUser?: PackageRegistries
}

/** The name of the registry for a kind of packages. */
export function registryTypeOf(type: Exclude<PackageType, 'golang'>): keyof Registries {
  return type === 'cargo' ? 'crates' : type
}

/**
 * The registries of a package, in the order in which they are asked, as {@link normalizeRegistry} writes them. None if their settings are
 * broken.
 */
export function listRegistries(name: PackageName, registries: PackageRegistries): string[] {
  if (name.type === 'golang') return []
  const type = registryTypeOf(name.type)
  if (registries.broken?.[type] !== undefined) return []
  const scoped = type === 'npm' && name.namespace !== null ? registries.npmScopes?.get(name.namespace) : undefined
  const addresses = scoped === undefined ? [registries[type], ...(registries.further?.[type] ?? [])] : [scoped]
  return addresses.map(normalizeRegistry)
}

/** Marks an index that has lists of files only (https://packaging.python.org/en/latest/specifications/simple-repository-api/). */
export const SIMPLE_INDEX = 'simple+'

/**
 * Writes the address of a registry as it is compared and stored: with a lower-case host, without the default port, a slash at the end, a
 * user name, a password or a query, which may be secret.
 */
export function normalizeRegistry(address: string): string {
  const simple = address.startsWith(SIMPLE_INDEX) ? SIMPLE_INDEX : ''
  // Cargo writes `sparse+` before the address of an index.
  const url = URL.parse(address.slice(simple.length).replace(/^sparse\+/, ''))
  if (url === null) return address
  let { pathname } = url
  while (pathname.endsWith('/')) pathname = pathname.slice(0, -1)
  return simple + url.origin + pathname
}

/** The web address of a registry, as {@link normalizeRegistry} writes it, without the mark of its kind. */
export function registryUrlOf(registry: string): string {
  return registry.startsWith(SIMPLE_INDEX) ? registry.slice(SIMPLE_INDEX.length) : registry
}
