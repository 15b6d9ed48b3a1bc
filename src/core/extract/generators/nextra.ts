import { compileSelector } from '../../html/selector.ts'
import { type Element, lineOf } from '../../html/tree.ts'
import type { Generator } from './generator.ts'
import { renameElement, replaceChildren } from './rewrite.ts'

/** Nextra with its theme for documentation. */
export const nextra: Generator = {
  name: 'nextra',
  meta: ['nextra'],
  fingerprints: [
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
    '.nextra-callout > [data-pagefind-ignore]': 'icon',
    'h2#footnote-label': 'for screen readers only',
  },
  keepHidden: ['[role=tabpanel]'],
  normalize: normalizeNextra,
}

const isCodeTitle = compileSelector('.nextra-code > div')
const isHeadingInSummary = compileSelector('summary > h2, summary > h3, summary > h4')

function normalizeNextra(content: Element): void {
  for (const element of content.descendants()) {
    if (element.hasClass('nextra-callout')) makeAdmonition(element)
    else if (isCodeTitle(element)) element.setAttribute('class', 'code-title')
    else if (isHeadingInSummary(element)) renameElement(element, 'span')
  }
}

/** Turns a callout into an admonition. Only the color of a callout shows its kind. */
function makeAdmonition(callout: Element): void {
  const colors = callout.classes.join(' ')
  const kind = /-red-/.test(colors) ? 'CAUTION' : /-yellow-/.test(colors) ? 'WARNING' : 'NOTE'
  const [text] = [...callout.elements()]
  const [title] = text === undefined ? [] : [...text.elements()]
  renameElement(callout, 'Admonition', { Kind: kind })
  if (text === undefined || title?.name !== 'b' || text.children[0] !== title) return
  if (lineOf(title).toUpperCase() !== kind) callout.setAttribute('Title', lineOf(title))
  replaceChildren(
    text,
    text.children.filter((child) => child !== title),
  )
}
