import { CHROME_ELEMENTS } from '../../html/element-names.ts'
import { compileSelector, find } from '../../html/selector.ts'
import { type Element, lineOf } from '../../html/tree.ts'
import { drop } from '../drop.ts'
import type { ElementIndex } from '../element-index.ts'
import type { Generator } from '../generators/generator.ts'
import { Controls, createContentTest, isMenuOrDialog } from './hidden/hidden-content.ts'
import { type HidingRule, HidingRules, type Sheet } from './hidden/hiding-rules.ts'
import { lineLength } from './hidden/line-length.ts'
import { mediaApplies } from './hidden/media.ts'
import { isForScreenReaders } from './hidden/screen-readers.ts'
import { readDeclarations } from './hidden/stylesheet.ts'
import { readVisibility, type VisibilityByAspect } from './hidden/visibility.ts'

const STEP = 'hidden'

/**
 * Drops invisible parts: elements hidden by attributes, `style` attributes or the page's own style sheets, and text for screen readers
 * only. Content that opens with a click stays. Returns the number of hidden characters.
 */
export function removeHidden(index: ElementIndex, generator: Generator | undefined): number {
  const rules = new HidingRules(sheetsIn(index), createNameTest(index))
  const isKept = createContentTest(generator, new Controls(index))
  const ignoredCauses = new Set<unknown>()
  const findReason = (element: Element): HidingReason | undefined => findHidingReason(element, rules, ignoredCauses)
  for (let attempt = 1; ; attempt++) {
    const found = rules.isEmpty
      ? findHiddenAmong(index.hideable, findReason, isKept)
      : findHidden(index.root, findReason, isKept)
    const excessiveCause = attempt < MAX_ATTEMPTS ? findExcessiveCause(found, index.root) : undefined
    if (excessiveCause === undefined) return dropAll(found)
    ignoredCauses.add(excessiveCause)
  }
}

function sheetsIn({ styles }: ElementIndex): Sheet[] {
  const sheets: Sheet[] = []
  for (const style of styles) {
    const applies = mediaApplies(style.attribute('media') ?? '')
    // The style element is already dropped, because it is never text.
    if (applies !== 'never') sheets.push({ css: style.children.join(''), isConditional: applies === 'sometimes' })
  }
  return sheets
}

/**
 * Creates a test for whether a class (`.a`) or id (`#a`) occurs in a document. Both sets are built on demand, because most pages need only
 * one.
 */
function createNameTest({ withId, classLists }: ElementIndex): (name: string) => boolean {
  let ids: Set<string> | undefined
  let classes: Set<string> | undefined
  return (name) => {
    if (name.startsWith('#')) {
      ids ??= new Set(withId.map(({ id }) => id))
      return ids.has(name.slice(1))
    }
    classes ??= new Set([...classLists].flat())
    return classes.has(name.slice(1))
  }
}

/** Why an element is hidden, and the cause: the rule, the element itself, or FADING for a transparent element. */
interface HidingReason {
  readonly reason: string
  readonly cause: HidingRule | Element | typeof FADING
}

const FADING = 'opacity'

function findHidingReason(
  element: Element,
  rules: HidingRules,
  ignoredCauses: ReadonlySet<unknown>,
): HidingReason | undefined {
  const reason = ignoredCauses.has(element) ? undefined : reasonInElement(element)
  if (reason !== undefined) return { reason, cause: element }
  const style = element.attribute('style')
  const inline: VisibilityByAspect = style === undefined ? {} : readVisibility(readDeclarations(style), true)
  if (!ignoredCauses.has(element)) {
    const byElement = (detail: string): HidingReason => ({ reason: detail, cause: element })
    if (inline.display?.isHidden || inline.visibility?.isHidden || inline.box?.isHidden)
      return byElement('style attribute')
    if (inline.font?.isHidden && isPlain(element)) return byElement('font size 0')
  }
  if (inline.opacity?.isHidden && !ignoredCauses.has(FADING) && !willFadeIn(element)) {
    return { reason: 'transparent', cause: FADING }
  }
  // Sites do not hide the main content permanently.
  if (element.name === 'main') return undefined
  const rule = rules.match(element, inline).find((one) => !ignoredCauses.has(one) && isPermanent(one, element))
  return rule === undefined ? undefined : { reason: `style sheet: ${rule.selector}`, cause: rule }
}

/** Whether an element is hidden by its attributes, regardless of style sheets. */
export function isHiddenByItself(element: Element): boolean {
  return findHidingReason(element, NO_RULES, NO_CAUSES) !== undefined
}

const NO_RULES = new HidingRules([], () => false)
const NO_CAUSES: ReadonlySet<unknown> = new Set()

/** The reason why an element is hidden by its name and attributes, without its style. */
function reasonInElement(element: Element): string | undefined {
  if (element.hasNoAttributes) return element.name === 'dialog' ? 'closed dialog' : undefined
  const hidden = element.attribute('hidden')
  if (hidden !== undefined && hidden.toLowerCase() !== 'until-found') return 'hidden attribute'
  if (element.name === 'dialog' && !element.hasAttribute('open')) return 'closed dialog'
  if (element.hasAttribute('popover')) return 'closed popover'
  if (element.attribute('aria-hidden') === 'true' && isMenuOrDialog(element)) return 'closed menu or dialog'
  return isForScreenReaders(element.attribute('class') ?? '') ? 'for screen readers only' : undefined
}

/** Whether a style sheet rule hides permanently, instead of closing gaps or starting an animation. */
function isPermanent({ aspect }: HidingRule, element: Element): boolean {
  if (aspect === 'font') return isPlain(element)
  return aspect !== 'opacity' || !willFadeIn(element)
}

/** Whether an element has the marks of libraries that reveal parts of a page on scroll. */
function willFadeIn(element: Element): boolean {
  if (/anim|fade|reveal|appear|aos|wow|lazy|loading/i.test(element.attribute('class') ?? '')) return true
  return [...element.attributes()].some(([name]) => /^data-(?:aos|w-id|framer|sal|scroll|anim|motion)/.test(name))
}

/** Whether no child can have its own font size. Around boxes, `font-size: 0` only closes gaps. */
function isPlain(element: Element): boolean {
  return element.children.every(
    (child) => typeof child === 'string' || !(child.hasAttribute('class') || child.hasAttribute('style')),
  )
}

type HidingTest = (element: Element) => HidingReason | undefined
type KeepTest = (element: Element, isInFrame: boolean) => boolean

/** An element that is hidden, and the length of its text. */
interface HiddenElement {
  readonly element: Element
  readonly hidden: HidingReason
  readonly chars: number
}

function createHiddenElement(element: Element, hidden: HidingReason): HiddenElement {
  return { element, hidden, chars: lineOf(element).length }
}

/** The outermost elements that are hidden. */
function findHidden(root: Element, findReason: HidingTest, isKept: KeepTest): HiddenElement[] {
  const found: HiddenElement[] = []
  const visit = (element: Element, isInFrame: boolean) => {
    if (element.dropped !== undefined) return
    const hidden = findReason(element)
    if (hidden !== undefined && !isKept(element, isInFrame)) {
      found.push(createHiddenElement(element, hidden))
      return
    }
    const isNowInFrame = isInFrame || CHROME_ELEMENTS.has(element.name)
    for (const child of element.children) if (typeof child !== 'string') visit(child, isNowInFrame)
  }
  visit(root, false)
  return found
}

/** Like {@link findHidden}, if only `elements` can be hidden. They are in source order. */
function findHiddenAmong(elements: readonly Element[], findReason: HidingTest, isKept: KeepTest): HiddenElement[] {
  const found: HiddenElement[] = []
  /** Hidden elements are often siblings, so the region of the last parent is cached. */
  let parent: Element | undefined
  let region: Region = 'page'
  for (const element of elements) {
    const hidden = element.dropped === undefined ? findReason(element) : undefined
    if (hidden === undefined) continue
    // Elements come in document order, so only the last found element can contain this one.
    if (element.parent !== parent) region = regionOf(element, found.at(-1)?.element)
    parent = element.parent
    if (region !== 'dropped' && !isKept(element, region === 'frame')) found.push(createHiddenElement(element, hidden))
  }
  return found
}

/** The position of an element: inside a dropped part, in the frame around a page, or in the page itself. */
type Region = 'dropped' | 'frame' | 'page'

function regionOf(element: Element, hidden: Element | undefined): Region {
  let region: Region = 'page'
  for (let at = element.parent; at !== undefined; at = at.parent) {
    if (at.dropped !== undefined || at === hidden) return 'dropped'
    if (CHROME_ELEMENTS.has(at.name)) region = 'frame'
  }
  return region
}

/** Limit for how often a rule that hides too much is set aside; each attempt walks the document again. */
const MAX_ATTEMPTS = 5

/** A rule that hides a larger share of a page is not permanent: a script shows the page when it has loaded. */
const MAX_RULE_SHARE = 0.5
/** A single element may hide more, unless it holds the page itself. */
const MAX_ELEMENT_SHARE = 0.8
/** The limit for an element that holds the page itself. */
const MAX_PAGE_ELEMENT_SHARE = 0.4
/** The limit for style sheet rules about opacity and font size, which scripts often undo. */
const MAX_FADING_SHARE = 0.2
/** In shorter text shares mean little: a short page may hide a long text. */
const MIN_TEXT_CHARS = 1000

/** The first cause that hides too much of the page to be permanent. */
function findExcessiveCause(found: readonly HiddenElement[], root: Element): unknown {
  const hiddenLength = found.reduce((sum, { chars }) => sum + chars, 0)
  // In a text longer than this, the hidden part would not be too much.
  const textLength = lineLength(root, Math.ceil(hiddenLength / MAX_FADING_SHARE))
  const lengths = new Map<HidingReason['cause'], number>()
  for (const { element, hidden, chars } of found) {
    const { cause } = hidden
    const length = (lengths.get(cause) ?? 0) + chars
    lengths.set(cause, length)
    const share = length / textLength
    if (share > MAX_FADING_SHARE && isFadingRule(cause)) return cause
    if (share > MAX_PAGE_ELEMENT_SHARE && holdsPage(element)) return cause
    const maxShare = cause === element ? MAX_ELEMENT_SHARE : MAX_RULE_SHARE
    if (textLength >= MIN_TEXT_CHARS && share > maxShare) return cause
  }
  return undefined
}

function isFadingRule(cause: HidingReason['cause']): boolean {
  return typeof cause === 'object' && 'aspect' in cause && (cause.aspect === 'opacity' || cause.aspect === 'font')
}

const PAGE = compileSelector('html, body, main, article, h1, [role=main]')

function holdsPage(element: Element): boolean {
  return find(element, PAGE) !== undefined
}

function dropAll(found: readonly HiddenElement[]): number {
  for (const { element, hidden } of found) drop(element, STEP, hidden.reason)
  return found.reduce((sum, { chars }) => sum + chars, 0)
}
