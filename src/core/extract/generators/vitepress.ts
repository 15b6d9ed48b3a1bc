import { compileSelector } from '../../html/selector.ts'
import type { Element } from '../../html/tree.ts'
import type { Generator } from './generator.ts'
import { writeDiffMarks } from './rewrite.ts'

/** VitePress with its default theme. */
export const vitepress: Generator = {
  name: 'vitepress',
  meta: ['vitepress'],
  fingerprints: ['#VPContent', '.VPContent', '.VPDoc', '#VPSidebarNav'],
  content: ['.VPHome', '.vp-doc', '.VPPage', 'main'],
  drop: {
    'a.header-anchor': 'permalink',
    '.VPDocFooter, .VPDocAside, .VPLocalNav, .VPDocOutlineItem': 'navigation',
    'nav.table-of-contents': 'table of contents of the page',
    'button.copy, div[class*=language-] > span.lang, .line-numbers-wrapper': 'control',
  },
  keepHidden: ['.vp-code-group .blocks > div', '.plugin-tabs--content'],
  normalize: normalizeVitepress,
}

const isHeroPart = compileSelector('.VPHero h1 > span, .VPHero .heading > span')

function normalizeVitepress(content: Element): void {
  for (const element of content.descendants()) {
    // Browsers show the name and the text of a front page on separate lines; in Markdown a space separates them.
    if (isHeroPart(element)) element.append(' ')
    else if (element.hasClass('has-diff')) writeDiffMarks(element, signOf)
  }
}

function signOf(line: Element): '+' | '-' | '' | undefined {
  if (!line.hasClass('line')) return undefined
  return line.hasClass('add') ? '+' : line.hasClass('remove') ? '-' : ''
}
