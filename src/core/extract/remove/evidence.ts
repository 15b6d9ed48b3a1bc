import { HEADINGS } from '../../html/element-names.ts'
import { find } from '../../html/selector.ts'
import type { Element } from '../../html/tree.ts'
import { linkShare, type Statistics } from '../content/statistics.ts'

/*
 * A name or a heading alone does not distinguish chrome from content: "Comments" may be a chapter about a language, "cookies" one about a
 * protocol. These checks decide by the content of the part.
 */

const FIELDS = new Set(['form', 'input', 'select', 'textarea'])

/** Finds elements that hold form fields, dropped or not. */
export class FormFinder {
  readonly #root: Element
  #formAncestors: ReadonlySet<Element> | undefined

  constructor(root: Element) {
    this.#root = root
  }

  hasForm(element: Element): boolean {
    this.#formAncestors ??= findFormAncestors(this.#root)
    return this.#formAncestors.has(element)
  }
}

function findFormAncestors(root: Element): ReadonlySet<Element> {
  const ancestors = new Set<Element>()
  const visit = (element: Element): boolean => {
    let hasField = FIELDS.has(element.name) && element.attribute('type') !== 'hidden'
    for (const child of element.children) if (typeof child !== 'string' && visit(child)) hasField = true
    if (hasField) ancestors.add(element)
    return hasField
  }
  visit(root)
  return ancestors
}

/** A part with a larger share of its text in links leads elsewhere. */
const LINK_SHARE = 0.4

export function isLinkDense(counts: Statistics): boolean {
  return linkShare(counts) > LINK_SHARE
}

/** Whether a part is a row of cards: headings that each link to a page. */
export function isCardRow({ headingCount, linkCount, codeBlockCount }: Statistics): boolean {
  return headingCount > 1 && linkCount >= headingCount && codeBlockCount === 0
}

/** Whether a part explains its own heading in sentences or code, as a section does. */
export function isSection(counts: Statistics): boolean {
  return (
    counts.headingCount > 0 &&
    (counts.proseLength > 0 || counts.codeBlockCount > 0) &&
    !isLinkDense(counts) &&
    !isCardRow(counts)
  )
}

const COMMENT =
  /(?:^|[\s_-])(?:comment|commenter|comments?-?(?:list|body|author|content|meta)|reply|avatar)(?:$|[\s_-])/i

/** Whether an element holds the markup that programs write around reader comments. */
export function holdsComments(element: Element): boolean {
  return (
    find(element, (inner) => !HEADINGS.has(inner.name) && COMMENT.test(inner.attribute('class') ?? '')) !== undefined
  )
}
