import { compileSelector, find } from '../../html/selector.ts'
import { type Element, lineOf, type Node } from '../../html/tree.ts'
import { drop } from '../drop.ts'
import type { Generator } from './generator.ts'
import { createElement, hasOnlyFragmentLinks, makeSignature, renameElement, replaceChildren } from './rewrite.ts'

/** Pages that makeinfo, texi2any or texi2html makes from Texinfo. */
export const texinfo: Generator = {
  name: 'texinfo',
  meta: ['texi2any', 'makeinfo', 'texi2html'],
  fingerprints: ['a.copiable-link', 'a.copiable-anchor', 'div.nav-panel'],
  content: ['body'],
  drop: {
    'div.nav-panel, div.header': 'navigation',
    'a.copiable-link, a.copiable-anchor': 'permalink',
  },
  normalize: normalizeTexinfo,
}

const isCategory = compileSelector('.category, .category-def, .def-name')
const isNavigation = compileSelector('div.header, div.nav-panel')
const isFootnotes = compileSelector('div.footnote, div.footnotes-segment')
const isFootnoteMark = compileSelector('a.footnote[id^=DOCF], a[id^=DOCF]')
const isContents = compileSelector(
  '#SEC_Contents, #SEC_Overview, #SEC_Shortcontents, .shortcontents, div.contents, ul.section-toc, ul.mini-toc',
)
const isItemWithoutMarker = compileSelector('ul.no-bullet > li')

/** Kinds of admonition. A quotation that begins with one of these words becomes an admonition of that kind. */
const KINDS = new Set(['NOTE', 'TIP', 'IMPORTANT', 'WARNING', 'CAUTION'])

const NO_IDS: ReadonlySet<string> = new Set()

function normalizeTexinfo(content: Element): void {
  for (const element of content.descendants()) {
    dropHorizontalRules(element)
    if (element.name === 'dt' && isDeclaration(element)) makeSignature(element)
    else if (element.name === 'blockquote') makeAdmonition(element)
    else if (isContents(element) && hasOnlyFragmentLinks(element, NO_IDS))
      drop(element, 'texinfo', 'table of contents of the page')
    else if (isFootnotes(element)) makeFootnotes(element)
    else if (isFootnoteMark(element)) makeFootnoteMark(element)
    else if (isItemWithoutMarker(element)) trimBullet(element)
  }
}

/** Whether a term is a declaration, which names its category: Function, Variable, Command. */
function isDeclaration(term: Element): boolean {
  return find(term, isCategory) !== undefined
}

/** Drops the horizontal rules between the text and the navigation. */
function dropHorizontalRules(parent: Element): void {
  let previous: Element | undefined
  for (const child of parent.children) {
    if (typeof child === 'string') continue
    if (previous !== undefined && child.name === 'hr' && isNavigation(previous)) drop(child, 'texinfo', 'line')
    if (previous?.name === 'hr' && isNavigation(child)) drop(previous, 'texinfo', 'line')
    previous = child
  }
}

/** Turns a quotation that begins with a word such as `Note:` into an admonition. */
function makeAdmonition(quote: Element): void {
  const [first] = [...quote.elements()]
  const [mark] = first?.children ?? []
  if (first === undefined || mark === undefined || typeof mark === 'string') return
  const kind = lineOf(mark).replace(/:$/, '').toUpperCase()
  if (!KINDS.has(kind)) return
  renameElement(quote, 'Admonition', { Kind: kind })
  replaceChildren(first, first.children.slice(1))
}

/** Turns the notes below the text into footnotes. A heading before each note holds its number. */
function makeFootnotes(notes: Element): void {
  const blocks: Node[] = []
  let note: Element | undefined
  for (const child of notes.elements()) {
    if (child.name === 'h5') {
      note = createElement('Footnote', [], { Label: numberIn(child) })
      blocks.push(note)
    } else if (note !== undefined) note.append(child)
  }
  if (blocks.length > 0) replaceChildren(notes, blocks)
}

function makeFootnoteMark(link: Element): void {
  renameElement(link, 'FootnoteRef', { Label: numberIn(link) })
  replaceChildren(link, [])
}

function numberIn(element: Element): string {
  return /\d+/.exec(lineOf(element))?.[0] ?? ''
}

/** Removes the bullet of a list item from its text. */
function trimBullet(item: Element): void {
  const [first] = item.children
  if (typeof first === 'string') item.children[0] = first.replace(/^\s*[-−–•*] ?/, '')
}
