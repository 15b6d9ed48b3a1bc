import { find } from '../../html/selector.ts'
import { Element, type Node } from '../../html/tree.ts'

/** Whether scripts of the page make formulas of TeX in its text. */
export function typesetsTex(root: Element): boolean {
  return find(root, isTypesetter) !== undefined
}

function isTypesetter(element: Element): boolean {
  return element.name === 'script' && /mathjax|katex/i.test(element.attribute('src') ?? '')
}

const CODE = new Set(['pre', 'code', 'CodeBlock', 'Signature', 'Math', 'kbd', 'samp', 'tt'])

/** Makes formulas of the TeX between `\(` and `\)` or `\[` and `\]` in an element, which scripts would have typeset. */
export function markTex(element: Element): void {
  if (element.dropped !== undefined || CODE.has(element.name)) return
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
  let end = 0
  for (let formula = nextFormula(text, 0); formula !== undefined; formula = nextFormula(text, end)) {
    const { start, isDisplay } = formula
    nodes.push(text.slice(end, start), createMath(text.slice(start + 2, formula.end), isDisplay))
    end = formula.end + 2
  }
  nodes.push(text.slice(end))
  return nodes
}

const OPENER = /\\[([]/g

/** The first formula from `from` on. What is opened and never closed is text, and so is all after it. */
function nextFormula(text: string, from: number): { start: number; end: number; isDisplay: boolean } | undefined {
  OPENER.lastIndex = from
  const start = OPENER.exec(text)?.index ?? -1
  if (start === -1) return undefined
  const isDisplay = text[start + 1] === '['
  const end = text.indexOf(isDisplay ? '\\]' : '\\)', start + 2)
  return end === -1 ? undefined : { start, end, isDisplay }
}

function createMath(tex: string, isDisplay: boolean): Element {
  return new Element('Math', ['Tex', tex.trim(), ...(isDisplay ? ['Display', 'true'] : [])])
}
