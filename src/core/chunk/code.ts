import type { Node, TreeCursor } from 'web-tree-sitter'
import { LineMap } from '../text/line-map.ts'
import { sliceText } from '../text/lines.ts'
import type { CodeParser } from './code-grammars.ts'
import type { CodeRules, Definition } from './code-rules.ts'
import { type ChunkSizes, PARSER_FAILED, type ParserFailed, type Piece } from './piece.ts'

/**
 * Cuts source code along its definitions: each one at the top level is a piece with its name as `symbol`, with the comments, attributes and
 * decorators before it. A class, namespace or `impl` longer than the target becomes a piece for its head and one for each member. All code
 * in between is in pieces without symbol, so no code is lost. Returns `undefined` when the parser gives up or finds no definition, because
 * the rules for text work better then. Returns `PARSER_FAILED` when the parser fails.
 */
export function cutCode(text: string, parser: CodeParser, sizes: ChunkSizes): Piece[] | ParserFailed | undefined {
  const spans = parser.read(text, (root) => findSpans(root, text, parser.rules, sizes))
  if (spans === undefined || spans === PARSER_FAILED) return spans
  const lines = new LineMap(text)
  const fitting = spans.flatMap((span) => cutSpan(span, text, lines, sizes))
  return toPieces(joinRemainders(fitting, text, lines, sizes), text, lines)
}

/** A range of the text with its definition. Spans follow each other without gap or overlap. */
interface Span {
  readonly start: number
  readonly end: number
  /** Qualified name; code between definitions has none. */
  readonly symbol: string | undefined
  /** Names of the enclosing definitions, outermost first. */
  readonly path: readonly string[]
}

/** A definition with the range that belongs to it. */
interface DefinitionRange extends Definition {
  readonly start: number
  end: number
}

/** Deepest nesting of containers, or of groups between two of them, that is searched. Deeper code stays in one span. */
const MAX_DEPTH = 8

/** Node type id of the nodes for text that could not be parsed. Their children are searched like any others. */
const ERROR_TYPE = 65535

/** A remainder with fewer characters than this that are not white space joins a neighbor. */
const TINY_CHARS = 80

/** The spans of a file, or `undefined` when it defines nothing. */
function findSpans(root: Node, text: string, rules: CodeRules, sizes: ChunkSizes): Span[] | undefined {
  const finder = new DefinitionFinder(text, rules, sizes.targetChars)
  const definitions = finder.find(root)
  if (definitions.length === 0) return undefined
  const spans: Span[] = []
  const add = (start: number, end: number, symbol: string | undefined, path: readonly string[]) => {
    if (start < end) spans.push({ start, end, symbol, path })
  }

  /** Adds spans that cover `[from, to)`. Recursion stops at `MAX_DEPTH`, for any nesting of the input. */
  const addAll = (members: readonly DefinitionRange[], from: number, to: number, path: readonly string[]) => {
    let at = from
    for (const { name, body, ...range } of members) {
      const start = clamp(range.start, at, to)
      const end = clamp(range.end, start, to)
      add(at, start, undefined, path)
      at = end
      const isSplit = body !== undefined && end - start > sizes.targetChars && path.length < MAX_DEPTH
      const inner = isSplit ? finder.find(body) : []
      const headEnd = inner[0] === undefined ? end : clamp(inner[0].start, start, end)
      add(start, headEnd, [...path, name].join('.'), path)
      if (inner.length > 0) addAll(inner, headEnd, end, [...path, name])
    }
    add(at, to, undefined, path)
  }

  addAll(definitions, 0, text.length, [])
  return spans
}

/** Finds the definitions among the children of a node. */
class DefinitionFinder {
  readonly #text: string
  readonly #rules: CodeRules
  readonly #targetChars: number
  readonly #wrappers: ReadonlySet<string>
  readonly #groups: ReadonlySet<string>
  readonly #blocks: ReadonlySet<string>
  readonly #leading: ReadonlySet<string>
  #ranges: DefinitionRange[] = []
  /** The latest comments, attributes and decorators that only white space separates from each other. */
  #run: LeadingRun | undefined
  /** The gap after the last definition. */
  #tail: Gap | undefined

  constructor(text: string, rules: CodeRules, targetChars: number) {
    this.#text = text
    this.#rules = rules
    this.#targetChars = targetChars
    this.#wrappers = new Set(rules.wrappers)
    this.#groups = new Set(rules.groups)
    this.#blocks = new Set(rules.blocks)
    this.#leading = new Set(rules.leading)
  }

  /** The definitions directly in `node`, in order, each with its comments, attributes and decorators. */
  find(node: Node): DefinitionRange[] {
    this.#ranges = []
    this.#run = undefined
    this.#tail = undefined
    this.#searchChildren(node, 0)
    return joinOverloads(this.#ranges, this.#text, this.#targetChars)
  }

  #searchChildren(node: Node, depth: number): void {
    const cursor = node.walk()
    try {
      this.#searchBelow(cursor, depth)
    } finally {
      cursor.delete()
    }
  }

  #searchBelow(cursor: TreeCursor, depth: number): void {
    if (depth > MAX_DEPTH || !cursor.gotoFirstChild()) return
    do {
      this.#visit(cursor, depth)
    } while (cursor.gotoNextSibling())
    cursor.gotoParent()
  }

  #visit(cursor: TreeCursor, depth: number): void {
    if (cursor.nodeTypeId === ERROR_TYPE) {
      this.#searchBelow(cursor, depth + 1)
      return
    }
    // Keywords are nodes too, and `class` is both a keyword and the node that it opens.
    if (!cursor.nodeIsNamed) return
    const type = cursor.nodeType
    if (this.#leading.has(type)) {
      this.#addLeading(cursor.startIndex, cursor.endIndex)
    } else if (this.#groups.has(type)) {
      this.#searchBelow(cursor, depth + 1)
    } else {
      this.#visitCode(cursor, depth)
    }
  }

  #visitCode(cursor: TreeCursor, depth: number): void {
    const [definition, another] = this.#definitionsAt(cursor, 0)
    if (another !== undefined) {
      this.#searchBelow(cursor, depth + 1)
    } else if (definition !== undefined) {
      this.#addRange(definition)
    } else if (this.#blocks.size > 0 && cursor.endIndex - cursor.startIndex > this.#targetChars) {
      const block = this.#longestBlock(cursor.currentNode)
      if (block !== undefined) this.#searchChildren(block, depth + 1)
    }
  }

  /** The definition at the cursor. For a wrapper, the definition inside it with the range of the wrapper, or all if there are several. */
  #definitionsAt(cursor: TreeCursor, depth: number): DefinitionRange[] {
    const type = cursor.nodeType
    const start = cursor.startIndex
    const end = cursor.endIndex
    const read = Object.hasOwn(this.#rules.definitions, type) ? this.#rules.definitions[type] : undefined
    const definition = read?.(cursor.currentNode, this.#text)
    if (definition !== undefined) return [{ ...definition, start, end }]
    if (!this.#wrappers.has(type) || depth > MAX_DEPTH || !cursor.gotoFirstChild()) return []
    const inner: DefinitionRange[] = []
    do {
      if (cursor.nodeIsNamed) inner.push(...this.#definitionsAt(cursor, depth + 1))
    } while (cursor.gotoNextSibling())
    cursor.gotoParent()
    const [only] = inner
    return only !== undefined && inner.length === 1 ? [{ ...only, start, end }] : inner
  }

  /** Goes down along the longest child to a block that is worth searching. */
  #longestBlock(statement: Node): Node | undefined {
    let node = statement
    for (let depth = 0; depth <= MAX_DEPTH; depth++) {
      const child = longestChild(node)
      if (child === undefined || child.endIndex - child.startIndex <= this.#targetChars) return undefined
      if (this.#blocks.has(child.type)) return child
      node = child
    }
    return undefined
  }

  #addLeading(start: number, nodeEnd: number): void {
    const end = trimmedEnd(this.#text, start, nodeEnd)
    const last = this.#ranges.at(-1)
    if (isLastOnLine(this.#text, end)) {
      if (last !== undefined && this.#tail?.reaches(start) === true) {
        last.end = end
        this.#tail = this.#gapOnLine(end)
        return
      }
      // A comment after other code on its line belongs to that code, not to the next definition.
      if (!isFirstOnLine(this.#text, start)) return
    }
    this.#run = { start: this.#startWithRun(start), after: this.#gapOfOneLine(end) }
  }

  #addRange({ start, end, ...definition }: DefinitionRange): void {
    const first = this.#startWithRun(start)
    const last = trimmedEnd(this.#text, start, end)
    if (last === start) return
    const closing = /[ \t]*[;,]+/y
    closing.lastIndex = last
    const range = {
      ...definition,
      start: isFirstOnLine(this.#text, first) ? lineStart(this.#text, first) : first,
      end: closing.test(this.#text) ? closing.lastIndex : last,
    }
    this.#ranges.push(range)
    this.#tail = this.#gapOnLine(range.end)
  }

  /** The start of the run if only white space, and no blank line, separates it from `offset`; else `offset`. */
  #startWithRun(offset: number): number {
    return this.#run?.after.reaches(offset) === true ? this.#run.start : offset
  }

  /** White space and the signs that close a statement. */
  #gapOnLine(start: number): Gap {
    return new Gap(start, (at) => ' \t;,'.includes(this.#text.charAt(at)))
  }

  /** White space with one line end at most. */
  #gapOfOneLine(start: number): Gap {
    let lineEnds = 0
    return new Gap(start, (at) => isSpace(this.#text, at) && !(isLineEnd(this.#text, at) && ++lineEnds > 1))
  }
}

/** Comments, attributes and decorators that belong together. */
interface LeadingRun {
  readonly start: number
  readonly after: Gap
}

/** The text between an offset and the next code. The scan happens once, even when several definitions need the result. */
class Gap {
  readonly #start: number
  readonly #passes: (at: number) => boolean
  #reach: number

  constructor(start: number, passes: (at: number) => boolean) {
    this.#start = start
    this.#passes = passes
    this.#reach = start
  }

  /** Whether everything up to `offset` passes. */
  reaches(offset: number): boolean {
    while (this.#reach < offset && this.#passes(this.#reach)) this.#reach++
    return offset >= this.#start && offset <= this.#reach
  }
}

/** Joins overloads with the signature or definition after them, as long as they are short together. */
function joinOverloads(ranges: readonly DefinitionRange[], text: string, targetChars: number): DefinitionRange[] {
  const joined: DefinitionRange[] = []
  for (const range of ranges) {
    const last = joined.at(-1)
    const isOverload = last?.isSignature === true && last.name === range.name && range.end - last.start <= targetChars
    if (isOverload && text.slice(last.end, range.start).trim() === '') {
      joined[joined.length - 1] = { ...range, start: last.start }
    } else {
      joined.push(range)
    }
  }
  return joined
}

function longestChild(node: Node): Node | undefined {
  const cursor = node.walk()
  try {
    let longest: Node | undefined
    let length = 0
    if (!cursor.gotoFirstChild()) return undefined
    do {
      if (cursor.endIndex - cursor.startIndex > length) {
        longest = cursor.currentNode
        length = cursor.endIndex - cursor.startIndex
      }
    } while (cursor.gotoNextSibling())
    return longest
  } finally {
    cursor.delete()
  }
}

/** Cuts a span into spans that fit. A definition stays whole up to `maxChars`, other code up to `targetChars`. */
function cutSpan(span: Span, text: string, lines: LineMap, { targetChars, maxChars }: ChunkSizes): Span[] {
  const end = trimmedEnd(text, span.start, span.end)
  if (end === span.start) return []
  const wholeChars = span.symbol === undefined ? targetChars : maxChars
  if (end - contentStart(text, span.start, lines) <= wholeChars) return [span]

  const parts: Span[] = []
  let start = span.start
  let size = 0
  const flush = (to: number) => {
    if (trimmedEnd(text, start, to) > start) parts.push({ ...span, start, end: to })
    start = to
    size = 0
  }
  for (let line = lines.lineAt(span.start); lines.startOf(line) < span.end; line++) {
    const from = Math.max(lines.startOf(line), span.start)
    const to = Math.min(lines.startOf(line + 1), span.end)
    const length = trimmedEnd(text, from, to) - from
    if (length > 0 && size > 0 && size + length > maxChars) flush(from)
    if (length > maxChars) {
      flush(from)
      for (const slice of sliceText(text.slice(from, from + length), maxChars)) flush(start + slice.length)
      continue
    }
    if (length > 0 || size > 0) size += to - from
    if (size >= maxChars || (length === 0 && size >= targetChars)) flush(to)
  }
  flush(span.end)
  return parts
}

/** Joins spans that are too small to stand alone, such as a closing brace, to the nearer neighbor. */
function joinRemainders(spans: readonly Span[], text: string, lines: LineMap, { maxChars }: ChunkSizes): Span[] {
  const fits = (from: Span, to: Span) =>
    trimmedEnd(text, to.start, to.end) - contentStart(text, from.start, lines) <= maxChars
  const joined: Span[] = []
  /** The current span, which may include a tiny one before it. */
  let current = spans[0]
  for (let i = 1; current !== undefined; i++) {
    const next: Span | undefined = spans[i]
    const previous = joined.at(-1)
    let following = next
    if (!isTiny(current, text)) {
      joined.push(current)
    } else {
      const backward = previous !== undefined && fits(previous, current)
      const forward = next !== undefined && fits(current, next)
      if (next !== undefined && forward && !(backward && isNearer(previous, current, next, text, lines))) {
        following = { ...next, start: current.start }
      } else if (backward) {
        joined[joined.length - 1] = { ...previous, end: current.end }
      } else {
        joined.push(current)
      }
    }
    current = following
  }
  return joined
}

/** Code that opens a construct and so belongs to the next span: a bracket, a label, `#if`. */
const OPENING = /[([{:]$|^\s*#\s*(if|el)/

/** The end of code that belongs to the previous span if it shares a line with both neighbors. */
const CLOSING = /[)\]};,]$/

/** Whether `span` is nearer to `previous` than to `next`, counted in lines or, at equal distance, by its last line. */
function isNearer(previous: Span, span: Span, next: Span, text: string, lines: LineMap): boolean {
  const before =
    lines.lineAt(contentStart(text, span.start, lines)) - lines.lineAt(trimmedEnd(text, previous.start, previous.end))
  const after =
    lines.lineAt(contentStart(text, next.start, lines)) - lines.lineAt(trimmedEnd(text, span.start, span.end))
  if (before !== after) return before < after
  const end = trimmedEnd(text, span.start, span.end)
  const lastLine = text.slice(Math.max(lines.startOf(lines.lineAt(end - 1)), span.start), end)
  return before === 0 ? CLOSING.test(lastLine) : !OPENING.test(lastLine)
}

function isTiny({ symbol, start, end }: Span, text: string): boolean {
  if (symbol !== undefined) return false
  let count = 0
  for (let at = start; at < end && count < TINY_CHARS; at++) if (!isSpace(text, at)) count++
  return count < TINY_CHARS
}

function toPieces(spans: readonly Span[], text: string, lines: LineMap): Piece[] {
  return spans.map(({ start, end, symbol, path }, i) => {
    const first = contentStart(text, start, lines)
    const last = trimmedEnd(text, start, end)
    const next = spans[i + 1]
    const nextLine = next === undefined ? lines.count + 1 : lines.lineAt(contentStart(text, next.start, lines))
    return {
      startLine: lines.lineAt(first),
      endLine: Math.max(lines.lineAt(last - 1), nextLine - 1),
      content: text.slice(first, last).replace(/\r\n?/g, '\n'),
      ...(path.length > 0 && { headingPath: path }),
      ...(symbol !== undefined && { symbol }),
    }
  })
}

/** Where the content of a span starts: at its first line that is not blank, with the indentation if the span contains the whole line. */
function contentStart(text: string, start: number, lines: LineMap): number {
  let at = start
  while (at < text.length && isSpace(text, at)) at++
  const first = lines.startOf(lines.lineAt(at))
  return first >= start ? first : at
}

/** The end of the last character in `[start, end)` that is not white space, or `start`. */
function trimmedEnd(text: string, start: number, end: number): number {
  let at = end
  while (at > start && isSpace(text, at - 1)) at--
  return at
}

function lineStart(text: string, offset: number): number {
  let at = offset
  while (at > 0 && !isLineEnd(text, at - 1)) at--
  return at
}

function isFirstOnLine(text: string, offset: number): boolean {
  let at = offset
  while (at > 0 && isSpace(text, at - 1)) {
    if (isLineEnd(text, at - 1)) return true
    at--
  }
  return at === 0
}

function isLastOnLine(text: string, offset: number): boolean {
  let at = offset
  while (at < text.length && isSpace(text, at)) {
    if (isLineEnd(text, at) || text[at] === '\r') return true
    at++
  }
  return at === text.length
}

/** True at the last character of a line end, so that CRLF counts once. */
function isLineEnd(text: string, at: number): boolean {
  const unit = text.charCodeAt(at)
  return unit === 10 || (unit === 13 && text.charCodeAt(at + 1) !== 10)
}

/** Whether the character is white space by the rules of `trim`. */
function isSpace(text: string, at: number): boolean {
  const unit = text.charCodeAt(at)
  return unit <= 32 ? unit === 32 || (unit >= 9 && unit <= 13) : unit >= 160 && text.charAt(at).trim() === ''
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(Math.max(value, low), high)
}
