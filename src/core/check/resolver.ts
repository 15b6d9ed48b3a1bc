import { evaluateType, typeOfEntity, valueOfEntity } from './evaluate-type.ts'
import { findExport, findName } from './find-names.ts'
import { lookUp, namesOf } from './look-up.ts'
import type { ModuleGraph } from './module-graph.ts'
import { listSignatures } from './signatures.ts'
import type { SyntaxNode } from './syntax-tree.ts'
import {
  type Bindings,
  type Declared,
  type Entity,
  type Lookup,
  lost,
  type ModuleInfo,
  NO_BINDINGS,
  type Resolver,
  type Scope,
  type Signature,
  type Type,
} from './types.ts'

/** Steps that one check may make. Ordinary code of 200 lines needs some ten thousand. */
const MAX_STEPS = 200_000

/** How deep types may be nested within each other while one is resolved. */
const MAX_DEPTH = 60

/** Resolves names and types in the declarations of a graph of modules. */
export class TypeResolver implements Resolver {
  readonly graph: ModuleGraph
  readonly #evaluated = new WeakMap<SyntaxNode, Type>()
  /** Packages that the code imports, but that are not installed: plugins of another package may add members to its interfaces. */
  readonly missingPackages: Set<string> = new Set()
  #additions: ReadonlyMap<string, Scope> = new Map()
  #steps = 0
  #depth = 0

  constructor(graph: ModuleGraph) {
    this.graph = graph
  }

  /** Begins a check. `additions` are what the code itself adds to modules: `declare module 'name' { … }`. */
  start(additions: ReadonlyMap<string, Scope>): void {
    this.missingPackages.clear()
    this.#additions = additions
    this.#steps = 0
    this.#depth = 0
  }

  isExhausted(): boolean {
    return ++this.#steps > MAX_STEPS
  }

  evaluate(node: SyntaxNode, scope: Scope, bindings: Bindings): Type {
    const isPlain = bindings === NO_BINDINGS
    const known = isPlain ? this.#evaluated.get(node) : undefined
    if (known !== undefined) return known
    const type = this.#within(() => evaluateType(this, node, scope, bindings), lost('nested too deep'))
    if (isPlain && this.#depth === 0) this.#evaluated.set(node, type)
    return type
  }

  valueOf(entity: Entity): Type {
    return this.#within(() => valueOfEntity(this, entity), lost('nested too deep'))
  }

  typeOf(entity: Entity, args: readonly Type[]): Type {
    return this.#within(() => typeOfEntity(this, entity, args), lost('nested too deep'))
  }

  lookUp(type: Type, name: string, self: Type = type): Lookup {
    return this.#within(() => lookUp(this, type, name, self), { state: 'unknown', why: 'nested too deep' })
  }

  signatures(type: Type, isNew: boolean): readonly Signature[] | undefined {
    return this.#within(() => listSignatures(this, type, isNew), undefined)
  }

  findName(scope: Scope, name: string): Entity | 'unknown' | undefined {
    return findName(this, scope, name) ?? this.findGlobal(name)
  }

  findGlobal(name: string): Entity | undefined {
    const declarations = this.graph.findGlobal(name)
    if (declarations.length === 0) return undefined
    return { kind: 'declared', declarations }
  }

  findExport(scope: Scope, name: string): Entity | 'unknown' | 'missing' {
    return findExport(this, scope, name)
  }

  namesOf(type: Type): string[] {
    return namesOf(this, type)
  }

  openModule(specifier: string, from: ModuleInfo): Scope | undefined {
    return this.graph.open(specifier, from)
  }

  siblingsOf(scope: Scope): readonly Scope[] {
    return this.graph.siblingsOf(scope)
  }

  augmentationsOf({ kind, name, scope }: Declared): readonly Declared[] {
    if (kind !== 'interface' && kind !== 'class') return []
    const { name: packageName } = scope.module.package
    const names = [packageName, packageName.replace(/^@types\//, '').replace(/^([^_]+)__/, '@$1/')]
    const added = new Set(names.flatMap((one) => [...this.graph.additionsTo(one), ...this.#added(one)]))
    return [...added].flatMap((one) => (one === scope ? [] : (one.declarations.get(name) ?? [])))
  }

  #added(module: string): readonly Scope[] {
    const scope = this.#additions.get(module)
    return scope === undefined ? [] : [scope]
  }

  isGlobal({ scope }: Declared): boolean {
    // Nothing adds members to the types of Node that packages extend.
    if (scope.module.package.name === '@types/node') return false
    for (let at: Scope | undefined = scope; at !== undefined; at = at.parent) {
      if (this.graph.isAmbientModule(at)) return false
      if (this.graph.globals.has(at)) return true
    }
    return false
  }

  #within<T>(run: () => T, otherwise: T): T {
    if (this.#depth > MAX_DEPTH) return otherwise
    this.#depth++
    try {
      return run()
    } finally {
      this.#depth--
    }
  }
}
