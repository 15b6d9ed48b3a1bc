import { unionOf } from './bindings.ts'
import { type Call, callbackParameter, languageCall, promisedBy, resolveCall } from './call-types.ts'
import type { CodeImports } from './code-imports.ts'
import { awaitType, type CodeScope } from './code-scope.ts'
import { type Finding, locateType, nameOfType, type PlaceKind } from './finding.ts'
import { locate } from './look-up.ts'
import { findNearestName } from './nearest-name.ts'
import type { TypeResolver } from './resolver.ts'
import { arityOf } from './signatures.ts'
import { childOf, field, named, type SyntaxNode, textOf, unquote } from './syntax-tree.ts'
import {
  FREE,
  type Lookup,
  literal,
  lost,
  NO_BINDINGS,
  OUTSIDE,
  PRIMITIVE,
  type Scope,
  type Signature,
  type Type,
} from './types.ts'

/** Names longer than this are shortened in findings. */
const MAX_NAME_CHARS = 60

/** Finds out the types of expressions, and reports each member, option and call on the way, once. */
export class ExpressionChecker {
  readonly #resolver: TypeResolver
  readonly #imports: CodeImports
  /** The scope of types of the code. */
  readonly #types: Scope
  /** Names of members that the code assigns to. */
  readonly #assigned: ReadonlySet<string>
  readonly #report: (finding: Finding) => void
  readonly #known = new Map<SyntaxNode, Type>()
  readonly #contexts = new Map<SyntaxNode, Type>()
  /** What methods of the language give to callbacks. */
  readonly #received = new Map<SyntaxNode, (index: number) => Type>()

  constructor(
    resolver: TypeResolver,
    imports: CodeImports,
    types: Scope,
    assigned: ReadonlySet<string>,
    report: (finding: Finding) => void,
  ) {
    this.#assigned = assigned
    this.#resolver = resolver
    this.#imports = imports
    this.#types = types
    this.#report = report
  }

  /** The type of an expression. */
  typeOf(node: SyntaxNode, scope: CodeScope): Type {
    const known = this.#known.get(node)
    if (known !== undefined) return known
    // An expression whose type depends on itself.
    this.#known.set(node, lost('it depends on itself'))
    const type = this.#evaluate(node, scope)
    this.#known.set(node, type)
    return type
  }

  /** The type that is written in the code. */
  annotated(annotation: SyntaxNode): Type {
    return this.#resolver.evaluate(annotation, this.#types, NO_BINDINGS)
  }

  /** The type of a parameter of a function in the code. */
  typeOfParameter(fn: SyntaxNode, count: number, index: number): Type {
    const received = this.#received.get(fn)
    if (received !== undefined) return received(index)
    const context = this.#contexts.get(fn)
    return context === undefined ? FREE : callbackParameter(this.#resolver, context, count, index)
  }

  /** The type of a member that is taken from a value. Reports it. */
  typeOfMember(
    type: Type,
    name: string,
    node: SyntaxNode,
    label: string,
    { kind = 'member', isReceived = false }: { readonly kind?: PlaceKind; readonly isReceived?: boolean } = {},
  ): Type {
    const found = this.#lookUp(type, name, isReceived)
    // CommonJS modules have this for ECMAScript modules, even if it is not declared.
    if (name === 'default' && found.state === 'missing' && label.startsWith('require(')) return type
    this.#reportLookup(found, type, name, node, label, kind)
    if (found.state === 'found') return found.type()
    if (found.state === 'outside') return FREE
    return lost(found.state === 'missing' ? `${label} does not exist` : found.why)
  }

  /** Looks up a member. Code that runs can add members to what it receives, and to what all packages share, such as requests. */
  #lookUp(type: Type, name: string, isReceived: boolean): Lookup {
    const found = this.#resolver.lookUpMember(type, name)
    if (found.state !== 'missing') return found
    const isExtended = this.#assigned.has(name) && (isReceived || found.isShared === true)
    if (isExtended) return { state: 'unknown', why: 'the code adds it' }
    if (found.isShared !== true) return found
    const [plugin] = isReceived ? this.#resolver.missingPackages : []
    return plugin === undefined ? found : { state: 'unknown', why: `${plugin} may add it, and has no declarations` }
  }

  #evaluate(node: SyntaxNode, scope: CodeScope): Type {
    const inner = (name: string): Type => {
      const child = field(node, name)
      return child === undefined ? FREE : this.typeOf(child, scope)
    }
    switch (node.type) {
      case 'identifier':
      case 'shorthand_property_identifier':
        return scope.find(textOf(node)) ?? FREE
      case 'member_expression':
        return this.#evaluateMember(node, scope)
      case 'call_expression':
        return this.#evaluateCall(node, scope)
      case 'new_expression':
        return this.#checkCall(node, inner('constructor'), true, scope)
      case 'await_expression': {
        const [value] = named(node)
        return value === undefined ? FREE : this.#await(this.typeOf(value, scope))
      }
      case 'satisfies_expression': {
        const [value, type] = named(node)
        if (value === undefined) return FREE
        if (type !== undefined) this.give(value, this.annotated(type), scope)
        return this.typeOf(value, scope)
      }
      case 'parenthesized_expression':
      case 'non_null_expression': {
        const [value] = named(node)
        return value === undefined ? FREE : this.typeOf(value, scope)
      }
      case 'as_expression': {
        const [value, type] = named(node)
        if (value !== undefined) this.typeOf(value, scope)
        return type === undefined || textOf(type) === 'const' ? FREE : this.annotated(type)
      }
      case 'ternary_expression':
        return unionOf([inner('consequence'), inner('alternative')])
      case 'binary_expression': {
        const operator = textOf(field(node, 'operator') ?? node)
        if (operator === '||' || operator === '??') return unionOf([inner('left'), inner('right')])
        return operator === '&&' ? inner('right') : PRIMITIVE
      }
      case 'assignment_expression':
        return inner('right')
      case 'subscript_expression': {
        const object = inner('object')
        return object.kind === 'array' ? object.item() : FREE
      }
      case 'array':
        return { kind: 'array', item: () => unionOf(named(node).map((one) => this.typeOf(one, scope))) }
      case 'string':
        return literal(unquote(node))
      case 'template_string':
      case 'number':
      case 'true':
      case 'false':
        return PRIMITIVE
      case 'object':
      case 'arrow_function':
      case 'function_expression':
        return OUTSIDE
      default:
        return FREE
    }
  }

  /** Whether a node is of the code itself, not of code before it. */
  #isChecked({ source }: SyntaxNode): boolean {
    return source === this.#types.module.root.source
  }

  #evaluateMember(node: SyntaxNode, scope: CodeScope): Type {
    const object = field(node, 'object')
    const property = field(node, 'property')
    if (object === undefined || property === undefined || property.type !== 'property_identifier') return FREE
    const type = this.typeOf(object, scope)
    const root = rootOf(object)
    const isReceived = root.type === 'identifier' && scope.isReceived(textOf(root))
    return this.typeOfMember(type, textOf(property), property, shorten(node), { isReceived })
  }

  #evaluateCall(node: SyntaxNode, scope: CodeScope): Type {
    const called = field(node, 'function')
    if (called === undefined) return FREE
    const specifier = specifierOf(node)
    if (specifier !== undefined && called.type === 'import') {
      if (this.#isChecked(node)) this.#imports.check(specifier, '*', node)
      return { kind: 'promise', value: () => this.#imports.typeOf(specifier, '*') }
    }
    if (specifier !== undefined && textOf(called) === 'require' && !scope.has('require')) {
      if (this.#isChecked(node)) this.#imports.check(specifier, '*', node, true)
      return this.#imports.typeOfRequired(specifier)
    }
    const known = this.#callLanguage(called, node, scope)
    if (known !== undefined) return known
    // The grammar reads `await f<T>()` as a call of `await f`.
    const [awaited] = called.type === 'await_expression' ? named(called) : []
    if (awaited !== undefined) return this.#await(this.#checkCall(node, this.typeOf(awaited, scope), false, scope))
    return this.#checkCall(node, this.typeOf(called, scope), false, scope)
  }

  /** A call of a method of an array or a promise. Its callbacks get the items, or the value. */
  #callLanguage(called: SyntaxNode, node: SyntaxNode, scope: CodeScope): Type | undefined {
    const object = called.type === 'member_expression' ? field(called, 'object') : undefined
    const property = field(called, 'property')
    const list = field(node, 'arguments')
    if (object === undefined || property === undefined || list === undefined) return undefined
    const found = languageCall(this.#resolver, this.typeOf(object, scope), textOf(property))
    const [callback] = named(list)
    if (found !== undefined && callback !== undefined && FUNCTIONS.test(callback.type)) {
      this.#received.set(callback, found.parameter)
    }
    return found?.result
  }

  #await(type: Type): Type {
    return awaitType(type, (one) => promisedBy(this.#resolver, one))
  }

  /** Checks the arguments of a call, and returns what it returns. */
  #checkCall(node: SyntaxNode, callee: Type, isNew: boolean, scope: CodeScope): Type {
    const list = field(node, 'arguments')
    const args = list === undefined || list.type === 'template_string' ? [] : named(list)
    const isOpen = callee.kind === 'open'
    const signatures = this.#signatures(isOpen ? callee.base : callee, isNew)
    if (signatures === undefined || signatures.length === 0) {
      if (callee.kind === 'free' || callee.kind === 'outside' || callee.kind === 'open') return FREE
      if (this.#isNoFunction(callee, isNew)) return this.#reportNoFunction(node, callee, isNew)
      const unknown = callee.kind === 'lost' ? callee : lost('it is not known how it is called')
      for (const arg of args) this.give(arg, unknown, scope)
      return unknown
    }
    const call: Call = {
      args,
      typeArgs: named(childOf(node, 'type_arguments') ?? { ...node, children: [] }).map((one) => this.annotated(one)),
      typeOfArg: (arg) => this.typeOf(arg, scope),
    }
    const { fits, candidates, result, parameter } = resolveCall(this.#resolver, signatures, call)
    const isClear = list?.type !== 'template_string' && list?.children.every(({ type }) => type !== 'ERROR') !== false
    if (isClear && !isOpen) this.#reportArity(node, isNew, fits, candidates, args.length)
    args.forEach((arg, i) => {
      if (arg.type !== 'object' && arg.type !== 'array' && !FUNCTIONS.test(arg.type)) return
      this.give(arg, isOpen ? { kind: 'open', base: parameter(i) } : parameter(i), scope)
    })
    return isOpen ? { kind: 'open', base: result } : result
  }

  /** An ECMAScript module is no function. A CommonJS module may be one, even if its declarations do not say so. */
  #isNoFunction(callee: Type, isNew: boolean): boolean {
    if (callee.kind === 'module') return callee.scope.module.package.isEsmOnly
    // What can only be called is also constructed by old code.
    return (
      callee.kind === 'instance' &&
      !callee.declarations.some(({ scope }) => scope.module.isCode) &&
      [isNew, !isNew].every((one) => this.#resolver.signatures(callee, one)?.length === 0)
    )
  }

  /** Reports a call of something that is no function. */
  #reportNoFunction(node: SyntaxNode, callee: Type, isNew: boolean): Type {
    const called = field(node, isNew ? 'constructor' : 'function') ?? node
    const name = `${isNew ? 'new ' : ''}${shorten(called)}()`
    const why = `${shorten(called)} is ${callee.kind === 'module' ? 'a module' : 'an object'} and no function`
    const place = { line: called.row + 1, column: called.column + 1, module: null }
    if (this.#isChecked(node)) {
      const at = locateType(callee)
      this.#report({ kind: 'call', name, ...place, verdict: 'missing', at, nearest: undefined, why })
    }
    return lost(why)
  }

  /** The signatures of a value. Parts of a union that are not known are left out if others can be called. */
  #signatures(callee: Type, isNew: boolean): readonly Signature[] | undefined {
    if (callee.kind !== 'union') return this.#resolver.signatures(callee, isNew)
    const lists = callee.parts.map((part) => this.#resolver.signatures(part, isNew))
    return lists.includes(undefined) ? undefined : lists.flatMap((one) => one ?? [])
  }

  /** Gives a literal to something of a type: the keys of an object are its options, a function gets its parameters. */
  give(node: SyntaxNode, type: Type, scope: CodeScope): void {
    if (FUNCTIONS.test(node.type) || node.type === 'method_definition') return void this.#contexts.set(node, type)
    if (node.type === 'array') {
      const lists = (type.kind === 'union' ? type.parts : [type]).filter((part) => part.kind === 'array')
      if (lists.length > 0)
        for (const one of named(node)) this.give(one, unionOf(lists.map((part) => part.item())), scope)
      return
    }
    if (node.type !== 'object') return
    const parts = (type.kind === 'union' ? type.parts : [type]).filter(isOptionType)
    if (parts.length === 0) return
    const options = unionOf(parts)
    for (const entry of node.children) {
      const key = field(entry, 'key') ?? field(entry, 'name') ?? entry
      if (!/^(?:pair|method_definition|shorthand_property_identifier)$/.test(entry.type)) continue
      if (!/^(?:property_identifier|string|shorthand_property_identifier)$/.test(key.type)) continue
      const name = key.type === 'string' ? unquote(key) : textOf(key)
      const found = this.typeOfMember(options, name, key, name, { kind: 'option' })
      const value = field(entry, 'value')
      if (value !== undefined) this.give(value, found, scope)
      else if (entry.type === 'method_definition') this.#contexts.set(entry, found)
    }
  }

  #reportLookup(found: Lookup, type: Type, name: string, node: SyntaxNode, label: string, kind: PlaceKind): void {
    if (!this.#isChecked(node) || found.state === 'outside' || (found.state === 'found' && found.at === undefined))
      return
    const place = { kind, name: label, line: node.row + 1, column: node.column + 1, module: null }
    if (found.state === 'found') {
      this.#report({ ...place, verdict: 'exists', at: found.at, nearest: undefined, why: '' })
    } else if (found.state === 'unknown') {
      this.#report({ ...place, verdict: 'unknown', at: undefined, nearest: undefined, why: found.why })
    } else {
      const nearest = findNearestName(name, this.#resolver.namesOf(type))
      const owner = nameOfType(type)
      const why = owner === undefined ? `no ${kind} ${name}` : `${owner} has no ${kind} ${name}`
      this.#report({ ...place, verdict: 'missing', at: locateType(type), nearest, why })
    }
  }

  #reportArity(
    node: SyntaxNode,
    isNew: boolean,
    fits: boolean | undefined,
    candidates: readonly Signature[],
    count: number,
  ): void {
    const [first] = candidates
    if (fits === undefined || first === undefined) return
    const called = field(node, isNew ? 'constructor' : 'function') ?? node
    const place = { line: called.row + 1, column: called.column + 1, module: null }
    const verdict = fits ? 'exists' : 'missing'
    const counts = candidates.map(arityOf)
    // A callback that a function receives may be called with less.
    const isCallback = called.type === 'identifier' && first.node.type === 'function_type'
    if (isCallback && counts.some(({ max }) => count <= max)) return
    const why = fits ? '' : `takes ${writeCounts(counts)}, got ${count}`
    const name = `${isNew ? 'new ' : ''}${shorten(called)}()`
    this.#report({
      kind: 'call',
      name,
      ...place,
      verdict,
      at: locate(first.node, first.scope),
      nearest: undefined,
      why,
    })
  }
}

const FUNCTIONS = /^(?:arrow_function|function_expression)$/

/** Whether the keys of an object literal can be options of a type. */
function isOptionType(type: Type): boolean {
  return (
    !/^(?:function|array|nothing|promise|entity|module)$/.test(type.kind) &&
    !(type.kind === 'outside' && type.isPrimitive)
  )
}

function writeCounts(counts: readonly { readonly min: number; readonly max: number }[]): string {
  const min = Math.min(...counts.map((one) => one.min))
  const max = Math.max(...counts.map((one) => one.max))
  const noun = max === 1 ? 'argument' : 'arguments'
  if (max === Number.POSITIVE_INFINITY) return `at least ${min} ${min === 1 ? 'argument' : 'arguments'}`
  return min === max ? `${min} ${noun}` : `${min} to ${max} ${noun}`
}

/** The first object of `a.b.c`. */
function rootOf(node: SyntaxNode): SyntaxNode {
  const object = node.type === 'member_expression' ? field(node, 'object') : undefined
  return object === undefined ? node : rootOf(object)
}

/** The module of `require('…')` or `import('…')`. */
function specifierOf(call: SyntaxNode): string | undefined {
  const list = field(call, 'arguments')
  const [first, second] = list === undefined ? [] : named(list)
  return first?.type === 'string' && second === undefined ? unquote(first) : undefined
}

/** The source of an expression on one line, shortened. */
function shorten(node: SyntaxNode): string {
  const text = textOf(node)
    .replace(/\s+/g, ' ')
    .replace(/ ?\. ?/g, '.')
  return text.length <= MAX_NAME_CHARS ? text : `…${text.slice(-MAX_NAME_CHARS)}`
}
