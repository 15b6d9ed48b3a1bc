import { selector } from '../../html/selector.ts'
import type { Element } from '../../html/tree.ts'
import type { Generator } from './generator.ts'

/** VitePress with its default theme. */
export const vitepress: Generator = {
  name: 'vitepress',
  meta: ['vitepress'],
  signs: ['#VPContent', '.VPContent', '.VPDoc', '#VPSidebarNav'],
  content: ['.VPHome', '.vp-doc', '.VPPage', 'main'],
  drop: {
    'a.header-anchor': 'permalink',
    '.VPDocFooter, .VPDocAside, .VPLocalNav, .VPDocOutlineItem': 'navigation',
    'nav.table-of-contents': 'table of contents of the page',
    'button.copy, div[class*=language-] > span.lang, .line-numbers-wrapper': 'control',
  },
  keep: ['.vp-code-group .blocks > div', '.plugin-tabs--content'],
  normalize: normalizeVitepress,
}

const isHeroPart = selector('.VPHero h1 > span, .VPHero .heading > span')

function normalizeVitepress(content: Element): void {
  // The name and the text of a front page stand on lines of their own.
  for (const element of content.descendants()) if (isHeroPart(element)) element.append(' ')
}
