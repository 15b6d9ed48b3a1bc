import { compileSelector, find, findAll } from '../../html/selector.ts'
import { type Element, lineOf } from '../../html/tree.ts'
import { markTex } from '../normalize/tex.ts'
import type { Generator } from './generator.ts'
import { createElement, makeNumberedList, makeStrong, renameElement, replaceChildren } from './rewrite.ts'

/** Pages that Asciidoctor, AsciiDoc.py or Antora makes from AsciiDoc. */
export const asciidoctor: Generator = {
  name: 'asciidoctor',
  meta: ['asciidoctor', 'asciidoc', 'antora'],
  fingerprints: ['article.doc .sect1', 'div.sectionbody', 'div.admonitionblock', 'div.listingblock'],
  content: ['article.doc', '#main', 'body.article, body.book, body.manpage'],
  drop: {
    '#toc, .toc, aside.toc': 'table of contents of the page',
    '#header > .details': 'byline',
    '#footer, #footer-text': 'footer of the page',
    'a.anchor': 'permalink',
    'nav.pagination, nav.breadcrumbs, .toolbar, .nav-container, .breadcrumbs, .edit-this-page': 'navigation',
    '.source-toolbox': 'control',
    '#footnotes > hr': 'line above notes',
  },
  keepHidden: ['.tabpanel', '[role=tabpanel]', '#header', '#content'],
  normalize: normalizeAsciidoctor,
}

const isBlockTitle = compileSelector(
  `.listingblock > .title, .literalblock > .title, .imageblock > .title, .videoblock > .title, .exampleblock > .title,
  .openblock > .title, .paragraph > .title, .quoteblock > .title, .verseblock > .title, .ulist > .title,
  .olist > .title, .dlist > .title, .hdlist > .title, .qlist > .title, .colist > .title, .stemblock > .title,
  .sidebarblock > .content > .title`,
)
const isCode = compileSelector('pre > code[data-lang]')
const isFootnoteMark = compileSelector('sup.footnote, sup.footnoteref')
const isFootnote = compileSelector('#footnotes > .footnote')
const isCalloutTable = compileSelector('.colist > table')
const isTermTable = compileSelector('.hdlist > table')
const isTask = compileSelector('ul.checklist > li')

function normalizeAsciidoctor(content: Element): void {
  markTex(content)
  for (const element of content.descendants()) {
    if (isBlockTitle(element)) makeStrong(element)
    else if (element.hasClass('admonitionblock')) makeAdmonition(element)
    else if (isCode(element)) nameLanguage(element)
    else if (isCalloutTable(element)) makeNumberedList(element)
    else if (isTermTable(element)) makeDefinitionList(element)
    else if (isTask(element)) makeTask(element)
    else if (isFootnoteMark(element)) replaceChildren(element, [...element.elements()])
    else if (isFootnote(element)) trimFootnote(element)
    else if (element.hasClass('quoteblock') || element.hasClass('verseblock')) moveAttribution(element)
  }
}

const isAdmonitionTitle = compileSelector('td.content > .title')
const isAdmonitionContent = compileSelector('td.content')

/**
 * Turns a block into an admonition. The block is a table with an icon or a word for the kind, and beside it the text, which may have a
 * title.
 */
function makeAdmonition(block: Element): void {
  const kind = block.classes.find((name) => name !== 'admonitionblock')
  const text = find(block, isAdmonitionContent)
  if (kind === undefined || text === undefined) return
  const title = find(text, isAdmonitionTitle)
  const rest = text.children.filter((child) => child !== title)
  renameElement(block, 'Admonition', { Kind: kind.toUpperCase(), ...(title !== undefined && { Title: lineOf(title) }) })
  replaceChildren(block, rest)
}

/** Writes the language of code into the class of its `pre` element, in place of the class names of the highlighter. */
function nameLanguage(code: Element): void {
  code.parent?.setAttribute('class', `language-${code.attribute('data-lang') ?? ''}`)
  code.setAttribute('class', '')
}

const isTerm = compileSelector('td.hdlist1')
const isDefinition = compileSelector('td.hdlist2')

function makeDefinitionList(table: Element): void {
  const parts = findAll(table, (element) => isTerm(element) || isDefinition(element))
  for (const part of parts) renameElement(part, isTerm(part) ? 'dt' : 'dd')
  renameElement(table, 'dl')
  replaceChildren(table, parts)
}

const BOX = /^\s*([✓❏])\s*/
const isBox = compileSelector('i.fa')

/** Turns the box before a task, which is an icon or a character, into a checkbox. */
function makeTask(item: Element): void {
  const [first] = [...item.elements()]
  const [start] = first?.children ?? []
  if (first === undefined || start === undefined) return
  let isDone: boolean
  if (typeof start !== 'string') {
    if (!isBox(start)) return
    isDone = start.hasClass('fa-check-square-o')
  } else {
    const box = BOX.exec(start)
    if (box === null) return
    isDone = box[1] === '✓'
    first.children[0] = start.replace(BOX, '')
  }
  const input = createElement('input', [], { type: 'checkbox', ...(isDone && { checked: '' }) })
  replaceChildren(first, [input, ...first.children.filter((child) => child !== start || typeof child === 'string')])
}

/** Removes the period after the number in `1. The note.`, where the number is a link back to the text. */
function trimFootnote(note: Element): void {
  const [link, text] = note.children.filter((child) => typeof child !== 'string' || child.trim() !== '')
  if (link === undefined || typeof link === 'string' || typeof text !== 'string') return
  note.children[note.children.indexOf(text)] = text.replace(/^\.\s*/, '')
}

/** Moves the attribution into the quotation that it follows. */
function moveAttribution(block: Element): void {
  const quote = find(block, ({ name }) => name === 'blockquote')
  const attribution = find(block, (element) => element.hasClass('attribution'))
  if (quote === undefined || attribution === undefined || quote.contains(attribution)) return
  replaceChildren(
    block,
    block.children.filter((child) => child !== attribution),
  )
  quote.append(attribution)
}
