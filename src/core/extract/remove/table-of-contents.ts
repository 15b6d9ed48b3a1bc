import type { Element } from '../../html/tree.ts'
import { drop } from '../drop.ts'

const STEP = 'contents'
const MIN_LINKS = 3

/** Maximum length of the text outside of links in a list that only leads to fragments. */
const MAX_NON_LINK_CHARS = 20

/** Drops lists that only lead to fragments of the same page. */
export function removeTableOfContents(root: Element): void {
  const visit = (element: Element) => {
    const isList = element.name === 'ul' || element.name === 'ol'
    if (isList && hasOnlyFragmentLinks(element)) drop(element, STEP, 'table of contents of the page')
    // Lists inside a list that stays are not checked: they are content like the list around them.
    else if (!isList) for (const child of element.elements()) visit(child)
  }
  visit(root)
}

function hasOnlyFragmentLinks(list: Element): boolean {
  let links = 0
  let otherChars = 0
  const count = (element: Element): boolean => {
    for (const child of element.children) {
      if (typeof child === 'string') otherChars += child.trim().length
      else if (child.dropped !== undefined) continue
      else if (child.name === 'a') {
        if (!/^#./.test(child.attribute('href') ?? '')) return false
        links++
      } else if (!count(child)) return false
      if (otherChars > MAX_NON_LINK_CHARS) return false
    }
    return true
  }
  return count(list) && links >= MIN_LINKS
}
