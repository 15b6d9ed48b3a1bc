import { INLINE_ELEMENTS } from '../../html/element-names.ts'
import { find } from '../../html/selector.ts'
import { type Element, lineOf, type Node } from '../../html/tree.ts'
import { linkShare, type Statistics, type StatisticsMap } from '../content/statistics.ts'
import { drop } from '../drop.ts'
import { indexAttributes, reasonOfAttributes } from './by-markup.ts'
import { createNameMatcher, indexTerms } from './by-name.ts'
import type { ChromeKind } from './chrome-kind.ts'

const STEP = 'offers'

/** Text that a shop repeats on every product page: how products are sold, not what they are. */
const SALES: readonly ChromeKind[] = [
  {
    reason: 'terms of sale',
    maxChars: 1500,
    terms: `shipping-info shipping-returns delivery-info delivery-options delivery returns return-policy financing
      installments payment payments payment-methods afterpay klarna affirm laybuy trust-badge trust-badges trust
      protections buyer-protection usp usps reassurance guarantees availability store-availability pickup
      click-collect back-in-stock stock-status rewards loyalty`,
  },
  {
    reason: 'choice of a variant',
    maxChars: 1500,
    attributes: { role: 'radiogroup' },
    terms: 'variation variations variant-picker variant-selector swatch swatches option options size-selector',
  },
  { reason: 'message', maxChars: 600, terms: 'validation alert alerts error errors message messages badge' },
]

const ATTRIBUTES = indexAttributes(SALES)
const TERMS = indexTerms(SALES)

/**
 * Drops from a product page everything about buying and everything that leads away: labels above its name, prices, lone links, choices,
 * messages.
 */
export function removeOffers(content: Element, statistics: StatisticsMap): void {
  const whole = statistics.get(content)
  const byName = createNameMatcher(TERMS, statistics, content)
  let isBeforeTitle = whole.h1Count > 0
  const visit = (element: Element) => {
    if (element.name === 'pre') return
    for (const child of partsOf(element, statistics)) {
      const counts = statistics.get(child)
      if (child.name === 'h1') isBeforeTitle = false
      const reason =
        counts.h1Count > 0
          ? undefined
          : (reasonOfAttributes(child, ATTRIBUTES) ??
            byName(child) ??
            reasonOfState(child, counts, whole) ??
            (counts.proseLength > 0 ? undefined : reasonOfLabel(child, counts, isBeforeTitle)))
      if (reason !== undefined) drop(child, STEP, reason)
      else visit(child)
      // After the first sentence no part is a label above the title: the title may come late, below headings of the description.
      if (reason === undefined && counts.proseLength > 0) isBeforeTitle = false
    }
  }
  visit(content)
}

/** Child elements outside of text lines: blocks, and inline elements alone on their line. */
function partsOf(element: Element, statistics: StatisticsMap): Element[] {
  const parts: Element[] = []
  let line: Node[] = []
  const endLine = () => {
    const [only] = line
    if (line.length === 1 && typeof only === 'object') parts.push(only)
    line = []
  }
  for (const child of element.children) {
    if (typeof child === 'string') {
      if (child.trim() !== '') line.push(child)
    } else if (child.dropped === undefined && statistics.get(child).textLength > 0) {
      if (INLINE_ELEMENTS.has(child.name)) line.push(child)
      else {
        endLine()
        parts.push(child)
      }
    }
  }
  endLine()
  return parts
}

/** The reason to drop parts that scripts fill with cart messages, and slides with their pictures and captions. */
function reasonOfState(element: Element, { proseLength }: Statistics, whole: Statistics): string | undefined {
  if (proseLength > whole.proseLength * SMALL_SHARE) return undefined
  const live = element.attribute('aria-live')
  if (live !== undefined && live !== 'off') return 'message'
  return element.attribute('role') === 'group' ? 'choice of a variant' : undefined
}

const SMALL_SHARE = 0.1

/** The reason to drop a part without a sentence. */
function reasonOfLabel(element: Element, counts: Statistics, isBeforeTitle: boolean): string | undefined {
  if (isBeforeTitle) return 'before the title'
  if (DATA_ELEMENTS.has(element.name)) return undefined
  if (linkShare(counts) > LINK_SHARE && isLinkElsewhere(element)) return 'link to another page'
  return counts.textLength <= MAX_PRICE_CHARS && PRICE.test(lineOf(element)) ? 'price' : undefined
}

/** A price in a table is data; a term may be a link that opens its description. */
const DATA_ELEMENTS = new Set(['table', 'thead', 'tbody', 'tr', 'td', 'th', 'dl', 'dt', 'dd', 'summary'])
const LINK_SHARE = 0.9
const MAX_PRICE_CHARS = 60
const PRICE =
  /(?:\p{Sc}|\b(?:USD|EUR|GBP|CHF|CAD|AUD))\s?\d|\d\s?(?:\p{Sc}|(?:USD|EUR|GBP|CHF|CAD|AUD|SEK|NOK|DKK|PLN|kr|zł|Kč)(?!\p{L}))/u

/** Whether the first link in an element leads to another page instead of opening a part of this one. */
function isLinkElsewhere(element: Element): boolean {
  const link = find(element, ({ name }) => name === 'a')
  return !(link?.attribute('href') ?? '').startsWith('#')
}
