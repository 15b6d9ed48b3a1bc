import { HEADINGS } from '../../../html/element-names.ts'
import type { Element } from '../../../html/tree.ts'
import type { StatisticsMap } from '../../content/statistics.ts'
import { drop } from '../../drop.ts'

const STEP = 'headline lists'

/** Fewer items may belong to the text of the article. */
const MIN_ITEMS = 5
/** Share of the children that must be items. It is below 1, because advertisements may be between the items. */
const MIN_ITEM_SHARE = 0.6
/** A longer item is a text of its own. */
const MAX_ITEM_CHARS = 1000
/** A shorter heading is a name in a catalogue, such as a product, and not a headline. */
const MIN_HEADLINE_CHARS = 20
/** Without this much prose outside the list, the items are what the page is about. */
const MIN_ARTICLE_PROSE = 800

/** Drops lists of other articles, each with a linked headline and perhaps its first sentences, from a page that is an article itself. */
export function removeHeadlineLists(content: Element, statistics: StatisticsMap): void {
  const { proseLength } = statistics.get(content)
  const visit = (element: Element) => {
    const { headingCount, linkCount } = statistics.get(element)
    if (headingCount < MIN_ITEMS || linkCount < MIN_ITEMS) return
    const items = itemsOf(element, statistics)
    if (items.length > 0 && proseLength - statistics.get(element).proseLength >= MIN_ARTICLE_PROSE) {
      for (const item of items) drop(item, STEP, 'other articles')
      return
    }
    for (const child of element.elements()) visit(child)
  }
  visit(content)
}

/** The children of an element if most of them are items of such a list, otherwise nothing. */
function itemsOf(parent: Element, statistics: StatisticsMap): Element[] {
  const children = parent.elements().filter((child) => statistics.get(child).textLength > 0)
  if (children.length < MIN_ITEMS) return []
  const items = children.filter((child) => isItem(child, statistics))
  return items.length >= MIN_ITEMS && items.length >= children.length * MIN_ITEM_SHARE ? children : []
}

function isItem(element: Element, statistics: StatisticsMap): boolean {
  const { textLength, headingCount, linkCount, codeBlockCount } = statistics.get(element)
  if (headingCount === 0 || linkCount === 0 || codeBlockCount > 0 || textLength > MAX_ITEM_CHARS) return false
  for (const inner of element.descendants()) {
    if (HEADINGS.has(inner.name)) return isLinkedHeadline(inner, element, statistics)
  }
  return false
}

/** Whether a heading is long enough for a headline, and all of its words are in links inside it or around it. */
function isLinkedHeadline(heading: Element, item: Element, statistics: StatisticsMap): boolean {
  const { textLength, linkLength } = statistics.get(heading)
  if (textLength < MIN_HEADLINE_CHARS) return false
  if (linkLength >= textLength) return true
  for (let at = heading.parent; at !== undefined && at !== item.parent; at = at.parent) if (at.name === 'a') return true
  return false
}
