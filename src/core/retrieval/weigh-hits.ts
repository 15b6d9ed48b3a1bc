import { groupBy } from '../group-by.ts'
import { isIdentifierLike } from '../search/fusion.ts'

/** The parts of a hit that affect its weight. */
export interface WeighableHit {
  readonly score: number
  /** The score by words alone. */
  readonly wordScore: number
  /** The page of the hit. */
  readonly page: number | string
  /** The score of the page by its words. */
  readonly pageScore: number
}

/** Share of the score that a text of only links loses, because it names the topics of other pages. */
const LINK_PENALTY = 0.7

/** The best hit of a page gains this share of the score of the page where a query is a question or a topic. */
const PAGE_SHARE = 0.4
/** The same where a query is a name, because one passage defines it. */
const IDENTIFIER_PAGE_SHARE = 0.2

/**
 * The best hit of a page also gains this share of the word score of each of the next best hits. Their meaning does not count: unrelated
 * texts have a cosine too, so a long page would gain for its length.
 */
const SUPPORT_SHARE = 0.06

/** Number of next best hits of a page that support its best one. */
const MAX_SUPPORTING = 3

/** The word score of a text, reduced by its share of link text: lists of links rank below the pages they link to. */
export function penalizeLinks(wordScore: number, linkShare: number): number {
  return wordScore * (1 - LINK_PENALTY * linkShare)
}

/**
 * The score that each hit gains from its page, in input order: from the words of the whole page, and from its other hits. A page about the
 * question ranks before one that only has a passage with its words. Only the best hit of a page gains anything, so that the others do not
 * displace other pages.
 */
export function computePageBonuses(query: string, hits: readonly WeighableHit[]): number[] {
  const share = isIdentifierLike(query) ? IDENTIFIER_PAGE_SHARE : PAGE_SHARE
  const pages = groupBy(hits.keys(), (i) => hits[i]?.page)
  const scoreOf = (i: number): number => hits[i]?.score ?? 0
  const bonuses = hits.map(() => 0)
  for (const indexes of pages.values()) {
    const [best = 0, ...next] = indexes.sort((a, b) => scoreOf(b) - scoreOf(a) || a - b)
    // A hit without words of the question may not know the score of its page.
    const pageScore = indexes.reduce((max, i) => Math.max(max, hits[i]?.pageScore ?? 0), 0)
    const wordScores = next.map((i) => hits[i]?.wordScore ?? 0).sort((a, b) => b - a)
    const support = wordScores.slice(0, MAX_SUPPORTING).reduce((sum, score) => sum + score, 0)
    bonuses[best] = share * pageScore + SUPPORT_SHARE * support
  }
  return bonuses
}
