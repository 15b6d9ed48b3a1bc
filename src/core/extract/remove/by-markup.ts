import { find } from '../../html/selector.ts'
import type { Element } from '../../html/tree.ts'
import { isSiteNameHeading } from '../content/site-name.ts'
import { linkShare, type Statistics, type StatisticsMap } from '../content/statistics.ts'
import { type ChromeKind, wordsIn } from './chrome-kind.ts'
import { CONTROLS } from './forms.ts'
import { FRAME } from './frame.ts'
import { isTitledMedia } from './media.ts'
import { NAVIGATION } from './navigation.ts'

const ATTRIBUTES = ['role', 'itemprop', 'itemtype', 'rel', 'aria-label'] as const

/** Reasons by attribute and value. */
export type AttributeRules = ReadonlyMap<string, ReadonlyMap<string, string>>

/** Indexes kinds of chrome by attribute and value. If two share a value, the later one gives the reason. */
export function indexAttributes(kinds: readonly ChromeKind[]): AttributeRules {
  return new Map(
    ATTRIBUTES.map((attribute) => [
      attribute,
      new Map(
        kinds.flatMap(({ attributes, reason }) =>
          wordsIn(attributes?.[attribute] ?? '').map((value) => [value.toLowerCase(), reason] as const),
        ),
      ),
    ]),
  )
}

const NON_TEXT_ELEMENTS = new Set(wordsIn('script style template iframe object svg canvas audio video'))

/** Whether an element never holds text of the page. */
export function isNonText(element: Element): boolean {
  return NON_TEXT_ELEMENTS.has(element.name) && !isTitledMedia(element)
}

/** Elements that are chrome by their name alone. */
const BY_NAME: ReadonlyMap<string, string> = new Map([
  ...[...NON_TEXT_ELEMENTS].map((name) => [name, name] as const),
  ...wordsIn('select option optgroup datalist input textarea progress meter legend search').map(
    (name) => [name, CONTROLS.reason] as const,
  ),
  ['nav', NAVIGATION.reason],
  ['menu', NAVIGATION.reason],
])

/** Creates a function that tells whether the name, role or microdata of an element makes it chrome, and why. */
export function createMarkupMatcher(
  rules: AttributeRules,
  statistics: StatisticsMap,
  root: Element,
): (element: Element) => string | undefined {
  const whole = statistics.get(root)
  return (element) => {
    const { name } = element
    if (name === 'html' || name === 'body' || name === 'main' || name === 'article') return undefined
    const counts = statistics.get(element)
    if (isOutsidePage(element, counts, whole)) return name === 'footer' ? FRAME.reason : 'dialog'
    if (isTitledMedia(element)) return undefined
    const reasonByName = BY_NAME.get(name)
    if (reasonByName !== undefined && !outweighsMarkup(counts, whole)) return reasonByName
    if (counts.textLength === 0 || outweighsMarkup(counts, whole) || isAccordion(element, counts)) return undefined
    return reasonOfAttributes(element, rules) ?? reasonOfContents(element, counts, whole)
  }
}

/** Whether an element holds so much of the page that its markup must be wrong. */
function outweighsMarkup(counts: Statistics, whole: Statistics): boolean {
  if (counts.mainCount > 0) return true
  const share = counts.proseLength / Math.max(1, whole.proseLength)
  if (counts.h1Count > 0) return share > 0.2
  return share > 0.6 && counts.textLength > whole.textLength * 0.3 && linkShare(counts) < 0.5
}

/**
 * Whether an element is a footer or a modal dialog of a page with a title and sentences elsewhere. Some hold the terms of the whole site,
 * which are longer than any page of the site.
 */
function isOutsidePage(element: Element, counts: Statistics, whole: Statistics): boolean {
  const isFooterOrModal = element.name === 'footer' ? !isInside(element, 'blockquote') : isModal(element)
  return (
    isFooterOrModal &&
    counts.mainCount === 0 &&
    whole.h1Count > counts.h1Count &&
    whole.proseLength - counts.proseLength >= MIN_PROSE_ELSEWHERE
  )
}

/** Whether an element is a dialog that lies over the page, by its attributes or in the markup of Bootstrap. */
function isModal(element: Element): boolean {
  if (element.attribute('aria-modal') === 'true') return true
  return element.hasClass('modal') && element.elements().some((child) => child.hasClass('modal-dialog'))
}

/** With this many letters in sentences outside an element, the content of the page is not in the element. */
const MIN_PROSE_ELSEWHERE = 500

/** The reason that the attributes of an element give for dropping it. */
export function reasonOfAttributes(element: Element, rules: AttributeRules): string | undefined {
  for (const [name, value] of element.attributes()) {
    const values = rules.get(name)
    if (values === undefined) continue
    const reason = values.get(value.slice(value.lastIndexOf('/') + 1).toLowerCase())
    if (reason !== undefined) return reason
  }
  return undefined
}

/** The reason for names and roles whose meaning depends on the content and the position of the element. */
function reasonOfContents(element: Element, counts: Statistics, whole: Statistics): string | undefined {
  const role = element.attribute('role')
  const isSmall = counts.h1Count === 0 && counts.proseLength < whole.proseLength * SMALL_SHARE
  switch (element.name) {
    case 'footer':
      return isInside(element, 'blockquote') ? undefined : FRAME.reason
    case 'header':
      return (counts.h1Count > 0 && !isMasthead(element)) || SECTIONING.some((name) => isInside(element, name))
        ? undefined
        : FRAME.reason
    case 'aside':
      return isRemark(element) ||
        counts.proseLength > whole.proseLength * (isInside(element, 'article') ? SMALL_SHARE : LARGE_SHARE)
        ? undefined
        : 'aside'
    case 'form':
      return counts.proseLength < (counts.controlCount + 1) * PROSE_PER_CONTROL ? CONTROLS.reason : undefined
    case 'label':
      return counts.controlCount > 0 || element.hasAttribute('for') ? CONTROLS.reason : undefined
    case 'dialog':
      return isSmall ? 'dialog' : undefined
    default:
      if (role === 'dialog') return isSmall ? 'dialog' : undefined
      return (element.name === 'button' || role === 'button') && !isDisclosure(element) ? CONTROLS.reason : undefined
  }
}

/** Whether the heading in a header is only the name of the site. */
function isMasthead(header: Element): boolean {
  const title = find(header, ({ name }) => name === 'h1')
  return title !== undefined && isSiteNameHeading(title)
}

/** A header inside one of these belongs to a part of the page. */
const SECTIONING = ['article', 'main', 'section']

/** A part with a smaller share of the page's prose is not content. */
const SMALL_SHARE = 0.05
/** A part with a larger share of the page's prose may be the main text. */
const LARGE_SHARE = 0.25
/** A form with more prose than this for each of its controls is a page inside a form. */
const PROSE_PER_CONTROL = 120

const REMARK =
  /(?:^|[\s_-])(?:foot|side|margin)?(?:notes?|admonition|callout|tip|hint|warning|caution|important|quote|pullquote)(?:$|[\s_-])/i

/** Whether an aside belongs to the text: a footnote, a warning, a quotation. */
function isRemark(element: Element): boolean {
  if (REMARK.test(element.attribute('class') ?? '') || element.attribute('role')?.startsWith('doc-') === true)
    return true
  for (const child of element.elements()) if (child.name === 'blockquote') return true
  return false
}

/** Whether a button is the heading of the section it opens, as in lists of questions and answers. */
function isDisclosure(element: Element): boolean {
  if (element.hasAttribute('aria-expanded') && element.hasAttribute('aria-controls')) return true
  return HEADING_PARENTS.has(element.parent?.name ?? '')
}

/** Whether a tab list contains its panels, as in accordions. */
function isAccordion(element: Element, { proseLength }: Statistics): boolean {
  return element.attribute('role') === 'tablist' && proseLength > 0
}

const HEADING_PARENTS = new Set(['h2', 'h3', 'h4', 'h5', 'h6', 'dt', 'summary'])

function isInside(element: Element, name: string): boolean {
  for (const ancestor of element.ancestors()) if (ancestor.name === name) return true
  return false
}
