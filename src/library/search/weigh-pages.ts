import { createPagePrior } from '../../core/retrieval/page-prior.ts'
import { computePageBonuses, penalizeLinks } from '../../core/retrieval/weigh-hits.ts'
import type { RankBasis, RankedHit, RankedQuery } from './ranked-hits.ts'

/** Factor for hits in sources that a question does not name, where it names others. */
const ELSEWHERE_PRIOR = 0.6

/** Weighs hits by the kind of their page and by its words; best first. `byWords` are the same hits with their scores by words alone. */
export function weighPages(
  hits: readonly RankedHit[],
  byWords: readonly RankedHit[],
  { rankedPages }: Pick<RankBasis, 'rankedPages'>,
  { query, named }: Pick<RankedQuery, 'query' | 'named'>,
): RankedHit[] {
  const priorOf = createPagePrior(query)
  const priors = new Map<string, number>()
  const weighed = hits.map((hit, i) => {
    const { url, sourceId, pageKey: page } = hit
    const isElsewhere = named !== undefined && !named.sourceIds.has(sourceId)
    const prior = priors.get(page) ?? priorOf(url) * (isElsewhere ? ELSEWHERE_PRIOR : 1)
    priors.set(page, prior)
    const wordScore = (byWords[i]?.score ?? 0) * prior
    const pageScore = penalizeLinks(hit.pageScore, hit.linkShare) * prior
    return { hit, prior, score: hit.score * prior, wordScore, page, pageScore }
  })
  const bonuses = computePageBonuses(query, weighed)
  const ranked = weighed.map(({ hit, prior, score, page }, i): RankedHit => {
    const pageBonus = rankedPages.has(page) ? 0 : (bonuses[i] ?? 0)
    const { explanation } = hit
    const weighedHit = { ...hit, score: score + pageBonus, pageBonus }
    return explanation === undefined ? weighedHit : { ...weighedHit, explanation: { ...explanation, prior, pageBonus } }
  })
  // The sort is stable: equal scores keep their order.
  return ranked.sort((a, b) => b.score - a.score)
}

/** The score of a hit, and its part that comes from the page. */
type ScoredHit = Pick<RankedHit, 'score' | 'pageBonus'>

/** Score of a hit without the bonus from its page. Hits of one page are compared by it, because only the best of them has the bonus. */
export function ownScoreOf({ score, pageBonus = 0 }: ScoredHit): number {
  return score - pageBonus
}

/** Whether a hit has this share of the score of another one, with or without the bonus from its page. */
export function reachesShare(hit: ScoredHit, of: ScoredHit, share: number): boolean {
  return hit.score >= share * of.score || ownScoreOf(hit) >= share * ownScoreOf(of)
}
