/** A statement of a declaration file. */
export interface Statement {
  readonly start: number
  readonly end: number
  /** Line, from 0. */
  readonly row: number
  /** Whether it has a comma outside of all brackets. */
  readonly hasComma: boolean
  /** Whether it may be more than one: a line begins with a word outside of all brackets, or a bracket was not opened in it. */
  readonly hasBreak: boolean
}

/** The beginning of a statement. */
const START =
  /(?:export|declare|import|interface|type|class|abstract|function|const|let|var|enum|namespace|module|global)\b/y

/** Statements that end with their block. */
const BLOCK =
  /^(?:export\s+)?(?:default\s+)?(?:declare\s+)?(?:const\s+enum|abstract\s+class|class|interface|enum|namespace|module|global)\b/

/** What comes before a line break that does not end a statement. */
const CONTINUES =
  /(?:[=|&:,?<([.]|=>|(?<![.\w$])(?:extends|keyof|typeof|infer|in|is|asserts|declare|export|default|abstract|new|readonly|unique|import|type))$/

/** What inside of brackets neither opens nor closes anything. */
const PLAIN = /[^\n{}()[\]<>"'`/]+/y

/**
 * Splits a part of a declaration file into statements, or the body of a type into members, which end with a semicolon only. Comments
 * between them are left out.
 */
export function splitStatements(text: string, from: number, to: number, row: number, areMembers = false): Statement[] {
  return new StatementReader(text, to, row, areMembers).read(from)
}

type BracketKind = '{' | '(' | '['

class StatementReader {
  readonly #text: string
  readonly #to: number
  readonly #areMembers: boolean
  readonly #statements: Statement[] = []
  /** Open brackets; a template that is open has a backtick. */
  readonly #stack: string[] = []
  /** Number of open brackets of each kind, so that a closing one without any needs no search. */
  readonly #counts: Record<BracketKind, number> = { '{': 0, '(': 0, '[': 0 }
  #row: number
  /** Start of the statement, -1 between statements. */
  #start = -1
  #startRow = 0
  /** End of the last sign that is no space or comment. */
  #last = 0
  #hasComma = false
  #hasBreak = false
  #isBlock = false
  #isLineStart = true

  constructor(text: string, to: number, row: number, areMembers: boolean) {
    this.#areMembers = areMembers
    this.#text = text
    this.#to = to
    this.#row = row
  }

  read(from: number): Statement[] {
    for (let at = from; at < this.#to; ) at = this.#step(at)
    this.#end(this.#last)
    return this.#statements
  }

  /** Reads one sign, word, text or comment; returns the place after it. */
  #step(at: number): number {
    const sign = this.#text[at] ?? ''
    const top = this.#stack.at(-1)
    if (top === '`') return this.#stepInTemplate(at, sign)
    if (top !== undefined) {
      PLAIN.lastIndex = at
      if (PLAIN.test(this.#text)) return PLAIN.lastIndex
    }
    if (sign === '\n') {
      this.#row++
      this.#isLineStart = true
      return at + 1
    }
    if (sign === ' ' || sign === '\t' || sign === '\r') return at + 1
    if (sign === '/') {
      const end = this.#endOfComment(at)
      if (end !== undefined) return this.#skip(at, end)
    }
    if (this.#isLineStart && this.#stack.length === 0 && this.#start >= 0) {
      if (this.#areMembers) this.#hasBreak ||= isWordSign(sign)
      else if (this.#isStart(at)) this.#end(this.#last)
    }
    this.#isLineStart = false
    if (this.#start < 0) this.#begin(at, sign)
    if (sign === '"' || sign === "'") return this.#note(this.#skip(at, this.#endOfText(at, sign)))
    if (isWordSign(sign)) {
      let end = at + 1
      while (end < this.#to && isWordSign(this.#text[end] ?? '')) end++
      return this.#note(end)
    }
    this.#note(at + 1)
    this.#readSign(at, sign)
    return at + 1
  }

  #begin(at: number, sign: string): void {
    // An empty statement.
    if (sign === ';') return
    this.#start = at
    this.#startRow = this.#row
    this.#isBlock = !this.#areMembers && BLOCK.test(this.#text.slice(at, at + 80))
  }

  #readSign(at: number, sign: string): void {
    const top = this.#stack.at(-1)
    if (sign === '{' || sign === '(' || sign === '[') this.#open(sign, sign)
    else if (sign === '<' || sign === '`') this.#stack.push(sign)
    else if (sign === '>') {
      if (top === '<' && this.#text[at - 1] !== '=') this.#stack.pop()
    } else if (sign === '}') this.#close('{')
    else if (sign === ')') this.#close('(')
    else if (sign === ']') this.#close('[')
    else if (sign === ';' && this.#stack.length === 0) this.#end(at + 1)
    else if (sign === ',' && this.#stack.length === 0) this.#hasComma = true
    if (sign === '}' && this.#stack.length === 0 && this.#isBlock) this.#end(at + 1)
  }

  #open(sign: string, kind: BracketKind): void {
    this.#stack.push(sign)
    this.#counts[kind]++
  }

  /** Closes a bracket, and what was left open inside of it: `<` is also an operator. */
  #close(kind: BracketKind): void {
    if (this.#counts[kind] === 0) this.#hasBreak = true
    for (let isClosed = this.#counts[kind] === 0; !isClosed; ) {
      const top = this.#stack.pop() ?? kind
      const opened = top === '${' ? '{' : top
      if (opened === '{' || opened === '(' || opened === '[') this.#counts[opened]--
      isClosed = opened === kind
    }
  }

  #stepInTemplate(at: number, sign: string): number {
    if (sign === '\n') this.#row++
    if (sign === '\\') return at + 2
    if (sign === '`') this.#stack.pop()
    else if (sign === '$' && this.#text[at + 1] === '{') {
      this.#open('${', '{')
      return this.#note(at + 2)
    }
    return this.#note(at + 1)
  }

  #isStart(at: number): boolean {
    START.lastIndex = at
    if (!START.test(this.#text)) return false
    return !CONTINUES.test(this.#text.slice(Math.max(this.#start, this.#last - 12), this.#last))
  }

  #endOfComment(at: number): number | undefined {
    const next = this.#text[at + 1]
    if (next !== '/' && next !== '*') return undefined
    const end = next === '/' ? this.#text.indexOf('\n', at) : this.#text.indexOf('*/', at + 2) + 2
    return end < (next === '/' ? 0 : 2) ? this.#to : end
  }

  #endOfText(at: number, quote: string): number {
    let end = at + 1
    while (end < this.#to && this.#text[end] !== quote && this.#text[end] !== '\n')
      end += this.#text[end] === '\\' ? 2 : 1
    return end + 1
  }

  /** Counts the lines that are skipped. */
  #skip(at: number, end: number): number {
    for (let line = this.#text.indexOf('\n', at); line >= 0 && line < end; line = this.#text.indexOf('\n', line + 1)) {
      this.#row++
    }
    return end
  }

  #note(end: number): number {
    this.#last = end
    return end
  }

  #end(end: number): void {
    if (this.#start >= 0) {
      const place = { start: this.#start, end, row: this.#startRow }
      this.#statements.push({ ...place, hasComma: this.#hasComma, hasBreak: this.#hasBreak })
    }
    this.#start = -1
    this.#hasComma = false
    this.#hasBreak = false
  }
}

function isWordSign(sign: string): boolean {
  return (
    (sign >= 'a' && sign <= 'z') ||
    (sign >= 'A' && sign <= 'Z') ||
    (sign >= '0' && sign <= '9') ||
    sign === '_' ||
    sign === '$'
  )
}
