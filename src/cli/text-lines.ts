import { findMatches } from '../core/search/snippet.ts'
import { textAnalyzer } from '../core/text/analyzer.ts'
import { type Colors, columnsOf, printable, writeLink } from './terminal.ts'

/** What a person sees text on. */
export interface Screen {
  readonly colors: Colors
  /** Whether it makes links clickable that are hidden behind their text. */
  readonly hasLinks: boolean
  /** Its width. */
  readonly columns: number
}

/** A line as it is shown, and what is to be seen of each of its characters. */
interface MarkedLine {
  readonly text: string
  /** 1 for those of a word that matched. */
  readonly matches: Uint8Array
  /** For those of a link its number in `urls`, from 1. */
  readonly links: Uint32Array
  readonly urls: readonly string[]
}

const FENCE = /^\s*(?:> ?)*(`{3,}|~{3,})/

/** Longer lines are hard to read, however wide the screen is. */
export const MAX_COLUMNS = 100

/**
 * Markdown as it is read on a screen: prose wrapped, words that matched marked, links shown by their text alone. Every line
 * is indented, so that nothing in the text can pass for a line of ours.
 */
export function writeTextLines(markdown: string, terms: readonly string[], screen: Screen, indent: string): string[] {
  const wanted = new Set(terms)
  let fence = ''
  return printable(markdown)
    .split('\n')
    .flatMap((line) => {
      const [, marker = ''] = FENCE.exec(line) ?? []
      const isFence = marker !== '' && (fence === '' || marker.startsWith(fence))
      if (isFence) fence = fence === '' ? marker : ''
      if (isFence) return [`${indent}${screen.colors.dim(line)}`]
      // Where a line of code ends is part of its meaning, and a row of a table is read against the one above it.
      const isWhole = fence !== '' || line.startsWith('|')
      const written = isWhole
        ? [writePart(markLine(line, wanted), screen)]
        : writeProse(markLine(line, wanted, true), screen, indent.length)
      return written.map((text) => (text === '' ? '' : `${indent}${text}`))
    })
}

function writeProse(line: MarkedLine, screen: Screen, indent: number): string[] {
  const [lead = ''] = /^\s*(?:(?:[-*+]|\d{1,4}[.)]|>)\s+)*/.exec(line.text) ?? []
  // A quotation is marked on every line, an item of a list on its first.
  const hang = lead.replace(/[^>\s]/g, ' ')
  const isHeading = /^#{1,6} /.test(line.text)
  const width = Math.max(20, Math.min(screen.columns, MAX_COLUMNS) - indent)
  return wrap(line.text, width, hang.length).map(({ start, end }, i) => {
    const marked = writePart(line, screen, start, end)
    return `${i === 0 ? '' : hang}${isHeading ? screen.colors.bold(marked) : marked}`
  })
}

/** Inline code, which is left as it is, a link or image with its text and address, or a sign that a stroke makes plain. */
const INLINE =
  /`[^`]*`|!?\[((?:`[^`]*`|[^[\]`])*)\]\(<?([^\s()<>]*(?:\([^\s()<>]*\)[^\s()<>]*)*)>?\)|\\([!-/:-@[-`{-~])/g

/** Finds the words that matched in a line. In prose, links are shown by their text, and signs without strokes before them. */
function markLine(line: string, terms: ReadonlySet<string>, isProse = false): MarkedLine {
  const spans: { readonly start: number; readonly end: number; readonly url: string }[] = []
  let text = ''
  let from = 0
  for (const { 0: whole, 1: label, 2: url, 3: sign, index } of isProse ? line.matchAll(INLINE) : []) {
    text += line.slice(from, index)
    from = index + whole.length
    if (url !== undefined) spans.push({ start: text.length, end: text.length + (label ?? '').length, url })
    text += sign ?? (url === undefined ? whole : label)
  }
  text += line.slice(from)
  const links = new Uint32Array(text.length)
  spans.forEach(({ start, end }, i) => void links.fill(i + 1, start, end))
  const matches = new Uint8Array(text.length)
  for (const [from, to] of listSteadyParts(text)) {
    for (const { start, end } of findMatches(text.slice(from, to), terms, textAnalyzer.visitTokens)) {
      matches.fill(1, from + start, from + end)
    }
  }
  return { text, matches, links, urls: spans.map(({ url }) => url) }
}

/** The parts of a line between characters such as `…` that a tokenizer takes for several: behind them it would count wrong. */
function listSteadyParts(line: string): [start: number, end: number][] {
  const parts: [number, number][] = []
  let start = 0
  for (const { 0: char, index } of line.matchAll(/\P{ASCII}/gu)) {
    if (char.normalize('NFKC').length === char.length) continue
    parts.push([start, index])
    start = index + char.length
  }
  return [...parts, [start, line.length]]
}

/** A part of a line with its marks made visible. */
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

/** Where the lines begin and end that a long one is cut into, between words where there are any. */
function wrap(line: string, width: number, hang: number): { start: number; end: number }[] {
  const lines: { start: number; end: number }[] = []
  let start = 0
  let space = -1
  let columns = 0
  for (let i = 0; i < line.length; ) {
    const char = String.fromCodePoint(line.codePointAt(i) ?? 0)
    columns += columnsOf(char)
    // Spaces before the first word belong to it.
    if (char === ' ' && i >= hang && i > start) space = i
    const room = lines.length === 0 ? width : width - hang
    if (columns > room && i > start) {
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
