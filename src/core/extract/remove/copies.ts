import { INLINE_ELEMENTS } from '../../html/element-names.ts'
import type { Element } from '../../html/tree.ts'
import type { StatisticsMap } from '../content/statistics.ts'
import { drop } from '../drop.ts'

const STEP = 'copies'

/** Shorter texts may be repeated on purpose; in a shop hardly any are. */
const MIN_CHARS = { product: 80, other: 300 }

/**
 * Drops exact copies of earlier text, such as separate copies for narrow and wide screens. A paragraph repeated in the same part of the
 * page is kept as the writer's own repetition, except in shops.
 */
export function removeCopies(content: Element, statistics: StatisticsMap, isProduct: boolean): void {
  const prints = new Map<Element, Fingerprint>()
  fingerprintOf(content, prints, isProduct ? MIN_CHARS.product : MIN_CHARS.other)
  const seen = new Map<string, Element>()
  const visit = (element: Element) => {
    if (element.dropped !== undefined) return
    // Code may be repeated where it is explained.
    const print = statistics.get(element).codeBlockCount > 0 ? undefined : prints.get(element)
    const key = print === undefined ? '' : `${print.length} ${print.low} ${print.high}`
    const twin = seen.get(key)
    if (print !== undefined && twin !== undefined) {
      const isMeant = print.blocks === 1 && !isProduct && enclosingBlockOf(twin) === enclosingBlockOf(element)
      if (!isMeant) drop(element, STEP, 'copy of a part before it')
      return
    }
    for (const child of element.children) if (typeof child !== 'string') visit(child)
    if (print !== undefined) seen.set(key, element)
  }
  visit(content)
}

interface Fingerprint {
  readonly length: number
  /** Number of blocks in it with text of their own, including itself. */
  readonly blocks: number
  readonly low: number
  readonly high: number
}

/** Length and hash of the letters in an element, computed from its children; stored for long ones. */
function fingerprintOf(element: Element, prints: Map<Element, Fingerprint>, least: number): Fingerprint {
  let length = 0
  let blocks = 0
  let low = 7
  let high = 11
  const add = (text: number, toLow: number, toHigh: number) => {
    length += text
    low = (Math.imul(low, 31) + toLow) | 0
    high = (Math.imul(high, 131) + toHigh) | 0
  }
  for (const child of element.children) {
    if (typeof child === 'string') {
      for (let i = 0; i < child.length; i++) {
        const code = child.charCodeAt(i)
        if (code > SPACE) add(1, code, code)
      }
    } else if (child.dropped === undefined) {
      const print = fingerprintOf(child, prints, least)
      add(print.length, print.low, print.high)
      blocks += print.blocks
    }
  }
  if (blocks === 0 && length > 0 && !INLINE_ELEMENTS.has(element.name)) blocks = 1
  const print = { length, blocks, low, high }
  if (length >= least) prints.set(element, print)
  return print
}

/** The block around the paragraph that an element is or is inside. */
function enclosingBlockOf(element: Element): Element | undefined {
  let { parent } = element
  while (parent !== undefined && (INLINE_ELEMENTS.has(parent.name) || parent.name === 'p')) parent = parent.parent
  return parent
}

const SPACE = 0x20
