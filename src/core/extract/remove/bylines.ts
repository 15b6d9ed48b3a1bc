import type { Element } from '../../html/tree.ts'
import type { StatisticsMap } from '../content/statistics.ts'
import { indexAttributes, reasonOfAttributes } from './by-markup.ts'
import { createNameMatcher, indexTerms } from './by-name.ts'
import type { ChromeKind } from './chrome-kind.ts'
import { removeMatching } from './remove-matching.ts'

const STEP = 'bylines'

const BYLINES: ChromeKind = {
  reason: 'byline',
  attributes: { rel: 'author tag', itemprop: 'author publisher datePublished dateModified' },
  terms: `byline bylines author-box authorbox author-info author-card author-profile author-details author-meta
    author-block about-author about-the-author post-author article-author entry-author author-name author-avatar
    authorship contributor contributors bio post-meta entry-meta article-meta postmeta entrymeta meta-info
    article-info post-info entry-footer post-footer article-footer posted-on posted-by post-date entry-date
    article-date publish-date published-date pubdate publication-date date-published last-updated last-modified
    updated-on timestamp dateline read-time reading-time readtime readingtime min-read time-to-read tag-list
    tags-list post-tags entry-tags article-tags tagcloud tags-links cat-links post-categories entry-categories
    entry-category post-category taxonomy eyebrow kicker photo-credit
    image-credit`,
  weakTerms: 'author authors tags tag meta categories date byline-block vcard',
}

const ATTRIBUTES = indexAttributes([BYLINES])
const TERMS = indexTerms([BYLINES])

/** Drops the author, the date and the tags of a page, because they are in its metadata. Posts of a forum keep theirs. */
export function removeBylines(content: Element, statistics: StatisticsMap): void {
  const reasonOfName = createNameMatcher(TERMS, statistics, content)
  removeMatching(content, STEP, (element) => {
    // A date in a table is data.
    if (element === content || element.parent?.name === 'td') return undefined
    return reasonOfAttributes(element, ATTRIBUTES) ?? reasonOfName(element)
  })
}
