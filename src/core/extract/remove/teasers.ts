import type { Element } from '../../html/tree.ts'
import { countStatistics, type Statistics, type StatisticsMap } from '../content/statistics.ts'
import { removeBy } from './remove-by.ts'

const STEP = 'teasers'

/** Drops rows of cards and lists of links that lead away from the one thing a page is about. */
export function removeTeasers(content: Element): void {
  const statistics = countStatistics(content)
  const whole = statistics.get(content)
  removeBy(content, STEP, (element) =>
    element !== content && statistics.get(element).prose < whole.prose * MAX_PROSE_SHARE && isRowOfTeasers(element, statistics)
      ? 'links to other pages'
      : undefined,
  )
}

const MAX_PROSE_SHARE = 0.3
const MIN_TEASERS = 3
const TEASER_CHARS = 400
/** Share of the text of a teaser that leads elsewhere. */
const TEASER_LINK_SHARE = 0.35

/** Whether an element consists of like parts that each are a link with little around it. */
function isRowOfTeasers(element: Element, statistics: StatisticsMap): boolean {
  let teasers = 0
  let others = 0
  let likeness: string | undefined
  for (const child of element.elements()) {
    const counts = statistics.get(child)
    if (counts.text === 0) continue
    likeness ??= likenessOf(child)
    if (likenessOf(child) === likeness && isTeaser(counts)) teasers++
    else others++
  }
  return teasers >= MIN_TEASERS && others * 4 <= teasers
}

function isTeaser({ text, link, links, images, headings }: Statistics): boolean {
  return links > 0 && images + headings > 0 && text <= TEASER_CHARS && link >= text * TEASER_LINK_SHARE
}

function likenessOf(element: Element): string {
  return `${element.name}.${element.classes[0] ?? ''}`
}
