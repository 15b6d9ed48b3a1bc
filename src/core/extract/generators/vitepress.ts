import type { Generator } from './generator.ts'

/** VitePress with its default theme. */
export const vitepress: Generator = {
  name: 'vitepress',
  meta: ['vitepress'],
  signs: ['#VPContent', '.VPContent', '.VPDoc', '#VPSidebarNav'],
  content: ['.vp-doc', '.VPHome', '.VPPage', 'main'],
  drop: {
    'a.header-anchor': 'permalink',
    '.VPDocFooter, .VPDocAside, .VPLocalNav, .VPDocOutlineItem': 'navigation',
    'nav.table-of-contents': 'table of contents of the page',
    'button.copy, div[class*=language-] > span.lang, .line-numbers-wrapper': 'control',
  },
  keep: ['.vp-code-group .blocks > div', '.plugin-tabs--content'],
}
