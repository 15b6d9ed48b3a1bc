import { LateBindings, unionOf } from './bindings.ts'
import { locate } from './look-up.ts'
import { childOf, field, flatten, named, type SyntaxNode, textOf, typeChild, unquote } from './syntax-tree.ts'
import { type Bindings, FREE, literal, PRIMITIVE, type Resolver, type Scope, type Type } from './types.ts'

/** How many aliases may lead to the literals that `Omit` removes. */
const MAX_ALIASES = 4

/** Whether an object type is mapped: `{ [K in …]: … }`. */
export function isMapped(node: SyntaxNode): boolean {
  return node.children.some(
    (child) => child.type === 'index_signature' && childOf(child, 'mapped_type_clause') !== undefined,
  )
}

/** `{ [K in keyof T]: … }` has the members of T, and `{ [K in 'a' | 'b']: … }` those two, if the keys are taken over as they are. */
export function evaluateMapped(resolver: Resolver, node: SyntaxNode, scope: Scope, bindings: Bindings): Type {
  const signature = childOf(node, 'index_signature')
  const clause = signature === undefined ? undefined : childOf(signature, 'mapped_type_clause')
  const keys = clause === undefined ? undefined : field(clause, 'type')
  if (signature === undefined || clause === undefined || keys === undefined || field(clause, 'alias') !== undefined) {
    return FREE
  }
  const written = field(signature, 'type')
  const value = written === undefined ? undefined : typeChild(written)
  const key = textOf(field(clause, 'name') ?? clause)
  const of = keys.type === 'index_type_query' ? typeChild(keys) : undefined
  if (of === undefined) {
    const names = keysOf(resolver.evaluate(keys, scope, bindings))
    const evaluateValue = (name: string): Type => {
      const inner = new LateBindings(bindings)
      inner.set(key, () => (names === undefined ? PRIMITIVE : literal(name)))
      return value === undefined ? FREE : resolver.evaluate(value, scope, inner)
    }
    return { kind: 'record', names, valueOf: evaluateValue, at: locate(node, scope) }
  }
  const base = resolver.evaluate(of, scope, bindings)
  const isSame = value?.type === 'lookup_type' && textOf(value).replace(/\s/g, '') === `${textOf(of)}[${key}]`
  // The names are those of T, but what they are may have changed.
  return isSame ? base : { kind: 'renewed', of: base }
}

/** `Record<'a' | 'b', T>`, and `Record<string, T>`, which has every member. */
export function evaluateRecord(
  resolver: Resolver,
  [keys, value]: readonly SyntaxNode[],
  scope: Scope,
  bindings: Bindings,
): Type {
  const names = keys === undefined ? undefined : keysOf(resolver.evaluate(keys, scope, bindings))
  if (keys === undefined || value === undefined) return FREE
  return { kind: 'record', names, valueOf: () => resolver.evaluate(value, scope, bindings), at: locate(keys, scope) }
}

/** `Pick<T, K>` and `Omit<T, K>`. Without known names they still have no others than T. */
export function evaluateFiltered(
  resolver: Resolver,
  isKept: boolean,
  [whole, keys]: readonly SyntaxNode[],
  scope: Scope,
  bindings: Bindings,
): Type {
  if (whole === undefined || keys === undefined) return FREE
  const of = resolver.evaluate(whole, scope, bindings)
  // What evaluation cannot decide becomes a larger type. Names may be kept for it, but not removed.
  const names = isKept ? keysOf(resolver.evaluate(keys, scope, bindings)) : readLiterals(resolver, keys, scope)
  return names === undefined ? of : { kind: 'filtered', of, names, isKept }
}

/** `A['b']`, and `A[K]` where K is known. */
export function evaluateLookup(resolver: Resolver, node: SyntaxNode, scope: Scope, bindings: Bindings): Type {
  const [object, key] = named(node)
  if (object === undefined || key === undefined) return FREE
  const type = resolver.evaluate(object, scope, bindings)
  if (key.children[0]?.type === 'number' || textOf(key) === 'number') return type.kind === 'array' ? type.item() : FREE
  const names = keysOf(resolver.evaluate(key, scope, bindings))
  if (names === undefined) return FREE
  const types = [...names].map((name) => {
    const found = resolver.lookUp(type, name)
    return found.state === 'found' ? found.type() : FREE
  })
  return unionOf(types)
}

/** The texts of a union of string literals; undefined if it has other parts. */
function keysOf(type: Type): ReadonlySet<string> | undefined {
  if (type.kind === 'nothing') return new Set()
  const names = new Set<string>()
  for (const part of type.kind === 'union' ? type.parts : [type]) {
    if (part.kind !== 'outside' || part.text === undefined) return undefined
    names.add(part.text)
  }
  return names
}

/** The texts of `'a' | 'b'`, also behind a name; undefined if it is something else. */
function readLiterals(resolver: Resolver, node: SyntaxNode, scope: Scope, depth = 0): ReadonlySet<string> | undefined {
  const names = new Set<string>()
  for (const part of node.type === 'union_type' ? flatten(node, 'union_type') : [node]) {
    const [value] = part.type === 'literal_type' ? part.children : []
    const found = value?.type === 'string' ? [unquote(value)] : readAlias(resolver, part, scope, depth)
    if (found === undefined) return undefined
    for (const name of found) names.add(name)
  }
  return names
}

function readAlias(resolver: Resolver, node: SyntaxNode, scope: Scope, depth: number): ReadonlySet<string> | undefined {
  if (node.type !== 'type_identifier' || depth > MAX_ALIASES) return undefined
  const entity = resolver.findWritten(scope, node)
  if (entity === undefined || entity === 'unknown' || entity.kind !== 'declared') return undefined
  const [first, second] = entity.declarations
  const isAlias = first?.kind === 'type' && second === undefined && field(first.node, 'type_parameters') === undefined
  const value = isAlias ? field(first.node, 'value') : undefined
  return first === undefined || value === undefined ? undefined : readLiterals(resolver, value, first.scope, depth + 1)
}
