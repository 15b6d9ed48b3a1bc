import { type Element, lineOf, type Node } from '../../html/tree.ts'
import { drop } from '../drop.ts'
import type { Survey } from '../survey.ts'
import { lineLength } from './hidden/line-length.ts'

const STEP = 'hidden'

/** A page that says so many times as much without scripts as with them lives by the former. */
const MUCH_MORE = 4

/**
 * Drops what never is text, such as scripts, and what is for browsers without them. Where a page lives by the latter it
 * becomes a part of it: then the answer is true, and what a survey has said about the document no longer holds.
 */
export function removeUnseen({ root, unseen, noscripts }: Survey): boolean {
  for (const element of unseen) drop(element, STEP, element.name)
  const without = noscripts.reduce((sum, element) => sum + lineOf(element).length, 0)
  for (const element of noscripts) drop(element, STEP, 'noscript')
  if (without === 0 || without <= MUCH_MORE * lineLength(root, Math.ceil(without / MUCH_MORE))) return false
  unwrap(noscripts)
  return true
}

/** Puts what elements hold in their place, so that it is a part of the page like any other. */
function unwrap(elements: readonly Element[]): void {
  const wrappers = new Set<Node>(elements)
  for (const parent of new Set(elements.map((element) => element.parent))) {
    if (parent === undefined) continue
    parent.children = parent.children.flatMap((child) =>
      typeof child !== 'string' && wrappers.has(child) ? child.children : child,
    )
    for (const child of parent.children) if (typeof child !== 'string') child.parent = parent
  }
}
