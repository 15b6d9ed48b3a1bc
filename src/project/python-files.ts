import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { DeclarationFiles } from '../core/check/module-graph.ts'
import type { PythonFiles } from '../core/check/python-modules.ts'
import type { PackageInfo } from '../core/check/types.ts'
import type { ProjectPackage } from '../library/ports/projects.ts'
import { nativePath, slashPath } from './slash-path.ts'

/** Reads the modules of the Python packages that a project has installed. */
export function openPythonFiles(packages: readonly ProjectPackage[], files: DeclarationFiles): PythonFiles {
  let tops: ReadonlyMap<string, { readonly package: PackageInfo; readonly folder: string }> | undefined
  const folders = new Map<string, readonly string[]>()
  return {
    read: (path) => files.read(path),
    hasFile: (path) => files.hasFile(path),
    listFolder(path) {
      const known = folders.get(path) ?? listEntries(path)
      folders.set(path, known)
      return known
    },
    findTop(name) {
      tops ??= listTops(packages)
      return tops.get(name)
    },
  }
}

function listEntries(path: string): readonly string[] {
  try {
    return readdirSync(nativePath(path))
  } catch {
    // It was removed.
    return []
  }
}

/** The top-level modules of installed packages. */
function listTops(packages: readonly ProjectPackage[]) {
  const tops = new Map<string, { readonly package: PackageInfo; readonly folder: string }>()
  for (const { type, name, version, installedAt } of packages) {
    if (type !== 'pypi' || installedAt === undefined || version === null) continue
    const folder = slashPath(dirname(installedAt))
    const info = { name, version, folder, isEsm: false, hasEsm: false, isEsmOnly: false }
    for (const top of readTops(installedAt)) if (!tops.has(top)) tops.set(top, { package: info, folder })
  }
  return tops
}

/** The names of the modules that a package has installed, by its list of files. */
function readTops(distInfo: string): Set<string> {
  const names = new Set<string>()
  try {
    for (const line of readFileSync(join(distInfo, 'RECORD'), 'utf8').split('\n')) {
      const [, name] = /^(\w+)(?:\/.*\.pyi?|\.pyi?),/.exec(line) ?? []
      if (name !== undefined) names.add(name)
    }
  } catch {
    // Without the list nothing is known about the package.
  }
  return names
}
