import type { DeclaredAt } from './types.ts'

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
