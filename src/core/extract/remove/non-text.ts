import { type Element, lineOf, type Node } from '../../html/tree.ts'
import { drop } from '../drop.ts'
import type { ElementIndex } from '../element-index.ts'
import { lineLength } from './hidden/line-length.ts'

const STEP = 'hidden'

/** A page with this many times as much text in `noscript` as elsewhere has its content there. */
const MIN_NOSCRIPT_RATIO = 4

/**
 * Drops elements that are never text, such as scripts, and `noscript` elements. If the content of the page is in `noscript`, it is moved
 * into the page. Then the function returns true, and an earlier index of the document is invalid.
 */
export function removeNonText({ root, nonText, noscripts }: ElementIndex): boolean {
  for (const element of nonText) drop(element, STEP, element.name)
  const noscriptChars = noscripts.reduce((sum, element) => sum + lineOf(element).length, 0)
  for (const element of noscripts) drop(element, STEP, 'noscript')
  if (noscriptChars === 0) return false
  const otherChars = lineLength(root, Math.ceil(noscriptChars / MIN_NOSCRIPT_RATIO))
  if (noscriptChars <= MIN_NOSCRIPT_RATIO * otherChars) return false
  unwrap(noscripts)
  return true
}

/** Replaces elements by their children. */
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
