import { decodeHTML, decodeHTMLAttribute } from 'entities/decode'
import { NameTable } from './name-table.ts'
import type { Tag, TagTable } from './tag.ts'

/** Further attributes of an element are ignored; no real element has so many. */
const MAX_ATTRIBUTES = 100

const TAB = 0x09
const LINE_FEED = 0x0a
const FORM_FEED = 0x0c
const RETURN = 0x0d
const SPACE = 0x20
const EXCLAMATION = 0x21
const DOUBLE_QUOTE = 0x22
const SINGLE_QUOTE = 0x27
const SLASH = 0x2f
const EQUALS = 0x3d
const GREATER = 0x3e
const QUESTION = 0x3f

/** Receives the tokens in source order, with their positions in the source. */
export interface TokenSink {
  /** Whether the next tag is in SVG or MathML, where every element holds markup. */
  readonly isForeign: boolean
  /** Text with decoded entities. Text between two tags may come in several pieces, none of them empty. */
  text(text: string, start: number, end: number): void
  /**
   * `attributes` holds names in lower case and values alternately, including duplicates, up to `attributesEnd`. Later entries are left over
   * from earlier tags, and the next tag overwrites the array. `spans` holds the start and end of each value at the same indices. `end` is
   * the position after the tag.
   */
  startTag(
    tag: Tag,
    attributes: readonly string[],
    attributesEnd: number,
    isSelfClosing: boolean,
    end: number,
    spans: readonly number[],
  ): void
  /** A start tag that is never closed, with the position of its name. The last value may be the rest of the source. */
  unclosedTag?(
    tag: Tag,
    attributes: readonly string[],
    attributesEnd: number,
    start: number,
    spans: readonly number[],
  ): void
  endTag(tag: Tag): void
  comment(text: string, start: number, isClosed: boolean): void
  /** A section of `CDATA`, which is text in SVG and MathML only. */
  cdata(text: string, start: number): void
}

/** Reads HTML into tokens, in linear time. A start tag that is never closed has no content. */
export function tokenize(source: string, tags: TagTable, sink: TokenSink): void {
  new Tokenizer(source, tags, sink).run()
}

/*
 * Each reading method takes the position where a construct begins and returns the position after it, or the end of the source if the
 * construct is never closed. A missing end also ends reading, so no text is searched twice.
 */
class Tokenizer {
  readonly #source: string
  readonly #tags: TagTable
  readonly #sink: TokenSink
  readonly #attributes: string[] = []
  readonly #spans: number[] = []
  #attributesEnd = 0
  #isSelfClosing = false
  /** Names of attributes in lower case, by the names as the source writes them. */
  readonly #attributeNames = new NameTable(attributeName)
  /** Position of the first `&` after the current position. */
  #ampersand = -1

  constructor(source: string, tags: TagTable, sink: TokenSink) {
    this.#source = source
    this.#tags = tags
    this.#sink = sink
  }

  run(): void {
    const source = this.#source
    let textStart = 0
    let at = source.indexOf('<')
    while (at !== -1) {
      if (this.#isMarkup(at)) {
        if (textStart < at) this.#text(textStart, at)
        textStart = this.#readMarkup(at)
        at = source.indexOf('<', textStart)
      } else {
        at = source.indexOf('<', at + 1)
      }
    }
    if (textStart < source.length) this.#text(textStart, source.length)
  }

  #isMarkup(at: number): boolean {
    const next = this.#source.charCodeAt(at + 1)
    if (isLetter(next) || next === EXCLAMATION || next === QUESTION) return true
    return next === SLASH && at + 2 < this.#source.length
  }

  #readMarkup(at: number): number {
    switch (this.#source.charCodeAt(at + 1)) {
      case SLASH:
        return this.#readEndTag(at + 2)
      case EXCLAMATION:
        return this.#readDeclaration(at + 2)
      case QUESTION:
        return this.#readBogusComment(at + 1)
      default:
        return this.#readStartTag(at + 1)
    }
  }

  #readStartTag(start: number): number {
    const nameEnd = this.#endOfName(start)
    const tag = this.#tags.at(this.#source, start, nameEnd)
    const end = this.#readAttributes(nameEnd)
    if (end === -1) {
      this.#sink.unclosedTag?.(tag, this.#attributes, this.#attributesEnd, start, this.#spans)
      return this.#source.length
    }
    // Must be evaluated before the sink gets the tag, because the tag may end the foreign content.
    const holdsMarkup = tag.contentModel === 'markup' || this.#sink.isForeign
    this.#sink.startTag(tag, this.#attributes, this.#attributesEnd, this.#isSelfClosing, end, this.#spans)
    return holdsMarkup ? end : this.#readContent(tag, end)
  }

  /** Reads up to the end of a tag; -1 if it has none. */
  #readAttributes(start: number): number {
    const source = this.#source
    this.#attributesEnd = 0
    this.#isSelfClosing = false
    let at = start
    while (at < source.length) {
      const unit = source.charCodeAt(at)
      if (unit === GREATER) return at + 1
      if (isSpace(unit)) {
        at++
      } else if (unit === SLASH) {
        this.#isSelfClosing = true
        at++
      } else {
        this.#isSelfClosing = false
        at = this.#readAttribute(at)
      }
    }
    return -1
  }

  #readAttribute(start: number): number {
    const source = this.#source
    // A name may begin with an equals sign.
    let nameEnd = start + 1
    while (nameEnd < source.length && !endsAttributeName(source.charCodeAt(nameEnd))) nameEnd++
    const equals = this.#skipSpace(nameEnd)
    if (source.charCodeAt(equals) !== EQUALS) {
      this.#addAttribute(start, nameEnd, nameEnd, nameEnd)
      return equals
    }
    const at = this.#skipSpace(equals + 1)
    const quote = source.charCodeAt(at)
    if (quote === DOUBLE_QUOTE || quote === SINGLE_QUOTE) {
      const closing = source.indexOf(quote === DOUBLE_QUOTE ? '"' : "'", at + 1)
      const end = closing === -1 ? source.length : closing
      this.#addAttribute(start, nameEnd, at + 1, end)
      return end + 1
    }
    let end = at
    while (end < source.length && !endsBareValue(source.charCodeAt(end))) end++
    this.#addAttribute(start, nameEnd, at, end)
    return end
  }

  #addAttribute(nameStart: number, nameEnd: number, start: number, end: number): void {
    if (this.#attributesEnd >= 2 * MAX_ATTRIBUTES) return
    this.#spans[this.#attributesEnd] = start
    this.#attributes[this.#attributesEnd++] = this.#attributeNames.at(this.#source, nameStart, nameEnd)
    this.#spans[this.#attributesEnd] = end
    this.#attributes[this.#attributesEnd++] = this.#attributeValue(start, end)
  }

  #attributeValue(start: number, end: number): string {
    const value = this.#source.slice(start, end)
    return this.#holdsAmpersand(start, end) ? decodeHTMLAttribute(value) : value
  }

  /** Reads the content of an element without markup, up to its end tag. */
  #readContent(tag: Tag, start: number): number {
    const end = tag.contentModel === 'plain' ? this.#source.length : this.#findEndTag(tag.name, start)
    if (start === end) return end
    if (tag.contentModel === 'escapable') this.#text(start, end)
    else this.#sink.text(this.#source.slice(start, end), start, end)
    return end
  }

  #findEndTag(name: string, start: number): number {
    const source = this.#source
    for (let at = source.indexOf('</', start); at !== -1; at = source.indexOf('</', at + 2)) {
      const end = at + 2 + name.length
      if (endsName(source.charCodeAt(end)) && source.slice(at + 2, end).toLowerCase() === name) return at
    }
    return source.length
  }

  #readEndTag(start: number): number {
    const source = this.#source
    const first = source.charCodeAt(start)
    if (first === GREATER) return start + 1
    if (!isLetter(first)) return this.#readBogusComment(start)
    const nameEnd = this.#endOfName(start)
    if (nameEnd === source.length) return nameEnd
    this.#sink.endTag(this.#tags.at(source, start, nameEnd))
    return this.#positionAfter('>', nameEnd)
  }

  #readDeclaration(start: number): number {
    const source = this.#source
    if (source.startsWith('--', start)) return this.#readComment(start + 2)
    if (source.startsWith('[CDATA[', start)) return this.#readCdata(start)
    if (source.slice(start, start + 7).toLowerCase() === 'doctype') return this.#positionAfter('>', start)
    return this.#readBogusComment(start)
  }

  #readComment(start: number): number {
    const source = this.#source
    const emptyComment = /-?>/y
    emptyComment.lastIndex = start
    if (emptyComment.test(source)) {
      this.#sink.comment('', start, true)
      return emptyComment.lastIndex
    }
    // In a source with only one of `-->` and `--!>`, a separate search for the other would scan to the end for every comment.
    for (let at = source.indexOf('--', start); at !== -1; at = source.indexOf('--', at + 1)) {
      const closing = source.charCodeAt(at + 2) === EXCLAMATION ? at + 3 : at + 2
      if (source.charCodeAt(closing) !== GREATER) continue
      this.#sink.comment(source.slice(start, at), start, true)
      return closing + 1
    }
    this.#sink.comment(source.slice(start).replace(/(?:--?|--!)$/, ''), start, false)
    return source.length
  }

  #readCdata(start: number): number {
    const source = this.#source
    const end = source.indexOf(']]>', start + 7)
    if (end === -1) {
      this.#sink.comment(source.slice(start), start, false)
      return source.length
    }
    this.#sink.cdata(source.slice(start + 7, end), start + 7)
    return end + 3
  }

  /** Markup that is neither a tag nor a comment counts as a comment up to the next `>`. */
  #readBogusComment(start: number): number {
    const end = this.#positionAfter('>', start)
    const isClosed = this.#source.charCodeAt(end - 1) === GREATER
    this.#sink.comment(this.#source.slice(start, isClosed ? end - 1 : end), start, isClosed)
    return end
  }

  #text(start: number, end: number): void {
    const text = this.#source.slice(start, end)
    this.#sink.text(this.#holdsAmpersand(start, end) ? decodeHTML(text) : text, start, end)
  }

  /** Most pages have few entities, so one search ahead serves many texts. */
  #holdsAmpersand(start: number, end: number): boolean {
    if (this.#ampersand < start) {
      const next = this.#source.indexOf('&', start)
      this.#ampersand = next === -1 ? this.#source.length : next
    }
    return this.#ampersand < end
  }

  #endOfName(start: number): number {
    const source = this.#source
    let at = start
    while (at < source.length && !endsName(source.charCodeAt(at))) at++
    return at
  }

  #skipSpace(start: number): number {
    let at = start
    while (isSpace(this.#source.charCodeAt(at))) at++
    return at
  }

  #positionAfter(char: string, start: number): number {
    const at = this.#source.indexOf(char, start)
    return at === -1 ? this.#source.length : at + 1
  }
}

/** Interned names of attributes that the code looks up, which makes comparing them fast. */
const ATTRIBUTE_NAMES: ReadonlyMap<string, string> = new Map(
  ['class', 'id', 'href', 'src', 'alt', 'title', 'rel', 'type', 'name', 'content', 'style', 'role'].map((name) => [
    name,
    name,
  ]),
)

function attributeName(written: string): string {
  const name = written.toLowerCase()
  return ATTRIBUTE_NAMES.get(name) ?? name
}

function isLetter(unit: number): boolean {
  const lower = unit | 0x20
  return lower >= 0x61 && lower <= 0x7a
}

function isSpace(unit: number): boolean {
  return unit === SPACE || unit === LINE_FEED || unit === TAB || unit === RETURN || unit === FORM_FEED
}

/* Letters have higher codes than all characters that end a name, so most units take one comparison. */

function endsName(unit: number): boolean {
  return unit <= GREATER && (unit === GREATER || unit === SLASH || isSpace(unit))
}

function endsAttributeName(unit: number): boolean {
  return unit <= GREATER && (unit === EQUALS || endsName(unit))
}

function endsBareValue(unit: number): boolean {
  return unit <= GREATER && (unit === GREATER || isSpace(unit))
}
