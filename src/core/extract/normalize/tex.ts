import { find } from '../../html/selector.ts'
import { Element, type Node } from '../../html/tree.ts'

/** Whether scripts of the page typeset TeX in its text. */
export function hasTexTypesetter(root: Element): boolean {
  return find(root, isTypesetter) !== undefined
}

function isTypesetter(element: Element): boolean {
  return element.name === 'script' && /mathjax|katex/i.test(element.attribute('src') ?? '')
}

const CODE_ELEMENTS = new Set(['pre', 'code', 'CodeBlock', 'Signature', 'Math', 'kbd', 'samp', 'tt'])

/** Turns TeX between `\(` and `\)`, `\[` and `\]` or two `$$` into formulas, as scripts would. */
export function markTex(element: Element): void {
  if (element.dropped !== undefined || CODE_ELEMENTS.has(element.name)) return
  const children: Node[] = []
  for (const child of element.children) {
    if (typeof child === 'string') {
      for (const node of splitTex(child)) children.push(node)
    } else {
      markTex(child)
      children.push(child)
    }
  }
  if (children.length === element.children.length) return
  element.children = []
  for (const child of children) element.append(child)
}

function splitTex(text: string): Node[] {
  const nodes: Node[] = []
  /** Closing delimiters that do not occur again: their openers are text, and the search is not repeated. */
  const missing = new Set<string>()
  let written = 0
  for (let at = nextOpener(text, 0); at !== -1; at = nextOpener(text, at)) {
    const closer = CLOSERS.get(text.slice(at, at + 2)) ?? ''
    const end = missing.has(closer) ? -1 : text.indexOf(closer, at + 2)
    if (end === -1) {
      missing.add(closer)
      at += 2
      continue
    }
    nodes.push(text.slice(written, at), createMath(text.slice(at + 2, end), closer !== '\\)'))
    at = written = end + 2
  }
  nodes.push(text.slice(written))
  return nodes
}

const CLOSERS: ReadonlyMap<string, string> = new Map([
  ['\\(', '\\)'],
  ['\\[', '\\]'],
  ['$$', '$$'],
])
const OPENER = /\\[([]|\$\$/g

function nextOpener(text: string, from: number): number {
  OPENER.lastIndex = from
  return OPENER.exec(text)?.index ?? -1
}

function createMath(tex: string, isDisplay: boolean): Element {
  return new Element('Math', ['Tex', tex.trim(), ...(isDisplay ? ['Display', 'true'] : [])])
}
