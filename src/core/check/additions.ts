import type { ModuleGraph } from './module-graph.ts'
import type { Declared, Scope } from './types.ts'

/** Finds what other packages, the project and the checked code add to declarations: `declare global`, `declare module 'name'`. */
export class Additions {
  readonly #graph: ModuleGraph
  #code: Scope | undefined
  /** Names of modules and namespaces whose additions were loaded for this check. */
  readonly #opened = new Set<string>()

  constructor(graph: ModuleGraph) {
    this.#graph = graph
  }

  /** Begins a check of code. */
  start(code: Scope): void {
    this.#code = code
    this.#opened.clear()
  }

  /** Whether the checked code adds something itself. */
  get hasOwn(): boolean {
    return this.#code !== undefined && (this.#code.ambient.size > 0 || this.#code.globals.length > 0)
  }

  /** The loaded declarations that are merged with one. */
  find({ name, scope }: Declared): readonly Declared[] {
    const path = this.#globalPath(scope)
    const scopes =
      path === undefined
        ? modulesOf(scope).flatMap((one) => [...this.#graph.additionsTo(one), ...this.#ownTo(one)])
        : [...this.#graph.globals, ...(this.#code?.globals ?? [])].flatMap((one) => follow(one, path))
    const found = [...new Set(scopes)].flatMap((one) => (one === scope ? [] : (one.declarations.get(name) ?? [])))
    return found.filter(({ kind }) => kind === 'interface' || kind === 'class')
  }

  /** Loads what the project and its packages add to the module or namespace of a declaration; true if that was more than before. */
  load({ scope }: Declared): boolean {
    const path = this.#globalPath(scope)
    const names = path === undefined ? modulesOf(scope) : path.slice(0, 1)
    const fresh = names.filter((name) => !this.#opened.has(name))
    for (const name of fresh) this.#opened.add(name)
    const from = this.#code?.module.path ?? ''
    return fresh.map((name) => this.#graph.loadAdditions(name, from)).includes(true)
  }

  /** Whether a declaration is for all modules. `language` if the language or its platform may declare more of it. */
  globalKind({ scope }: Declared): 'namespace' | 'language' | undefined {
    const path = this.#globalPath(scope)
    if (path === undefined) return undefined
    return path.length === 0 || LANGUAGE_NAMESPACES.test(path[0] ?? '') ? 'language' : 'namespace'
  }

  #ownTo(module: string): readonly Scope[] {
    const scope = this.#code?.ambient.get(module)
    return scope === undefined ? [] : [scope]
  }

  /** The namespaces that lead to a scope from what every module sees; undefined if modules do not see it. */
  #globalPath(scope: Scope): readonly string[] | undefined {
    // Nothing adds members to the types of Node that packages extend.
    if (scope.module.package.name === '@types/node') return undefined
    const path: string[] = []
    for (let at = scope; ; ) {
      if (this.#graph.isAmbientModule(at)) return undefined
      if (this.#graph.globals.has(at)) return path
      const { parent } = at
      if (parent === undefined) return undefined
      path.unshift(nameIn(parent, at))
      at = parent
    }
  }
}

/** Namespaces that the language and its platforms declare themselves. */
const LANGUAGE_NAMESPACES = /^(?:NodeJS|Intl|WebAssembly|Reflect|JSX|React|CSS)$/

/** The modules under whose names others add to a package: its own, and for `@types` that of the described package. */
function modulesOf({ module }: Scope): string[] {
  const { name } = module.package
  return [...new Set([name, name.replace(/^@types\//, '').replace(/^([^_]+)__/, '@$1/')])]
}

function nameIn(parent: Scope, scope: Scope): string {
  for (const [name, all] of parent.declarations) if (all.some(({ body }) => body === scope)) return name
  return ''
}

/** The bodies of the namespaces that a path leads to. */
function follow(scope: Scope, path: readonly string[]): readonly Scope[] {
  return path.reduce<readonly Scope[]>(
    (scopes, name) =>
      scopes.flatMap((one) =>
        (one.declarations.get(name) ?? []).flatMap(({ body }) => (body === undefined ? [] : [body])),
      ),
    [scope],
  )
}
