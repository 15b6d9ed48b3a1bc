import { selector } from '../../html/selector.ts'
import type { Element } from '../../html/tree.ts'
import type { Generator } from './generator.ts'
import { markChanges, strengthen } from './rewrite.ts'

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
    '.expressive-code .copy': 'control',
  },
  keep: ['[role=tabpanel]'],
  normalize: normalizeStarlight,
}

const isCode = selector('.expressive-code pre')
const isCardTitle = selector('.card > .title')

function normalizeStarlight(content: Element): void {
  for (const element of content.descendants()) {
    if (isCardTitle(element)) strengthen(element)
    else if (isCode(element)) markChanges(element, signOf)
  }
}

function signOf(line: Element): '+' | '-' | '' | undefined {
  if (!line.hasClass('ec-line')) return undefined
  return line.hasClass('ins') ? '+' : line.hasClass('del') ? '-' : ''
}
