import { selector } from '../../html/selector.ts'
import type { Element } from '../../html/tree.ts'
import type { Generator } from './generator.ts'
import { fill, fillWithCode } from './rewrite.ts'

/** Documentation of Rust crates. */
export const rustdoc: Generator = {
  name: 'rustdoc',
  meta: ['rustdoc'],
  signs: ['body.rustdoc', 'rustdoc-search', '.rustdoc-breadcrumbs'],
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
  keep: ['details.toggle', '.docblock', '.item-decl'],
  normalize: normalizeRustdoc,
}

const isCodeHeading = selector('.code-header, .in-band > code')
const isBadge = selector('dt > .stab, .item-name > .stab')
const isClause = selector('pre .where')
const isRust = selector('pre.rust')

function normalizeRustdoc(content: Element): void {
  for (const element of content.descendants()) {
    if (isCodeHeading(element)) fillWithCode(element)
    else if (isRust(element)) element.setAttribute('class', 'language-rust')
    else if (element.hasClass('code-attribute')) element.append('\n')
    else if (isBadge(element)) fill(element, [' ', ...element.children])
    else if (isClause(element)) fill(element, ['\n', ...element.children])
    // The text says that a member is deprecated; the class only fades it.
    else if (element.name === 'details') element.setAttribute('class', 'toggle')
  }
}
