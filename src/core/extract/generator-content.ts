import { getOrAdd } from '../get-or-add.ts'
import { HEADINGS } from '../html/element-names.ts'
import { find, SelectorMap } from '../html/selector.ts'
import { type Element, holdsText, lineOf } from '../html/tree.ts'
import { findTitle } from './content/title.ts'
import { drop } from './drop.ts'
import type { Generator } from './generators/generator.ts'

const STEP = 'generator'

/** An element with less text than this is not the content, but a container that scripts fill. */
const MIN_CONTENT_CHARS = 20

/**
 * Finds the element in which the generator puts the content of a page, and drops the parts that the generator adds to it. If the heading of
 * the page precedes the content, the result begins with the heading.
 */
export function takeGeneratorContent(root: Element, generator: Generator | undefined): Element[] | undefined {
  if (generator === undefined || generator.hasChrome === true) return undefined
  const rules = rulesOf(generator)
  for (const [content, ...others] of findContentElements(root, rules.contentRanks)) {
    if (content === undefined) continue
    if (generator.isContentRepeatable === true && others.length > 0) {
      for (const element of [content, ...others]) dropBy(rules.drops, element)
      return undefined
    }
    const title = find(content, isTitle) === undefined ? findTitle(root, content) : undefined
    const found = title === undefined || isInDropped(title, rules.drops) ? [content] : [title, content]
    for (const element of found) dropBy(rules.drops, element)
    return found
  }
  return undefined
}

/** Whether an element is in a part that the generator adds to every page, such as the bar with the title of a whole book. */
function isInDropped(element: Element, drops: SelectorMap<string>): boolean {
  return [element, ...element.ancestors()].some((current) => drops.match(current) !== undefined)
}

/** The rules of a generator, compiled for matching. */
interface Rules {
  /** Ranks of the content selectors; 0 is the best. */
  readonly contentRanks: SelectorMap<number>
  /** For each selector of parts to drop, the reason. */
  readonly drops: SelectorMap<string>
}

/** Compiled once for each generator, because a site has many pages. */
const rulesByGenerator = new WeakMap<Generator, Rules>()

function rulesOf(generator: Generator): Rules {
  return getOrAdd(rulesByGenerator, generator, () => ({
    contentRanks: new SelectorMap(generator.content.map((selector, rank) => [selector, rank] as const)),
    drops: new SelectorMap(Object.entries(generator.drop ?? {})),
  }))
}

/** Elements that never contain the content of a page. Skipping their descendants saves time: most elements are inside one of them. */
const TOO_SMALL = new Set(['p', 'pre', 'ul', 'ol', 'dl', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'a', 'span', 'code'])

/** The elements with text for each selector, best selector first. */
function findContentElements(root: Element, ranks: SelectorMap<number>): Element[][] {
  const found = new Map<number, Element[]>()
  // Matches of a selector inside another match of it are part of the same content.
  const visit = (element: Element, ranksAbove: readonly number[]) => {
    const rank = ranks.match(element)
    const isOuter = rank !== undefined && !ranksAbove.includes(rank)
    if (isOuter && holdsText(element, MIN_CONTENT_CHARS)) {
      const elements = found.get(rank)
      if (elements === undefined) found.set(rank, [element])
      else elements.push(element)
    }
    if (TOO_SMALL.has(element.name)) return
    const ranksInside = isOuter ? [...ranksAbove, rank] : ranksAbove
    for (const child of element.children) {
      if (typeof child !== 'string' && child.dropped === undefined) visit(child, ranksInside)
    }
  }
  visit(root, [])
  return [...found].sort(([a], [b]) => a - b).map(([, elements]) => elements)
}

function dropBy(rules: SelectorMap<string>, content: Element): void {
  for (const child of content.children) {
    if (typeof child === 'string') continue
    const reason = isHeadingText(child) ? undefined : rules.match(child)
    if (reason !== undefined) drop(child, STEP, reason)
    if (child.dropped === undefined) dropBy(rules, child)
  }
}

/** Whether an element holds the whole text of a heading: some generators make the whole heading a link to itself. */
function isHeadingText(element: Element): boolean {
  const { parent } = element
  return (
    parent !== undefined && HEADINGS.has(parent.name) && WORD.test(lineOf(element)) && !hasOtherText(parent, element)
  )
}

function hasOtherText(parent: Element, element: Element): boolean {
  return parent.children.some((child) => child !== element && lineOf(child) !== '')
}

const WORD = /[\p{L}\p{N}]/u

function isTitle(element: Element): boolean {
  return element.name === 'h1'
}
