import { basename, resolve } from 'node:path'
import { codeOf, PharosError } from '../core/errors.ts'
import { sanitizeText } from '../core/text/sanitize-text.ts'
import type { PackageType } from '../core/url/package-url.ts'
import { findCargoFiles } from './ecosystems/cargo-files.ts'
import type { EcosystemFiles, FindFiles } from './ecosystems/ecosystem.ts'
import { findGoFiles } from './ecosystems/go-files.ts'
import { findJavaFiles } from './ecosystems/java-files.ts'
import { findNpmFiles } from './ecosystems/npm-files.ts'
import { findPythonFiles } from './ecosystems/python-files.ts'
import type { LockedPackage, SkippedPackage } from './locked-package.ts'
import { comparePackages } from './lockfiles/package-list.ts'
import { openProjectFolder, type ProjectFolder } from './project-folder.ts'

/** The packages that a project uses. */
export interface Project {
  /** From the first manifest that has a name, else the name of the folder. */
  readonly name: string
  /** Each package once, sorted by type, name and version. */
  readonly packages: readonly LockedPackage[]
  readonly skipped: readonly (SkippedPackage & { readonly type: PackageType })[]
  /** Paths of the files that give the packages, relative to the folder. */
  readonly files: readonly string[]
  /** What a user should know about the choice of files. */
  readonly notes: readonly string[]
}

/** The order decides which manifest names the project. */
const ECOSYSTEMS: readonly FindFiles[] = [findNpmFiles, findPythonFiles, findCargoFiles, findGoFiles, findJavaFiles]

/**
 * Finds the lock files and manifests of a project: in its folder, and in the members of its workspace that the manifests name. For each
 * registry a lock file takes precedence over manifests.
 * @throws {PharosError} `SOURCE_NOT_FOUND` if there is no such folder, `LOCKFILE_INVALID` if a file is too large or malformed
 */
export async function findLockfiles(path: string): Promise<EcosystemFiles[]> {
  const folder = await openFolder(path)
  const found: EcosystemFiles[] = []
  for (const find of ECOSYSTEMS) {
    const files = await find(folder)
    if (files !== undefined) found.push(files)
  }
  return found
}

/** Reads the packages that a project uses from its lock files and manifests. Throws like {@link findLockfiles}. */
export async function readProject(path: string): Promise<Project> {
  const found = await findLockfiles(path)
  const parsed = found.map((one) => ({ type: one.type, lockfile: one.parse() }))
  const name = found.find((one) => one.name !== undefined && one.name.trim() !== '')?.name
  return {
    name: sanitizeText(name ?? basename(resolve(path))).slice(0, MAX_NAME_CHARS),
    packages: parsed.flatMap(({ lockfile }) => lockfile.packages).toSorted(comparePackages),
    skipped: parsed.flatMap(({ type, lockfile }) => lockfile.skipped.map((one) => ({ type, ...one }))),
    files: found.flatMap((one) => one.files),
    notes: found.flatMap((one) => one.notes),
  }
}

const MAX_NAME_CHARS = 214

async function openFolder(path: string): Promise<ProjectFolder> {
  try {
    return await openProjectFolder(path)
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT') throw new PharosError('SOURCE_NOT_FOUND', { path }, { cause })
    const advice = 'give the folder of a project'
    if (codeOf(cause) === 'ENOTDIR') {
      throw new PharosError('SOURCE_UNREADABLE', { path, problem: 'it is not a folder', advice }, { cause })
    }
    throw cause
  }
}
