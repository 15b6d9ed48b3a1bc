import { Element, type Node } from '../../html/tree.ts'
import type { Generator } from './generator.ts'
import { renameElement, replaceChildren } from './rewrite.ts'

/** The HTML that `src/documents` makes of a file: content only, without chrome. A fetched page cannot claim this generator. */
export const pharosDocument: Generator = {
  name: 'pharos-document',
  meta: [],
  fingerprints: [],
  content: ['article', 'body'],
  normalize: placeMarks,
}

/**
 * Inserts a mark for each element with `data-mark`, which holds the fragment that applies from there on. An empty element becomes the mark
 * itself.
 */
function placeMarks(content: Element): void {
  const parents = new Set<Element>()
  for (const element of content.descendants()) {
    const anchor = element.attribute('data-mark')
    if (anchor === undefined) continue
    if (element.children.length === 0) renameElement(element, 'Mark', { Anchor: anchor })
    else if (element.parent !== undefined) parents.add(element.parent)
  }
  for (const parent of parents) replaceChildren(parent, parent.children.flatMap(withMark))
}

/** Puts the mark of a node before it; list items and definitions keep the mark inside. */
function withMark(node: Node): Node[] {
  const anchor = typeof node === 'string' || node.name === 'Mark' ? undefined : node.attribute('data-mark')
  if (typeof node === 'string' || anchor === undefined) return [node]
  const mark = new Element('Mark', ['Anchor', anchor])
  if (!MARKED_INSIDE.has(node.name)) return [mark, node]
  replaceChildren(node, [mark, ...node.children])
  return [node]
}

const MARKED_INSIDE = new Set(['li', 'dd', 'dt'])
