import type { Element } from '../../html/tree.ts'
import type { StatisticsMap } from '../content/statistics.ts'
import { indexTerms } from './by-name.ts'
import { removeMatching } from './remove-matching.ts'
import { TermReader } from './terms.ts'

const STEP = 'reviews'
const TERMS = indexTerms([
  {
    reason: 'reviews of customers',
    terms: `reviews review ratings rating stars bazaarvoice yotpo judgeme jdgm okendo loox trustpilot powerreviews
    reevoo feefo ugc questions-answers qa-section customer-questions seller-feedback`,
  },
]).strong

/** With a larger share of the sentences, the reviews are the subject of the page. */
const MAX_SHARE = 0.95

/** Drops customer reviews of a product, and returns whether there were any. */
export function removeReviews(body: Element, statistics: StatisticsMap): boolean {
  const maxProse = statistics.get(body).proseLength * MAX_SHARE
  const terms = new TermReader()
  return removeMatching(body, STEP, (element) => {
    const counts = statistics.get(element)
    if (element === body || counts.mainCount > 0 || counts.h1Count > 0) return undefined
    if (counts.proseLength > maxProse) return undefined
    return terms
      .read(element)
      .map(({ text }) => TERMS.get(text)?.reason)
      .find((reason) => reason !== undefined)
  })
}
