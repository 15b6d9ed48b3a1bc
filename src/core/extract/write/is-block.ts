import type { Element } from '../../html/tree.ts'

const BLOCK_ELEMENTS: ReadonlySet<string> = new Set(
  `address article aside blockquote body center dd details dialog dir div dl dt fieldset figcaption figure footer form
  h1 h2 h3 h4 h5 h6 header hgroup hr html legend li listing main menu nav ol optgroup p plaintext pre search section
  summary table tbody td tfoot th thead tr ul xmp Admonition CodeBlock Footnote Mark Signature Tab`.split(/\s+/),
)

/** Whether an element is always on lines of its own. Other elements may still contain blocks. */
export function isBlock(element: Element): boolean {
  return BLOCK_ELEMENTS.has(element.name) || (element.name === 'Math' && element.attribute('Display') === 'true')
}
