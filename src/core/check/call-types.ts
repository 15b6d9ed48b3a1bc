import { LateBindings, unionOf } from './bindings.ts'
import { awaitType } from './code-scope.ts'
import { constraintOf, defaultOf } from './evaluate-type.ts'
import { canDecide } from './infer-types.ts'
import { resultOf } from './look-up.ts'
import { arityOf, isRest, isRestItem, parametersOf, tupleOf } from './signatures.ts'
import { field, named, type SyntaxNode, textOf, unquote } from './syntax-tree.ts'
import { type Bindings, FREE, type Resolver, type Signature, type Type } from './types.ts'

/** A call in the checked code. */
export interface Call {
  readonly args: readonly SyntaxNode[]
  /** Types given as `f<A>()`. */
  readonly typeArgs: readonly Type[]
  readonly typeOfArg: (arg: SyntaxNode) => Type
}

/** What is known about a call. */
export interface CallTypes {
  /** Signatures that take this many arguments; all of them if none does. */
  readonly candidates: readonly Signature[]
  /** Whether the number of arguments fits; undefined if it is not known. */
  readonly fits: boolean | undefined
  readonly result: Type
  /** Types of the parameter for an argument. */
  readonly parameter: (index: number) => Type
}

/** Chooses the signatures that a call can mean, and what it returns. */
export function resolveCall(resolver: Resolver, signatures: readonly Signature[], call: Call): CallTypes {
  const hasSpread = call.args.some(({ type }) => type === 'spread_element')
  const count = call.args.length
  const fitting = signatures.filter((signature) => {
    const { min, max } = arityOf(signature)
    return hasSpread || (count >= min && count <= max)
  })
  const pool = fitting.length > 0 ? fitting : signatures
  const chosen = pool.length > 1 ? chooseByShape(resolver, pool, call.args) : pool
  const candidates = chosen.map((signature) => ({ ...signature, bindings: bindCall(resolver, signature, call) }))
  return {
    candidates,
    fits: hasSpread ? undefined : fitting.length > 0,
    result: unionOf(candidates.map((one) => resultOf(resolver, one))),
    parameter: (index) => {
      const arg = call.args[index]
      return unionOf(candidates.map((one) => narrowCallback(resolver, parameterType(resolver, one, index), arg)))
    },
  }
}

/** The signatures whose parameters can receive the literals among the arguments; all of them if none can. */
function chooseByShape(resolver: Resolver, signatures: readonly Signature[], args: readonly SyntaxNode[]) {
  const literals = [...args.entries()].filter(([, { type }]) => LITERALS[type] !== undefined)
  if (literals.length === 0) return signatures
  // The kind of a parameter does not depend on the arguments, so its type is evaluated once for all calls.
  const typed = signatures.map((signature) => {
    const bound = { ...signature, bindings: bindCall(resolver, signature, NO_CALL) }
    return { signature, types: literals.map(([i, arg]) => ({ arg, type: parameterType(resolver, bound, i) })) }
  })
  const chosen = typed.filter(({ types }) => types.every(({ type, arg }) => accepts(type, arg)))
  if (chosen.length === 0) return signatures
  // `on('open', …)` is declared before `on(event: string, …)`, and the first that fits counts.
  const exact = chosen.filter(({ types }) => types.some(({ type, arg }) => isExactly(type, arg)))
  return (exact.length > 0 ? exact : chosen).map(({ signature }) => signature)
}

/** The type of the parameter that receives an argument. */
export function parameterType(resolver: Resolver, { node, scope, bindings }: Signature, index: number): Type {
  const parameters = parametersOf({ node })
  const parameter = parameters[index] ?? parameters.at(-1)
  if (parameter === undefined) return FREE
  const annotation = field(parameter, 'type')
  if (annotation === undefined) return FREE
  const items = isRest(parameter) ? (tupleOf(parameter) ?? []) : []
  const at = index - parameters.length + 1
  const item = items[at]
  if (item !== undefined && !items.slice(0, at + 1).some(isRestItem)) {
    return resolver.evaluate(field(item, 'type') ?? item, scope, bindings)
  }
  const type = resolver.evaluate(annotation, scope, bindings)
  if (isRest(parameter)) return type.kind === 'array' ? type.item() : FREE
  return index < parameters.length ? type : FREE
}

/** Binds the type parameters of a function: to the given types, to types of arguments, or to anything that meets the constraint. */
function bindCall(resolver: Resolver, signature: Signature, { args, typeArgs, typeOfArg }: Call): Bindings {
  const { node, scope, bindings: outer } = signature
  const list = signature.creates?.typeParameters ?? field(node, 'type_parameters')
  if (list === undefined) return outer
  const typeParameters = typeParametersOf(signature, list)
  const isGiven = ({ usedBy }: TypeParameter) => usedBy.some((i) => args[i] !== undefined)
  const dependsOnCall = typeArgs.length > 0 || typeParameters.some(isGiven)
  const known = dependsOnCall ? undefined : boundByDefault.get(outer)?.get(list)
  if (known !== undefined) return known
  const bindings = new LateBindings(outer)
  if (!dependsOnCall) {
    const ofOuter = boundByDefault.get(outer) ?? new WeakMap<SyntaxNode, Bindings>()
    boundByDefault.set(outer, ofOuter.set(list, bindings))
  }
  typeParameters.forEach(({ name, node: parameter, usedBy, at }, i) => {
    const given = typeArgs[i]
    const arg = args[at]
    bindings.set(
      name,
      resolver.defer(() => {
        if (given !== undefined) return given
        if (arg !== undefined) return typeOfArg(arg)
        const isDecided = usedBy.some((index) => {
          const one = args[index]
          const evaluate = (probe: Bindings) => parameterType(resolver, { node, scope, bindings: probe }, index)
          return one !== undefined && canDecide(resolver, name, bindings, one, evaluate)
        })
        return (isDecided ? constraintOf : defaultOf)(resolver, parameter, scope, bindings)
      }),
    )
  })
  return bindings
}

/** Bindings of signatures whose type parameters no argument decides, so that their types are evaluated once. */
const boundByDefault = new WeakMap<Bindings, WeakMap<SyntaxNode, Bindings>>()

/** A type parameter of a function. */
interface TypeParameter {
  readonly name: string
  readonly node: SyntaxNode
  /** Indexes of the parameters whose types mention it. */
  readonly usedBy: readonly number[]
  /** Index of the parameter that has exactly this type; -1 if none has. */
  readonly at: number
}

function typeParametersOf(signature: Signature, list: SyntaxNode): readonly TypeParameter[] {
  // Constructors share the type parameters of their class.
  const ofList = listed.get(list) ?? new WeakMap<SyntaxNode, readonly TypeParameter[]>()
  const known = ofList.get(signature.node)
  if (known !== undefined) return known
  const written = parametersOf(signature).map((one) => writtenType(one))
  const found = named(list).map((node) => {
    const name = textOf(field(node, 'name') ?? node)
    const usedBy = [...written.keys()].filter((i) => mentions(written[i] ?? '', name))
    return { name, node, usedBy, at: written.indexOf(name) }
  })
  listed.set(list, ofList.set(signature.node, found))
  return found
}

function writtenType(parameter: SyntaxNode): string {
  const type = field(parameter, 'type')
  return type === undefined ? '' : textOf(type).replace(/^:\s*/, '')
}

const listed = new WeakMap<SyntaxNode, WeakMap<SyntaxNode, readonly TypeParameter[]>>()

function mentions(type: string, name: string): boolean {
  return new RegExp(`(?<![\\w$])${name.replaceAll('$', '\\$')}(?![\\w$])`).test(type)
}

/** Whether an argument can be meant for a parameter, judged by its kind alone. */
function accepts(type: Type, arg: SyntaxNode): boolean {
  const kind = LITERALS[arg.type]
  if (kind === undefined) return true
  switch (type.kind) {
    case 'union':
      return type.parts.some((part) => accepts(part, arg))
    case 'outside':
      if (type.text !== undefined && arg.type !== 'template_string') return isExactly(type, arg)
      return !type.isPrimitive || kind === 'primitive'
    case 'function':
      return kind === 'function'
    case 'array':
      return kind === 'array'
    case 'nothing':
      return false
    case 'object':
    case 'filtered':
      return kind !== 'primitive'
    case 'instance':
      return kind !== 'primitive'
    default:
      return true
  }
}

/** Whether a type has the value of a string literal as one of its own. */
function isExactly(type: Type, arg: SyntaxNode): boolean {
  if (type.kind === 'union') return type.parts.some((part) => isExactly(part, arg))
  return type.kind === 'outside' && arg.type === 'string' && type.text === unquote(arg)
}

const LITERALS: Readonly<Record<string, 'primitive' | 'function' | 'object' | 'array'>> = {
  string: 'primitive',
  template_string: 'primitive',
  number: 'primitive',
  true: 'primitive',
  false: 'primitive',
  regex: 'object',
  object: 'object',
  array: 'array',
  arrow_function: 'function',
  function_expression: 'function',
}

/** Of the callbacks that one parameter takes, those with the fewest parameters that are enough for a function of the code. */
function narrowCallback(resolver: Resolver, type: Type, arg: SyntaxNode | undefined): Type {
  if (type.kind !== 'union' || LITERALS[arg?.type ?? ''] !== 'function') return type
  const list = arg === undefined ? undefined : field(arg, 'parameters')
  const count = list === undefined ? 1 : named(list).length
  const counts = type.parts.map((part) => {
    const sizes = (resolver.signatures(part, false) ?? []).map((one) => parametersOf(one).length)
    return Math.min(...sizes.filter((size) => size >= count))
  })
  const least = Math.min(...counts)
  if (least === Number.POSITIVE_INFINITY) return type
  return unionOf(type.parts.filter((_, i) => counts[i] === least || counts[i] === Number.POSITIVE_INFINITY))
}

/** The types of the parameters of a callback, by the type of the parameter that it is given for. */
export function callbackParameter(resolver: Resolver, type: Type, count: number, index: number): Type {
  if (type.kind === 'open') return { kind: 'open', base: callbackParameter(resolver, type.base, count, index) }
  const parts = type.kind === 'union' ? type.parts : [type]
  const callable = parts.filter(({ kind }) => kind !== 'array' && kind !== 'outside' && kind !== 'nothing')
  const types: Type[] = []
  for (const part of callable) {
    const signatures = resolver.signatures(part, false)
    if (signatures === undefined) types.push(part.kind === 'lost' ? part : FREE)
    // A function of three parameters is no callback that gets two arguments.
    const wide = (signatures ?? []).filter((one) => {
      const parameters = parametersOf(one)
      return parameters.length >= count || parameters.some(isRest)
    })
    const least = Math.min(...wide.map((one) => parametersOf(one).length))
    const nearest = wide.filter((one) => parametersOf(one).length === least)
    types.push(
      ...nearest.map((one) => parameterType(resolver, { ...one, bindings: bindCall(resolver, one, NO_CALL) }, index)),
    )
  }
  return types.length === 0 ? FREE : unionOf(types)
}

/** What a type with a method `then` promises; undefined if it has no such method. */
export function promisedBy(resolver: Resolver, type: Type): Type | undefined {
  if (!/^(?:instance|object|intersection|filtered)$/.test(type.kind)) return undefined
  const found = resolver.lookUp(type, 'then')
  if (found.state === 'missing') return undefined
  if (found.state !== 'found') return FREE
  const [signature] = resolver.signatures(found.type(), false) ?? []
  return signature === undefined ? FREE : callbackParameter(resolver, parameterType(resolver, signature, 0), 1, 0)
}

const NO_CALL: Call = { args: [], typeArgs: [], typeOfArg: () => FREE }

/** What a method of an array or a promise gives to its callback, and what it returns. */
export interface LanguageCall {
  /** Type of a parameter of the callback. */
  readonly parameter: (index: number) => Type
  readonly result: Type
}

/** A call of a method of an array or a promise; undefined if its types are not known. */
export function languageCall(resolver: Resolver, type: Type, method: string): LanguageCall | undefined {
  if (type.kind === 'array') return ofArray(type, method)
  if (type.kind !== 'promise' || !/^(?:then|catch|finally)$/.test(method)) return undefined
  const value = () => awaitType(type.value(), (one) => promisedBy(resolver, one))
  const isThen = method === 'then'
  return {
    parameter: (index) => (isThen && index === 0 ? value() : FREE),
    result: isThen ? { kind: 'promise', value: () => FREE } : { kind: 'open', base: type },
  }
}

function ofArray(type: Type & { readonly kind: 'array' }, method: string): LanguageCall | undefined {
  const takesItem = /^(?:forEach|map|filter|find|findLast|findIndex|findLastIndex|some|every|flatMap)$/.test(method)
  const takesTwo = /^(?:sort|toSorted)$/.test(method)
  const returnsItem = /^(?:find|findLast|at|pop|shift)$/.test(method)
  const returnsArray = /^(?:filter|slice|reverse|toReversed|sort|toSorted)$/.test(method)
  if (!takesItem && !takesTwo && !returnsItem && !returnsArray) return undefined
  return {
    parameter: (index) => ((index === 0 ? takesItem || takesTwo : index === 1 && takesTwo) ? type.item() : FREE),
    result: returnsItem ? type.item() : returnsArray ? { kind: 'array', item: type.item } : FREE,
  }
}
