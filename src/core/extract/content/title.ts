import type { Element } from '../../html/tree.ts'
import { namesSite } from './site-name.ts'

/** The heading of the page where it stands before what holds the content. */
export function findTitle(root: Element, content: Element): Element | undefined {
  let title: Element | undefined
  for (const element of root.descendants()) {
    if (element === content) return title
    if (element.name === 'h1' && !namesSite(element)) title = element
  }
  return undefined
}
