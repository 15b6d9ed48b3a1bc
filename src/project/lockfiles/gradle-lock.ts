import type { Lockfile, ProjectFile } from '../locked-package.ts'
import { createPackageList } from './package-list.ts'
import { createLockfileError } from './parse-syntax.ts'

/**
 * Parses `gradle.lockfile`: lines such as `group:artifact:1.0=compileClasspath,testRuntimeClasspath`. What the project asks for is in its
 * build files and version catalogs, which are programs; every module that they name in quotes counts as asked for.
 */
export function parseGradleLock(locks: readonly ProjectFile[], builds: readonly ProjectFile[]): Lockfile {
  const asked = new Set(builds.flatMap(findModules))
  const list = createPackageList('maven')
  for (const lock of locks) {
    for (const [index, line] of lock.text
      .replace(/^\uFEFF/, '')
      .split(/\r?\n/)
      .entries()) {
      const text = line.trim()
      if (text === '' || text.startsWith('#') || text.startsWith('empty=')) continue
      const [module = '', configurations = ''] = text.split('=', 2)
      const [group = '', artifact = '', version, ...rest] = module.split(':')
      if (version === undefined || rest.length > 0) {
        throw createLockfileError(lock, 'this is not group:artifact:version=configurations', { line: index + 1 })
      }
      const name = `${group}:${artifact}`
      list.add({
        name,
        version,
        isDirect: asked.has(name),
        isDev: configurations.split(',').every((one) => /^test|Test/.test(one)),
      })
    }
  }
  return list.finish()
}

/** The folders of the projects that a settings file includes: `include 'app', ':lib:core'`. */
export function listGradleProjects({ text }: ProjectFile): string[] {
  return [...text.matchAll(/^[ \t]*include[ \t]*\(?([^)\n]*(?:,\s*\n[^)\n]*)*)/gm)].flatMap(([, names = '']) =>
    [...names.matchAll(/["']:?([\w.:/-]+)["']/g)].map(([, name = '']) => name.replaceAll(':', '/')),
  )
}

const MODULE = /["']([\w.-]+):([\w.-]+)(?=[:@"'])/g
/** `group: 'a', name: 'b', version: 'c'` in build files, and `group = "a", name = "b"` in catalogs. */
const NAMED = /\bgroup\s*[:=]\s*["']([\w.-]+)["']\s*,\s*name\s*[:=]\s*["']([\w.-]+)["']/g

/** The modules that a build file or version catalog names. */
function findModules({ text }: ProjectFile): string[] {
  return [...text.matchAll(MODULE), ...text.matchAll(NAMED)].map(
    ([, group = '', artifact = '']) => `${group}:${artifact}`,
  )
}
