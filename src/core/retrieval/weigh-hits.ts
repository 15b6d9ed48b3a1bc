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
  /** What the next best hits of its page add; 0 for all but the best of a page. */
  readonly support: number
}

/** Share of a score that a text of nothing but links loses: it names what other pages are about. */
const LINK_PENALTY = 0.7

/** Share of each of the next best hits that the best one of the same page gets: a page repeats what it is about. */
const SUPPORT = 0.1

/** So many of the next best hits of a page support its best one. */
const MAX_SUPPORTING = 3

/**
 * Weighs hits by what stands around the words: lists of links give way to what they link to, and a page that answers several times
 * comes before one that mentions the words once. In the order they were given.
 */
export function weighHits(hits: readonly WeighableHit[]): Weighing[] {
  const scores = hits.map(({ score, linkShare }) => score * (1 - LINK_PENALTY * linkShare))
  const pages = new Map<number | string, number[]>()
  hits.forEach(({ page }, i) => {
    const known = pages.get(page)
    if (known === undefined) pages.set(page, [i])
    else known.push(i)
  })
  const weighings = scores.map((score): Weighing => ({ score, support: 0 }))
  for (const places of pages.values()) {
    const [best = 0, ...next] = places.sort((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0) || a - b)
    const support = SUPPORT * next.slice(0, MAX_SUPPORTING).reduce((sum, i) => sum + (scores[i] ?? 0), 0)
    weighings[best] = { score: (scores[best] ?? 0) + support, support }
  }
  return weighings
}
