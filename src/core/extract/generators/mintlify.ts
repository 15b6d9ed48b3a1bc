import type { Generator } from './generator.ts'

/** Mintlify, a hosted service. */
export const mintlify: Generator = {
  name: 'mintlify',
  meta: ['mintlify'],
  fingerprints: ['.mdx-content', '#content-area #header'],
  content: ['#content-area', '.mdx-content', 'main'],
  drop: {
    '#pagination, #sidebar, #navbar': 'navigation',
    '#header .eyebrow, .eyebrow': 'breadcrumbs',
    '#table-of-contents, #table-of-contents-layout': 'table of contents of the page',
    '.feedback-toolbar, #page-context-menu, #footer, #feedback-form': 'footer of the page',
    '[data-component-part=code-block-copy-button], [data-floating-buttons], .code-block button': 'control',
    'a.anchor-link, [aria-label="Navigate to header"]': 'permalink',
  },
  keepHidden: ['[role=tabpanel]', '#header', '.accordion-content'],
}
