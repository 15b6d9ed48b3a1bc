import type { Element, Node } from '../../html/tree.ts'

/**
 * Converts one element to the common form. The element is at `index` of `siblings`. The caller passes both, because searching the children
 * of the parent for each element would take quadratic time.
 */
export type Rule = (element: Element, siblings: readonly Node[], index: number) => void

/** The next element sibling; `undefined` when text comes first. */
export function elementAfter(siblings: readonly Node[], index: number): Element | undefined {
  return elementBeside(siblings, index, 1)
}

/** The previous element sibling; `undefined` when text comes first. */
export function elementBefore(siblings: readonly Node[], index: number): Element | undefined {
  return elementBeside(siblings, index, -1)
}

function elementBeside(siblings: readonly Node[], index: number, direction: 1 | -1): Element | undefined {
  for (let i = index + direction; ; i += direction) {
    const node = siblings[i]
    if (node === undefined) return undefined
    if (typeof node !== 'string') {
      if (node.dropped === undefined) return node
    } else if (node.trim() !== '') return undefined
  }
}

/** The first `limit` descendants of an element in source order, without dropped ones. */
export function listDescendants(root: Element, limit: number): Element[] {
  const found: Element[] = []
  const visit = (element: Element) => {
    for (const child of element.elements()) {
      if (found.length >= limit) return
      found.push(child)
      visit(child)
    }
  }
  visit(root)
  return found
}

/** Moves the children of an element into a new child. */
export function wrapChildren(element: Element, inner: Element): void {
  for (const child of element.children) inner.append(child)
  element.children = []
  element.append(inner)
}

/** The text of an element on one line; `undefined` when it is longer than `limit`. Reading stops at the limit. */
export function shortText(element: Element, limit: number): string | undefined {
  // Allows for white space that is collapsed later.
  let charsLeft = 4 * limit + 200
  let text = ''
  const read = (node: Node): boolean => {
    if (typeof node !== 'string') return node.dropped !== undefined || node.children.every(read)
    charsLeft -= node.length + 1
    text += node
    return charsLeft >= 0
  }
  if (!element.children.every(read)) return undefined
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length <= limit ? line : undefined
}

/** Whether an element has text that is not dropped. */
export function hasText(element: Element): boolean {
  if (element.dropped !== undefined) return false
  return element.children.some((child) => (typeof child === 'string' ? child.trim() !== '' : hasText(child)))
}
