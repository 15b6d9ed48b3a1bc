import { DocumentError } from '../document.ts'
import { readName } from './text.ts'

/** A line of a manual: text, or a macro with its arguments. */
export type RoffLine =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'macro'; readonly name: string; readonly args: readonly string[]; readonly rest: string }

/** Nesting limit of macros and strings. */
const MAX_DEPTH = 20
const MAX_STRING = 10_000
/** Limit of characters that macros and strings may add in total. */
const MAX_GENERATED_CHARS = 2_000_000

/** Reads the lines of a page and evaluates roff itself: comments, conditions, strings and macros that the page defines. */
export class RoffReader {
  /** Pending lines with their read position; the last entry is read first. */
  readonly #input: { readonly lines: readonly string[]; at: number; readonly args: readonly string[] }[] = []
  readonly #strings = new Map<string, string>([
    ['lq', '“'],
    ['rq', '”'],
    ['R', '®'],
    ['Tm', '™'],
    ['S', ''],
    ['Lt', '<'],
    ['Gt', '>'],
    ['Le', '≤'],
    ['Ge', '≥'],
    ['Ne', '≠'],
    ['Am', '&'],
    ['Ba', '|'],
    ['q', '"'],
  ])
  readonly #macros = new Map<string, readonly string[]>()
  readonly #registers = new Map<string, number>()
  readonly #conditions: boolean[] = []
  readonly #isKnown: (name: string) => boolean
  #linesLeft: number
  #charsLeft = MAX_GENERATED_CHARS
  /** The page that a `.so` request includes. */
  include: string | undefined

  /** `isKnown` returns whether a macro is built in, so that the page cannot redefine it. */
  constructor(lines: readonly string[], isKnown: (name: string) => boolean) {
    this.#input.push({ lines, at: 0, args: [] })
    this.#linesLeft = 5 * lines.length + 10_000
    this.#isKnown = isKnown
  }

  /** The next line; undefined at the end. */
  next(): RoffLine | undefined {
    for (let raw = this.#nextRaw(); raw !== undefined; raw = this.#nextRaw()) {
      const line = this.#interpret(raw)
      if (line !== undefined) return line
    }
    return undefined
  }

  /** The lines up to a given macro, with strings inserted but macros not evaluated. */
  takeUntil(name: string): string[] {
    const lines: string[] = []
    for (let raw = this.#nextRaw(); raw !== undefined; raw = this.#nextRaw()) {
      if (macroName(raw) === name) break
      lines.push(this.expand(raw))
    }
    return lines
  }

  #nextRaw(): string | undefined {
    for (let top = this.#input.at(-1); top !== undefined; top = this.#input.at(-1)) {
      const line = top.lines[top.at++]
      if (line === undefined) {
        this.#input.pop()
        continue
      }
      if (--this.#linesLeft < 0) throw new DocumentError('too-large', 'its macros expand to too many lines')
      const whole = this.#joinContinued(top, line)
      return top.args.length === 0 ? whole : this.#substitute(whole, top.args)
    }
    return undefined
  }

  /** A backslash at the end of a line joins it with the next. */
  #joinContinued(top: { readonly lines: readonly string[]; at: number }, first: string): string {
    if (!isContinued(first)) return first
    const parts = [first.slice(0, -1)]
    for (let line = top.lines[top.at]; line !== undefined; line = top.lines[top.at]) {
      top.at++
      parts.push(isContinued(line) ? line.slice(0, -1) : line)
      if (!isContinued(line)) break
    }
    return parts.join('')
  }

  #interpret(raw: string): RoffLine | undefined {
    const [sign] = raw
    if (sign !== '.' && sign !== "'") return this.#text(raw)
    const name = macroName(raw)
    // `'quoted' text` is text, `'br` is a request.
    if (sign === "'" && !this.#isKnown(name) && !REQUESTS.has(name)) return name === '' ? undefined : this.#text(raw)
    if (name === '' || name.startsWith('\\')) return undefined
    const rest = raw.slice(raw.indexOf(name, 1) + name.length).trimStart()
    return this.#request(name, rest)
  }

  #text(raw: string): RoffLine | undefined {
    const text = this.expand(raw).replaceAll('\\}', '')
    // A line with only a comment produces nothing.
    return text.startsWith('\\"') || text.startsWith('\\#') ? undefined : { type: 'text', text }
  }

  #request(name: string, rest: string): RoffLine | undefined {
    switch (name) {
      case 'de':
      case 'de1':
      case 'am':
      case 'ig':
        this.#define(name, rest)
        return undefined
      case 'ds':
      case 'as':
        this.#setString(name, rest)
        return undefined
      case 'nr':
        this.#setRegister(rest)
        return undefined
      case 'if':
      case 'ie':
      case 'el':
        return this.#condition(name, rest)
      case 'so':
        this.include = rest.trim()
        return undefined
      default:
        return this.#call(name, rest)
    }
  }

  #call(name: string, source: string): RoffLine | undefined {
    const rest = this.expand(cutComment(source).replaceAll('\\}', ''))
    const args = parseArguments(rest)
    const body = this.#isKnown(name) ? undefined : this.#macros.get(name)
    if (body === undefined) return { type: 'macro', name, args, rest: rest.trim() }
    if (this.#input.length < MAX_DEPTH) this.#input.push({ lines: body, at: 0, args: args.length === 0 ? [''] : args })
    return undefined
  }

  #define(name: string, rest: string): void {
    const [macro = '', endMacro] = cutComment(rest).trim().split(/\s+/)
    const end = (name === 'ig' ? macro : endMacro) || '.'
    const body: string[] = []
    const top = this.#input.at(-1)
    for (let line = top?.lines[top.at]; top !== undefined && line !== undefined; line = top.lines[top.at]) {
      top.at++
      if (macroName(line) === end) break
      body.push(line)
    }
    if (name === 'de' || name === 'de1') this.#macros.set(macro, body)
  }

  #setString(request: string, rest: string): void {
    const [, name = '', text = ''] = /^(\S+)\s*(.*)$/.exec(rest) ?? []
    const value = text.startsWith('"') ? text.slice(1) : cutComment(text)
    const before = request === 'as' ? (this.#strings.get(name) ?? '') : ''
    this.#strings.set(name, (before + value).slice(0, MAX_STRING))
  }

  #setRegister(rest: string): void {
    const [name = '', value = ''] = rest.split(/\s+/)
    this.#registers.set(name, Number.parseInt(value, 10) || 0)
  }

  /** Evaluates a condition, and continues with its body or skips it. */
  #condition(request: string, rest: string): RoffLine | undefined {
    const { isTrue, after } =
      request === 'el' ? { isTrue: this.#conditions.pop() === false, after: rest } : this.#evaluateCondition(rest)
    if (request === 'ie') this.#conditions.push(isTrue)
    const opens = after.startsWith('\\{')
    if (isTrue)
      return after === '' || after === '\\{' ? undefined : this.#interpret(opens ? after.slice(2).trimStart() : after)
    if (opens) this.#skipBraces(after)
    return undefined
  }

  /** Skips lines until all braces are closed. */
  #skipBraces(first: string): void {
    let depth = countBraces(first)
    while (depth > 0) {
      const line = this.#nextRaw()
      if (line === undefined) return
      depth += countBraces(line)
    }
  }

  /** Evaluates conditions as for print, where pages use real lists and a font for code. */
  #evaluateCondition(text: string): { readonly isTrue: boolean; readonly after: string } {
    const isNegated = text.startsWith('!')
    const source = isNegated ? text.slice(1).trimStart() : text
    const { isTrue, after } = this.#evaluatePlainCondition(source)
    return { isTrue: isTrue !== isNegated, after: after.trimStart() }
  }

  #evaluatePlainCondition(source: string): { readonly isTrue: boolean; readonly after: string } {
    const [sign = ''] = source
    if (/^[ntoev](?![\w=<>+])/.test(source)) return { isTrue: sign === 't' || sign === 'o', after: source.slice(1) }
    const [tested, kind = '', name = ''] = /^([dr])\s*([^\s\\]+)/.exec(source) ?? []
    if (tested !== undefined) {
      const isDefined = kind === 'r' ? this.#registers.has(name) : this.#strings.has(name) || this.#macros.has(name)
      return { isTrue: isDefined, after: source.slice(tested.length) }
    }
    if (/^['"]/.test(source)) {
      const [first = '', second = '', ...others] = source.slice(1).split(sign)
      return { isTrue: this.expand(first) === this.expand(second), after: others.join(sign) }
    }
    const end = endOfExpression(source)
    return { isTrue: this.#evaluate(source.slice(0, end)), after: source.slice(end) }
  }

  #evaluate(expression: string): boolean {
    const text = this.#expandRegisters(expression).replace(/[()\s]/g, '')
    const [, left = '', operator, right = ''] = /^(-?\d{1,9})[a-z]?(?:([=<>]=?)(-?\d{1,9})[a-z]?)?$/.exec(text) ?? []
    const first = Number(left)
    const second = Number(right)
    if (operator === undefined) return first > 0
    if (operator.startsWith('=')) return first === second
    return operator.startsWith('<') ? first < second : first > second
  }

  #expandRegisters(text: string): string {
    let out = ''
    for (let at = 0; at < text.length; ) {
      if (!text.startsWith('\\n', at)) {
        out += text[at++]
        continue
      }
      const { name, end } = readName(text, at + 2)
      // `.g` means groff, which pages rely on.
      out += name === '.g' ? '1' : String(this.#registers.get(name) ?? 0)
      at = end
    }
    return out
  }

  /** Counts generated text, because a short page may generate a very long one. */
  #spend(characters: number): void {
    this.#charsLeft -= characters
    if (this.#charsLeft < 0) throw new DocumentError('too-large', 'its macros and strings expand to too much text')
  }

  /** A line of a macro with its arguments inserted. */
  #substitute(line: string, args: readonly string[]): string {
    return line
      .replace(/\\{1,2}\$(\*|@|\d)/g, (_, key: string) => {
        const value = /\d/.test(key) ? (args[Number(key) - 1] ?? '') : args.join(' ')
        this.#spend(value.length + 1)
        return value
      })
      .replaceAll('\\\\', '\\')
  }

  /** Inserts the strings that a text refers to. */
  expand(text: string, depth = 0): string {
    if (!text.includes('\\*') || depth > MAX_DEPTH) return text
    const parts: string[] = []
    let from = 0
    for (let at = text.indexOf('\\'); at >= 0; at = text.indexOf('\\', at)) {
      if (text[at + 1] !== '*') {
        at += 2
        continue
      }
      const { name, end } = readName(text, at + 2)
      const value = this.expand(this.#strings.get(name) ?? '', depth + 1)
      this.#spend(value.length + 1)
      parts.push(text.slice(from, at), value)
      from = end
      at = end
    }
    return parts.join('') + text.slice(from)
  }
}

/** Requests that may start with an apostrophe, which suppresses the line break. */
const REQUESTS = new Set('br sp in ti ne nf fi ft if ie el de ds nr so \\"'.split(' '))

function macroName(line: string): string {
  if (line[0] !== '.' && line[0] !== "'") return ''
  return /^[ \t]*(\\["#}{]|\.|[^\s\\]+)/.exec(line.slice(1, 100))?.[1] ?? ''
}

function isContinued(line: string): boolean {
  if (!line.endsWith('\\')) return false
  let at = line.length
  while (line[at - 1] === '\\') at--
  return (line.length - at) % 2 === 1
}

function countBraces(line: string): number {
  return line.split('\\{').length - line.split('\\}').length
}

/** A line without its trailing comment. */
export function cutComment(text: string): string {
  for (let at = text.indexOf('\\'); at >= 0; at = text.indexOf('\\', at + 2)) {
    if (text[at + 1] === '"' || text[at + 1] === '#') return text.slice(0, at)
  }
  return text
}

/** Splits arguments at spaces that are neither escaped nor quoted. */
export function parseArguments(text: string): string[] {
  const args: string[] = []
  for (let at = 0; at < text.length; ) {
    if (text[at] === ' ' || text[at] === '\t') {
      at++
      continue
    }
    const { value, end } = text[at] === '"' ? readQuotedArgument(text, at + 1) : readPlainArgument(text, at)
    args.push(value)
    at = end
  }
  return args
}

function readPlainArgument(text: string, start: number): { readonly value: string; readonly end: number } {
  let end = start
  while (end < text.length && text[end] !== ' ' && text[end] !== '\t') end += text[end] === '\\' ? 2 : 1
  return { value: text.slice(start, end), end }
}

function readQuotedArgument(text: string, start: number): { readonly value: string; readonly end: number } {
  const parts: string[] = []
  for (let at = start; ; ) {
    const mark = text.indexOf('"', at)
    if (mark < 0) return { value: [...parts, text.slice(at)].join('"'), end: text.length }
    parts.push(text.slice(at, mark))
    if (text[mark + 1] !== '"') return { value: parts.join('"'), end: mark + 1 }
    at = mark + 2
  }
}

function endOfExpression(text: string): number {
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '(' && text[at - 1] !== 'n') depth++
    else if (text[at] === ')') depth--
    else if (depth <= 0 && /\s/.test(text[at] ?? '')) return at
    else if (depth <= 0 && text.startsWith('\\{', at)) return at
  }
  return text.length
}
