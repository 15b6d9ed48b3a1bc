import type { Element, Node } from '../../html/tree.ts'
import type { Rule } from './rule.ts'

/** Gives a lazy-loaded picture the address from its `noscript` fallback. */
export const normalizeImage: Rule = (element, siblings, index) => {
  const noscript = nextElement(siblings, index)
  if (noscript?.name !== 'noscript') return
  const source = imageIn(noscript)?.attribute('src') ?? ''
  if (source !== '') element.setAttribute('Source', source)
}

/** The next element sibling, dropped or not, because `noscript` fallbacks are always dropped. */
function nextElement(siblings: readonly Node[], index: number): Element | undefined {
  for (let i = index + 1; i < siblings.length; i++) {
    const node = siblings[i]
    if (typeof node !== 'string') return node
    if (node.trim() !== '') return undefined
  }
  return undefined
}

/** The only picture in an element. A single pixel is a tracker and does not count. */
function imageIn(parent: Element): Element | undefined {
  const [only, ...others] = parent.children.filter((child) => typeof child !== 'string' || child.trim() !== '')
  if (only === undefined || typeof only === 'string' || others.length > 0) return undefined
  if (only.name !== 'img') return only.name === 'picture' ? imageIn(only) : undefined
  return only.attribute('width') === '1' || only.attribute('height') === '1' ? undefined : only
}
