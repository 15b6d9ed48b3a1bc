import { Tokenizer, type TokenizerCallbacks } from 'htmlparser2'
import { BREAKOUT, ENDS_PARAGRAPH, FOREIGN, HEADINGS, INLINE, METADATA, VOID } from './names.ts'
import { Element } from './tree.ts'

/** Elements deeper than this become siblings, as in browsers, so that steps may walk the tree by recursion. */
export const MAX_DEPTH = 500

/** Further attributes of an element are ignored; nothing that is read here comes so late. */
const MAX_ATTRIBUTES = 100

/**
 * Reads HTML into a tree the way a browser does, as far as it matters to a reader: missing end tags are supplied, end
 * tags that close nothing are ignored, and nothing ever fails. Returns the `html` element.
 * Time and memory grow with the length of the source alone.
 */
export function parseHtml(source: string): Element {
  return parseDocument(source).root
}

/** What a source holds. */
export interface ParsedDocument {
  readonly root: Element
  /** How many characters stand in comments, without the white space around them. */
  readonly commentChars: number
}

/** As {@link parseHtml}, for those who also want to know about what no tree shows. */
export function parseDocument(source: string): ParsedDocument {
  const builder = new TreeBuilder(source)
  const tokenizer = new Tokenizer({ decodeEntities: true }, builder)
  tokenizer.write(source)
  tokenizer.end()
  return { root: builder.root, commentChars: builder.commentChars }
}

/** What is left open is closed when one of these begins, up to one of `within`. */
interface Implied {
  readonly closes: ReadonlySet<string>
  readonly within: ReadonlySet<string>
}

const TABLE = new Set(['table', 'template'])
const CELL: Implied = { closes: new Set(['td', 'th']), within: new Set(['tr', ...TABLE]) }
const SECTION: Implied = { closes: new Set(['thead', 'tbody', 'tfoot', 'caption', 'colgroup']), within: TABLE }
const TERM: Implied = { closes: new Set(['dt', 'dd']), within: new Set(['dl', 'td', 'th', ...TABLE]) }
const PARAGRAPH: Implied = {
  closes: new Set(['p']),
  within: new Set(['td', 'th', 'caption', 'button', 'object', 'foreignobject', ...TABLE]),
}
const RUBY: Implied = { closes: new Set(['rt', 'rp']), within: new Set(['ruby']) }

const IMPLIED: ReadonlyMap<string, Implied> = new Map([
  ['li', { closes: new Set(['li']), within: new Set(['ul', 'ol', 'menu', 'dir', 'td', 'th', ...TABLE]) }],
  ['dt', TERM],
  ['dd', TERM],
  ['td', CELL],
  ['th', CELL],
  ['tr', { closes: new Set(['tr', 'caption', 'colgroup']), within: new Set(['thead', 'tbody', 'tfoot', ...TABLE]) }],
  ['thead', SECTION],
  ['tbody', SECTION],
  ['tfoot', SECTION],
  ['option', { closes: new Set(['option']), within: new Set(['select', 'datalist', 'optgroup']) }],
  ['optgroup', { closes: new Set(['option', 'optgroup']), within: new Set(['select']) }],
  ['rt', RUBY],
  ['rp', RUBY],
])

/** Parts of a table, whose end tags reach through anything but another table. */
const TABLE_PARTS = new Set(['table', 'thead', 'tbody', 'tfoot', 'tr', 'td', 'th', 'caption'])

/** Beyond these an end tag closes nothing. */
const BARRIERS = new Set(['td', 'th', 'caption', 'table', 'template', 'foreignobject'])

class TreeBuilder implements TokenizerCallbacks {
  readonly root = new Element('html')
  commentChars = 0
  readonly #source: string
  readonly #stack: Element[] = [this.root]
  /** How often each name is on the stack. */
  readonly #open = new Map<string, number>()
  /** How many of them are `svg` or `math`. */
  #foreign = 0
  /** Elements beyond the greatest depth that are open, by name. */
  readonly #tooDeep = new Map<string, number>()
  #body: Element | undefined
  #name = ''
  #attributes: string[] = []
  #attribute = ''
  #value = ''
  #text = ''

  constructor(source: string) {
    this.#source = source
  }

  /** Asked by the tokenizer: sections of `CDATA` are text in SVG and MathML only. */
  isInForeignContext(): boolean {
    return this.#isForeign
  }

  onopentagname(start: number, end: number): void {
    this.#name = this.#source.slice(start, end).toLowerCase()
    this.#attributes = []
    // Where a word may be broken it is one word all the same.
    if (this.#name !== 'wbr') this.#flushText()
  }

  onattribname(start: number, end: number): void {
    this.#attribute = this.#source.slice(start, end).toLowerCase()
    this.#value = ''
  }

  onattribdata(start: number, end: number): void {
    this.#value += this.#source.slice(start, end)
  }

  onattribentity(codepoint: number): void {
    this.#value += String.fromCodePoint(codepoint)
  }

  onattribend(): void {
    if (this.#attributes.length < 2 * MAX_ATTRIBUTES) this.#attributes.push(this.#attribute, this.#value)
  }

  onopentagend(): void {
    this.#openElement(false)
  }

  onselfclosingtag(): void {
    this.#openElement(true)
  }

  onclosetag(start: number, end: number): void {
    const name = this.#source.slice(start, end).toLowerCase()
    if (name === 'wbr') return
    this.#flushText()
    this.#closeElement(name)
  }

  ontext(start: number, end: number): void {
    this.#text += this.#source.slice(start, end)
  }

  ontextentity(codepoint: number): void {
    this.#text += String.fromCodePoint(codepoint)
  }

  oncdata(start: number, end: number, endOffset: number): void {
    if (this.#isForeign) this.#text += this.#source.slice(start, end - endOffset)
  }

  oncomment(start: number, end: number, endOffset: number): void {
    this.commentChars += this.#source.slice(start, end - endOffset).trim().length
  }

  ondeclaration(): void {}
  onprocessinginstruction(): void {}

  onend(): void {
    this.#flushText()
  }

  get #top(): Element {
    return this.#stack.at(-1) ?? this.root
  }

  get #isForeign(): boolean {
    return this.#foreign > 0
  }

  #isOpen(name: string): boolean {
    return (this.#open.get(name) ?? 0) > 0
  }

  #flushText(): void {
    if (this.#text === '') return
    const text = this.#text
    this.#text = ''
    if (this.#top.name === 'head' && text.trim() !== '') this.#pop()
    this.#top.append(text)
  }

  #openElement(isSelfClosing: boolean): void {
    const name = this.#name
    if (name === 'wbr') return
    if (name === 'html') {
      for (let i = 0; i < this.#attributes.length; i += 2) this.#inherit(this.root, i)
      return
    }
    if (name === 'body' && this.#body !== undefined) {
      for (let i = 0; i < this.#attributes.length; i += 2) this.#inherit(this.#body, i)
      return
    }
    this.#closeImplied(name)
    const element = new Element(name === 'image' ? 'img' : name, this.#attributes)
    this.#top.append(element)
    if (name === 'body') this.#body = element
    const isClosed = VOID.has(name) || (isSelfClosing && (this.#isForeign || FOREIGN.has(name)))
    if (isClosed) return
    if (this.#stack.length > MAX_DEPTH) {
      this.#tooDeep.set(name, (this.#tooDeep.get(name) ?? 0) + 1)
      return
    }
    this.#stack.push(element)
    if (FOREIGN.has(name)) this.#foreign++
    this.#open.set(name, (this.#open.get(name) ?? 0) + 1)
  }

  /** Takes over an attribute that a repeated `html` or `body` tag adds. */
  #inherit(element: Element, index: number): void {
    const name = this.#attributes[index] ?? ''
    if (!element.hasAttribute(name)) element.setAttribute(name, this.#attributes[index + 1] ?? '')
  }

  #pop(): void {
    const element = this.#stack.pop()
    if (element === undefined) return
    if (FOREIGN.has(element.name)) this.#foreign--
    this.#open.set(element.name, (this.#open.get(element.name) ?? 1) - 1)
  }

  #popTo(length: number): void {
    while (this.#stack.length > length) this.#pop()
  }

  #closeImplied(name: string): void {
    // Most of a page is text with marks in it.
    if (INLINE.has(name) && name !== 'a' && !this.#isForeign && this.#top.name !== 'head') return
    if (this.#isOpen('head') && !METADATA.has(name) && this.#top.name === 'head') this.#pop()
    if (BREAKOUT.has(name) && this.#isForeign) this.#leaveForeign()
    const implied = IMPLIED.get(name)
    if (implied !== undefined) this.#closeWithin(implied)
    if (name === 'a' && this.#isOpen('a')) this.#closeLink()
    if (ENDS_PARAGRAPH.has(name) && this.#isOpen('p')) this.#closeWithin(PARAGRAPH)
    if (HEADINGS.has(name) && HEADINGS.has(this.#top.name)) this.#pop()
  }

  /** HTML inside SVG or MathML ends it, unless it stands where HTML may. */
  #leaveForeign(): void {
    for (let i = this.#stack.length - 1; i > 0; i--) {
      const name = this.#stack[i]?.name ?? ''
      if (name === 'foreignobject' || name === 'annotation-xml') return
      if (FOREIGN.has(name)) {
        this.#popTo(i)
        return
      }
    }
  }

  #closeWithin({ closes, within }: Implied): void {
    let outermost = 0
    for (let i = this.#stack.length - 1; i > 0; i--) {
      const name = this.#stack[i]?.name ?? ''
      if (within.has(name)) break
      if (closes.has(name)) outermost = i
    }
    if (outermost > 0) this.#popTo(outermost)
  }

  /** A link does not stand in another; one around blocks is left alone. */
  #closeLink(): void {
    for (let i = this.#stack.length - 1; i > 0; i--) {
      const open = this.#stack[i]?.name ?? ''
      if (open === 'a') {
        this.#popTo(i)
        return
      }
      if (!INLINE.has(open)) return
    }
  }

  #closeElement(name: string): void {
    // As in browsers, a line break is one however it is written, and so is a paragraph.
    if (name === 'br') {
      this.#top.append(new Element('br'))
      return
    }
    const tooDeep = this.#tooDeep.size === 0 ? 0 : (this.#tooDeep.get(name) ?? 0)
    if (tooDeep > 0) {
      this.#tooDeep.set(name, tooDeep - 1)
      return
    }
    if (this.#top.name === name && this.#top !== this.#body && this.#stack.length > 1) {
      this.#pop()
      return
    }
    if (!this.#isOpen(name)) return
    // What follows the body is shown in it all the same.
    if (name === 'body' || name === 'html') return
    const isPart = TABLE_PARTS.has(name)
    const isInline = INLINE.has(name)
    for (let i = this.#stack.length - 1; i > 0; i--) {
      const open = this.#stack[i]?.name ?? ''
      if (open === name) {
        this.#popTo(i)
        return
      }
      if (isPart ? TABLE.has(open) : BARRIERS.has(open)) return
      if (isInline && !INLINE.has(open)) {
        this.#endFormatting(i, name)
        return
      }
    }
  }

  /**
   * An inline element that is closed inside a block it was opened around: what follows in the block is no longer in it.
   * Rebuilding the tree as browsers do is not worth it; the element just counts as plain from now on.
   */
  #endFormatting(from: number, name: string): void {
    for (let i = from; i > 0; i--) {
      const element = this.#stack[i]
      if (element?.name !== name) continue
      this.#open.set(name, (this.#open.get(name) ?? 1) - 1)
      this.#open.set('span', (this.#open.get('span') ?? 0) + 1)
      element.name = 'span'
      return
    }
  }
}
