import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { cp, readdir } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { hashFile } from '../install/hash-file.ts'
import { InstallProblem } from '../install/install-problem.ts'
import { runtimePlace } from './model-files.ts'

/** Names what a runtime is made for. */
export const PLATFORM: string = `${process.platform}-${process.arch}`

/** The packages of the runtime. What others stand beside them is not needed. */
const PACKAGE_NAMES = ['onnxruntime-node', 'onnxruntime-common'] as const

/** Where the programs of the runtime for this machine are in their package. */
const PROGRAMS = `bin/napi-v6/${process.platform}/${process.arch}/`

/** Whether a file of a package of the runtime, by its path there, is needed on this machine: it has programs for all of them, 300 MB. */
export function isRuntimeFile(path: string): boolean {
  if (path.startsWith('bin/')) return path.startsWith(PROGRAMS)
  return /^(?:dist\/.*\.js(?:on)?|package\.json|LICENSE)$/.test(path)
}

/** Refuses a runtime that has nothing for this machine. `modules` is the folder of its packages. */
export function requirePrograms(modules: string): void {
  if (!existsSync(join(modules, 'onnxruntime-node', PROGRAMS))) {
    throw new InstallProblem(`there is no ONNX runtime for ${PLATFORM}`)
  }
}

/** The folder of packages with the runtime in it, in a folder that somebody gives; undefined when there is none. */
export function findRuntime(from: string): string | undefined {
  const places = [join(from, 'node_modules'), join(runtimePlace(from), 'node_modules')]
  return places.find((place) => existsSync(join(place, 'onnxruntime-node')))
}

/** Copies what this machine needs of the runtime, and nothing else of what stands beside it. */
export async function copyRuntime(modules: string, target: string): Promise<void> {
  for (const name of PACKAGE_NAMES) {
    // One may have been installed for the other alone.
    const places = [join(modules, name), join(modules, 'onnxruntime-node', 'node_modules', name)]
    const source = places.find((place) => existsSync(place))
    if (source === undefined) throw new InstallProblem(`${modules} has no ${name}`)
    for (const path of await listFiles(source)) {
      if (isRuntimeFile(path)) await cp(join(source, path), join(target, name, path), { dereference: true })
    }
  }
  requirePrograms(target)
}

/** SHA-256 over the paths and contents of all files below a folder. */
export async function digestFiles(folder: string): Promise<string> {
  const digest = createHash('sha256')
  for (const path of await listFiles(folder)) digest.update(`${await hashFile(join(folder, path))} ${path}\n`)
  return digest.digest('hex')
}

/** The files below a folder by their paths in it, with `/` between their parts, in order. */
async function listFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile() || entry.isSymbolicLink())
  return files.map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/')).sort()
}
