import { HEADINGS } from '../../html/names.ts'
import { find } from '../../html/selector.ts'
import type { Element } from '../../html/tree.ts'
import { linkShare, type Statistics } from '../content/statistics.ts'

/*
 * A name or a heading alone does not distinguish chrome from content: "Comments" may be a chapter about a language, "cookies" one about a
 * protocol. These checks decide by the content of the part.
 */

const FIELDS = new Set(['form', 'input', 'select', 'textarea'])

/** Finds elements that hold form fields, dropped or not. */
export class Forms {
  readonly #root: Element
  #around: ReadonlySet<Element> | undefined

  constructor(root: Element) {
    this.#root = root
  }

  isIn(element: Element): boolean {
    this.#around ??= findAround(this.#root)
    return this.#around.has(element)
  }
}

function findAround(root: Element): ReadonlySet<Element> {
  const around = new Set<Element>()
  const visit = (element: Element): boolean => {
    let isField = FIELDS.has(element.name) && element.attribute('type') !== 'hidden'
    for (const child of element.children) if (typeof child !== 'string' && visit(child)) isField = true
    if (isField) around.add(element)
    return isField
  }
  visit(root)
  return around
}

/** A part with a larger share of its text in links leads elsewhere. */
const LINK_SHARE = 0.4

export function isLinkDense(counts: Statistics): boolean {
  return linkShare(counts) > LINK_SHARE
}

/** Whether a part is a row of cards: headings that each link to a page. */
export function isCards({ headings, links, codes }: Statistics): boolean {
  return headings > 1 && links >= headings && codes === 0
}

/** Whether a part explains its own heading in sentences or code, as a section does. */
export function isSection(counts: Statistics): boolean {
  return counts.headings > 0 && (counts.prose > 0 || counts.codes > 0) && !isLinkDense(counts) && !isCards(counts)
}

const COMMENT =
  /(?:^|[\s_-])(?:comment|commenter|comments?-?(?:list|body|author|content|meta)|reply|avatar)(?:$|[\s_-])/i

/** Whether an element holds the markup that programs write around reader comments. */
export function holdsComments(element: Element): boolean {
  return (
    find(element, (inner) => !HEADINGS.has(inner.name) && COMMENT.test(inner.attribute('class') ?? '')) !== undefined
  )
}
