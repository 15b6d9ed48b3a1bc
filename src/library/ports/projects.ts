import type { InstalledTypes } from '../source.ts'

/** Reads which packages the projects on this machine use. */
export interface ProjectReader {
  /**
   * Reads the lock files of a project. Rejects with `SOURCE_NOT_FOUND` if there is no such folder, with `LOCKFILE_INVALID` if a file cannot
   * be read.
   */
  read(folder: string): Promise<ProjectPackages>
}

/** The packages that a project uses. */
export interface ProjectPackages {
  readonly name: string
  /** Absolute path. */
  readonly folder: string
  readonly packages: readonly ProjectPackage[]
  /** Packages that are in no registry, such as folders and repositories, each with the reason. */
  readonly skipped: readonly { readonly name: string; readonly reason: string }[]
  /** Lock files and manifests that were read, relative to the folder. */
  readonly files: readonly string[]
  /** What a user should know about the choice of files. */
  readonly notes: readonly string[]
}

/** A package that a project uses. */
export interface ProjectPackage {
  /** Short prefix of its registry: `npm`, `pypi`, `cargo`, `maven`, `golang`. */
  readonly type: string
  /** Name as users write it. */
  readonly name: string
  /** Exact version; null if only a range is known. */
  readonly version: string | null
  /** Whether the project itself asks for it. */
  readonly isDirect: boolean
  /** Whether it is needed only for development and tests. */
  readonly isDev: boolean
  /** Address with the version; null if the package cannot be read: no version is known, or there is no reader for its registry. */
  readonly address: string | null
  /** Folder of this machine in which it is installed. */
  readonly installedAt?: string
  /** The installed `@types` package with declarations for it. @default none */
  readonly types?: InstalledTypes
  /** The registries that the settings of the project name for it, in the order in which they are asked. @default not known */
  readonly registries?: readonly string[]
  /** Digests of its archives in the lock file: `sha512-<hexadecimal>`. @default none */
  readonly hashes?: readonly string[]
}
