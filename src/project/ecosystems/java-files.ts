import { posix } from 'node:path'
import type { ProjectFile } from '../locked-package.ts'
import { listGradleProjects, parseGradleLock } from '../lockfiles/gradle-lock.ts'
import { listPomModules, parsePoms, readPomName } from '../lockfiles/pom-xml.ts'
import type { ProjectFolder } from '../project-folder.ts'
import { type EcosystemFiles, readAll } from './ecosystem.ts'

const MAX_MODULES = 2000

/** Finds the files of Gradle and Maven. */
export async function findJavaFiles(folder: ProjectFolder): Promise<EcosystemFiles | undefined> {
  const settings = await readAll(folder, ['settings.gradle', 'settings.gradle.kts'])
  const projects = ['.', ...settings.flatMap(listGradleProjects).filter(isInside).slice(0, MAX_MODULES)]
  const at = (names: readonly string[]): string[] =>
    projects.flatMap((one) => names.map((name) => posix.join(one, name)))
  const locks = await readAll(folder, at(['gradle.lockfile']))
  const pom = await folder.read('pom.xml')
  const name = pom && readPomName(pom)
  if (locks.length > 0) {
    const builds = await readAll(folder, [...at(['build.gradle', 'build.gradle.kts']), 'gradle/libs.versions.toml'])
    return {
      type: 'maven',
      files: locks.map(({ path }) => path),
      name,
      notes: pom === undefined ? [] : ['gradle.lockfile has exact versions, so pom.xml was not read'],
      parse: () => parseGradleLock(locks, [...settings, ...builds]),
    }
  }
  if (pom === undefined) return undefined
  const poms = await readModules(folder, pom)
  return { type: 'maven', files: poms.map(({ path }) => path), name, notes: [], parse: () => parsePoms(poms) }
}

/** Reads the modules of a project, and their modules. */
async function readModules(folder: ProjectFolder, root: ProjectFile): Promise<ProjectFile[]> {
  const found = new Map([[root.path, root]])
  for (const file of found.values()) {
    for (const module of listPomModules(file)) {
      const path = posix.join(posix.dirname(file.path), module)
      const target = path.endsWith('.xml') ? path : posix.join(path, 'pom.xml')
      if (found.has(target) || !isInside(target) || found.size > MAX_MODULES) continue
      const pom = await folder.read(target)
      if (pom !== undefined) found.set(target, pom)
    }
  }
  return [...found.values()]
}

function isInside(path: string): boolean {
  return !path.startsWith('..') && !path.startsWith('/')
}
