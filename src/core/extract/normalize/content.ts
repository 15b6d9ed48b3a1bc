import { SelectorMap } from '../../html/selector.ts'
import type { Element, Node } from '../../html/tree.ts'
import { ADMONITION_SELECTOR, normalizeAdmonition } from './admonitions.ts'
import { CODE_TITLE_SELECTOR, normalizeCodeTitle, normalizeInlineCode, normalizePre } from './code.ts'
import { normalizeAccordion, normalizeDetails } from './details.ts'
import { Footnotes } from './footnotes.ts'
import { normalizeHeading, normalizePermalink } from './headings.ts'
import { normalizeImage } from './images.ts'
import { MATH_IMAGE_SELECTOR, MATH_SELECTOR, normalizeMath, restoreMathScript } from './math.ts'
import type { Rule } from './rule.ts'
import { normalizeSignature, normalizeTerm, SIGNATURE_SELECTOR } from './signatures.ts'
import { normalizeTable } from './tables.ts'
import { normalizeTabs, TABS_SELECTOR } from './tabs.ts'

/*
 * Markup that means the same is converted to one form, which the writer understands. The elements and attributes of this
 * form begin with a capital letter. Names in a document are in lower case, so no page can claim them.
 *
 *   CodeBlock Lang          a block of code; its text is the code
 *   Signature               a declaration; its text is the code, on one line
 *   Admonition Kind Title   NOTE, TIP, IMPORTANT, WARNING or CAUTION, and the title if it differs from the kind
 *   Tab Label               one panel of a tab set
 *   Math Tex Display        a formula; Display is 'true' for one on lines of its own
 *   Mark Anchor             the fragment of the text that begins here; the element is empty
 *   FootnoteRef Label       the mark in the text
 *   Footnote Label          the note itself
 *   h1 … h6 Anchor          the fragment that leads to a heading
 *   img, picture Source     the address of a picture for readers without scripts
 *
 * Everything else keeps its HTML elements, for example `details`, `figure`, `picture`, definition lists and tables; the
 * writer converts them to Markdown. A table that is only used for layout becomes `div`s.
 */

/** Converts the content to the common form. Elements that already have it stay unchanged. */
export function normalizeContent(content: Element): void {
  const footnotes = new Footnotes()
  const visit: Rule = (element, siblings, index) => {
    if (element.dropped !== undefined) restoreMathScript(element)
    if (element.dropped !== undefined || isFinished(element)) return
    RULES.match(element)?.(element, siblings, index)
    if (element.dropped !== undefined || isFinished(element)) return
    RULES_BY_NAME.get(element.name)?.(element, siblings, index)
    if (element.dropped !== undefined || isFinished(element)) return
    footnotes.collect(element)
    walk(element.children)
  }
  const walk = (siblings: readonly Node[]) => {
    for (let index = 0; index < siblings.length; index++) {
      const node = siblings[index]
      if (node !== undefined && typeof node !== 'string') visit(node, siblings, index)
    }
  }
  visit(content, [content], 0)
  footnotes.resolve()
}

/** Whether an element has its final form: it holds only text, without markup to normalize. */
function isFinished(element: Element): boolean {
  return element.name === 'CodeBlock' || element.name === 'Math' || element.name === 'Signature'
}

/** Only the first matching rule applies to an element, so specific rules come first. */
const RULES = new SelectorMap<Rule>([
  [MATH_SELECTOR, normalizeMath],
  [MATH_IMAGE_SELECTOR, normalizeMath],
  [CODE_TITLE_SELECTOR, normalizeCodeTitle],
  [SIGNATURE_SELECTOR, normalizeSignature],
  [TABS_SELECTOR, normalizeTabs],
  [ADMONITION_SELECTOR, normalizeAdmonition],
])

/** Rules by element name, applied after the rules by selector, so that a meaningless class cannot prevent them. */
const RULES_BY_NAME: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ['details', normalizeDetails],
  ['pre', normalizePre],
  ['listing', normalizePre],
  ['xmp', normalizePre],
  ['plaintext', normalizePre],
  ['code', normalizeInlineCode],
  ['h1', normalizeHeading],
  ['h2', normalizeHeading],
  ['h3', normalizeHeading],
  ['h4', normalizeHeading],
  ['h5', normalizeHeading],
  ['h6', normalizeHeading],
  ['a', normalizePermalink],
  ['table', normalizeTable],
  ['dt', normalizeTerm],
  ['button', normalizeAccordion],
  ['img', normalizeImage],
  ['picture', normalizeImage],
])
