import { isBlank } from '../../text/lines.ts'
import { CodeSpans, isHidden, NON_TEXT_ELEMENTS } from '../text/markdown-source.ts'
import { fenceFor, writeCodeSpan } from '../write/escape.ts'
import { readAttributeList } from './attributes.ts'
import { convertTag, isElement, isInvisibleTag, isVoid, type TagOutput } from './components.ts'
import { OPTIONAL_END_TAGS } from './html-elements.ts'
import { readKeys } from './keys.ts'
import type { ProseReader } from './prose-reader.ts'
import { readRole } from './roles.ts'
import { readTag, type Tag, textOfExpression } from './scanner.ts'
import { readEscapedShortcode, readTemplateTag } from './template-tags.ts'
import { codeText, WHOLE_ELEMENTS, writeTable } from './whole-elements.ts'

/** Number of characters after a tag in which its closing tag is searched. */
const MAX_CLOSING_DISTANCE = 2000

const LINE_END = /[ \t]*(?:\n|$)/y
const MATH = /\$\$(?:[^$\\]|\\.|\$(?!\$)){1,2000}\$\$|\$(?=\S)(?:[^$\\\n]|\\.){1,500}(?<=\S)\$(?!\d)/sy
/** An icon by its name, with its style attributes and the space after it. */
const ICON = /:(?:material|octicons|fontawesome|simple)-[a-z\d-]{1,100}:(?:\{[^{}\n]{0,200}\})?[ \t]?/y
const VARIABLE =
  /\{\{-?\s*\$?(?:page|site|frontmatter|page\.params|\.Params|\.Site|\.Page|product|config)\b([\w.$"'[\]-]*)(?![\w.$"'[\]-])[^{}\n]{0,200}\}\}/y

/** One piece of prose between code. */
export class ProsePiece {
  readonly #text: string
  readonly #out: ProseReader
  readonly #lastCommentEnd: number
  readonly #lastExpressionCommentEnd: number
  /** The code spans of the current paragraph, from its first backtick on. */
  #spans = { code: new CodeSpans(''), start: 0, end: 0 }
  #lineStart = 0
  #lineEnd = -1
  /** Offset up to which the text has been copied. */
  #from = 0

  constructor(text: string, out: ProseReader) {
    this.#text = text
    this.#out = out
    this.#lastCommentEnd = text.lastIndexOf('-->')
    this.#lastExpressionCommentEnd = text.lastIndexOf('*/')
  }

  read(): void {
    const text = this.#text
    for (let at = 0; at < text.length; ) {
      const next = this.#take(text[at] ?? '', at)
      if (next === undefined) at++
      else at = next
    }
    this.#flush(text.length)
  }

  /** Handles the construct at an offset, if there is one, and returns the offset where the text continues. */
  #take(character: string, at: number): number | undefined {
    switch (character) {
      case '`':
        return this.#endOfSpan(at)
      case '\\':
        return at + 2
      case '<':
        return this.#tag(at)
      case '{':
        return this.#out.isHidden ? undefined : this.#brace(at)
      case '$':
        return match(MATH, this.#text, at)?.[0].length === undefined ? undefined : MATH.lastIndex
      case ':':
        return this.#replace(at, match(ICON, this.#text, at), '')
      case '+': {
        const keys = readKeys(this.#text, at)
        return keys === undefined || this.#out.isHidden ? undefined : this.#put(at, keys.end, keys.text)
      }
      default:
        return undefined
    }
  }

  /** Offset after the code span that begins at an offset. The span ends with its paragraph at the latest. */
  #endOfSpan(at: number): number {
    if (at >= this.#spans.end) {
      const blank = this.#text.indexOf('\n\n', at)
      const end = blank < 0 ? this.#text.length : blank
      this.#spans = { code: new CodeSpans(this.#text.slice(at, end)), start: at, end }
    }
    const { code, start } = this.#spans
    return start + code.endOf(at - start)
  }

  #flush(to: number): void {
    this.#out.text(this.#text.slice(this.#from, to))
    this.#from = to
  }

  #replace(at: number, found: RegExpExecArray | null, text: string): number | undefined {
    if (found === null || this.#out.isHidden) return undefined
    return this.#put(at, at + found[0].length, text)
  }

  #put(at: number, end: number, text: string): number {
    this.#flush(at)
    this.#out.text(text)
    this.#from = end
    return end
  }

  /** Removes a range. If nothing else is on its line, the line is removed too. */
  #remove(at: number, end: number): number {
    this.#findLine(at)
    const before = this.#text.slice(this.#lineStart, at)
    if (this.#from > this.#lineStart || !isBlank(before)) return this.#put(at, end, '')
    const last = endOfLine(this.#text, end)
    if (last === undefined) return this.#put(at, end, '')
    this.#flush(this.#lineStart)
    this.#out.addGap()
    this.#from = last
    return last
  }

  #findLine(at: number): void {
    while (at > this.#lineEnd) {
      this.#lineStart = this.#lineEnd + 1
      const end = this.#text.indexOf('\n', this.#lineStart)
      this.#lineEnd = end < 0 ? this.#text.length : end
    }
  }

  #brace(at: number): number | undefined {
    const text = this.#text
    const next = text[at + 1]
    if (next === '{' || next === '%') return this.#template(at)
    if (text.startsWith('{/*', at) && at < this.#lastExpressionCommentEnd) return this.#comment(at)
    const attributes = readAttributeList(text, at)
    if (attributes !== undefined) {
      const found = this.#attributes(at, attributes.id, attributes.end)
      if (found !== undefined) return found
    }
    const role = readRole(text, at)
    if (role !== undefined) return this.#put(at, role.end, role.text)
    return this.#expression(at)
  }

  #template(at: number): number | undefined {
    const escaped = readEscapedShortcode(this.#text, at)
    if (escaped !== undefined) return this.#put(at, escaped.end, escaped.text)
    const tag = readTemplateTag(this.#text, at, this.#out.scanner)
    if (tag !== undefined) {
      const isEmpty = tag.isEmpty || !this.#out.facts.closedTemplateTags.has(tag.name)
      if (tag.name === 'comment' && !isEmpty) return this.#templateComment(at, tag.end)
      if (isInvisibleTag(tag)) return this.#remove(at, tag.end)
      return this.#write({ ...tag, isEmpty }, at)
    }
    const variable = match(VARIABLE, this.#text, at)
    if (variable === null) return this.#out.facts.isMdx ? this.#expression(at) : undefined
    const name = (variable[1] ?? '').replace(/^\./, '').toLowerCase()
    return this.#put(at, at + variable[0].length, this.#out.facts.fields.get(name) ?? '')
  }

  #templateComment(at: number, from: number): number {
    const close = this.#text.indexOf('{% endcomment', from)
    const last = close < 0 ? -1 : this.#text.indexOf('%}', close)
    if (last < 0) return this.#remove(at, from)
    this.#out.hiddenChars += this.#text.slice(from, close).trim().length
    return this.#remove(at, last + 2)
  }

  /** Handles a comment. At the end of a heading it may be the fragment of the heading: `## Title {/*title*​/}`. */
  #comment(at: number): number | undefined {
    const close = this.#text.indexOf('*/', at + 3)
    const [end] = close < 0 ? [] : (match(/\*\/\s*\}/y, this.#text, close) ?? [])
    if (end === undefined) return undefined
    const content = this.#text.slice(at + 3, close).trim()
    const after = close + end.length
    const [, id] = /^#?([\p{L}\p{N}][\p{L}\p{N}._-]*)$/u.exec(content) ?? []
    if (id !== undefined && this.#endsHeading(at, after)) return this.#put(this.#trimBefore(at), after, ` {#${id}}`)
    this.#out.hiddenChars += content.length
    return this.#remove(at, after)
  }

  /** `{ #id .class }` after a heading is its fragment; after a link or on its own line it only controls style. */
  #attributes(at: number, id: string, end: number): number | undefined {
    if (this.#endsHeading(at, end)) return this.#put(this.#trimBefore(at), end, id === '' ? '' : ` {#${id}}`)
    // The attributes of a container are parsed with the container.
    if (/^[ \t]*:{2,}/.test(this.#text.slice(this.#lineStart, at))) return undefined
    const before = this.#text[at - 1] ?? '\n'
    if (/[)\]`*_:]/.test(before)) return this.#put(at, end, '')
    this.#findLine(at)
    const isAlone = isBlank(this.#text.slice(Math.max(this.#lineStart, at - 100), at))
    const isLast = endOfLine(this.#text, end) !== undefined
    if (isAlone && isLast) return this.#remove(at, end)
    return isLast && before === ' ' ? this.#put(this.#trimBefore(at), end, '') : undefined
  }

  #endsHeading(at: number, end: number): boolean {
    this.#findLine(at)
    if (endOfLine(this.#text, end) === undefined) return false
    return /^[ \t]*#{1,6}[ \t]+\S/.test(this.#text.slice(this.#lineStart, Math.min(at, this.#lineStart + 200)))
  }

  #trimBefore(at: number): number {
    let start = at
    while (start > this.#from && (this.#text[start - 1] === ' ' || this.#text[start - 1] === '\t')) start--
    return start
  }

  /** Expressions are never evaluated: only a string literal is shown. */
  #expression(at: number): number | undefined {
    const { facts, scanner } = this.#out
    const isLikely = facts.isMdx || (facts.pairedTags.size > 0 && /["'`]/.test(this.#text[at + 1] ?? ''))
    const end = isLikely ? scanner.endOfBracket(this.#text, at) : -1
    if (end < 0) return undefined
    const source = this.#text.slice(at + 1, end - 1)
    const text = textOfExpression(source)
    if (text === '' && !facts.isMdx) return undefined
    if (text === '') return this.#remove(at, end)
    // `{' '}` after white space would add a second space.
    return this.#put(at, end, isBlank(text) && /\s/.test(this.#text[at - 1] ?? ' ') ? '' : text)
  }

  #tag(at: number): number | undefined {
    const text = this.#text
    if (text.startsWith('<!--', at) && at < this.#lastCommentEnd) return text.indexOf('-->', at) + 3
    const tag = readTag(text, at, this.#out.scanner)
    if (tag === undefined) return undefined
    if (this.#out.isHidden) {
      this.#out.countHidden(tag)
      return tag.end
    }
    if (!this.#isTag(tag, at)) return undefined
    if (!tag.isClosing && !isVoid(tag) && isInvisible(tag, text.slice(at, tag.end))) {
      this.#flush(at)
      this.#out.hide(tag.name)
      return tag.end
    }
    return this.#write(tag, at)
  }

  /** In plain Markdown a word in angle brackets is a tag only with further evidence. */
  #isTag(tag: Tag, at: number): boolean {
    const { isMdx, pairedTags } = this.#out.facts
    if (isMdx) return true
    if (tag.name === '') return false
    if (isElement(tag)) return isVoid(tag) || OPTIONAL_END_TAGS.has(tag.name) || pairedTags.has(tag.name)
    if (!/^[A-Z]|[.-]/.test(tag.name) || !(tag.isEmpty || pairedTags.has(tag.name))) return false
    // `List<Item>` is a type.
    return tag.isClosing || !/[\p{L}\p{N}_]/u.test(this.#text[at - 1] ?? '')
  }

  /** Writes a tag, and returns the offset where the text continues. */
  #write(tag: Tag, at: number): number {
    const out = this.#out
    if (tag.isClosing) {
      if (!out.canClose(tag)) return this.#remove(at, tag.end)
      this.#flush(at)
      this.#from = tag.end
      return out.close(tag) ? this.#afterBlock(tag) : tag.end
    }
    const sign = this.#powerSign(tag, at)
    if (sign !== '') return this.#put(at, tag.end, sign)
    const part = convertTag(tag)
    if (part.type === 'inline' && part.text === '' && !WHOLE_ELEMENTS.has(tag.name.toLowerCase()))
      return this.#remove(at, tag.end)
    this.#flush(at)
    this.#from = tag.end
    const wholeEnd = this.#whole(tag, at)
    if (wholeEnd !== undefined) return wholeEnd
    switch (part.type) {
      case 'inline':
        out.text(part.text)
        break
      case 'mark':
        if (this.#canEmphasize(tag)) out.beginMark(tag.name, part.mark, part.mark)
        break
      case 'link':
        if (part.address !== '' && !isVoid(tag) && this.#inner(tag) !== '')
          out.beginMark(tag.name, '[', `](${part.address})`)
        break
      case 'code':
        this.#code(part.code, part.language, part.title, at)
        return this.#afterBlock(tag)
      case 'heading':
        out.beginHeading(part)
        break
      case 'item':
        out.beginItem(tag, part)
        if (part.isList) return this.#afterBlock(tag)
        break
      case 'list':
        out.beginList(tag, part)
        return this.#afterBlock(tag)
      case 'block':
        if (this.#isInline(tag, part)) break
        out.beginBlock(tag, part)
        return this.#afterBlock(tag)
    }
    return tag.end
  }

  /** The sign that separates a power or an index from the text before it: `2^64`. Without it, both would read as one number or word. */
  #powerSign({ name, end }: Tag, at: number): string {
    if (name !== 'sup' && name !== 'sub') return ''
    const before = this.#text[at - 1] ?? ''
    const inner = this.#text.slice(end, end + 10)
    if (name === 'sub') return /\d/.test(before) && /^\s*\d/.test(inner) ? '_' : ''
    return /[\p{L}\p{N})*]/u.test(before) && /^\s*(?:[-+−]?\d|[a-z]\s*<)/.test(inner) ? '^' : ''
  }

  /** Whether an unknown component is within a line. */
  #isInline(tag: Tag, { box, label, labels }: Extract<TagOutput, { type: 'block' }>): boolean {
    if (isElement(tag) || box !== null || label !== '' || labels.size > 0) return false
    if (this.#out.hasLineText || this.#out.isInHeading) return true
    if ('values' in tag) return false
    if (isVoid(tag)) return endOfLine(this.#text, tag.end) === undefined
    const inner = this.#inner(tag)
    if (inner === undefined || inner.includes('\n')) return false
    const close = this.#text.indexOf('>', tag.end + inner.length)
    return close >= 0 && endOfLine(this.#text, close + 1) === undefined
  }

  /** Skips the line break after a block. */
  #afterBlock({ end }: Tag): number {
    this.#from = endOfLine(this.#text, end) ?? end
    return this.#from
  }

  /** The source between a tag and its closing tag; undefined if there is none nearby. */
  #inner(tag: Tag): string | undefined {
    const { scanner } = this.#out
    if (scanner.isExhausted) return undefined
    const near = this.#text.slice(tag.end, tag.end + MAX_CLOSING_DISTANCE)
    const end = near.indexOf(`</${tag.name}`)
    scanner.spend(end < 0 ? near.length : end)
    return end < 0 ? undefined : near.slice(0, end)
  }

  /** Emphasis needs words without white space at either end, within one paragraph. */
  #canEmphasize(tag: Tag): boolean {
    const inner = this.#inner(tag)
    return (
      inner !== undefined && /^\S(?:[\s\S]*\S)?$/.test(inner) && !/\n[ \t]*\n/.test(inner) && !this.#out.isInHeading
    )
  }

  /** Handles elements that are read as a whole: code and tables. Returns the offset after the element. */
  #whole(tag: Tag, at: number): number | undefined {
    const name = tag.name.toLowerCase()
    if (!WHOLE_ELEMENTS.has(name) || isVoid(tag)) return undefined
    const { scanner } = this.#out
    if (scanner.isExhausted) return undefined
    const close = this.#text.indexOf(`</${tag.name}`, tag.end)
    scanner.spend((close < 0 ? this.#text.length : close) - tag.end)
    const last = close < 0 ? -1 : this.#text.indexOf('>', close)
    if (last < 0) return undefined
    const source = this.#text.slice(tag.end, close)
    const end = last + 1
    if (name === 'table') {
      this.#out.addGap()
      this.#out.text(`${writeTable(this.#text.slice(at, end))}\n`)
      this.#out.addGap()
    } else if (name === 'pre' || name === 'codeblock') {
      const [, inner] = /<code[^<>]*(?:language-|lang-)([\w+#-]+)/.exec(source) ?? []
      const language = tag.attributes.get('language') ?? tag.attributes.get('lang') ?? inner ?? ''
      this.#code(codeText(source), language, tag.attributes.get('title') ?? '', at)
    } else {
      const text = codeText(source).replace(/\s+/g, ' ').trim()
      this.#out.text(text === '' ? '' : writeCodeSpan(text))
      this.#from = end
      return end
    }
    return this.#afterBlock({ ...tag, end })
  }

  #code(code: string, language: string, title: string, at: number): void {
    this.#findLine(at)
    const text = code.replace(/^(?:[ \t]*\n)+/, '').trimEnd()
    if (text === '') return
    const fence = fenceFor(text, 3)
    const lines = [fence + (/^[\w+#.-]{1,30}$/.test(language) ? language : ''), ...text.split('\n'), fence]
    this.#out.addTitledCode('', title, lines)
  }
}

function match(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at
  return pattern.exec(text)
}

/** Start of the next line, if only white space is left on this one. */
function endOfLine(text: string, at: number): number | undefined {
  LINE_END.lastIndex = at
  return LINE_END.test(text) ? LINE_END.lastIndex : undefined
}

function isInvisible({ name }: Tag, source: string): boolean {
  return NON_TEXT_ELEMENTS.has(name.toLowerCase()) || isHidden(source.slice(name.length + 1, -1))
}
