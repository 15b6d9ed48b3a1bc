import type { Generator } from './generator.ts'

/** Texinfo by makeinfo or texi2any. */
export const texinfo: Generator = {
  name: 'texinfo',
  meta: ['texi2any', 'makeinfo', 'texi2html'],
  signs: ['a.copiable-link', 'a.copiable-anchor', 'div.nav-panel'],
  content: ['body'],
  drop: {
    'div.nav-panel, body > div.header, div.section > div.header, div.chapter > div.header, div.top > div.header':
      'navigation',
    'a.copiable-link, a.copiable-anchor': 'permalink',
    '#SEC_Contents, #SEC_Overview, .shortcontents, div.contents, .region-contents': 'table of contents of the page',
  },
}
