import type { Node } from 'web-tree-sitter'
import { LineMap } from '../text/line-map.ts'
import { sliceText } from '../text/lines.ts'
import type { CodeParser } from './code-grammars.ts'
import type { CodeRules } from './code-rules.ts'
import { DefinitionFinder, type DefinitionRange, MAX_DEPTH } from './definition-finder.ts'
import { contentStart, isSpace, trimmedEnd } from './line-position.ts'
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
  readonly symbol?: string
  /** Definitions inside it that get no span of their own. */
  readonly members?: readonly DefinitionRange[]
  /** Names of the enclosing definitions, outermost first. */
  readonly path: readonly string[]
}

/** A remainder with fewer characters than this that are not white space joins a neighbor. */
const TINY_CHARS = 80

/** The spans of a file, or `undefined` when it defines nothing. */
function findSpans(root: Node, text: string, rules: CodeRules, sizes: ChunkSizes): Span[] | undefined {
  const finder = new DefinitionFinder(text, rules, sizes.targetChars)
  const definitions = finder.find(root)
  if (definitions.length === 0) return undefined
  const spans: Span[] = []
  const add = (span: Span) => {
    if (span.start < span.end) spans.push(span)
  }

  /** Adds spans that cover `[from, to)`. Recursion stops at `MAX_DEPTH`, for any nesting of the input. */
  const addAll = (members: readonly DefinitionRange[], from: number, to: number, path: readonly string[]) => {
    let at = from
    for (const { name, body, ...range } of members) {
      const start = clamp(range.start, at, to)
      const end = clamp(range.end, start, to)
      add({ start: at, end: start, path })
      at = end
      const inner = body !== undefined && path.length < MAX_DEPTH ? finder.find(body) : []
      const isSplit = inner[0] !== undefined && end - start > sizes.targetChars
      const headEnd = isSplit ? clamp(inner[0]?.start ?? end, start, end) : end
      add({ start, end: headEnd, symbol: [...path, name].join('.'), path, ...(!isSplit && { members: inner }) })
      if (isSplit) addAll(inner, headEnd, end, [...path, name])
    }
    add({ start: at, end: to, path })
  }

  addAll(definitions, 0, text.length, [])
  return spans
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
  return spans.map(({ start, end, symbol, members = [], path }, i) => {
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
      // Comments and decorators may precede the name of a member.
      ...(members.length > 0 && {
        members: members.map(({ name, start: from }) => {
          return { name: `${symbol}.${name}`, line: lines.lineAt(Math.max(from, text.indexOf(name, from))) }
        }),
      }),
    }
  })
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(Math.max(value, low), high)
}
