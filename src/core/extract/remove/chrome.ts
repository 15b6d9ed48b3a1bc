import { SelectorMap } from '../../html/selector.ts'
import type { Element } from '../../html/tree.ts'
import { countStatistics } from '../content/statistics.ts'
import type { Generator } from '../generators/generator.ts'
import { CHROME_KINDS } from './all-chrome-kinds.ts'
import { createMarkupMatcher, indexAttributes } from './by-markup.ts'
import { createNameMatcher, indexTerms } from './by-name.ts'
import { removeByText } from './by-text.ts'
import { removeMatching } from './remove-matching.ts'

const STEP = 'chrome'
const ATTRIBUTES = indexAttributes(CHROME_KINDS)
const TERMS = indexTerms(CHROME_KINDS)

/**
 * Drops the chrome of a site: navigation, banners, forms, legal notes, advertisements. Element names and roles are checked first, because
 * they are certain. Then come classes and ids, which must fit the content of the part, and then small blocks by their text.
 */
export function removeChrome(root: Element, generator: Generator | undefined): void {
  const byGenerator = new SelectorMap(Object.entries(generator?.drop ?? {}))
  const byMarkup = createMarkupMatcher(ATTRIBUTES, countStatistics(root), root)
  removeMatching(root, STEP, (element) => byGenerator.match(element) ?? byMarkup(element))
  const statistics = countStatistics(root)
  removeMatching(root, STEP, createNameMatcher(TERMS, statistics, root))
  removeByText(root, STEP, statistics)
}
