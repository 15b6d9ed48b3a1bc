import { getOrAdd } from '../get-or-add.ts'
import { LateBindings, unionOf } from './bindings.ts'
import { findPath, importFrom } from './find-names.ts'
import { languageType } from './language-types.ts'
import { resultOf } from './look-up.ts'
import { evaluateFiltered, evaluateLookup, evaluateMapped, evaluateRecord, isMapped } from './mapped-types.ts'
import { isRestItem } from './signatures.ts'
import { childOf, field, flatten, named, type SyntaxNode, textOf, typeChild, unquote } from './syntax-tree.ts'
import {
  type Bindings,
  type Declared,
  type Entity,
  FREE,
  literal,
  lost,
  NO_BINDINGS,
  NOTHING,
  OUTSIDE,
  PRIMITIVE,
  type Resolver,
  type Scope,
  type Type,
} from './types.ts'

/** Evaluates a written type. */
export function evaluateType(resolver: Resolver, node: SyntaxNode, scope: Scope, bindings: Bindings): Type {
  if (resolver.isExhausted()) return lost('too many steps')
  const evaluate = (one: SyntaxNode | undefined): Type =>
    one === undefined ? FREE : resolver.evaluate(one, scope, bindings)
  switch (node.type) {
    case 'type_annotation':
    case 'opting_type_annotation':
    case 'adding_type_annotation':
    case 'omitting_type_annotation':
    case 'parenthesized_type':
    case 'readonly_type':
    case 'optional_type':
    case 'rest_type':
    case 'constraint':
    case 'default_type':
      return evaluate(typeChild(node))
    case 'predefined_type':
      return predefined(textOf(node))
    case 'literal_type':
      return evaluateLiteral(node)
    case 'template_literal_type':
    case 'index_type_query':
    case 'string':
    case 'number':
    case 'true':
    case 'false':
      return PRIMITIVE
    case 'undefined':
    case 'null':
    case 'asserts':
    case 'asserts_annotation':
      return NOTHING
    case 'type_predicate':
    case 'type_predicate_annotation':
      return PRIMITIVE
    case 'this':
    case 'this_type':
      return bindings.get('this') ?? lost('this')
    case 'object_type':
      return isMapped(node)
        ? evaluateMapped(resolver, node, scope, bindings)
        : { kind: 'object', node, scope, bindings }
    case 'function_type':
    case 'constructor_type':
      return { kind: 'function', node, scope, bindings }
    case 'array_type':
      return { kind: 'array', item: () => evaluate(typeChild(node)) }
    case 'tuple_type':
      return evaluateTuple(node, evaluate)
    case 'union_type':
      return unionOf(flatten(node, 'union_type').map(evaluate))
    case 'intersection_type':
      return { kind: 'intersection', parts: flatten(node, 'intersection_type').map(evaluate) }
    case 'type_identifier':
    case 'identifier':
    case 'nested_type_identifier':
    case 'nested_identifier':
    case 'member_expression':
      return evaluateName(resolver, node, [], scope, bindings)
    case 'generic_type': {
      const args = named(childOf(node, 'type_arguments') ?? node)
      return evaluateName(resolver, field(node, 'name') ?? node, args, scope, bindings)
    }
    case 'type_query':
      return evaluateQuery(resolver, node, scope)
    case 'lookup_type':
      return evaluateLookup(resolver, node, scope, bindings)
    case 'conditional_type':
      return evaluateConditional(resolver, node, scope, bindings)
    default:
      return lost('a type that is not followed')
  }
}

function evaluateLiteral(node: SyntaxNode): Type {
  const [value] = node.children
  if (value?.type === 'string') return literal(unquote(value))
  return /^(?:null|undefined)$/.test(textOf(node)) ? NOTHING : PRIMITIVE
}

function evaluateTuple(node: SyntaxNode, evaluate: (one: SyntaxNode | undefined) => Type): Type {
  const items = named(node)
  const evaluateItem = (one: SyntaxNode): Type => {
    const type = evaluate(field(one, 'type') ?? one)
    if (!isRestItem(one)) return type
    return type.kind === 'array' ? type.item() : FREE
  }
  const item = () => unionOf(items.map(evaluateItem))
  const isEmpty = items.length === 0
  return isEmpty || items.some(({ type }) => !/^(?:optional|rest)_/.test(type))
    ? { kind: 'array', item, isEmpty }
    : { kind: 'array', item }
}

function predefined(name: string): Type {
  if (name === 'any' || name === 'unknown' || name === 'object') return FREE
  return name === 'void' || name === 'never' || name === 'undefined' || name === 'null' ? NOTHING : PRIMITIVE
}

/** A name in a type: a parameter of a generic, a declaration, or a type of the language. */
function evaluateName(
  resolver: Resolver,
  node: SyntaxNode,
  args: readonly SyntaxNode[],
  scope: Scope,
  bindings: Bindings,
): Type {
  const name = textOf(node)
  const bound = bindings.get(name)
  if (bound !== undefined) return bound
  const types = () => args.map((one) => resolver.defer(() => resolver.evaluate(one, scope, bindings)))
  const entity = resolver.findWritten(scope, node)
  if (entity === undefined) {
    if (name === 'Record') return evaluateRecord(resolver, args, scope, bindings)
    const builtIn = BUILT_IN[name]
    if (builtIn !== undefined) return builtIn(types(), resolver)
    if (name === 'Pick' || name === 'Omit') return evaluateFiltered(resolver, name === 'Pick', args, scope, bindings)
    const ofLanguage = languageType(name)
    if (ofLanguage !== undefined) return ofLanguage
    return OUTSIDE_NAMES.test(name) ? OUTSIDE : lost(`${name} is not declared in the package`)
  }
  if (entity === 'unknown' && name.startsWith('NodeJS.')) return evaluateNodeType(resolver, node, scope)
  if (entity === 'unknown') return lost(`${name} comes from a module that is not installed`)
  return resolver.typeOf(entity, types())
}

/** A type of the global namespace of Node. Only event emitters are extended often enough to be looked up. */
function evaluateNodeType(resolver: Resolver, node: SyntaxNode, scope: Scope): Type {
  const name = textOf(node)
  const events = name === 'NodeJS.EventEmitter' ? resolver.openModule('node:events', scope.module) : undefined
  const entity = events === undefined ? 'unknown' : findPath(resolver, events, node)
  return entity === 'unknown' ? OUTSIDE : resolver.typeOf(entity, [])
}

/** Classes and types of the language and of Node, whose members are not looked up. */
const OUTSIDE_NAMES =
  /^(?:Date|RegExp|Error|\w+Error|Map|Set|WeakMap|WeakSet|ReadonlyMap|ReadonlySet|Symbol|Function|Object|String|Number|Boolean|BigInt|\w*Array|ArrayBuffer\w*|SharedArrayBuffer|DataView|Buffer|URL|URLSearchParams|AbortSignal|AbortController|Request|Response|Headers|FormData|Blob|File|\w*Stream\w*|Event\w*|\w*Event|\w*Element|Document|Node|Window|Worker|WebSocket|Intl\..*|NodeJS\..*|globalThis|Iterator|Iterable|IterableIterator|AsyncIterable|AsyncIterator|AsyncIterableIterator|Generator|AsyncGenerator|Timeout|RequestInit|BodyInit|HeadersInit|PropertyKey|TemplateStringsArray|Capitalize|Uncapitalize|Lowercase|Uppercase|Console|Crypto\w*|JsonWebKey|Storage|PropertyDescriptor|ClassDecorator|\w+Decorator)$/

type BuiltIn = (args: readonly (() => Type)[], resolver: Resolver) => Type

const anything = () => FREE

const first: BuiltIn = ([type = anything]) => type()
const array: BuiltIn = ([item = anything]) => ({ kind: 'array', item })
const promise: BuiltIn = ([value = anything]) => ({ kind: 'promise', value })

/** What a function returns, or the objects that a class creates. */
function resultsOf(resolver: Resolver, [of = anything]: readonly (() => Type)[], isNew: boolean): Type {
  const type = of()
  const signatures = resolver.signatures(type.kind === 'open' ? type.base : type, isNew) ?? []
  if (signatures.length === 0) return FREE
  const result = unionOf(signatures.map((one) => resultOf(resolver, one)))
  return type.kind === 'open' ? { kind: 'open', base: result } : result
}

const BUILT_IN: Readonly<Record<string, BuiltIn>> = {
  ...{ Promise: promise, PromiseLike: promise, Array: array, ReadonlyArray: array },
  ...{
    Partial: first,
    Required: first,
    Readonly: first,
    NonNullable: first,
    NoInfer: first,
    Exclude: first,
    Extract: first,
  },
  Awaited: ([of = anything]) => {
    const type = of()
    return type.kind === 'promise' ? type.value() : type
  },
  ThisType: () => ({ kind: 'intersection', parts: [] }),
  ReturnType: (args, resolver) => resultsOf(resolver, args, false),
  InstanceType: (args, resolver) => resultsOf(resolver, args, true),
  Parameters: () => FREE,
  ConstructorParameters: () => FREE,
}

/** `typeof a.b` */
function evaluateQuery(resolver: Resolver, node: SyntaxNode, scope: Scope): Type {
  const target = named(node).at(-1)
  if (target === undefined) return lost('typeof')
  const path = target.type === 'instantiation_expression' ? (named(target)[0] ?? target) : target
  const entity = findPath(resolver, scope, path)
  return entity === 'unknown' ? lost(`typeof ${textOf(target)}`) : resolver.valueOf(entity)
}

/** A conditional type is one of its branches. Which one depends on types of the user, so it may be either. */
function evaluateConditional(resolver: Resolver, node: SyntaxNode, scope: Scope, bindings: Bindings): Type {
  const consequence = field(node, 'consequence')
  const alternative = field(node, 'alternative')
  const isTrue = decideCondition(resolver, node, scope, bindings)
  const branches = isTrue === undefined ? [consequence, alternative] : [isTrue ? consequence : alternative]
  const names = inferredNames(field(node, 'right'))
  const inner = names.length === 0 ? bindings : new LateBindings(bindings)
  // `infer T` stands for a part of what the user gives.
  if (inner instanceof LateBindings) for (const name of names) inner.set(name, anything)
  const types = branches.flatMap((one) => {
    if (one === undefined) return []
    const given = one === consequence ? inner : bindings
    // `A ? B : C ? D : E` is one choice of three.
    const isNext = one === alternative && one.type === 'conditional_type'
    if (isTrue !== undefined || isNext) return [resolver.evaluate(one, scope, given)]
    return [resolver.evaluateChoice(one, scope, given)]
  })
  return unionOf(types)
}

/** The names that a condition introduces by `infer`. */
function inferredNames(condition: SyntaxNode | undefined): readonly string[] {
  if (condition === undefined) return []
  return getOrAdd(inferred, condition, () =>
    [...textOf(condition).matchAll(/\binfer\s+([\w$]+)/g)].map(([, name = '']) => name),
  )
}

const inferred = new WeakMap<SyntaxNode, readonly string[]>()

/** Decides `T extends []`, and `number extends T['length']`, by which recursive types end; undefined for other conditions. */
function decideCondition(resolver: Resolver, node: SyntaxNode, scope: Scope, bindings: Bindings): boolean | undefined {
  const left = field(node, 'left')
  const right = field(node, 'right')
  if (left === undefined || right === undefined) return undefined
  const isOfNumber =
    textOf(left) === 'number' && right.type === 'lookup_type' && /\[\s*(['"])length\1/.test(textOf(right))
  const list = isOfNumber ? named(right)[0] : /^(?:readonly\s*)?\[\s*\]$/.test(textOf(right)) ? left : undefined
  const type = list === undefined ? undefined : resolver.evaluate(list, scope, bindings)
  if (type?.kind !== 'array' || type.isEmpty === undefined) return undefined
  return isOfNumber ? false : type.isEmpty
}

/** The type that an entity names. */
export function typeOfEntity(resolver: Resolver, entity: Entity, args: readonly (() => Type)[]): Type {
  if (entity.kind === 'value') return entity.type
  if (entity.kind === 'module') return { kind: 'module', scope: entity.scope }
  const types = entity.declarations.filter(({ kind }) => TYPES.has(kind))
  const [first] = types
  if (first === undefined) return lost('it is a value and no type')
  if (first.kind === 'enum') return PRIMITIVE
  const bindings = bindParameters(resolver, first, args)
  if (first.kind !== 'type') return { kind: 'instance', declarations: types, bindings }
  const value = field(first.node, 'value')
  return value === undefined ? lost('a type without value') : resolver.evaluateAlias(value, first.scope, bindings)
}

const TYPES: ReadonlySet<string> = new Set(['class', 'interface', 'type', 'enum'])

/** Binds the type parameters of a declaration to arguments, or to their defaults. */
function bindParameters(resolver: Resolver, { node, scope }: Declared, args: readonly (() => Type)[]): Bindings {
  const list = field(node, 'type_parameters')
  if (list === undefined) return NO_BINDINGS
  const bindings = new LateBindings()
  named(list).forEach((parameter, i) => {
    const name = textOf(field(parameter, 'name') ?? parameter)
    bindings.set(name, args[i] ?? resolver.defer(() => defaultOf(resolver, parameter, scope, bindings)))
  })
  return bindings
}

/** What a type parameter stands for if nothing is given: its default, or anything that meets its constraint. */
export function defaultOf(resolver: Resolver, parameter: SyntaxNode, scope: Scope, bindings: Bindings): Type {
  const value = field(parameter, 'value')
  return value === undefined
    ? constraintOf(resolver, parameter, scope, bindings)
    : resolver.evaluate(value, scope, bindings)
}

/** Anything that meets the constraint of a type parameter. */
export function constraintOf(resolver: Resolver, parameter: SyntaxNode, scope: Scope, bindings: Bindings): Type {
  const constraint = field(parameter, 'constraint')
  if (constraint === undefined) return FREE
  return { kind: 'open', base: resolver.evaluate(constraint, scope, bindings) }
}

/** The type of the value that an entity has. */
export function valueOfEntity(resolver: Resolver, entity: Entity): Type {
  if (entity.kind === 'value') return entity.type
  if (entity.kind === 'module') {
    const whole = importFrom(resolver, entity.scope, '*')
    if (whole === 'unknown') return lost('the module is one value that is not followed')
    return whole.kind === 'module' ? { kind: 'module', scope: whole.scope } : resolver.valueOf(whole)
  }
  const values = entity.declarations.filter(({ kind }) => kind !== 'interface' && kind !== 'type')
  if (values.length === 0) return lost('it is a type and no value')
  const [variable] = values.filter(({ kind }) => kind === 'variable')
  if (variable === undefined || values.length > 1) return { kind: 'entity', declarations: values }
  return valueOfVariable(resolver, variable)
}

/** The type of a declared variable. */
export function valueOfVariable(resolver: Resolver, { node, scope }: Declared): Type {
  const annotation = field(node, 'type')
  if (annotation !== undefined) return resolver.evaluate(annotation, scope, NO_BINDINGS)
  const value = field(node, 'value')
  if (value === undefined) return FREE
  return /^(?:string|number|true|false|template_string|unary_expression)$/.test(value.type)
    ? PRIMITIVE
    : lost('a variable without written type')
}
