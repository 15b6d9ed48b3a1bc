import type { PackageType } from '../core/url/package-url.ts'

/** A package at the version that a lock file or requirement of a project names. */
export interface LockedPackage {
  readonly type: PackageType
  /** Name as users write it: `@scope/name`, `group:artifact`, `golang.org/x/text`; normalised for PyPI. */
  readonly name: string
  /** Exact version; null if the project gives only a range and has no lock file. */
  readonly version: string | null
  /** The range that the project asks for, if the file has it. */
  readonly range?: string
  /** Whether the project or a member of its workspace asks for it, not only another package. */
  readonly isDirect: boolean
  /** Whether it is needed only for development and tests. */
  readonly isDev: boolean
  /** Folder in which the package is installed, relative to the lock file, if the file says so. */
  readonly folder?: string
  /** Digests of its archives, of which a package has one of these: `sha512-<hexadecimal>`. */
  readonly hashes?: readonly string[]
  /** Address of the registry that the lock file names for it, unless that is the public one. */
  readonly registry?: string
}

/** A package that is not in the list, and why. */
export interface SkippedPackage {
  readonly name: string
  readonly reason: string
}

/** Content of a lock file. */
export interface Lockfile {
  readonly packages: readonly LockedPackage[]
  /** Packages that have no version in a registry, such as folders and repositories, each with the reason. */
  readonly skipped: readonly SkippedPackage[]
}

/** A file of a project. */
export interface ProjectFile {
  /** Path relative to the folder of the project, with slashes. */
  readonly path: string
  readonly text: string
}
