import { compileSelector } from '../../html/selector.ts'
import type { Element } from '../../html/tree.ts'
import type { Generator } from './generator.ts'
import {
  codeOf,
  createElement,
  makeSignature,
  makeStrong,
  removeLinks,
  renameElement,
  replaceChildren,
} from './rewrite.ts'

/** Javadoc of JDK 8 and later. */
export const javadoc: Generator = {
  name: 'javadoc',
  meta: ['javadoc'],
  fingerprints: [
    'body.class-declaration-page',
    'body.package-declaration-page',
    'body.module-declaration-page',
    '.topNav ul.navList',
    '.bottomNav ul.navList',
    '.contentContainer',
    '.fixedNav',
  ],
  content: ['main', 'body'],
  drop: {
    '.topNav, .bottomNav, .subNav, .fixedNav, .top-nav, .bottom-nav, .sub-nav, .skipNav, .skip-nav': 'navigation',
    'header, nav, .navPadding, footer, .legalCopy': 'navigation',
    'ul.sub-nav-list, .sub-nav-list': 'navigation',
    'nav.toc, .toc': 'table of contents of the page',
    '.table-tabs, .tableTab, .activeTableTab, .tabEnd': 'control',
    'button, .copy, #search-input-container, .skip-nav': 'control',
    'a.anchor-link': 'permalink',
  },
  keepHidden: ['[role=tabpanel]', '.summary-table', '.col-first', '.col-second', '.col-last', '.header'],
  normalize: normalizeJavadoc,
}

const isSignature = compileSelector('.member-signature, .type-signature, .module-signature, .package-signature')
const isTitle = compileSelector('h1.title, h2.title')
/** Lists that are only used for layout. */
const LAYOUT_LISTS = 'summary-list details-list member-list block-list blockList blockListLast'.split(' ')
const isLayout = compileSelector(LAYOUT_LISTS.map((name) => `ul.${name}, ul.${name} > li`).join(', '))

function normalizeJavadoc(content: Element): void {
  for (const element of content.descendants()) {
    if (isSignature(element)) makeSignature(element)
    else if (isTitle(element)) removeLinks(element)
    else if (isLayout(element)) renameElement(element, 'div')
    else if (element.name === 'div' && element.hasClass('caption')) makeStrong(element)
    else if (element.hasClass('summary-table')) makeTable(element)
    else if (element.name === 'code' && hasBreak(element)) replaceChildren(element, [codeOf(element)])
  }
}

function hasBreak(element: Element): boolean {
  for (const child of element.elements()) if (child.name === 'br') return true
  return false
}

/** Turns a grid into a table. Since JDK 16 a grid has the heads of all columns and then the cells of each row. */
function makeTable(grid: Element): void {
  const cells = [...grid.elements()]
  const heads = cells.filter((cell) => cell.hasClass('table-header'))
  const rows: Element[] = []
  for (const [i, cell] of cells.entries()) {
    if (i % Math.max(1, heads.length) === 0) rows.push(createElement('tr'))
    renameElement(cell, cell.hasClass('table-header') ? 'th' : 'td')
    rows.at(-1)?.append(cell)
  }
  renameElement(grid, 'table')
  replaceChildren(grid, rows)
}
