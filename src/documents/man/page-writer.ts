import { trimBlank } from '../../core/text/lines.ts'
import { dedent } from '../indent.ts'
import { writeCode } from '../markup.ts'

/** A list that is being written. */
interface OpenList {
  readonly name: 'dl' | 'ul' | 'ol'
  readonly out: string[]
  /** Content of the last item so far. */
  item: string[]
  /** Whether the last item, or the last term of a `dl`, is not ended yet. */
  hasOpenItem: boolean
}

interface Level {
  readonly out: string[]
  list: OpenList | undefined
  /** Whether this level is the description of the paragraph before it. */
  readonly isDefinition: boolean
}

const MAX_DEPTH = 40
const MAX_TERM = 300

/** Writes a manual page as HTML in the order of its macros: paragraphs, nested lists, code. */
export class PageWriter {
  readonly #levels: Level[] = [{ out: [], list: undefined, isDefinition: false }]
  #line: string[] = []
  #isJoined = true
  #code: string[] | undefined
  /** Number of levels beyond the depth limit, which are not opened. */
  #ignored = 0

  get #level(): Level {
    return this.#levels.at(-1) ?? { out: [], list: undefined, isDefinition: false }
  }

  get #target(): string[] {
    return this.#level.list?.item ?? this.#level.out
  }

  get isCode(): boolean {
    return this.#code !== undefined
  }

  /** Adds text to the paragraph, or a line to the code. `isJoined` means that the next text follows without a space. */
  text(html: string, plain: string, isJoined = false): void {
    if (this.#code !== undefined) {
      if (this.#isJoined && this.#code.length > 0) this.#code.push(`${this.#code.pop() ?? ''}${plain}`)
      else this.#code.push(plain)
    } else if (html.trim() !== '' || html === ' ') {
      if (!this.#isJoined && this.#line.length > 0) this.#line.push(' ')
      this.#line.push(html)
    }
    this.#isJoined = isJoined
  }

  /** Ends the line but not the paragraph. */
  breakLine(): void {
    if (this.#code === undefined && this.#line.length > 0 && this.#line.at(-1) !== '<br>') this.#line.push('<br>')
    this.#isJoined = this.#code === undefined
  }

  /** Ends the paragraph; in code it adds an empty line. */
  endParagraph(): void {
    if (this.#code !== undefined) {
      this.#code.push('')
      return
    }
    const html = this.#takeLine()
    if (html !== '') this.#target.push(`<p>${html}</p>\n`)
  }

  #takeLine(): string {
    while (this.#line.at(-1) === '<br>') this.#line.pop()
    const html = this.#line.join('').trim()
    this.#line = []
    this.#isJoined = true
    return html
  }

  block(html: string): void {
    this.endCode()
    this.endParagraph()
    this.#target.push(html)
  }

  startCode(): void {
    if (this.#code !== undefined) return
    this.endParagraph()
    this.#code = []
    this.#isJoined = false
  }

  endCode(): void {
    const code = this.#code
    this.#code = undefined
    if (code === undefined) return
    const text = dedent(trimBlank(code)).join('\n')
    if (text !== '') this.#target.push(writeCode(text))
    this.#isJoined = true
  }

  /** Writes a heading, which closes everything that is open. */
  heading(level: number, html: string, id: string): void {
    this.endCode()
    while (this.#levels.length > 1) this.close()
    this.#ignored = 0
    this.endList()
    this.#level.out.push(`<h${level} id="${id}">${html}</h${level}>\n`)
  }

  endList(): void {
    this.endCode()
    this.endParagraph()
    const level = this.#level
    const { list } = level
    if (list === undefined) return
    level.list = undefined
    endItem(list)
    level.out.push(`<${list.name}>\n${list.out.join('')}</${list.name}>\n`)
  }

  #item(name: OpenList['name']): OpenList {
    this.endCode()
    this.endParagraph()
    const level = this.#level
    if (level.list !== undefined && level.list.name !== name) this.endList()
    level.list ??= { name, out: [], item: [], hasOpenItem: false }
    return level.list
  }

  /** Writes a term and starts its description. */
  term(html: string): void {
    const list = this.#item('dl')
    endItem(list)
    list.out.push(`<dt>${html}</dt>\n`)
    list.hasOpenItem = true
  }

  /** Starts an item with a bullet or a number. */
  bullet(number?: number): void {
    const list = this.#item(number === undefined ? 'ul' : 'ol')
    endItem(list)
    list.out.push(number === undefined ? '<li>' : `<li value="${number}">`)
    list.hasOpenItem = true
  }

  /** Opens a nested level. A short paragraph directly before becomes its term. */
  open(): void {
    if (this.#levels.length > MAX_DEPTH) {
      this.#ignored++
      return
    }
    this.endCode()
    const words = this.#line.join('')
    const isTerm =
      this.#level.list === undefined && words !== '' && words.length <= MAX_TERM && !/[.:;]\s*$/.test(words)
    if (isTerm) this.#level.out.push(`<dl>\n<dt>${this.#takeLine()}</dt>\n<dd>`)
    else this.endParagraph()
    this.#levels.push({ out: [], list: undefined, isDefinition: isTerm })
  }

  close(): void {
    if (this.#ignored > 0) {
      this.#ignored--
      return
    }
    this.endList()
    if (this.#levels.length < 2) return
    const inner = this.#levels.pop()
    this.#target.push(inner?.out.join('') ?? '')
    if (inner?.isDefinition === true) this.#target.push('</dd>\n</dl>\n')
  }

  finish(): string {
    this.endCode()
    while (this.#levels.length > 1) this.close()
    this.endList()
    // Joins consecutive lists, because page generators write each item as its own list.
    return this.#level.out
      .join('')
      .replaceAll('</dl>\n<dl>\n', '')
      .replaceAll('</ul>\n<ul>\n', '')
      .replaceAll('</ol>\n<ol>\n', '')
  }
}

function endItem(list: OpenList): void {
  const { name, out, item } = list
  if (!list.hasOpenItem) return
  if (name === 'dl') {
    // A term without a description shares that of the next term.
    if (item.length > 0) out.push(`<dd>${item.join('')}</dd>\n`)
  } else out.push(`${item.join('')}</li>\n`)
  list.item = []
  list.hasOpenItem = false
}
