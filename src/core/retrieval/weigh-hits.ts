/** A hit, as far as weighing goes. */
export interface WeighableHit {
  readonly score: number
  /** Which page it stands in. */
  readonly page: number | string
  /** Which share of it is text of links, from 0 to 1. */
  readonly linkShare: number
}

/** What a hit comes to. */
export interface Weighing {
  /** `wordScore · (1 − LINK_PENALTY · linkShare) + support`. */
  readonly score: number
  /** What the next best hit of its page adds; 0 for all but the best of a page. */
  readonly support: number
}

/** Share of a score that a text of nothing but links loses: it names what other pages are about. */
const LINK_PENALTY = 0.7

/** Share of the second best hit that the best one of the same page gets: what a page is about, it says more than once. */
const SUPPORT = 0.2

/**
 * Weighs hits by what stands around the words: lists of links give way to what they link to, and a page that answers twice comes
 * before one that mentions the words once. In the order they were given.
 */
export function weighHits(hits: readonly WeighableHit[]): Weighing[] {
  const scores = hits.map(({ score, linkShare }) => score * (1 - LINK_PENALTY * linkShare))
  const best = new Map<number | string, { first: number; second: number }>()
  hits.forEach(({ page }, i) => {
    const score = scores[i] ?? 0
    const known = best.get(page)
    if (known === undefined) best.set(page, { first: i, second: 0 })
    else if (score > (scores[known.first] ?? 0)) {
      known.second = scores[known.first] ?? 0
      known.first = i
    } else if (score > known.second) known.second = score
  })
  return scores.map((score, i) => {
    const { first = -1, second = 0 } = best.get(hits[i]?.page ?? '') ?? {}
    const support = first === i ? SUPPORT * second : 0
    return { score: score + support, support }
  })
}
