import type { Element } from '../html/tree.ts'
import type { NoPageReason, Snapshot } from '../model.ts'
import type { Metadata } from './metadata.ts'

/** Why a document is not a page. */
export interface Refusal {
  readonly reason: NoPageReason
  readonly detail: string
  readonly target: string | null
}

/** Says why a document as a whole is no page, if it is none. `content` is what was taken as its content. */
export function refuse(
  _snapshot: Snapshot,
  _root: Element,
  _content: readonly Element[],
  _metadata: Metadata,
): Refusal | undefined {
  return undefined
}
