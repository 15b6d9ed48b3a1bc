import { find, findAll } from '../../html/selector.ts'
import { type Element, lineOf } from '../../html/tree.ts'
import type { StatisticsMap } from '../content/statistics.ts'
import { drop } from '../drop.ts'

const STEP = 'following articles'

/** An element with fewer characters of prose is a teaser, which other steps treat. */
const MIN_PROSE = 300

/**
 * Drops the articles that a page appends to its own, for readers who scroll on. Each has a title of its own and is either an `article` or
 * looks like the page's own article: a later sibling with the same name and class.
 */
export function removeFollowingArticles(content: Element, statistics: StatisticsMap, title: string | null): void {
  if (title === null || statistics.get(content).h1Count < 2) return
  const own = find(content, (element) => element.name === 'h1')
  if (own === undefined || !isSameTitle(lineOf(own), title)) return
  const article = ownArticleOf(own, statistics)
  if (statistics.get(article).proseLength < MIN_PROSE) return
  const candidates = [...findAll(content, ({ name }) => name === 'article'), ...followersLike(article)]
  for (const other of candidates) {
    if (isOtherArticle(other, statistics, title)) drop(other, STEP, 'other articles')
  }
}

/** The largest element without another title. */
function ownArticleOf(title: Element, statistics: StatisticsMap): Element {
  let at = title
  while (at.parent !== undefined && statistics.get(at.parent).h1Count === 1) at = at.parent
  return at
}

/** Later siblings of an element with its name and first class. */
function followersLike(element: Element): Element[] {
  const siblings = element.parent?.elements() ?? []
  return siblings.slice(siblings.indexOf(element) + 1).filter(({ name, classes }) => {
    return name === element.name && classes[0] === element.classes[0]
  })
}

function isOtherArticle(element: Element, statistics: StatisticsMap, title: string): boolean {
  const { h1Count, proseLength } = statistics.get(element)
  if (h1Count !== 1 || proseLength < MIN_PROSE) return false
  const heading = find(element, ({ name }) => name === 'h1')
  return heading !== undefined && heading !== element && !isSameTitle(lineOf(heading), title)
}

/** Whether a heading is the title of the page, to which a site may have added its name. */
function isSameTitle(heading: string, title: string): boolean {
  const [a, b] = [heading, title].map((text) => text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, ''))
  return a !== undefined && b !== undefined && a !== '' && (a.includes(b) || b.includes(a))
}
