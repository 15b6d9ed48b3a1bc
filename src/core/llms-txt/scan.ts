import { FenceReader, readFence } from '../markdown/fences.ts'

/** A link in a line of Markdown. */
export interface InlineLink {
  readonly title: string
  readonly href: string
  /** Position of the link in the line. */
  readonly start: number
  readonly end: number
}

const MAX_HREF = 2000

/** The links `[title](href)` of one line, in order, without images. Takes linear time. */
export function scanLinks(line: string): InlineLink[] {
  const links: InlineLink[] = []
  if (!line.includes('](')) return links
  let brackets: number[] = []
  for (let i = 0; i < line.length; i++) {
    const char = line[i]
    if (char === '\\') {
      i++
    } else if (char === '[') {
      brackets.push(i)
    } else if (char === ']') {
      const open = brackets.pop()
      const target = open !== undefined && line[i + 1] === '(' ? readTarget(line, i + 2) : undefined
      if (open === undefined || target === undefined) continue
      const isImage = line[open - 1] === '!'
      if (!isImage) {
        links.push({ title: line.slice(open + 1, i), href: target.href, start: open, end: target.end })
        // Links are never nested: open brackets around this link are plain text.
        brackets = []
      }
      i = target.end - 1
    }
  }
  return links
}

const TITLE = /\s+(?:"[^"]{0,500}"|'[^']{0,500}'|\([^()]{0,500}\))\s*\)/y

/** Parses `href "title")` from a position on. */
function readTarget(line: string, from: number): { href: string; end: number } | undefined {
  let start = from
  while (line[start] === ' ' && start < from + 10) start++
  const limit = Math.min(line.length, start + MAX_HREF)
  let at = start
  let href: string
  if (line[start] === '<') {
    while (at < limit && line[at] !== '>' && !line.startsWith('](', at)) at++
    if (line[at] !== '>') return undefined
    href = line.slice(start + 1, at)
    at++
  } else {
    let depth = 0
    for (; at < limit; at++) {
      const char = line[at]
      if (char === ' ' || char === '\t' || (char === ')' && depth === 0)) break
      // The start of the next link shows that this link is broken; stopping here keeps the scan linear.
      if (char === ']' && line[at + 1] === '(') return undefined
      if (char === '(') depth++
      if (char === ')') depth--
    }
    href = line.slice(start, at)
  }
  if (line[at] === ')') return { href, end: at + 1 }
  TITLE.lastIndex = at
  const title = TITLE.exec(line)?.[0] ?? /^ {1,10}\)/.exec(line.slice(at, at + 11))?.[0]
  return title === undefined ? undefined : { href, end: at + title.length }
}

/** A heading written with number signs. */
export interface Heading {
  readonly level: number
  readonly text: string
}

/** Parses a line such as `## Title ##`. */
export function readHeading(line: string): Heading | undefined {
  const [, signs, rest = ''] = /^ {0,3}(#{1,6})(?:[ \t](.*))?$/.exec(line) ?? []
  if (signs === undefined) return undefined
  return {
    level: signs.length,
    text: rest
      .trim()
      .replace(/(?:^|[ \t])#+$/, '')
      .trimEnd(),
  }
}

/**
 * Marks the lines that belong to a fenced block, fences included. A fence that is never closed counts as text; otherwise it would swallow
 * all pages after it.
 */
export function markFences(lines: readonly string[]): boolean[] {
  const marks = new Array<boolean>(lines.length).fill(false)
  /** By fence character, the length of the shortest unclosed fence: later fences of at least that length are unclosed too. */
  const unclosed: Record<string, number> = {}
  for (let i = 0; i < lines.length; i++) {
    const { marker = '' } = readFence(lines[i] ?? '') ?? {}
    const character = marker.charAt(0)
    if (marker === '' || marker.length >= (unclosed[character] ?? Number.POSITIVE_INFINITY)) continue
    const end = findFenceEnd(lines, i)
    if (end === undefined) {
      unclosed[character] = marker.length
      continue
    }
    marks.fill(true, i, end)
    i = end - 1
  }
  return marks
}

/** The line after a fenced block; undefined if it is never closed. */
function findFenceEnd(lines: readonly string[], start: number): number | undefined {
  const fences = new FenceReader()
  for (let i = start; i < lines.length; i++) {
    const part = fences.read(lines[i] ?? '')
    if (part === 'close') return i + 1
    if (i > start && part !== 'code') return i
  }
  return undefined
}

const HTML_START = /^<(?:!doctype|\?xml|html|head|body|title|meta|link|script|style|div|svg)\b/i

/** Whether a text that should be Markdown is an HTML page, which servers send for missing files. */
export function isHtml(text: string): boolean {
  let at = 0
  for (;;) {
    while (/^[\s\ufeff]$/.test(text[at] ?? '')) at++
    if (!text.startsWith('<!--', at)) return HTML_START.test(text.slice(at, at + 20))
    const end = text.indexOf('-->', at)
    if (end < 0) return false
    at = end + 3
  }
}
