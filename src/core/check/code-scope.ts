import { unionOf } from './bindings.ts'
import { lost, type Type } from './types.ts'

/** The names that a block of the checked code declares. */
export class CodeScope {
  readonly #parent: CodeScope | undefined
  readonly #names = new Map<string, (() => Type)[]>()
  readonly #received = new Set<string>()

  constructor(parent?: CodeScope) {
    this.#parent = parent
  }

  /** Declares a name. A name that is declared twice, as in pasted examples, may be either. */
  declare(name: string, type: () => Type): void {
    const known = this.#names.get(name)
    const once = memoize(type)
    if (known === undefined) this.#names.set(name, [once])
    else known.push(once)
  }

  /** Notes that a callback receives a name, so that other code may have changed its value before. */
  noteReceived(name: string): void {
    this.#received.add(name)
  }

  isReceived(name: string): boolean {
    return this.#names.has(name) ? this.#received.has(name) : this.#parent?.isReceived(name) === true
  }

  /** The type of a name; undefined if the code does not declare it. */
  find(name: string): Type | undefined {
    const types = this.#names.get(name)
    if (types === undefined) return this.#parent?.find(name)
    const [first, ...others] = new Set(types.map((type) => type()))
    return first === undefined || others.length === 0 ? first : { kind: 'union', parts: [first, ...others] }
  }

  has(name: string): boolean {
    return this.#names.has(name) || this.#parent?.has(name) === true
  }
}

/** Runs a function once. A type that depends on itself is not followed. */
function memoize(type: () => Type): () => Type {
  let known: Type | undefined
  let isRunning = false
  return () => {
    if (known !== undefined) return known
    if (isRunning) return lost('it depends on itself')
    isRunning = true
    known = type()
    isRunning = false
    return known
  }
}

/** The type of a value after `await`. `promisedBy` says what a type with a method `then` promises; undefined if it has none. */
export function awaitType(type: Type, promisedBy: (type: Type) => Type | undefined): Type {
  const awaitPart = (part: Type) => awaitType(part, promisedBy)
  if (type.kind === 'promise') return awaitPart(type.value())
  if (type.kind === 'union') return unionOf(type.parts.map(awaitPart))
  if (type.kind === 'open') return { kind: 'open', base: awaitPart(type.base) }
  if (type.kind === 'intersection') {
    const promises = type.parts.filter(({ kind }) => kind === 'promise')
    if (promises.length > 0) return unionOf(promises.map(awaitPart))
  }
  return promisedBy(type) ?? type
}
