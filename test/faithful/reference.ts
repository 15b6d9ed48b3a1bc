import { DomUtils, parseDocument } from 'htmlparser2'
import MarkdownIt from 'markdown-it'

/*
 * The content of a page and of its Markdown, read independently of the program: the document by htmlparser2's own tree, the Markdown by
 * markdown-it. Otherwise both sides could share a mistake.
 */

/** Words, code blocks and table rows. */
export interface Content {
  readonly words: readonly string[]
  /** Text of code blocks, without blank lines around it. */
  readonly code: readonly string[]
  /** The words of each table row. */
  readonly rows: readonly (readonly string[])[]
  /** Header rows of tables; Markdown merges several header rows into one. */
  readonly heads: readonly (readonly string[])[]
  /** Number of words that Markdown repeats, because it writes a cell in every row and column that the cell spans. */
  readonly repeated: number
}

type DomNode = ReturnType<typeof parseDocument>['childNodes'][number]
type DomElement = Parameters<typeof DomUtils.getAttributeValue>[0]

/** Generators of documentation whose markup shows where the content of a page is. */
export type DocGenerator = 'sphinx' | 'docbook' | 'mdbook' | 'rustdoc' | 'javadoc' | 'apache' | 'gtk-doc'

const MAIN_SELECTORS: Readonly<Record<DocGenerator, (element: DomElement) => boolean>> = {
  sphinx: ({ attribs }) => attribs['role'] === 'main',
  docbook: ({ name }) => name === 'body',
  mdbook: ({ name }) => name === 'main',
  rustdoc: ({ attribs }) => attribs['id'] === 'main-content',
  javadoc: ({ name }) => name === 'main',
  apache: ({ attribs }) => attribs['id'] === 'page-content',
  'gtk-doc': ({ name }) => name === 'body',
}

/** Classes of links to other pages and places, of line and formula numbers, and of controls. */
const NON_CONTENT_CLASSES =
  `navheader navfooter headerlink copybtn fn-backref backrefs viewcode-link prev-next-area prev-next-footer
  linenos eqno`.split(/\s+/)
/** Further classes and ids of elements that are not content, by generator. */
const GENERATOR_NON_CONTENT: Readonly<Partial<Record<DocGenerator, readonly string[]>>> = {
  mdbook: ['boring', 'buttons'],
  rustdoc: [
    'srclink',
    'rightside',
    'test-arrow',
    'copy-path',
    'hideme',
    'notable-traits',
    'collapse-toggle',
    'out-of-band',
    'anchor',
    'src',
  ],
  javadoc: ['table-tabs', 'sub-nav-list', 'inner-table-tabs'],
  apache: ['top', 'quickview', 'toplang', 'bottomlang', 'comments_section', 'bottom'],
  'gtk-doc': ['navigation', 'gallery-float'],
}
const LAYOUT_TABLE_CLASSES = ['simplelist', 'footnote', 'blockquote']
const LAYOUT_PARENT_CLASSES = ['calloutlist', 'qandaset']
const INLINE =
  /^(?:a|abbr|acronym|b|bdi|bdo|big|cite|code|data|del|dfn|em|font|i|img|ins|kbd|label|mark|q|s|samp|small|span|strike|strong|sub|sup|time|tt|u|var|wbr)$/
/** Invisible break opportunities in words. */
const INVISIBLE = /[\u00ad\u200b\u2060\ufeff]/g
const WORD = /[\p{L}\p{N}_]+/gu

export function wordsOf(text: string): string[] {
  return text.replaceAll(INVISIBLE, '').toLowerCase().match(WORD) ?? []
}

/** Whether a page has content at all. */
export function hasContent(html: string, generator: DocGenerator): boolean {
  return DomUtils.findOne(MAIN_SELECTORS[generator], parseDocument(html).childNodes) !== null
}

/** The content of a page of documentation. */
export function readHtml(html: string, generator: DocGenerator): Content {
  const document = parseDocument(html)
  for (const name of GENERATOR_NON_CONTENT[generator] ?? []) {
    const nonContent = DomUtils.filter(
      (node) => 'attribs' in node && (hasClass(node, name) || node.attribs['id'] === name),
      document.childNodes,
    )
    for (const node of nonContent) DomUtils.removeElement(node)
  }
  const main = DomUtils.findOne(MAIN_SELECTORS[generator], document.childNodes)
  if (main === null) throw new Error('the page has no main content')
  const code = find(main, 'pre').filter((pre) => !isInside(pre, main, ['td', 'th']))
  // Layout tables have no rows to keep.
  const tables = find(main, 'table').filter((table) => {
    const { parent } = table
    const isLayout =
      parent !== null && 'attribs' in parent && LAYOUT_PARENT_CLASSES.some((name) => hasClass(parent, name))
    return !isLayout && !LAYOUT_TABLE_CLASSES.some((name) => hasClass(table, name))
  })
  return {
    words: wordsOf(readText(main)),
    code: code.map((pre) => trimBlank(readText(pre, true))),
    rows: tables
      .flatMap((table) => find(table, 'tr'))
      .filter((row) => !isInside(row, main, ['td', 'th']) && find(row, 'table').length === 0)
      // Footnotes of a table are written below it, not as rows.
      .filter(({ parent }) => parent === null || !('attribs' in parent) || !hasClass(parent, 'footnotes'))
      .map((row) => wordsOf(readText(row)))
      .filter((words) => words.length > 0),
    heads: [],
    repeated: ['td', 'th'].flatMap((name) => find(main, name)).reduce((sum, cell) => sum + countRepeated(cell), 0),
  }
}

function countRepeated(cell: DomElement): number {
  const span = (name: string) => Math.max(1, Number(cell.attribs[name] ?? 1))
  const times = span('rowspan') * span('colspan') - 1
  return times === 0 ? 0 : times * wordsOf(readText(cell)).length
}

/** Every word in a document, including attributes: the Markdown may contain no other word. */
export function vocabularyOf(html: string): Set<string> {
  const words = new Set<string>()
  const visit = (node: DomNode): void => {
    if (node.type === 'text') for (const word of wordsOf(node.data)) words.add(word)
    if ('attribs' in node)
      for (const value of Object.values(node.attribs)) for (const word of wordsOf(value)) words.add(word)
    if ('children' in node) for (const child of node.children) visit(child)
  }
  const { childNodes } = parseDocument(html)
  for (const node of childNodes) {
    visit(node)
    // Words may consist of several inline elements.
    for (const word of wordsOf(readText(node))) words.add(word)
  }
  return words
}

function find(root: DomElement, name: string): DomElement[] {
  return DomUtils.getElementsByTagName(name, root.children).filter((element) => !isInNonContent(element, root))
}

function hasClass(element: DomElement, names: string): boolean {
  const classes = (element.attribs['class'] ?? '').split(/\s+/)
  return names.split(' ').every((name) => classes.includes(name))
}

function isInside(element: DomElement, root: DomElement, names: readonly string[]): boolean {
  for (let at = element.parent; at !== null && at !== root; at = at.parent) {
    if ('name' in at && names.includes(at.name)) return true
  }
  return false
}

/** Elements inside the main content that do not belong to it. */
function isNonContent(element: DomElement): boolean {
  if (['script', 'style', 'template', 'head', 'noscript'].includes(element.name)) return true
  if (/display:\s*none/.test(element.attribs['style'] ?? '')) return true
  return NON_CONTENT_CLASSES.some((name) => hasClass(element, name))
}

function isInNonContent(element: DomElement, root: DomElement): boolean {
  for (let at: DomElement['parent'] | DomElement = element; at !== null && at !== root; at = at.parent) {
    if ('attribs' in at && isNonContent(at)) return true
  }
  return false
}

/** Text as it is displayed: blocks are separated, inline elements are not. */
function readText(node: DomNode, isExact = false): string {
  if (node.type === 'text') return node.data
  if (!('attribs' in node)) return ''
  if (isNonContent(node)) return ''
  if (node.name === 'br') return isExact ? '\n' : ' '
  if (node.name === 'img') return isExact ? `(${node.attribs['alt'] ?? ''})` : ` ${node.attribs['alt'] ?? ''} `
  const text = node.children.map((child) => readText(child, isExact)).join('')
  // A superscript is a separate word: 2 to the power of 10 is not 210.
  if (node.name === 'sup') {
    // Exceptions: code keeps its text unchanged, and an ordinal number such as 1st is one word.
    const isJoined = isExact || /^(?:st|nd|rd|th)$/.test(text)
    const isCode = ancestorsOf(node).some((element) => element.name === 'code')
    return isJoined || isCode ? text : ` ${text} `
  }
  return isExact || (INLINE.test(node.name) && !hasClass(node, 'classifier')) ? text : ` ${text} `
}

function ancestorsOf({ parent }: DomElement): DomElement[] {
  return parent === null || !('attribs' in parent) ? [] : [parent, ...ancestorsOf(parent)]
}

function trimBlank(text: string): string {
  return text.replace(/^(?:[ \t]*\n)+/, '').trimEnd()
}

const markdownIt = new MarkdownIt({ html: false, linkify: false })

/** The content of Markdown. */
export function readMarkdown(markdown: string): Content {
  const words: string[] = []
  const code: string[] = []
  const rows: string[][] = []
  const heads: string[][] = []
  let row: string[] | undefined
  let isHead = false
  const add = (text: string) => {
    const found = wordsOf(text)
    for (const word of found) words.push(word)
    if (row !== undefined) row.push(...found)
  }
  // Without a footnote plugin a note that is only an address would be parsed as a link target. As list items, notes keep their blocks.
  const plain = markdown.replaceAll(/^(\s*)\[\^([^\]\s]+)\]:/gm, '$1- $2:')
  for (const token of markdownIt.parse(plain, {})) {
    if (token.type === 'tr_open') row = []
    if (token.type === 'thead_open') isHead = true
    if (token.type === 'thead_close') isHead = false
    if (token.type === 'tr_close' && row !== undefined) {
      if (isHead) heads.push(row)
      rows.push(row)
      row = undefined
    }
    if (token.type === 'fence' || token.type === 'code_block') {
      code.push(trimBlank(token.content))
      add(token.content)
    }
    // The number of an item in an ordered list.
    if (token.type === 'list_item_open') add(token.info)
    if (token.type === 'inline') add(readInline(token.children ?? []))
  }
  return { words, code, rows, heads, repeated: 0 }
}

function readInline(tokens: NonNullable<ReturnType<typeof markdownIt.parse>[number]['children']>): string {
  return tokens
    .map((token) => {
      if (token.type === 'image') return ` ${token.content} `
      if (token.type === 'softbreak' || token.type === 'hardbreak') return ' '
      return token.content
    })
    .join('')
}

/** Number of occurrences of each word in a list. */
export function countWords(words: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1)
  return counts
}

/** Words of `all` that are missing from `some`; a word occurs in the result as often as it is missing. */
export function missingWords(all: readonly string[], some: readonly string[]): string[] {
  const remaining = countWords(some)
  return all.filter((word) => {
    const count = remaining.get(word) ?? 0
    remaining.set(word, count - 1)
    return count <= 0
  })
}

/** Whether Markdown may add a word: it writes item numbers, box titles and task marks as text, which a page only draws. */
export function isAddedWord(word: string): boolean {
  return /^(?:\d+|note|tip|important|warning|caution|x)$/.test(word)
}
