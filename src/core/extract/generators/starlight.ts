import type { Generator } from './generator.ts'

/** Starlight, the documentation theme of Astro. */
export const starlight: Generator = {
  name: 'starlight',
  meta: ['starlight'],
  signs: ['.sl-markdown-content', 'starlight-toc', 'starlight-theme-select'],
  content: ['main'],
  drop: {
    'a.sl-anchor-link': 'permalink',
    'mobile-starlight-toc, starlight-toc': 'table of contents of the page',
    '.pagination-links, .sl-banner, starlight-menu-button': 'navigation',
    'main footer': 'footer of the page',
    '.expressive-code .copy, starlight-tabs [role=tablist]': 'control',
  },
  keep: ['[role=tabpanel]'],
}
