import { readPythonScope } from './python-scope.ts'
import type { SyntaxNode } from './syntax-tree.ts'
import type { PackageInfo } from './types.ts'

/** Reads the files of an installed Python environment. Paths are absolute, with slashes. */
export interface PythonFiles {
  read(path: string): string | undefined
  hasFile(path: string): boolean
  /** Names of the files and folders in a folder; empty if there is no such folder. */
  listFolder(path: string): readonly string[]
  /** The package that has a top-level module, and the folder that the module is in. */
  findTop(name: string): { readonly package: PackageInfo; readonly folder: string } | undefined
}

/** A loaded module. */
export interface PythonModule {
  /** Dotted name. */
  readonly name: string
  readonly path: string
  readonly package: PackageInfo
  /** Folder of all top-level modules. */
  readonly folder: string
  readonly isPackage: boolean
  readonly names: ReadonlyMap<string, readonly PythonName[]>
  /** Modules of which everything is imported: `from a import *`. */
  readonly stars: readonly string[]
  /** Whether a name can exist that its text does not define. */
  readonly isOpen: (name: string) => boolean
  readonly root: SyntaxNode
}

/** A name that a module defines. */
export type PythonName =
  | { readonly kind: 'class' | 'function'; readonly node: SyntaxNode; readonly decorators: readonly SyntaxNode[] }
  | { readonly kind: 'variable'; readonly node: SyntaxNode }
  /** `import a.b as x`, or `from a import b as x` with the name. */
  | { readonly kind: 'import'; readonly node: SyntaxNode; readonly from: string; readonly imported: string | null }

/** Loads modules of an environment and keeps them. */
export class PythonModules {
  readonly #files: PythonFiles
  readonly #parse: (text: string) => SyntaxNode | undefined
  readonly #modules = new Map<string, PythonModule | undefined>()

  constructor(files: PythonFiles, parse: (text: string) => SyntaxNode | undefined) {
    this.#files = files
    this.#parse = parse
  }

  /** Number of characters of all loaded files. */
  loadedChars = 0

  /** The package that a dotted name belongs to. */
  packageOf(name: string): PackageInfo | undefined {
    return this.#files.findTop(name.split('.')[0] ?? '')?.package
  }

  /** Loads a module by its dotted name; undefined if it is not there. */
  load(name: string): PythonModule | undefined {
    if (this.#modules.has(name)) return this.#modules.get(name)
    const module = this.#read(name)
    this.#modules.set(name, module)
    return module
  }

  /** Whether a package has a module of this name that cannot be read: a compiled one, or a folder without `__init__.py`. */
  hasUnreadable({ isPackage, path }: PythonModule, name: string): boolean {
    if (!isPackage) return false
    const entries = this.#files.listFolder(path.slice(0, path.lastIndexOf('/')))
    return entries.some((entry) => entry === name || (entry.startsWith(`${name}.`) && COMPILED.test(entry)))
  }

  #read(name: string): PythonModule | undefined {
    const top = this.#files.findTop(name.split('.')[0] ?? '')
    if (top === undefined || !/^\w+(?:\.\w+)*$/u.test(name)) return undefined
    const base = `${top.folder}/${name.replaceAll('.', '/')}`
    // Stubs have types that the code lacks.
    const candidates = [`${base}/__init__.pyi`, `${base}/__init__.py`, `${base}.pyi`, `${base}.py`]
    const path = candidates.find((one) => this.#files.hasFile(one))
    const text = path === undefined ? undefined : this.#files.read(path)
    if (path === undefined || text === undefined) return undefined
    this.loadedChars += text.length
    const root = this.#parse(text)
    if (root === undefined) return undefined
    const isPackage = /\/__init__\.pyi?$/.test(path)
    const { names, stars, isOpen } = readPythonScope(root, name, isPackage)
    return { name, path, package: top.package, folder: top.folder, isPackage, names, stars, isOpen, root }
  }
}

/** Ends of compiled modules: of Linux and macOS, of Windows. */
const COMPILED = /\.(?:so|pyd)$/
