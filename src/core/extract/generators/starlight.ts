import { compileSelector } from '../../html/selector.ts'
import type { Element } from '../../html/tree.ts'
import type { Generator } from './generator.ts'
import { makeStrong, writeDiffMarks } from './rewrite.ts'

/** Starlight, the documentation theme of Astro. */
export const starlight: Generator = {
  name: 'starlight',
  meta: ['starlight'],
  fingerprints: ['.sl-markdown-content', 'starlight-toc', 'starlight-theme-select'],
  content: ['main'],
  drop: {
    'a.sl-anchor-link': 'permalink',
    'mobile-starlight-toc, starlight-toc': 'table of contents of the page',
    '.pagination-links, .sl-banner, starlight-menu-button': 'navigation',
    'main footer': 'footer of the page',
    '.expressive-code .copy': 'control',
  },
  keepHidden: ['[role=tabpanel]'],
  normalize: normalizeStarlight,
}

const isCode = compileSelector('.expressive-code pre')
const isCardTitle = compileSelector('.card > .title')

function normalizeStarlight(content: Element): void {
  for (const element of content.descendants()) {
    if (isCardTitle(element)) makeStrong(element)
    else if (isCode(element)) writeDiffMarks(element, signOf)
  }
}

function signOf(line: Element): '+' | '-' | '' | undefined {
  if (!line.hasClass('ec-line')) return undefined
  return line.hasClass('ins') ? '+' : line.hasClass('del') ? '-' : ''
}
