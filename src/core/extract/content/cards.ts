import type { Element } from '../../html/tree.ts'
import type { StatisticsMap } from './statistics.ts'

/** Totals over the items of a page. */
export interface Cards {
  readonly count: number
  readonly text: number
  readonly prose: number
}

/** The largest set of similar elements that each link to a page of their own: products, headlines. */
export function countCards(main: Element, statistics: StatisticsMap): Cards {
  const sets = new Map<string, { count: number; text: number; prose: number }>()
  const visit = (element: Element) => {
    for (const child of element.elements()) {
      const { text, prose, links, headings, images } = statistics.get(child)
      if (text === 0) continue
      const isCard =
        links > 0 && links <= 8 && headings + images > 0 && headings <= 2 && text <= 700 && CARDS.has(child.name)
      if (!isCard) {
        visit(child)
        continue
      }
      const key = `${child.name} ${child.classes[0] ?? ''}`
      const set = sets.get(key) ?? { count: 0, text: 0, prose: 0 }
      set.count++
      set.text += text
      set.prose += prose
      sets.set(key, set)
    }
  }
  visit(main)
  let best = { count: 0, text: 0, prose: 0 }
  for (const set of sets.values()) if (set.count >= 3 && set.text > best.text) best = set
  return best
}

const CARDS = new Set(['div', 'li', 'article', 'section', 'a', 'tr'])
