import { locate } from './look-up.ts'
import type { DeclaredAt, Type } from './types.ts'

/** What a finding is about. */
export type PlaceKind = 'import' | 'member' | 'option' | 'call'

/** Result of looking up one place of the code. */
export interface Finding {
  readonly kind: PlaceKind
  /** Name as written: `z.string`, `retries`, `createServer()`. */
  readonly name: string
  /** Line and column in the code, from 1. */
  readonly line: number
  readonly column: number
  readonly verdict: 'exists' | 'missing' | 'unknown'
  /** Module of the import that it belongs to, if that is known. */
  readonly module: string | null
  /** Where it is declared; for a missing name, where the type or module is declared that lacks it. */
  readonly at: DeclaredAt | undefined
  /** For a missing name: the nearest name that exists. */
  readonly nearest: string | undefined
  /** Why it is missing or unknown. */
  readonly why: string
}

/** The declaration that lacks a member. */
export function locateType(type: Type): DeclaredAt | undefined {
  if (type.kind === 'union' || type.kind === 'intersection') {
    return type.parts.map(locateType).find((one) => one !== undefined)
  }
  if (type.kind === 'instance' || type.kind === 'entity') {
    const [first] = type.declarations
    return first === undefined ? undefined : locate(first.node, first.scope)
  }
  if (type.kind === 'module') return locate(type.scope.module.root, type.scope)
  if (type.kind === 'object' || type.kind === 'function') return locate(type.node, type.scope)
  if (type.kind === 'filtered' || type.kind === 'renewed') return locateType(type.of)
  return type.kind === 'open' ? locateType(type.base) : undefined
}

/** The name of a class, interface or namespace; undefined for other types. */
export function nameOfType(type: Type): string | undefined {
  if (type.kind === 'open') return nameOfType(type.base)
  if (type.kind !== 'instance' && type.kind !== 'entity') return undefined
  const name = type.declarations[0]?.name
  return name === 'default' ? undefined : name
}
