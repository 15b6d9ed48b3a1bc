import type { PythonModule, PythonModules, PythonName } from './python-modules.ts'
import { assignedNames } from './python-scope.ts'
import { childOf, field, type SyntaxNode, textOf } from './syntax-tree.ts'
import type { DeclaredAt } from './types.ts'

/** What is known about a value of Python. */
export type PythonType =
  /** Can be anything, or is of Python itself; nothing is looked up. */
  | { readonly kind: 'free' }
  | { readonly kind: 'lost'; readonly why: string }
  | { readonly kind: 'module'; readonly module: PythonModule }
  | {
      readonly kind: 'class' | 'instance'
      readonly node: SyntaxNode
      readonly decorators: readonly SyntaxNode[]
      readonly module: PythonModule
      readonly isDeclared?: boolean
    }
  | {
      readonly kind: 'function'
      readonly definitions: readonly PythonFunction[]
      readonly isBound: boolean
      readonly self: PythonType
    }

/** A definition of a function. Overloads are several. */
export interface PythonFunction {
  readonly node: SyntaxNode
  readonly decorators: readonly SyntaxNode[]
  readonly module: PythonModule
}

export const FREE_PYTHON: PythonType = { kind: 'free' }

export type PythonLookup =
  | { readonly state: 'found'; readonly type: PythonType; readonly at: DeclaredAt }
  | { readonly state: 'missing' }
  | { readonly state: 'unknown'; readonly why: string }
  | { readonly state: 'outside' }

/** How many imports, base classes and aliases are followed. */
const MAX_STEPS = 30

export function locatePython(node: SyntaxNode, module: PythonModule): DeclaredAt {
  return { package: module.package, path: module.path, line: node.row + 1 }
}

/** Resolves names in the modules of an environment. */
export class PythonResolver {
  readonly #modules: PythonModules

  constructor(modules: PythonModules) {
    this.#modules = modules
  }

  load(name: string): PythonModule | undefined {
    return this.#modules.load(name)
  }

  /** Looks up a name of a module. */
  inModule(module: PythonModule, name: string, step = 0): PythonLookup {
    if (step > MAX_STEPS) return { state: 'unknown', why: 'too many imports' }
    const found = module.names.get(name)
    if (found !== undefined) return this.#follow(found, module, step)
    const inner = module.isPackage ? this.#modules.load(`${module.name}.${name}`) : undefined
    if (inner !== undefined)
      return { state: 'found', type: { kind: 'module', module: inner }, at: locatePython(inner.root, inner) }
    let why = ''
    for (const star of module.stars) {
      const target = this.#modules.load(star)
      const result = target === undefined ? undefined : this.inModule(target, name, step + 1)
      if (result?.state === 'found') return result
      if (result?.state !== 'missing') why = `it may come from ${star}`
    }
    if (this.#modules.hasUnreadable(module, name)) why = `${module.name}.${name} has no readable source`
    if (why !== '') return { state: 'unknown', why }
    if (module.isOpen(name)) return { state: 'unknown', why: `${module.name} creates names while it runs` }
    return /^__\w+__$/.test(name) ? { state: 'outside' } : { state: 'missing' }
  }

  /** What a name stands for inside of a module. */
  #follow(found: readonly PythonName[], module: PythonModule, step: number): PythonLookup {
    const last = found.at(-1)
    if (last === undefined) return { state: 'missing' }
    const at = locatePython(last.node, module)
    const functions = found.flatMap((one) => (one.kind === 'function' ? [{ ...one, module }] : []))
    if (functions.length === found.length) {
      return {
        state: 'found',
        at,
        type: { kind: 'function', definitions: functions, isBound: false, self: FREE_PYTHON },
      }
    }
    // A name that is defined in several ways exists, but what it is depends on the machine.
    if (found.length > 1) return { state: 'found', at, type: FREE_PYTHON }
    if (last.kind === 'class')
      return { state: 'found', at, type: { kind: 'class', node: last.node, decorators: last.decorators, module } }
    if (last.kind !== 'import') return { state: 'found', at, type: this.#typeOfVariable(last.node, module, step) }
    const target = this.#modules.load(last.from)
    if (last.imported === null) {
      return { state: 'found', at, type: target === undefined ? FREE_PYTHON : { kind: 'module', module: target } }
    }
    // `from . import a` inside of the package itself is its module `a`.
    if (target === undefined || target === module)
      return { state: 'found', at, type: this.#submodule(`${last.from}.${last.imported}`) }
    const inner = this.inModule(target, last.imported, step + 1)
    return inner.state === 'found' ? inner : { state: 'found', at, type: FREE_PYTHON }
  }

  #submodule(name: string): PythonType {
    const module = this.#modules.load(name)
    return module === undefined ? FREE_PYTHON : { kind: 'module', module }
  }

  #typeOfVariable(node: SyntaxNode, module: PythonModule, step: number): PythonType {
    const annotation = field(node, 'type')
    if (annotation !== undefined) return this.annotated(annotation, module, step + 1)
    const right = field(node, 'right')
    const called = right?.type === 'call' ? field(right, 'function') : undefined
    if (right?.type === 'identifier' || right?.type === 'attribute') return this.#named(textOf(right), module, step + 1)
    const made = called === undefined ? FREE_PYTHON : this.#named(textOf(called), module, step + 1)
    return made.kind === 'class' ? { ...made, kind: 'instance' } : FREE_PYTHON
  }

  /** The value of a dotted name inside of a module. */
  #named(text: string, module: PythonModule, step: number): PythonType {
    if (!/^\w+(?:\.\w+)*$/.test(text) || step > MAX_STEPS) return FREE_PYTHON
    const [first = '', ...rest] = text.split('.')
    let found = this.inModule(module, first, step + 1)
    for (const name of rest) found = found.state === 'found' ? this.lookUp(found.type, name, step + 1) : found
    return found.state === 'found' ? found.type : FREE_PYTHON
  }

  /** The type of a value with a written type. */
  annotated(annotation: SyntaxNode, module: PythonModule, step = 0, self: PythonType = FREE_PYTHON): PythonType {
    const text = textOf(annotation)
      .replace(/['"\s]/g, '')
      .replace(/^(?:typing\.)?(?:Optional|Annotated)\[([^,]*?)(?:,.*)?\]$/, '$1')
      .replace(/\|None$|^None\|/, '')
    if (/^(?:\w+\.)*Self$/.test(text)) return self
    const name = text.replace(/^([^[]*)\[.*\]$/, '$1')
    const found = this.#named(name, module, step)
    return found.kind === 'class' ? { ...found, kind: 'instance', isDeclared: true } : FREE_PYTHON
  }

  /** Looks up an attribute. */
  lookUp(type: PythonType, name: string, step = 0): PythonLookup {
    if (type.kind === 'free') return { state: 'outside' }
    if (type.kind === 'lost') return { state: 'unknown', why: type.why }
    if (type.kind === 'function') return { state: 'outside' }
    if (type.kind === 'module') return this.inModule(type.module, name, step)
    const found = this.#inClass(type, name, step, type)
    if (found.state === 'missing' && type.isDeclared === true && hasSubclass(type.node, type.module)) {
      return { state: 'unknown', why: 'a class that extends the declared one may have it' }
    }
    return found.state === 'missing' && /^__\w+__$|^mro$/.test(name) ? { state: 'outside' } : found
  }

  #inClass(
    type: PythonType & { kind: 'class' | 'instance' },
    name: string,
    step: number,
    self: PythonType,
  ): PythonLookup {
    if (step > MAX_STEPS) return { state: 'unknown', why: 'too many base classes' }
    const { node, module } = type
    const members = membersOf(node)
    const own = members.get(name)
    if (own !== undefined) return this.#member(own, type, self, step)
    const text = textOf(node)
    const assigned = new RegExp(`\\b(?:self|cls)\\.${name}\\b\\s*(?::[^=\\n]+)?=|\\b(?:self|cls)\\.${name}\\s*:`).test(
      text,
    )
    if (assigned) return { state: 'found', type: FREE_PYTHON, at: locatePython(node, module) }
    let open = this.#openReason(type, members)
    for (const base of basesOf(node)) {
      const found = this.#inBase(base, type, name, step, self)
      if (found.state === 'found') return found
      if (found.state !== 'missing') open ??= found
    }
    return open ?? { state: 'missing' }
  }

  /** Why a class can have attributes that its text does not show. */
  #openReason({ node, decorators }: PythonFunction, members: ReadonlyMap<string, unknown>): PythonLookup | undefined {
    const isDynamic = ['__getattr__', '__getattribute__'].some((name) => members.has(name))
    const hasMeta = /\bmetaclass\s*=/.test(textOf(field(node, 'superclasses') ?? { ...node, end: node.start }))
    const isChanged = decorators.some(
      (one) =>
        !/^@(?:\w+\.)*(?:dataclass|final|total_ordering|runtime_checkable|unique|dataclass_transform|deprecated|attrs?\.(?:s|attrs|define|frozen|mutable))\b/.test(
          textOf(one),
        ),
    )
    const isOpen =
      isDynamic ||
      hasMeta ||
      isChanged ||
      /\bsetattr\(\s*(?:self|cls)\b|\b(?:self|cls)\.__dict__\s*(?:\[|=|\.update)/.test(textOf(node))
    return isOpen ? { state: 'unknown', why: 'the class creates attributes while it runs' } : undefined
  }

  #inBase(
    base: string,
    type: PythonType & { kind: 'class' | 'instance' },
    name: string,
    step: number,
    self: PythonType,
  ): PythonLookup {
    const plain = base.replace(/^([^[]*)\[[\s\S]*\]$/, '$1')
    if (/^(?:\w+\.)*(?:object|ABC|Generic|Protocol)$/.test(plain)) return { state: 'missing' }
    const found = this.#named(plain, type.module, step + 1)
    if (found.kind !== 'class' || found.node === type.node) return { state: 'unknown', why: `${plain} is not known` }
    return this.#inClass({ ...found, kind: type.kind }, name, step + 1, self)
  }

  #member(
    found: readonly PythonName[],
    type: PythonType & { kind: 'class' | 'instance' },
    self: PythonType,
    step: number,
  ): PythonLookup {
    const { module } = type
    const last = found.at(-1)
    if (last === undefined) return { state: 'missing' }
    const at = locatePython(last.node, module)
    if (last.kind === 'class') return { state: 'found', at, type: { ...last, kind: 'class', module } }
    if (last.kind !== 'function') {
      const annotation = last.kind === 'variable' && type.kind === 'instance' ? field(last.node, 'type') : undefined
      return {
        state: 'found',
        at,
        type: annotation === undefined ? FREE_PYTHON : this.annotated(annotation, module, step + 1, self),
      }
    }
    const instance: PythonType = self.kind === 'class' ? { ...self, kind: 'instance' } : self
    if (last.decorators.some((one) => /property\b|\.setter$|\.getter$/.test(textOf(one)))) {
      const result = field(last.node, 'return_type')
      return {
        state: 'found',
        at,
        type: result === undefined ? FREE_PYTHON : this.annotated(result, module, step + 1, instance),
      }
    }
    const definitions = found.flatMap((one) => (one.kind === 'function' ? [{ ...one, module }] : []))
    const isStatic = last.decorators.some((one) => /staticmethod/.test(textOf(one)))
    const isClassMethod = last.decorators.some((one) => /classmethod/.test(textOf(one)))
    const isBound = !isStatic && (type.kind === 'instance' || isClassMethod)
    return { state: 'found', at, type: { kind: 'function', definitions, isBound, self: instance } }
  }

  /** The functions that are called when something is called; undefined if that is not known. */
  callees(
    type: PythonType,
  ): { readonly definitions: readonly PythonFunction[]; readonly isBound: boolean } | undefined {
    if (type.kind === 'function') return type
    if (type.kind !== 'class') return undefined
    const instance: PythonType = { ...type, kind: 'instance' }
    if (this.lookUp(instance, '__new__').state === 'found' || type.decorators.length > 0) return undefined
    const found = this.lookUp(instance, '__init__')
    return found.state === 'found' && found.type.kind === 'function' ? found.type : undefined
  }

  /** What a call returns. */
  resultOf(type: PythonType): PythonType {
    if (type.kind === 'class') return { ...type, kind: 'instance' }
    if (type.kind !== 'function') return FREE_PYTHON
    const [first, ...others] = type.definitions
    if (first === undefined || others.length > 0) return FREE_PYTHON
    const result = field(first.node, 'return_type')
    return result === undefined ? FREE_PYTHON : this.annotated(result, first.module, 0, type.self)
  }

  /** Names of a module or class, to suggest one. */
  namesOf(type: PythonType, step = 0): string[] {
    if (step > MAX_STEPS) return []
    if (type.kind === 'module') {
      const stars = type.module.stars.flatMap((one) => {
        const module = this.#modules.load(one)
        return module === undefined ? [] : this.namesOf({ kind: 'module', module }, step + 1)
      })
      return [...type.module.names.keys(), ...stars]
    }
    if (type.kind !== 'class' && type.kind !== 'instance') return []
    const bases = basesOf(type.node).flatMap((base) => {
      const found = this.#named(base.replace(/^([^[]*)\[[\s\S]*\]$/, '$1'), type.module, step + 1)
      return found.kind === 'class' && found.node !== type.node ? this.namesOf(found, step + 1) : []
    })
    return [...membersOf(type.node).keys(), ...bases]
  }
}

/** Whether a module has a class that extends another one. */
function hasSubclass(node: SyntaxNode, { root }: PythonModule): boolean {
  const name = textOf(field(node, 'name') ?? node)
  return new RegExp(`\\bclass\\s+\\w+\\([^)]*\\b${name}\\b`).test(root.source)
}

/** The attributes that the body of a class defines. */
function membersOf(node: SyntaxNode): ReadonlyMap<string, readonly PythonName[]> {
  const known = MEMBERS.get(node)
  if (known !== undefined) return known
  const members = new Map<string, PythonName[]>()
  const add = (name: string, one: PythonName) => void members.set(name, [...(members.get(name) ?? []), one])
  const read = (block: SyntaxNode) => {
    for (const child of block.children) {
      const definition = child.type === 'decorated_definition' ? field(child, 'definition') : child
      const name = definition === undefined ? undefined : field(definition, 'name')
      if (definition !== undefined && name !== undefined && /^(?:class|function)_definition$/.test(definition.type)) {
        const kind = definition.type === 'class_definition' ? 'class' : 'function'
        add(textOf(name), {
          kind,
          node: definition,
          decorators: child.children.filter(({ type }) => type === 'decorator'),
        })
      } else if (child.type === 'expression_statement') {
        for (const one of assignedNames(child)) add(one.name, { kind: 'variable', node: one.node })
      } else if (/^(?:if_statement|else_clause|elif_clause|try_statement|except_clause|block)$/.test(child.type))
        read(child)
    }
  }
  const body = field(node, 'body') ?? childOf(node, 'block')
  if (body !== undefined) read(body)
  MEMBERS.set(node, members)
  return members
}

const MEMBERS = new WeakMap<SyntaxNode, ReadonlyMap<string, readonly PythonName[]>>()

/** The base classes as written. */
function basesOf(node: SyntaxNode): string[] {
  const list = field(node, 'superclasses')
  return (list?.children ?? []).filter(({ type }) => /^[a-z]\w+$/.test(type) && type !== 'keyword_argument').map(textOf)
}
