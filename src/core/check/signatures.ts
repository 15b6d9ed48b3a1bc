import { getOrAdd } from '../get-or-add.ts'
import { withThis } from './bindings.ts'
import { basesOfClass, memberName, membersOf } from './look-up.ts'
import { childOf, field, fields, named, type SyntaxNode, textOf } from './syntax-tree.ts'
import {
  type Bindings,
  type Declared,
  type Entity,
  NO_BINDINGS,
  type Resolver,
  type Scope,
  type Signature,
  type Type,
} from './types.ts'

/** The signatures by which a type can be called, or constructed with `new`; undefined if they are not known. */
export function listSignatures(resolver: Resolver, type: Type, isNew: boolean): readonly Signature[] | undefined {
  if (resolver.isExhausted() || ('scope' in type && type.scope.module.isCode)) return undefined
  switch (type.kind) {
    case 'function': {
      const { node, scope, bindings } = type
      return (node.type === 'constructor_type') === isNew ? [{ node, scope, bindings }] : []
    }
    case 'object':
      return signaturesIn(membersOf(type.node), type.scope, type.bindings, isNew)
    case 'instance':
      return ofInstance(resolver, type, isNew)
    case 'entity':
      return join(type.declarations.map((one) => ofDeclared(resolver, one, isNew)))
    case 'union':
    case 'intersection':
      return join(type.parts.map((part) => resolver.signatures(part, isNew)))
    case 'nothing':
    case 'module':
      return []
    default:
      return undefined
  }
}

function join(lists: readonly (readonly Signature[] | undefined)[]): readonly Signature[] | undefined {
  return lists.includes(undefined) ? undefined : lists.flatMap((list) => list ?? [])
}

function signaturesIn(members: readonly SyntaxNode[], scope: Scope, bindings: Bindings, isNew: boolean): Signature[] {
  const wanted = isNew ? 'construct_signature' : 'call_signature'
  return members.filter(({ type }) => type === wanted).map((node) => ({ node, scope, bindings }))
}

function ofInstance(
  resolver: Resolver,
  type: Type & { readonly kind: 'instance' },
  isNew: boolean,
): readonly Signature[] | undefined {
  const bindings = withThis(type.bindings, type)
  const all = type.declarations.flatMap((one) => [one, ...resolver.augmentationsOf(one)])
  const own = all.flatMap(({ node, scope }) => signaturesIn(membersOf(node), scope, bindings, isNew))
  if (own.length > 0) return own
  const bases = all.flatMap(({ node, scope }) => {
    const clause = childOf(node, 'extends_type_clause')
    return clause === undefined ? [] : fields(clause, 'type').map((one) => resolver.evaluate(one, scope, bindings))
  })
  return join(bases.map((base) => resolver.signatures(base, isNew)))
}

function ofDeclared(resolver: Resolver, declared: Declared, isNew: boolean): readonly Signature[] | undefined {
  const { kind, node, scope } = declared
  if (kind === 'function') return isNew ? [] : [{ node, scope, bindings: NO_BINDINGS }]
  if (kind === 'class') return isNew ? constructorsOf(resolver, declared) : []
  if (kind === 'variable') {
    const annotation = field(node, 'type')
    return annotation === undefined
      ? undefined
      : resolver.signatures(resolver.evaluate(annotation, scope, NO_BINDINGS), isNew)
  }
  return []
}

function constructorsOf(resolver: Resolver, declared: Declared): readonly Signature[] | undefined {
  const { node, scope } = declared
  // An interface of the same name adds members to the objects of a class.
  const merged = (scope.declarations.get(declared.name) ?? []).filter(({ kind }) => kind === 'interface')
  const entity: Entity = { kind: 'declared', declarations: [declared, ...merged] }
  const own = membersOf(node).filter((member) => memberName(member) === 'constructor')
  const creates = { entity, typeParameters: field(node, 'type_parameters') }
  if (own.length > 0) return own.map((one) => ({ node: one, scope, bindings: NO_BINDINGS, creates }))
  const base = basesOfClass(resolver, declared)
  if (base === undefined) return [{ node: { ...node, children: [] }, scope, bindings: NO_BINDINGS, creates }]
  if (base === 'unknown') return undefined
  const inherited = resolver.signatures(base, true)
  return inherited?.map((one) => ({ ...one, creates }))
}

/** How many arguments a signature takes. */
export interface Arity {
  readonly min: number
  readonly max: number
}

/** The parameters of a signature, without `this`. */
export function parametersOf({ node }: Pick<Signature, 'node'>): SyntaxNode[] {
  const list = field(node, 'parameters')
  if (list === undefined) {
    const single = field(node, 'parameter')
    return single === undefined ? [] : [single]
  }
  return list.children.filter(
    ({ type, children }) => /^(?:required|optional)_parameter$/.test(type) && children[0]?.type !== 'this',
  )
}

export function isRest(parameter: SyntaxNode): boolean {
  return field(parameter, 'pattern')?.type === 'rest_pattern'
}

/** The items of a rest parameter that is written as a tuple: `...args: [a: A, b?: B]`. */
export function tupleOf(parameter: SyntaxNode): readonly SyntaxNode[] | undefined {
  const annotation = field(parameter, 'type')
  const type = annotation === undefined ? undefined : named(annotation)[0]
  return type?.type === 'tuple_type' ? named(type) : undefined
}

/** Whether an item of a tuple stands for any number of items. */
export function isRestItem(item: SyntaxNode): boolean {
  return textOf(item).startsWith('...')
}

/** How many arguments a signature takes. */
export function arityOf(signature: Signature): Arity {
  return getOrAdd(arities, signature.node, () => countArity(signature))
}

const arities = new WeakMap<SyntaxNode, Arity>()

function countArity(signature: Signature): Arity {
  const parameters = parametersOf(signature)
  let min = 0
  let max = 0
  for (const [i, parameter] of parameters.entries()) {
    if (isRest(parameter)) {
      const items = tupleOf(parameter)
      max = items === undefined || items.some(isRestItem) ? Number.POSITIVE_INFINITY : i + items.length
      const required = items?.findLastIndex((item) => !isRestItem(item) && !/^optional_/.test(item.type)) ?? -1
      const rests = items?.slice(0, required + 1).filter(isRestItem).length ?? 0
      if (required >= 0) min = i + required + 1 - rests
      continue
    }
    max = i + 1
    if (isRequired(parameter, signature)) min = i + 1
  }
  return { min, max }
}

function isRequired(parameter: SyntaxNode, { node }: Signature): boolean {
  if (parameter.type === 'optional_parameter' || field(parameter, 'value') !== undefined) return false
  const type = field(parameter, 'type')
  const generic = field(node, 'type_parameters')
  const names = generic === undefined ? [] : named(generic).map((one) => textOf(field(one, 'name') ?? one))
  // Plain JavaScript leaves out what can be undefined, and the type of a generic may be.
  if (type !== undefined && names.includes(textOf(type).replace(/^:\s*/, ''))) return false
  return type === undefined || !named(type).some(canBeUndefined)
}

function canBeUndefined(type: SyntaxNode): boolean {
  if (type.type === 'union_type') return type.children.some(canBeUndefined)
  if (type.type === 'conditional_type') return /\b(?:void|undefined|any|unknown)\b/.test(textOf(type))
  return /^(?:void|undefined|any|unknown)$/.test(textOf(type))
}
