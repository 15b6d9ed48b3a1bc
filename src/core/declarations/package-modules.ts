import { getOrAdd } from '../get-or-add.ts'
import { groupBy } from '../group-by.ts'
import { isJsonObject } from '../json/is-json-object.ts'
import { tryParseJson } from '../json/try-parse-json.ts'
import { folderOf, resolvePath } from '../text/path.ts'
import type { Declaration, ModuleText } from './declaration.ts'

/** A module that a package offers: `import … from '<package>/<subpath>'`. */
export interface PackageModule {
  /** `.` for the package itself, otherwise such as `./promises`. */
  readonly subpath: string
  /** Path of its type declarations in the package. */
  readonly path: string
}

/** Reads the declarations of a file of a package; undefined if there is no such file, or it cannot be parsed. */
export type ModuleLoader = (path: string) => Promise<ModuleText | undefined>

/** What a name of a module stands for. */
export interface ExportedName {
  readonly name: string
  /** Declarations of the name: overloads, or a class and an interface of one name. Empty if it comes from another package. */
  readonly declarations: readonly Declaration[]
  /** Path of the file that declares it. */
  readonly path: string
  /** Module of another package that it comes from, or whose names it has as one object; null if the package declares it itself. */
  readonly external: string | null
  /** Names of the module that it has as one object: `import * as z`; null if it is none. */
  readonly inner: ReadonlyMap<string, ExportedName> | null
}

/** Lists the modules of a package by its package.json. `has` tells whether the package has a file. */
export function listModules(
  manifest: string,
  has: (path: string) => boolean,
  isRequired: boolean = false,
): PackageModule[] {
  const json = tryParseJson(manifest)
  if (!isJsonObject(json)) return []
  const modules = new Map<string, string>()
  const add = (subpath: string, target: unknown) => {
    const path = typeof target === 'string' ? findTypes(target, has) : undefined
    if (path !== undefined && !modules.has(subpath)) modules.set(subpath, path)
  }
  const { exports, types, typings, main } = json
  const isMap = isJsonObject(exports) && Object.keys(exports).some((key) => key.startsWith('.'))
  for (const [subpath, target] of isMap ? Object.entries(exports) : [['.', exports] as const]) {
    // Patterns stand for many files, and `./package.json` is no module.
    if (subpath.includes('*') || subpath.endsWith('.json')) continue
    for (const one of listTargets(target, isRequired)) add(subpath, one)
  }
  for (const target of [types, typings, main, 'index']) add('.', target)
  return [...modules].map(([subpath, path]) => ({ subpath, path }))
}

/**
 * Lists the folders of a package that are modules because they have a package.json of their own. They count only if that of the package
 * has no `exports`. `manifests` are their texts by path.
 */
export function listFolderModules(
  manifest: string,
  manifests: ReadonlyMap<string, string>,
  has: (path: string) => boolean,
): PackageModule[] {
  const json = tryParseJson(manifest)
  if (!isJsonObject(json) || (json['exports'] ?? null) !== null) return []
  return [...manifests].flatMap(([path, text]) => {
    const inner = tryParseJson(text)
    const folder = folderOf(path).slice(0, -1)
    // Others only say which kind of modules the folder has: `{"type": "module"}`.
    const isModule = isJsonObject(inner) && ['main', 'module', 'types', 'typings'].some((field) => field in inner)
    if (folder === '' || !isModule) return []
    const [found] = listModules(text, (file) => has(`${folder}/${file}`))
    return found === undefined ? [] : [{ subpath: `./${folder}`, path: `${folder}/${found.path}` }]
  })
}

/**
 * Finds the declarations of one module of a package, such as `.` or `./promises`, also if package.json names it by a pattern.
 * `isRequired` prefers those of the CommonJS module.
 */
export function findModule(
  manifest: string,
  subpath: string,
  has: (path: string) => boolean,
  isRequired: boolean = false,
): string | undefined {
  const known = listModules(manifest, has, isRequired).find((module) => module.subpath === subpath)
  if (known !== undefined) return known.path
  const json = tryParseJson(manifest)
  const exports = isJsonObject(json) ? json['exports'] : undefined
  if (exports === undefined || exports === null) return findTypes(subpath, has)
  for (const [pattern, target] of isJsonObject(exports) ? Object.entries(exports) : []) {
    const [before = '', after] = pattern.split('*')
    if (after === undefined || !subpath.startsWith(before) || !subpath.endsWith(after)) continue
    const middle = subpath.slice(before.length, subpath.length - after.length)
    const paths = listTargets(target, isRequired).map((one) =>
      findTypes(
        one.replaceAll('*', () => middle),
        has,
      ),
    )
    const found = paths.find((path) => path !== undefined)
    if (found !== undefined) return found
  }
  return undefined
}

/** Whether a package has a module at all, with or without declarations. What `exports` does not name cannot be imported. */
export function hasModule(manifest: string, subpath: string, has: (path: string) => boolean): boolean {
  const json = tryParseJson(manifest)
  const exports = isJsonObject(json) ? json['exports'] : undefined
  if (subpath === '.') return true
  if (exports === undefined || exports === null) {
    const path = resolvePath('', subpath)
    return path === undefined || listFiles(path).some(has)
  }
  return (isJsonObject(exports) ? Object.entries(exports) : []).some(([pattern, target]) => {
    const [before = '', after] = pattern.split('*')
    if (after === undefined) return pattern === subpath && target !== null
    if (!subpath.startsWith(before) || !subpath.endsWith(after)) return false
    const middle = subpath.slice(before.length, subpath.length - after.length)
    return listTargets(target, false).some((one) =>
      has(
        resolvePath(
          '',
          one.replaceAll('*', () => middle),
        ) ?? '',
      ),
    )
  })
}

/** The files that a module can be, by its path. */
function listFiles(path: string): string[] {
  const ends = '.js .cjs .mjs .json .node .ts .tsx .d.ts .d.mts .d.cts'.split(' ')
  return [path, `${path}/package.json`, ...ends.flatMap((end) => [`${path}${end}`, `${path}/index${end}`])]
}

/** The targets of an export, those for types first. Nested conditions count in their order. */
function listTargets(target: unknown, isRequired: boolean, depth = 0): string[] {
  if (typeof target === 'string') return [target]
  if (Array.isArray(target)) return target.flatMap((one) => listTargets(one, isRequired, depth + 1))
  if (!isJsonObject(target) || depth > MAX_CONDITIONS) return []
  const entries = Object.entries(target)
  const required = entries.filter(([condition]) => isRequired && condition === 'require')
  const typed = entries.filter(([condition]) => condition === 'types')
  // `types@<5` has declarations for old compilers.
  const old = entries.filter(([condition]) => condition.startsWith('types@'))
  // Modules for one environment may lack what the others have.
  const special = entries.filter(([condition]) => ENVIRONMENTS.test(condition))
  const others = entries.filter((entry) => ![...required, ...typed, ...old, ...special].includes(entry))
  return [...required, ...typed, ...others, ...special, ...old].flatMap(([, inner]) =>
    listTargets(inner, isRequired, depth + 1),
  )
}

const ENVIRONMENTS = /^(?:react-server|react-native|browser|workerd?|edge-light|deno|bun|electron)$/

/** Conditions are seldom nested more than three deep. */
const MAX_CONDITIONS = 8

/** The declarations that belong to a file: `dist/a.js` has its types in `dist/a.d.ts`. */
export function findTypes(target: string, has: (path: string) => boolean): string | undefined {
  const path = resolvePath('', target)
  if (path === undefined) return undefined
  const base = path.replace(/\.d\.[cm]?ts$|\.[cm]?[jt]sx?$/, '')
  const [, kind = ''] = /\.([cm]?)[jt]sx?$/.exec(path) ?? []
  const candidates = [path, `${base}.d.${kind}ts`, `${base}.d.ts`, `${base}.d.mts`, `${base}.d.cts`]
  const inFolder = ['index.d.ts', 'index.d.mts', 'index.d.cts'].map((name) => (path === '' ? name : `${path}/${name}`))
  return [...candidates, ...inFolder].find((one) => DECLARATIONS.test(one) && has(one))
}

const DECLARATIONS = /\.d\.[cm]?ts$/

/** How many modules a name may be exported through. Longer chains are not followed. */
const MAX_STEPS = 24

/** Resolves the names that modules of a package export, through the files they come from. */
export class PackageExports {
  readonly #load: ModuleLoader
  readonly #has: (path: string) => boolean
  readonly #modules = new Map<string, Promise<ModuleText | undefined>>()
  readonly #exports = new Map<string, Promise<ReadonlyMap<string, ExportedName>>>()
  readonly #barrels = new Set<string>()
  readonly #byName = new WeakMap<ModuleText, ReadonlyMap<string, readonly Declaration[]>>()

  constructor(load: ModuleLoader, has: (path: string) => boolean) {
    this.#load = load
    this.#has = has
  }

  /** The names that a file exports. */
  list(path: string): Promise<ReadonlyMap<string, ExportedName>> {
    return this.#listExports(path, 0)
  }

  /** What a name stands for inside of a file, exported or not. */
  async find(path: string, name: string): Promise<ExportedName | undefined> {
    const module = await this.module(path)
    return module === undefined ? undefined : this.#findLocal(path, module, name, 0)
  }

  /** The other packages of which a file exports everything, directly or through other files of the package. */
  async listExternal(path: string, seen: Set<string> = new Set()): Promise<string[]> {
    if (seen.has(path)) return []
    seen.add(path)
    const found: string[] = []
    for (const from of (await this.module(path))?.exportsAllOf ?? []) {
      const target = this.#resolve(path, from)
      found.push(...(target === undefined ? [from] : await this.listExternal(target, seen)))
    }
    return [...new Set(found)]
  }

  /** Adds the files that were read and declare nothing themselves: they only pass on what others declare. */
  withBarrels(described: ReadonlySet<string>): ReadonlySet<string> {
    return new Set([...described, ...this.#barrels])
  }

  /** The declarations of a file. */
  module(path: string): Promise<ModuleText | undefined> {
    return getOrAdd(this.#modules, path, async () => {
      const module = await this.#load(path)
      const isBarrel = module?.declarations.length === 0 && module.ambientModules.size === 0
      if (isBarrel && module.exports.length + module.exportsAllOf.length > 0) this.#barrels.add(path)
      return module
    })
  }

  #listExports(path: string, step: number): Promise<ReadonlyMap<string, ExportedName>> {
    const known = this.#exports.get(path)
    if (known !== undefined) return known
    // A file that exports itself again, through others, adds nothing.
    const listing = step > MAX_STEPS ? Promise.resolve(new Map<string, ExportedName>()) : this.#readExports(path, step)
    this.#exports.set(path, Promise.resolve(new Map()))
    const settled = listing.then((names) => {
      this.#exports.set(path, Promise.resolve(names))
      return names
    })
    return settled
  }

  async #readExports(path: string, step: number): Promise<ReadonlyMap<string, ExportedName>> {
    const names = new Map<string, ExportedName>()
    const module = await this.module(path)
    if (module === undefined) return names
    for (const { name, local, from } of module.exports) {
      if (names.has(name)) continue
      const found =
        from === null ? await this.#findLocal(path, module, local, step) : await this.#findIn(path, from, local, step)
      if (found !== undefined) names.set(name, { ...found, name })
    }
    for (const from of module.exportsAllOf) {
      const target = this.#resolve(path, from)
      if (target === undefined) continue
      for (const [name, found] of await this.#listExports(target, step + 1)) {
        if (name !== 'default' && !names.has(name)) names.set(name, found)
      }
    }
    if (module.exportEquals !== null) await this.#addWhole(names, path, module, module.exportEquals, step)
    return names
  }

  /** `export = name`: the name is the default export, and its members are the named ones. */
  async #addWhole(
    names: Map<string, ExportedName>,
    path: string,
    module: ModuleText,
    local: string,
    step: number,
  ): Promise<void> {
    const whole = await this.#findLocal(path, module, local, step)
    if (whole === undefined) return
    names.set('default', { ...whole, name: 'default' })
    for (const declaration of whole.declarations) {
      if (declaration.kind !== 'namespace') continue
      for (const member of declaration.members) {
        const known = names.get(member.name)
        const declarations = [...(known?.declarations ?? []), member]
        names.set(member.name, { name: member.name, declarations, path: whole.path, external: null, inner: null })
      }
      for (const { name, local: inner } of declaration.exports ?? []) {
        const found = names.has(name) ? undefined : await this.#findLocal(path, module, inner, step)
        if (found !== undefined) names.set(name, { ...found, name })
      }
    }
  }

  /** Finds what a name stands for inside of a module: its own declaration, or an import. */
  async #findLocal(path: string, module: ModuleText, local: string, step: number): Promise<ExportedName | undefined> {
    const declarations = this.#declarationsOf(module).get(local) ?? []
    const listed = declarations.length === 1 ? await this.#listNamespace(path, module, declarations[0], step) : null
    if (declarations.length > 0) return { name: local, declarations, path, external: null, inner: listed }
    const imported = module.imports.find((one) => one.local === local)
    if (imported === undefined) return undefined
    return this.#findIn(path, imported.from, imported.name, step)
  }

  /** The names of a namespace that only collects others, as bundlers write for `import * as name`; null for other declarations. */
  async #listNamespace(
    path: string,
    module: ModuleText,
    declaration: Declaration | undefined,
    step: number,
  ): Promise<ReadonlyMap<string, ExportedName> | null> {
    const { kind, members, exports = [] } = declaration ?? {}
    if (kind !== 'namespace' || members?.length !== 0 || exports.length === 0 || step > MAX_STEPS) return null
    const names = new Map<string, ExportedName>()
    for (const { name, local } of exports) {
      const found = await this.#findLocal(path, module, local, step + 1)
      if (found !== undefined) names.set(name, { ...found, name })
    }
    return names
  }

  /** The declarations of a module by name. */
  #declarationsOf(module: ModuleText): ReadonlyMap<string, readonly Declaration[]> {
    return getOrAdd(this.#byName, module, () => groupBy(module.declarations, ({ name }) => name))
  }

  async #findIn(path: string, from: string, name: string, step: number): Promise<ExportedName | undefined> {
    const target = this.#resolve(path, from)
    if (target === undefined) return { name, declarations: [], path, external: from, inner: null }
    const names = await this.#listExports(target, step + 1)
    if (name === '*') return { name, declarations: [], path: target, external: null, inner: names }
    return names.get(name)
  }

  /** The file of a relative import; undefined for other packages and missing files. */
  #resolve(path: string, from: string): string | undefined {
    if (!from.startsWith('.')) return undefined
    const target = resolvePath(folderOf(path), from)
    return target === undefined ? undefined : findTypes(target, this.#has)
  }
}
