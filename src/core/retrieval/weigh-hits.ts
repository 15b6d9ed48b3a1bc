/** The parts of a hit that affect its weight. */
export interface WeighableHit {
  readonly score: number
  /** The page of the hit. */
  readonly page: number | string
}

/** Share of the score that a text of only links loses, because it names the topics of other pages. */
const LINK_PENALTY = 0.7

/** The best hit of a page gains this share of the score of each of the next best hits, because a page repeats its topic. */
const SUPPORT = 0.1

/** Number of next best hits of a page that support its best one. */
const MAX_SUPPORTING = 3

/** The word score of a text, reduced by its share of link text: lists of links rank below the pages they link to. */
export function penalizeLinks(wordScore: number, linkShare: number): number {
  return wordScore * (1 - LINK_PENALTY * linkShare)
}

/**
 * The score that each hit gains from others on its page, in input order: a page that answers several times ranks before one that answers
 * once. Only the best hit of a page gains anything.
 */
export function computeSupport(hits: readonly WeighableHit[]): number[] {
  const pages = new Map<number | string, number[]>()
  hits.forEach(({ page }, i) => {
    const known = pages.get(page)
    if (known === undefined) pages.set(page, [i])
    else known.push(i)
  })
  const scoreOf = (i: number): number => hits[i]?.score ?? 0
  const supports = hits.map(() => 0)
  for (const indexes of pages.values()) {
    const [best = 0, ...next] = indexes.sort((a, b) => scoreOf(b) - scoreOf(a) || a - b)
    supports[best] = SUPPORT * next.slice(0, MAX_SUPPORTING).reduce((sum, i) => sum + scoreOf(i), 0)
  }
  return supports
}
