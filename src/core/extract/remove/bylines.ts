import type { Element } from '../../html/tree.ts'
import type { StatisticsMap } from '../content/statistics.ts'
import { indexAttributes, reasonOfAttributes } from './by-markup.ts'
import { createNameJudge, indexTerms } from './by-name.ts'
import { removeBy } from './remove-by.ts'
import { BYLINES } from './sharing.ts'

const STEP = 'byline'
const ATTRIBUTES = indexAttributes([BYLINES])
const TERMS = indexTerms([BYLINES])

/** Drops who wrote a page, when, and how it is filed, which its metadata tells. Posts of a forum keep theirs. */
export function removeBylines(content: Element, statistics: StatisticsMap): void {
  const judge = createNameJudge(TERMS, statistics, content)
  removeBy(content, STEP, (element) =>
    element === content ? undefined : (reasonOfAttributes(element, ATTRIBUTES) ?? judge(element)),
  )
}
