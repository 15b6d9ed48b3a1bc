import { findAll } from '../../../html/selector.ts'
import { type Element, lineOf } from '../../../html/tree.ts'
import type { StatisticsMap } from '../../content/statistics.ts'
import { drop } from '../../drop.ts'

const STEP = 'following articles'

/** An article with fewer characters of prose is a teaser, which other steps treat. */
const MIN_PROSE = 300

/**
 * Drops the articles that a page appends to its own, for readers who scroll on: each is an `article` with its own `h1`. Other elements
 * with an `h1` may be parts of one text.
 */
export function removeFollowingArticles(content: Element, statistics: StatisticsMap, title: string | null): void {
  if (title === null || statistics.get(content).h1Count < 2) return
  const [first, ...others] = findAll(content, ({ name }) => name === 'h1')
  if (first === undefined || !isSameTitle(lineOf(first), title)) return
  if (articleOf(first, statistics) === undefined) return
  for (const heading of others) {
    const article = isSameTitle(lineOf(heading), title) ? undefined : articleOf(heading, statistics)
    if (article !== undefined) drop(article, STEP, 'other articles')
  }
}

/** The `article` around a title, if the article has no other title and enough prose. */
function articleOf(title: Element, statistics: StatisticsMap): Element | undefined {
  for (let at = title.parent; at !== undefined && statistics.get(at).h1Count === 1; at = at.parent) {
    if (at.name === 'article') return statistics.get(at).proseLength >= MIN_PROSE ? at : undefined
  }
  return undefined
}

/** Whether a heading is the title of the page, to which a site may have added its name. */
function isSameTitle(heading: string, title: string): boolean {
  const [a, b] = [heading, title].map((text) => text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, ''))
  return a !== undefined && b !== undefined && a !== '' && (a.includes(b) || b.includes(a))
}
