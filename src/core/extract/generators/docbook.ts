import { findAll, SelectorMap } from '../../html/selector.ts'
import type { Element } from '../../html/tree.ts'
import type { Generator } from './generator.ts'
import { makeNumberedList, renameElement, replaceChildren } from './rewrite.ts'

/** Pages that the XSL stylesheets of DocBook make, such as the PostgreSQL documentation. */
export const docbook: Generator = {
  name: 'docbook',
  meta: ['docbook'],
  fingerprints: ['.navheader', '.navfooter', 'div.titlepage'],
  content: ['#docContent', 'body'],
  drop: {
    '.navheader, .navfooter, table.nav, table.navigation, table[summary^="Navigation"]': 'navigation',
    'a.id_link': 'permalink',
    '.footnotes > hr': 'line above notes',
  },
  normalize: normalizeDocbook,
}

/** Only the first rule that matches an element is applied. */
const RULES = new SelectorMap<(element: Element) => void>([
  // The author's name is marked up as a heading but does not open a section.
  [
    '.titlepage h3.author, .titlepage h3.corpauthor, .titlepage h3.editor, .titlepage h4.editedby',
    (element) => renameElement(element, 'p'),
  ],
  // Tables of contents, and lists of figures, tables, examples, equations and questions.
  [
    '.toc > dl, .list-of-figures > dl, .list-of-tables > dl, .list-of-examples > dl, .list-of-equations > dl, .qandaset > dl',
    makeList,
  ],
  ['.calloutlist table', makeNumberedList],
  ['table.blockquote', (element) => unwrapRows(element, 'blockquote')],
  ['.qandaset > table, .qandadiv > table', (element) => unwrapRows(element, 'div')],
  ['pre img[alt]', replaceCalloutImage],
])

function normalizeDocbook(content: Element): void {
  for (const element of content.descendants()) RULES.match(element)?.(element)
}

/** Turns a table of contents into a list: each term is an entry, and its definition holds the nested entries. */
function makeList(list: Element): void {
  const items: Element[] = []
  for (const part of list.elements()) {
    if (part.name === 'dt' || items.length === 0) {
      renameElement(part, 'li')
      items.push(part)
      continue
    }
    for (const inner of part.elements()) if (inner.name === 'dl') makeList(inner)
    renameElement(part, 'div')
    items.at(-1)?.append(part)
  }
  renameElement(list, 'ul')
  replaceChildren(list, items)
}

/** Turns a table that is only used for layout into an element that holds its cells. */
function unwrapRows(table: Element, newName: string): void {
  const cells = findAll(table, ({ name }) => name === 'td')
  for (const cell of cells) renameElement(cell, 'div')
  renameElement(table, newName)
  replaceChildren(table, cells)
}

/** Replaces a callout number in code, which is a picture, by text. */
function replaceCalloutImage(image: Element): void {
  renameElement(image, 'span')
  replaceChildren(image, [`(${image.attribute('alt') ?? ''})`])
}
