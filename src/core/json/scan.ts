/** The position of a value in JSON text: `[start, end)`. */
export interface Span {
  readonly start: number
  readonly end: number
}

/** A member of an object: its decoded key, its own span, and the span of its value. */
export interface Member {
  readonly key: string
  /** From the key's opening quote to the end of the value. */
  readonly start: number
  readonly end: number
  readonly value: Span
}

/** Thrown when a text is not JSON; carries the offset of the error. */
export class JsonSyntaxError extends Error {
  readonly offset: number

  constructor(offset: number) {
    super(`invalid JSON at offset ${offset}`)
    this.name = 'JsonSyntaxError'
    this.offset = offset
  }
}

/**
 * Checks a whole JSON text (RFC 8259) and returns the span of its value. Nesting costs one list entry a level, never a stack frame, so
 * 100,000 brackets are harmless.
 * @throws {JsonSyntaxError}
 */
export function scanJson(text: string): Span {
  const start = skipSpace(text, 0)
  const end = scanValue(text, start)
  const rest = skipSpace(text, end)
  if (rest < text.length) throw new JsonSyntaxError(rest)
  return { start, end }
}

/** The members of the object at `start`, in the order of the text. */
export function* scanMembers(text: string, start: number): Generator<Member> {
  let at = skipSpace(text, start + 1)
  while (text[at] !== '}') {
    const keyEnd = scanString(text, at)
    const key: string = JSON.parse(text.slice(at, keyEnd))
    const colon = skipSpace(text, keyEnd)
    if (text[colon] !== ':') throw new JsonSyntaxError(colon)
    const valueStart = skipSpace(text, colon + 1)
    const valueEnd = scanValue(text, valueStart)
    yield { key, start: at, end: valueEnd, value: { start: valueStart, end: valueEnd } }
    at = nextItem(text, valueEnd, '}')
  }
}

/** The elements of the array at `start`. */
export function* scanElements(text: string, start: number): Generator<Span> {
  let at = skipSpace(text, start + 1)
  while (text[at] !== ']') {
    const end = scanValue(text, at)
    yield { start: at, end }
    at = nextItem(text, end, ']')
  }
}

/** The text of a value without insignificant white space; numbers and strings stay as they were written. */
export function compactJson(text: string, span: Span): string {
  const parts: string[] = []
  eachRun(text, span, (from, to) => parts.push(text.slice(from, to)))
  return parts.join('')
}

/** The length of the result of {@link compactJson}. */
export function compactLength(text: string, span: Span): number {
  let length = 0
  eachRun(text, span, (from, to) => {
    length += to - from
  })
  return length
}

/** Calls `use` with every stretch of `span` between insignificant white space. */
function eachRun(text: string, span: Span, use: (from: number, to: number) => void): void {
  let from = span.start
  let at = span.start
  while (at < span.end) {
    const unit = text.charCodeAt(at)
    if (unit === QUOTE) {
      at = scanString(text, at)
    } else if (isSpace(unit)) {
      if (at > from) use(from, at)
      at = skipSpace(text, at)
      from = at
    } else {
      at++
    }
  }
  if (from < span.end) use(from, span.end)
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPEN_BRACE = 0x7b
const OPEN_BRACKET = 0x5b
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y

/** Checks the value at `start` and returns the offset after it. */
function scanValue(text: string, start: number): number {
  const closers: string[] = []
  let at = start
  for (;;) {
    const unit = text.charCodeAt(at)
    if (unit === OPEN_BRACE || unit === OPEN_BRACKET) {
      const closer = unit === OPEN_BRACE ? '}' : ']'
      const inside = skipSpace(text, at + 1)
      if (text[inside] === closer) {
        at = inside + 1
      } else {
        closers.push(closer)
        at = unit === OPEN_BRACE ? scanKey(text, inside) : inside
        continue
      }
    } else {
      at = scanScalar(text, at)
    }
    for (;;) {
      const closer = closers.at(-1)
      if (closer === undefined) return at
      const next = skipSpace(text, at)
      if (text[next] === ',') {
        const item = skipSpace(text, next + 1)
        at = closer === '}' ? scanKey(text, item) : item
        break
      }
      if (text[next] !== closer) throw new JsonSyntaxError(next)
      closers.pop()
      at = next + 1
    }
  }
}

/** Checks a key and its colon, and returns the offset of the value. */
function scanKey(text: string, start: number): number {
  const colon = skipSpace(text, scanString(text, start))
  if (text[colon] !== ':') throw new JsonSyntaxError(colon)
  return skipSpace(text, colon + 1)
}

function scanScalar(text: string, start: number): number {
  const unit = text.charCodeAt(start)
  if (unit === QUOTE) return scanString(text, start)
  for (const literal of ['true', 'false', 'null']) {
    if (text.startsWith(literal, start)) return start + literal.length
  }
  NUMBER.lastIndex = start
  if (!NUMBER.test(text)) throw new JsonSyntaxError(start)
  return NUMBER.lastIndex
}

function scanString(text: string, start: number): number {
  if (text.charCodeAt(start) !== QUOTE) throw new JsonSyntaxError(start)
  for (let at = start + 1; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (unit === QUOTE) return at + 1
    if (unit < 0x20) throw new JsonSyntaxError(at)
    if (unit === BACKSLASH) {
      ESCAPE.lastIndex = at
      if (!ESCAPE.test(text)) throw new JsonSyntaxError(at)
      at = ESCAPE.lastIndex - 1
    }
  }
  throw new JsonSyntaxError(text.length)
}

/** Moves from an item past the comma to the next one, or to the closing bracket. */
function nextItem(text: string, after: number, closer: string): number {
  const at = skipSpace(text, after)
  if (text[at] === closer) return at
  if (text[at] !== ',') throw new JsonSyntaxError(at)
  const item = skipSpace(text, at + 1)
  if (text[item] === closer) throw new JsonSyntaxError(item)
  return item
}

function skipSpace(text: string, start: number): number {
  let at = start
  while (isSpace(text.charCodeAt(at))) at++
  return at
}

function isSpace(unit: number): boolean {
  return unit === 0x20 || unit === 0x0a || unit === 0x0d || unit === 0x09
}
