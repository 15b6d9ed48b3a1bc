import { groupBy } from '../group-by.ts'
import type { SyntaxNode } from './syntax-tree.ts'
import { type Bindings, NO_BINDINGS, NOTHING, type Type } from './types.ts'

/** Binds names to types that are evaluated when they are first asked for. Most parameters of a generic are never needed. */
export class LateBindings implements Bindings {
  /** Types that were evaluated with these bindings. */
  readonly evaluated: Map<SyntaxNode, Type> = new Map()
  readonly #outer: Bindings
  readonly #types = new Map<string, () => Type>()

  constructor(outer: Bindings = NO_BINDINGS) {
    this.#outer = outer
  }

  set(name: string, type: () => Type): void {
    this.#types.set(name, type)
  }

  /** The names that are bound here. */
  get names(): Iterable<string> {
    return this.#types.keys()
  }

  get(name: string): Type | undefined {
    const type = this.#types.get(name)
    return type === undefined ? this.#outer.get(name) : type()
  }
}

/** Bindings with the type of the receiver. The same arguments give the same object, because evaluated types are kept by it. */
export function withThis(bindings: Bindings, self: Type): Bindings {
  let ofBindings = known.get(bindings)
  if (ofBindings === undefined) {
    ofBindings = new WeakMap()
    known.set(bindings, ofBindings)
  }
  let bound = ofBindings.get(self)
  if (bound === undefined) {
    bound = new LateBindings(bindings)
    bound.set('this', () => self)
    ofBindings.set(self, bound)
  }
  return bound
}

const known = new WeakMap<Bindings, WeakMap<Type, LateBindings>>()

/** One of several types. Chains of calls would multiply the parts, so each type is one part, whatever its arguments are. */
export function unionOf(types: readonly Type[]): Type {
  const parts = new Set(types.flatMap((type) => (type.kind === 'union' ? type.parts : [type])))
  parts.delete(NOTHING)
  if (parts.size > 1) mergeInstances(parts)
  const [only] = parts
  if (only === undefined) return NOTHING
  return parts.size === 1 ? only : { kind: 'union', parts: [...parts] }
}

/** Replaces `A<B> | A<C>` by `A<B | C>`, which has at least the same members. */
function mergeInstances(parts: Set<Type>): void {
  const instances = [...parts].filter((part) => part.kind === 'instance')
  const groups = groupBy(instances, ({ declarations }) => declarations[0])
  for (const [first, ...others] of groups.values()) {
    if (first === undefined || others.length === 0) continue
    for (const one of [first, ...others]) parts.delete(one)
    parts.add({
      ...first,
      bindings: joinBindings(
        first.bindings,
        others.map(({ bindings }) => bindings),
      ),
    })
  }
}

/** Bindings of a type to the arguments that any of its instances has. */
function joinBindings(first: Bindings, others: readonly Bindings[]): Bindings {
  if (!(first instanceof LateBindings)) return first
  const all = [first, ...others]
  const joined = new LateBindings()
  for (const name of first.names) {
    let known: { readonly parts: readonly (Type | undefined)[]; readonly type: Type } | undefined
    joined.set(name, () => {
      const given = all.map((one) => one.get(name))
      // The same types give the same object, because what is known about a type is kept by it.
      if (known === undefined || given.some((one, i) => one !== known?.parts[i])) {
        known = { parts: given, type: unionOf(given.flatMap((one) => one ?? [])) }
      }
      return known.type
    })
  }
  return joined
}
