import { FRAME } from '../../html/names.ts'
import { find, selector } from '../../html/selector.ts'
import { type Element, lineOf, type Node, textOf } from '../../html/tree.ts'
import { drop } from '../drop.ts'
import type { Generator } from '../generators/generator.ts'
import { type HidingRule, HidingRules, type Sheet } from './hidden/hiding-rules.ts'
import { Controls, isFrame, keepTest } from './hidden/kept.ts'
import { mediaApplies } from './hidden/media.ts'
import { readDeclarations } from './hidden/stylesheet.ts'
import { judgeDeclarations, type Verdicts } from './hidden/visibility.ts'

const STEP = 'hidden'

/**
 * Drops what no reader would have seen: scripts, what attributes, `style` attributes or the page's own style sheets hide,
 * text for screen readers only. Content that opens with a click stays. Returns how many characters of text were hidden,
 * not counting scripts and their kin, which never are text.
 */
export function removeHidden(root: Element, generator: Generator | undefined): number {
  const survey = surveyDocument(root)
  removeUnseen(survey)
  const rules = new HidingRules(survey.sheets, (name) => survey.names.has(name))
  const isKept = keepTest(generator, survey.controls)
  const ignored = new Set<unknown>()
  for (let attempt = 1; ; attempt++) {
    const found = findHidden(root, (element, isInFrame) => {
      const hidden = whyHidden(element, rules, ignored)
      return hidden === undefined || isKept(element, isInFrame) ? undefined : hidden
    })
    if (found.size === 0) return 0
    const excess = causeOfTooMuch(found, lineOf(root).length)
    if (excess === undefined || attempt === MAX_ATTEMPTS) return dropAll(found)
    ignored.add(excess)
  }
}

/** What the step needs to know about a document before it starts. */
interface Survey {
  /** Elements that are never text. */
  readonly unseen: Element[]
  /** The outermost ones. */
  readonly noscripts: Element[]
  readonly sheets: Sheet[]
  /** Every class (`.a`) and id (`#a`), where there are style sheets that could name them. */
  readonly names: Set<string>
  readonly controls: Controls
}

const NEVER_TEXT = new Set(['head', 'script', 'style', 'datalist'])

function surveyDocument(root: Element): Survey {
  const survey: Survey = { unseen: [], noscripts: [], sheets: [], names: new Set(), controls: new Controls() }
  const visit = (element: Element, isInNoscript: boolean) => {
    const { name } = element
    if (name === 'style') {
      const applies = mediaApplies(element.attribute('media') ?? '')
      if (applies !== 'never') survey.sheets.push({ css: textOf(element), isConditional: applies === 'sometimes' })
    }
    // A template with a shadow root is shown like any element.
    const isTemplate = name === 'template' && !element.hasAttribute('shadowrootmode')
    if (NEVER_TEXT.has(name) || isTemplate) survey.unseen.push(element)
    const isNoscript = name === 'noscript'
    if (isNoscript && !isInNoscript) survey.noscripts.push(element)
    if (isTemplate) return
    survey.controls.add(element)
    for (const child of element.children) if (typeof child !== 'string') visit(child, isInNoscript || isNoscript)
  }
  visit(root, false)
  if (survey.sheets.length > 0) gatherNames(root, survey.names)
  return survey
}

function gatherNames(root: Element, names: Set<string>): void {
  /** Lists of classes, which repeat from element to element. */
  const known = new Set<string>()
  const visit = (element: Element) => {
    if (element.id !== '') names.add(`#${element.id}`)
    const list = element.attribute('class')
    if (list !== undefined && !known.has(list)) {
      known.add(list)
      for (const className of element.classes) names.add(`.${className}`)
    }
    for (const child of element.children) if (typeof child !== 'string') visit(child)
  }
  visit(root)
}

/** A page that says so many times as much without scripts as with them lives by the former. */
const MUCH_MORE = 4

function removeUnseen({ unseen, noscripts }: Survey): void {
  for (const element of unseen) drop(element, STEP, element.name)
  const [first] = noscripts
  if (first === undefined) return
  const without = noscripts.reduce((sum, element) => sum + lineOf(element).length, 0)
  for (const element of noscripts) drop(element, STEP, 'noscript')
  let root = first
  while (root.parent !== undefined) root = root.parent
  const shown = lineOf(root).length
  if (without <= MUCH_MORE * shown) return
  unwrap(noscripts)
}

/** Puts what elements hold in their place, so that it is a part of the page like any other. */
function unwrap(elements: readonly Element[]): void {
  const wrappers = new Set<Node>(elements)
  for (const parent of new Set(elements.map((element) => element.parent))) {
    if (parent === undefined) continue
    parent.children = parent.children.flatMap((child) =>
      typeof child !== 'string' && wrappers.has(child) ? child.children : child,
    )
    for (const child of parent.children) if (typeof child !== 'string') child.parent = parent
  }
}

/** Why an element is hidden, and by what: the rule, the element itself, or the habit of making things transparent. */
interface Hidden {
  readonly reason: string
  readonly cause: HidingRule | Element | typeof FADING
}

const FADING = 'opacity'

const SCREEN_READER_CLASS =
  /(?:^|\s)(?:[\w-]*[-:])?(?:sr-only|visually-?hidden|hidden-visually|screen-reader-(?:text|only)|show-for-sr|element-invisible|a11y-hidden|accessibly-hidden)(?=\s|$)/

/** In code most classes have one letter. */
const SHORTEST_CLASS = 'sr-only'

function whyHidden(element: Element, rules: HidingRules, ignored: ReadonlySet<unknown>): Hidden | undefined {
  const reason = ignored.has(element) ? undefined : reasonInElement(element)
  if (reason !== undefined) return { reason, cause: element }
  const style = element.attribute('style')
  const inline: Verdicts = style === undefined ? {} : judgeDeclarations(readDeclarations(style), true)
  if (!ignored.has(element)) {
    const byElement = (because: string): Hidden => ({ reason: because, cause: element })
    if (inline.display?.hides || inline.visibility?.hides || inline.box?.hides) return byElement('style attribute')
    if (inline.font?.hides && isPlain(element)) return byElement('font size 0')
  }
  if (inline.opacity?.hides && !ignored.has(FADING) && !willFadeIn(element)) {
    return { reason: 'transparent', cause: FADING }
  }
  // Nobody hides the content of a page for good.
  if (element.name === 'main') return undefined
  const rule = rules.match(element, inline).find((one) => !ignored.has(one) && isMeant(one, element))
  return rule === undefined ? undefined : { reason: `style sheet: ${rule.selector}`, cause: rule }
}

/** Why an element is hidden by what it is and by its attributes, its style apart. */
function reasonInElement(element: Element): string | undefined {
  if (element.isBare) return element.name === 'dialog' ? 'closed dialog' : undefined
  const hidden = element.attribute('hidden')
  if (hidden !== undefined && hidden.toLowerCase() !== 'until-found') return 'hidden attribute'
  if (element.name === 'dialog' && !element.hasAttribute('open')) return 'closed dialog'
  if (element.hasAttribute('popover')) return 'closed popover'
  if (element.attribute('aria-hidden') === 'true' && isFrame(element)) return 'closed menu or dialog'
  const className = element.attribute('class') ?? ''
  const isLongEnough = className.length >= SHORTEST_CLASS.length
  return isLongEnough && SCREEN_READER_CLASS.test(className) && !className.includes('not-sr-only')
    ? 'for screen readers only'
    : undefined
}

/** Whether a rule of a style sheet is meant to hide for good, not to close gaps or to begin an animation. */
function isMeant({ aspect }: HidingRule, element: Element): boolean {
  if (aspect === 'font') return isPlain(element)
  return aspect !== 'opacity' || !willFadeIn(element)
}

/** Marks of the libraries that show parts of a page as it is scrolled. */
function willFadeIn(element: Element): boolean {
  if (/anim|fade|reveal|appear|aos|wow|lazy|loading/i.test(element.attribute('class') ?? '')) return true
  return [...element.attributes()].some(([name]) => /^data-(?:aos|w-id|framer|sal|scroll|anim|motion)/.test(name))
}

/** Whether nothing in an element can have a size of its own. Around boxes, `font-size: 0` only closes the gaps. */
function isPlain(element: Element): boolean {
  return element.children.every(
    (child) => typeof child === 'string' || !(child.hasAttribute('class') || child.hasAttribute('style')),
  )
}

/** The outermost elements that are hidden. */
function findHidden(
  root: Element,
  why: (element: Element, isInFrame: boolean) => Hidden | undefined,
): Map<Element, Hidden> {
  const found = new Map<Element, Hidden>()
  const visit = (element: Element, isInFrame: boolean) => {
    if (element.dropped !== undefined) return
    const hidden = why(element, isInFrame)
    if (hidden !== undefined) {
      found.set(element, hidden)
      return
    }
    const isNowInFrame = isInFrame || FRAME.has(element.name)
    for (const child of element.children) if (typeof child !== 'string') visit(child, isNowInFrame)
  }
  visit(root, false)
  return found
}

/** So often a rule that hides too much is set aside; each time the document is gone through once more. */
const MAX_ATTEMPTS = 5

/** A rule that hides more than this of a page is undone by a script: the page appears when it is loaded. */
const MOST_OF_A_RULE = 0.5
/** One element may hide more, as long as it does not hold the page itself. */
const MOST_OF_AN_ELEMENT = 0.8
/** What holds the page itself, or fades in when a script says so, may hide less. */
const MOST_WITH_PAGE = 0.4
const MOST_OF_A_FADING = 0.2
/** In less text than this shares mean little: a short page may well hide a long text. */
const ENOUGH_TEXT = 1000

function causeOfTooMuch(found: ReadonlyMap<Element, Hidden>, textLength: number): unknown {
  const lengths = new Map<Hidden['cause'], number>()
  for (const [element, { cause }] of found) {
    const length = (lengths.get(cause) ?? 0) + lineOf(element).length
    lengths.set(cause, length)
    const share = length / textLength
    if (share > MOST_OF_A_FADING && isFading(cause)) return cause
    if (share > MOST_WITH_PAGE && holdsPage(element)) return cause
    const most = cause === element ? MOST_OF_AN_ELEMENT : MOST_OF_A_RULE
    if (textLength >= ENOUGH_TEXT && share > most) return cause
  }
  return undefined
}

function isFading(cause: Hidden['cause']): boolean {
  return typeof cause === 'object' && 'aspect' in cause && (cause.aspect === 'opacity' || cause.aspect === 'font')
}

const PAGE = selector('html, body, main, article, h1, [role=main]')

function holdsPage(element: Element): boolean {
  return find(element, PAGE) !== undefined
}

function dropAll(found: ReadonlyMap<Element, Hidden>): number {
  let chars = 0
  for (const [element, { reason }] of found) {
    chars += lineOf(element).length
    drop(element, STEP, reason)
  }
  return chars
}
