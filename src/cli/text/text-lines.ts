import { FenceReader } from '../../core/markdown/fences.ts'
import { findMatches } from '../../core/search/snippet.ts'
import { textAnalyzer } from '../../core/text/analyzer.ts'
import { type Colors, columnsOf, printable, writeLink } from '../terminal.ts'

/** The terminal that text is formatted for. */
export interface Screen {
  readonly colors: Colors
  /** Whether the terminal supports hyperlinks behind a text. */
  readonly hasLinks: boolean
  /** The width in columns. */
  readonly columns: number
}

/** A displayed line with the attributes of each character. */
interface MarkedLine {
  readonly text: string
  /** For each character, 1 if it belongs to a matched word, otherwise 0. */
  readonly matches: Uint8Array
  /** For each character, the number of its link in `urls`, starting at 1, or 0 outside of links. */
  readonly links: Uint32Array
  readonly urls: readonly string[]
}

/** Longer lines are hard to read, even on a wide screen. */
export const MAX_COLUMNS = 100

/**
 * Formats Markdown for a terminal: wraps prose, highlights matched words, and shows links by their text alone. Every line is indented, so
 * that text from a page cannot imitate our own output.
 */
export function writeTextLines(markdown: string, terms: readonly string[], screen: Screen, indent: string): string[] {
  const wanted = new Set(terms)
  const fences = new FenceReader()
  return printable(markdown)
    .split('\n')
    .flatMap((line) => {
      const part = fences.read(line)
      if (part === 'open' || part === 'close') return [`${indent}${screen.colors.dim(line)}`]
      // Line breaks in code are significant, and the rows of a table must stay aligned.
      const isPreformatted = part === 'code' || line.startsWith('|')
      const written = isPreformatted
        ? [writePart(markLine(line, wanted), screen)]
        : writeProse(markLine(line, wanted, true), screen, indent.length)
      return written.map((text) => (text === '' ? '' : `${indent}${text}`))
    })
}

function writeProse(line: MarkedLine, screen: Screen, indent: number): string[] {
  const [lead = ''] = /^\s*(?:(?:[-*+]|\d{1,4}[.)]|>)\s+)*/.exec(line.text) ?? []
  // A quotation is marked on every line, a list item only on its first.
  const hangingIndent = lead.replace(/[^>\s]/g, ' ')
  const isHeading = /^#{1,6} /.test(line.text)
  const width = Math.max(20, Math.min(screen.columns, MAX_COLUMNS) - indent)
  return wrap(line.text, width, hangingIndent.length).map(({ start, end }, i) => {
    const marked = writePart(line, screen, start, end)
    return `${i === 0 ? '' : hangingIndent}${isHeading ? screen.colors.bold(marked) : marked}`
  })
}

/** Matches inline code (left as it is), a link or image (with its text and address), or an escaped character. */
const INLINE =
  /`[^`]*`|!?\[((?:`[^`]*`|[^[\]`])*)\]\(<?([^\s()<>]*(?:\([^\s()<>]*\)[^\s()<>]*)*)>?\)|\\([!-/:-@[-`{-~])/g

/** Finds matched words in a line. In prose, links are replaced with their text, and backslash escapes are removed. */
function markLine(line: string, terms: ReadonlySet<string>, isProse = false): MarkedLine {
  const spans: { readonly start: number; readonly end: number; readonly url: string }[] = []
  let text = ''
  let from = 0
  for (const { 0: whole, 1: label, 2: url, 3: escaped, index } of isProse ? line.matchAll(INLINE) : []) {
    text += line.slice(from, index)
    from = index + whole.length
    if (url !== undefined) spans.push({ start: text.length, end: text.length + (label ?? '').length, url })
    text += escaped ?? (url === undefined ? whole : label)
  }
  text += line.slice(from)
  const links = new Uint32Array(text.length)
  spans.forEach(({ start, end }, i) => void links.fill(i + 1, start, end))
  const matches = new Uint8Array(text.length)
  for (const [from, to] of splitAtExpandingChars(text)) {
    for (const { start, end } of findMatches(text.slice(from, to), terms, textAnalyzer.visitTokens)) {
      matches.fill(1, from + start, from + end)
    }
  }
  return { text, matches, links, urls: spans.map(({ url }) => url) }
}

/** Splits a line at characters such as `…`, which the tokenizer expands into several, so that later offsets would be wrong. */
function splitAtExpandingChars(line: string): [start: number, end: number][] {
  const parts: [number, number][] = []
  let start = 0
  for (const { 0: char, index } of line.matchAll(/\P{ASCII}/gu)) {
    if (char.normalize('NFKC').length === char.length) continue
    parts.push([start, index])
    start = index + char.length
  }
  return [...parts, [start, line.length]]
}

/** Renders a part of a line with its highlights and links. */
function writePart(line: MarkedLine, { colors, hasLinks }: Screen, start = 0, end = line.text.length): string {
  const { text, matches, links, urls } = line
  let written = ''
  for (let from = start; from < end; ) {
    let to = from + 1
    while (to < end && matches[to] === matches[from] && links[to] === links[from]) to++
    const part = text.slice(from, to)
    const marked = matches[from] === 1 ? colors.bold(colors.yellow(part)) : part
    const url = urls[(links[from] ?? 0) - 1]
    written += url === undefined || !hasLinks ? marked : writeLink(marked, url)
    from = to
  }
  return written
}

/** Wraps a long line, between words if possible, and returns the ranges. */
function wrap(line: string, width: number, hangingIndent: number): { start: number; end: number }[] {
  const lines: { start: number; end: number }[] = []
  let start = 0
  let space = -1
  let columns = 0
  for (let i = 0; i < line.length; ) {
    const char = String.fromCodePoint(line.codePointAt(i) ?? 0)
    columns += columnsOf(char)
    // Spaces inside the list or quotation marker, and at the start of a line, are no places to break the line.
    if (char === ' ' && i >= hangingIndent && i > start) space = i
    const maxWidth = lines.length === 0 ? width : width - hangingIndent
    if (columns > maxWidth && i > start) {
      const end = space > start ? space : i
      lines.push({ start, end })
      start = end === space ? end + 1 : end
      i = start
      space = -1
      columns = 0
    } else {
      i += char.length
    }
  }
  return [...lines, { start, end: line.length }]
}
