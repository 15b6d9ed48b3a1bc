import type { Generator } from './generator.ts'

/** AsciiDoc by Asciidoctor, AsciiDoc.py or Antora. */
export const asciidoctor: Generator = {
  name: 'asciidoctor',
  meta: ['asciidoctor', 'asciidoc', 'antora'],
  signs: ['article.doc .sect1', 'div.sectionbody', 'div.admonitionblock', 'div.listingblock'],
  content: ['article.doc', 'body'],
  drop: {
    '#toc, .toc, aside.toc': 'table of contents of the page',
    '#header > .details': 'byline',
    '#footer, #footer-text': 'footer of the page',
    'a.anchor': 'permalink',
    'nav.pagination, nav.breadcrumbs, .toolbar, .nav-container, .breadcrumbs, .edit-this-page': 'navigation',
    '.source-toolbox': 'control',
  },
  keep: ['.tabpanel', '[role=tabpanel]', '#header', '#content'],
}
