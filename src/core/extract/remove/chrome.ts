import { SelectorMap } from '../../html/selector.ts'
import type { Element } from '../../html/tree.ts'
import { countStatistics } from '../content/statistics.ts'
import type { Generator } from '../generators/generator.ts'
import { createMarkupJudge, indexAttributes } from './by-markup.ts'
import { createNameJudge, indexTerms } from './by-name.ts'
import { removeByText } from './by-text.ts'
import { CONCERNS } from './concerns.ts'
import { removeBy } from './remove-by.ts'

const STEP = 'chrome'
const ATTRIBUTES = indexAttributes(CONCERNS)
const TERMS = indexTerms(CONCERNS)

/**
 * Drops what surrounds content on the pages of a site: navigation, banners, forms, legal notes, advertisements. First
 * what elements and roles say, which is certain; then, measured by what is left, what authors' names for parts suggest;
 * then small blocks by what they say.
 */
export function removeChrome(root: Element, generator: Generator | undefined): void {
  const known = new SelectorMap(Object.entries(generator?.drop ?? {}))
  const byMarkup = createMarkupJudge(ATTRIBUTES, countStatistics(root), root)
  removeBy(root, STEP, (element) => known.match(element) ?? byMarkup(element))
  const statistics = countStatistics(root)
  removeBy(root, STEP, createNameJudge(TERMS, statistics, root))
  removeByText(root, STEP, statistics)
}
