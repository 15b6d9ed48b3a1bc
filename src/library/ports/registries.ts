import type { PharosError } from '../../core/errors.ts'
import type { Registries } from '../../core/url/package-url.ts'

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
}
