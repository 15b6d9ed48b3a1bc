import { compileSelector, find } from '../../html/selector.ts'
import { type Element, lineOf } from '../../html/tree.ts'
import { drop } from '../drop.ts'
import { markTex } from '../normalize/tex.ts'
import type { Generator } from './generator.ts'
import { codeOf, createElement, makeSignature, renameElement, replaceChildren } from './rewrite.ts'

/** Doxygen. */
export const doxygen: Generator = {
  name: 'doxygen',
  meta: ['doxygen'],
  fingerprints: ['#doc-content', '.memproto', '.memdoc', '#nav-path.navpath'],
  content: ['#doc-content', 'body'],
  drop: {
    '#top, #side-nav, #nav-path, #MSearchSelectWindow, #MSearchResultsWindow, #main-nav': 'navigation',
    'div.summary, .navpath, .tabs, .tabs2, .tabs3, .qindex': 'navigation',
    'address.footer, hr.footer, .footer': 'footer of the page',
    'div.toc': 'table of contents of the page',
    'span.permalink': 'permalink',
    'div.ttc': 'tooltip',
    'span.lineno, a.lineno': 'line number',
    '.dynheader, .dyncontent': 'diagram',
    '.directory .levels': 'control',
    'td.memSeparator, .inherit_header img': 'decoration',
    'p.definition': 'link to the source',
  },
  keepHidden: ['div.header', 'div.headertitle', 'div.contents', 'tr.inherit'],
  normalize: normalizeDoxygen,
}

const isTitle = compileSelector('.headertitle > .title')
const isHeading = compileSelector('h2, h3')
const isEnumHead = compileSelector('table.fieldtable > tr > th[colspan]')
const isQuoted = compileSelector('blockquote > p')
const isLabel = compileSelector('span.mlabel')

/** Kinds of admonition by the class of a section. */
const KINDS: Readonly<Record<string, string>> = {
  note: 'NOTE',
  remark: 'NOTE',
  important: 'IMPORTANT',
  attention: 'WARNING',
  warning: 'WARNING',
}

function normalizeDoxygen(content: Element): void {
  demoteHeadings(content)
  markTex(content)
  for (const element of content.descendants()) {
    if (isTitle(element)) renameElement(element, 'h1')
    else if (element.hasClass('memtitle')) renameElement(element, 'h3')
    else if (element.hasClass('compoundTemplParams')) makeSignature(element)
    else if (element.hasClass('line') && isBlankLine(element)) replaceChildren(element, [])
    else if (isEnumHead(element)) makeHead(element)
    else if (isQuoted(element)) trimJoiner(element)
    else if (element.hasClass('memberdecls')) listMembers(element)
    else if (element.hasClass('memproto')) writePrototype(element)
    else if (element.name === 'div' && element.hasClass('fragment')) renameElement(element, 'pre')
    else if (element.name === 'dl' && element.hasClass('section')) makeAdmonition(element)
    else if (element.name === 'a' && /#details$|#[a-z][0-9a-f]{32}$/.test(element.attribute('href') ?? '')) {
      if (lineOf(element) === 'More...') drop(element, 'doxygen', 'link to the details')
    }
  }
}

/** Moves all headings one level down if sections begin at the first level, which belongs to the page title. */
function demoteHeadings(content: Element): void {
  if (find(content, isTitle) === undefined || find(content, ({ name }) => name === 'h1') === undefined) return
  for (const element of content.descendants()) {
    const level = /^h([1-5])$/.exec(element.name)?.[1]
    if (level !== undefined) element.name = `h${Number(level) + 1}`
  }
}

/** Makes the row of a header cell the head of its table. In tables of enumeration values one header cell spans all columns. */
function makeHead(cell: Element): void {
  const row = cell.parent
  if (row === undefined) return
  const cells = row.children
  renameElement(row, 'thead')
  replaceChildren(row, [createElement('tr', cells)])
}

/** Doxygen begins quotations with an invisible joiner (U+200D). */
function trimJoiner(paragraph: Element): void {
  const [first] = paragraph.children
  if (typeof first === 'string') paragraph.children[0] = first.replace(/^\u200d/, '')
}

/** Whether a line of code has only its number and a space. */
function isBlankLine(line: Element): boolean {
  return line.children.every((child) =>
    typeof child === 'string' ? child.trim() === '' : child.dropped !== undefined || child.children.length === 0,
  )
}

/** Turns a table of members into a list. Each member has a row with its signature, and mostly one with its description. */
function listMembers(table: Element): void {
  const blocks: Element[] = []
  let list: Element | undefined
  for (const row of rowsOf(table)) {
    const [left, right] = [...row.elements()]
    const kind = row.classes[0]?.split(':')[0] ?? ''
    const heading = find(row, isHeading)
    if (heading !== undefined) {
      blocks.push(heading)
      list = undefined
    } else if (kind === 'memdesc' && list !== undefined && right !== undefined) {
      renameElement(right, 'p')
      appendToLast(list, right)
    } else if (kind === 'memitem' || kind === 'memtemplate') {
      if (list === undefined) {
        list = createElement('ul')
        blocks.push(list)
      }
      list.append(createElement('li', [createElement('code', [removeBracketSpaces(codeOf(row))])]))
    } else if (left !== undefined && lineOf(row) !== '') {
      list = undefined
      blocks.push(createElement('p', row.children))
    }
  }
  renameElement(table, 'div')
  replaceChildren(table, blocks)
}

function appendToLast(list: Element, node: Element): void {
  const last = list.children.at(-1)
  if (last !== undefined && typeof last !== 'string') last.append(node)
}

function* rowsOf(parent: Element): Iterable<Element> {
  for (const child of parent.elements()) {
    if (child.name === 'tr') yield child
    else yield* rowsOf(child)
  }
}

/** Writes the signature of a member, which Doxygen lays out in tables, and below it labels such as `static`. */
function writePrototype(prototype: Element): void {
  const labels: string[] = []
  for (const element of prototype.descendants()) {
    if (!isLabel(element)) continue
    labels.push(lineOf(element))
    drop(element, 'doxygen', 'label')
  }
  const signature = createElement('Signature', [removeBracketSpaces(codeOf(prototype))])
  const words = labels.flatMap((label) => [createElement('em', [label]), ' '])
  replaceChildren(prototype, labels.length === 0 ? [signature] : [signature, createElement('p', words)])
  // The class is cleared, because with it the common rules would read the whole element as one signature.
  prototype.setAttribute('class', '')
}

/** Removes the spaces that Doxygen puts inside and before brackets. */
function removeBracketSpaces(code: string): string {
  return code
    .replace(/([<(]) (?=\S)/g, '$1')
    .replace(/(?<! ) +([>),])/g, '$1')
    .replace(/(\w|operator\S{1,40}) +\((?!\*)/g, '$1(')
}

function makeAdmonition(section: Element): void {
  const kind = section.classes.map((name) => KINDS[name]).find((found) => found !== undefined)
  const [term, ...rest] = [...section.elements()]
  if (kind === undefined || term?.name !== 'dt') return
  renameElement(section, 'Admonition', { Kind: kind })
  for (const part of rest) renameElement(part, 'div')
  replaceChildren(section, rest)
}
