import { INLINE } from '../../html/names.ts'
import { Element, lineOf, type Node } from '../../html/tree.ts'

/* Small changes to the tree that several generators need. */

/** Makes an element that contains nodes. */
export function createElement(
  name: string,
  children: readonly Node[] = [],
  attributes: Readonly<Record<string, string>> = {},
): Element {
  const element = new Element(name, Object.entries(attributes).flat())
  for (const child of children) element.append(child)
  return element
}

/** Puts nodes in the place of all that an element contains. */
export function fill(element: Element, children: readonly Node[]): void {
  element.children = []
  for (const child of children) element.append(child)
}

/** Turns an element into another one in its place. */
export function become(element: Element, name: string, attributes: Readonly<Record<string, string>> = {}): void {
  element.name = name
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value)
}

/** What an element says on one line, where line breaks and cells are as good as spaces. */
export function codeOf(node: Node): string {
  return spaced(node).replace(/\s+/g, ' ').trim()
}

function spaced(node: Node): string {
  if (typeof node === 'string') return node
  if (node.dropped !== undefined) return ''
  if (node.name === 'br') return ' '
  const text = node.children.map(spaced).join('')
  return INLINE.has(node.name) ? text : ` ${text} `
}

/** Leaves only the words of an element, as inline code. An element without words is left as it is. */
export function fillWithCode(element: Element): void {
  const text = codeOf(element)
  if (text !== '') fill(element, [createElement('code', [text])])
}

/** Makes the signature of something that can be called or used. */
export function becomeSignature(element: Element): void {
  const text = codeOf(element)
  if (text === '') return
  become(element, 'Signature')
  fill(element, [text])
}

/** Takes links out of an element; what they contain stays. */
export function unlink(element: Element): void {
  for (const inner of element.descendants()) if (inner.name === 'a' && inner.id === '') inner.name = 'span'
}

/** Makes what an element contains strong, as a heading that leads to nothing. */
export function strengthen(element: Element): void {
  if (lineOf(element) !== '') fill(element, [createElement('strong', element.children)])
}

/** Whether an element has links and all lead to places on the same page, as in a table of its contents. */
export function leadsOnlyHere(element: Element): boolean {
  let hasLinks = false
  for (const inner of element.descendants()) {
    const href = inner.name === 'a' ? inner.attribute('href') : undefined
    if (href === undefined) continue
    if (!href.startsWith('#')) return false
    hasLinks = true
  }
  return hasLinks
}
