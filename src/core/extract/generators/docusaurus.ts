import type { Generator } from './generator.ts'

/** Docusaurus 2 and 3. */
export const docusaurus: Generator = {
  name: 'docusaurus',
  meta: ['docusaurus'],
  fingerprints: ['#__docusaurus', '.theme-doc-markdown', '#__docusaurus_skipToContent_fallback'],
  content: ['.theme-doc-markdown', '[class*="generatedIndexPage"]', 'main'],
  drop: {
    'a.hash-link': 'permalink',
    '.theme-doc-breadcrumbs': 'breadcrumbs',
    '.theme-doc-toc-mobile, .theme-doc-toc-desktop, .table-of-contents': 'table of contents of the page',
    '.pagination-nav, .theme-doc-sidebar-container, .theme-doc-version-banner': 'navigation',
    '.theme-edit-this-page, .theme-last-updated, .theme-doc-footer, main footer': 'footer of the page',
    '.theme-code-block button, [class*="buttonGroup_"]': 'control',
    '[class*="skipToContent_"]': 'navigation',
    'article > header > div': 'byline',
  },
  keepHidden: ['[role=tabpanel]', 'details'],
}
