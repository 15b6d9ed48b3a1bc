import { compileSelector, find } from '../../html/selector.ts'
import { type Element, lineOf, type Node } from '../../html/tree.ts'
import { drop } from '../drop.ts'
import type { Generator } from './generator.ts'
import { createElement, hasOnlyLinksTo, makeSignature, renameElement, replaceChildren } from './rewrite.ts'

/** Texinfo by makeinfo or texi2any. */
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
const isUnmarked = compileSelector('ul.no-bullet > li')

/** Kinds of admonition by the word a quotation begins with. */
const KINDS = new Set(['NOTE', 'TIP', 'IMPORTANT', 'WARNING', 'CAUTION'])

const NO_IDS: ReadonlySet<string> = new Set()

function normalizeTexinfo(content: Element): void {
  for (const element of content.descendants()) {
    dropRules(element)
    if (element.name === 'dt' && isDeclaration(element)) makeSignature(element)
    else if (element.name === 'blockquote') makeAdmonition(element)
    else if (isContents(element) && hasOnlyLinksTo(element, NO_IDS))
      drop(element, 'texinfo', 'table of contents of the page')
    else if (isFootnotes(element)) makeFootnotes(element)
    else if (isFootnoteMark(element)) makeFootnoteMark(element)
    else if (isUnmarked(element)) trimMark(element)
  }
}

/** Declarations name their kind: Function, Variable, Command. */
function isDeclaration(term: Element): boolean {
  return find(term, isCategory) !== undefined
}

/** Drops the rules between the text and the navigation. */
function dropRules(parent: Element): void {
  let before: Element | undefined
  for (const child of parent.children) {
    if (typeof child === 'string') continue
    if (before !== undefined && child.name === 'hr' && isNavigation(before)) drop(child, 'texinfo', 'line')
    if (before?.name === 'hr' && isNavigation(child)) drop(before, 'texinfo', 'line')
    before = child
  }
}

/** `> **Note:** text` */
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

/** Removes the mark of a list item from its text, where some lists have it. */
function trimMark(item: Element): void {
  const [first] = item.children
  if (typeof first === 'string') item.children[0] = first.replace(/^\s*[-−–•*] ?/, '')
}
