import type { Element } from '../../html/tree.ts'
import { drop } from '../drop.ts'
import type { Generator } from './generator.ts'
import { leadsOnlyHere } from './rewrite.ts'

/** DocBook by its XSL stylesheets, among them the PostgreSQL documentation. */
export const docbook: Generator = {
  name: 'docbook',
  meta: ['docbook'],
  signs: ['.navheader', '.navfooter', 'div.titlepage'],
  content: ['#docContent', 'body'],
  drop: {
    '.navheader, .navfooter': 'navigation',
    'a.id_link': 'permalink',
  },
  normalize: normalizeDocbook,
}

function normalizeDocbook(content: Element): void {
  for (const element of content.descendants()) {
    if (element.hasClass('toc') && leadsOnlyHere(element)) drop(element, 'docbook', 'table of contents of the page')
  }
}
