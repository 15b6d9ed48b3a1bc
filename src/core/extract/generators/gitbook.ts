import type { Generator } from './generator.ts'

/** GitBook: the old program, HonKit, which goes on with it, and the hosted service. */
export const gitbook: Generator = {
  name: 'gitbook',
  meta: ['gitbook', 'honkit'],
  signs: ['.book .book-body', '.book-summary', '.gitbook-root', '#book-search-results'],
  content: ['section.markdown-section', '.markdown-section', '.page-inner', 'main'],
  drop: {
    '.search-results, .book-header, .book-summary, a.navigation': 'navigation',
    'a.gitbook-link, .treeview__container-title': 'navigation',
    'a.plugin-anchor, a.anchor-navigation-ex-anchor': 'permalink',
    '.page-footer, .footer-modification': 'footer of the page',
  },
  keep: ['[role=tabpanel]'],
}
