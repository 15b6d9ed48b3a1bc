import type { Element } from '../../html/tree.ts'
import { isNonText } from './by-markup.ts'

/** Length of the text in an element without dropped parts. */
export function textChars(element: Element): number {
  if (element.dropped !== undefined) return 0
  let length = 0
  for (const child of element.children) length += typeof child === 'string' ? child.trim().length : textChars(child)
  return length
}

/** Length of the text that a reader sees, dropped as chrome or not. */
export function visibleChars(element: Element): number {
  if (isInvisible(element)) return 0
  let length = 0
  for (const child of element.children) length += typeof child === 'string' ? child.trim().length : visibleChars(child)
  return length
}

/** Restores elements dropped as chrome, but not invisible ones. */
export function restore(element: Element): void {
  if (isInvisible(element)) return
  element.dropped = undefined
  for (const child of element.children) if (typeof child !== 'string') restore(child)
}

function isInvisible(element: Element): boolean {
  return element.dropped?.step === 'hidden' || isNonText(element)
}
