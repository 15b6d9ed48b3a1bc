import { findModule, findTypes, hasModule } from '../declarations/package-modules.ts'
import { isJsonObject } from '../json/is-json-object.ts'
import { tryParseJson } from '../json/try-parse-json.ts'
import { folderOf, resolvePath } from '../text/path.ts'
import { outlineModule } from './outline.ts'
import { readScope } from './read-scope.ts'
import type { ParseText } from './syntax-tree.ts'
import type { Declared, ModuleInfo, PackageInfo, Scope } from './types.ts'

/** Reads the files of installed packages. Paths are absolute, with slashes. */
export interface DeclarationFiles {
  /** The text of a file; undefined if there is none, or it is too large. */
  read(path: string): string | undefined
  hasFile(path: string): boolean
  /** The folder in which a package is installed, as code in another folder sees it. */
  findPackage(name: string, folder: string): string | undefined
  /** Files that add declarations to a module or global namespace, as code in a folder sees them: of the project and its packages. */
  findAdditions(name: string, folder: string): readonly AdditionFile[]
}

/** A file that adds to the declarations of other files. */
export interface AdditionFile {
  readonly path: string
  /** Folder of the package that has it; undefined if it belongs to the project. */
  readonly package: string | undefined
  /** Changes whenever the file is written. */
  readonly stamp: string
}

/** Loads the modules of installed packages and keeps them. */
export class ModuleGraph {
  readonly #files: DeclarationFiles
  readonly #parse: ParseText
  readonly #scopes = new Map<string, Scope | undefined>()
  readonly #packages = new Map<string, PackageInfo | undefined>()
  readonly #resolved = new Map<string, Scope | undefined>()
  /** Scopes by the name of the module whose declarations they add to. */
  readonly #additions = new Map<string, Scope[]>()
  readonly #globals = new Set<Scope>()
  /** Names of the modules that scopes declare: `declare module 'name'`. */
  readonly #ambient = new Map<Scope, string>()
  readonly #withImports = new Set<ModuleInfo>()
  /** Loaded files that add to others, with their stamps. */
  readonly #stamps = new Map<string, string>()
  /** Declarations for all modules, by name; undefined after more were loaded. */
  #globalNames: Map<string, Declared[]> | undefined

  constructor(files: DeclarationFiles, parse: ParseText) {
    this.#files = files
    this.#parse = parse
  }

  /** Number of characters of all loaded files. */
  loadedChars = 0

  /** Whether a file of the project has changed since it was loaded. */
  isStale = false

  /** Everything that loaded modules declare for all modules. */
  get globals(): ReadonlySet<Scope> {
    return this.#globals
  }

  /** The declarations of a name that every module sees. */
  findGlobal(name: string): readonly Declared[] {
    if (this.#globalNames === undefined) {
      const names = new Map<string, Declared[]>()
      for (const { declarations } of this.#globals) {
        for (const [key, found] of declarations) names.set(key, [...(names.get(key) ?? []), ...found])
      }
      this.#globalNames = names
    }
    return this.#globalNames.get(name) ?? []
  }

  /** What loaded modules add to the module of a name: `declare module 'name' { … }`. */
  additionsTo(name: string): readonly Scope[] {
    return this.#additions.get(name) ?? []
  }

  /** Loads the files that add to a module or namespace, as code at a path sees them; true if some were not loaded before. */
  loadAdditions(name: string, path: string): boolean {
    let hasMore = false
    for (const file of this.#files.findAdditions(name, folderOf(path))) {
      const stamp = this.#stamps.get(file.path)
      if (stamp !== undefined && stamp !== file.stamp) this.isStale = true
      if (stamp !== undefined || this.#scopes.has(file.path)) continue
      this.#stamps.set(file.path, file.stamp)
      const info = file.package === undefined ? PROJECT : this.#readPackage(file.package)
      if (info !== undefined && this.load(file.path, info) !== undefined) hasMore = true
    }
    return hasMore
  }

  /** The other bodies of `declare module 'name'` with the same name. */
  siblingsOf(scope: Scope): readonly Scope[] {
    const name = this.#ambient.get(scope)
    return name === undefined ? [] : this.additionsTo(name).filter((one) => one !== scope)
  }

  /** Whether a scope is the body of `declare module 'name'`. */
  isAmbientModule(scope: Scope): boolean {
    return this.#ambient.has(scope)
  }

  /**
   * Opens a module as code in a folder sees it; undefined if it is not installed or has no declarations. `isRequired` prefers the
   * declarations of the CommonJS module.
   */
  open(specifier: string, from: ModuleInfo, isRequired: boolean = false): Scope | undefined {
    const folder = folderOf(from.path)
    const key = `${folder}\n${specifier}\n${isRequired}`
    if (this.#resolved.has(key)) return this.#resolved.get(key)
    const scope = specifier.startsWith('.')
      ? this.#openRelative(specifier, folder, from)
      : this.#openBare(specifier, folder, isRequired)
    this.#resolved.set(key, scope)
    return scope
  }

  /** Opens all modules that a module imports; true if some were not loaded before. */
  openImports(module: ModuleInfo): boolean {
    if (this.#withImports.has(module)) return false
    this.#withImports.add(module)
    const before = this.loadedChars
    for (const [, , specifier = ''] of module.root.source.matchAll(/\b(?:from|import)\s+(["'])([^"'\n]+)\1/g)) {
      if (!specifier.startsWith('.') && !isNodeModule(specifier)) this.open(specifier, module)
    }
    return this.loadedChars !== before
  }

  /** The package that a specifier names, as code in a folder sees it. */
  findPackage(specifier: string, folder: string): PackageInfo | undefined {
    const found = this.#files.findPackage(packageNameOf(specifier), folder)
    return found === undefined ? undefined : this.#readPackage(found)
  }

  /** Whether a package certainly lacks a module, such as `a/b` of a package whose `exports` has no `./b`. */
  lacksModule(specifier: string, { folder }: PackageInfo): boolean {
    const manifest = this.#files.read(`${folder}/package.json`)
    // Bundlers give what follows these signs a meaning of their own.
    if (manifest === undefined || /[?!#]/.test(specifier)) return false
    const subpath = `.${specifier.slice(packageNameOf(specifier).length)}`
    return !hasModule(manifest, subpath, (one) => this.#files.hasFile(`${folder}/${one}`))
  }

  #openRelative(specifier: string, folder: string, from: ModuleInfo): Scope | undefined {
    const target = resolvePath(folder, specifier)
    const path = target === undefined ? undefined : findTypes(target, (one) => this.#files.hasFile(`/${one}`))
    return path === undefined ? undefined : this.load(`/${path}`, from.package)
  }

  #openBare(specifier: string, folder: string, isRequired: boolean): Scope | undefined {
    if (isNodeModule(specifier)) return this.#openNodeModule(specifier.replace(/^node:/, ''), folder)
    const name = packageNameOf(specifier)
    const subpath = `.${specifier.slice(name.length)}`
    const types = `@types/${name.replace(/^@([^/]+)\//, '$1__')}`
    for (const one of [name, types]) {
      const found = this.#files.findPackage(one, folder)
      const info = found === undefined ? undefined : this.#readPackage(found)
      const scope = info === undefined ? undefined : this.#openSubpath(info, subpath, isRequired)
      if (scope === undefined) continue
      return scope.ambient.get(specifier) ?? scope
    }
    return undefined
  }

  /** The types of Node have one file for each of its modules. */
  #openNodeModule(name: string, folder: string): Scope | undefined {
    const found = this.#files.findPackage('@types/node', folder)
    const info = found === undefined ? undefined : this.#readPackage(found)
    const scope = info === undefined ? undefined : this.load(`${info.folder}/${name}.d.ts`, info)
    return scope?.ambient.get(`node:${name}`) ?? scope?.ambient.get(name)
  }

  #openSubpath(info: PackageInfo, subpath: string, isRequired: boolean): Scope | undefined {
    const manifest = this.#files.read(`${info.folder}/package.json`)
    if (manifest === undefined) return undefined
    const path = findModule(manifest, subpath, (one) => this.#files.hasFile(`${info.folder}/${one}`), isRequired)
    return path === undefined ? undefined : this.load(`${info.folder}/${path}`, info)
  }

  #readPackage(folder: string): PackageInfo | undefined {
    if (this.#packages.has(folder)) return this.#packages.get(folder)
    const json = tryParseJson(this.#files.read(`${folder}/package.json`) ?? '')
    const { name, version, type, exports, main } = isJsonObject(json) ? json : {}
    const isEsm = type === 'module'
    const targets = JSON.stringify([exports, main])
    const isEsmOnly = isEsm && !/"require"|\.cjs"/.test(targets)
    const hasEsm = isEsm || /"import":(?:\{[^{}]*)?"[^"{}]*\.mjs"/.test(targets)
    const isPackage = typeof name === 'string' && typeof version === 'string'
    const info = isPackage ? { name, version, folder, isEsm, hasEsm, isEsmOnly } : undefined
    this.#packages.set(folder, info)
    return info
  }

  /** Loads a file with declarations. */
  load(path: string, info: PackageInfo): Scope | undefined {
    if (this.#scopes.has(path)) return this.#scopes.get(path)
    const read = this.#files.read(path)
    if (read === undefined) {
      this.#scopes.set(path, undefined)
      return undefined
    }
    this.loadedChars += read.length
    const { text, inlineImports } = nameInlineImports(read)
    // Code of a project has expressions, which are not outlined.
    const root = info === PROJECT ? this.#parse(text) : outlineModule(text, this.#parse)
    const scope =
      root === undefined
        ? undefined
        : readScope(root, { path, root, package: info, inlineImports, isCode: info === PROJECT })
    this.#scopes.set(path, scope)
    if (scope !== undefined) this.#noteAdditions(scope, text)
    return scope
  }

  #noteAdditions(scope: Scope, text: string): void {
    this.#globalNames = undefined
    for (const one of scope.globals) this.#globals.add(one)
    if (!scope.isModule) this.#globals.add(scope)
    for (const [key, added] of scope.ambient) {
      const name = key.replace(/#\d+$/, '')
      this.#additions.set(name, [...(this.#additions.get(name) ?? []), added])
      this.#ambient.set(added, name)
      for (const one of added.globals) this.#globals.add(one)
    }
    // Types can come with other files: they may add to what is declared here.
    for (const [, , path = ''] of text.matchAll(/^\/\/\/\s*<reference\s+path=(["'])([^"']+)\1/gm)) {
      const target = resolvePath(folderOf(scope.module.path), path)
      if (target !== undefined) this.load(`/${target}`, scope.module.package)
    }
  }
}

/** Stands for the project in place of a package. */
const PROJECT: PackageInfo = { name: '', version: '', folder: '', isEsm: true, hasEsm: true, isEsmOnly: true }

/** Whether a specifier names a module of Node. */
export function isNodeModule(specifier: string): boolean {
  return NODE_MODULES.test(specifier)
}

const NODE_MODULES =
  /^(?:node:.*|(?:assert|async_hooks|buffer|child_process|cluster|console|constants|crypto|dgram|diagnostics_channel|dns|domain|events|fs|http|http2|https|inspector|module|net|os|path|perf_hooks|process|punycode|querystring|readline|repl|stream|string_decoder|sys|timers|tls|trace_events|tty|url|util|v8|vm|wasi|worker_threads|zlib)(?:\/.*)?)$/

/** The package that a module belongs to: `@a/b/c` → `@a/b`. */
export function packageNameOf(specifier: string): string {
  const parts = specifier.split('/')
  return parts.slice(0, specifier.startsWith('@') ? 2 : 1).join('/')
}

/** The grammar cannot read `import("a").B<C>` as a type, so a name of the same length stands for the import. */
function nameInlineImports(source: string): { text: string; inlineImports: ReadonlyMap<string, string> } {
  const inlineImports = new Map<string, string>()
  if (!source.includes('import(')) return { text: source, inlineImports }
  const text = source.replace(/\bimport\((["'])([^"'\n]+)\1\)/g, (whole, _quote: string, specifier: string) => {
    const name = `$i${inlineImports.size}`.padEnd(whole.length, '_')
    inlineImports.set(name, specifier)
    return name
  })
  return { text, inlineImports }
}
