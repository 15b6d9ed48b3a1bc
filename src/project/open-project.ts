import { realpath } from 'node:fs/promises'
import { parsePackageUrl, typesPackageOf, writePackageUrl } from '../core/url/package-url.ts'
import type { ProjectPackage, ProjectPackages, ProjectReader } from '../library/ports/projects.ts'
import type { InstalledTypes } from '../library/source.ts'
import { createInstalledFinder, type PackageFolders } from './find-installed.ts'
import type { LockedPackage } from './locked-package.ts'
import { readProject } from './read-project.ts'

/** Opens the reader of projects on this machine. */
export function openProjectReader(folders: PackageFolders): ProjectReader {
  return { read: (folder) => readPackages(folder, folders) }
}

async function readPackages(path: string, folders: PackageFolders): Promise<ProjectPackages> {
  const { name, packages, skipped, files, notes } = await readProject(path)
  const folder = await realpath(path)
  const findInstalled = createInstalledFinder(folder, folders)
  const described = packages.map((one) => describe(one, findInstalled))
  return { name, folder, skipped, files, notes, packages: withTypes(described) }
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

function describe(locked: LockedPackage, findInstalled: ReturnType<typeof createInstalledFinder>): ProjectPackage {
  const { type, name, isDirect, isDev } = locked
  const installed = findInstalled(locked)
  // Without a lock file, what is installed is what the project uses.
  const version = locked.version ?? installed?.version ?? null
  const prefix = type === 'cargo' ? 'crates' : type
  const parsed = version === null ? undefined : parsePackageUrl(`${prefix}:${name}@${version}`)
  const address = parsed === undefined ? null : writePackageUrl(parsed)
  const isInstalled = installed !== undefined && installed.version === version
  return { type, name, version, isDirect, isDev, address, ...(isInstalled ? { installedAt: installed.folder } : {}) }
}
