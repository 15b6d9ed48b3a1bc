import type { Element } from '../../html/tree.ts'
import { drop } from '../drop.ts'

/**
 * Drops every element in a tree for which `reasonOf` returns a reason, and returns whether it dropped any. The content of code blocks is
 * not checked, because class names in it belong to the syntax highlighter.
 */
export function removeMatching(
  root: Element,
  step: string,
  reasonOf: (element: Element) => string | undefined,
): boolean {
  let hasDropped = false
  const visit = (element: Element) => {
    if (element.dropped !== undefined) return
    const reason = reasonOf(element)
    if (reason !== undefined) {
      drop(element, step, reason)
      hasDropped = true
      return
    }
    if (element.name === 'pre') return
    // A loop instead of a generator, because this runs several times for every element of every page.
    for (const child of element.children) if (typeof child !== 'string') visit(child)
  }
  visit(root)
  return hasDropped
}
