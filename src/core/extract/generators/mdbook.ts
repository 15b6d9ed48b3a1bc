import type { Generator } from './generator.ts'

/** mdBook, which also makes the books of the Rust project. */
export const mdbook: Generator = {
  name: 'mdbook',
  meta: ['mdbook'],
  fingerprints: [
    '#sidebar-toggle-anchor',
    '#mdbook-sidebar',
    '.sidebar-scrollbox',
    'mdbook-sidebar-scrollbox',
    '#menu-bar-hover-placeholder',
  ],
  content: ['#content main', '#mdbook-content main', 'main'],
  drop: {
    '.nav-wrapper, .nav-wide-wrapper, .nav-chapters, .mobile-nav-chapters': 'navigation',
    'pre .buttons, .menu-bar, #search-wrapper': 'control',
    'code span.boring': 'hidden line of an example',
  },
}
