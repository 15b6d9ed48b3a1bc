import { type Element, HTML_SPACE, type Node } from '../../html/tree.ts'

/** Writes a formula that has no TeX as text of the same meaning: `x^2`, `(a+b)/c`. */
export function writeMathMl(node: Node): string {
  if (typeof node === 'string') return node.replace(HTML_SPACE, ' ').trim()
  const parts = [...node.elements()].filter(({ name }) => !name.startsWith('annotation'))
  const part = (i: number) => group(parts[i])
  switch (node.name) {
    case 'mfrac':
      return `${part(0)}/${part(1)}`
    case 'msup':
    case 'mover':
      return `${part(0)}^${part(1)}`
    case 'msub':
    case 'munder':
      return `${part(0)}_${part(1)}`
    case 'msubsup':
    case 'munderover':
      return `${part(0)}_${part(1)}^${part(2)}`
    case 'msqrt':
      return `sqrt(${writeAll(node)})`
    case 'mroot':
      return `root(${write(parts[0])}, ${write(parts[1])})`
    case 'mfenced':
      return `(${parts.map(write).join(', ')})`
    case 'mtr':
      return parts.map(write).join(', ')
    case 'mtable':
      return parts.map(write).join('; ')
    case 'mo':
      return writeOperator(writeAll(node))
    case 'annotation':
    case 'annotation-xml':
      return ''
    default:
      return writeAll(node)
  }
}

function write(element: Element | undefined): string {
  return element === undefined ? '' : writeMathMl(element).trim()
}

/** Puts brackets around a term, unless it is one character or consists of letters and digits. */
function group(element: Element | undefined): string {
  const text = write(element)
  return /^[\p{L}\p{N}.]*$/u.test(text) || text.length === 1 ? text : `(${text})`
}

function writeAll(element: Element): string {
  return element.children
    .map((child) => (typeof child !== 'string' && child.dropped !== undefined ? '' : writeMathMl(child)))
    .join('')
}

/** Invisible operators are dropped, and operators between terms get spaces. */
function writeOperator(operator: string): string {
  if (/^[\u2061-\u2064]?$/.test(operator)) return ''
  return /^[=≠<>≤≥≈≡∈→⇒+−±×·∪∩∧∨]$/.test(operator) ? ` ${operator} ` : operator
}
