import { escapeHtml } from '../../core/html/escape.ts'
import { writeLink, writeNoteMark } from '../markup.ts'
import { keyOf, type RstContext } from './context.ts'
import { unescapeText } from './lines.ts'
import { writeRole } from './roles.ts'

/** Nesting limit of substitutions. */
const MAX_DEPTH = 5
const MAX_NAME = 100

const CLOSING: Readonly<Record<string, string>> = { '"': '"', "'": "'", '(': ')', '[': ']', '{': '}', '<': '>' }
/** Characters allowed before and after marked text. */
const BEFORE = /[\s'"([{<\-/:\p{Ps}\p{Pi}\p{Pf}\p{Pd}\p{Po}]/u
const AFTER = /[\s'")\]}>\-/\\:.,;!?\p{Pe}\p{Pi}\p{Pf}\p{Pd}\p{Po}]/u

const ROLE_BEFORE = /:([A-Za-z][\w.+:-]{0,60}):`/y
const ROLE_AFTER = /:([A-Za-z][\w.+:-]{0,60}):/y
const ADDRESS = /(?:https?|ftp):\/\/[^\s<>"`|\\]{1,2000}/y
const NOTE = /\[(#|#?[\w.:+-]{1,80}|\*)\]_/y
/** Positions where markup may start. */
const NEXT_MARK = /[\\*`:|[_]|(?:https?|ftp):/g
const WORD = /[\p{L}\p{N}]/u
const SIMPLE_NAME = /(?<![\p{L}\p{N}]|[\p{L}\p{N}][-_.:+])[\p{L}\p{N}](?:[-_.:+]?[\p{L}\p{N}])*$/u

/** Writes inline text as HTML. Time is linear in its length, because an unclosed mark is searched for only once. */
export function writeInline(text: string, context: RstContext, depth = 0): string {
  return new InlineWriter(text, context, depth).write()
}

class InlineWriter {
  readonly #text: string
  readonly #context: RstContext
  readonly #depth: number
  readonly #out: string[] = []
  #plain = ''
  #at = 0
  /** Marks that have no closing mark in the rest of the text. */
  readonly #unclosed = new Set<string>()

  constructor(text: string, context: RstContext, depth: number) {
    this.#text = text
    this.#context = context
    this.#depth = depth
  }

  write(): string {
    while (this.#at < this.#text.length) {
      if (this.#take()) continue
      NEXT_MARK.lastIndex = this.#at + 1
      const next = NEXT_MARK.exec(this.#text)?.index ?? this.#text.length
      this.#plain += this.#text.slice(this.#at, next)
      this.#at = next
    }
    this.#flush()
    return this.#out.join('')
  }

  #flush(): void {
    if (this.#plain !== '') this.#out.push(escapeHtml(this.#plain.replaceAll(' --- ', ' — ').replaceAll(' -- ', ' – ')))
    this.#plain = ''
  }

  #push(html: string, end: number): true {
    this.#flush()
    this.#out.push(html)
    this.#at = end
    return true
  }

  /** Consumes the markup at the current position. Returns whether there was any. */
  #take(): boolean {
    switch (this.#text[this.#at]) {
      case '\\':
        return this.#takeEscape()
      case '*':
        return this.#starts('**') ? this.#takeMarked('**', 'strong') : this.#takeMarked('*', 'em')
      case '`':
        return this.#starts('``') ? this.#takeLiteral() : this.#takeInterpreted(this.#at, '')
      case ':':
        return this.#takeRole()
      case '|':
        return this.#takeSubstitution()
      case '[':
        return this.#takeNote()
      case '_':
        return this.#starts('_`') ? this.#takeTarget() : this.#takeReference()
      case 'h':
      case 'f':
        return this.#takeAddress()
      default:
        return false
    }
  }

  #starts(mark: string): boolean {
    return this.#text.startsWith(mark, this.#at)
  }

  /** White space after a backslash is removed: it only separates markup from words. */
  #takeEscape(): true {
    const next = this.#text[this.#at + 1] ?? ''
    if (next.trim() !== '') this.#plain += next
    this.#at += 2
    return true
  }

  /** Whether a mark of this length may start at the current position. */
  #canStart(length: number): boolean {
    const before = this.#text[this.#at - 1]
    const after = this.#text[this.#at + length]
    if (after === undefined || after.trim() === '') return false
    // A mark in quotation marks or brackets is literal.
    if (before !== undefined && after === CLOSING[before]) return false
    return before === undefined || BEFORE.test(before) || this.#text[this.#at - 2] === '\\'
  }

  /** Position of the mark that ends the text from `from` on; -1 when there is none. */
  #findEnd(mark: string, from: number, isRaw = false): number {
    if (this.#unclosed.has(mark)) return -1
    for (let end = this.#text.indexOf(mark, from); end >= 0; end = this.#text.indexOf(mark, end + 1)) {
      const before = this.#text[end - 1] ?? ''
      const after = this.#text[end + mark.length]
      const isEscaped = !isRaw && before === '\\'
      const isEnd = end > from && before.trim() !== '' && !isEscaped
      if (
        isEnd &&
        (after === undefined || AFTER.test(after) || (mark === '`' && after === '_') || (mark === '|' && after === '_'))
      )
        return end
    }
    this.#unclosed.add(mark)
    return -1
  }

  #takeMarked(mark: string, element: string): boolean {
    if (!this.#canStart(mark.length)) return this.#skip(mark)
    const end = this.#findEnd(mark, this.#at + mark.length)
    if (end < 0) return this.#skip(mark)
    const inner = unescapeText(this.#text.slice(this.#at + mark.length, end))
    return this.#push(`<${element}>${escapeHtml(inner)}</${element}>`, end + mark.length)
  }

  #skip(mark: string): true {
    this.#plain += mark
    this.#at += mark.length
    return true
  }

  #takeLiteral(): boolean {
    if (!this.#canStart(2)) return this.#skip('``')
    const end = this.#findEnd('``', this.#at + 2, true)
    if (end < 0) return this.#skip('``')
    const code = this.#text.slice(this.#at + 2, end).replace(/\s+/g, ' ')
    return this.#push(`<code>${escapeHtml(code)}</code>`, end + 2)
  }

  #takeRole(): boolean {
    ROLE_BEFORE.lastIndex = this.#at
    const [start, role = ''] = ROLE_BEFORE.exec(this.#text) ?? []
    return start === undefined ? false : this.#takeInterpreted(this.#at + start.length - 1, role)
  }

  /** Text between single backticks: a link, or the text of a role. */
  #takeInterpreted(tick: number, role: string): boolean {
    if (role === '' && !this.#canStart(1)) return false
    const end = this.#findEnd('`', tick + 1)
    if (end < 0) return false
    const text = this.#text.slice(tick + 1, end)
    if (role !== '') return this.#push(writeRole(role, text, this.#context), end + 1)
    if (this.#text[end + 1] === '_') return this.#takeLink(text, end + 2)
    ROLE_AFTER.lastIndex = end + 1
    const [after = '', name = ''] = ROLE_AFTER.exec(this.#text) ?? []
    return this.#push(writeRole(name, text, this.#context), end + 1 + after.length)
  }

  /** Writes `text <address>`_ or `name`_; two underscores make it anonymous. */
  #takeLink(text: string, after: number): true {
    const isAnonymous = this.#text[after] === '_'
    const end = isAnonymous ? after + 1 : after
    const open = text.lastIndexOf('<')
    if (text.endsWith('>') && open >= 0) {
      const target = text.slice(open + 1, -1).replace(/\s+/g, '')
      const words = unescapeText(text.slice(0, open).trim())
      const address = target.endsWith('_')
        ? (this.#context.resolve(target.slice(0, -1))?.address ?? target)
        : unescapeText(target)
      return this.#push(writeLink(address, escapeHtml(words === '' ? address : words)), end)
    }
    const address = isAnonymous ? this.#context.takeAnonymous() : this.#context.resolve(text)?.address
    const words = escapeHtml(unescapeText(text))
    return this.#push(address === undefined ? words : writeLink(address, words), end)
  }

  /** Writes `name_` as a link if there is such a target. */
  #takeReference(): boolean {
    const after = this.#text[this.#at + 1] ?? ''
    const isAnonymous = after === '_'
    const next = isAnonymous ? (this.#text[this.#at + 2] ?? '') : after
    if (next !== '' && (next === '_' || WORD.test(next))) return false
    const name = SIMPLE_NAME.exec(this.#text.slice(Math.max(0, this.#at - MAX_NAME), this.#at))?.[0]
    if (name === undefined) return false
    // Checked first, because most words with a trailing underscore are not references.
    const found = isAnonymous ? this.#context.hasAnonymous : this.#context.resolve(name) !== undefined
    if (!found || !this.#plain.endsWith(name)) return false
    const address = (isAnonymous ? this.#context.takeAnonymous() : this.#context.resolve(name)?.address) ?? ''
    this.#plain = this.#plain.slice(0, -name.length)
    return this.#push(writeLink(address, escapeHtml(name)), this.#at + (isAnonymous ? 2 : 1))
  }

  #takeTarget(): boolean {
    const end = this.#findEnd('`', this.#at + 2)
    if (end < 0) return false
    return this.#push(escapeHtml(unescapeText(this.#text.slice(this.#at + 2, end))), end + 1)
  }

  #takeSubstitution(): boolean {
    if (!this.#canStart(1)) return false
    const end = this.#findEnd('|', this.#at + 1)
    if (end < 0 || end - this.#at > MAX_NAME) return false
    const text = this.#context.substitutions.get(keyOf(this.#text.slice(this.#at + 1, end)))
    if (text === undefined) return false
    this.#context.spend(text.length + 1)
    const after = /_{0,2}/y
    after.lastIndex = end + 1
    const underscores = after.exec(this.#text)?.[0].length ?? 0
    const html = this.#depth < MAX_DEPTH ? writeInline(text, this.#context, this.#depth + 1) : escapeHtml(text)
    return this.#push(html, end + 1 + underscores)
  }

  #takeNote(): boolean {
    NOTE.lastIndex = this.#at
    const [mark, label = ''] = NOTE.exec(this.#text) ?? []
    if (mark === undefined) return false
    const name = this.#context.labelOf(label)
    if (!this.#context.notes.has(keyOf(name))) return false
    return this.#push(writeNoteMark(noteId(name), name.replace(/^(?:number|sign)-/, '')), this.#at + mark.length)
  }

  #takeAddress(): boolean {
    if (WORD.test(this.#text[this.#at - 1] ?? ' ')) return false
    ADDRESS.lastIndex = this.#at
    const [found] = ADDRESS.exec(this.#text) ?? []
    if (found === undefined) return false
    let { length } = found
    // Punctuation and brackets at the end are not part of the URL.
    while (length > 0 && `.,;:!?'*_)]}`.includes(found[length - 1] ?? ' ')) {
      if (found[length - 1] === ')' && found.lastIndexOf('(', length - 1) >= 0) break
      length--
    }
    const address = found.slice(0, length)
    return this.#push(writeLink(address, escapeHtml(address)), this.#at + length)
  }
}

export function noteId(label: string): string {
  return `note-${keyOf(label).replace(/[^\p{L}\p{N}]+/gu, '-')}`
}
