import { getOrAdd } from '../get-or-add.ts'
import { Additions } from './additions.ts'
import { LateBindings } from './bindings.ts'
import { evaluateType, typeOfEntity, valueOfEntity } from './evaluate-type.ts'
import { findExport, findName, findPath } from './find-names.ts'
import { languageType } from './language-types.ts'
import { lookUp, namesOf } from './look-up.ts'
import type { ModuleGraph } from './module-graph.ts'
import { listSignatures } from './signatures.ts'
import { type SyntaxNode, textOf } from './syntax-tree.ts'
import {
  type Bindings,
  type Declared,
  type Entity,
  type Lookup,
  lost,
  type ModuleInfo,
  type Resolver,
  type Scope,
  type Signature,
  type Type,
} from './types.ts'

/** Steps that one check may make. Ordinary code of 200 lines needs some ten thousand. */
const MAX_STEPS = 200_000

/** Steps for one type, member or list of signatures. Most need fewer than 400. What needs more stays unknown. */
const MAX_STEPS_OF_QUESTION = 1_000

/** How often an alias may be evaluated inside of itself. Each branch of a recursive type multiplies the work. */
const MAX_RECURSION = 1

/** How deep types may be nested within each other while one is resolved. */
const MAX_DEPTH = 60

/** How many undecided conditions a type may be inside of. Each of them doubles the work. */
const MAX_CHOICES = 3

/** The aliases and conditions that a type is evaluated inside of, the innermost first. */
interface Nesting {
  /** What the alias stands for; undefined for a condition. */
  readonly value: SyntaxNode | undefined
  /** Number of undecided conditions so far. */
  readonly choices: number
  readonly outer: Nesting | undefined
}

/** What is kept from one check to the next. */
interface Kept {
  /** Number of loaded characters for which it is valid. */
  readonly loadedChars: number
  readonly types: WeakMap<SyntaxNode, Type>
  readonly entities: WeakMap<SyntaxNode, Entity | 'unknown' | 'none'>
  readonly augmentations: WeakMap<Declared, readonly Declared[]>
}

function newKept(loadedChars: number): Kept {
  return { loadedChars, types: new WeakMap(), entities: new WeakMap(), augmentations: new WeakMap() }
}

/** Resolves names and types in the declarations of a graph of modules. */
export class TypeResolver implements Resolver {
  readonly graph: ModuleGraph
  #known = newKept(0)
  /** Answers of this check. They depend on which packages are missing. */
  #lookups = new WeakMap<Type, Map<string, Lookup>>()
  #signatures = new WeakMap<Type, Map<boolean, readonly Signature[] | undefined>>()
  #nesting: Nesting | undefined
  /** Packages that the code imports, but that are not installed: plugins of another package may add members to its interfaces. */
  readonly missingPackages: Set<string> = new Set()
  readonly #additions: Additions
  /** Declarations that lack a member, while they are collected. */
  #lacking: Set<Declared> | undefined
  #steps = 0
  #maxSteps = MAX_STEPS
  #depth = 0
  /** How often a limit ended an evaluation. A type is kept only if none did. */
  #cutCount = 0

  constructor(graph: ModuleGraph) {
    this.graph = graph
    this.#additions = new Additions(graph)
  }

  /** Begins a check of code, which can add to modules itself: `declare module 'name' { … }`. */
  start(code: Scope): void {
    this.missingPackages.clear()
    const hadOwn = this.#additions.hasOwn
    this.#additions.start(code)
    // Types that were evaluated with the additions of one program are not those of another.
    if (hadOwn || this.#additions.hasOwn) this.#known = newKept(this.graph.loadedChars)
    this.#lookups = new WeakMap()
    this.#signatures = new WeakMap()
    this.#steps = 0
    this.#depth = 0
  }

  isExhausted(): boolean {
    const isOver = ++this.#steps > this.#maxSteps
    if (isOver) this.#cutCount++
    return isOver
  }

  evaluate(node: SyntaxNode, scope: Scope, bindings: Bindings): Type {
    const types = bindings instanceof LateBindings ? bindings.evaluated : this.#kept.types
    const known = types.get(node)
    if (known !== undefined) return known
    const cutCount = this.#cutCount
    const type = this.#within(() => evaluateType(this, node, scope, bindings), lost('nested too deep'))
    // Asked from outside, a type has all the steps that it may ever have: it ends in the same way the next time.
    const isFinal = this.#depth === 0 && this.#steps <= MAX_STEPS
    if (isFinal || this.#cutCount === cutCount) types.set(node, type)
    return type
  }

  /** What is known without bindings. A module that is loaded later can declare more, so it is forgotten then. */
  get #kept(): Kept {
    const { loadedChars } = this.graph
    if (loadedChars !== this.#known.loadedChars) this.#known = newKept(loadedChars)
    return this.#known
  }

  evaluateAlias(value: SyntaxNode, scope: Scope, bindings: Bindings): Type {
    const outer = this.#nesting
    let count = 0
    for (let at = outer; at !== undefined; at = at.outer) if (at.value === value) count++
    if (count > MAX_RECURSION) {
      this.#cutCount++
      return lost('it refers to itself')
    }
    const choices = outer?.choices ?? 0
    return this.#inside({ value, choices, outer }, () => this.evaluate(value, scope, bindings))
  }

  evaluateChoice(node: SyntaxNode, scope: Scope, bindings: Bindings): Type {
    const outer = this.#nesting
    const choices = (outer?.choices ?? 0) + 1
    if (choices > MAX_CHOICES) {
      this.#cutCount++
      return lost('it has too many alternatives')
    }
    return this.#inside({ value: undefined, choices, outer }, () => this.evaluate(node, scope, bindings))
  }

  defer(evaluate: () => Type): () => Type {
    const nesting = this.#nesting
    let known: Type | undefined
    let isRunning = false
    return () => {
      if (known !== undefined) return known
      if (isRunning) return lost('it refers to itself')
      isRunning = true
      const cutCount = this.#cutCount
      const type = this.#inside(nesting, evaluate)
      isRunning = false
      if (this.#cutCount === cutCount) known = type
      return type
    }
  }

  #inside(nesting: Nesting | undefined, evaluate: () => Type): Type {
    const outer = this.#nesting
    this.#nesting = nesting
    try {
      return evaluate()
    } finally {
      this.#nesting = outer
    }
  }

  valueOf(entity: Entity): Type {
    return this.#within(() => valueOfEntity(this, entity), lost('nested too deep'))
  }

  typeOf(entity: Entity, args: readonly (() => Type)[]): Type {
    return this.#within(() => typeOfEntity(this, entity, args), lost('nested too deep'))
  }

  lookUp(type: Type, name: string, self: Type = type): Lookup {
    const run = () =>
      this.#within<Lookup>(() => lookUp(this, type, name, self), { state: 'unknown', why: 'nested too deep' })
    return self === type ? this.#answerOnce(this.#lookups, type, name, run) : run()
  }

  signatures(type: Type, isNew: boolean): readonly Signature[] | undefined {
    const run = () => this.#within(() => listSignatures(this, type, isNew), undefined)
    return this.#answerOnce(this.#signatures, type, isNew, run)
  }

  #answerOnce<K, V>(answers: WeakMap<Type, Map<K, V>>, type: Type, key: K, run: () => V): V {
    const known = answers.get(type)?.get(key)
    if (known !== undefined) return known
    const cutCount = this.#cutCount
    const answer = run()
    if (this.#cutCount !== cutCount) return answer
    const ofType = answers.get(type) ?? new Map<K, V>()
    answers.set(type, ofType.set(key, answer))
    return answer
  }

  findName(scope: Scope, name: string): Entity | 'unknown' | undefined {
    return findName(this, scope, name) ?? this.findGlobal(name) ?? this.#findImportedGlobal(scope, name)
  }

  /** Finds a name that a module declares for all modules which the module of a scope imports. */
  #findImportedGlobal({ module }: Scope, name: string): Entity | undefined {
    if (module.isCode || languageType(name) !== undefined || !this.graph.openImports(module)) return undefined
    return this.findGlobal(name)
  }

  findWritten(scope: Scope, node: SyntaxNode): Entity | 'unknown' | undefined {
    const known = this.#kept.entities.get(node)
    if (known !== undefined) return known === 'none' ? undefined : known
    const cutCount = this.#cutCount
    const name = textOf(node)
    const entity = /^[\w$]+$/.test(name) ? this.findName(scope, name) : findPath(this, scope, node)
    if (this.#cutCount === cutCount) this.#kept.entities.set(node, entity ?? 'none')
    return entity
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

  augmentationsOf(declared: Declared): readonly Declared[] {
    if (declared.kind !== 'interface' && declared.kind !== 'class') return []
    return getOrAdd(this.#kept.augmentations, declared, () => this.#additions.find(declared))
  }

  globalKind(declared: Declared): 'namespace' | 'language' | undefined {
    return this.#additions.globalKind(declared)
  }

  noteLacking(declarations: readonly Declared[]): void {
    for (const one of declarations) this.#lacking?.add(one)
  }

  /**
   * Looks up a member of a value in the checked code. Before a member counts as missing, the files are read that may add it to one of
   * the declarations that lack it.
   */
  lookUpMember(type: Type, name: string): Lookup {
    const found = this.lookUp(type, name)
    if (found.state !== 'missing') return found
    const lacking = new Set<Declared>()
    this.#lookups = new WeakMap()
    this.#lacking = lacking
    this.lookUp(type, name)
    this.#lacking = undefined
    const hasMore = [...lacking].map((one) => this.#additions.load(one)).includes(true)
    if (hasMore) this.#lookups = new WeakMap()
    const again = hasMore ? this.lookUp(type, name) : found
    const isShared = [...lacking].some((one) => this.globalKind(one) !== undefined)
    return again.state === 'missing' && isShared ? { state: 'missing', isShared } : again
  }

  #within<T>(run: () => T, otherwise: T): T {
    if (this.#depth > MAX_DEPTH) {
      this.#cutCount++
      return otherwise
    }
    if (this.#depth === 0) this.#maxSteps = Math.min(MAX_STEPS, this.#steps + MAX_STEPS_OF_QUESTION)
    this.#depth++
    try {
      return run()
    } finally {
      this.#depth--
    }
  }
}
