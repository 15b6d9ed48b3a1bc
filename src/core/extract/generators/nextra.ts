import type { Generator } from './generator.ts'

/** Nextra with its theme for documentation. */
export const nextra: Generator = {
  name: 'nextra',
  meta: ['nextra'],
  signs: [
    '.nextra-content',
    '.nextra-toc',
    '.nextra-code',
    '.nextra-code-block',
    '.nextra-navbar',
    '.nextra-nav-container',
    '.nextra-breadcrumb',
  ],
  content: ['main[data-pagefind-body]', 'article main', 'main', 'article'],
  drop: {
    'a.subheading-anchor': 'permalink',
    '.nextra-breadcrumb, .nextra-toc, .nextra-sidebar, .nextra-sidebar-container': 'navigation',
    '.nextra-code button, .nextra-code-block button, pre button': 'control',
    '.nextra-skip-nav': 'navigation',
  },
  keep: ['[role=tabpanel]'],
}
