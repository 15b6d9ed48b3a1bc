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
 * Drops the chrome of a site: navigation, banners, forms, legal notes, advertisements. Elements and roles come first, because they are
 * certain; then the authors' names for parts, measured against the rest; then small blocks by their text.
 */
export function removeChrome(root: Element, generator: Generator | undefined): void {
  const known = new SelectorMap(Object.entries(generator?.drop ?? {}))
  const byMarkup = createMarkupJudge(ATTRIBUTES, countStatistics(root), root)
  removeBy(root, STEP, (element) => known.match(element) ?? byMarkup(element))
  const statistics = countStatistics(root)
  removeBy(root, STEP, createNameJudge(TERMS, statistics, root))
  removeByText(root, STEP, statistics)
}
