import type { Generator } from './generator.ts'

/** MkDocs with its own themes and with Material. */
export const mkdocs: Generator = {
  name: 'mkdocs',
  meta: ['mkdocs'],
  signs: ['.md-content', '[data-md-component]', '#mkdocs_search_modal', '#mkdocs-search-query'],
  content: [
    'article.md-content__inner',
    '.md-content',
    '[itemprop=articleBody]',
    'div.col-md-9[role=main]',
    '[role=main]',
    'main',
  ],
  drop: {
    'a.headerlink': 'permalink',
    '.md-content__button, .md-clipboard, .md-code__button': 'control',
    '.md-source-file, .md-source-date, .md-feedback': 'footer of the page',
    'div.toc, nav.md-nav': 'table of contents of the page',
    '.md-sidebar, .md-footer, .md-tabs, .md-path': 'navigation',
    '.rst-footer-buttons, ul.wy-breadcrumbs': 'navigation',
  },
  keep: ['.tabbed-block', '.tabbed-content', '.md-annotation'],
}
