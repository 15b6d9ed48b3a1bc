import { INLINE } from '../../html/names.ts'
import type { Element } from '../../html/tree.ts'
import type { StatisticsMap } from '../content/statistics.ts'
import { drop } from '../drop.ts'

const STEP = 'copies'

/** What a copy holds at least. Less may be said twice on purpose; in a shop hardly anything is. */
interface Least {
  readonly chars: number
  readonly blocks: number
}
const PRODUCT: Least = { chars: 80, blocks: 1 }
const OTHER: Least = { chars: 300, blocks: 2 }

/**
 * Drops what stands on the page before, letter by letter, as where a narrow and a wide screen get a copy each. A paragraph
 * that is said again is the writer's own repetition: outside of shops a copy has several blocks.
 */
export function removeCopies(content: Element, statistics: StatisticsMap, isProduct: boolean): void {
  const prints = new Map<Element, string>()
  printOf(content, prints, isProduct ? PRODUCT : OTHER)
  const seen = new Set<string>()
  const visit = (element: Element) => {
    if (element.dropped !== undefined) return
    // A listing is shown again where it is explained.
    const print = statistics.get(element).codes > 0 ? undefined : prints.get(element)
    if (print !== undefined && seen.has(print)) {
      drop(element, STEP, 'copy of a part before it')
      return
    }
    for (const child of element.children) if (typeof child !== 'string') visit(child)
    if (print !== undefined) seen.add(print)
  }
  visit(content)
}

interface Print {
  readonly length: number
  /** Number of blocks that hold text of their own. */
  readonly blocks: number
  readonly low: number
  readonly high: number
}

/** Length and hash of the letters in an element, made of those of its children; kept for long ones. */
function printOf(element: Element, prints: Map<Element, string>, least: Least): Print {
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
      const print = printOf(child, prints, least)
      add(print.length, print.low, print.high)
      blocks += print.blocks
    }
  }
  if (blocks === 0 && length > 0 && !INLINE.has(element.name)) blocks = 1
  if (length >= least.chars && blocks >= least.blocks) prints.set(element, `${length} ${low} ${high}`)
  return { length, blocks, low, high }
}

const SPACE = 0x20
