import { compileSelector } from '../../html/selector.ts'
import type { Element } from '../../html/tree.ts'
import type { Generator } from './generator.ts'
import { makeStrong, replaceWithCode } from './rewrite.ts'

/** YARD, documentation of Ruby libraries. */
export const yard: Generator = {
  name: 'yard',
  meta: ['yard'],
  fingerprints: [
    '#class_list_link.full_list_link',
    '.method_details',
    'ul.summary > li > .summary_signature',
    '.box_info > dl > dt.first',
  ],
  content: ['#content', '#main'],
  drop: {
    'small > a.summary_toggle, a.summary_toggle': 'control',
    'h2 > small, a.inheritanceTree, a.toggleSource': 'control',
    'table.source_code td > pre.lines': 'line numbers',
    '.notetag > strong': 'title of a note',
    '#search, #menu, #toc': 'navigation',
    '#footer': 'footer of the page',
  },
  keepHidden: ['table.source_code', '.fullTree'],
  normalize: normalizeYard,
}

const isSignature = compileSelector('h3.signature')
const isSourceLayout = compileSelector(
  'table.source_code, table.source_code tr, table.source_code td, table.source_code tbody',
)
const isCode = compileSelector('pre.code')

function normalizeYard(content: Element): void {
  for (const element of content.descendants()) {
    if (isSignature(element)) replaceWithCode(element)
    else if (element.hasClass('tag_title')) makeStrong(element)
    else if (isSourceLayout(element)) element.name = 'div'
    else if (isCode(element)) element.setAttribute('class', 'language-ruby')
  }
}
