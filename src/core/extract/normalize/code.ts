import { Element, type Node } from '../../html/tree.ts'
import { drop } from '../drop.ts'
import { languageOf } from './languages.ts'
import { elementAfter, elementBefore, hasText, listDescendants, type Rule, shortText, wrapChildren } from './rule.ts'

const STEP = 'code'

/** Turns preformatted text into a code block. */
export const normalizePre: Rule = (element, siblings, index) => {
  const code = readCode(element)
  if (code === '') {
    // The block holds only pictures, or is empty.
    element.name = 'div'
    return
  }
  const language = languageOf(element)
  dropLabels(siblings, index, language)
  makeCodeBlock(element, code, language)
}

/** Turns a table with line numbers into a code block. Returns false for any other table. */
export function normalizeCodeTable(table: Element): boolean {
  if (!isCodeTable(table)) return false
  const code = readCode(table)
  if (code === '') return false
  const inner = listDescendants(table, 40).find((element) => languageOf(element) !== '')
  makeCodeBlock(table, code, languageOf(inner ?? table))
  return true
}

/** Turns inline code with line breaks into a code block, if nothing else is on its line. */
export const normalizeInlineCode: Rule = (element, siblings, index) => {
  if (!element.children.some((child) => typeof child !== 'string' && child.name === 'br')) return
  if (!isLineEnd(siblings[index - 1]) || !isLineEnd(siblings[index + 1])) return
  const code = readCode(element)
  if (code.includes('\n')) makeCodeBlock(element, code, languageOf(element))
}

function isLineEnd(node: Node | undefined): boolean {
  if (node === undefined) return true
  return typeof node === 'string' ? node.trim() === '' : node.name === 'br'
}

function makeCodeBlock(element: Element, code: string, language: string): void {
  element.name = 'CodeBlock'
  if (language !== '') element.setAttribute('Lang', language)
  element.children = [code]
}

/** Where generators put the file name of a code block. */
export const CODE_TITLE_SELECTOR =
  'div.code-block-caption, div[class*="codeBlockTitle"], .code-title, .code-block-title, .rehype-code-title, .remark-code-title, .filename, .code-filename, .expressive-code figcaption, [data-rehype-pretty-code-title], .codeblock-title'

/** Turns the title of a code block into a line in bold before it. */
export const normalizeCodeTitle: Rule = (element, siblings, index) => {
  const code = elementAfter(siblings, index)
  const isInline = element.name === 'code' || element.name === 'tt' || element.name === 'em'
  if (code === undefined || isInline || !startsWithCode(code) || element.name === 'pre') return
  for (const child of listDescendants(element, 20)) if (isPermalinkOrHint(child)) drop(child, STEP, 'link to the title')
  if (!hasText(element)) return
  element.name = 'p'
  wrapChildren(element, new Element('strong'))
}

function isPermalinkOrHint(element: Element): boolean {
  return element.hasClass('headerlink') || element.hasClass('sr-only')
}

function startsWithCode(element: Element): boolean {
  if (element.name === 'pre' || element.name === 'CodeBlock') return true
  return listDescendants(element, 6).some(({ name }) => name === 'pre' || name === 'CodeBlock')
}

const COPY_LABEL =
  /^(?:copy(?: code| to clipboard| snippet)?|copied!?|wrap(?: lines)?|toggle word wrap|copy copied!?)$/i
const MAX_LABEL = 30
const LABEL_CLASSES = new Set(['lang', 'code-lang', 'language', 'code-language', 'language-name', 'code-block-lang'])

/** Drops language labels and copy buttons around code. */
function dropLabels(siblings: readonly Node[], index: number, language: string): void {
  for (const label of [elementBefore(siblings, index), elementAfter(siblings, index)]) {
    if (label === undefined || label.name === 'pre' || label.name === 'p' || label.name === 'table') continue
    const text = shortText(label, MAX_LABEL) ?? ''
    if (text === '') continue
    const isLanguage = language !== '' && text.toLowerCase() === language
    const isLabel = isLanguage || COPY_LABEL.test(text) || label.classes.some((name) => LABEL_CLASSES.has(name))
    if (isLabel) drop(label, STEP, 'label of a block of code')
  }
}

const CODE_TABLE_CLASSES = new Set(['highlighttable', 'rouge-table', 'hljs-ln', 'lntable', 'sourceCode', 'codetable'])
const GUTTER_CLASSES = new Set(
  `linenos linenodiv lineno line-number line-numbers linenumber linenumbers gutter gl lnt lntd ln line-numbers-rows
  hljs-ln-numbers rouge-gutter blob-num react-syntax-highlighter-line-number token-line-number code-line-number
  lineNumber line-numbers-wrapper CodeMirror-linenumber lineno-container`.split(/\s+/),
)
const COPY_CLASSES = new Set(
  `copy copybtn copy-btn copy-button copybutton btn-copy copy-code-button clipboard clipboard-copy btn-clipboard
  copy-to-clipboard-button code-copy zeroclipboard-container sr-only visually-hidden`.split(/\s+/),
)

function isCodeTable(table: Element): boolean {
  if (table.classes.some((name) => CODE_TABLE_CLASSES.has(name))) return true
  const cells = listDescendants(table, 6).filter(({ name }) => name === 'td')
  return cells.length > 1 && cells.some((cell) => hasClassOf(cell, GUTTER_CLASSES) && isNumbering(cell))
}

function hasClassOf(element: Element, names: ReadonlySet<string>): boolean {
  return element.hasAttribute('class') && element.classes.some((name) => names.has(name))
}

function isNumbering(node: Node): boolean {
  return typeof node === 'string' ? /^[\s\d.:|+-]*$/.test(node) : node.children.every(isNumbering)
}

/**
 * The code in an element as browsers show it: without line numbers and buttons, and without blank lines at its start and end. Invisible
 * characters are removed later, when the code is written.
 */
function readCode(element: Element): string {
  const reader = new CodeReader()
  reader.read(element.children, false)
  return reader.text.replace(/^(?:[ \t]*[\r\n])+/, '').trimEnd()
}

const LINE_CLASSES = new Set([
  'line',
  'token-line',
  'code-line',
  'ec-line',
  'view-line',
  'cm-line',
  'CodeMirror-line',
  'highlight-line',
])
const BLOCK_ELEMENTS = new Set(['div', 'p', 'li', 'tr'])
const TABLE_PARTS = new Set(['table', 'tbody', 'thead', 'tr'])
const SKIPPED_ELEMENTS = new Set(['button', 'svg', 'style', 'script', 'template', 'textarea', 'select', 'input'])

class CodeReader {
  readonly #parts: string[] = []

  get text(): string {
    return this.#parts.join('')
  }

  read(nodes: readonly Node[], isTablePart: boolean): void {
    for (let i = 0; i < nodes.length; i++) {
      const node = nodes[i]
      if (node === undefined) continue
      if (typeof node === 'string') {
        // White space between the parts of a table is not shown.
        if (!isTablePart || node.trim() !== '') this.#parts.push(node)
        continue
      }
      if (isSkipped(node)) continue
      if (node.name === 'br') {
        this.#parts.push('\n')
        continue
      }
      const start = this.#parts.length
      this.read(node.children, TABLE_PARTS.has(node.name))
      const endsWithBreak = this.#parts.length > start && this.#parts.at(-1)?.endsWith('\n') === true
      if (!endsWithBreak && isLine(node) && isFollowedByLine(nodes, i, isTablePart)) this.#parts.push('\n')
    }
  }
}

function isSkipped(element: Element): boolean {
  if (element.dropped !== undefined || SKIPPED_ELEMENTS.has(element.name)) return true
  if (element.hasAttribute('data-line-number') && element.children.length > 0) {
    if (shortText(element, MAX_LABEL) === element.attribute('data-line-number')) return true
  }
  if (!element.hasAttribute('class') || element.name === 'code' || element.name === 'pre') return false
  if (hasClassOf(element, GUTTER_CLASSES)) return isNumbering(element)
  return hasClassOf(element, COPY_CLASSES) && shortText(element, MAX_LABEL) !== undefined
}

function isLine(element: Element): boolean {
  return (BLOCK_ELEMENTS.has(element.name) && !isDisplayedInline(element)) || hasClassOf(element, LINE_CLASSES)
}

/** Whether a block element is displayed inline: animations wrap each word of a line in its own block. */
function isDisplayedInline(element: Element): boolean {
  return /\bdisplay:\s*inline/i.test(element.attribute('style') ?? '') || hasClassOf(element, INLINE_CLASSES)
}

const INLINE_CLASSES = new Set(['inline', 'inline-block', 'inline-flex'])

/** Whether another line follows without a line break, so that one must be added. */
function isFollowedByLine(nodes: readonly Node[], index: number, isTablePart: boolean): boolean {
  for (let i = index + 1; i < nodes.length; i++) {
    const node = nodes[i]
    if (node === undefined) return false
    if (typeof node !== 'string') {
      if (!isSkipped(node)) return isLine(node)
    } else if (!isTablePart) {
      if (node.includes('\n') && node.trim() === '') return false
      if (node.trim() !== '') return !node.startsWith('\n')
    }
  }
  return false
}
