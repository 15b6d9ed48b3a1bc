import { CHROME_ELEMENTS } from '../../html/element-names.ts'
import { type Element, lineOf, type Node } from '../../html/tree.ts'
import { drop } from '../drop.ts'
import type { ElementIndex } from '../element-index.ts'
import { withoutScriptRequests } from '../refuse/app-shell.ts'
import { lineLength } from './hidden/line-length.ts'
import { isHiddenByItself } from './hidden.ts'

const STEP = 'hidden'

/** A page with this many times as much text in a `noscript` element as content elsewhere has its content there. */
const MIN_NOSCRIPT_RATIO = 4

/**
 * Drops elements that are never text, such as scripts, and `noscript` elements. If the content of the page is in one
 * of these, and not only a request to enable scripts, it is moved into the page. Then the function returns true, and an earlier index of the document is invalid.
 */
export function removeNonText({ root, nonText, noscripts }: ElementIndex): boolean {
  for (const element of nonText) drop(element, STEP, element.name)
  const texts = noscripts.map((element) => ({ element, text: lineOf(element) }))
  for (const element of noscripts) drop(element, STEP, element.name)
  const [longest] = texts.sort((a, b) => b.text.length - a.text.length)
  if (longest === undefined) return false
  const { element, text } = longest
  if (text.length <= MIN_NOSCRIPT_RATIO * contentChars(root, text.length / MIN_NOSCRIPT_RATIO)) return false
  if (withoutScriptRequests(text).length < text.length / 2) return false
  unwrap(element)
  return true
}

/** Characters, up to `limit`, that may be the content of the page: visible, in no link and not in the frame of the site. */
function contentChars(node: Node, limit: number): number {
  if (typeof node === 'string') return lineLength(node, limit)
  if (node.dropped !== undefined || NON_CONTENT.has(node.name) || isHiddenByItself(node)) return 0
  let chars = 0
  for (const child of node.children) if (chars < limit) chars += contentChars(child, limit - chars)
  return chars
}

const NON_CONTENT: ReadonlySet<string> = new Set([...CHROME_ELEMENTS, 'a'])

/** Replaces an element by its children. */
function unwrap(element: Element): void {
  const { parent, children } = element
  if (parent === undefined) return
  parent.children = parent.children.flatMap((child) => (child === element ? children : child))
  for (const child of children) if (typeof child !== 'string') child.parent = parent
}
