import type { Integrity } from '../../core/integrity.ts'

/** The kind of a package's archive, which determines what is worth reading. */
export type PackageKind = 'npm' | 'sdist' | 'wheel' | 'crate' | 'sources' | 'javadoc' | 'go'

/** An archive with one version of a package. */
export interface PackageArchive {
  readonly kind: PackageKind
  readonly version: string
  readonly url: string
  readonly format: 'zip' | 'tar'
  readonly integrity: Integrity
  /** Address of the registry that has it, without a user name and password. */
  readonly registry: string
  /** Whether it comes from the public registry. */
  readonly isPublic: boolean
  /** Reads the links that the metadata of the registry have, documentation first. @default the manifest in the archive has them */
  readonly readLinks?: () => Promise<readonly unknown[]>
}

/** An archive that a registry has. */
export type FoundArchive = Omit<PackageArchive, 'isPublic' | 'registry'>
