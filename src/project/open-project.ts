import { realpath } from 'node:fs/promises'
import { parsePackageUrl, writePackageUrl } from '../core/url/package-url.ts'
import type { ProjectPackage, ProjectPackages, ProjectReader } from '../library/ports/projects.ts'
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
  return { name, folder, skipped, files, notes, packages: packages.map((one) => describe(one, findInstalled)) }
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
