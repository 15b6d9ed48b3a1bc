import type { Element } from '../../html/tree.ts'
import type { StatisticsMap } from '../content/statistics.ts'
import { indexTerms } from './by-name.ts'
import type { ChromeKind } from './chrome-kind.ts'
import { FormFinder, holdsComments, isSection } from './evidence.ts'
import { removeMatching } from './remove-matching.ts'
import { TermReader } from './terms.ts'

const COMMENTS: ChromeKind = {
  reason: 'comments of readers',
  terms: `comments comment-list commentlist comment-section comment-thread comment-threads comment-box comment-area
    comments-area comments-box comments-list comments-wrapper respond comment-form
    commentform disqus wpdiscuz wpdcom livefyre coral-talk hyvor-talk utterances giscus webmentions pingbacks`,
}
const STEP = 'comments'
const TERMS = indexTerms([COMMENTS]).strong

/** With a larger share of the page's sentences and text, the element called comments is the subject of the page. */
const MAX_SHARE = 0.85

/** Drops reader comments under a page, and returns whether there were any. Not for forums, where the posts are the page. */
export function removeComments(body: Element, statistics: StatisticsMap): boolean {
  const maxProse = statistics.get(body).proseLength * MAX_SHARE
  const maxText = statistics.get(body).textLength * MAX_SHARE
  const terms = new TermReader()
  const forms = new FormFinder(body)
  return removeMatching(body, STEP, (element) => {
    const counts = statistics.get(element)
    if (element === body || counts.mainCount > 0 || counts.h1Count > 0) return undefined
    if (counts.proseLength > maxProse && counts.textLength > maxText) return undefined
    if (!terms.read(element).some(({ text }) => TERMS.has(text))) return undefined
    // A chapter about comments has the same name, but no form to write one.
    return isSection(counts) && !forms.hasForm(element) && !holdsComments(element) ? undefined : COMMENTS.reason
  })
}
