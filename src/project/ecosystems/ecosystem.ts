import { writeList } from '../../core/text/list.ts'
import { compareUtf8 } from '../../core/text/order.ts'
import type { PackageType } from '../../core/url/package-url.ts'
import type { Lockfile, ProjectFile } from '../locked-package.ts'
import type { ProjectFolder } from '../project-folder.ts'

/** The files of a project that describe its packages of one registry. */
export interface EcosystemFiles {
  readonly type: PackageType
  /** Paths of the lock files or manifests that give the packages, relative to the project. */
  readonly files: readonly string[]
  /** Name of the project, if a manifest has one. */
  readonly name: string | undefined
  /** What a user should know about the choice of files. */
  readonly notes: readonly string[]
  parse(): Lockfile
}

/** Finds and reads the files of one registry; undefined if there are none. */
export type FindFiles = (folder: ProjectFolder) => Promise<EcosystemFiles | undefined>

/** The lock file to use, and a note if there are others: the one that was changed last. */
export async function chooseLock(
  folder: ProjectFolder,
  names: readonly string[],
): Promise<{ readonly lock: ProjectFile | undefined; readonly notes: readonly string[] }> {
  const dated = await Promise.all(
    names
      .filter((name) => folder.names.has(name))
      .map(async (name) => ({ name, changedAt: await folder.changedAt(name) })),
  )
  const locks = dated
    .filter((one): one is { name: string; changedAt: number } => one.changedAt !== undefined)
    .toSorted((a, b) => b.changedAt - a.changedAt || compareUtf8(a.name, b.name))
  const [newest, ...others] = locks
  if (newest === undefined) return { lock: undefined, notes: [] }
  const notes =
    others.length === 0
      ? []
      : [
          `${newest.name} was changed last, so ${writeList(others.map((one) => one.name))} ${others.length === 1 ? 'was' : 'were'} not read`,
        ]
  return { lock: await folder.read(newest.name), notes }
}

/** Reads those of several files that exist. */
export async function readAll(folder: ProjectFolder, paths: readonly string[]): Promise<ProjectFile[]> {
  const files = await Promise.all(paths.map((path) => folder.read(path)))
  return files.filter((file) => file !== undefined)
}
