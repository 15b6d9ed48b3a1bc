import { find, SelectorMap, selector } from '../html/selector.ts'
import { type Element, lineOf } from '../html/tree.ts'
import { drop } from './drop.ts'
import type { Generator } from './generators/generator.ts'

const STEP = 'generator'

/** With less text than this an element is a frame that scripts fill, not the content. */
const LEAST_CHARS = 20

/**
 * The content of a page where its generator has put it, if it says so. A manual means what it says: all of it counts, but
 * for what the generator itself adds. The heading of the page comes first where it stands before the content.
 */
export function takeKnownContent(root: Element, generator: Generator | undefined): Element[] | undefined {
  if (generator === undefined || generator.isMixed === true) return undefined
  const rules = new SelectorMap(Object.entries(generator.drop ?? {}))
  for (const element of root.descendants()) {
    const reason = rules.match(element)
    if (reason !== undefined) drop(element, STEP, reason)
  }
  for (const place of generator.content) {
    const content = find(root, selector(place))
    if (content === undefined || lineOf(content).length < LEAST_CHARS) continue
    const title = find(content, isTitle) === undefined ? findTitle(root, content) : undefined
    return title === undefined ? [content] : [title, content]
  }
  return undefined
}

function isTitle(element: Element): boolean {
  return element.name === 'h1'
}

/** The heading of the page where it stands before what holds the content. */
function findTitle(root: Element, content: Element): Element | undefined {
  let title: Element | undefined
  for (const element of root.descendants()) {
    if (element === content) return title
    if (isTitle(element)) title = element
  }
  return undefined
}
