import { realpath } from 'node:fs/promises'
import { parsePackageUrl, typesPackageOf, writePackageUrl } from '../core/url/package-url.ts'
import { withoutUndefined } from '../core/without-undefined.ts'
import type { ProjectPackage, ProjectPackages, ProjectReader } from '../library/ports/projects.ts'
import {
  listRegistries,
  type PackageRegistries,
  type RegistriesOption,
  SIMPLE_INDEX,
} from '../library/ports/registries.ts'
import type { InstalledTypes } from '../library/source.ts'
import { createInstalledFinder, type PackageFolders } from './find-installed.ts'
import type { LockedPackage, SkippedPackage } from './locked-package.ts'
import { readProject } from './read-project.ts'

/** Settings of package managers that a reader of projects uses. */
export interface ProjectReaderSettings {
  /** Finds the local repository of Maven. @default .m2/repository in the home folder */
  readonly findMavenRepository?: () => Promise<string | undefined>
  /** The registries that the user and the project configured. @default the registries of packages stay unknown */
  readonly registries?: RegistriesOption
}

/** Opens the reader of projects on this machine. */
export function openProjectReader(folders: PackageFolders, settings: ProjectReaderSettings = {}): ProjectReader {
  return { read: (folder) => readPackages(folder, folders, settings) }
}

async function readPackages(
  path: string,
  folders: PackageFolders,
  { findMavenRepository, registries: given }: ProjectReaderSettings,
): Promise<ProjectPackages> {
  const { name, packages, skipped, files, notes } = await readProject(path)
  const folder = await realpath(path)
  const hasMaven = packages.some(({ type }) => type === 'maven')
  const mavenRepository = hasMaven ? await findMavenRepository?.() : undefined
  const findInstalled = createInstalledFinder(folder, { ...folders, mavenRepository })
  const registries = typeof given === 'function' ? await given() : given
  const described = packages.map((one) => describe(one, findInstalled, registries))
  return {
    ...{ name, folder, files, notes },
    skipped: [...skipped, ...described.filter((one) => 'reason' in one)],
    packages: withTypes(described.filter((one) => 'address' in one)),
  }
}

/** Names the installed `@types` package of each installed npm package, which may be in the folder of another workspace member. */
function withTypes(packages: readonly ProjectPackage[]): ProjectPackage[] {
  const found = new Map<string, InstalledTypes>()
  const byUse = packages.toSorted((a, b) => Number(b.isDirect) - Number(a.isDirect))
  for (const { type, name, version, installedAt } of byUse) {
    if (type !== 'npm' || version === null || installedAt === undefined || found.has(name)) continue
    if (name.startsWith('@types/')) found.set(name, { folder: installedAt, version })
  }
  return packages.map((one) => {
    const isInstalled = one.type === 'npm' && one.installedAt !== undefined
    const types = isInstalled ? found.get(typesPackageOf(one.name)) : undefined
    return types === undefined ? one : { ...one, types }
  })
}

function describe(
  locked: LockedPackage,
  findInstalled: ReturnType<typeof createInstalledFinder>,
  configured: PackageRegistries | undefined,
): ProjectPackage | SkippedPackage {
  const { type, name, isDirect, isDev, hashes } = locked
  const installed = findInstalled(locked)
  // Without a lock file, what is installed is what the project uses.
  const version = locked.version ?? installed?.version ?? null
  const prefix = type === 'cargo' ? 'crates' : type
  const parsed = version === null ? undefined : parsePackageUrl(`${prefix}:${name}@${version}`)
  const address = parsed === undefined ? null : writePackageUrl(parsed)
  const installedAt = installed !== undefined && installed.version === version ? installed.folder : undefined
  const registries = parsed && configured && chooseRegistries(locked, listRegistries(parsed, configured))
  if (registries?.length === 0 && locked.registry !== undefined && installedAt === undefined) {
    return {
      name,
      reason: `its lock file names the registry ${locked.registry}, which neither pip nor Pharos is configured for`,
    }
  }
  return {
    ...{ type, name, version, isDirect, isDev, address },
    ...withoutUndefined({ installedAt, registries, hashes }),
  }
}

/** The registries to ask for a package: only the one that its lock file names, if it names one. */
function chooseRegistries({ registry }: LockedPackage, configured: readonly string[]): readonly string[] {
  if (registry === undefined) return configured
  // The lock files of Python name lists of files, which the registries of the settings have below `simple`.
  return configured.filter((one) => one === SIMPLE_INDEX + registry || `${one}/simple` === registry)
}
