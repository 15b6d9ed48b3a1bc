import { compileSelector, find } from '../../html/selector.ts'
import { type Element, textOf } from '../../html/tree.ts'
import { markTex } from '../normalize/tex.ts'
import type { Generator } from './generator.ts'
import { createElement, replaceChildren } from './rewrite.ts'

/** MkDocs with its own themes and with Material. */
export const mkdocs: Generator = {
  name: 'mkdocs',
  meta: ['mkdocs'],
  fingerprints: [
    '.md-content',
    '[data-md-component]',
    '#mkdocs_search_modal',
    '#mkdocs-search-query',
    'footer a[href^="https://www.mkdocs.org"]',
  ],
  content: [
    'article.md-content__inner',
    '.md-content',
    '[itemprop=articleBody]',
    'div.col-md-9[role=main]',
    '[role=main]',
    'main',
  ],
  drop: {
    'a.headerlink': 'permalink',
    '.md-content__button, .md-clipboard, .md-code__button': 'control',
    '.md-source-file, .md-source-date, .md-feedback': 'footer of the page',
    'div.toc, nav.md-nav': 'table of contents of the page',
    '.md-sidebar, .md-footer, .md-tabs, .md-path': 'navigation',
    '.rst-footer-buttons, ul.wy-breadcrumbs': 'navigation',
  },
  keepHidden: ['.tabbed-block', '.tabbed-content', '.md-annotation'],
  normalize: normalizeMkdocs,
}

const isFormula = compileSelector('.arithmatex')
const isNumberedCode = compileSelector('table.highlighttable')
/** Terminal sessions that a script animates. Their output contains styling tags as text. */
const isTerminal = compileSelector('.termy code')
/** Tags that style output. Any other name in angle brackets is more likely a placeholder, such as `<file>`. */
const STYLING = /<\/?(?:font|span|u|b|i)(?:\s[^<>]*)?>/g
const isFileNameCell = compileSelector('th.filename')

function normalizeMkdocs(content: Element): void {
  for (const element of content.descendants()) {
    if (isFormula(element)) markTex(element)
    else if (isNumberedCode(element)) moveFileName(element)
    else if (isTerminal(element)) removeStyling(element)
  }
}

function removeStyling(code: Element): void {
  replaceChildren(code, [textOf(code).replaceAll(STYLING, '')])
}

/** Moves the file name of code with line numbers out of the table, so that it precedes the code as in blocks without numbers. */
function moveFileName(table: Element): void {
  const head = find(table, isFileNameCell)
  const { parent } = table
  if (head === undefined || parent === undefined) return
  const title = createElement('div', head.children, { class: 'filename' })
  replaceChildren(head, [])
  replaceChildren(
    parent,
    parent.children.flatMap((child) => (child === table ? [title, child] : [child])),
  )
}
