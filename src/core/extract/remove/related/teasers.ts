import { INLINE_ELEMENTS } from '../../../html/element-names.ts'
import type { Element } from '../../../html/tree.ts'
import type { Statistics, StatisticsMap } from '../../content/statistics.ts'
import { drop } from '../../drop.ts'

const STEP = 'teasers'

/** Drops rows of cards and lists of links that lead away from the subject of the page. */
export function removeTeasers(content: Element, statistics: StatisticsMap): void {
  const visit = (element: Element) => {
    removeRows(element, statistics)
    for (const child of element.elements()) visit(child)
  }
  visit(content)
}

/** Fewer similar elements in a row may be part of a text. */
const MIN_CARDS = 3
const MIN_LINKS = 5

function removeRows(parent: Element, statistics: StatisticsMap): void {
  let row: Element[] = []
  let rowShape = ''
  const endRow = () => {
    const isRow = row.length >= (rowShape.startsWith('link') ? MIN_LINKS : MIN_CARDS)
    if (isRow) for (const element of row) drop(element, STEP, 'links to other pages')
    row = []
  }
  for (const child of parent.elements()) {
    const counts = statistics.get(child)
    if (counts.textLength === 0) continue
    const shape = INLINE_ELEMENTS.has(child.name) ? '' : shapeOf(child, counts)
    if (shape !== rowShape) endRow()
    rowShape = shape
    if (shape !== '') row.push(child)
  }
  endRow()
}

const MAX_CARD_CHARS = 400
const MIN_CARD_LINK_SHARE = 0.35
const MIN_LINK_SHARE = 0.9

/** The shape of a teaser, to compare it with its siblings; '' for other elements. */
function shapeOf(
  element: Element,
  { textLength, linkLength, linkCount, imageCount, headingCount }: Statistics,
): string {
  if (linkCount === 0 || textLength > MAX_CARD_CHARS) return ''
  const isCard = imageCount + headingCount > 0 && linkLength >= textLength * MIN_CARD_LINK_SHARE
  if (isCard) return `card ${element.name}.${element.classes[0] ?? ''}`
  return linkLength >= textLength * MIN_LINK_SHARE ? `link ${element.name}` : ''
}
