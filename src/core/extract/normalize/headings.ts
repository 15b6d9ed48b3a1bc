import { Element, type Node } from '../../html/tree.ts'
import { decodePart } from '../../url/decode-part.ts'
import { drop } from '../drop.ts'
import { elementAfter, elementBefore, hasText, listDescendants, type Rule, shortText, wrapChildren } from './rule.ts'

const STEP = 'headings'
const MAX_DESCENDANTS = 200

/** Gives a heading its fragment, and removes links that only lead to it. */
export const normalizeHeading: Rule = (heading, siblings, index) => {
  const descendants = listDescendants(heading, MAX_DESCENDANTS)
  const permalinks = descendants.filter((element) => isPermalink(element, true))
  const next = elementAfter(siblings, index)
  if (next !== undefined && isPermalink(next, false)) permalinks.push(next)
  if (heading.attribute('Anchor') === undefined) {
    const anchor = findAnchor(heading, descendants, permalinks, siblings, index)
    if (anchor !== '') heading.setAttribute('Anchor', anchor)
  }
  for (const link of permalinks) drop(link, STEP, 'link to a heading')
  for (const element of descendants) {
    if (element.hasClass('mw-editsection')) drop(element, STEP, 'link to edit')
    // A fragment link leads to the heading itself or to a table of contents, so only its text is kept.
    else if (element.name === 'a' && element.attribute('href')?.startsWith('#') === true) element.name = 'span'
  }
  normalizeButtons(heading, descendants)
  if (heading.hasClass('code-header') && !descendants.some(({ name }) => name === 'code')) {
    wrapChildren(heading, new Element('code'))
  }
}

/** Drops buttons beside the text of a heading, which are controls. A button that is the whole heading becomes text. */
function normalizeButtons(heading: Element, descendants: readonly Element[]): void {
  const buttons = descendants.filter(({ name }) => name === 'button')
  if (buttons.length === 0) return
  for (const button of buttons) button.dropped ??= { step: STEP, reason: 'button in a heading' }
  if (hasText(heading)) return
  for (const button of buttons) {
    button.dropped = undefined
    button.name = 'span'
  }
}

const MAX_WRAPPERS = 4

function findAnchor(
  heading: Element,
  descendants: readonly Element[],
  permalinks: readonly Element[],
  siblings: readonly Node[],
  index: number,
): string {
  if (heading.id !== '') return heading.id
  for (const link of permalinks) {
    const fragment = fragmentOf(link)
    if (fragment !== '') return fragment
  }
  for (const element of descendants) {
    const id = element.name === 'a' ? element.id || (element.attribute('name') ?? '') : element.id
    if (id !== '' && element.name !== 'button') return id
  }
  const before = elementBefore(siblings, index)
  if (before !== undefined) return isTarget(before) ? before.id || (before.attribute('name') ?? '') : ''
  let first: Element = heading
  for (let depth = 0; depth < MAX_WRAPPERS; depth++) {
    const { parent } = first
    if (parent === undefined || firstChild(parent) !== first) return ''
    if (parent.id !== '') return parent.id
    first = parent
  }
  return ''
}

/** Whether an element has no text and is only the target of links. */
function isTarget(element: Element): boolean {
  return (element.name === 'a' || element.name === 'span') && !hasText(element)
}

function firstChild(parent: Element): Node | undefined {
  return parent.children.find((child) =>
    typeof child === 'string' ? child.trim() !== '' : child.dropped === undefined,
  )
}

function fragmentOf(link: Element): string {
  const href = link.attribute('href') ?? ''
  const at = href.indexOf('#')
  return at === -1 ? '' : decodePart(href.slice(at + 1))
}

const PERMALINK_CLASSES = new Set(
  `headerlink hash-link header-anchor heading-anchor anchor anchor-link anchorjs-link permalink direct-link zola-anchor
  self-link id_link heading-link header-link headinglink section-link doc-anchor anchor-heading`.split(/\s+/),
)
const PERMALINK_SIGNS = /^(?:(?:[¶#§∞🔗⚓\s]|\u200b|\ufe0e|\ufe0f)*|permalink|anchor|\[?link\]?|copy link)$/iu
const PERMALINK_PHRASES =
  /^(?:permalink (?:to|for)|link to this|direct link to|anchor (?:to|for|link)|copy link to|section titled) ?/i
const MAX_LABEL = 200

/** Whether an element is a permalink: a link that only leads to its own position. */
export function isPermalink(element: Element, isInHeading: boolean): boolean {
  if (element.name !== 'a') return false
  const href = element.attribute('href') ?? ''
  const hasPermalinkClass = element.hasAttribute('class') && element.classes.some((name) => PERMALINK_CLASSES.has(name))
  if (!hasPermalinkClass && !(isInHeading && href.includes('#'))) return false
  const text = shortText(element, MAX_LABEL)
  if (text === undefined) return false
  if (text === '') return href !== '' && listDescendants(element, 5).every(({ name }) => name !== 'img')
  return PERMALINK_SIGNS.test(text) || PERMALINK_PHRASES.test(text)
}

/** Drops permalinks outside of headings. */
export const normalizePermalink: Rule = (element) => {
  if (element.hasAttribute('class') && isPermalink(element, false)) drop(element, STEP, 'link to itself')
}
