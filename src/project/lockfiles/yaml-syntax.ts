import type { ProjectFile } from '../locked-package.ts'
import { createLockfileError } from './parse-syntax.ts'

/*
 * Parses the part of YAML that package managers write: nested maps and lists, quoted and folded texts, `{…}` and `[…]`. Each line is read
 * once. A general parser takes minutes or gigabytes for some files of a few kilobytes, such as nested brackets and aliases.
 */

interface Line {
  readonly number: number
  readonly indent: number
  readonly text: string
}

type YamlMap = Record<string, unknown>

/** Values by the names of their anchors. */
type Anchors = Map<string, unknown>

const MAX_DEPTH = 50

/**
 * Parses YAML and returns its documents. Every scalar is a string; maps have no prototype. An alias is the value of its anchor, not a copy, so
 * that nested aliases take no memory. Tags are refused.
 */
export function parseYaml(file: ProjectFile): unknown[] {
  const documents: Line[][] = [[]]
  for (const [index, raw] of file.text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .entries()) {
    if (/^(?:---|\.\.\.)(?:\s|$)/.test(raw)) documents.push([])
    else if (!raw.startsWith('%')) {
      const indent = raw.search(/[^ ]/)
      documents.at(-1)?.push({ number: index + 1, indent: Math.max(indent, 0), text: raw.trim() })
    }
  }
  return documents
    .filter((lines) => lines.some(({ text }) => !isBlank(text)))
    .map((lines) => new DocumentParser(file, lines).parse())
}

class DocumentParser {
  readonly #file: ProjectFile
  readonly #lines: Line[]
  readonly #anchors: Anchors = new Map()
  #at = 0

  constructor(file: ProjectFile, lines: Line[]) {
    this.#file = file
    this.#lines = lines
  }

  parse(): unknown {
    const value = this.#parseBlock(0)
    const rest = this.#peek()
    if (rest !== undefined) throw this.#fail('the indentation is wrong', rest)
    return value
  }

  /** The next line with content. */
  #peek(): Line | undefined {
    while (this.#at < this.#lines.length && isBlank(this.#lines[this.#at]?.text ?? '')) this.#at++
    return this.#lines[this.#at]
  }

  #parseBlock(depth: number): unknown {
    const first = this.#peek()
    if (first === undefined) return ''
    if (depth > MAX_DEPTH) throw this.#fail('its values are nested too deeply', first)
    if (isItem(first.text)) return this.#parseList(first.indent, depth)
    if (first.text.startsWith('? ') || findColon(first.text) >= 0) return this.#parseMap(first.indent, depth)
    this.#at++
    return this.#parseValue(first, first.text, first.indent - 1, depth)
  }

  #parseList(indent: number, depth: number): unknown[] {
    const items: unknown[] = []
    for (let line = this.#peek(); line?.indent === indent && isItem(line.text); line = this.#peek()) {
      const text = line.text.slice(1).trimStart()
      const isMap = /^[\w"'@]/.test(text) && findColon(text) >= 0
      if (isMap || isItem(text)) {
        // The rest of the line is the first line of a block of its own.
        this.#lines[this.#at] = { number: line.number, indent: indent + line.text.length - text.length, text }
        items.push(this.#parseBlock(depth + 1))
      } else {
        this.#at++
        items.push(this.#parseValue(line, text, indent, depth))
      }
    }
    return items
  }

  #parseMap(indent: number, depth: number): YamlMap {
    const map: YamlMap = Object.create(null)
    for (let line = this.#peek(); line?.indent === indent; line = this.#peek()) {
      this.#at++
      if (line.text.startsWith('? ')) {
        // A key of more than 1,024 characters has a line of its own.
        const value = this.#peek()
        if (value?.indent !== indent || !/^:(?:\s|$)/.test(value.text)) throw this.#fail('a value is missing', line)
        this.#at++
        const text = value.text.slice(1).trimStart()
        const column = indent + value.text.length - text.length
        if (text !== '' && !/^[{["'|>]/.test(text) && findColon(text) >= 0) {
          this.#lines[--this.#at] = { number: value.number, indent: column, text }
          map[this.#parseKey(line, line.text.slice(2).trim())] = this.#parseBlock(depth + 1)
        } else map[this.#parseKey(line, line.text.slice(2).trim())] = this.#parseValue(value, text, indent, depth)
        continue
      }
      const colon = findColon(line.text)
      if (colon < 0) throw this.#fail('a colon is missing', line)
      const key = this.#parseKey(line, line.text.slice(0, colon).trim())
      map[key] = this.#parseValue(line, line.text.slice(colon + 1).trim(), indent, depth)
    }
    return map
  }

  #parseKey(line: Line, text: string): string {
    return /^["']/.test(text) ? this.#unquote(line, text) : text
  }

  /** The value that begins after a colon or dash, and may go on in the lines below. */
  #parseValue(line: Line, text: string, indent: number, depth: number): unknown {
    if (text === '' || text.startsWith('#')) {
      const next = this.#peek()
      // The dashes of a list may be below the key itself.
      const isBelow = next !== undefined && (next.indent > indent || (next.indent === indent && isItem(next.text)))
      return isBelow && !(next.indent === indent && isItem(line.text)) ? this.#parseBlock(depth + 1) : ''
    }
    if (text.startsWith('!')) throw this.#fail('tags are not supported', line)
    const [, sign, name] = /^([&*])([^\s,[\]{}]{1,1000})(?=\s|$)/.exec(text) ?? []
    // A pattern for the rest of a line of many megabytes would need too much memory.
    const rest = name === undefined ? '' : text.slice(1 + name.length).trimStart()
    if (sign === '&' && name !== undefined && !/^[&*]/.test(rest)) {
      const value = this.#parseValue(line, rest, indent, depth + 1)
      this.#anchors.set(name, value)
      return value
    }
    if (sign === '*' && name !== undefined && /^(?:#|$)/.test(rest)) {
      return findAnchor(this.#anchors, name, (problem) => this.#fail(problem, line))
    }
    if (/^[&*]/.test(text)) throw this.#fail('the anchor or alias cannot be read', line)
    if (/^[|>]/.test(text)) return this.#takeBelow(indent).join(' ')
    if (/^["']/.test(text)) return this.#unquote(line, this.#takeQuoted(text, indent))
    if (/^[{[]/.test(text)) {
      const fail = (problem: string) => this.#fail(problem, line)
      return new FlowParser([text, ...this.#takeBelow(indent)].join(' '), this.#anchors, fail).parse()
    }
    return [text.replace(/\s#.*$/, ''), ...this.#takeBelow(indent)].join(' ').trim()
  }

  /** Takes the lines that are indented more. */
  #takeBelow(indent: number): string[] {
    const taken: string[] = []
    for (let line = this.#lines[this.#at]; line !== undefined; line = this.#lines[this.#at]) {
      if (line.text !== '' && line.indent <= indent) break
      taken.push(line.text)
      this.#at++
    }
    return taken
  }

  /** A quoted text goes on in the lines below until its quote. */
  #takeQuoted(text: string, indent: number): string {
    return findQuoteEnd(text, 0) >= 0 ? text : [text, ...this.#takeBelow(indent)].join(' ')
  }

  #unquote(line: Line, text: string): string {
    const end = findQuoteEnd(text, 0)
    if (end < 0 || !/^\s*(?:#.*)?$/.test(text.slice(end))) throw this.#fail('a quote is missing', line)
    return unquote(text.slice(0, end))
  }

  #fail(problem: string, { number }: Line): Error {
    return createLockfileError(this.#file, problem, { line: number })
  }
}

/** Parses `{a: b, c: [d]}`. */
class FlowParser {
  readonly #text: string
  readonly #anchors: Anchors
  readonly #fail: (problem: string) => Error
  #at = 0

  constructor(text: string, anchors: Anchors, fail: (problem: string) => Error) {
    this.#text = text
    this.#anchors = anchors
    this.#fail = fail
  }

  parse(): unknown {
    const value = this.#parseValue(0)
    if (!/^\s*(?:#.*)?$/.test(this.#text.slice(this.#at))) throw this.#fail('a comma is missing')
    return value
  }

  #parseValue(depth: number): unknown {
    this.#skipSpace()
    if (depth > MAX_DEPTH) throw this.#fail('its values are nested too deeply')
    const opening = this.#text[this.#at]
    if (opening === '&' || opening === '*') return this.#parseReference(depth)
    if (opening === '{') return this.#parseMap(depth)
    return opening === '[' ? this.#parseList(depth) : this.#parseScalar()
  }

  /** `&name value`, or `*name`. */
  #parseReference(depth: number): unknown {
    REFERENCE.lastIndex = this.#at
    const [all, sign, name] = REFERENCE.exec(this.#text) ?? []
    if (all === undefined || name === undefined) throw this.#fail('the anchor or alias cannot be read')
    this.#at += all.length
    if (sign === '*') return findAnchor(this.#anchors, name, this.#fail)
    const value = this.#parseValue(depth + 1)
    this.#anchors.set(name, value)
    return value
  }

  #parseMap(depth: number): YamlMap {
    const map: YamlMap = Object.create(null)
    this.#at++
    while (!this.#takeEnd('}')) {
      const key = this.#parseScalar()
      this.#skipSpace()
      const hasValue = this.#text[this.#at] === ':'
      if (hasValue) this.#at++
      map[key] = hasValue ? this.#parseValue(depth + 1) : ''
      this.#takeComma('}')
    }
    return map
  }

  #parseList(depth: number): unknown[] {
    const items: unknown[] = []
    this.#at++
    while (!this.#takeEnd(']')) {
      items.push(this.#parseValue(depth + 1))
      this.#takeComma(']')
    }
    return items
  }

  #parseScalar(): string {
    this.#skipSpace()
    const start = this.#at
    if (/["']/.test(this.#text[start] ?? '')) {
      const end = findQuoteEnd(this.#text, start)
      if (end < 0) throw this.#fail('a quote is missing')
      this.#at = end
      return unquote(this.#text.slice(start, end))
    }
    PLAIN_END.lastIndex = start
    const plain = this.#text.slice(start, PLAIN_END.exec(this.#text)?.index ?? this.#text.length)
    if (plain === '') throw this.#fail('a value is missing')
    if (plain.startsWith('!')) throw this.#fail('tags are not supported')
    if (/^[&*]/.test(plain)) throw this.#fail('an anchor or alias cannot be a key')
    this.#at = start + plain.length
    return plain.trim()
  }

  #takeEnd(bracket: string): boolean {
    this.#skipSpace()
    if (this.#at >= this.#text.length) throw this.#fail('a comma or bracket is missing')
    if (this.#text[this.#at] !== bracket) return false
    this.#at++
    return true
  }

  #takeComma(bracket: string): void {
    this.#skipSpace()
    if (this.#text[this.#at] === ',') this.#at++
    else if (this.#text[this.#at] !== bracket) throw this.#fail('a comma or bracket is missing')
  }

  #skipSpace(): void {
    while (this.#text[this.#at] === ' ' || this.#text[this.#at] === '\t') this.#at++
  }
}

/** The end of a text without quotes inside brackets. A colon is part of the text unless a space, a comma or the end follows. */
const PLAIN_END = /[,[\]{}]|:(?=[\s,[\]{}]|$)/g

const REFERENCE = /([&*])([^\s,[\]{}]+)/y

/** The value of an anchor, which must precede its aliases. So no value contains itself. */
function findAnchor(anchors: Anchors, name: string, fail: (problem: string) => Error): unknown {
  if (!anchors.has(name)) throw fail(`there is no anchor ${name.slice(0, 50)} above this alias`)
  return anchors.get(name)
}

function isBlank(text: string): boolean {
  return text === '' || text.startsWith('#')
}

function isItem(text: string): boolean {
  return text === '-' || text.startsWith('- ')
}

/** The offset of the colon after a key; -1 if the line has no key. */
function findColon(text: string): number {
  const start = /^["']/.test(text) ? findQuoteEnd(text, 0) : 0
  if (start < 0) return -1
  const colon = start > 0 ? text.slice(start).search(/^\s*:(?:\s|$)/) : text.search(/:(?:\s|$)/)
  if (colon < 0 || (start === 0 && /^[{[]/.test(text))) return -1
  // A colon in a comment is none.
  if (start === 0 && /\s#/.test(text.slice(0, colon))) return -1
  return start > 0 ? text.indexOf(':', start) : colon
}

/** The offset after the quote that ends a text; -1 if there is none. */
function findQuoteEnd(text: string, start: number): number {
  const quote = text[start]
  for (let at = start + 1; at < text.length; at++) {
    if (quote === '"' && text[at] === '\\') at++
    else if (text[at] === quote) {
      if (quote === "'" && text[at + 1] === "'") at++
      else return at + 1
    }
  }
  return -1
}

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['n', '\n'],
  ['t', '\t'],
  ['r', '\r'],
])

function unquote(quoted: string): string {
  const inside = quoted.slice(1, -1)
  if (quoted.startsWith("'")) return inside.replaceAll("''", "'")
  return inside.replaceAll(
    /\\(?:x([\da-f]{2})|u([\da-f]{4})|(.))/gi,
    (_, short?: string, long?: string, one?: string) => {
      if (one !== undefined) return ESCAPES.get(one) ?? one
      return String.fromCharCode(Number.parseInt(short ?? long ?? '', 16))
    },
  )
}
