import type { SyntaxNode } from './syntax-tree.ts'
import { type Bindings, NO_BINDINGS, type Type } from './types.ts'

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
