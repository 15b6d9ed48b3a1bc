import { INLINE_ELEMENTS } from '../../html/element-names.ts'
import { findAll } from '../../html/selector.ts'
import { Element, lineOf, type Node } from '../../html/tree.ts'

/* Small changes to the tree that several generators need. */

/** Creates an element with child nodes. */
export function createElement(
  name: string,
  children: readonly Node[] = [],
  attributes: Readonly<Record<string, string>> = {},
): Element {
  const element = new Element(name, Object.entries(attributes).flat())
  for (const child of children) element.append(child)
  return element
}

/** Replaces all child nodes of an element. */
export function replaceChildren(element: Element, children: readonly Node[]): void {
  element.children = []
  for (const child of children) element.append(child)
}

/** Turns an element into another one, in place. */
export function renameElement(element: Element, name: string, attributes: Readonly<Record<string, string>> = {}): void {
  element.name = name
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value)
}

/** The text of an element on one line; line breaks and cells become spaces. */
export function codeOf(node: Node): string {
  return spacedText(node).replace(/\s+/g, ' ').trim()
}

function spacedText(node: Node): string {
  if (typeof node === 'string') return node
  if (node.dropped !== undefined) return ''
  if (node.name === 'br') return ' '
  const text = node.children.map(spacedText).join('')
  return INLINE_ELEMENTS.has(node.name) ? text : ` ${text} `
}

/** Keeps only the words of an element, as inline code. An element without words stays unchanged. */
export function replaceWithCode(element: Element): void {
  const text = codeOf(element)
  if (text !== '') replaceChildren(element, [createElement('code', [text])])
}

/** Turns an element into the signature of a function or value. */
export function makeSignature(element: Element): void {
  const text = codeOf(element)
  if (text === '') return
  renameElement(element, 'Signature')
  replaceChildren(element, [text])
}

/** Turns the links in an element into spans. Elements `a` with an id stay, because other links may lead to them. */
export function removeLinks(element: Element): void {
  for (const inner of element.descendants()) if (inner.name === 'a' && inner.id === '') inner.name = 'span'
}

/** Makes the content of an element strong, for titles that begin no section. */
export function makeStrong(element: Element): void {
  if (lineOf(element) !== '') replaceChildren(element, [createElement('strong', element.children)])
}

/**
 * Whether an element has links, and each is only a fragment of the same page or has a fragment among `ids`, as in a table of contents.
 */
export function hasOnlyFragmentLinks(element: Element, ids: ReadonlySet<string>): boolean {
  let hasLinks = false
  for (const inner of element.descendants()) {
    const href = inner.name === 'a' ? inner.attribute('href') : undefined
    if (href === undefined) continue
    const at = href.indexOf('#')
    if (at === -1 || !(at === 0 || ids.has(href.slice(at + 1)))) return false
    hasLinks = true
  }
  return hasLinks
}

/** Turns a table whose rows hold a number and a text into a numbered list. */
export function makeNumberedList(table: Element): void {
  const items: Element[] = []
  for (const row of findAll(table, ({ name }) => name === 'tr')) {
    const [, text] = [...row.elements()]
    if (text === undefined) return
    items.push(text)
  }
  for (const item of items) renameElement(item, 'li')
  renameElement(table, 'ol')
  replaceChildren(table, items)
}

/** The text of a label on one line, even if the label was dropped as a control. */
export function labelOf(node: Node): string {
  const read = (inner: Node): string => (typeof inner === 'string' ? inner : inner.children.map(read).join(''))
  return read(node).replace(/\s+/g, ' ').trim()
}

/**
 * Writes the marks of added and removed lines, which otherwise only style sheets show. Without marks, removed lines would look valid.
 * `signOf` returns the mark of a line, '' for an unchanged line and `undefined` for other elements.
 */
export function writeDiffMarks(pre: Element, signOf: (element: Element) => '+' | '-' | '' | undefined): void {
  const lines: [Element, string][] = []
  for (const element of pre.descendants()) {
    const sign = signOf(element)
    if (sign !== undefined) lines.push([element, sign])
  }
  if (lines.every(([, sign]) => sign === '')) return
  for (const [line, sign] of lines) replaceChildren(line, [sign || ' ', ...line.children])
  renameElement(pre, 'pre', { class: 'language-diff', 'data-language': 'diff' })
}
