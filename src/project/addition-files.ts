import { readdirSync } from 'node:fs'
import type { AdditionFile } from '../core/check/module-graph.ts'
import { isJsonObject } from '../core/json/is-json-object.ts'
import { tryParseJson } from '../core/json/try-parse-json.ts'
import { readText, statFile } from './read-text.ts'
import { nativePath } from './slash-path.ts'

/** At most this many files of a package, and of the project, are searched. */
const MAX_PACKAGE_FILES = 400
const MAX_PROJECT_FILES = 2_000

/** At most this many folders of each are listed: the home folder of a user may have a package.json, and a million folders. */
const MAX_FOLDERS = 2_000

/** Larger files are not searched. */
const MAX_BYTES = 1_000_000

/** An installed package whose files can be searched. */
interface Candidate {
  readonly folder: string
  /** Its package.json in small letters. */
  readonly manifest: string
}

/** A searched file: what it adds to, by its text. */
interface Searched {
  readonly stamp: string
  readonly targets: ReadonlySet<string>
}

/**
 * Finds files that add to the declarations of a module or global namespace. As for the compiler, these are files of the project, of the
 * packages that it names in package.json, and of all `@types`. Files are searched again only after they have changed.
 */
export class AdditionFiles {
  readonly #findPackage: (name: string, folder: string) => string | undefined
  readonly #candidates = new Map<string, readonly Candidate[]>()
  readonly #packageFiles = new Map<string, readonly string[]>()
  readonly #searched = new Map<string, Searched>()

  constructor(findPackage: (name: string, folder: string) => string | undefined) {
    this.#findPackage = findPackage
  }

  find(name: string, folder: string): readonly AdditionFile[] {
    const project = findProject(folder)
    if (project === undefined) return []
    // A package that adds to another one names it in its package.json: `passport` → `@types/express`.
    const word = /[a-z0-9]+/.exec(name.toLowerCase())?.[0] ?? name
    const packages = this.#listCandidates(project).filter(({ manifest }) => manifest.includes(word))
    const ofPackages = packages.flatMap((one) =>
      this.#filesOf(one.folder).flatMap((path) => this.#match(path, name, one.folder)),
    )
    const ofProject = listFiles(project, SOURCES, OUTPUT, MAX_PROJECT_FILES).flatMap((path) =>
      this.#match(path, name, undefined),
    )
    return [...ofPackages, ...ofProject]
  }

  #filesOf(folder: string): readonly string[] {
    const known =
      this.#packageFiles.get(folder) ?? listFiles(folder, DECLARATIONS, /^(?:\.|node_modules$)/, MAX_PACKAGE_FILES)
    this.#packageFiles.set(folder, known)
    return known
  }

  #match(path: string, name: string, folder: string | undefined): AdditionFile[] {
    const known = this.#searched.get(path)
    // Installed files do not change while the same versions are locked.
    const found = known !== undefined && folder !== undefined ? known : search(path, known)
    if (found === undefined) return []
    this.#searched.set(path, found)
    return found.targets.has(name) ? [{ path, package: folder, stamp: found.stamp }] : []
  }

  #listCandidates(project: string): readonly Candidate[] {
    const known = this.#candidates.get(project)
    if (known !== undefined) return known
    const folders = [...listDependencies(project), ...listTypes(project)].flatMap(
      (name) => this.#findPackage(name, project) ?? [],
    )
    const found = [...new Set(folders)].flatMap((folder) => {
      const manifest = readText(nativePath(`${folder}/package.json`))
      return manifest === undefined ? [] : [{ folder, manifest: manifest.toLowerCase() }]
    })
    this.#candidates.set(project, found)
    return found
  }
}

const DECLARATIONS = /\.d\.[cm]?ts$/
const SOURCES = /\.[cm]?tsx?$/

/** Folders without sources of the project. Packages have their declarations in such folders. */
const OUTPUT = /^(?:\.|node_modules$|dist$|build$|out$|coverage$)/

/** The folder of the closest package.json above. */
function findProject(folder: string): string | undefined {
  for (let at = folder.replace(/(?<!\/)\/+$/, ''); at !== ''; at = at.slice(0, at.lastIndexOf('/'))) {
    if (statFile(nativePath(`${at}/package.json`)) !== undefined) return at
  }
  return undefined
}

function listDependencies(project: string): string[] {
  const json = tryParseJson(readText(nativePath(`${project}/package.json`)) ?? '')
  if (!isJsonObject(json)) return []
  const groups = [json['dependencies'], json['devDependencies'], json['peerDependencies'], json['optionalDependencies']]
  return groups.flatMap((group) => (isJsonObject(group) ? Object.keys(group) : []))
}

/** The packages of types that a compiler reads without being asked. Those of Node add nothing to packages. */
function listTypes(project: string): string[] {
  const names: string[] = []
  for (let at = project; at !== ''; at = at.slice(0, at.lastIndexOf('/'))) {
    for (const { name } of readFolder(`${at}/node_modules/@types`)) if (name !== 'node') names.push(`@types/${name}`)
  }
  return names
}

/** The files below a folder whose names fit, those of folders last. */
function listFiles(folder: string, pattern: RegExp, skipped: RegExp, max: number): string[] {
  const found: string[] = []
  // Grows while it is walked.
  const folders = [folder]
  for (const at of folders) {
    if (found.length >= max) break
    for (const { name, isFolder } of readFolder(at)) {
      if (isFolder) {
        if (folders.length < MAX_FOLDERS && !skipped.test(name)) folders.push(`${at}/${name}`)
      } else if (pattern.test(name)) found.push(`${at}/${name}`)
    }
  }
  return found.slice(0, max)
}

function readFolder(path: string): { readonly name: string; readonly isFolder: boolean }[] {
  try {
    const entries = readdirSync(nativePath(path), { withFileTypes: true })
    return entries.map((entry) => ({ name: entry.name, isFolder: entry.isDirectory() }))
  } catch {
    // There is no such folder, or it cannot be read.
    return []
  }
}

/** Finds the modules and namespaces that a file adds to. */
function search(path: string, known: Searched | undefined): Searched | undefined {
  const stats = statFile(nativePath(path))
  if (stats === undefined) return undefined
  const stamp = `${stats.mtimeMs} ${stats.size}`
  if (known?.stamp === stamp) return known
  const text = stats.size > MAX_BYTES ? undefined : readText(nativePath(path))
  const found = (text ?? '').matchAll(/\b(?:namespace|module)\s+(['"]?)([\w$@/.-]+)\1\s*\{/g)
  return { stamp, targets: new Set([...found].map(([, , name = '']) => name)) }
}
