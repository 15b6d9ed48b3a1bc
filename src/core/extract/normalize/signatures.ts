import type { Element } from '../../html/tree.ts'
import { drop } from '../drop.ts'
import { isPermalink } from './headings.ts'
import { listDescendants, type Rule, shortText } from './rule.ts'

const STEP = 'signatures'

/** Declarations in reference pages of Sphinx, Javadoc and Doxygen. */
export const SIGNATURE_SELECTOR = 'dt.sig, dt.sig-object, div.member-signature, div.memproto'

/** Text of links to the source code, which do not belong to the declaration. */
const SOURCE_LINK = /^\[?(?:source|src|view source)\]?$/i
const MAX_DESCENDANTS = 500
const MAX_LABEL = 20

export const normalizeSignature: Rule = (element) => {
  for (const child of listDescendants(element, MAX_DESCENDANTS)) {
    if (child.name !== 'a' && !child.hasClass('viewcode-link')) continue
    if (isPermalink(child, true) || SOURCE_LINK.test(shortText(child, MAX_LABEL) ?? ''))
      drop(child, STEP, 'link beside a declaration')
  }
  element.name = 'Signature'
}

/** Converts the declarations of older versions of Sphinx: terms that contain the name of a declaration. */
export const normalizeTerm: Rule = (element, siblings, index) => {
  const isSignature = [...element.elements()].some((child) => isDeclarationName(child))
  if (isSignature) normalizeSignature(element, siblings, index)
}

function isDeclarationName(element: Element): boolean {
  return element.hasClass('descname') || element.hasClass('sig-name')
}
