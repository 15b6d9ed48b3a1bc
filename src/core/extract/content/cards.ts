import type { Element } from '../../html/tree.ts'
import type { StatisticsMap } from './statistics.ts'

/** Totals over the cards of a page. */
export interface CardTotals {
  readonly count: number
  readonly textLength: number
  readonly proseLength: number
}

/** Totals of the largest set of similar elements that each link to another page, such as products or headlines. */
export function countCards(main: Element, statistics: StatisticsMap): CardTotals {
  const sets = new Map<string, { count: number; textLength: number; proseLength: number }>()
  const visit = (element: Element) => {
    for (const child of element.elements()) {
      const { textLength, proseLength, linkCount, headingCount, imageCount } = statistics.get(child)
      if (textLength === 0) continue
      const isCard =
        linkCount > 0 &&
        linkCount <= 8 &&
        headingCount + imageCount > 0 &&
        headingCount <= 2 &&
        textLength <= 700 &&
        CARD_ELEMENTS.has(child.name)
      if (!isCard) {
        visit(child)
        continue
      }
      const key = `${child.name} ${child.classes[0] ?? ''}`
      const set = sets.get(key) ?? { count: 0, textLength: 0, proseLength: 0 }
      set.count++
      set.textLength += textLength
      set.proseLength += proseLength
      sets.set(key, set)
    }
  }
  visit(main)
  let best = { count: 0, textLength: 0, proseLength: 0 }
  for (const set of sets.values()) if (set.count >= 3 && set.textLength > best.textLength) best = set
  return best
}

const CARD_ELEMENTS = new Set(['div', 'li', 'article', 'section', 'a', 'tr'])
