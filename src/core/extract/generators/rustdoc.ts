import { compileSelector } from '../../html/selector.ts'
import type { Element } from '../../html/tree.ts'
import type { Generator } from './generator.ts'
import { replaceChildren, replaceWithCode } from './rewrite.ts'

/** Documentation of Rust crates. */
export const rustdoc: Generator = {
  name: 'rustdoc',
  meta: ['rustdoc'],
  fingerprints: ['body.rustdoc', 'rustdoc-search', '.rustdoc-breadcrumbs'],
  content: ['#main-content', 'main'],
  drop: {
    'a.src, a.srclink, .rightside, span.out-of-band, .main-heading .since, .main-heading > .sub-heading':
      'link to the source',
    'a.anchor, a.doc-anchor': 'permalink',
    'rustdoc-toolbar, rustdoc-topbar, #copy-path, #toggle-all-docs, button, .collapse-toggle': 'control',
    'a.test-arrow, .tooltip, .example-wrap > .information': 'control',
    '.toggle-label, .toggle-wrapper > .collapse-toggle': 'control',
    '.rustdoc-breadcrumbs': 'breadcrumbs',
    'summary.hideme': 'control',
    '.sidebar': 'navigation',
    '.notable-traits': 'tooltip',
    '.stab > .emoji': 'decoration',
  },
  keepHidden: ['details.toggle', '.docblock', '.item-decl'],
  normalize: normalizeRustdoc,
}

const isCodeHeading = compileSelector('.code-header, .in-band > code')
const isBadge = compileSelector('dt > .stab, .item-name > .stab')
const isWhereClause = compileSelector('pre .where')
const isRust = compileSelector('pre.rust')

function normalizeRustdoc(content: Element): void {
  for (const element of content.descendants()) {
    if (isCodeHeading(element)) replaceWithCode(element)
    else if (isRust(element)) element.setAttribute('class', 'language-rust')
    else if (element.hasClass('code-attribute')) element.append('\n')
    else if (isBadge(element)) replaceChildren(element, [' ', ...element.children])
    else if (isWhereClause(element)) replaceChildren(element, ['\n', ...element.children])
    // The class `deprecated` would turn the whole member into a warning.
    else if (element.name === 'details') element.setAttribute('class', 'toggle')
  }
}
