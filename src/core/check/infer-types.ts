import { LateBindings } from './bindings.ts'
import { resultOf } from './look-up.ts'
import { field, named, type SyntaxNode, textOf, unquote } from './syntax-tree.ts'
import { type Bindings, FREE, NO_BINDINGS, type Resolver, type Type } from './types.ts'

/** How deep literals and types are searched. */
const MAX_DEPTH = 4

/** Evaluates the type of a parameter with the given type parameters. */
export type EvaluateParameter = (bindings: Bindings) => Type

/**
 * Whether an argument can decide what a type parameter stands for. An object literal decides by its properties, a function by its result.
 * Of other arguments it is not known.
 */
export function canDecide(
  resolver: Resolver,
  name: string,
  bindings: Bindings,
  arg: SyntaxNode,
  evaluate: EvaluateParameter,
): boolean {
  if (arg.type !== 'object' && !FUNCTIONS.test(arg.type)) return !LITERALS.test(arg.type)
  let isAsked = false
  const probe = new LateBindings(bindings)
  probe.set(name, () => {
    isAsked = true
    return FREE
  })
  const isOpen = mayContain(resolver, evaluate(probe), arg, 0)
  return isAsked || isOpen
}

const FUNCTIONS = /^(?:arrow_function|function_expression)$/
const LITERALS = /^(?:string|template_string|number|true|false|null|undefined|regex)$/

/** Whether the part of a type that a literal is given for may contain types that were not evaluated. */
function mayContain(resolver: Resolver, type: Type, node: SyntaxNode, depth: number): boolean {
  if (depth > MAX_DEPTH) return true
  if (FUNCTIONS.test(node.type)) return mayReturn(resolver, type, node)
  if (node.type !== 'object') return !isPlain(type)
  return named(node).some((entry) => {
    const key = field(entry, 'key') ?? entry
    const value = field(entry, 'value') ?? entry
    if (!/^(?:pair|shorthand_property_identifier)$/.test(entry.type)) return true
    if (!/^(?:property_identifier|string|shorthand_property_identifier)$/.test(key.type)) return true
    const found = resolver.lookUp(type, key.type === 'string' ? unquote(key) : textOf(key))
    // What the type does not have decides nothing.
    if (found.state !== 'found') return found.state === 'unknown'
    return mayContain(resolver, found.type(), value, depth + 1)
  })
}

/** Whether the result of a function may contain types that were not evaluated. Its parameters count if the code gives them types. */
function mayReturn(resolver: Resolver, type: Type, node: SyntaxNode): boolean {
  const parameters = field(node, 'parameters')
  if (parameters !== undefined && named(parameters).some((one) => field(one, 'type') !== undefined)) return true
  const parts = type.kind === 'union' ? type.parts : [type]
  return parts.some((part) => {
    const signatures = resolver.signatures(part, false)
    return signatures === undefined || signatures.some((one) => !isPlain(resultOf(resolver, one)))
  })
}

/** Whether a type is evaluated as a whole, without parts that are left for later. */
function isPlain(type: Type, depth = 0): boolean {
  switch (type.kind) {
    case 'free':
    case 'lost':
    case 'outside':
    case 'language':
    case 'nothing':
      return true
    case 'array':
      return depth < MAX_DEPTH && isPlain(type.item(), depth + 1)
    case 'promise':
      return depth < MAX_DEPTH && isPlain(type.value(), depth + 1)
    case 'union':
      return type.parts.every((part) => isPlain(part, depth))
    case 'open':
      return isPlain(type.base, depth)
    case 'instance':
      return type.bindings === NO_BINDINGS
    default:
      return false
  }
}
