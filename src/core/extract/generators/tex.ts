import { Element, type Node } from '../../html/tree.ts'

const DELIMITED = /\\\((.+?)\\\)|\\\[(.+?)\\\]/gs
const CODE = new Set(['pre', 'code', 'CodeBlock', 'Signature', 'Math', 'kbd', 'samp', 'tt'])

/** Makes formulas of the TeX between `\(` and `\)` or `\[` and `\]` in an element, which scripts would have typeset. */
export function markTex(element: Element): void {
  if (element.dropped !== undefined || CODE.has(element.name)) return
  const children: Node[] = []
  for (const child of element.children) {
    if (typeof child === 'string') children.push(...splitTex(child))
    else {
      markTex(child)
      children.push(child)
    }
  }
  if (children.length === element.children.length) return
  element.children = []
  for (const child of children) element.append(child)
}

function splitTex(text: string): Node[] {
  if (!text.includes('\\')) return [text]
  const nodes: Node[] = []
  let end = 0
  for (const match of text.matchAll(DELIMITED)) {
    const [whole, inline, display] = match
    nodes.push(text.slice(end, match.index), createMath(inline ?? display ?? '', display !== undefined))
    end = match.index + whole.length
  }
  return end === 0 ? [text] : [...nodes, text.slice(end)]
}

function createMath(tex: string, isDisplay: boolean): Element {
  return new Element('Math', ['Tex', tex.trim(), ...(isDisplay ? ['Display', 'true'] : [])])
}
