/* Finds where JavaScript in Markdown ends. The code is skipped character by character, and never evaluated. */

const CLOSING: Readonly<Record<string, string>> = { '{': '}', '(': ')', '[': ']' }
const MAX_EXPRESSION_CHARS = 200_000
/** Limit for how often each character is scanned on average: after a bracket without an end, the scan starts over at the next character. */
const MAX_SCANS_PER_CHAR = 20

/** Finds the ends of brackets and tokens in one document. */
export class Scanner {
  readonly #budget: number
  #budgetLeft: number

  constructor(length: number) {
    this.#budget = MAX_SCANS_PER_CHAR * length + MAX_EXPRESSION_CHARS
    this.#budgetLeft = this.#budget
  }

  /** Number of characters scanned so far. */
  get scannedChars(): number {
    return this.#budget - this.#budgetLeft
  }

  /** Whether the scan budget is used up; the scanner then finds no further ends. */
  get isExhausted(): boolean {
    return this.#budgetLeft <= 0
  }

  spend(chars: number): void {
    this.#budgetLeft -= chars
  }

  /** Offset after the bracket that closes the one at `start`; -1 if there is none. */
  endOfBracket(text: string, start: number): number {
    const open: string[] = []
    const last = Math.min(text.length, start + MAX_EXPRESSION_CHARS)
    for (let at = start; at < last && this.#budgetLeft > 0; ) {
      const character = text[at] ?? ''
      const closing = CLOSING[character]
      if (closing !== undefined) open.push(closing)
      else if (character === open.at(-1)) {
        open.pop()
        if (open.length === 0) return at + 1
      }
      at = this.endOfToken(text, at)
    }
    return -1
  }

  /** Offset after the quoted text or comment at an offset, or after one character. */
  endOfToken(text: string, at: number): number {
    this.#budgetLeft--
    const character = text[at]
    if (character === '"' || character === "'" || character === '`') return this.#endOfQuoted(text, at, character)
    const isComment = character === '/' && (text[at + 1] === '*' || (text[at + 1] === '/' && text[at - 1] !== ':'))
    if (!isComment) return at + 1
    const end = text[at + 1] === '*' ? text.indexOf('*/', at + 2) + 2 : text.indexOf('\n', at)
    const found = end <= at ? text.length : end
    this.#budgetLeft -= found - at
    return found
  }

  /**
   * Offset after a quoted text. A plain quotation mark that is not closed on its line may be an apostrophe, so it counts as one character.
   */
  #endOfQuoted(text: string, start: number, mark: string): number {
    for (let at = start + 1; at < text.length && this.#budgetLeft > 0; at++) {
      this.#budgetLeft--
      if (text[at] === '\\') at++
      else if (text[at] === mark) return at + 1
      else if (text[at] === '\n' && mark !== '`') return start + 1
    }
    return start + 1
  }
}

/** A tag of JSX, or of a template language that marks up Markdown in the same way. */
export interface Tag {
  /** '' for a fragment. */
  readonly name: string
  readonly isClosing: boolean
  /** Whether the tag has no content and no closing tag. */
  readonly isEmpty: boolean
  /** Attributes with literal text; '' for those without a value or with an expression. */
  readonly attributes: ReadonlyMap<string, string>
  /** Source of the attributes that are expressions. */
  readonly expressions: ReadonlyMap<string, string>
  readonly end: number
}

const NAME = /<(\/?)([A-Za-z][\w.:-]{0,100})?/y
const ATTRIBUTE = /[A-Za-z_][\w:.-]{0,100}/y
const UNQUOTED = /[^\s"'<>={}/`]{0,500}/y
const MAX_TAG_CHARS = 20_000

/** Parses the tag at an offset; undefined if there is none. */
export function readTag(text: string, start: number, scanner: Scanner): Tag | undefined {
  NAME.lastIndex = start
  const [opened, slash, name = ''] = NAME.exec(text) ?? []
  if (opened === undefined) return undefined
  let at = start + opened.length
  if (name === '' && text[at] !== '>') return undefined
  const attributes = new Map<string, string>()
  const expressions = new Map<string, string>()
  const last = Math.min(text.length, start + MAX_TAG_CHARS)
  while (at < last) {
    const character = text[at] ?? ''
    if (character === '>') {
      return { name, isClosing: slash === '/', isEmpty: text[at - 1] === '/', attributes, expressions, end: at + 1 }
    }
    ATTRIBUTE.lastIndex = at
    const [attribute] = ATTRIBUTE.exec(text) ?? []
    if (character === '{') {
      const end = scanner.endOfBracket(text, at)
      if (end < 0) return undefined
      at = end
    } else if (character === '<') return undefined
    else if (attribute === undefined) at++
    else {
      const { value, expression, end } = readValue(text, at + attribute.length, scanner)
      attributes.set(attribute, value)
      if (expression !== undefined) expressions.set(attribute, expression)
      at = end
    }
  }
  return undefined
}

interface Value {
  readonly value: string
  readonly expression?: string
  readonly end: number
}

/** Parses the value of an attribute; '' if it is an expression other than a string literal. */
function readValue(text: string, start: number, scanner: Scanner): Value {
  const at = skipSpace(text, start)
  if (text[at] !== '=') return { value: '', end: start }
  const from = skipSpace(text, at + 1)
  const mark = text[from] ?? ''
  if (mark === '"' || mark === "'") {
    const end = text.slice(from + 1, from + MAX_TAG_CHARS).indexOf(mark)
    return end < 0 ? { value: '', end: from + 1 } : { value: text.slice(from + 1, from + 1 + end), end: from + end + 2 }
  }
  if (mark !== '{') {
    UNQUOTED.lastIndex = from
    const [value = ''] = UNQUOTED.exec(text) ?? []
    return { value, end: from + value.length }
  }
  const end = scanner.endOfBracket(text, from)
  if (end < 0) return { value: '', end: from + 1 }
  const expression = text.slice(from + 1, end - 1)
  return { value: textOfExpression(expression), expression, end }
}

function skipSpace(text: string, start: number): number {
  let at = start
  while (at < start + 100 && /\s/.test(text[at] ?? '')) at++
  return at
}

const STRING = /^(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|`((?:[^`\\$]|\\.|\$(?!\{))*)`)$/s

/** The text of a string literal; '' for any other expression. */
export function textOfExpression(source: string): string {
  const [, double, single, template] = STRING.exec(source.trim()) ?? []
  const content = double ?? single ?? template ?? ''
  return content.replace(/\\(.)/gs, (_, character: string) => (character === 'n' ? '\n' : character))
}
