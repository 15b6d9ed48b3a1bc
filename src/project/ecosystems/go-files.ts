import { posix } from 'node:path'
import { parseGoModule, parseGoModules, parseGoWork } from '../lockfiles/go-mod.ts'
import type { ProjectFolder } from '../project-folder.ts'
import { type EcosystemFiles, readAll } from './ecosystem.ts'

/** Finds the files of Go: `go.mod`, or those of the modules in a `go.work`. */
export async function findGoFiles(folder: ProjectFolder): Promise<EcosystemFiles | undefined> {
  const work = await folder.read('go.work')
  const folders = work === undefined ? [] : parseGoWork(work).map((one) => posix.normalize(one))
  const inside = folders.filter((one) => !one.startsWith('..') && !one.startsWith('/'))
  const paths = new Set(['go.mod', ...inside.map((one) => posix.join(one, 'go.mod'))])
  const files = await readAll(folder, [...paths])
  const [first] = files
  if (first === undefined) return undefined
  return {
    type: 'golang',
    files: files.map(({ path }) => path),
    // The last part of a module path may be its major version.
    name: parseGoModule(first)
      .name?.replace(/\/v\d+$/, '')
      .split('/')
      .at(-1),
    notes: [],
    parse: () => parseGoModules(files),
  }
}
