import { trimBlank } from '../../core/text/lines.ts'
import { dedent } from '../indent.ts'
import { writeCode } from '../markup.ts'

/** A list that is being written. */
interface OpenList {
  readonly name: 'dl' | 'ul' | 'ol'
  readonly out: string[]
  /** What its last item holds so far. */
  item: string[]
  /** Terms of the last item that nothing was said about yet. */
  terms: number
}

interface Level {
  readonly out: string[]
  list: OpenList | undefined
  /** Whether it is what is said about the paragraph before it. */
  readonly isDefinition: boolean
}

const MAX_DEPTH = 40
const MAX_TERM = 300

/** Writes a manual as HTML in the order in which its macros come: paragraphs, lists inside each other, code. */
export class Flow {
  readonly #levels: Level[] = [{ out: [], list: undefined, isDefinition: false }]
  #line: string[] = []
  #isJoined = true
  #code: string[] | undefined
  /** Levels that are too deep to be opened. */
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

  /** Adds words to the paragraph, or a line to the code. `isJoined` tells that the next words follow without a space. */
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

  /** Ends the paragraph; in code it is an empty line. */
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

  /** A heading ends all that is open. */
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
    level.list ??= { name, out: [], item: [], terms: 0 }
    return level.list
  }

  /** Begins to say something about a term. */
  term(html: string): void {
    const list = this.#item('dl')
    endItem(list)
    list.out.push(`<dt>${html}</dt>\n`)
    list.terms++
  }

  /** Begins an item with a bullet, or with a number. */
  bullet(number?: number): void {
    const list = this.#item(number === undefined ? 'ul' : 'ol')
    endItem(list)
    list.out.push(number === undefined ? '<li>' : `<li value="${number}">`)
    list.terms++
  }

  /** Goes one level in. A short paragraph right before is what the level is about. */
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
    // What programs write as lists of one item each is one list.
    return this.#level.out
      .join('')
      .replaceAll('</dl>\n<dl>\n', '')
      .replaceAll('</ul>\n<ul>\n', '')
      .replaceAll('</ol>\n<ol>\n', '')
  }
}

function endItem(list: OpenList): void {
  const { name, out, item } = list
  if (list.terms === 0) return
  if (name === 'dl') {
    // A term that nothing is said about is followed by another one for the same.
    if (item.length > 0) out.push(`<dd>${item.join('')}</dd>\n`)
  } else out.push(`${item.join('')}</li>\n`)
  list.item = []
  list.terms = 0
}
