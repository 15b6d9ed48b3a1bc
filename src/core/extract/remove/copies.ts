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
  const fingerprints = new Map<Element, Fingerprint>()
  fingerprintOf(content, fingerprints, isProduct ? MIN_CHARS.product : MIN_CHARS.other)
  const originals = new Map<string, Element>()
  const visit = (element: Element) => {
    if (element.dropped !== undefined) return
    // Code may be repeated where it is explained.
    const fingerprint = statistics.get(element).codeBlockCount > 0 ? undefined : fingerprints.get(element)
    const key = fingerprint === undefined ? '' : `${fingerprint.length} ${fingerprint.low} ${fingerprint.high}`
    const original = originals.get(key)
    if (fingerprint !== undefined && original !== undefined) {
      const isInSamePart = enclosingBlockOf(original) === enclosingBlockOf(element)
      const isIntended = fingerprint.blocks === 1 && !isProduct && isInSamePart
      if (!isIntended) drop(element, STEP, 'copy of a part before it')
      return
    }
    for (const child of element.children) if (typeof child !== 'string') visit(child)
    if (fingerprint !== undefined) originals.set(key, element)
  }
  visit(content)
}

interface Fingerprint {
  readonly length: number
  /** Number of innermost blocks with text; 1 for a single paragraph. */
  readonly blocks: number
  /** A hash of the characters except white space. */
  readonly low: number
  /** Another hash of the same characters. */
  readonly high: number
}

/** Fingerprint of an element, computed from its children. Those of long elements are stored in `fingerprints`. */
function fingerprintOf(element: Element, fingerprints: Map<Element, Fingerprint>, minChars: number): Fingerprint {
  let length = 0
  let blocks = 0
  let low = 7
  let high = 11
  const add = (chars: number, toLow: number, toHigh: number) => {
    length += chars
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
      const fingerprint = fingerprintOf(child, fingerprints, minChars)
      add(fingerprint.length, fingerprint.low, fingerprint.high)
      blocks += fingerprint.blocks
    }
  }
  if (blocks === 0 && length > 0 && !INLINE_ELEMENTS.has(element.name)) blocks = 1
  const fingerprint = { length, blocks, low, high }
  if (length >= minChars) fingerprints.set(element, fingerprint)
  return fingerprint
}

/** The block around an element, or around the paragraph that contains it. */
function enclosingBlockOf(element: Element): Element | undefined {
  let { parent } = element
  while (parent !== undefined && (INLINE_ELEMENTS.has(parent.name) || parent.name === 'p')) parent = parent.parent
  return parent
}

const SPACE = 0x20
